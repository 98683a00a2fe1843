r"""Chains of unary nodes, factored into single unary productions.

In a binarized treebank a chain of nodes with one child each is one symbol (``normal_form.py``). So
a grammar knows only the chains of its trees, and each only above what it was seen to expand to.
Here chains are taken apart. At every node X, a chain goes on with a child Z or it stops:

.. math:: u(Z \mid X) = \frac{\#(X \to Z)}{\#(X)}, \qquad
    p(X_1 \dots X_n \mid X_1) = \prod_i u(X_{i+1} \mid X_i)\; u(\text{stop} \mid X_n).

Tags always stop. The sum over all chains from X to Y, also those with cycles, is the closure

.. math:: R(X, Y) = \Big( \sum_{k \ge 0} U^k \Big)_{XY} u(\text{stop} \mid Y).

A *place* is a label together with what it is: an inner label, a tag, or an intermediate node of the
binarization. The *top* of a symbol is the place of its first label, as its parent sees it. The
*base* is the place of its last label, which expands.
"""

from collections.abc import Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext.grammars.treebank.normal_form import Binarization, Rules, Symbol

INNER, TAG, BETWEEN = range(3)  # kinds of places
_MOST_STEPS = 64  # longest chain in the closure
_LEAST = 1e-15  # a smaller probability of a chain counts as zero
_MOST_TRIED = 200  # chains tried in the search for one that was not seen


class ChainCounts(NamedTuple):
    """How often each symbol of a treebank occurs, and how the trees were binarized."""

    counts: np.ndarray
    binarization: Binarization


class Place(NamedTuple):
    """A label, and whether it is an inner label, a tag, or an intermediate node."""

    label: str
    kind: int


def places(symbol: Symbol) -> list[Place]:
    """The places of the chain of a symbol, from its top to its base.

    Examples
    --------
    >>> places(Symbol(("NP", "PRP"), preterminal=True))
    [Place(label='NP', kind=0), Place(label='PRP', kind=1)]
    """
    if symbol.siblings is not None:
        return [Place(symbol.chain[-1], BETWEEN)]
    last = TAG if symbol.preterminal else INNER
    return [*(Place(label, INNER) for label in symbol.chain[:-1]), Place(symbol.chain[-1], last)]


class Unaries:
    """The unary productions and the factored binary productions of a treebank.

    Parameters
    ----------
    symbols
        The symbols of the treebank.
    counts
        How often each occurs.
    rules
        The binary rules, with their counts.

    Attributes
    ----------
    places : list of Place
    top, base : int arrays
        The places of each symbol.
    closure : array, places by places
        R(X, Y), as a sparse array.
    productions : Rules
        The rules base(a) -> top(b) top(c), as places, sorted as rules are.
    q : array
        The probability of each production.
    """

    def __init__(self, symbols: Sequence[Symbol], counts: np.ndarray, rules: Rules):
        chains = [places(symbol) for symbol in symbols]
        self.places = sorted({place for chain in chains for place in chain})
        self.number = {place: k for k, place in enumerate(self.places)}
        numbered = [[self.number[place] for place in chain] for chain in chains]
        self.top = np.array([chain[0] for chain in numbered], np.int64)
        self.base = np.array([chain[-1] for chain in numbered], np.int64)
        n = len(self.places)
        moves = [(x, y, k) for chain, k in zip(numbered, counts) for x, y in _pairs(chain)]
        x, y, k = zip(*moves) if moves else ((), (), ())
        counted = sp.coo_array((np.array(k, float), (x, y)), (n, n)).tocsr()
        stops = np.bincount(self.base, counts, n)
        visits = stops + counted.sum(axis=1)
        self.stop = stops / visits
        self._goes = sp.csr_array(sp.diags_array(1 / visits) @ counted)
        self.closure = self._closure()
        self.productions, self.q = self._binary(rules)

    def probability(self, chain: Sequence[int]) -> float:
        """P(chain | its first place); 0 if a unary production was not seen."""
        p = self.stop[chain[-1]]
        for x, y in _pairs(chain):
            p = p * self._goes[x, y]
        return float(p)

    def path(self, x: int, y: int, seen: set[tuple[str, ...]]) -> tuple[str, ...] | None:
        """The labels of the likeliest chain from x to y without a cycle that is not in `seen`."""
        ahead = self._costs[:, y]
        heap: list[tuple[float, tuple[int, ...]]] = [(float(ahead[x]), (x,))]
        for _ in range(_MOST_TRIED):
            if not heap or heap[0][0] == np.inf:
                return None
            _, path = heappop(heap)
            if path[-1] == y:
                labels = tuple(self.places[k].label for k in path)
                if labels not in seen:
                    return labels
                continue
            behind = sum(self._steps[step] for step in _pairs(path))
            for z in self._next[path[-1]]:
                if z not in path:
                    cost = behind + self._steps[path[-1], z] + float(ahead[z])
                    heappush(heap, (cost, (*path, z)))
        return None

    @cached_property
    def _steps(self) -> dict[tuple[int, int], float]:
        goes = self._goes.tocoo()
        costs = 1e-9 - np.log(goes.data)  # of equal chains, take the shorter one
        return dict(zip(zip(goes.row.tolist(), goes.col.tolist()), costs.tolist()))

    @cached_property
    def _next(self) -> list[list[int]]:
        following: list[list[int]] = [[] for _ in self.places]
        for x, y in self._steps:
            following[x].append(y)
        return following

    @cached_property
    def _costs(self) -> np.ndarray:
        """-log p of the likeliest chain between places, without the stop."""
        from scipy.sparse.csgraph import dijkstra

        steps = self._goes.copy()
        steps.data = 1e-9 - np.log(steps.data)
        return dijkstra(steps)

    def _closure(self) -> sp.csr_array:
        power = total = sp.eye_array(len(self.places), format="csr")
        for _ in range(_MOST_STEPS):
            power = sp.csr_array(power @ self._goes)
            power.data[power.data < _LEAST] = 0.0
            power.eliminate_zeros()
            if not power.nnz:
                break
            total = total + power
        closure = sp.csr_array(total @ sp.diags_array(self.stop))
        closure.eliminate_zeros()
        return closure

    def _binary(self, rules: Rules) -> tuple[Rules, np.ndarray]:
        n = len(self.places)
        a, b, c = self.base[rules.parent], self.top[rules.left], self.top[rules.right]
        keys, which = np.unique((b * n + c) * n + a, return_inverse=True)
        counts = np.bincount(which, rules.counts, len(keys))
        pairs, parent = np.divmod(keys, n)
        totals = np.bincount(parent, counts, n)
        found = Rules(parent, *np.divmod(pairs, n), counts)
        return found, counts / np.maximum(totals[parent], 1e-300)


def _pairs(chain: Sequence[int]) -> list[tuple[int, int]]:
    return list(pairwise(chain))
