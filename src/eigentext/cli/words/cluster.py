"""Classes of words from their vectors: cluster."""

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import (
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    Watch,
    check_model_path,
    check_no_input,
    destination,
    print_json,
    printer,
    work,
)
from eigentext.cli._options import Parameters, with_options
from eigentext.cli.words._shared import ModelArgument, load_words
from eigentext.words import parameters as tables

_CLUSTERS_SHOWN = 5
_WORDS_SHOWN = 8


@with_options(tables.WordClusters)
def cluster(
    model: ModelArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write; - is standard output.")
    ],
    parameters: Parameters,
    format: Annotated[
        Literal["paths", "model"],
        typer.Option("--format", help="paths: bit string, word and count on each line."),
    ] = "paths",
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Cluster the words by their vectors, with bit strings as Brown clusters have."""
    from eigentext import WordClusters
    from eigentext.storage import check_writable

    vectors = load_words(model)
    check_no_input(output, [model])
    to_stream = str(output) == "-"
    if format == "model":
        check_model_path(output)
    elif not to_stream:
        check_writable(output)
    started = time.perf_counter()
    found = WordClusters(**parameters)
    with work(quiet=quiet or json, threads=threads) as watch:
        found.fit(vectors)
        with destination(output) as path:
            (found.save if format == "model" else found.to_tsv)(path)
    if not to_stream:
        seconds = time.perf_counter() - started
        _report(found, output, format, watch, seconds, json=json, quiet=quiet)


def _report(
    found: Any, output: Path, format: str, watch: Watch, seconds: float, *, json: bool, quiet: bool
) -> None:
    shown = _largest(found)
    if json:
        print_json(
            {
                "output": str(output),
                "format": format,
                "method": found.parameters_.method,
                "n_words": found.diagnostics_["n_words"],
                "words_without_context": found.diagnostics_["words_without_context"],
                "n_clusters": found.parameters_.n_clusters,
                "explained": found.diagnostics_["explained"],
                "clusters": shown,
                "seconds": round(seconds, 3),
                "phases": watch.times(),
            }
        )
    elif not quiet:
        printer.print(
            f"{output}: {found.diagnostics_['n_words']:,} words in "
            f"{found.parameters_.n_clusters:,} clusters, "
            f"which explain {found.diagnostics_['explained']:.0%} of their variance; "
            f"{seconds:.1f} s",
            markup=False,
        )
        for path, words in shown.items():
            printer.print(f"  {path}  {' '.join(words)}", markup=False)


def _largest(found: Any) -> dict[str, list[str]]:
    """The clusters with the most words (of equals, the more frequent ones), by bit string."""
    sizes = found.diagnostics_["sizes"]
    largest = sorted(range(len(sizes)), key=lambda number: -sizes[number])[:_CLUSTERS_SHOWN]
    shown = {}
    for number in largest:
        words = [word for word, _ in found.most_frequent(number, _WORDS_SHOWN)]
        shown[found[words[0]]] = words
    return shown
