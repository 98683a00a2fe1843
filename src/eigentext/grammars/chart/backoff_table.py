r"""Which symbols may stand for a place of a tree in the back-off, and how probable each is.

A *place* is a label as its mother sees it (``treebank/unaries.py``). A symbol of the grammar that
begins with the label may stand for it, if what the symbol remembers agrees with what is around it.
So may a chain of unary nodes that the treebank does not have. With mu by Witten and Bell's count of
kinds [Witten and Bell 1991], d / (n + d) for a place seen n times with d symbols,

.. math:: w(b) = (1 - \mu) \frac{\#(b)}{\#(X)} + \mu\, p(b \mid X), \qquad
    w(X \dots Y) = \mu\, p(X \dots Y \mid X)

for symbols b and for other chains, where p is the product of unary productions. Chains from X to Y
that are no symbols are summed up to one: it has the labels of the likeliest of them. For labels
that remember their parent, the counts are those below this parent, and the second term of w(b) is
missing, because a chain without memory may stand there too.

[Witten and Bell 1991] I. Witten and T. Bell, The zero-frequency problem, IEEE Transactions on
Information Theory, 1991.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eigentext.grammars.chart._backoff_loops import (
    ABOVE,
    BASE,
    BELOW,
    FREE,
    IS_BETWEEN,
    MOTHER,
    NAME,
    NEVER,
    ON,
    REST,
    SIDE,
    TOP,
    TOP_NAME,
)
from eigentext.grammars.treebank.normal_form import Rules, Symbol
from eigentext.grammars.treebank.unaries import BETWEEN, TAG, ChainCounts, Unaries, places

_LEAST = 1e-14  # a smaller sum of chains counts as zero


class Chain(NamedTuple):
    """A symbol that is not in the grammar, from a top to a base, with its weight."""

    symbol: Symbol
    top: int
    base: int
    weight: float


@dataclass(frozen=True, eq=False)
class Table:
    """Symbols of the grammar, then other chains.

    Attributes
    ----------
    symbols : list of Symbol
    known : int64 array, symbols by columns
        What the compiled loop knows of each (``_backoff_loops.py``).
    weight : array
        w of each.
    """

    symbols: list[Symbol]
    known: np.ndarray
    weight: np.ndarray


class Symbols:
    """The symbols of a grammar as stand-ins for places.

    Parameters
    ----------
    symbols, rules, chains
        Those of the grammar, with the counts of its treebank.

    Attributes
    ----------
    unaries : Unaries
    mu : array
        The weight of chains for each place.
    table : Table
        For sentences: the symbols, and one chain for each pair of places.
    """

    def __init__(self, symbols: Sequence[Symbol], rules: Rules, chains: ChainCounts):
        self.symbols, self.how = list(symbols), chains.binarization
        self.counts = np.asarray(chains.counts, float)
        self.unaries = Unaries(symbols, self.counts, rules)
        self._numbers: dict[Hashable, int] = {}
        top, n = self.unaries.top, len(self.unaries.places)
        kinds, uses = np.bincount(top, minlength=n), np.bincount(top, self.counts, n)
        self.mu = kinds / np.maximum(uses + kinds, 1)
        self._chains = [[self.unaries.number[x] for x in places(symbol)] for symbol in symbols]
        self._plain = [self._remembers_nothing(symbol) for symbol in symbols]
        self._known = self._rows(symbols)
        self._weight = self._weights()
        self.alike: defaultdict[Hashable, list[int]] = defaultdict(list)
        for a, symbol in enumerate(symbols):
            self.alike[symbol._replace(parents=())].append(a)
        self.table = self._with(self._all_chains())

    def for_tree(self, nodes: Sequence[Symbol]) -> tuple[Table, list[list[int]]] | None:
        """The table for the nodes of one tree, and what may stand for each of them.

        None if a label or a unary production of the tree is not known.
        """
        unaries, other = self.unaries, {}
        stand_ins = []
        for node in nodes:
            bare = node._replace(parents=())
            found = [*self.alike.get(bare, ())]
            if not any(self._plain[a] for a in found):
                chain = [unaries.number.get(place, -1) for place in places(node)]
                if min(chain) < 0:
                    return None
                if node.siblings is not None:
                    bare, p = bare._replace(siblings=()), 1.0
                else:
                    p = unaries.probability(chain)
                if p > 0:
                    one = Chain(bare, chain[0], chain[-1], self.mu[chain[0]] * p)
                    found.append(len(self.symbols) + other.setdefault(one, len(other)))
            if not found:
                return None
            stand_ins.append(found)
        return self._with(other), stand_ins

    def _with(self, chains: Iterable[Chain]) -> Table:
        chains = list(chains)
        rows = self._rows([chain.symbol for chain in chains], forgetful=True)
        weight = np.array([chain.weight for chain in chains])
        return Table(
            [*self.symbols, *(chain.symbol for chain in chains)],
            np.concatenate((self._known, rows)),
            np.concatenate((self._weight, weight)),
        )

    def _all_chains(self) -> Iterable[Chain]:
        """One chain for all from a place to another that are no symbols."""
        unaries = self.unaries
        sums = {
            (x, y): p
            for x, y, p in zip(*_entries(unaries.closure))
            if unaries.places[x].kind != BETWEEN
        }
        seen: defaultdict[tuple[int, int], set[tuple[str, ...]]] = defaultdict(set)
        for symbol, chain, plain in zip(self.symbols, self._chains, self._plain):
            if plain and symbol.siblings is None:
                ends = chain[0], chain[-1]
                sums[ends] = sums.get(ends, 0.0) - unaries.probability(chain)
                seen[ends].add(symbol.chain)
        for (x, y), p in sums.items():
            path = unaries.path(x, y, seen[x, y]) if p > _LEAST else None
            if path is not None:
                symbol = Symbol(path, preterminal=unaries.places[y].kind == TAG)
                yield Chain(symbol, x, y, self.mu[x] * p)
        plain = {c[0] for c, free in zip(self._chains, self._plain) if free}
        for x, place in enumerate(unaries.places):
            if place.kind == BETWEEN and x not in plain:
                yield Chain(Symbol((place.label,), ()), x, x, self.mu[x])

    def _weights(self) -> np.ndarray:
        """W of the symbols of the grammar."""
        top, known, n = self.unaries.top, self._known, len(self.symbols)
        places_, between = self.unaries.places, known[:, IS_BETWEEN] > 0
        total = np.bincount(top, self.counts, len(places_))[top]
        memory = np.where(between, known[:, ABOVE], known[:, MOTHER])
        keys = list(zip(top.tolist(), memory.tolist()))
        groups = np.unique([self._number(key) for key in keys], return_inverse=True)[1]
        group = np.bincount(groups, self.counts)[groups]
        # Symbols that remember their mother share what all of these have of the place.
        mindful = np.zeros(n, bool) if self.how.vertical == 1 else known[:, MOTHER] != FREE
        share = np.bincount(top, self.counts * mindful, len(places_))[top] / total
        empirical = np.where(
            between, self.counts / group, np.where(mindful, share * self.counts / group, 0.0)
        )
        free = ~between & ~mindful
        empirical[free] = (self.counts / total)[free]
        weight = (1 - self.mu[top]) * empirical
        for a, (chain, plain) in enumerate(zip(self._chains, self._plain)):
            if plain:
                p = 1.0 if between[a] else self.unaries.probability(chain)
                weight[a] += self.mu[top[a]] * p
        return weight

    def _remembers_nothing(self, symbol: Symbol) -> bool:
        how = self.how
        if symbol.siblings is not None:
            return how.horizontal == 0 and how.vertical == 1
        return how.vertical == 1 or (symbol.preterminal and not how.annotate_tags)

    def _rows(self, symbols: Sequence[Symbol], forgetful: bool = False) -> np.ndarray:
        """The rows of the table; a `forgetful` symbol agrees with everything."""
        rows = np.full((len(symbols), 11), FREE, np.int64)
        n, h = self.how.vertical - 1, self.how.horizontal
        for row, symbol in zip(rows, symbols):
            chain = places(symbol)
            is_between = symbol.siblings is not None
            row[TOP], row[BASE] = (self.unaries.number[chain[k]] for k in (0, -1))
            row[NAME], row[TOP_NAME] = (self._number(chain[k].label) for k in (-1, 0))
            row[IS_BETWEEN] = is_between
            one = () if h is not None and h < 2 else (symbol.chain[0],)
            row[ON] = self._number(self._handed_up(symbol) if is_between else one)
            if forgetful:
                row[BELOW] = FREE if n else self._number(((),))
                continue
            above = symbol.parents
            for label in symbol.chain[:-1]:
                above = (label, *above)[:n]
            row[BELOW] = self._number((above,))
            if is_between:
                row[ABOVE] = self._number((symbol.parents,))
                if symbol.siblings:
                    to_left = self.how.binarize == "left"
                    *rest, side = symbol.siblings if to_left else symbol.siblings[::-1]
                    rest = tuple(rest if to_left else rest[::-1])
                    row[SIDE], row[REST] = self._number(side), self._number(rest)
            elif symbol.parents:
                row[MOTHER] = self._number(symbol.parents[0])
            elif n and not self._remembers_nothing(symbol):
                row[MOTHER] = NEVER
        return rows

    def _handed_up(self, symbol: Symbol) -> tuple[str, ...]:
        """The siblings that the symbol above remembers too, beside the new one."""
        siblings, h = symbol.siblings or (), self.how.horizontal
        if h is None:
            return siblings
        keep = max(h - 1, 0)
        first = max(len(siblings) - keep, 0)
        return siblings[first:] if self.how.binarize == "left" else siblings[:keep]

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _entries(matrix) -> tuple[list[int], list[int], list[float]]:
    found = matrix.tocoo()
    return found.row.tolist(), found.col.tolist(), found.data.tolist()
