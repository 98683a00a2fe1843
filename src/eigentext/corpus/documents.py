"""What a document is, for each kind of input.

A document is a string of a list, a list of tokens, a file, a line (of a :class:`TextCorpus` with
``unit="line"``), a row of a table, or a row of a matrix of counts. An empty string, list, file or
row is a document too. Only lines without tokens are not, because the last line end of a file may or
may not begin another line.
"""

import os
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus.encoded import END, EncodedCorpus
from eigentext.corpus.given import as_corpus
from eigentext.corpus.items import kind_of_item, listed
from eigentext.corpus.readers import LONGEST_LINE, File
from eigentext.corpus.symbols import INTEGERS, UNKNOWN
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.tokenizers import NAMED, UNIT_END
from eigentext.corpus.vocabulary import Vocabulary
from eigentext.errors import CorpusError

MATRIX = "matrix"  # options["tokenizer"] if words are columns of a matrix
Place = tuple[str, int]  # a file and a line or row (0: all of it), or "" and the place in a list
Name = int | str  # what a document is called
_BATCH = 1 << 25  # characters
_TEXT = {"tokenizer": "words", "lowercase": True, "unit": "document"}


def is_matrix(X: Any) -> bool:
    """Whether documents are given by their counts: a matrix, or rows of numbers."""
    if sp.issparse(X):
        return True
    if isinstance(X, (list, tuple)):
        rows = (row for row in X if isinstance(row, (list, tuple, np.ndarray)) and len(row))
        row = next(rows, None)
        return row is not None and isinstance(row[0], Real)
    return hasattr(X, "__array__") and np.asarray(X).dtype.kind in "biufc"


def checked_matrix(X: Any) -> Any:
    """A CSR copy with sorted columns and without zeros.

    Raises CorpusError if a count is negative or not finite.

    Examples
    --------
    >>> checked_matrix([[1, 0, 2], [0, 0, 0]]).toarray()
    array([[1, 0, 2],
           [0, 0, 0]])
    """
    if not sp.issparse(X):
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise CorpusError(
                f"the rows are not a matrix ({error}); give rows of one length or lists of words"
            ) from error
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise CorpusError(
            f"the array has shape {X.shape} and type {X.dtype}; "
            "give a matrix of counts, with one row per document and one column per word"
        )
    if 0 in X.shape:
        raise CorpusError(
            f"the matrix has {X.shape[0]} documents, {X.shape[1]} words; give at least one"
        )
    dtype = np.float64 if X.dtype.kind == "f" else np.result_type(X.dtype, np.int32)
    counts = sp.csr_array(X, dtype=dtype, copy=True)
    counts.sum_duplicates()
    wrong = np.flatnonzero(~((counts.data >= 0) & (counts.data < np.inf)))
    if len(wrong):
        row = np.searchsorted(counts.indptr, wrong[0], side="right") - 1
        raise CorpusError(
            f"row {row}, column {counts.indices[wrong[0]]}: {counts.data[wrong[0]]} is not a "
            "count; counts are finite and 0 or more"
        )
    counts.eliminate_zeros()
    return counts


def as_documents(X: Any, options: dict[str, Any] | None = None) -> TextCorpus | EncodedCorpus:
    """Strings, token lists, files or a corpus, as a corpus whose units are documents.

    A list of strings is always text, and paths are files (:mod:`eigentext.corpus.given`). The
    tokenizer "words" splits strings, in lower case, and token lists stay unchanged. `options` of a
    fitted corpus replace this. A corpus is returned unchanged.
    """
    if isinstance(X, (TextCorpus, EncodedCorpus)):
        if X.options["unit"] == "stream":
            raise CorpusError("a stream has no documents; read it with unit='line' or 'document'")
        if X.options["tokenizer"] == INTEGERS:
            raise CorpusError("the documents are integers; give a matrix of counts, or words")
        return X
    if isinstance(X, (str, os.PathLike)):
        return _files(X, options)
    X = listed(X)
    if X and kind_of_item(type(X[0])) == "tokens":
        lowercase = options["lowercase"] if options else False
        return TextCorpus(X, kind="tokens", lowercase=lowercase, unit="document")
    corpus = as_corpus(X, **_reading(options or _TEXT))
    if corpus.texts:
        corpus.unit = "document"  # lines are documents only in files
    return corpus


def document_ids(corpus: TextCorpus | EncodedCorpus, vocabulary: Vocabulary) -> np.ndarray:
    """All documents as one array of ids. `END` (-1) follows each; unknown words are -2.

    Examples
    --------
    >>> words = Vocabulary(["ate", "ham"], [2, 1])
    >>> document_ids(as_documents(["I ate.", "", "Ham"]), words).tolist()
    [0, -1, -1, 1, -1]
    """

    def ids_of(words: list[str]) -> np.ndarray:
        ids = vocabulary.ids_of(words)
        ids[ids < 0] = UNKNOWN
        return ids

    def encode_block(block: Any) -> np.ndarray:
        column = corpus.tokens_of(block).dictionary_encode()
        words = column.dictionary.to_pylist()
        ids = ids_of(words)
        if UNIT_END in words:
            ids[words.index(UNIT_END)] = END
        return ids[column.indices.to_numpy()]

    if isinstance(corpus, EncodedCorpus):
        # In NumPy END (-1) is the last place. The last END of all does not end a document.
        ids = np.append(ids_of(corpus.words), np.int32(END))[corpus.tokens[:-1]]
    else:
        ids = np.concatenate(list(engine.current().map(encode_block, corpus.blocks())))
    if skips_empty(corpus):
        ids = ids[(ids != END) | (np.append(END, ids[:-1]) != END)]  # lines without tokens
    return ids


def skips_empty(corpus: TextCorpus | EncodedCorpus) -> bool:
    """Whether units without tokens are not documents: lines, but not rows of tables."""
    if isinstance(corpus, TextCorpus) and corpus.column is not None:
        return False
    return corpus.options["unit"] == "line" and corpus.options["tokenizer"] != "none"


def in_batches(corpus: TextCorpus) -> Iterator[tuple[list[Place], TextCorpus]]:
    """Batches of documents as readable text: a corpus of texts, and the place of each.

    Only blank lines of files are skipped. A line without words is in the batch. If rows of a table
    have names (``id``), they are the ``ids`` of the corpus of texts.

    Examples
    --------
    >>> [(places, part)] = in_batches(as_documents(["I ate.", "", "Ham"]))
    >>> places
    [('', 0), ('', 1), ('', 2)]
    >>> part.texts
    ['I ate.', '', 'Ham']
    """
    options: dict[str, Any] = {
        name: getattr(corpus, name) for name in ("tokenizer", "lowercase", "errors")
    }
    options |= {"unit": "document", "kind": "tokens" if corpus.token_lists else "texts"}
    places, texts, ids, size = [], [], [], 0

    def batch() -> tuple[list[Place], TextCorpus]:
        part = TextCorpus(texts, **options)
        part.ids = ids
        return places, part

    for place, text, *name in _documents(corpus):
        places.append(place)
        texts.append(text)
        ids += name
        size += 100 + len(text)
        if size >= _BATCH:
            yield batch()
            places, texts, ids, size = [], [], [], 0
    if texts:
        yield batch()


def named_batches(
    corpus: TextCorpus, shown: Mapping[str, str] | None = None
) -> Iterator[tuple[list[Name], TextCorpus]]:
    """The same batches, with the name of each document.

    A name is the id of a row of a table, or else the place of the document: its file, its line or
    row, or both if there are several files. `shown` has other names for some files.

    Examples
    --------
    >>> rows = [{"id": "a", "text": "I ate"}, {"id": "b", "text": "Ham"}]
    >>> [(names, part)] = named_batches(TextCorpus(rows, column="text", id="id"))
    >>> names, list(units_of(part))
    (['a', 'b'], [['I', 'ate'], ['Ham']])
    """
    n_files = len(corpus.files)
    for places, part in in_batches(corpus):
        files = [(shown or {}).get(file, file) for file, _ in places]
        yield (
            part.ids
            or [
                file if file and not line else line if n_files <= 1 else f"{file}:{line}"
                for file, (_, line) in zip(files, places)
            ],
            part,
        )


def units_of(part: TextCorpus) -> Iterator[list[str]]:
    """The tokens of each document of a batch, also of those without tokens."""
    unit: list[str] = []
    for block in part.blocks():
        for token in part.tokens_of(block).to_pylist():
            if token == UNIT_END:
                yield unit
                unit = []
            else:
                unit.append(token)


def _documents(corpus: TextCorpus) -> Iterator[tuple[Any, ...]]:
    """The place of each document, its text or tokens and, in a table with ids, its id."""
    if corpus.column is not None:
        yield from _rows(corpus)
    elif corpus.files:
        yield from _texts_of_files(corpus)
    else:
        for number, text in enumerate(corpus.texts or corpus.token_lists):
            yield ("", number), text


def _rows(corpus: TextCorpus) -> Iterator[tuple[Any, ...]]:
    seen = corpus.new_pass()
    for source in corpus.files or [corpus.table]:
        column = corpus.column_of(source)
        for rows in column.rows(seen, ids=True):
            block = column.block(rows)
            texts = corpus.checked(block).decode().split("\n")
            places = [(column.name, number) for number in rows.numbers.tolist()]
            yield from zip(places, texts, rows.ids) if rows.ids else zip(places, texts)
    corpus.tell(seen)


def _texts_of_files(corpus: TextCorpus) -> Iterator[tuple[Place, str]]:
    seen = corpus.new_pass()
    for file in corpus.files:
        blocks = corpus.blocks_of(file, seen, whole_lines=True)
        texts = (corpus.checked(block).decode() for block in blocks)
        if corpus.unit == "document":
            yield (str(file), 0), _joined(texts, file)
            continue
        before = 0
        for text in texts:
            for number, line in enumerate(text.split("\n"), start=before + 1):
                if line.strip():
                    yield (str(file), number), line
            before += text.count("\n")
    corpus.tell(seen)


def _joined(texts: Iterator[str], file: File) -> str:
    """A document that must be in memory completely."""
    parts, size = [], 0
    for text in texts:
        parts.append(text)
        size += len(text)
        if size > LONGEST_LINE:
            raise CorpusError(
                f"{file}: the document has more than {LONGEST_LINE >> 20} MiB; split it, or read "
                "its lines as documents (unit='line')"
            )
    return "".join(parts)


def _files(paths: Any, options: dict[str, Any] | None) -> TextCorpus:
    try:
        corpus = TextCorpus(paths, **_reading(options or _TEXT))
    except CorpusError as error:
        raise CorpusError(f"{error} (documents are a list of strings)") from error
    if options is None and len(corpus.files) == 1:
        raise CorpusError(
            f"{corpus.files[0]}: one file is one document; give TextCorpus(path, unit='line') "
            "if each line is a document, or give more files"
        )
    return corpus


def _reading(options: dict[str, Any]) -> dict[str, Any]:
    """The options for reading text as it was read before."""
    name = options["tokenizer"]
    if name not in NAMED:
        learned = "lists of tokens" if name == "none" else f"text that {name} split"
        raise CorpusError(
            f"the input is text, but the model was fitted to {learned}; give lists of tokens, "
            "or a TextCorpus with its tokenizer"
        )
    return {option: options[option] for option in _TEXT}
