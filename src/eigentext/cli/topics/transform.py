"""`eigentext topics transform`: what each document is about."""

from collections.abc import Iterable
from itertools import pairwise, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import FilesArgument, QuietFlag, RunOptions, ThreadsOption
from eigentext.cli._console import print_plain
from eigentext.cli._files import check_not_read, inputs
from eigentext.cli._options import with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli._text import no_words
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument, load_topics
from eigentext.errors import ParameterError
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    import numpy as np

_BLANKS = str.maketrans("\t\r\n", "   ")


@with_options()
def transform(
    model: ModelArgument,
    files: FilesArgument,
    documents: DocumentOptions,
    table: TableOptions,
    top: Annotated[
        bool, typer.Option("--top", help="Write only the largest topic of each document.")
    ] = False,
    least: Annotated[
        float | None,
        typer.Option(
            "--least",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Write only shares of at least this much, each with its topic, as in 3:0.25.",
            show_default="all shares",
        ),
    ] = None,
    threads: ThreadsOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write JSON instead of rows with tabs.")
    ] = False,
    quiet: QuietFlag = False,
) -> None:
    """Write the shares of the topics in each document: its name, then a number per topic.

    The name is the id (--id), or else the line or the file. Blank lines are skipped, but not rows
    of tables. A document without any word that the model knows gets the shares that the topics have
    in all documents.

    With --least, other shares do not change, and a table (--format) has a row for each share:
    document, topic, share.
    """
    from eigentext.topics.tables import named_shares, share_table, sparse_table, top_table

    output, format = table.output, table.chosen(json=json)
    if top and least is not None:
        raise ParameterError("--top and --least exclude each other; choose one")
    topics = load_topics(model)
    check_not_read(output, [model])
    with inputs(files) as (paths,), work(RunOptions(threads=threads), bars=False):
        corpus = documents.corpus(topics, model, paths)
        check_not_read(output, corpus.files)
        shown = {str(path): given for given, path in zip(files, paths) if given == "-"}
        names, shares = named_shares(topics, corpus, shown, least=least)
        if not names:
            raise no_words(files, "documents")
        if format != PLAIN:
            made = sparse_table if least is not None else top_table if top else share_table
            write_result(made(names, shares, corpus.id or "document"), output, format)
        elif least is not None:
            rows = zip(map(str, names), map(_listed, pairwise(shares.indptr), repeat(shares)))
            write_text(_sparse_json(model, rows) if json else _sparse_rows(rows), output)
        else:
            rows = zip(map(str, names), shares)
            write_text(as_json(model, rows, top) if json else as_table(rows, top), output)
    if str(output) != "-" and not quiet:
        print_plain(f"{output}: {len(names):,} documents, {topics.n_topics_} topics")


def _listed(places: tuple[int, int], shares: Any) -> list[tuple[int, float]]:
    """The topics of a document, the largest first, with their shares."""
    start, stop = places
    found = zip(shares.indices[start:stop].tolist(), shares.data[start:stop].tolist())
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _sparse_rows(rows: Iterable[tuple[str, list[tuple[int, float]]]]) -> Iterable[str]:
    for name, found in rows:
        cells = " ".join(f"{k}:{share:.6g}" for k, share in found)
        yield f"{name.translate(_BLANKS)}\t{cells}\n"


def _sparse_json(model: Path, rows: Iterable[tuple[str, list[tuple[int, float]]]]) -> Iterable[str]:
    """Yield the lines of one JSON document, in which topics are named by their numbers."""
    yield f'{{"model": {json_text(str(model))}, "documents": ['
    for number, (name, found) in enumerate(rows):
        about = {"document": name, "topics": {str(k): share for k, share in found}}
        yield ("," if number else "") + "\n" + json_text(about)
    yield "\n]}\n"


def as_table(rows: Iterable[tuple[str, "np.ndarray"]], top: bool) -> Iterable[str]:
    """Yield rows with tabs: a name, and the shares of the topics or the largest of them."""
    for name, shares in rows:
        k = shares.argmax()
        cells = (str(k), f"{shares[k]:.6g}") if top else (f"{share:.6g}" for share in shares)
        yield "\t".join((name.translate(_BLANKS), *cells)) + "\n"


def as_json(model: Path, rows: Iterable[tuple[str, "np.ndarray"]], top: bool) -> Iterable[str]:
    """Yield the lines of one JSON document."""
    yield f'{{"model": {json_text(str(model))}, "documents": ['
    for number, (name, shares) in enumerate(rows):
        k = int(shares.argmax())
        about = {"topic": k, "share": float(shares[k])} if top else {"topics": shares.tolist()}
        yield ("," if number else "") + "\n" + json_text({"document": name, **about})
    yield "\n]}\n"
