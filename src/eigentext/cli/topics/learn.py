"""`eigentext topics fit`: from documents to topics."""

import math
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import (
    CacheOption,
    CheckpointOption,
    ClusterOption,
    ErrorsOption,
    FilesArgument,
    JsonFlag,
    NoCacheFlag,
    OutputOption,
    QuietFlag,
    ThreadsOption,
    TokenizerOption,
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
from eigentext.cli._options import Parameters, with_options
from eigentext.cli.topics._shared import print_topics, write_report
from eigentext.errors import CorpusError, ParameterError
from eigentext.topics import parameters as tables

_TOPICS_SHOWN = 20
_WORDS_SHOWN = 8
_FACTS = ("n_empty", "n_short", "n_reduced", "residual", "moved", "alpha0_perplexities")


@with_options(tables.TopicModel, checked=False)
def fit(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
    tokenizer: TokenizerOption = "words",
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Tell Ham from ham; else the case is lowered.")
    ] = False,
    unit: Annotated[
        Literal["line", "document"],
        typer.Option(help="What a document is: each line, or each file."),
    ] = "line",
    errors: ErrorsOption = "strict",
    report: Annotated[
        Path | None, typer.Option(help="Write a page about the topics here, in HTML.")
    ] = None,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    checkpoint: CheckpointOption = None,
    cache: CacheOption = None,
    no_cache: NoCacheFlag = False,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn the topics of documents and write them as one model file."""
    from eigentext import TextCorpus, TopicModel

    check_model_path(output)
    if report is not None:
        _check_report_path(report, output)
    started = time.perf_counter()
    parameters |= {"stop_words": _stop_words(parameters["stop_words"], keep_case)}
    model = TopicModel(**tables.TopicModel.checked(tables.TopicModel.defaults | parameters))
    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster, checkpoint=checkpoint) as watch,
    ):
        corpus = TextCorpus(
            paths, tokenizer=tokenizer, lowercase=not keep_case, unit=unit, errors=errors
        )
        for written in (output, report):
            if written is not None:
                check_no_input(written, corpus.files)
        model.fit(corpus, cache=False if no_cache else cache or True)
        save_model(model, output)
        if report is not None:
            write_report(model, report, corpus, files, paths)
    seconds = time.perf_counter() - started
    _tell(model, output, report, watch, seconds, json=json, quiet=quiet)


def _check_report_path(report: Path, output: Path) -> None:
    from eigentext.storage import check_writable

    if report == output or (output.exists() and report.exists() and output.samefile(report)):
        raise ParameterError(f"{report}: the model is written there (-o); choose another --report")
    check_writable(report)


def _stop_words(given: str, keep_case: bool) -> Any:
    from eigentext import TextCorpus

    if given in ("english", "none"):
        return None if given == "none" else given
    try:
        listed = TextCorpus(Path(given), lowercase=not keep_case)
    except CorpusError as error:
        raise CorpusError(f"{error} (--stop-words is english, none, or a file)") from error
    return [word for line in listed for word in line]


def _tell(
    model: Any,
    output: Path,
    report: Path | None,
    watch: Watch,
    seconds: float,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print what was learned, and what it took."""
    found, read = model.diagnostics_, model.provenance_
    cost = {"seconds": round(seconds, 3), "phases": watch.times(), "peak_memory": peak_memory()}
    if json:
        about = {
            "model": str(output),
            "report": None if report is None else str(report),
            "n_documents": read["n_documents"],
            "n_tokens": read["n_tokens"],
            "n_words": len(model.vocabulary_),
            "topics": model.n_topics_,
            "method": model.parameters_.method,
            "alpha0": model.alpha0_,
            **found["limits"],
            "steps": len(found.get("perplexities", [])),
            "perplexity": next(reversed(found.get("perplexities", [])), None),
        }
        facts = {name: found[name] for name in _FACTS if name in found}
        print_json({**about, **facts, "top_words": model.top_words(_WORDS_SHOWN), **cost})
    elif not quiet:
        printer.print(
            f"{output}: {model.n_topics_} topics over {len(model.vocabulary_):,} words, each in "
            f"{_documents(found['limits'], read['n_documents'])} documents; {seconds:.1f} s, "
            f"{cost['peak_memory'] / 1e6:,.0f} MB at most",
            markup=False,
        )
        print_topics(model, _WORDS_SHOWN, _TOPICS_SHOWN)
        if model.n_topics_ > _TOPICS_SHOWN:
            rest = model.n_topics_ - _TOPICS_SHOWN
            printer.print(f"  and {rest} more; see eigentext topics show", style="dim")


def _documents(limits: dict[str, float], n_documents: int) -> str:
    """In how many documents words are, as in "5 to 150 of 300"."""
    counts = [n if isinstance(n, int) else n * n_documents for n in limits.values()]
    low, high = max(math.ceil(counts[0]), 1), min(math.floor(counts[1]), n_documents)
    return f"{low:,} to {high:,} of {n_documents:,}"
