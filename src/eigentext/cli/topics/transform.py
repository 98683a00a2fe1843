"""`eigentext topics transform`: what each document is about."""

from collections.abc import Iterable
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    ErrorsOption,
    FilesArgument,
    QuietFlag,
    ThreadsOption,
    check_no_input,
    destination,
    inputs,
    printer,
    work,
)
from eigentext.cli.topics._shared import ModelArgument, UnitOption, documents_for, load_topics
from eigentext.errors import CorpusError

_BLANKS = str.maketrans("\t\r\n", "   ")


def transform(
    model: ModelArgument,
    files: FilesArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write; - is standard output.")
    ] = Path("-"),
    top: Annotated[
        bool, typer.Option("--top", help="Only each document's largest topic, and its share.")
    ] = False,
    unit: UnitOption = None,
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON, not as rows with tabs.")] = False,
    quiet: QuietFlag = False,
) -> None:
    """The proportions of topics in each document: its line or file, then a number for each topic.

    Blank lines are passed over. A document without words that the model knows gets the shares that
    topics have in general.
    """
    topics = load_topics(model)
    check_no_input(output, [model])
    with inputs(files) as paths, work(quiet=True, threads=threads):
        corpus = documents_for(topics, paths, unit, errors, model)
        check_no_input(output, corpus.files)
        places, counts = _read(topics, corpus)
        if not places:
            raise CorpusError(f"{', '.join(files)}: no documents in it; is the file empty?")
        shown = {str(path): given for given, path in zip(files, paths) if given == "-"}
        names = [_name(shown.get(file, file), line, len(corpus.files)) for file, line in places]
        rows = zip(names, topics.transform(counts))
        lines = _json(model, rows, top) if json else _table(rows, top)
        _write(lines, output)
    if str(output) != "-" and not quiet:
        printer.print(
            f"{output}: {len(names):,} documents, {topics.n_topics_} topics", markup=False
        )


def _read(model: Any, corpus: Any) -> tuple[list[tuple[str, int]], Any]:
    """Where all documents are, and their counts."""
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


def _table(rows: Iterable[tuple[str, Any]], top: bool) -> Iterable[str]:
    for name, shares in rows:
        k = shares.argmax()
        cells = (str(k), f"{shares[k]:.6g}") if top else (f"{share:.6g}" for share in shares)
        yield "\t".join((name.translate(_BLANKS), *cells)) + "\n"


def _json(model: Path, rows: Iterable[tuple[str, Any]], top: bool) -> Iterable[str]:
    """One JSON document, written as it comes."""
    yield f'{{"model": {dumps(str(model))}, "documents": ['
    for number, (name, shares) in enumerate(rows):
        k = int(shares.argmax())
        told = {"topic": k, "share": float(shares[k])} if top else {"topics": shares.tolist()}
        yield ("," if number else "") + "\n" + dumps({"document": name, **told})
    yield "\n]}\n"


def _write(lines: Iterable[str], output: Path) -> None:
    from eigentext.storage.files import replacing

    with (
        destination(output) as path,
        replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace") as file,
    ):
        file.writelines(lines)
