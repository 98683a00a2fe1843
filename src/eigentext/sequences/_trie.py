"""N-grams with probabilities and back-off weights, as a trie in flat arrays.

Symbols are the words, then the rare word, then the edge of a unit. As an event the edge is the end
of a unit, and as a context it is the start. See `_kneser_ney_loops` for the order of the nodes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.corpus.encoded import END
from eigentext.matrices.runs import CSR

BLOCK = 1 << 18  # the tokens to score, or the n-grams to smooth, of one task


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
        first = [
            level.indptr[:-1].astype(np.int64) + border
            for level, border in zip(levels, borders[1:])
        ]
        return cls(np.concatenate([*first, borders[-1:]]), np.concatenate(words), borders)

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
            begin, end = self.first[node], self.first[node + 1]
            node = begin + int(np.searchsorted(self.words[begin:end], symbol))
            if node == end or self.words[node] != symbol:
                return -1
        return int(node)

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
        work = self.first[begin : end + 1] - self.first[begin]
        return [(begin + a, begin + b) for a, b in engine.even_blocks(work, BLOCK)]


class Tables(NamedTuple):
    """A trie with p(w | h) and b(h). An n-gram that is not in it backs off: b(h) p(w | h')."""

    trie: Trie
    probabilities: np.ndarray  # p(w | h) of each node hw
    backoffs: np.ndarray  # b(h) of each node h that is a context

    def scores(self, ids: np.ndarray, *, starts: bool, edges: bool, rare: bool) -> np.ndarray:
        """Return the log-probability of each id as an event; any value if it is no event.

        `_kneser_ney_loops.score` says what ids there are, and what `starts` and `edges` mean. An
        unknown word has the log-probability of the rare word if `rare`, and else nan.
        """
        from eigentext.sequences import _kneser_ney_loops as loops

        trie, scores = self.trie, np.empty(len(ids))

        def score_block(begin: int) -> None:
            loops.score(
                ids, trie.first, trie.words, self.probabilities, self.backoffs, trie.order,
                trie.n_symbols - 2, starts, edges, begin, min(begin + BLOCK, len(ids)), scores,
            )  # fmt: skip

        list(engine.current().map(score_block, range(0, len(ids), BLOCK)))
        if not rare:
            scores[ids < END] = np.nan
        return scores

    def distribution(self, symbols: list[int]) -> np.ndarray:
        """Return p(· | h) of all symbols for a context h, the nearest symbol last."""
        trie = self.trie
        answer = self.probabilities[: trie.n_symbols].copy()
        for k in range(1, min(trie.order, len(symbols) + 1)):
            node = trie.find(symbols[-k:])
            if node >= 0:
                children = slice(trie.first[node], trie.first[node + 1])
                answer *= self.backoffs[node]
                answer[trie.words[children]] = self.probabilities[children]
        return answer
