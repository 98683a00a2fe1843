"""Sentences in columns, as in the CoNLL tasks: one token per line, a blank line after a sentence.

Blanks separate columns. If a line has tabs, only tabs do, and columns may contain blanks. Only
ASCII blanks count. Others, such as no-break spaces, are parts of words. Lines that begin with
``-DOCSTART-`` are borders of documents, not tokens. :mod:`eigentext.corpus.columns` finds out which
columns a file has.
"""

import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from eigentext.corpus.bad_items import BadItems, Errors, checked_errors
from eigentext.corpus.columns import DOCUMENT, Columns, Head
from eigentext.corpus.encodings import UTF8, checked_encoding, not_utf8
from eigentext.corpus.readers import File, compression, expand_paths, read_blocks
from eigentext.corpus.trees import packed
from eigentext.errors import CorpusError, ParameterError
from eigentext.storage.files import replacing

Source = str | os.PathLike[str]
Sentence = list[tuple[Any, ...]]
_MAX_LINES = 1 << 20  # parsed lines that are kept,
_SHORT = 256  # if they have at most this many bytes
_LONGEST = 1 << 20  # bytes of a line
_MAX_TOKENS = 10_000_000  # of a sentence
_LOOK = 1000  # lines from which an encoding is guessed
_BOM = "\ufeff"
_UNWRITABLE = re.compile(r"[\s\0\ud800-\udfff]", re.ASCII)
_NO_TOKEN = re.compile(rb"#|\d+[-.]\d")  # a comment, a range or an empty node of CoNLL-U
_DOCUMENT = DOCUMENT.decode()
_log = logging.getLogger("eigentext")


class PlacedSentence(NamedTuple):
    """A sentence, the name of its file, and the line of its first token."""

    file: str
    line: int
    tokens: Sentence


def read_conll(
    path: Source | Iterable[Source],
    *,
    columns: Sequence[str | None] | Literal["auto"] = "auto",
    encoding: str = "utf-8",
    errors: Errors = "raise",
) -> Iterator[Sentence]:
    """Sentences of files in columns, one after the other: lists of tuples, the label last.

    Parameters
    ----------
    path : str, path, or list of them
        Files or globs, plain or packed (.gz, .bz2, .xz, .zst).
    columns : "auto", or sequence of str or None
        The names of the columns from left to right. Columns with the name None are left out of the
        tuples. ``("word", "pos", None, "label")`` reads (word, pos, label) from four columns. If
        the format gives its columns names, some of them are enough, in any order: ``("word",
        "xpos")`` for CoNLL-U, whose columns are id, word (or form), lemma, upos (or pos), xpos,
        feats, head, deprel, deps and misc. "auto" looks at the first lines of the first file, and
        reads (word, label) from two columns, (word, pos, label) from three, (word, pos, ner) from
        CoNLL-2003, (word, upos) from CoNLL-U and (word, pos) from CoNLL-2009.
    encoding : str
        The encoding of the files: "utf-8", "utf-16", "latin-1", …
    errors : "raise" or "skip"
        "skip" leaves out sentences with a line that cannot be read. A warning counts them and names
        the first few. More than a tenth of bad sentences is an error. All sentences are read before
        the first one is given.

    Notes
    -----
    Tags are given as they are in the file. :class:`Tagger` reads chunks in BIO, IOB1, BILOU and
    IOBES, and :func:`eigentext.corpus.iob1_to_bio` rewrites the tags of a sentence. Comments,
    ranges (``1-2``) and empty nodes (``1.1``) of CoNLL-U are left out.

    Raises
    ------
    CorpusError
        If a line has another number of columns, is not text or has more than 1 MiB, if a sentence
        has more than ten million tokens, if a file has no sentences, or if it is not clear which
        columns there are. The message names the file and the line.

    Examples
    --------
    >>> import eigentext as et
    >>> sentences = et.read_conll("train.txt")  # doctest: +SKIP
    >>> next(sentences)[:2]  # doctest: +SKIP
    [('Confidence', 'NN', 'B-NP'), ('in', 'IN', 'B-PP')]
    """
    is_list = isinstance(columns, Sequence) and not isinstance(columns, str)
    if columns != "auto" and (
        not is_list or not any(columns) or {type(name) for name in columns} - {str, type(None)}
    ):
        raise ParameterError(
            "columns must be a list of names, such as ('word', 'label'), or 'auto', not "
            f"{columns!r}"
        )
    checked_errors(errors)
    paths = expand_paths([path] if isinstance(path, (str, os.PathLike)) else list(path))
    if not paths:
        raise CorpusError("the list of files is empty; name at least one")
    return _read(paths, columns, checked_encoding(encoding), errors)


def _read(
    paths: list[File], columns: Sequence[str | None] | str, encoding: str, errors: Errors
) -> Iterator[Sentence]:
    head = read_head(paths[0], encoding)
    found = auto_columns(head) if isinstance(columns, str) else head.told(columns, None)
    for _, _, sentence in read_placed(paths, found, encoding=encoding, errors=errors):
        yield sentence


def read_head(path: File, encoding: str = UTF8) -> Head:
    """The first lines of a file, from which its columns are found."""
    first = next(read_blocks(path, whole_lines=True, encoding=encoding))
    return Head(first.data, str(path))


def auto_columns(head: Head) -> Columns:
    """The columns that are found, with a note if they are not the usual ones."""
    found = head.found()
    if note := found.note(head.file):
        _log.info("%s", note)
    return found


def read_placed(
    paths: Iterable[File], columns: Columns, *, encoding: str = UTF8, errors: Errors = "raise"
) -> Iterator[PlacedSentence]:
    """The sentences of files with known columns, and where they are. See :func:`read_conll`."""
    bad = BadItems(errors, "sentences")
    tokens = Tokens(columns)
    found = chain.from_iterable(_of_file(path, tokens, encoding, bad) for path in paths)
    if errors == "raise":
        yield from found
        return
    every = list(found)
    bad.report(len(every))
    yield from every


def _of_file(
    path: File, tokens: "Tokens", encoding: str, bad: BadItems
) -> Iterator[PlacedSentence]:
    blocks = (block.data for block in read_blocks(path, whole_lines=True, encoding=encoding))
    name, n_bad, found = str(path), bad.n_bad, None
    for line, found in _sentences(blocks, tokens, f"{name}, ", bad):
        yield PlacedSentence(name, line, found)
    if found is None and bad.n_bad == n_bad:
        raise CorpusError(f"{name}: contains no sentences; is the file empty?")


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
    columns = Columns(("",) * n_columns, tuple(range(n_columns)))
    found = _sentences([data], Tokens(columns), "", BadItems("raise", "sentences"))
    return [sentence for _, sentence in found]


def factored(sentences: Iterable[Iterable[tuple[str, str, str]]]) -> list[list[tuple[str, str]]]:
    """(word, part of speech, label) as ("word|part", label): tokens with their parts of speech.

    Examples
    --------
    >>> factored([[("Dogs", "NNS", "B-NP"), ("bark", "VBP", "B-VP")]])
    [[('Dogs|NNS', 'B-NP'), ('bark|VBP', 'B-VP')]]
    """
    return [[(f"{word}|{pos}", label) for word, pos, label in one] for one in sentences]


def _sentences(
    pieces: Iterable[bytes], tokens: "Tokens", where: str, bad: BadItems
) -> Iterator[tuple[int, Sentence]]:
    """The sentences of blocks of complete lines, and their lines; `where` begins messages."""
    sentence: Sentence = []
    n_lines = n_between = 0  # lines before the block, and lines in a sentence that are no tokens
    is_bad = False  # whether the sentence has a bad line
    for piece in pieces:
        lines = piece.split(b"\n")
        if not lines[-1]:  # nothing follows the last newline
            lines.pop()
        for number, line in enumerate(lines, start=n_lines + 1):
            try:
                token = tokens[line]
            except ValueError as error:
                if not is_bad:
                    rest = lines[number - n_lines - 1 :][:_LOOK]
                    bad.skip(CorpusError(f"{where}line {number}: {reason(error, rest)}"))
                is_bad = True
                continue
            if token:
                sentence.append(token)
                if len(sentence) > _MAX_TOKENS:
                    if not is_bad:
                        bad.skip(CorpusError(f"{where}line {number}: {_endless()}"))
                    sentence, is_bad = [], True
            elif token is None:
                n_between += bool(sentence)
            else:
                if sentence and not is_bad:
                    yield number - len(sentence) - n_between, sentence
                sentence, n_between, is_bad = [], 0, False
        n_lines += len(lines)
    if sentence and not is_bad:
        yield n_lines + 1 - len(sentence) - n_between, sentence


def reason(error: ValueError, lines: list[bytes]) -> str:
    """Why the first of these lines is bad. Its encoding is guessed from all of them."""
    if isinstance(error, NotTextError) and (found := not_utf8(b"\n".join(lines))):
        return found[1]
    return str(error)


def _endless() -> str:
    return f"the sentence has more than {_MAX_TOKENS} tokens; put an empty line after each sentence"


class NotTextError(ValueError):
    """A line that is not UTF-8, or has a NUL byte."""


class Tokens(dict[bytes, tuple[str, ...] | None]):
    """The tuples of lines. Most lines occur often and are parsed once.

    It is () for lines between sentences, and None for lines that are no tokens but do not end a
    sentence, as comments of CoNLL-U. A line that is bad raises ValueError, with the reason.
    """

    def __init__(self, columns: Columns):
        super().__init__()
        self.columns = columns
        self._chosen = columns.chosen
        self._n_columns = len(columns.names)
        self._takes_all = self._chosen == tuple(range(self._n_columns))
        self._counted = columns.counted
        self._longest_kept = 0 if columns.counted else _SHORT  # numbered lines seldom occur again

    def __missing__(self, line: bytes) -> tuple[str, ...] | None:
        if len(line) > _LONGEST:
            raise ValueError(f"the line has {len(line)} bytes; give one token per line, in columns")
        if b"\0" in line:
            raise NotTextError
        text = line.strip()
        parts = [part.strip() for part in text.split(b"\t")] if b"\t" in text else text.split()
        if not parts or parts[0] == DOCUMENT:
            token = ()
        elif self._counted:
            return None if _NO_TOKEN.match(parts[0]) else self._some(parts, text)
        else:
            try:
                names = tuple(map(sys.intern, b"\n".join(parts).decode().split("\n")))
            except UnicodeDecodeError as error:
                raise NotTextError from error
            if len(names) != self._n_columns or not all(names):
                raise self._ragged(text.decode(), names)
            token = names if self._takes_all else tuple([names[i] for i in self._chosen])
        if len(line) <= self._longest_kept:
            if len(self) == _MAX_LINES:
                self.clear()
            self[line] = token
        return token

    def _some(self, parts: list[bytes], text: bytes) -> tuple[str, ...]:
        """The token of a line that has a number. Columns that are not chosen may be empty."""
        n = min(len(parts), self._n_columns) if self.columns.grows else len(parts)
        try:
            if n == self._n_columns:
                parts = [parts[i] for i in self._chosen]
            names = tuple(sys.intern(part.decode()) for part in parts)
        except UnicodeDecodeError as error:
            raise NotTextError from error
        if n != self._n_columns or not all(names):
            raise self._ragged(text.decode(errors="replace"), names)
        return names

    def _ragged(self, line: str, names: tuple[str, ...]) -> ValueError:
        if not all(names):
            return ValueError(f"{line[:80]!r} has an empty column; fill it")
        n_columns = "1 column" if len(names) == 1 else f"{len(names)} columns"
        reason = f"{line[:80]!r} has {n_columns}, not {self._n_columns}"
        remedy = self.columns.remedy
        if remedy is None:
            inner = ("pos", *[None] * (len(names) - 3)) if len(names) > 2 else ()
            example = ("word", *inner, "label")[: len(names)]
            remedy = f"correct the line, or name the columns, for example columns={example}"
        return ValueError(f"{reason}; {remedy}" if remedy else reason)


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
