r"""ARPA files: n-gram models as text, the format that KenLM, SRILM and others share.

A file has the numbers of n-grams, then a section for each order, and ends with ``\end\``::

    \data\
    ngram 1=4
    ngram 2=2

    \1-grams:
    -99 <s> -0.3
    -0.7 a -0.2
    …

A line is :math:`\log_{10} p(w \mid h)`, the words h w and :math:`\log_{10} b(h w)`, the back-off
weight; 0 if it is missing. N-grams that are not listed back off: p(w | h) = b(h) p(w | h'), where
h' is h without its first word, and b(h) = 1 if h is not listed. This is how `_trie.Tables` are
evaluated, so that interpolated models are written as they are. A logarithm of -99 or less means a
probability of 0. ``<s>`` is the start of a unit, ``</s>`` its end, and ``<unk>`` the rare word.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext import engine
from eigentext.corpus.compressed import compressed
from eigentext.corpus.encodings import UTF8, checked_encoding, not_utf8
from eigentext.corpus.readers import expand_paths, read_blocks
from eigentext.errors import CorpusError, EigentextError
from eigentext.sequences._arpa_levels import Levels
from eigentext.sequences._trie import BLOCK, Tables
from eigentext.sequences._trie_file import LONGEST
from eigentext.storage.files import replacing

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
_UNKNOWNS = (UNKNOWN, "<UNK>")
_ZERO = -99.0  # the logarithm of 0
_DIGITS = 8  # after the point; KenLM keeps about seven
_ROUNDING = 1e-5  # logarithms of probabilities may be above 0 by so much
_STEEPEST = 30.0  # no back-off weight has a larger logarithm
_COUNT = re.compile(r"ngram\s+(\d{1,5})\s*=\s*(\d{1,15})")
_BINARY = b"mmap lm http://kheafield.com/code"
_BLANK = re.compile(r"[\0 \t\n\v\f\r]")


# Writing.


def write_arpa(
    path: str | os.PathLike[str], words: Sequence[str], tables: Tables, *, stream: bool
) -> None:
    """Write tables as an ARPA file. The file is complete, or it is not there.

    Parameters
    ----------
    path
        The ending of the name (.gz, .bz2, .xz, .zst) decides the packing.
    words
        The names of the symbols, without the last two: the rare word and the edge.
    tables
        Probabilities and back-off weights.
    stream
        Whether the model knows no edges. Then n-grams with edges are left out.
    """
    check_words(words)
    path = Path(path)
    names = [pa.array([*words, UNKNOWN, edge], pa.large_string()) for edge in (START, END)]
    nodes = [_nodes(tables, k, stream) for k in range(1, tables.trie.order + 1)]
    with replacing(path) as temporary, compressed(temporary, path) as file:
        counts = [len(nodes[0]) + 1, *map(len, nodes[1:])]  # the edge is both <s> and </s>
        listed = "".join(f"ngram {k}={n}\n" for k, n in enumerate(counts, 1))
        file.write(f"\\data\\\n{listed}".encode())
        for k, section in enumerate(nodes, 1):
            file.write(f"\n\\{k}-grams:\n".encode())
            if k == 1:
                file.write(_specials(tables, stream))
                section = section[:-2]
            for begin in range(0, len(section), BLOCK):
                file.write(_lines(names, tables, section[begin : begin + BLOCK], k))
        file.write(b"\n\\end\\\n")


def check_words(words: Sequence[str]) -> None:
    """Raise EigentextError if a word cannot stand in an ARPA file."""
    for word in words:
        if word in (START, END, *_UNKNOWNS):
            raise EigentextError(
                f"the model has {word} as a word, which means something else in an ARPA file; "
                "fit it to text that spells this word differently"
            )
        if not word or _BLANK.search(word):
            raise EigentextError(
                f"the word {word!r:.60} is empty or contains blanks, which an ARPA file cannot "
                "hold; fit the model to text without such words"
            )


def _nodes(tables: Tables, k: int, stream: bool) -> np.ndarray:
    """The nodes of one order. The unigrams keep the edge, which is written as two words."""
    trie = tables.trie
    begin, end = trie.borders[k - 1], trie.borders[k]
    nodes = np.arange(begin, end)
    if not stream or k == 1:
        return nodes
    edge = from_edge = trie.n_symbols - 1  # the last symbol: n-grams that begin with it are last
    for _ in range(k - 1):
        from_edge = int(trie.first[from_edge])
    return nodes[(trie.words[begin:end] != edge) & (nodes < from_edge)]


def _specials(tables: Tables, stream: bool) -> bytes:
    rare, edge = tables.trie.n_symbols - 2, tables.trie.n_symbols - 1
    p = _logarithms(tables.p_of(np.array([rare, edge]), 1)).tolist()
    has_contexts = tables.trie.order > 1
    b = _logarithms(tables.b_of(np.array([rare, edge]), 1)).tolist() if has_contexts else [0, 0]
    b_start = 0.0 if stream else b[1]
    rows = ((p[0], UNKNOWN, b[0]), (_ZERO, START, b_start), (p[1], END, 0.0))
    numbers = [[f"{x:.{_DIGITS}f}".rstrip("0").rstrip(".") for x in row[::2]] for row in rows]
    return "".join(
        f"{p}\t{row[1]}" + (f"\t{b}\n" if has_contexts else "\n")
        for row, (p, b) in zip(rows, numbers)
    ).encode()


def _lines(names: list[pa.Array], tables: Tables, nodes: np.ndarray, k: int) -> memoryview:
    """The lines of n-grams as bytes."""
    symbols = tables.trie.symbols(nodes, k)
    columns = [names[column > 0].take(pa.array(symbols[:, column])) for column in range(k)]
    parts = [_texts(tables.p_of(nodes, k)), _joined(columns, " ")]
    if k < tables.trie.order:
        parts.append(_texts(tables.b_of(nodes, k)))
    found = _joined([_joined(parts, "\t"), pa.scalar("", pa.large_string())], "\n")
    return memoryview(found.buffers()[2])[: pc.sum(pc.binary_length(found)).as_py()]


def _joined(columns: list[Any], separator: str) -> pa.Array:
    return pc.binary_join_element_wise(*columns, pa.scalar(separator, pa.large_string()))


def _texts(values: np.ndarray) -> pa.Array:
    return pa.array(_logarithms(values)).cast(pa.large_string())


def _logarithms(values: np.ndarray) -> np.ndarray:
    found = np.full(len(values), _ZERO)
    np.log10(values, out=found, where=values > 0)
    return np.maximum(np.round(found, _DIGITS), _ZERO) + 0.0  # no -0


# Reading.


class Arpa(NamedTuple):
    """What an ARPA file holds."""

    words: list[str]
    tables: Tables
    stream: bool  # whether the end of a unit has no probability
    ngrams: list[int]  # how many of each order
    fingerprint: str


def read_arpa(path: str | os.PathLike[str], *, encoding: str = UTF8) -> Arpa:
    r"""Read an ARPA file, plain or packed. Errors name the file and the line.

    Text before ``\data\`` and after ``\end\`` is ignored. N-grams in which a unit ends before the
    last word or begins after the first are left out.
    """
    file, *more = expand_paths([path])
    if more:
        raise CorpusError(f"{path}: stands for several files; name one")
    parser, digest, n_lines = _Parser(str(file)), hashlib.sha256(), 0
    with engine.phase("read", None, "n-grams") as advance:
        for block in read_blocks(file, whole_lines=True, encoding=checked_encoding(encoding)):
            digest.update(block.data)
            if n_lines == 0 and block.data.startswith(_BINARY):
                raise CorpusError(
                    f"{file}: a binary file of KenLM; give the ARPA file that it was made from"
                )
            if wrong := not_utf8(block.data):
                line = n_lines + 1 + block.data.count(b"\n", 0, wrong[0])
                raise CorpusError(f"{file}, line {line}: {wrong[1]}")
            lines = block.data.removesuffix(b"\n").split(b"\n")
            advance(parser.feed(pa.array(lines, pa.large_string()), n_lines))
            n_lines += len(lines)
            if parser.is_done:
                break
        return parser.finish(digest.hexdigest())


class _Parser:
    """Takes the lines of a file, block by block."""

    def __init__(self, path: str):
        self._path = path
        self._has_begun = self.is_done = False
        self._counts: list[int] = []  # as the file begins with them
        self._k = 0  # the order of the current section
        self._n_read = 0  # in this section
        self._unigrams = _Unigrams(self._refuse)
        self._levels: Levels | None = None
        self._rows: list[tuple[int, int]] = []  # places in this section, and their line numbers

    def feed(self, lines: pa.Array, before: int) -> int:
        """Read lines; `before` is the number of lines before them. Return the n-grams read."""
        lines = pc.ascii_trim_whitespace(lines)
        is_head = pc.starts_with(lines, "\\").to_numpy(zero_copy_only=False)
        place = n_ngrams = 0
        for stop in (*np.flatnonzero(is_head).tolist(), len(lines)):
            part = lines.slice(place, stop - place)
            if self._k and len(part):
                n_ngrams += self._read_entries(part, before + place)
            elif self._has_begun:
                for number, line in enumerate(part.to_pylist(), before + place + 1):
                    self._read_count(line, number)
            if stop < len(lines):
                self._read_head(lines[stop].as_py(), before + stop + 1)
            if self.is_done:
                break
            place = stop + 1
        if not self._has_begun:
            raise CorpusError(f"{self._path}: has no line \\data\\; is this an ARPA file?")
        return n_ngrams

    def finish(self, fingerprint: str) -> Arpa:
        if not self.is_done:
            raise CorpusError(
                f"{self._path}: ends before its line \\end\\; the file is cut, so copy it again"
            )
        unigrams, levels = self._unigrams, self._levels
        assert levels is not None
        p_end = unigrams.special[END][0]
        return Arpa(
            unigrams.words,
            levels.tables(),
            p_end <= _ZERO and not levels.has_ends,
            list(self._counts),
            fingerprint,
        )

    def _refuse(self, line: int, why: str) -> None:
        raise CorpusError(f"{self._path}, line {line}: {why}")

    # Heads.

    def _read_count(self, line: str, number: int) -> None:
        if not line:
            return
        found = _COUNT.fullmatch(line)
        if not found:
            self._refuse(number, f"{line[:60]!r} where a line such as 'ngram 1=1000' must be")
            return
        if int(found[1]) != len(self._counts) + 1 or len(self._counts) == LONGEST:
            self._refuse(
                number, f"the number of {found[1]}-grams after that of {len(self._counts)}-grams"
            )
        self._counts.append(int(found[2]))

    def _read_head(self, line: str, number: int) -> None:
        if not self._has_begun:
            self._has_begun = line == "\\data\\"
            return
        expected = f"\\{self._k + 1}-grams:"
        if self._k == len(self._counts):
            expected = "\\end\\"
        if not self._counts:
            self._refuse(number, "no line such as 'ngram 1=1000' came before this one")
        if line != expected:
            self._refuse(number, f"{line[:60]!r} where {expected} must be")
        if self._k:
            self._close_section(number)
        if line == "\\end\\":
            self.is_done = True
        self._k, self._n_read = self._k + 1, 0

    def _close_section(self, number: int) -> None:
        k, told = self._k, self._counts[self._k - 1]
        if self._n_read != told:
            self._refuse(
                number,
                f"{self._n_read} {k}-grams came before this line, but the file begins with "
                f"'ngram {k}={told}'; lines are missing, so copy the file again",
            )
        if k == 1:
            self._levels = self._unigrams.levels(number)
        elif self._levels and (twice := self._levels.close()) is not None:
            n_before, line = max(row for row in self._rows if row[0] <= twice)
            self._refuse(line + twice - n_before, f"this {k}-gram is in the file twice")
        self._rows = []

    # Entries.

    def _read_entries(self, lines: pa.Array, before: int) -> int:
        numbers = np.flatnonzero(pc.not_equal(lines, "").to_numpy(zero_copy_only=False))
        k = self._k
        if len(numbers) == 0:
            return 0
        split = pc.ascii_split_whitespace(lines.take(pa.array(numbers)))
        numbers += before + 1
        n_parts = pc.list_value_length(split).to_numpy()
        if (wrong := np.flatnonzero((n_parts != k + 1) & (n_parts != k + 2))).size:
            line = " ".join(split[wrong[0]].as_py())
            self._refuse(
                int(numbers[wrong[0]]),
                f"{line[:60]!r} is no {k}-gram: a logarithm, {k} words and perhaps a second "
                "logarithm are expected",
            )
        flat = pc.list_flatten(split)
        begins = np.cumsum(n_parts) - n_parts
        p = self._logarithms(flat.take(pa.array(begins)), numbers)
        b = np.zeros(len(p))
        has_b = n_parts == k + 2
        b[has_b] = self._logarithms(flat.take(pa.array(begins[has_b] + k + 1)), numbers[has_b])
        if (wrong := np.flatnonzero(b > _STEEPEST)).size:
            self._refuse(int(numbers[wrong[0]]), f"10^{b[wrong[0]]:g} is no back-off weight")
        words = flat.take(pa.array((begins[:, None] + np.arange(1, k + 1)).ravel()))
        if self._n_read + len(p) > self._counts[k - 1]:
            self._refuse(
                int(numbers[self._counts[k - 1] - self._n_read]),
                f"one more {k}-gram than the file begins with: 'ngram {k}={self._counts[k - 1]}'",
            )
        self._rows += self._runs(numbers)
        self._n_read += len(p)
        if k == 1:
            self._unigrams.add(words.to_pylist(), p, b, numbers)
            return len(p)
        self._check_probabilities(p, numbers)
        assert self._levels is not None
        self._levels.add(self._ids(words, numbers).reshape(-1, k), _power(p), _power(b))
        return len(p)

    def _runs(self, numbers: np.ndarray) -> Iterator[tuple[int, int]]:
        """Where runs of consecutive lines begin: the place in the section, and the line."""
        for at in np.flatnonzero(np.diff(numbers, prepend=-1) != 1).tolist():
            yield self._n_read + at, int(numbers[at])

    def _ids(self, words: pa.Array, numbers: np.ndarray) -> np.ndarray:
        encoded = words.dictionary_encode()
        ids = self._unigrams.ids
        known = [ids.get(word, -1) for word in encoded.dictionary.to_pylist()]
        found = np.array(known, np.int32)[encoded.indices.to_numpy()]
        if (missing := np.flatnonzero(found < 0)).size:
            word = words[missing[0]].as_py()
            self._refuse(
                int(numbers[missing[0] // self._k]), f"{word!r:.60} is not among the 1-grams"
            )
        return found

    def _check_probabilities(self, p: np.ndarray, numbers: np.ndarray) -> None:
        if (wrong := np.flatnonzero(p > _ROUNDING)).size:
            self._refuse(
                int(numbers[wrong[0]]),
                f"10^{p[wrong[0]]:g} is no probability; the first column is a logarithm",
            )

    def _logarithms(self, texts: pa.Array, numbers: np.ndarray) -> np.ndarray:
        try:
            values = texts.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:  # Python reads more spellings, such as +1
            values = np.array([_float(text) for text in texts.to_pylist()])
        if (wrong := np.flatnonzero(np.isnan(values) | (values == np.inf))).size:
            text = texts[wrong[0]].as_py()
            self._refuse(int(numbers[wrong[0]]), f"{text!r:.60} is no logarithm")
        return values


class _Unigrams:
    """The words, and the ids of all symbols."""

    def __init__(self, refuse: Callable[[int, str], None]):
        self._refuse = refuse
        self.words: list[str] = []
        self.ids: dict[str, int] = {}
        # The logarithms of the probability and of the back-off weight.
        self.special = dict.fromkeys((UNKNOWN, START, END), (-np.inf, 0.0))
        self._p: list[float] = []
        self._b: list[float] = []

    def add(self, words: list[str], p: np.ndarray, b: np.ndarray, numbers: np.ndarray) -> None:
        for word, own, weight, number in zip(words, p.tolist(), b.tolist(), numbers.tolist()):
            if word in self.ids:
                self._refuse(number, f"the word {word!r:.60} is in the file twice")
            if own > _ROUNDING and word != START:
                self._refuse(
                    number, f"10^{own:g} is no probability; the first column is a logarithm"
                )
            if word in (START, END, *_UNKNOWNS):
                name = UNKNOWN if word in _UNKNOWNS else word
                for other in _UNKNOWNS if name == UNKNOWN else (name,):
                    self.ids[other] = 0  # their numbers follow those of all words
                self.special[name] = own, weight
                continue
            self.ids[word] = len(self.words)
            self.words.append(word)
            self._p.append(own)
            self._b.append(weight)

    def levels(self, number: int) -> Levels:
        """Number the special symbols, and begin with the levels of longer n-grams."""
        rare = len(self.words)
        if not rare:
            self._refuse(number, "the file has no words")
        special = {UNKNOWN: rare, "<UNK>": rare, START: rare + 1, END: rare + 2}
        self.ids |= {name: place for name, place in special.items() if name in self.ids}
        (p_rare, b_rare), (_, b_start), (p_end, _) = (
            self.special[name] for name in (UNKNOWN, START, END)
        )
        p = np.array([*self._p, p_rare, p_end])
        b = np.array([*self._b, b_rare, b_start])
        return Levels(_power(p), _power(b))


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _power(logarithms: np.ndarray) -> np.ndarray:
    """10 to the given powers; 0 for -99 and less."""
    found: Any = np.where(logarithms > _ZERO, 10.0 ** np.maximum(logarithms, _ZERO), 0.0)
    return found
