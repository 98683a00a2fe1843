"""`eigentext topics transform`: what each document is about."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import (
    FilesArgument,
    QuietFlag,
    RunOptions,
    StreamOption,
    ThreadsOption,
)
from eigentext.cli._console import print_plain
from eigentext.cli._files import check_not_read, destination, inputs
from eigentext.cli._options import with_options
from eigentext.cli._text import no_words
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument, load_topics
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    import numpy as np

    from eigentext import TextCorpus, TopicModel

_BLANKS = str.maketrans("\t\r\n", "   ")


@with_options()
def transform(
    model: ModelArgument,
    files: FilesArgument,
    documents: DocumentOptions,
    output: StreamOption = Path("-"),
    top: Annotated[
        bool, typer.Option("--top", help="Write only the largest topic of each document.")
    ] = False,
    threads: ThreadsOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write JSON instead of rows with tabs.")
    ] = False,
    quiet: QuietFlag = False,
) -> None:
    """Write the shares of the topics in each document: its line or file, then a number per topic.

    Blank lines are skipped. A document without any word that the model knows gets the shares that
    the topics have in all documents.
    """
    topics = load_topics(model)
    check_not_read(output, [model])
    with inputs(files) as (paths,), work(RunOptions(threads=threads), bars=False):
        corpus = documents.corpus(topics, model, paths)
        check_not_read(output, corpus.files)
        places, counts = _read(topics, corpus)
        if counts is None:
            raise no_words(files, "documents")
        shown = {str(path): given for given, path in zip(files, paths) if given == "-"}
        names = [_name(shown.get(file, file), line, len(corpus.files)) for file, line in places]
        rows = zip(names, topics.transform(counts))
        lines = _json(model, rows, top) if json else _table(rows, top)
        _write(lines, output)
    if str(output) != "-" and not quiet:
        print_plain(f"{output}: {len(names):,} documents, {topics.n_topics_} topics")


def _read(model: "TopicModel", corpus: "TextCorpus") -> tuple[list[tuple[str, int]], Any]:
    """Return the place of each document, and a sparse matrix of counts (None if there is none)."""
    import scipy.sparse as sp

    from eigentext.corpus.documents import in_batches
    from eigentext.moments import document_counts

    places, counts = [], []
    for some, part in in_batches(corpus):
        places += some
        counts.append(document_counts(part, model.vocabulary_, model.provenance_["options"]))
    return places, sp.vstack(counts, format="csr") if counts else None


def _name(file: str, line: int, n_files: int) -> str:
    if not line:
        return file
    return str(line) if n_files == 1 else f"{file}:{line}"


def _table(rows: Iterable[tuple[str, "np.ndarray"]], top: bool) -> Iterable[str]:
    for name, shares in rows:
        k = shares.argmax()
        cells = (str(k), f"{shares[k]:.6g}") if top else (f"{share:.6g}" for share in shares)
        yield "\t".join((name.translate(_BLANKS), *cells)) + "\n"


def _json(model: Path, rows: Iterable[tuple[str, "np.ndarray"]], top: bool) -> Iterable[str]:
    """Yield the lines of one JSON document."""
    yield f'{{"model": {json_text(str(model))}, "documents": ['
    for number, (name, shares) in enumerate(rows):
        k = int(shares.argmax())
        about = {"topic": k, "share": float(shares[k])} if top else {"topics": shares.tolist()}
        yield ("," if number else "") + "\n" + json_text({"document": name, **about})
    yield "\n]}\n"


def _write(lines: Iterable[str], output: Path) -> None:
    from eigentext.storage.files import replacing

    with (
        destination(output) as path,
        replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace") as file,
    ):
        file.writelines(lines)
