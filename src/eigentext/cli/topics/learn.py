"""`eigentext topics fit`: from documents to topics."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._bundles import (
    CacheOptions,
    FilesArgument,
    FitOptions,
    OutputOption,
    TokenizerOption,
)
from eigentext.cli._files import check_not_read
from eigentext.cli._fitting import Fitting, fitting
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._sources import load_sources
from eigentext.cli._text import SourceOptions, utf8_or
from eigentext.cli.topics._anchors import anchors_in_files
from eigentext.cli.topics._shared import VectorsOption, topic_lines, write_report
from eigentext.errors import CorpusError, ParameterError
from eigentext.topics import parameters as tables

if TYPE_CHECKING:
    from eigentext import TopicModel

_TOPICS_SHOWN = 20
_WORDS_SHOWN = 8
_FACTS = (
    *("left_out", "n_empty", "n_short", "n_reduced", "residual", "moved"),
    *("alpha0_perplexities", "background"),
)


@with_options(tables.TopicModel, checked=False)
def fit(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
    storage: CacheOptions,
    run: FitOptions,
    source: SourceOptions,
    tokenizer: TokenizerOption = "words",
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Do not change words to lower case.")
    ] = False,
    unit: Annotated[
        Literal["line", "document"],
        typer.Option(help="What a document is: each line, or each file."),
    ] = "line",
    vectors: VectorsOption = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write an HTML page about the topics."),
    ] = None,
) -> None:
    """Learn the topics of documents and write them as one model file."""
    from eigentext import TextCorpus, TopicModel

    if report is not None:
        _check_report_path(report, output)
    parameters |= load_sources({"vectors": vectors} if vectors else {})
    parameters |= anchors_in_files(parameters, source.encoding)
    parameters |= {
        "stop_words": named_stop_words(parameters["stop_words"], keep_case, source.encoding)
    }
    model = TopicModel(**tables.TopicModel.checked(tables.TopicModel.defaults | parameters))
    with fitting(output, run, files) as done:
        paths = done.paths[0]
        corpus = TextCorpus(
            paths, tokenizer=tokenizer, lowercase=not keep_case, unit=unit, **source.source()
        )
        done.check_not_read(corpus.files)
        if report is not None:
            check_not_read(report, corpus.files)
        model.fit(corpus, **storage.arguments())
        done.save(model)
        if report is not None:
            write_report(model, report, corpus, files, paths)
    _report(done, model, report)


def _check_report_path(report: Path, output: Path) -> None:
    from eigentext.storage import check_writable

    if report == output or (output.exists() and report.exists() and output.samefile(report)):
        raise ParameterError(f"{report}: the model is written there (-o); choose another --report")
    check_writable(report)


def named_stop_words(given: str, keep_case: bool, encoding: str) -> list[str] | str | None:
    """Return what --stop-words names: a language, "auto", no words, or the words in a file.

    The file is in UTF-8, or else in the encoding of the documents.
    """
    from eigentext import TextCorpus

    if tables.names_stop_words(given):
        return None if given == "none" else given
    try:
        encoding = utf8_or(encoding, Path(given))
        listed = TextCorpus(Path(given), lowercase=not keep_case, encoding=encoding)
    except CorpusError as error:
        raise CorpusError(
            f"{error} (--stop-words is auto, none, a language such as english, or a file)"
        ) from error
    return [word for line in listed for word in line]


def _report(done: Fitting, model: "TopicModel", page: Path | None) -> None:
    """Print what was learned, and what it took."""
    from eigentext.moments.limits import left_out_words

    limits, n_documents = model.diagnostics_["limits"], model.provenance_["n_documents"]
    details = topic_lines(model, _WORDS_SHOWN)[:_TOPICS_SHOWN]
    if model.n_topics_ > _TOPICS_SHOWN:
        details.append(f"and {model.n_topics_ - _TOPICS_SHOWN} more; see eigentext topics show")
    if told := left_out_words(model.diagnostics_.get("left_out", {}), limits):
        details.append(f"left out: {told}")
    if tried := model.diagnostics_.get("alpha0_perplexities"):
        values = ", ".join(f"{alpha0} {perplexity:,.0f}" for alpha0, perplexity in tried.items())
        details.append(
            f"alpha0 {model.alpha0_:g} was chosen, by perplexity on a part of the text: {values}"
        )
    if used := model.diagnostics_.get("background"):
        details.append(
            f"{used['tokens']:.0%} of the words in the text have vectors; background "
            f"{used['strength']:g}{_tried(used)}"
        )
    done.report(
        _facts(model, page),
        f"{model.n_topics_} topics over {len(model.vocabulary_):,} words, each in "
        f"{_documents(limits, n_documents)} documents, alpha0 {model.alpha0_:g}",
        details,
    )


def _tried(used: dict[str, Any]) -> str:
    """Return by what the strength of the background was chosen."""
    if not (tried := used.get("perplexities")):
        return ""
    values = ", ".join(f"{strength} {value:,.0f}" for strength, value in tried.items())
    return f" was chosen, by perplexity on a part of the text: {values}"


def _facts(model: "TopicModel", page: Path | None) -> dict[str, Any]:
    found, read = model.diagnostics_, model.provenance_
    return {
        "report": None if page is None else str(page),
        "n_documents": read["n_documents"],
        "n_tokens": read["n_tokens"],
        "n_words": len(model.vocabulary_),
        "topics": model.n_topics_,
        "method": model.parameters_.method,
        "alpha0": model.alpha0_,
        **found["limits"],
        "steps": len(found.get("perplexities", [])),
        "perplexity": next(reversed(found.get("perplexities", [])), None),
        **{name: found[name] for name in _FACTS if name in found},
        "top_words": model.top_words(_WORDS_SHOWN),
    }


def _documents(limits: dict[str, float], n_documents: int) -> str:
    """Return in how many documents each word occurs, as in "5 to 150 of 300"."""
    counts = [n if isinstance(n, int) else n * n_documents for n in limits.values()]
    low, high = max(math.ceil(counts[0]), 1), min(math.floor(counts[1]), n_documents)
    return f"{low:,} to {high:,} of {n_documents:,}"
