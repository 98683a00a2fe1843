"""`eigentext kneser-ney fit|export|import`: n-grams from text, and from and to ARPA files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._bundles import (
    EncodingOption,
    FitOptions,
    JsonFlag,
    LowercaseFlag,
    OutputOption,
    QuietFlag,
    RunOptions,
    StreamOption,
    TokenizerOption,
)
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import check_not_read, destination, load_kind
from eigentext.cli._fitting import fitting
from eigentext.cli._options import Bundle, Parameters, with_options
from eigentext.cli._text import TextUnitOptions, fit_text
from eigentext.cli.sequences._shared import report_fit
from eigentext.errors import ParameterError
from eigentext.sequences import parameters as tables


@dataclass(kw_only=True)
class ServiceOptions(Bundle):
    """How a model is written for programs that open it often."""

    mapped: Annotated[
        bool,
        typer.Option(
            "--mapped", help="Write a larger file without counts, which opens in milliseconds."
        ),
    ] = False
    quantize: Annotated[
        int | None,
        typer.Option(
            help="Write probabilities in so many bits, in a file that is mapped.", min=2, max=16
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `save`."""
        return {"mapped": self.mapped or None, "quantize": self.quantize}


@with_options(tables.KneserNey)
def fit(
    output: OutputOption,
    parameters: Parameters,
    text: TextUnitOptions,
    run: FitOptions,
    service: ServiceOptions,
) -> None:
    """Learn a language model of n-grams from text and write it as one model file."""
    from eigentext import KneserNey

    model = KneserNey(**parameters)
    done = fit_text(model, text, output, run, service.arguments())
    ngrams, order = model.diagnostics_["ngrams"], model.parameters_.order
    facts = {"order": order, "ngrams": ngrams, "discounts": model.diagnostics_["discounts"]}
    report_fit(done, model, facts, f"{sum(ngrams):,} n-grams of up to {order}")


@with_options()
def export(
    model: Annotated[Path, typer.Argument(help="A model written by `kneser-ney fit`.")],
    output: StreamOption,
    service: ServiceOptions,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write a model as an ARPA file, which KenLM and SRILM read, or for a service.

    The ending of -o (.gz, .bz2, .xz, .zst) decides the packing of an ARPA file. With --mapped or
    --quantize, the result is a model file without counts, which opens in milliseconds.
    """
    from eigentext import KneserNey

    check_not_read(output, [model])
    for_service = service.mapped or service.quantize is not None
    if for_service and str(output) == "-":
        raise ParameterError("--mapped writes no stream; name a file with -o")
    ngrams = load_kind(model, KneserNey, "a model of n-grams")
    with destination(output) as path:
        if for_service:
            ngrams.save(path, **service.arguments())
        else:
            ngrams.to_arpa(path)
    order, found = ngrams.parameters_.order, ngrams.diagnostics_["ngrams"]
    if str(output) == "-":
        return
    if json:
        print_json({"output": str(output), "order": order, "ngrams": found})
    elif not quiet:
        form = "mapped" if for_service else "ARPA format"
        print_plain(f"{output}: {sum(found):,} n-grams of up to {order}, {form}")


@with_options()
def import_arpa(
    file: Annotated[str, typer.Argument(help="An ARPA file, plain or packed (.gz, …), or -.")],
    output: OutputOption,
    run: RunOptions,
    tokenizer: TokenizerOption = "whitespace",
    lowercase: LowercaseFlag = False,
    encoding: EncodingOption = "utf-8",
) -> None:
    """Read an ARPA file, made by KenLM, SRILM or others, and write it as one model file.

    The file does not say how text was split into words. --tokenizer and --lowercase say it for the
    commands that use the model.
    """
    from eigentext import KneserNey

    with fitting(output, run, [file]) as work:
        ((path,),) = work.paths
        work.check_not_read([path])
        model = KneserNey.from_arpa(
            path, tokenizer=tokenizer, lowercase=lowercase, encoding=encoding
        )
        work.save(model)
    ngrams, order = model.diagnostics_["ngrams"], model.parameters_.order
    n_words = len(model.vocabulary_)
    work.report(
        {"n_words": n_words, "order": order, "ngrams": ngrams},
        f"{sum(ngrams):,} n-grams of up to {order} over {n_words:,} words",
    )
