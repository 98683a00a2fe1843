"""`eigentext tagger fit`: from tagged sentences, and what plain text taught, to a tagger."""

import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

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
from eigentext.cli._options import Parameters, given_on_command_line, with_options
from eigentext.cli.tagger._shared import (
    TaggedArgument,
    places_of,
    read_tagged,
    training_layout,
)
from eigentext.errors import EigentextError, ParameterError
from eigentext.tagging import parameters as tables

# What plain text taught: the classes of the models that hold it, and what these are called.
_SOURCES = {
    "vectors": ("Eigenwords", "word vectors (`words fit`)"),
    "clusters": ("WordClusters", "clusters (`words cluster`)"),
    "eigentokens": ("Eigentokens", "eigentokens of `words tokens`"),
    "states": ("HMM", "a hidden Markov model (`hmm fit`)"),
}
_KEYWORD = re.compile(rf"\b({'|'.join(_SOURCES)})=…")
_FOREIGN = re.compile(rf"among (?:those|the words) of ({'|'.join(_SOURCES)})\b")


@with_options(tables.Tagger)
def fit(
    context: typer.Context,
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
    parameters: Parameters = {},  # noqa: B006 - options take its place
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
    paths = {
        "vectors": vectors,
        "clusters": clusters,
        "eigentokens": eigentokens,
        "states": states,
    }
    sources = {name: path for name, path in paths.items() if path}
    written = given_on_command_line(context, parameters)
    if template:
        if "features" in written:
            raise ParameterError("--features names templates, too; give the one or the other")
        parameters["features"] = template
    if "scale" in written and not sources.keys() - {"clusters"}:
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
            **parameters,
            columns=layout.kept[:-1],
            **{name: _load_source(name, path) for name, path in sources.items()},
        )
        with _spelled(sources), places_of(sentences):
            tagger.fit([one.tokens for one in sentences], dev=others)
        if others:
            report = tagger.evaluate(others)
        save_model(tagger, output)
    seconds = time.perf_counter() - started
    _tell(tagger, output, report, watch, seconds, json=json, quiet=quiet)


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
