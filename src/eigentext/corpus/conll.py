"""Sentences in columns, as the CoNLL tasks have them: a token a line, a blank line between.

Columns have blanks between them, or tabs if a line has any: then they may hold blanks. Blanks are
ASCII's; others, such as no-break spaces, belong to words. Lines that begin with ``-DOCSTART-`` are
borders of documents, not tokens.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from eigentext.corpus.readers import compression, expand_paths, read_blocks
from eigentext.corpus.trees import packed
from eigentext.errors import CorpusError, ParameterError
from eigentext.storage.files import replacing

Source = str | os.PathLike[str]
Sentence = list[tuple[Any, ...]]
_DOCUMENT = "-DOCSTART-"
_MAX_LINES = 1 << 20  # that are kept parsed,
_SHORT = 256  # if they have no more bytes than this
_LONGEST = 1 << 20  # bytes of a line
_MAX_TOKENS = 10_000_000  # of a sentence
_CONVERT = "convert it to UTF-8 (iconv -t UTF-8)"
_BOM = "\ufeff"
_UNWRITABLE = re.compile(r"[\s\0\ud800-\udfff]", re.ASCII)


def read_conll(
    path: Source | Iterable[Source], *, columns: Sequence[str | None] = ("word", "pos", "label")
) -> Iterator[Sentence]:
    """Sentences of files in columns, one by one: lists of tuples, the label last.

    Parameters
    ----------
    path : str, path, or list of them
        Files or globs, plain or packed (.gz, .bz2, .xz, .zst), in UTF-8.
    columns : sequence of str or None
        What the columns of the files are, from left to right; those that are None are left out of
        the tuples. ``("word", "label")`` is for files of two columns, and ``("word", "pos", None,
        "label")`` makes (word, pos, label) of the four of CoNLL-2003.

    Raises
    ------
    CorpusError
        If a line has more columns or fewer or is no text, or a file has no sentences, or a line has
        more than 1 MiB, or a sentence more than ten million tokens; the message names the file and
        the line.

    Examples
    --------
    >>> import eigentext as et
    >>> sentences = et.read_conll("train.txt")  # doctest: +SKIP
    >>> next(sentences)[:2]  # doctest: +SKIP
    [('Confidence', 'NN', 'B-NP'), ('in', 'IN', 'B-PP')]
    """
    is_list = isinstance(columns, Sequence) and not isinstance(columns, str)
    if not is_list or not any(columns) or {type(name) for name in columns} - {str, type(None)}:
        raise ParameterError(
            f"columns must be a list of their names, as in ('word', 'label'), not {columns!r}"
        )
    paths = expand_paths([path] if isinstance(path, (str, os.PathLike)) else list(path))
    if not paths:
        raise CorpusError("no files to read sentences from; name some")
    return _read(paths, _Tokens(columns, advises=True))


def write_conll(sentences: Iterable[Iterable[Sequence[str]]], path: Source) -> None:
    """Write a token a line, its columns with a blank between, and a blank line after each sentence.

    The ending of the name (.gz, .bz2, .xz, .zst) says how to pack them. :func:`read_conll` gives
    the same sentences back; what it could not read is refused: tokens of more columns than others
    or fewer, columns that are empty or hold blanks, sentences without tokens. A file that stood
    there before is replaced when all is written.

    Examples
    --------
    >>> from eigentext import write_conll
    >>> write_conll([[("Dogs", "N"), ("bark", "V")]], "dogs.txt")  # doctest: +SKIP
    """
    known: dict[Any, str] = {}  # most tokens occur again: each is checked once
    lines: list[str] = []
    n_columns = None
    for number, sentence in enumerate(sentences, start=1):
        n_lines = len(lines)
        for i, token in enumerate(sentence, start=1):
            try:
                line = known[token]
            except (KeyError, TypeError):
                line = _line(token, n_columns, f"sentence {number}, token {i}")
                known[tuple(token)] = line
                n_columns = len(token)
            lines.append(line)
        if len(lines) == n_lines:
            raise CorpusError(f"sentence {number}: no tokens in it; leave it out")
        lines.append("")
    text = "".join(f"{line}\n" for line in lines)
    if text.startswith(_BOM):  # of two, the second is read as part of the word
        text = _BOM + text
    data = packed(text.encode(), compression(Path(path)))
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data)


def parse_conll(text: str | bytes, n_columns: int) -> list[Sentence]:
    r"""Sentences as lists of tuples, one for each line, with so many columns.

    Raises
    ------
    CorpusError
        Where a line has more columns or fewer; the message names it.

    Examples
    --------
    >>> parse_conll("Dogs NNS\nbark VBP\n\nYes UH\n", 2)
    [[('Dogs', 'NNS'), ('bark', 'VBP')], [('Yes', 'UH')]]
    """
    data = text.encode() if isinstance(text, str) else text
    data = data.removeprefix(_BOM.encode())
    return list(_sentences([data], _Tokens([""] * n_columns), ""))


def factored(sentences: Iterable[Iterable[tuple[str, str, str]]]) -> list[list[tuple[str, str]]]:
    """(word, part of speech, label) as ("word|part", label): tokens that carry their tags.

    Examples
    --------
    >>> factored([[("Dogs", "NNS", "B-NP"), ("bark", "VBP", "B-VP")]])
    [[('Dogs|NNS', 'B-NP'), ('bark|VBP', 'B-VP')]]
    """
    return [[(f"{word}|{pos}", label) for word, pos, label in one] for one in sentences]


def _read(paths: list[Path], tokens: "_Tokens") -> Iterator[Sentence]:
    for path in paths:
        blocks = (block.data for block in read_blocks(path, whole_lines=True))
        sentence = None
        for sentence in _sentences(blocks, tokens, f"{path}, "):
            yield sentence
        if sentence is None:
            raise CorpusError(f"{path}: no sentences in it; is the file empty?")


def _sentences(pieces: Iterable[bytes], tokens: "_Tokens", where: str) -> Iterator[Sentence]:
    """The sentences of whole lines; `where` begins error messages."""
    sentence: Sentence = []
    n_lines = 0
    for piece in pieces:
        lines = piece.split(b"\n")
        if not lines[-1]:  # what is after the last newline is no line
            lines.pop()
        for number, line in enumerate(lines, start=n_lines + 1):
            try:
                token = tokens[line]
            except ValueError as error:
                raise CorpusError(f"{where}line {number}: {error}") from error
            if token:
                sentence.append(token)
                if len(sentence) > _MAX_TOKENS:
                    raise CorpusError(
                        f"{where}line {number}: a sentence of more than {_MAX_TOKENS} tokens; put "
                        "an empty line after each sentence"
                    )
            elif sentence:
                yield sentence
                sentence = []
        n_lines += len(lines)
    if sentence:
        yield sentence


class _Tokens(dict[bytes, tuple[str, ...]]):
    """The tuples of lines, () of blank ones; most lines occur again: each is parsed once."""

    def __init__(self, columns: Sequence[str | None], advises: bool = False):
        super().__init__()
        self._n_columns = len(columns)
        self._chosen = [i for i, name in enumerate(columns) if name is not None]
        self._advises = advises  # to give other columns

    def __missing__(self, line: bytes) -> tuple[str, ...]:
        if len(line) > _LONGEST:
            raise ValueError(f"a line of {len(line)} bytes; give a token a line, in columns")
        if b"\0" in line:
            raise ValueError(f"a NUL byte: a binary or UTF-16 file? {_CONVERT}")
        text = line.strip()
        parts = [part.strip() for part in text.split(b"\t")] if b"\t" in text else text.split()
        token = ()
        if parts and parts[0] != _DOCUMENT.encode():
            try:
                names = [sys.intern(part.decode()) for part in parts]
            except UnicodeDecodeError as error:
                byte = error.object[error.start]
                raise ValueError(f"byte 0x{byte:02x} is not UTF-8; {_CONVERT}") from error
            if len(names) != self._n_columns or not all(names):
                raise self._ragged(text.decode(), names)
            token = tuple(names[i] for i in self._chosen)
        if len(line) <= _SHORT:
            if len(self) == _MAX_LINES:
                self.clear()
            self[line] = token
        return token

    def _ragged(self, line: str, names: list[str]) -> ValueError:
        if not all(names):
            return ValueError(f"{line[:80]!r} has an empty column; fill it")
        reason = f"{line[:80]!r} has {len(names)} columns, not {self._n_columns}"
        if self._advises:
            inner = ("pos", *[None] * (len(names) - 3)) if len(names) > 2 else ()
            example = ("word", *inner, "label")[: len(names)]
            reason += f"; mend it, or say what the columns are, as in columns={example}"
        return ValueError(reason)


def _line(token: Any, n_columns: int | None, place: str) -> str:
    """A token as it is written."""
    names = token if isinstance(token, (tuple, list)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise CorpusError(f"{place}: {token!r} is not a tuple of strings")
    if len(names) != (n_columns or len(names)):
        raise CorpusError(
            f"{place}: {token!r} has {len(names)} columns, the tokens before it {n_columns}; "
            "give all tokens the same"
        )
    if names[0] == _DOCUMENT:
        raise CorpusError(f"{place}: {_DOCUMENT} is read as a border of documents; leave it out")
    for name in names:
        if not name or _UNWRITABLE.search(name):
            raise CorpusError(
                f"{place}: {name[:40]!r} is empty or has blanks or bytes that no text has, so it "
                "could not be read back; write something else, as in New_York"
            )
    return " ".join(names)
