r"""The back-off: sentences whose productions were all seen, but never together.

A chain of unary nodes is one symbol of the grammar. So the grammar has no tree for a sentence that
needs a new chain, a chain above a production that was seen below other chains only, or a new pair
of chains side by side. What labels remember has the same effect. The back-off gives such trees some
probability. At every symbol a with state h it draws from the grammar with probability 1 - lambda.
Otherwise it draws a production of the base of a alone, and then what stands for each place
(``backoff_table.py``):

.. math::

    t'(a \to b\,c, h_2, h_3 \mid a, h_1)
    &= (1 - \lambda_a)\, t(a \to b\,c, h_2, h_3 \mid a, h_1) \\
    &+ \lambda_a\, r_a(h_1)\, q(\text{base}(a) \to \text{top}(b)\,\text{top}(c))\,
    w(b)\, s_b(h_2)\, w(c)\, s_c(h_3),

and likewise words and roots. r is 1 and s_b(h) is p(h | b); for a spectral grammar they are the
averages of Z and Y (``learning/spectral.py``). A chain that is no symbol has one state and always
backs off. lambda is d / (n + d) for a symbol seen n times with d rules. For a grammar of
probabilities, this is a distribution p' of trees that sums to one at most, with a positive
probability for every tree of known productions.

A tree has the probability p(tree) that the grammar gives it. Only if that is zero, it has
:math:`2^{-54} p'(\text{tree})`. All probabilities then sum to one at most if p is multiplied by
:math:`1 - 2^{-54}`, which as a double is 1. A sentence is parsed by the back-off only if the
grammar has no parse, so all other answers stay as they are.

The chart has a label for each place, in which all chains are summed out. Then symbols stand for the
places that survive, first without states and then with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from eigentext.errors import ParameterError
from eigentext.grammars.chart._backoff_loops import BASE, IS_BETWEEN, MOTHER, TOP
from eigentext.grammars.chart.backoff_table import Symbols, Table
from eigentext.grammars.chart.forest import (
    ParseForest,
    Posteriors,
    inside_outside,
    kept,
    log_probability,
)
from eigentext.grammars.chart.pruning import CoarseGrammar, FineGrammar, prune, refine
from eigentext.grammars.grammar import Grammar, ranges, starts, tensor_sizes
from eigentext.grammars.treebank.lexicon import WordStates
from eigentext.grammars.treebank.normal_form import Rules, Symbol
from eigentext.grammars.treebank.unaries import TAG, ChainCounts, places

if TYPE_CHECKING:
    from eigentext.grammars.chart.cascade import Cascade

RESERVED = -54 * np.log(2.0)  # the log of the mass of the back-off
# The least marginals of places, and of symbols without states.
_COARSE, _MIDDLE = 2e-3, 3e-4
_LESS, _MORE = 0.01, 5.0  # factors of the first, if no tree is left, or too many edges
_MOST = 500_000  # edges of a forest of symbols, so that no sentence takes minutes or gigabytes


@dataclass
class LocalLevel:
    """A grammar with the rules of one forest only, and the scores of its words."""

    grammar: Grammar
    scores: np.ndarray

    def posteriors(self, forest: ParseForest, tokens: Sequence[str]) -> Posteriors | None:
        """The marginals of the forest; None if it has no probability."""
        return inside_outside(forest, self.grammar, self.scores)

    def log_probability(self, forest: ParseForest, tokens: Sequence[str]) -> float:
        """Log |p| over the forest."""
        return log_probability(forest, self.grammar, self.scores)

    def leaf_scores(self, forest: ParseForest, tokens: Sequence[str]) -> np.ndarray:
        """The scores of the items of width one, packed."""
        return self.scores


@dataclass
class Local:
    """A forest whose labels are the symbols in it, and the grammars with its rules."""

    forest: ParseForest
    symbols: list[Symbol]
    levels: list[LocalLevel]


@dataclass
class _Source:
    """A grammar with the words of its states, and r and s."""

    grammar: Grammar
    words: WordStates
    offset: int  # of the states of its words
    inside: np.ndarray
    outside: np.ndarray


class Backoff:
    """The back-off of a cascade.

    Parameters
    ----------
    cascade
        The grammars.
    chains
        How often each symbol occurs in the treebank, and how it was binarized.
    """

    def __init__(self, cascade: "Cascade", chains: ChainCounts):
        self._coarse, self._levels = cascade.coarse, cascade.levels
        self._symbols = cascade.symbols
        self._rules = rules = cascade.levels[0].grammar.rules
        self._places = Symbols(cascade.symbols, rules, chains)
        self._to_left = chains.binarization.binarize == "left"
        counts = self._places.counts
        n, unaries = len(counts), self._places.unaries
        self._unaries, self._n_places = unaries, len(unaries.places)
        self._keys = _keys(unaries.productions, self._n_places)
        self._rule_keys = _keys(rules, n)
        kinds = np.bincount(rules.parent, minlength=n)
        is_word = np.array([symbol.preterminal for symbol in self._symbols])
        kinds = np.where(is_word, 1.0, kinds)
        self._lambda = kinds / (counts + kinds)
        n_trees = max(counts.sum() - 2.0 * rules.counts.sum(), 1.0)
        pi = cascade.coarse.grammar.root
        n_roots = max(int((pi > 0).sum()), 1)
        self._kappa = n_roots / (n_trees + n_roots)
        tops = [unaries.number[places(symbol)[0]] for symbol in cascade.plain_symbols]
        self._pi = np.bincount(tops, pi, self._n_places)
        # Preterminals remember nothing, and have the same order in the coarse grammar.
        self._shift = len(cascade.plain_symbols) - n
        tags = np.flatnonzero(is_word)
        base = unaries.base[tags]
        shares = counts[tags] / np.bincount(base, counts[tags], self._n_places)[base]
        self._first_word = int(tags[0])
        self._to_tags = sp.csr_array(
            (shares, (np.arange(len(tags)), base)), (len(tags), self._n_places)
        )
        self._arrange()

    # -- sentences and trees ---------------------------------------------------------------------

    def sentence(self, tokens: Sequence[str], threshold: float) -> Local | None:
        """The forest of a sentence; None if it has no parse, or far too many.

        `threshold` is that of the coarse grammar. Here more is pruned, and still more if the forest
        has too many edges.
        """
        if not self._is_usable:
            return None
        tag_scores = self._scores(tokens)
        leaves = tag_scores @ self._stops.T
        position, label = np.nonzero(leaves)
        offsets = np.searchsorted(position, np.arange(len(tokens) + 1))
        lexical = offsets, (label + self._n_inner).astype(np.int32), leaves[position, label]
        if np.diff(offsets).min() < 1:
            return None
        table = self._places.table
        found = self._symbols_of(lexical, threshold, tag_scores)
        if found is None:
            return None
        forest, labels = found
        plain = self._local(forest, labels, table, self._plain, tokens, tag_scores)
        marginals = plain.posteriors(forest, tokens)
        if marginals is None:
            return None
        least, mu = _MIDDLE if threshold > 0 else 0.0, marginals.items
        for limit in (least, least / 100, 0.0):
            fewer, _ = kept(forest, (mu > 0) & (mu >= limit))
            if len(fewer.roots):
                break
        else:
            return None
        return self._with_levels(fewer, labels, table, tokens, tag_scores)

    def tree(self, forest: ParseForest, nodes: Sequence[Symbol], tokens: Sequence[str]) -> float:
        """Log p'(tree) by the average of the grammars.

        Parameters
        ----------
        forest
            The tree as a forest (:func:`~eigentext.grammars.chart.forest.tree_forest`).
        nodes
            The symbols of its items.
        tokens
            Its words.
        """
        found = self._places.for_tree(nodes)
        if found is None:
            return -np.inf
        table, stand_ins = found
        tag_scores = self._scores(tokens)
        first = starts(np.array([len(some) for some in stand_ins]))
        flat = np.array([a for some in stand_ins for a in some], np.int64)
        expanded, _ = self._expanded(forest, table, first, flat, tag_scores)
        if expanded is None:
            return -np.inf
        local = self._with_levels(*expanded, table, tokens, tag_scores)
        logs = [level.log_probability(local.forest, tokens) for level in local.levels]
        return float(np.logaddexp.reduce(logs) - np.log(len(logs)))

    # -- the chart of places ---------------------------------------------------------------------

    def _symbols_of(
        self, lexical: tuple[np.ndarray, ...], threshold: float, tag_scores: np.ndarray
    ) -> tuple[ParseForest, np.ndarray] | None:
        """The forest of symbols of a sentence, as :meth:`_expanded` gives it."""
        least = max(threshold, _COARSE) if threshold > 0 else 0.0
        while True:
            try:
                survivors = prune(self._chart, *lexical, threshold=least)
            except ParameterError:  # too long for the memory
                return None
            if survivors.pieces is not None:
                return None
            forest = refine(survivors, self._fine, *lexical)
            if len(forest.roots) or least == 0:
                break
            least *= _LESS  # so ambiguous that every tree has a label that was pruned
        table = self._places.table
        while len(forest.roots):
            sizes = np.diff(self._offsets)[forest.label]
            stand_ins = self._stand_ins[ranges(self._offsets[forest.label], sizes)]
            found, fits = self._expanded(forest, table, starts(sizes), stand_ins, tag_scores)
            if fits:
                return found
            least = _MORE * max(least, _COARSE)
            forest = refine(survivors.above(least), self._fine, *lexical)
        return None

    def _arrange(self) -> None:
        """The rules between places, with all chains summed out, as a grammar for the chart."""
        unaries, table, n = self._unaries, self._places.table, self._n_places
        top, base = table.known[:, TOP], table.known[:, BASE]
        reach = sp.coo_array((table.weight, (top, base)), (n, n)).tocsr()
        kinds = np.array([place.kind for place in unaries.places])
        self._stops = sp.csr_array(reach @ sp.diags_array((kinds == TAG).astype(float)))
        expands = np.bincount(unaries.productions.parent, minlength=n) > 0
        inner = np.flatnonzero((reach @ expands > 0) & (kinds != TAG))
        words = np.flatnonzero(self._stops.sum(axis=1) > 0)
        self._stops = self._stops[words]
        self._n_inner, n_labels = len(inner), len(inner) + len(words)
        variants = np.full((2, n), -1)
        variants[0, inner], variants[1, words] = (
            np.arange(len(inner)),
            len(inner) + np.arange(len(words)),
        )
        p = unaries.productions
        above = reach.tocsc()
        sizes = np.diff(above.indptr)[p.parent]
        at = ranges(above.indptr[p.parent].astype(np.int64), sizes)
        mothers, which = above.indices[at], np.repeat(np.arange(len(p.parent)), sizes)
        q = above.data[at] * unaries.q[which]
        a = variants[0, mothers]
        parts = []
        for left in variants:
            for right in variants:
                b, c = left[p.left[which]], right[p.right[which]]
                fine = (a >= 0) & (b >= 0) & (c >= 0) & (q > 0)
                parts.append(((b[fine] * n_labels + c[fine]) * n_labels + a[fine], q[fine]))
        keys, q = (np.concatenate(part) for part in zip(*parts))
        keys, which = np.unique(keys, return_inverse=True)
        q = np.bincount(which, q, len(keys))
        pairs, a = np.divmod(keys, n_labels)
        b, c = np.divmod(pairs, n_labels)
        pi = self._pi[np.concatenate((inner, words))]
        # Always true for what a treebank has; a model file may have anything.
        self._is_usable = len(np.unique(a)) == len(inner) and len(words) > 0
        if not self._is_usable:
            return
        self._chart = CoarseGrammar.from_rules(a, b, c, q, pi)
        self._fine = FineGrammar.from_rules(a, b, c, pi)
        # What may stand for each label of the chart.
        is_word = np.array([symbol.preterminal for symbol in table.symbols])
        label = variants[is_word.astype(int), top]
        order = np.argsort(label, kind="stable")
        order = order[label[order] >= 0]
        self._stand_ins = order
        self._offsets = np.searchsorted(label[order], np.arange(n_labels + 1))

    def _scores(self, tokens: Sequence[str]) -> np.ndarray:
        """q(T -> x) of the tags, for each word: the average of their preterminals."""
        return self._coarse.words(tokens)[:, self._first_word + self._shift :] @ self._to_tags

    def _expanded(
        self, forest: ParseForest, table: Table, first: np.ndarray, stand_ins: np.ndarray,
        tag_scores: np.ndarray,
    ) -> tuple[tuple[ParseForest, np.ndarray] | None, bool]:  # fmt: skip
        """The forest of the symbols that may stand for the items of a forest of places.

        Its labels are those of the table, and its rules are the last array, one row for each: a, b,
        c. None without a derivation. Also whether it has few enough edges; if not, it is None too.
        """
        from eigentext.grammars.chart._backoff_loops import expand

        item = np.repeat(np.arange(len(forest.label)), np.diff(first))
        leaf = np.diff(forest.groups)[item] == 0
        base = table.known[stand_ins, BASE]
        alive = leaf & (tag_scores[forest.start[item], np.where(leaf, base, 0)] > 0)
        edges, fits = expand(
            forest.groups, forest.edges, forest.left, forest.right, first, stand_ins, alive,
            table.known, self._keys, self._n_places, self._to_left, _MOST,
        )  # fmt: skip
        if not fits:
            return None, False
        slots = np.flatnonzero(alive)
        number = np.full(len(alive), -1, np.int32)
        number[slots] = np.arange(len(slots))
        a, b, c = (stand_ins[edges[:, k]] for k in range(3))
        n = len(table.symbols)
        keys, rule = np.unique((b * n + c) * n + a, return_inverse=True)
        order = np.lexsort((rule, edges[:, 0]))
        edges, rule = edges[order], rule[order]
        change = np.diff(edges[:, 0], prepend=-1) != 0
        change |= np.diff(rule, prepend=-1) != 0
        begin = np.flatnonzero(change)
        owner = number[edges[begin, 0]]
        is_root = np.isin(item[slots], forest.roots)
        built = ParseForest(
            stand_ins[slots].astype(np.int32), forest.start[item[slots]],
            forest.end[item[slots]], starts(np.bincount(owner, minlength=len(slots))),
            rule[begin].astype(np.int32), np.append(begin, len(edges)).astype(np.int64),
            number[edges[:, 1]], number[edges[:, 2]], np.flatnonzero(is_root).astype(np.int32),
        )  # fmt: skip
        pairs, a = np.divmod(keys, n)
        if not is_root.any():
            return None, True
        return (built, np.stack((a, *np.divmod(pairs, n)), axis=1)), True

    # -- grammars of one forest ------------------------------------------------------------------

    def _with_levels(
        self, forest: ParseForest, rules: np.ndarray, table: Table, tokens: Sequence[str],
        tag_scores: np.ndarray,
    ) -> Local:  # fmt: skip
        """The forest with its own numbers of labels and rules, and the grammars for it."""
        used, rule = np.unique(forest.rule, return_inverse=True)
        rules = rules[used]
        forest = forest._replace(rule=rule.astype(np.int32))
        present = np.unique(forest.label)
        local = np.full(len(table.symbols), -1, np.int32)
        local[present] = np.arange(len(present))
        levels = [
            self._local(forest, rules, table, source, tokens, tag_scores, present)
            for source in self._sources
        ]
        symbols = [table.symbols[a] for a in present]
        return Local(forest._replace(label=local[forest.label]), symbols, levels)

    def _local(
        self, forest: ParseForest, rules: np.ndarray, table: Table, source: _Source,
        tokens: Sequence[str], tag_scores: np.ndarray, present: np.ndarray | None = None,
    ) -> LocalLevel:  # fmt: skip
        """The grammar of some rules; `present` are the symbols that it numbers."""
        if present is None:
            present = np.arange(len(table.symbols))
        n, old = len(self._symbols), source.grammar
        known = present < n
        of = np.where(known, present, 0)
        n_states = np.where(known, old.n_states[of], 1)
        states = starts(n_states)
        r, s = np.ones(states[-1]), np.ones(states[-1])
        fine = ranges(states[:-1][known], n_states[known])
        there = old.states_of(present[known])
        r[fine], s[fine] = source.inside[there], source.outside[there]
        weight = table.weight[present]
        back = np.where(known, self._lambda[of], 1.0)
        numbers = np.full(len(table.symbols), -1)
        numbers[present] = np.arange(len(present))
        a, b, c = np.ascontiguousarray(numbers[rules].T)
        listed = Rules(a, b, c, np.ones(len(a), np.int64))
        tensor = self._tensor(listed, rules, table, source, n_states, (states, r, s, weight, back))
        root = np.zeros(states[-1])
        root[fine] = (1 - self._kappa) * old.root[there]
        mother = table.known[present, MOTHER]
        free = (mother < 0) & (table.known[present, IS_BETWEEN] == 0)
        at = self._pi[table.known[present, TOP]] * weight * free
        root += self._kappa * np.repeat(at, n_states) * s
        scores = self._words(
            forest, numbers, table, source, tokens, tag_scores, (n_states, states, r, back)
        )
        return LocalLevel(Grammar(listed, n_states, tensor, root), scores)

    def _tensor(
        self, listed: Rules, rules: np.ndarray, table: Table, source: _Source,
        n_states: np.ndarray, vectors: tuple[np.ndarray, ...],
    ) -> np.ndarray:  # fmt: skip
        """The tensors of rules: those of the grammar, and the products of averages."""
        from eigentext.grammars.chart._backoff_loops import products

        states, r, s, weight, back = vectors
        old, n = source.grammar, len(self._symbols)
        lengths = tensor_sizes(listed, n_states).prod(axis=1)
        offsets = starts(lengths)
        top, base = table.known[:, TOP], table.known[:, BASE]
        keys = top[rules[:, 1]] * self._n_places + top[rules[:, 2]]
        q = self._unaries.q[np.searchsorted(self._keys, keys * self._n_places + base[rules[:, 0]])]
        factor = back[listed.parent] * q * weight[listed.left] * weight[listed.right]
        tensor = products(*listed[:3], states, r, s, factor, offsets)
        keys = (rules[:, 1] * n + rules[:, 2]) * n + rules[:, 0]
        keys[(rules >= n).any(axis=1)] = -1
        at = np.searchsorted(self._rule_keys, keys).clip(max=max(len(self._rule_keys) - 1, 0))
        seen = np.flatnonzero(self._rule_keys[at] == keys)
        here = ranges(offsets[seen], lengths[seen])
        shares = np.repeat(1 - back[listed.parent[seen]], lengths[seen])
        tensor[here] += shares * old.tensors_of(at[seen])
        return tensor

    def _words(
        self, forest: ParseForest, numbers: np.ndarray, table: Table, source: _Source,
        tokens: Sequence[str], tag_scores: np.ndarray, vectors: tuple[np.ndarray, ...],
    ) -> np.ndarray:  # fmt: skip
        """The scores of the items of width one, packed."""
        n_states, states, r, back = vectors
        leaves = np.flatnonzero(np.diff(forest.groups) == 0)
        labels, position = forest.label[leaves], forest.start[leaves]
        local = numbers[labels]
        sizes = n_states[local]
        place = ranges(states[local], sizes)
        pooled = tag_scores[position, table.known[labels, BASE]]
        scores = np.repeat(back[local] * pooled, sizes) * r[place]
        known = labels < len(self._symbols)
        fine = np.repeat(known, sizes)
        there = source.grammar.states_of(labels[known]) + source.offset
        own = source.words.at(tokens, np.repeat(position[known], sizes[known]), there)
        scores[fine] += np.repeat((1 - back[local])[known], sizes[known]) * own
        return scores

    @cached_property
    def _plain(self) -> _Source:
        """Relative frequencies of the symbols, without states."""
        rules, counts, first = self._rules, self._places.counts, self._sources[0]
        old = first.grammar
        pi = np.abs(np.add.reduceat(old.root * first.inside, old.state_offsets[:-1]))
        ones = np.ones(len(counts))
        tensor = np.minimum(rules.counts / counts[rules.parent], 1.0)
        grammar = Grammar(rules, ones.astype(np.int64), tensor, pi / max(pi.sum(), 1e-300))
        return _Source(grammar, self._coarse.words, self._shift, ones, ones)

    @cached_property
    def _sources(self) -> list[_Source]:
        return [
            _Source(level.grammar, level.words, 0, *level.grammar.state_means())
            for level in self._levels
        ]


def _keys(rules: Rules, n: int) -> np.ndarray:
    """Rules as numbers, in their order."""
    left, right, parent = (x.astype(np.int64) for x in (rules.left, rules.right, rules.parent))
    return (left * n + right) * n + parent
