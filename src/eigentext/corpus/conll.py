"""Sentences in columns, as in the CoNLL tasks: one token per line, a blank line after a sentence.

Blanks separate columns. If a line has tabs, only tabs do, and columns may contain blanks. Only
ASCII blanks count. Others, such as no-break spaces, are parts of words. Lines that begin with
``-DOCSTART-`` are borders of documents, not tokens.
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
_MAX_LINES = 1 << 20  # parsed lines that are kept,
_SHORT = 256  # if they have at most this many bytes
_LONGEST = 1 << 20  # bytes of a line
_MAX_TOKENS = 10_000_000  # of a sentence
_CONVERT = "convert it to UTF-8 (iconv -t UTF-8)"
_BOM = "\ufeff"
_UNWRITABLE = re.compile(r"[\s\0\ud800-\udfff]", re.ASCII)


def read_conll(
    path: Source | Iterable[Source], *, columns: Sequence[str | None] = ("word", "pos", "label")
) -> Iterator[Sentence]:
    """Sentences of files in columns, one after the other: lists of tuples, the label last.

    Parameters
    ----------
    path : str, path, or list of them
        Files or globs, plain or packed (.gz, .bz2, .xz, .zst), in UTF-8.
    columns : sequence of str or None
        The names of the columns from left to right. Columns with the name None are left out of the
        tuples. ``("word", "label")`` reads files of two columns. ``("word", "pos", None,
        "label")`` reads (word, pos, label) from the four columns of CoNLL-2003.

    Raises
    ------
    CorpusError
        If a line has another number of columns, is not text or has more than 1 MiB, if a sentence
        has more than ten million tokens, or if a file has no sentences. The message names the file
        and the line.

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
            f"columns must be a list of names, such as ('word', 'label'), not {columns!r}"
        )
    paths = expand_paths([path] if isinstance(path, (str, os.PathLike)) else list(path))
    if not paths:
        raise CorpusError("the list of files is empty; name at least one")
    return _read(paths, _Tokens(columns, advises=True))


def write_conll(sentences: Iterable[Iterable[Sequence[str]]], path: Source) -> None:
    """Write one token per line, columns separated by blanks, and a blank line after each sentence.

    The ending of the name (.gz, .bz2, .xz, .zst) decides the packing. :func:`read_conll` reads the
    same sentences. Input that it could not read raises a CorpusError: different numbers of columns,
    columns that are empty or contain blanks, sentences without tokens. An old file is replaced when
    the new one is complete.

    Examples
    --------
    >>> from eigentext import write_conll
    >>> write_conll([[("Dogs", "N"), ("bark", "V")]], "dogs.txt")  # doctest: +SKIP
    """
    known: dict[Any, str] = {}  # most tokens occur often, so each is checked once
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
            raise CorpusError(f"sentence {number}: has no tokens; leave it out")
        lines.append("")
    text = "".join(f"{line}\n" for line in lines)
    if text.startswith(_BOM):  # readers drop one byte order mark; the second belongs to the word
        text = _BOM + text
    data = packed(text.encode(), compression(Path(path)))
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data)


def parse_conll(text: str | bytes, n_columns: int) -> list[Sentence]:
    r"""Sentences as lists of tuples, one per line, with `n_columns` columns each.

    Raises
    ------
    CorpusError
        If a line has another number of columns. The message names the line.

    Examples
    --------
    >>> parse_conll("Dogs NNS\nbark VBP\n\nYes UH\n", 2)
    [[('Dogs', 'NNS'), ('bark', 'VBP')], [('Yes', 'UH')]]
    """
    data = text.encode() if isinstance(text, str) else text
    data = data.removeprefix(_BOM.encode())
    return list(_sentences([data], _Tokens([""] * n_columns), ""))


def factored(sentences: Iterable[Iterable[tuple[str, str, str]]]) -> list[list[tuple[str, str]]]:
    """(word, part of speech, label) as ("word|part", label): tokens with their parts of speech.

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
            raise CorpusError(f"{path}: contains no sentences; is the file empty?")


def _sentences(pieces: Iterable[bytes], tokens: "_Tokens", where: str) -> Iterator[Sentence]:
    """The sentences of blocks of complete lines; `where` begins error messages."""
    sentence: Sentence = []
    n_lines = 0
    for piece in pieces:
        lines = piece.split(b"\n")
        if not lines[-1]:  # nothing follows the last newline
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
                        f"{where}line {number}: the sentence has more than {_MAX_TOKENS} tokens; "
                        "put an empty line after each sentence"
                    )
            elif sentence:
                yield sentence
                sentence = []
        n_lines += len(lines)
    if sentence:
        yield sentence


class _Tokens(dict[bytes, tuple[str, ...]]):
    """The tuples of lines; () for blank lines. Most lines occur often and are parsed once."""

    def __init__(self, columns: Sequence[str | None], advises: bool = False):
        super().__init__()
        self._n_columns = len(columns)
        self._chosen = [i for i, name in enumerate(columns) if name is not None]
        self._advises = advises  # whether errors suggest other columns

    def __missing__(self, line: bytes) -> tuple[str, ...]:
        if len(line) > _LONGEST:
            raise ValueError(f"the line has {len(line)} bytes; give one token per line, in columns")
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
            reason += f"; correct the line, or name the columns, for example columns={example}"
        return ValueError(reason)


def _line(token: Any, n_columns: int | None, place: str) -> str:
    """The line of a token."""
    names = token if isinstance(token, (tuple, list)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise CorpusError(f"{place}: {token!r} is not a tuple of strings")
    if len(names) != (n_columns or len(names)):
        raise CorpusError(
            f"{place}: {token!r} has {len(names)} columns, but tokens before it have "
            f"{n_columns}; give all tokens the same number of columns"
        )
    if names[0] == _DOCUMENT:
        raise CorpusError(f"{place}: {_DOCUMENT} marks the border of documents; leave it out")
    for name in names:
        if not name or _UNWRITABLE.search(name):
            raise CorpusError(
                f"{place}: {name[:40]!r} is empty or contains blanks or bytes that are not text, "
                "so it could not be read back; write something like New_York"
            )
    return " ".join(names)
