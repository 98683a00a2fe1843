"""Files of word vectors that other tools wrote: word2vec (text, binary), GloVe and fastText.

========================  =======================================================================
format                    content
========================  =======================================================================
word2vec, fastText text   a first line "words dimensions", then a line for each word: the word and
                          its numbers, with blanks between them
GloVe                     the same without the first line
word2vec-binary           the same first line, then for each word the word, a blank, and its
                          numbers as float32
========================  =======================================================================

A file may be damaged, of another kind, or malicious. So the first line is never believed: it
reserves no memory, and what it says must agree with the rest. All numbers must be finite.
"""

import os
import re
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext.corpus.bad_items import BadItems, Errors
from eigentext.corpus.readers import expand_paths, named_errors, open_bytes, read_blocks
from eigentext.errors import CorpusError, ParameterError
from eigentext.parameters import Count, argument

VectorFileFormat = Literal["word2vec", "word2vec-binary", "glove"]
_FORMATS: tuple[str, ...] = get_args(VectorFileFormat)
_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,9})[ \t\r]*")
_MOST_DIMENSIONS = 100_000
_LONGEST_WORD = 1 << 16  # bytes, in a binary file
_LOOK = 1 << 16  # bytes from which the format is found
_PIECE = 8 << 20
_MAX_WORDS = Count(None)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# How other files begin that people give by mistake.
_OTHERS = (
    (
        struct.pack("<i", 793712314),
        "a model of fastText, not its vectors; give the file that ends in .vec",
    ),
    (b"PK\x03\x04", "a zip archive; unpack it, and give the file in it"),
    (
        b"\x80",
        "a pickle, which may run code; open it with gensim, and use Eigenwords.from_gensim",
    ),
)


class VectorFile(NamedTuple):
    """The content of a file: words, their vectors in float32 as they are, and the format."""

    words: list[str]
    vectors: np.ndarray
    format: str


def read_vectors(
    path: str | os.PathLike[str],
    format: VectorFileFormat | None = None,
    *,
    max_words: int | None = None,
    errors: Errors = "raise",
) -> VectorFile:
    """Read a file of vectors; the ending of its name says whether it is compressed.

    Parameters
    ----------
    path : path
        A plain, .gz, .bz2, .xz or .zst file.
    format : "word2vec", "word2vec-binary" or "glove"
        By default, the content decides. Text of fastText is "word2vec".
    max_words : int, optional
        Read only so many words from the start of the file. They are usually the most frequent ones.
    errors : "raise" or "skip"
        "skip" leaves out words that cannot be read, and warns of them.

    Raises
    ------
    CorpusError
        It names the file and the line. A word that comes twice is no error: its first vector stays,
        and a warning counts such words.
    """
    max_words = argument("max_words", _MAX_WORDS, max_words)
    if format is not None and format not in _FORMATS:
        raise ParameterError(f"format must be one of {', '.join(_FORMATS)}, not {format!r}")
    bad = BadItems(errors, "words")
    (file,) = expand_paths([path])
    start = _start(file)
    chosen, size = _recognized(file, start, format)
    if chosen == "word2vec-binary":
        words, vectors = _binary(file, size, max_words, bad)
    else:
        words, vectors = _text(file, size, max_words, bad)
    bad.report(len(words))
    if not words:
        raise CorpusError(f"{file}: has no vectors; is this the right file?")
    return VectorFile(*_distinct(file, words, vectors), chosen)


# What kind of file it is.


class _Size(NamedTuple):
    """What the first line says. GloVe's says only the dimension."""

    n_words: int | None
    dimension: int


def _start(path: Path) -> bytes:
    """The first bytes of the (unpacked) file, without a byte order mark."""
    found = b""
    with named_errors(path), open_bytes(path, kept=True) as file:
        while len(found) < _LOOK and (piece := file.read(_LOOK - len(found))):
            found += piece
    return found.removeprefix(b"\xef\xbb\xbf")


def _recognized(path: Path, start: bytes, given: str | None) -> tuple[str, _Size]:
    for mark, what in _OTHERS:
        if start.startswith(mark):
            raise CorpusError(f"{path}: {what}")
    if start[8:9] == b"{" and b'"eigentext"' in start:
        raise CorpusError(f"{path}: a model of eigentext; open it with et.load")
    first, _, rest = start.partition(b"\n")
    header = _HEADER.fullmatch(first) if given != "glove" else None
    if header is None:
        if given in ("word2vec", "word2vec-binary"):
            raise CorpusError(
                f"{path}, line 1: {_shown(first)} is not a number of words and a dimension, with "
                "which word2vec files begin; for files without such a line, give format='glove'"
            )
        return "glove", _Size(None, _first_dimension(path))
    n_words, dimension = map(int, header.groups())
    _check_dimension(path, dimension)
    is_binary = given == "word2vec-binary" or (given is None and _is_binary(rest))
    return "word2vec-binary" if is_binary else "word2vec", _Size(n_words, dimension)


def _is_binary(data: bytes) -> bool:
    """Whether these bytes are no text. Text may be cut within its last character."""
    if _CONTROL.search(data):
        return True
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return len(data) - error.start > 3
    return False


def _first_dimension(path: Path) -> int:
    """The number of numbers at the end of the first line."""
    block = next(read_blocks(path, whole_lines=True, kept=True))
    line = block.data.partition(b"\n")[0]
    fields = line.split()
    dimension = 0
    while dimension < len(fields) - 1 and _number(fields[-1 - dimension]) is not None:
        dimension += 1
    if not dimension:
        raise CorpusError(
            f"{path}, line 1: {_shown(line)} is not a word with numbers; give a file of word2vec, "
            "GloVe or fastText vectors"
        )
    _check_dimension(path, dimension)
    return dimension


def _check_dimension(path: Path, dimension: int) -> None:
    if not 1 <= dimension <= _MOST_DIMENSIONS:
        raise CorpusError(
            f"{path}, line 1: vectors of {dimension} dimensions; from 1 to {_MOST_DIMENSIONS} can "
            "be read"
        )


# Text.


def _text(
    path: Path, size: _Size, max_words: int | None, bad: BadItems
) -> tuple[list[str], np.ndarray]:
    words: list[str] = []
    blocks: list[np.ndarray] = []
    d = size.dimension
    for first, lines in _numbered_lines(path, skip=size.n_words is not None):
        if max_words is not None:
            lines = lines[: max_words - len(words)]
        try:
            names, rows = _parsed(lines, d)
        except ValueError:  # find the line
            names, rows = _one_by_one(path, first, lines, d, bad)
        words += names
        blocks.append(rows)
        _check_number(path, size, len(words) + bad.n_bad)
        if max_words is not None and len(words) >= max_words:
            break
    else:
        _check_end(path, size, len(words) + bad.n_bad)
    return words, np.concatenate([*blocks, np.empty((0, d), np.float32)])


def _numbered_lines(path: Path, *, skip: bool) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of lines that are not empty at the end of the file, with the number of the first."""
    number = 1
    for block in read_blocks(path, whole_lines=True, kept=True):
        lines = block.data.split(b"\n")
        if not lines[-1].strip():
            lines.pop()
        if skip and lines:
            lines, number, skip = lines[1:], number + 1, False
        if lines:
            yield number, lines
        number += len(lines)


def _parsed(lines: list[bytes], d: int) -> tuple[list[str], np.ndarray]:
    """Words and vectors of lines; ValueError if one of them is not as usual."""
    text = pa.array(lines, pa.large_binary()).cast(pa.large_string())  # checks UTF-8
    fields = pc.split_pattern(pc.ascii_rtrim(text, characters=" \t\r"), " ")
    ends = fields.offsets.to_numpy()
    lengths = np.diff(ends)
    if len(lengths) and lengths.min() < d + 1:
        raise ValueError("too few numbers")
    flat = fields.values
    places = (ends[1:, None] - d + np.arange(d)).ravel()
    rows = flat.take(pa.array(places)).cast(pa.float32()).to_numpy().reshape(-1, d)
    names = flat.take(pa.array(ends[:-1])).to_pylist()
    for line in np.flatnonzero(lengths > d + 1).tolist():  # words with blanks in them
        parts = flat[int(ends[line]) : int(ends[line + 1]) - d].to_pylist()
        if _is_decimal(parts[-1].encode()):
            raise ValueError("too many numbers")
        names[line] = " ".join(parts)
    if "" in names or not np.isfinite(rows).all():
        raise ValueError("no word, or no numbers")
    return names, rows


def _one_by_one(
    path: Path, first: int, lines: list[bytes], d: int, bad: BadItems
) -> tuple[list[str], np.ndarray]:
    """The same line by line, with errors that name the line."""
    words: list[str] = []
    rows: list[np.ndarray] = []
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            word, row = _parsed_line(line, d)
        except ValueError as error:
            bad.skip(CorpusError(f"{path}, line {number}: {error}"))
        else:
            words.append(word)
            rows.append(row)
    return words, np.array(rows, np.float32).reshape(-1, d)


def _parsed_line(line: bytes, d: int) -> tuple[str, np.ndarray]:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8; convert the file") from error
    parts = line.rsplit(maxsplit=d)
    n_numbers = len(line.split()) - 1
    if n_numbers < d or line[:1] in (b" ", b"\t"):
        what = f"{max(n_numbers, 0)} numbers after the word, not {d}"
        raise ValueError(what if n_numbers < d else "has no word at its start")
    numbers = [_number(part) for part in parts[1:]]
    if None in numbers:
        raise ValueError(f"{_shown(parts[1 + numbers.index(None)])} is not a number")
    *_, last = parts[0].split(b" ")
    if last != parts[0] and _is_decimal(last):
        raise ValueError(f"{n_numbers} numbers after the word, not {d}")
    with np.errstate(over="ignore"):
        row = np.array(numbers, np.float32)
    if not np.isfinite(row).all():
        raise ValueError(f"the vector of {_shown(parts[0])} is not finite")
    return parts[0].decode(), row


def _number(field: bytes) -> float | None:
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def _is_decimal(field: bytes) -> bool:
    """Whether this is a number of a vector, and not the end of a word with blanks, as "No. 5"."""
    return b"." in field and len(field) > 2 and _number(field) is not None


# Binary.


def _binary(
    path: Path, size: _Size, max_words: int | None, bad: BadItems
) -> tuple[list[str], np.ndarray]:
    d = size.dimension
    words: list[str] = []
    numbers = bytearray()
    with named_errors(path), open_bytes(path, kept=True) as file:
        items = _items(path, file, 4 * d)
        for place, (word, raw) in enumerate(items, 1):
            _check_number(path, size, place)
            row = np.frombuffer(raw, "<f4")
            try:
                name = word.decode()
                if not name or not np.isfinite(row).all():
                    raise ValueError("its vector is not finite" if name else "the word is empty")
            except ValueError as error:
                why = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
                bad.skip(CorpusError(f"{path}, word {place} ({_shown(word)}): {why}"))
                continue
            words.append(name)
            numbers += raw
            if len(words) == max_words:
                break
        else:
            _check_end(path, size, len(words) + bad.n_bad)
    return words, np.frombuffer(numbers, "<f4").astype(np.float32, copy=False).reshape(-1, d)


def _items(path: Path, file: Any, width: int) -> Iterator[tuple[bytes, bytes]]:
    """The bytes of each word and of its numbers, after the first line."""
    data, n_items = file.read(_PIECE), 0
    at = data.find(b"\n") + 1 or len(data)
    while True:
        blank = data.find(b" ", at)
        if blank < 0 or len(data) < blank + 1 + width:
            if blank < 0 and len(data) - at > _LONGEST_WORD:
                raise CorpusError(
                    f"{path}, word {n_items + 1}: has more than {_LONGEST_WORD} bytes; is this a "
                    "binary file of word2vec?"
                )
            piece = file.read(_PIECE + width)
            if not piece:
                break
            data, at = data[at:] + piece, 0
            continue
        word = data[at:blank].lstrip(b"\r\n")
        yield word, data[blank + 1 : blank + 1 + width]
        at, n_items = blank + 1 + width, n_items + 1
    if data[at:].strip():
        raise CorpusError(
            f"{path}: ends within word {n_items + 1}; the file is incomplete, or its dimension is "
            f"not {width // 4}; copy it again"
        )


# Checks of both.


def _check_number(path: Path, size: _Size, n_read: int) -> None:
    if size.n_words is not None and n_read > size.n_words:
        raise CorpusError(
            f"{path}, line 1: says {size.n_words} words, but the file has more; correct this line, "
            "or give max_words"
        )


def _check_end(path: Path, size: _Size, n_read: int) -> None:
    if size.n_words is not None and n_read < size.n_words:
        raise CorpusError(
            f"{path}: ends after {n_read} words, but its first line says {size.n_words}; the file "
            "is incomplete: copy it again, or give max_words to read a part"
        )


def _distinct(path: Path, words: list[str], vectors: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Words without repeats. The first vector of a word stays."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places.setdefault(word, place)
    if len(places) == len(words):
        return words, vectors
    kept = np.fromiter(places.values(), np.int64, len(places))
    again = next(word for place, word in enumerate(words) if places[word] != place)
    warnings.warn(
        f"{path}: {len(words) - len(places)} words come again, such as {again!r}; their first "
        "vectors are kept",
        stacklevel=4,
    )
    return list(places), vectors[kept]


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))
