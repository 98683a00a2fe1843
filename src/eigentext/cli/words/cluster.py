"""Clusters of words by their vectors: cluster."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eigentext.cli._bundles import RunOptions, StreamOption
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import check_model_path, check_not_read, destination
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._tables import write_result
from eigentext.cli._work import work
from eigentext.cli.words._shared import ModelArgument, load_words
from eigentext.words import parameters as tables

if TYPE_CHECKING:
    from eigentext import WordClusters

_CLUSTERS_SHOWN = 5
_WORDS_SHOWN = 8
_Format = Literal["paths", "model", "csv", "tsv", "jsonl", "parquet", "arrow"]
# Files with paths have tabs, too.
_ENDINGS = {".tsv": ("paths", "tsv"), ".tab": ("paths", "tsv"), ".safetensors": ("model",)}


@with_options(tables.WordClusters)
def cluster(
    model: ModelArgument,
    output: StreamOption,
    parameters: Parameters,
    run: RunOptions,
    format: Annotated[
        _Format | None,
        typer.Option(
            "--format",
            help="paths: bit string, word and count on each line; model: a model file, for "
            "`explore`; others: a table with the columns word, count, cluster and bits.",
            show_default="by the ending of -o (.safetensors is model), or paths",
        ),
    ] = None,
) -> None:
    """Cluster the words by their vectors, with bit strings like those of Brown clusters."""
    from eigentext import WordClusters
    from eigentext.corpus.table_output import TABLE_FORMATS, format_for

    chosen = format_for(output, format, default="paths", endings=_ENDINGS)
    vectors = load_words(model)
    check_not_read(output, [model])
    if str(output) != "-" or chosen == "model":
        check_model_path(output)
    started = time.perf_counter()
    clusters = WordClusters(**parameters)
    with work(run) as phases:
        clusters.fit(vectors)
        if chosen in TABLE_FORMATS:
            write_result(clusters.to_arrow(), output, chosen)
        else:
            with destination(output) as path:
                (clusters.save if chosen == "model" else clusters.to_tsv)(path)
    if str(output) == "-":
        return
    seconds = time.perf_counter() - started
    if run.json:
        facts = _facts(clusters, output, chosen)
        print_json({**facts, "seconds": round(seconds, 3), "phases": phases.times()})
    elif not run.quiet:
        _print_clusters(clusters, output, seconds)
        if chosen != "model":
            print_plain("  `eigentext explore` opens clusters that are written with --format model")


def _facts(clusters: "WordClusters", output: Path, format: str) -> dict[str, object]:
    found = clusters.diagnostics_
    return {
        "output": str(output),
        "format": format,
        "method": clusters.parameters_.method,
        "n_words": found["n_words"],
        "words_without_context": found["words_without_context"],
        "n_clusters": clusters.parameters_.n_clusters,
        "explained": found["explained"],
        "clusters": _largest(clusters),
    }


def _print_clusters(clusters: "WordClusters", output: Path, seconds: float) -> None:
    found = clusters.diagnostics_
    print_plain(
        f"{output}: {found['n_words']:,} words in {clusters.parameters_.n_clusters:,} clusters, "
        f"which explain {found['explained']:.0%} of their variance; {seconds:.1f} s"
    )
    for path, words in _largest(clusters).items():
        print_plain(f"  {path}  {' '.join(words)}")


def _largest(clusters: "WordClusters") -> dict[str, list[str]]:
    """Return the clusters with the most words, by bit string.

    Of clusters of equal size, the one with more frequent words comes first.
    """
    sizes = clusters.diagnostics_["sizes"]
    largest = sorted(range(len(sizes)), key=lambda number: -sizes[number])[:_CLUSTERS_SHOWN]
    shown = {}
    for number in largest:
        words = [word for word, _ in clusters.most_frequent(number, _WORDS_SHOWN)]
        shown[clusters[words[0]]] = words
    return shown
