r"""Hankel matrices of a text, read from its counts of n-grams.

A Hankel matrix has a row for each prefix p and a column for each suffix s of a *basis*. Its entry
is a statistic of the string ps. There are three of them (Balle, Carreras, Luque and Quattoni 2014):

``string``
    how many sequences are ps,
``prefix``
    how many sequences begin with ps,
``substring``
    how often ps occurs in the sequences.

With # for the edges of a sequence, these are the counts of the n-grams #ps#, #ps and ps. So
:class:`eigentext.NgramMoments` hold them all, and they are exact and additive: the Hankel matrix of
a sum of moments is the sum of their Hankel matrices. The order must be at least the length of the
longest prefix plus that of the longest suffix, plus 1 for the symbol between them and 1 for each
edge (:func:`order_of`).

The edges of a stream mean nothing. In a stream, a string is counted where it begins a window of
`order` symbols. Then all statistics come from the same windows, and the counts of the extensions of
a string add up to its own.

Two tries are walked together: that of the n-grams, from the node of a prefix down, and that of all
suffixes. Only what occurs is looked at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from eigentext import engine
from eigentext.corpus.symbols import is_stream
from eigentext.errors import CorpusError, MomentsError
from eigentext.matrices.runs import CSR, csr
from eigentext.moments.ngrams import NgramMoments

Statistics = Literal["string", "prefix", "substring"]
String = tuple[int, ...]
_BLOCK = 4096  # rows that are walked together


class Basis(NamedTuple):
    """The strings of the rows and of the columns, as ids of symbols."""

    prefixes: list[String]
    suffixes: list[String]


def order_of(statistics: Statistics, longest_prefix: int, longest_suffix: int) -> int:
    """Return the number of symbols in the longest n-gram that a Hankel matrix needs.

    Examples
    --------
    >>> order_of("substring", 1, 1), order_of("prefix", 2, 2), order_of("string", 2, 2)
    (3, 6, 7)
    """
    edges = {"string": 2, "prefix": 1, "substring": 0}[statistics]
    return longest_prefix + 1 + longest_suffix + edges


@dataclass
class Trie:
    """The n-grams of a text in one list of nodes, the root first, then level by level.

    Attributes
    ----------
    begins : int64 array, shape (nodes + 1,)
        The children of node v are the nodes begins[v] to begins[v + 1], by rising symbol.
    symbols : int32 array, shape (nodes,)
        The last symbol of each node's n-gram.
    counts : array, shape (nodes,)
        How often it occurs.
    levels : int64 array
        The first node of each level: the root has level 0.
    edge : int
        The symbol of the edges.
    n : int
        The number of symbols that occur in sequences: the words, and rare words if there are any.
    stream : bool
        Whether the text is a stream.
    """

    begins: np.ndarray
    symbols: np.ndarray
    counts: np.ndarray
    levels: np.ndarray
    edge: int
    n: int
    stream: bool

    @classmethod
    def of(cls, moments: NgramMoments, *, has_rare: bool | None = None) -> Self:
        """Put the levels of n-gram moments one after the other.

        `has_rare` says whether rare words are a symbol; by default, if they occur.
        """
        edge, n_first = moments.edge, len(moments.unigrams)
        sizes = [1, n_first, *(level.nnz for level in moments.levels)]
        levels = np.cumsum([0, *sizes])
        begins = np.full(levels[-1] + 1, levels[-1], np.int64)
        begins[0] = 1
        for depth, level in enumerate(moments.levels, start=1):
            begins[levels[depth] : levels[depth + 1] + 1] = levels[depth + 1] + level.indptr
        dtype = np.result_type(moments.unigrams, *(level.dtype for level in moments.levels))
        symbols, counts = np.zeros(levels[-1], np.int32), np.zeros(levels[-1], dtype)
        symbols[1 : n_first + 1] = np.arange(n_first)
        counts[1 : n_first + 1] = moments.unigrams
        for depth, level in enumerate(moments.levels, start=2):
            here = slice(levels[depth], levels[depth + 1])
            symbols[here], counts[here] = level.indices, level.data
        counts[0] = counts[1 : n_first + 1].sum()
        has_rare = bool(moments.unigrams[moments.rare]) if has_rare is None else has_rare
        n = edge if has_rare else moments.rare
        self = cls(begins, symbols, counts, levels, edge, n, is_stream(moments.options))
        if self.stream:
            self._keep_whole_windows()
        return self

    def _keep_whole_windows(self) -> None:
        """Count n-grams only where they begin a window of the longest length."""
        from eigentext.moments._hankel_loops import sum_children

        deepest = slice(self.levels[-2], self.levels[-1])
        self.counts[deepest][self.symbols[deepest] == self.edge] = 0
        for depth in range(len(self.levels) - 3, -1, -1):
            first, last = self.levels[depth], self.levels[depth + 1]
            sum_children(self.begins, self.symbols, self.counts, first, last, self.edge)
        if not self.counts[0]:
            raise CorpusError(
                f"the stream has no window of {len(self.levels) - 2} symbols, which this basis "
                "needs; give more text or a basis of shorter strings"
            )

    def child(self, node: int, symbol: int) -> int:
        """Return the node of a symbol after a node, or -1."""
        first, last = int(self.begins[node]), int(self.begins[node + 1])
        place = first + int(np.searchsorted(self.symbols[first:last], symbol))
        return place if place < last and self.symbols[place] == symbol else -1

    def node(self, string: Iterable[int]) -> int:
        """Return the node of a string, or -1 if it never occurs."""
        v = 0
        for x in string:
            v = self.child(v, x)
            if v < 0:
                return -1
        return v

    def frequent(
        self, k: int, longest: int, *, after: int = 0, anchored: bool = False
    ) -> list[String]:
        """Return the k most frequent strings after a node, the empty one first.

        Strings are at most `longest` symbols long. Of equally frequent ones the shorter come
        first. If `anchored`, only strings that end a sequence count.
        """
        found: list[tuple[np.ndarray, np.ndarray]] = []  # strings and counts, by length
        nodes, strings = np.array([after]), np.zeros((1, 0), np.int32)
        for length in range(longest + 1):
            counts = self._stops(nodes) if anchored else self.counts[nodes]
            found.append((strings, counts))
            if length == longest:
                break
            sizes = self.begins[nodes + 1] - self.begins[nodes]
            ends = np.cumsum(sizes)
            children = np.arange(ends[-1]) + np.repeat(self.begins[nodes] - ends + sizes, sizes)
            strings = np.repeat(strings, sizes, axis=0)
            inside = self.symbols[children] < self.n
            nodes = children[inside]
            strings = np.hstack([strings[inside], self.symbols[nodes][:, None]])
            if not len(nodes):
                break
        counts = np.concatenate([count for _, count in found])
        counts[0] = counts.max() + 1  # the empty string is always there
        lengths = np.repeat(np.arange(len(found)), [len(part) for part, _ in found])
        starts = np.cumsum([0, *(len(part) for part, _ in found)])
        best = np.argsort(-counts, kind="stable")
        best = best[counts[best] > 0][:k]
        return [tuple(found[lengths[b]][0][b - starts[lengths[b]]].tolist()) for b in best]

    def rows(self, roots: np.ndarray, strings: Sequence[String], *, anchored: bool = False) -> CSR:
        """Return how often each string of a list occurs after each node, as sparse rows."""
        from eigentext.moments._hankel_loops import walk

        text = self.begins, self.symbols, self.counts
        basis = basis_trie(strings)
        roots = np.asarray(roots, np.int64)
        sizes = np.zeros(len(roots), np.int64)
        nothing = np.zeros(0, np.int32), np.zeros(0, self.counts.dtype)

        def walked(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            walk(text, basis, roots, self.edge, anchored, *block, sizes, *nothing, False)
            size = int(sizes[slice(*block)].sum())
            indices, data = np.zeros(size, np.int32), np.zeros(size, self.counts.dtype)
            walk(text, basis, roots, self.edge, anchored, *block, sizes, indices, data, True)
            return indices, data

        blocks = [(a, min(a + _BLOCK, len(roots))) for a in range(0, len(roots), _BLOCK)]
        parts = [nothing, *engine.current().map(walked, blocks)]
        indices, data = (np.concatenate(part) for part in zip(*parts))
        found = csr(data, indices, np.append(0, np.cumsum(sizes)), (len(roots), len(strings)))
        found.has_sorted_indices = False
        found.sort_indices()
        return found

    def _stops(self, nodes: np.ndarray) -> np.ndarray:
        """How often a sequence ends after each node."""
        last = self.begins[nodes + 1] - 1
        has = (last >= self.begins[nodes]) & (self.symbols[last] == self.edge)
        return np.where(has, self.counts[last], 0).astype(self.counts.dtype)

    def after(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all (place in `nodes`, child) without edges, sorted by symbol, then by place."""
        sizes = self.begins[nodes + 1] - self.begins[nodes]
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        children = np.arange(total) + np.repeat(self.begins[nodes] - ends + sizes, sizes)
        places = np.repeat(np.arange(len(nodes)), sizes)
        inside = self.symbols[children] < self.n
        children, places = children[inside], places[inside]
        order = np.argsort(self.symbols[children], kind="stable")
        return places[order], children[order]


def basis_trie(strings: Sequence[String]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the begins, symbols and places of the trie of all strings, level by level."""
    level: dict[String, int] = {(): 0}  # the nodes of a level, in lexicographic order
    place = {string: k for k, string in enumerate(strings)}
    beginnings = {string[:k] for string in strings for k in range(len(string) + 1)}
    children: dict[String, list[String]] = {}
    for string in sorted(beginnings - {()}):
        children.setdefault(string[:-1], []).append(string)
    begins, symbols, places = [], [0], [place.get((), -1)]
    n_nodes = 1
    while level:
        below: dict[String, int] = {}
        for string in level:
            begins.append(n_nodes)
            for one in children.get(string, ()):
                below[one] = n_nodes
                n_nodes += 1
                symbols.append(one[-1])
                places.append(place.get(one, -1))
        level = below
    return (
        np.array([*begins, n_nodes], np.int64),
        np.array(symbols, np.int32),
        np.array(places, np.int32),
    )


@dataclass
class Hankel:
    """The Hankel matrix of a basis, those with a symbol in the middle, and their borders.

    With f for the statistic, P prefixes, S suffixes and n symbols:

    Attributes
    ----------
    H : csr_array, shape (P, S)
        f(ps).
    middles : csr_array, shape (k, S)
        f(pxs) for each pair of p and x that occurs, sorted by x.
    pair_prefixes, pair_symbols : arrays, shape (k,)
        The p and the x of each row of `middles`.
    nexts : array, shape (k,)
        How often x follows p: of sequences that begin with p, or anywhere.
    totals, stops : arrays, shape (P,)
        How often p occurs in that way, and how often a sequence then ends.
    starts : array, shape (S,)
        f(s) at the start of a sequence or, in a stream, anywhere.
    masses : array, shape (S,)
        How often s occurs anywhere, before an end if the statistic is that of strings.
    follow : csr_array, shape (n, S)
        How often s follows x anywhere, before an end if the statistic is that of strings.
    frequencies : array, shape (n,)
        How often each symbol occurs.
    n_units, n_windows : number
        How many sequences there are, or windows of a stream; and how often the empty string occurs
        as a prefix.
    stream, sampled : bool
        Whether this is a stream, and whether these are counts of a text and not probabilities.
    """

    H: CSR
    middles: CSR
    pair_prefixes: np.ndarray
    pair_symbols: np.ndarray
    nexts: np.ndarray
    totals: np.ndarray
    stops: np.ndarray
    starts: np.ndarray
    masses: np.ndarray
    follow: CSR
    frequencies: np.ndarray
    n_units: float
    n_windows: float
    stream: bool
    sampled: bool

    @classmethod
    def of(cls, trie: Trie, basis: Basis, statistics: Statistics) -> Self:
        """Read the matrices of a basis from a trie of n-grams."""
        check_statistics(trie, basis, statistics)
        ends = statistics == "string"
        origin = 0 if statistics == "substring" else trie.node([trie.edge])
        nodes = np.array([_node_after(trie, origin, string) for string in basis.prefixes])
        seen = nodes >= 0
        H = trie.rows(np.where(seen, nodes, 0), basis.suffixes, anchored=ends)
        H = _without_rows(H, seen)
        places, children = trie.after(nodes[seen])
        firsts = np.arange(1, trie.n + 1)
        begin = np.array([0 if trie.stream else trie.node([trie.edge])])
        return cls(
            H=H,
            middles=trie.rows(children, basis.suffixes, anchored=ends),
            pair_prefixes=np.flatnonzero(seen)[places],
            pair_symbols=trie.symbols[children],
            nexts=trie.counts[children],
            totals=np.where(seen, trie.counts[nodes], 0),
            stops=np.where(seen, 0 if trie.stream else trie._stops(nodes), 0),
            starts=trie.rows(begin, basis.suffixes, anchored=ends).toarray()[0],
            masses=trie.rows(np.array([0]), basis.suffixes, anchored=ends).toarray()[0],
            follow=trie.rows(firsts, basis.suffixes, anchored=ends),
            frequencies=trie.counts[firsts],
            n_units=trie.counts[begin[0]].item(),
            n_windows=trie.counts[origin].item(),
            stream=trie.stream,
            sampled=bool(np.issubdtype(trie.counts.dtype, np.integer)),
        )

    def part(self, n_prefixes: int, n_suffixes: int) -> "Hankel":
        """Return the matrices of the first prefixes and suffixes of the basis alone."""
        kept = self.pair_prefixes < n_prefixes
        return Hankel(
            self.H[:n_prefixes, :n_suffixes],
            self.middles[np.flatnonzero(kept), :n_suffixes],
            self.pair_prefixes[kept],
            self.pair_symbols[kept],
            self.nexts[kept],
            self.totals[:n_prefixes],
            self.stops[:n_prefixes],
            self.starts[:n_suffixes],
            self.masses[:n_suffixes],
            self.follow[:, :n_suffixes],
            self.frequencies,
            self.n_units,
            self.n_windows,
            self.stream,
            self.sampled,
        )


def check_statistics(trie: Trie, basis: Basis, statistics: Statistics) -> None:
    """Raise an error if a trie does not hold the statistics of a basis."""
    if trie.stream and statistics != "substring":
        raise CorpusError(
            f"a stream has no starts and ends, so it has no {statistics} statistics; use "
            "statistics='substring', or give separate sequences"
        )
    check_order(trie, statistics, *(max(map(len, strings)) for strings in basis))


def check_order(
    trie: Trie, statistics: Statistics, longest_prefix: int, longest_suffix: int
) -> None:
    """Raise a MomentsError if n-grams are too short for a basis."""
    needed = order_of(statistics, longest_prefix, longest_suffix)
    if len(trie.levels) - 2 < needed:
        raise MomentsError(
            f"n-grams of {len(trie.levels) - 2} symbols, but this basis needs {needed}; count with "
            f"order={needed}, or give shorter prefixes and suffixes"
        )


def _node_after(trie: Trie, origin: int, string: String) -> int:
    for x in string:
        origin = trie.child(origin, x)
        if origin < 0:
            return -1
    return origin


def _without_rows(H: CSR, kept: np.ndarray) -> CSR:
    """The matrix with zeros in some rows."""
    if kept.all():
        return H
    sizes = np.where(kept, np.diff(H.indptr), 0)
    inside = np.repeat(kept, np.diff(H.indptr))
    return csr(H.data[inside], H.indices[inside], np.append(0, np.cumsum(sizes)), H.shape)
