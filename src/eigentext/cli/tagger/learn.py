"""`eigentext tagger fit`: from tagged sentences, and what plain text taught, to a tagger."""

import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import (
    CheckpointOption,
    ClusterOption,
    JsonFlag,
    OutputOption,
    QuietFlag,
    ThreadsOption,
    Watch,
    check_model_path,
    check_no_input,
    inputs,
    peak_memory,
    print_json,
    printer,
    save_model,
    work,
)
from eigentext.cli.tagger._shared import (
    TaggedArgument,
    places_of,
    read_tagged,
    training_layout,
)
from eigentext.errors import EigentextError, ParameterError

# What plain text taught: the classes of the models that hold it, and what these are called.
_SOURCES = {
    "vectors": ("Eigenwords", "word vectors (`words fit`)"),
    "clusters": ("WordClusters", "clusters (`words cluster`)"),
    "eigentokens": ("Eigentokens", "eigentokens of `words tokens`"),
    "states": ("HMM", "a hidden Markov model (`hmm fit`)"),
}
_FOR = {
    "epochs": "perceptron",
    "runs": "perceptron",
    "margin": "perceptron",
    "c1": "crf",
    "c2": "crf",
    "iterations": "crf",
}
_KEYWORD = re.compile(rf"\b({'|'.join(_SOURCES)})=…")
_FOREIGN = re.compile(rf"among (?:those|the words) of ({'|'.join(_SOURCES)})\b")


def fit(
    files: TaggedArgument,
    output: OutputOption,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="What the columns are, the label last, as in word,pos,_,label; _ is left aside.",
            show_default="word,label or word,pos,label",
        ),
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Other tagged sentences: take the passes that do best on them, and score them.",
        ),
    ] = None,
    model: Annotated[
        Literal["perceptron", "crf"],
        typer.Option(help="crf: probabilities; takes longer, and needs python-crfsuite."),
    ] = "perceptron",
    features: Annotated[
        Literal["auto", "chunk", "ner", "pos"] | None,
        typer.Option(help="What to look at; auto goes by the labels.", show_default="auto"),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEMPLATE",
            help="Look at this instead, as in 'word[-1]|word[0]', 'pos[-2..2]', 'suffix3[0]'; "
            "several times.",
        ),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Word vectors, of `words fit`.")
    ] = None,
    clusters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Clusters: a model or the paths of `words cluster`."),
    ] = None,
    eigentokens: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Eigentokens, of `words tokens`.")
    ] = None,
    states: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="States of a hidden Markov model, of `hmm fit`."),
    ] = None,
    scheme: Annotated[
        Literal["auto", "bio", "bilou", "none"],
        typer.Option(
            help="Which taggings are valid; bilou: learn firsts, lasts and onlies of chunks, too."
        ),
    ] = "auto",
    scale: Annotated[
        float | None,
        typer.Option(
            min=0, help="Of vectors' coordinates; other features are 1.", show_default="0.3"
        ),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(min=1, help="Features seen less often are left out.", show_default="1"),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="The perceptron's passes.", show_default="10")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Perceptrons in other orders, whose mean is taken.", show_default="1"
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            min=0, help="How far ahead of others the right tagging must be.", show_default="0.0"
        ),
    ] = None,
    c1: Annotated[
        float | None,
        typer.Option(min=0, help="The CRF's penalty of absolute weights.", show_default="0.0"),
    ] = None,
    c2: Annotated[
        float | None,
        typer.Option(min=0, help="The CRF's penalty of squared weights.", show_default="1.0"),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="The CRF's most iterations.", show_default="100")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds give equal bits.")] = 0,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    checkpoint: CheckpointOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn a tagger from tagged sentences and write it as one model file.

    Each line has a token: its word, then other columns, if any, such as its part of speech, then
    its label; blanks or tabs are between. What was learned from plain text, without labels, helps:
    word vectors, clusters, eigentokens, an HMM's states.
    """
    from eigentext import Tagger
    from eigentext.corpus.readers import expand_paths

    check_model_path(output)
    given = {
        "min_count": min_count,
        "scale": scale,
        "n_epochs": epochs,
        "n_runs": runs,
        "margin": margin,
        "c1": c1,
        "c2": c2,
        "n_iter": iterations,
        "features": template or features,
    }
    chosen = {
        "epochs": epochs,
        "runs": runs,
        "margin": margin,
        "c1": c1,
        "c2": c2,
        "iterations": iterations,
    }
    paths = {
        "vectors": vectors,
        "clusters": clusters,
        "eigentokens": eigentokens,
        "states": states,
    }
    sources = {name: path for name, path in paths.items() if path}
    if features and template:
        raise ParameterError("--features names templates, too; give the one or the other")
    _check_options({name for name, value in chosen.items() if value is not None}, model)
    if scale is not None and not sources.keys() - {"clusters"}:
        raise ParameterError("--scale is of --vectors, --eigentokens or --states; give some")
    if [*files, *(dev or [])].count("-") > 1:
        raise ParameterError("standard input (-) can be read but once; name a file for the other")
    started = time.perf_counter()
    report = None
    with (
        inputs([*files, *(dev or [])]) as read,
        work(
            quiet=quiet or json,
            threads=threads,
            cluster=cluster,
            checkpoint=checkpoint,
        ) as watch,
    ):
        tagged, held_out = (expand_paths(part) for part in (read[: len(files)], read[len(files) :]))
        check_no_input(output, [*tagged, *held_out, *expand_paths(list(sources.values()))])
        layout = training_layout(columns, tagged[0])
        sentences = read_tagged(tagged, layout)
        others = [one.tokens for one in read_tagged(held_out, layout)] if dev else None
        tagger = Tagger(
            model=model,
            columns=layout.kept[:-1],
            scheme=None if scheme == "none" else scheme,
            random_state=seed,
            **{name: value for name, value in given.items() if value is not None},
            **{name: _load_source(name, path) for name, path in sources.items()},
        )
        with _spelled(sources), places_of(sentences):
            tagger.fit([one.tokens for one in sentences], dev=others)
        if others:
            report = tagger.evaluate(others)
        save_model(tagger, output)
    seconds = time.perf_counter() - started
    _tell(tagger, output, report, watch, seconds, json=json, quiet=quiet)


def _check_options(given: set[str], model: str) -> None:
    """Refuse options that would do nothing."""
    for name in sorted(given):
        if model != _FOR[name]:
            raise ParameterError(
                f"--{name} does nothing with --model {model}; leave it out, or choose --model "
                f"{_FOR[name]}"
            )


def _load_source(name: str, path: Path) -> Any:
    """What was learned without labels, from its file."""
    import eigentext
    from eigentext import WordClusters, engine
    from eigentext.storage import load

    wanted, what = _SOURCES[name]
    with engine.phase(f"load {name}"):
        if name == "clusters" and not _is_model(path):
            return WordClusters.read_paths(path)
        model = load(path)
    if not isinstance(model, getattr(eigentext, wanted)):
        raise EigentextError(f"{path}: holds {model!r}, but --{name} wants {what}")
    return model


def _is_model(path: Path) -> bool:
    """Whether a file may be one of ours, and not a text, plain or packed."""
    from eigentext.corpus.readers import compression

    if compression(path):
        return False
    with path.open("rb") as file:
        return b"\0" in file.read(8)  # the length of its header


@contextmanager
def _spelled(sources: dict[str, Path]) -> Iterator[None]:
    """Say in errors what the options are called here, and name the files they are about."""
    try:
        yield
    except EigentextError as error:
        message = _KEYWORD.sub(r"--\1", str(error)).replace("scheme=None", "--scheme none")
        if found := _FOREIGN.search(message):
            message = f"{sources[found[1]]}: {message}"
        raise type(error)(message) from error


def _tell(
    tagger: Any,
    output: Path,
    report: Any,
    watch: Watch,
    seconds: float,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print what was learned, and what it took."""
    from eigentext.tagging.choices import ARGUMENTS

    found = dict(tagger.diagnostics_)
    scores = [x if math.isfinite(x) else None for x in found.get("dev", [])]
    cost = {"seconds": round(seconds, 3), "phases": watch.times(), "peak_memory": peak_memory()}
    if json:
        about = {"model": str(output), "columns": tagger.columns_, "templates": tagger.templates_}
        held_out = report and report.to_dict()
        print_json({**about, **found, "dev": scores or None, "dev_report": held_out, **cost})
        return
    if quiet:
        return
    printer.print(
        f"{output}: {found['n_tags']:,} tags, {found['n_weighted']:,} of {found['n_features']:,} "
        f"features from {found['n_sentences']:,} sentences, {found['n_tokens']:,} tokens; "
        f"{seconds:.1f} s, {cost['peak_memory'] / 1e6:,.0f} MB at most",
        markup=False,
    )
    printer.print(f"  columns         {', '.join(tagger.columns_)}", markup=False)
    if "wrong_tags" in found:
        mistakes = ", ".join(f"{n:,}" for n in found["wrong_tags"])
        printer.print(f"  wrong tags      {mistakes} in the passes")
    if losses := found.get("loss"):
        printer.print(
            f"  loss            {losses[0]:,.1f} to {losses[-1]:,.1f} in {len(losses)} iterations"
        )
    if found["coverage"]:
        shares = [f"{share:.1%} by {ARGUMENTS[name]}" for name, share in found["coverage"].items()]
        printer.print(f"  known tokens    {', '.join(shares)}")
    if any(scores):
        best = max(range(len(scores)), key=lambda i: scores[i] or 0)
        printer.print(f"  best on dev     after pass {best + 1} of {len(scores)}")
    if report is not None:
        printer.print("\n".join(f"  {line}" for line in str(report).splitlines()), markup=False)
    times = ", ".join(f"{name} {time:.1f}" for name, time in cost["phases"].items())
    printer.print(f"  seconds         {times}")
