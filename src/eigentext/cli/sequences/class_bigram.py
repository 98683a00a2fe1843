"""`eigentext class-bigram fit|export|import`: the class bigram of Brown et al. from text."""

from pathlib import Path
from typing import Annotated

import typer

from eigentext.cli._bundles import (
    EncodingOption,
    FitOptions,
    JsonFlag,
    LowercaseFlag,
    OutputOption,
    QuietFlag,
    RunOptions,
    TokenizerOption,
)
from eigentext.cli._console import plural, print_json, print_plain
from eigentext.cli._files import check_not_read, load_kind
from eigentext.cli._fitting import fitting
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._text import TextUnitOptions, fit_text
from eigentext.cli.sequences._shared import report_fit
from eigentext.sequences import parameters as tables

_FACTS = ("n_classes", "n_iter", "average_mutual_information", "log_likelihood", "covered")
ClassesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The file of classes: class, probability and word.",
        show_default="the name of the ARPA file and .classes",
    ),
]


@with_options(tables.ClassBigram)
def fit(
    output: OutputOption, parameters: Parameters, text: TextUnitOptions, run: FitOptions
) -> None:
    """Learn a language model of pairs of word classes from text and write it as one model file."""
    from eigentext import ClassBigram

    model = ClassBigram(**parameters)
    done = fit_text(model, text, output, run)
    found = model.diagnostics_
    facts = {name: found[name] for name in _FACTS if name in found}
    sweeps = plural(model.n_iter_, "sweep", "sweeps")
    summary = (
        f"{found['n_classes']:,} classes after {sweeps} "
        f"(average mutual information {found['average_mutual_information']:.4f})"
    )
    report_fit(done, model, facts, summary)


def export(
    model: Annotated[Path, typer.Argument(help="A model written by `class-bigram fit`.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The ARPA file to write.")],
    classes: ClassesOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write a model as an ARPA file of classes and a file of classes, which SRILM reads.

    The endings of the names (.gz, .bz2, .xz, .zst) decide the packing.
    """
    from eigentext import ClassBigram

    second = classes or Path(f"{output}.classes")
    for path in (output, second):
        check_not_read(path, [model])
    loaded = load_kind(model, ClassBigram, "a class bigram")
    loaded.to_arpa(output, second)
    n_classes = loaded.diagnostics_["n_classes"]
    if json:
        print_json({"output": str(output), "classes": str(second), "n_classes": n_classes})
    elif not quiet:
        print_plain(f"{output}, {second}: bigrams of {n_classes:,} classes, ARPA format")


@with_options()
def import_arpa(
    file: Annotated[str, typer.Argument(help="An ARPA file of bigrams of classes.")],
    output: OutputOption,
    run: RunOptions,
    classes: ClassesOption = None,
    tokenizer: TokenizerOption = "whitespace",
    lowercase: LowercaseFlag = False,
    encoding: EncodingOption = "utf-8",
) -> None:
    """Read an ARPA file of classes with its file of classes, and write one model file.

    The files do not say how text was split into words. --tokenizer and --lowercase say it for the
    commands that use the model.
    """
    from eigentext import ClassBigram

    second = str(classes or f"{file}.classes")
    with fitting(output, run, [file], [second]) as work:
        ((path,), (other,)) = work.paths
        work.check_not_read([path, other])
        model = ClassBigram.from_arpa(
            path, other, tokenizer=tokenizer, lowercase=lowercase, encoding=encoding
        )
        work.save(model)
    n_words, n_classes = len(model.vocabulary_), model.diagnostics_["n_classes"]
    work.report(
        {"n_words": n_words, "n_classes": n_classes},
        f"bigrams of {n_classes:,} classes of {n_words:,} words",
    )
