"""`eigentext topics views`: topics of documents with two views, such as a title and a text."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import (
    CacheOptions,
    FilesArgument,
    FitOptions,
    OutputOption,
    QuietFlag,
    RunOptions,
    ThreadsOption,
    TokenizerOption,
)
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import check_not_read, inputs, load_kind
from eigentext.cli._fitting import fitting
from eigentext.cli._options import Parameters, command_group, with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli._text import SourceOptions, no_words
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument
from eigentext.cli.topics.learn import named_stop_words
from eigentext.cli.topics.transform import as_json, as_table
from eigentext.errors import ParameterError
from eigentext.topics import parameters as tables

if TYPE_CHECKING:
    from eigentext import TwoViewTopics

_WORDS_SHOWN = 8
SecondOption = Annotated[
    str | None,
    typer.Option(
        "--second",
        metavar="COLUMN",
        help="Column with the second view, such as the title, if the files are tables.",
    ),
]
ArrayOption = Annotated[
    Path | None,
    typer.Option(
        "--array",
        metavar="FILE",
        help="Array of numbers as the second view (.npy of NumPy): a row for each document.",
    ),
]


@with_options(tables.TwoViewTopics, checked=False)
def fit(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
    storage: CacheOptions,
    run: FitOptions,
    source: SourceOptions,
    second: SecondOption = None,
    array: ArrayOption = None,
    tokenizer: TokenizerOption = "words",
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Do not change words to lower case.")
    ] = False,
) -> None:
    """Learn topics from two views of documents: two columns of a table, or text and an array."""
    from eigentext import TextCorpus, TwoViewTopics

    if (second is None) == (array is None):
        raise ParameterError("give the second view: --second COLUMN or --array FILE")
    _check_column(second, source)
    given = named_stop_words(parameters["stop_words"], keep_case, source.encoding)
    parameters |= {"stop_words": given}
    table = tables.TwoViewTopics
    model = TwoViewTopics(**table.checked(table.defaults | parameters))
    with fitting(output, run, files) as done:
        reading: dict[str, Any] = {"tokenizer": tokenizer, "lowercase": not keep_case}
        corpus = TextCorpus(done.paths[0], **source.source(), **reading)
        done.check_not_read(corpus.files)
        if array is not None:
            done.check_not_read([array])
        other = (
            _loaded(array)
            if array is not None
            else TextCorpus(done.paths[0], **source.source() | {"column": second}, **reading)
        )
        model.fit(corpus, other, **storage.arguments())
        done.save(model)
    found = model.diagnostics_
    facts = {
        "n_documents": found["n_documents"],
        "n_words": len(model.vocabulary_),
        "second": model.second_kind_,
        "topics": model.n_topics_,
        "steps": len(found.get("changes", [])),
        "n_without_first": found["n_without_first"],
        "n_without_second": found["n_without_second"],
        "top_words": model.top_words(_WORDS_SHOWN),
    }
    done.report(
        facts,
        f"{model.n_topics_} topics over {len(model.vocabulary_):,} words and "
        f"{_second_size(model)} of {found['n_documents']:,} documents",
        _lines(model, _WORDS_SHOWN),
    )


@with_options()
def show(
    model: ModelArgument,
    run: RunOptions,
    words: Annotated[
        int, typer.Option("--words", "-n", min=1, help="How many words of each topic to show.")
    ] = 12,
) -> None:
    """Print the topics, largest first: number, share, and words of each view."""
    topics = _load(model)
    if not run.json:
        for line in _lines(topics, words):
            print_plain(f"  {line}")
        return
    shown: list[dict[str, Any]] = [
        {"topic": k, "weight": weight, "words": top}
        for k, (weight, top) in enumerate(zip(topics.weights_.tolist(), topics.top_words(words)))
    ]
    if topics.second_kind_ == "words":
        for one, top in zip(shown, topics.top_words(words, view="second")):
            one["second"] = top
    else:
        for one, mean in zip(shown, topics.second_means_.tolist()):
            one["second"] = mean
    print_json({"model": str(model), "topics": shown})


@with_options()
def transform(
    model: ModelArgument,
    files: FilesArgument,
    documents: DocumentOptions,
    table: TableOptions,
    second: SecondOption = None,
    array: ArrayOption = None,
    top: Annotated[
        bool, typer.Option("--top", help="Write only the largest topic of each document.")
    ] = False,
    threads: ThreadsOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write JSON instead of rows with tabs.")
    ] = False,
    quiet: QuietFlag = False,
) -> None:
    """Write the topics of each document, by its words and, if given, its second view."""
    from eigentext import TextCorpus
    from eigentext.corpus.documents import named_batches
    from eigentext.topics.tables import share_table, top_table

    if second is not None and array is not None:
        raise ParameterError("--second and --array exclude each other; choose one")
    _check_column(second, documents)
    output, format = table.output, table.chosen(json=json)
    topics = _load(model)
    check_not_read(output, [model, *([array] if array is not None else [])])
    with inputs(files) as (paths,), work(RunOptions(threads=threads), bars=False):
        corpus = documents.corpus(topics, model, paths)
        check_not_read(output, corpus.files)
        other: Any = None if array is None else _loaded(array)
        if second is not None:
            if topics.second_kind_ != "words":
                raise ParameterError(f"{model}: the second view has numbers; give --array FILE")
            reading = {k: topics.second_options_[k] for k in ("tokenizer", "lowercase")}
            other = TextCorpus(paths, **documents.source() | {"column": second}, **reading)
        elif other is not None and topics.second_kind_ == "words":
            raise ParameterError(f"{model}: the second view has words; give --second COLUMN")
        shown = {str(path): given for given, path in zip(files, paths) if given == "-"}
        names = [name for some, _ in named_batches(corpus, shown) for name in some]
        if not names:
            raise no_words(files, "documents")
        shares = topics.transform(corpus, other)
        if format != PLAIN:
            tabled = (top_table if top else share_table)(names, shares, corpus.id or "document")
            write_result(tabled, output, format)
        else:
            rows = zip(map(str, names), shares)
            write_text(as_json(model, rows, top) if json else as_table(rows, top), output)
    if str(output) != "-" and not quiet:
        print_plain(f"{output}: {len(names):,} documents, {topics.n_topics_} topics")


def _check_column(second: str | None, source: SourceOptions) -> None:
    if second is not None and source.column is None:
        raise ParameterError(
            "--second is a column of a table; also name its column of text, with --column"
        )


def _loaded(array: Path) -> Any:
    """Read an array of NumPy. Files with Python objects, which may run code, are refused."""
    import numpy as np

    try:
        return np.load(array, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ParameterError(f"{array}: not an array of NumPy (.npy): {error}") from error


def _load(path: Path) -> "TwoViewTopics":
    from eigentext import TwoViewTopics

    return load_kind(path, TwoViewTopics, "topics of two views")


def _second_size(model: "TwoViewTopics") -> str:
    if model.second_kind_ == "words":
        return f"{len(model.second_vocabulary_):,} words of the second view"
    return f"{len(model.covariance_):,} numbers"


def _lines(model: "TwoViewTopics", n_words: int) -> Sequence[str]:
    """Return a line for each topic: its number, its share, the words of both views."""
    width = len(str(model.n_topics_ - 1))
    lines = [
        f"{k:{width}}  {weight:6.1%}  {' '.join(words)}"
        for k, (weight, words) in enumerate(zip(model.weights_, model.top_words(n_words)))
    ]
    if model.second_kind_ == "words":
        others = model.top_words(max(n_words // 2, 1), view="second")
        lines = [f"{line}  |  {' '.join(words)}" for line, words in zip(lines, others)]
    return lines


app = command_group(
    "Topics of documents with two views: a title and a text, or words and numbers.",
    fit,
    show,
    transform,
)
