"""N-grams with probabilities and back-off weights, as a trie in flat arrays.

Symbols are the words, then the rare word, then the edge of a unit. As an event the edge is the end
of a unit, and as a context it is the start. See `_kneser_ney_loops` for the order of the nodes.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.errors import ModelFileError
from eigentext.matrices.runs import CSR
from eigentext.storage.schema import damage

BLOCK = 1 << 18  # the tokens to score, or the n-grams to smooth, of one task
MOST_PROBES = 1 << 12  # slots of the index of bigrams that a search may look at
_FEWEST_SLOTS = 16
_MOST_P, _MOST_B = 1.001, 1e31  # as in `_scoring_loops`


class Trie(NamedTuple):
    """All n-grams as nodes, in breadth-first order."""

    first: np.ndarray  # the first child of each node that may have children; then the number of all
    words: np.ndarray  # the last symbol of each node
    borders: list[int]  # the first node of each depth, and the number of all nodes

    @classmethod
    def of(cls, n: int, levels: Sequence[CSR]) -> "Trie":
        """Make the trie of n symbols. A row of a level is a node, and its entries are children."""
        borders = np.cumsum([0, n, *(level.nnz for level in levels)]).tolist()
        words = [np.arange(n, dtype=np.int32), *(level.indices for level in levels)]
        first = np.empty(borders[-2] + 1, places_type(borders[-1]))
        for level, begin, end, border in zip(levels, borders, borders[1:], borders[1:]):
            np.add(level.indptr[:-1], border, out=first[begin:end], casting="unsafe")
        first[-1] = borders[-1]
        return cls(first, np.concatenate(words), borders)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.borders) - 1

    @property
    def n_symbols(self) -> int:
        """The number of words and two: the rare word and the edge."""
        return self.borders[1]

    def find(self, symbols: list[int]) -> int:
        """Return the node of an n-gram, or -1 if there is none."""
        node = symbols[0]
        for symbol in symbols[1:]:
            begin, end = self.children(node)
            node = begin + int(np.searchsorted(self.words[begin:end], symbol))
            if node >= end or self.words[node] != symbol:
                return -1
        return node

    def children(self, node: int) -> tuple[int, int]:
        """Return the first child of a node, and the first node after its children."""
        begin, end = int(self.first[node]), int(self.first[node + 1])
        depth = bisect_right(self.borders, node)
        # It may be a map that nobody has checked.
        if not self.borders[depth] <= begin <= end <= self.borders[depth + 1]:
            raise damaged()
        return begin, end

    def symbols(self, nodes: np.ndarray, depth: int) -> np.ndarray:
        """Return the symbols of nodes of one depth: a row for each node."""
        found = np.empty((len(nodes), depth), np.int32)
        for column in range(depth - 1, 0, -1):
            found[:, column] = self.words[nodes]
            nodes = np.searchsorted(self.first, nodes, side="right") - 1
            # Nodes without children begin where the next ones begin, so the last one is the parent.
        found[:, 0] = nodes
        return found

    def blocks(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Divide parents into ranges with about equal numbers of children."""
        first = self.first[begin : end + 1]
        # Of the same type: a search for others would make a copy of all.
        wanted = np.arange(int(first[0]), int(first[-1]), BLOCK).astype(first.dtype)
        edges = begin + np.unique([0, *np.searchsorted(first, wanted), end - begin])
        return list(pairwise(edges.tolist()))


@dataclass(frozen=True)
class Books:
    """Numbers in few bits: a node has a code, and the book of its depth says what it means."""

    unigrams: np.ndarray  # p(s) of each symbol
    weights: np.ndarray  # b(s) of each symbol
    p: np.ndarray  # a row for each depth from 1 up; the first row is not used
    b: np.ndarray


@dataclass(frozen=True)
class Index:
    """Where bigrams are: a table of hashes. See `_scoring_loops.index_bigrams`."""

    slots: np.ndarray
    bits: int
    probes: int

    @classmethod
    def of(cls, trie: Trie) -> "Index":
        """Make the index of the bigrams of a trie."""
        from eigentext.sequences import _scoring_loops as loops

        n = trie.n_symbols
        bigrams = trie.borders[2] - n if trie.order > 1 else 0
        bits, size = bigrams.bit_length(), _FEWEST_SLOTS
        if not 0 < bits < 32:
            return cls(np.zeros(0, np.uint32), 0, 0)
        while size < 2 * bigrams:
            size *= 2
        slots = np.zeros(size, np.uint32)
        probes = loops.index_bigrams(trie.first, trie.words, n, slots, bits)
        if probes > MOST_PROBES:  # then bigrams are searched as longer n-grams are
            return cls(np.zeros(0, np.uint32), 0, 0)
        return cls(slots, bits, probes)


@dataclass(frozen=True, eq=False)
class Tables:
    """A trie with p(w | h) and b(h). An n-gram that is not in it backs off: b(h) p(w | h').

    The arrays may be maps of a file that nobody has checked. So they are checked where they are
    used, and wrong ones raise a ModelFileError.
    """

    trie: Trie
    probabilities: np.ndarray  # p(w | h) of each node hw; with books, codes from depth 2 on
    backoffs: np.ndarray  # b(h) of each node h that is a context; likewise
    books: Books | None = None
    saved_index: Index | None = None

    @cached_property
    def index(self) -> Index:
        """Where bigrams are."""
        return self.saved_index or Index.of(self.trie)

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        """The arguments of the loop, all as plain arrays that nobody may change.

        The loop is compiled once for them, whether they are maps or not.
        """
        trie, books, index = self.trie, self.books, self.index
        p, b = self.probabilities, self.backoffs
        top = (p, b) if books is None else (books.unigrams, books.weights)
        more = (None, None) if books is None else (_fixed(books.p), _fixed(books.b))
        arrays = map(_fixed, (trie.first, trie.words, index.slots))
        first, words, slots = arrays
        values = map(_fixed, (p, b, *top))
        borders = _fixed(np.array(trie.borders, np.int64))
        return first, words, slots, index.bits, index.probes, *values, *more, borders

    def scores(self, ids: np.ndarray, *, starts: bool, edges: bool, rare: bool) -> np.ndarray:
        """Return the log-probability of each id as an event; any value if it is no event.

        `_scoring_loops.score` says what ids there are, and what `starts` and `edges` mean. An
        unknown word has the log-probability of the rare word if `rare`, and else nan.
        """
        from eigentext.sequences import _scoring_loops as loops

        scores, parts = np.empty(len(ids)), self._parts

        def score_block(begin: int) -> bool:
            end = min(begin + BLOCK, len(ids))
            return loops.score(ids, *parts, starts, edges, rare, begin, end, scores)

        if len(ids) <= BLOCK:
            good = score_block(0)
        else:
            good = all(list(engine.current().map(score_block, range(0, len(ids), BLOCK))))
        if not good:
            raise damaged()
        return scores

    def distribution(self, symbols: list[int]) -> np.ndarray:
        """Return p(· | h) of all symbols for a context h, the nearest symbol last."""
        trie = self.trie
        n = trie.n_symbols
        answer = self.p_of(slice(0, n), 1)
        for k in range(1, min(trie.order, len(symbols) + 1)):
            node = trie.find(symbols[-k:])
            if node >= 0:
                children = slice(*trie.children(node))
                words = trie.words[children]
                if len(words) and not 0 <= int(words.min()) <= int(words.max()) < n:
                    raise damaged()
                answer *= self.b_of(slice(node, node + 1), k)
                answer[words] = self.p_of(children, k + 1)
        if not ((answer >= 0) & (answer < np.inf)).all():
            raise damaged()
        return answer

    def check(self) -> None:
        """Raise a ModelFileError unless everything is in order, if it is a map: this reads it."""
        if self.saved_index is None:
            return
        trie = self.trie
        n, borders = trie.n_symbols, trie.borders
        good = bool((trie.words[:n] == np.arange(n)).all()) and trie.first[-1] == borders[-1]
        for k in range(trie.order):
            nodes = slice(borders[k], borders[k + 1])
            p = self.p_of(nodes, k + 1)
            good &= bool(((p >= 0) & (p <= _MOST_P)).all())
            if k == trie.order - 1:
                break
            b, first = self.b_of(nodes, k + 1), trie.first[borders[k] : borders[k + 1] + 1]
            good &= bool(((b >= 0) & (b <= _MOST_B)).all()) and bool(
                (first[1:] >= first[:-1]).all()
            )
            words = trie.words[borders[k + 1] : borders[k + 2]]
            rises = np.diff(words) > 0
            starts = first[1:-1].astype(np.int64) - borders[k + 1]
            good &= bool(first[0] == borders[k + 1]) and bool(first[-1] == borders[k + 2])
            if not good:
                break
            rises[starts[(starts > 0) & (starts < len(words))] - 1] = True
            good &= bool(rises.all()) and (len(words) == 0 or 0 <= words.min() <= words.max() < n)
        if not good:
            raise damaged()

    def p_of(self, nodes: Any, depth: int) -> np.ndarray:
        """Return p(w | h) of some nodes hw of one depth, in a new array."""
        if self.books is None:
            return np.array(self.probabilities[nodes])
        if depth == 1:
            return np.array(self.books.unigrams[nodes])
        return _decoded(self.books.p[depth - 1], self.probabilities, nodes, self.trie.n_symbols)

    def b_of(self, nodes: Any, depth: int) -> np.ndarray:
        """Return b(h) of some nodes h of one depth, in a new array."""
        if self.books is None:
            return np.array(self.backoffs[nodes])
        if depth == 1:
            return np.array(self.books.weights[nodes])
        return _decoded(self.books.b[depth - 1], self.backoffs, nodes, self.trie.n_symbols)


def places_type(n_nodes: int) -> Any:
    """Return the type of numbers of nodes."""
    return np.uint32 if n_nodes < 1 << 32 else np.int64


def damaged() -> ModelFileError:
    """Return the error for maps that are no trie."""
    return damage("the n-grams", "are not in order; copy the file again")


def _decoded(book: np.ndarray, codes: np.ndarray, nodes: Any, n: int) -> np.ndarray:
    nodes = slice(nodes.start - n, nodes.stop - n) if isinstance(nodes, slice) else nodes - n
    return book[np.asarray(codes[nodes]) & (len(book) - 1)]


def _fixed(array: np.ndarray) -> np.ndarray:
    found = np.asarray(array).view()
    found.flags.writeable = False
    return found
