"""From a sentence to the marginals of labels over spans, coarse to fine.

There are three passes. Each looks only at what the one before finds possible. The first is the
chart of a plain PCFG (``pruning.py``), which is cheap for each rule and split point. The second is
a grammar of two states for each label. The third is the grammar itself, or several grammars whose
marginals are averaged. A pass leaves out items, labels over spans, whose marginal is below a
threshold. The second pass is a much better judge than the first, so that of many thousand rules a
few hundred are left for the third.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from eigentext.corpus.trees import Tree
from eigentext.grammars.chart.backoff import RESERVED, Backoff, LocalLevel
from eigentext.grammars.chart.forest import (
    ParseForest,
    Posteriors,
    inside_outside,
    kept,
    log_probability,
    tree_forest,
)
from eigentext.grammars.chart.pruning import CoarseGrammar, FineGrammar, Survivors, prune, refine
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.treebank.lexicon import WordStates
from eigentext.grammars.treebank.normal_form import Symbol, Treebank, binarized, coarse
from eigentext.grammars.treebank.unaries import ChainCounts

_MIDDLE_THRESHOLD = 3e-3  # the middle grammar is a better judge than the coarse one
# Edges are left out at this share of the threshold of items. Then many groups, whose tensors are
# the work of the last pass, have no edge left, and F1 stays the same. With 1/30, F1 fell by 0.1 on
# GUM with 32 states.
_EDGES = 1 / 300
_NO_PARSE = "no parse by the grammar, only by the plain PCFG without its memory or states"


def thresholds(prune: float) -> tuple[float, float]:
    """The least marginals for the coarse and for the middle grammar, by the parameter `prune`."""
    return prune, _MIDDLE_THRESHOLD if prune else 0.0


@dataclass
class Level:
    """A grammar with the words of its states."""

    grammar: Grammar
    words: WordStates

    def posteriors(self, forest: ParseForest, tokens: Sequence[str]) -> Posteriors | None:
        """The marginals of a forest; None if it has no probability."""
        return inside_outside(forest, self.grammar, self.leaf_scores(forest, tokens))

    def log_probability(self, forest: ParseForest, tokens: Sequence[str]) -> float:
        """Log |p| over a forest, by the inside pass alone."""
        return log_probability(forest, self.grammar, self.leaf_scores(forest, tokens))

    def leaf_scores(self, forest: ParseForest, tokens: Sequence[str]) -> np.ndarray:
        """q(a -> x | a, h) of the items of width one, packed."""
        leaves = np.flatnonzero(np.diff(forest.groups) == 0)
        labels = forest.label[leaves]
        sizes = self.grammar.n_states[labels]
        position = np.repeat(forest.start[leaves], sizes)
        return self.words.at(tokens, position, self.grammar.states_of(labels))


class Reading(NamedTuple):
    """What a cascade finds out about a sentence.

    Attributes
    ----------
    forest, symbols
        The items left, and the symbols of their labels.
    items, edges
        The marginals of items and edges. For an ensemble, the average.
    log_probability
        log |p(sentence)|, summed over the items left. For an ensemble, that of the average.
    sign
        -1 if a spectral grammar gives the sentence a negative p, by which the marginals are
        divided; else 1.
    problem
        None if the grammar has a parse. Else the reason, and all of this comes from the coarse
        grammar. If that has no parse either, the roots of the forest are pieces side by side that
        cover the sentence.
    levels
        The grammars of this forest alone, if it is one of the back-off (``backoff.py``); else None.
    """

    forest: ParseForest
    symbols: list[Symbol]
    items: np.ndarray
    edges: np.ndarray
    log_probability: float
    sign: float
    problem: str | None
    levels: list[LocalLevel] | None = None


class Charted(NamedTuple):
    """What the coarse grammar leaves of a sentence. It is the same for all markovizations."""

    tokens: Sequence[str]
    survivors: Survivors
    lexical: tuple[np.ndarray, np.ndarray, np.ndarray]
    threshold: float


class Pruned(NamedTuple):
    """What the first two passes leave of a sentence; for `problem` see :class:`Reading`."""

    tokens: Sequence[str]
    forest: ParseForest
    survivors: Survivors
    lexical: tuple[np.ndarray, np.ndarray, np.ndarray]
    problem: str | None


@dataclass
class Cascade:
    """The grammars of a parser.

    Attributes
    ----------
    symbols
        The symbols of the grammars. The coarse grammar has `plain_symbols`.
    coarse
        The plain PCFG of the symbols without what they remember.
    middle
        A grammar of few states that prunes, or None.
    levels
        The grammars that decide.
    chains
        What the back-off needs (``backoff.py``), or None for no back-off.
    """

    symbols: list[Symbol]
    coarse: Level
    middle: Level | None
    levels: list[Level]
    chains: ChainCounts | None = None

    def __post_init__(self):
        place, self.plain_symbols = coarse(self.symbols)
        grammar, fine = self.coarse.grammar, self.levels[0].grammar
        rules = grammar.rules
        self._chart = CoarseGrammar.from_rules(
            rules.parent, rules.left, rules.right, grammar.tensor, grammar.root,
            prior=np.bincount(rules.parent, rules.counts, len(grammar.root)),
        )  # fmt: skip
        self._plain = FineGrammar.from_rules(rules.parent, rules.left, rules.right, grammar.root)
        pi = np.add.reduceat(np.abs(fine.root), fine.state_offsets[:-1])
        rules = fine.rules
        self._refined = FineGrammar.from_rules(rules.parent, rules.left, rules.right, pi, place)

    def read(
        self, tokens: Sequence[str], threshold: float, middle_threshold: float = 0.0
    ) -> Reading:
        """The marginals of labels over spans of a sentence. There is always some answer."""
        return self.answered(self.pruned(tokens, threshold, middle_threshold), threshold)

    def answered(self, pruned: Pruned, threshold: float) -> Reading:
        """The rest of :meth:`read`: the grammars vote, and the back-off helps if they cannot."""
        reading = self.vote(pruned, self.levels)
        if reading.problem is None or self.chains is None:
            return reading
        return self._backed_off(pruned.tokens, threshold) or reading

    @cached_property
    def backoff(self) -> Backoff | None:
        """What parses sentences of known productions that the grammar itself cannot parse."""
        return None if self.chains is None else Backoff(self, self.chains)

    def log_probability(self, treebank: Treebank, tree: Tree) -> float:
        """Log |p(tree, words)|; `treebank` has the symbols and rules, and encodes the tree."""
        encoded = treebank.encode([tree])
        forest = tree_forest(encoded)
        if encoded.is_known:
            logs = [level.log_probability(forest, encoded.tokens) for level in self.levels]
            found = float(np.logaddexp.reduce(logs) - np.log(len(logs)))
            if found > -np.inf:
                return found
        if self.backoff is None:
            return -np.inf
        part = binarized([tree], treebank.binarization)
        nodes = [part.symbols[a] for a in part.label]
        return RESERVED + self.backoff.tree(forest, nodes, encoded.tokens)

    def _backed_off(self, tokens: Sequence[str], threshold: float) -> Reading | None:
        found = self.backoff and self.backoff.sentence(tokens, threshold)
        if not found:
            return None
        votes = [level.posteriors(found.forest, tokens) for level in found.levels]
        reading = self._average(votes, found.forest, found.symbols)
        if reading is None:
            return None
        total = reading.log_probability + RESERVED
        return reading._replace(log_probability=total, levels=found.levels)

    def pruned(
        self, tokens: Sequence[str], threshold: float, middle_threshold: float = 0.0
    ) -> Pruned:
        """What survives the coarse grammar and then the middle grammar."""
        return self.refined(self.charted(tokens, threshold), middle_threshold)

    def charted(self, tokens: Sequence[str], threshold: float) -> Charted:
        """What survives the coarse grammar."""
        rows = self.coarse.words(tokens)
        position, label = np.nonzero(rows)
        offsets = np.searchsorted(position, np.arange(len(tokens) + 1))
        lexical = offsets, label.astype(np.int32), rows[position, label]
        survivors = prune(self._chart, *lexical, threshold=threshold)
        return Charted(tokens, survivors, lexical, threshold)

    def refined(self, charted: Charted, middle_threshold: float) -> Pruned:
        """What survives the middle grammar. Several cascades may share a coarse chart."""
        tokens, survivors, lexical, threshold = charted
        offsets, label, scores = lexical
        if survivors.pieces is None:
            # Preterminals come after the inner labels, in the same order here as there.
            moved = label + np.int32(len(self.symbols) - len(self.plain_symbols))
            forest = refine(survivors, self._refined, offsets, moved, scores)
            if len(forest.roots):
                forest = self._pruned_again(forest, tokens, middle_threshold)
                return Pruned(tokens, forest, survivors, lexical, None)
            problem, n_roots = _NO_PARSE, 1
        else:
            problem, n_roots = "no parse of the whole sentence", len(survivors.pieces)
        forest = refine(survivors, self._plain, *lexical)
        if len(forest.roots) < n_roots and threshold > 0:
            # So ambiguous that every tree has a label that was pruned. Prune less.
            return self.pruned(tokens, min(threshold, 1.0) / 100, middle_threshold)
        return Pruned(tokens, forest, survivors, lexical, problem)

    def vote(self, pruned: Pruned, levels: list[Level]) -> Reading:
        """The average marginals of some grammars, over what the first passes left."""
        if pruned.problem is None:
            votes = [level.posteriors(pruned.forest, pruned.tokens) for level in levels]
            reading = self._average(votes, pruned.forest, self.symbols)
            if reading is not None:
                return reading
        forest = pruned.forest
        if pruned.problem is None:
            forest = refine(pruned.survivors, self._plain, *pruned.lexical)
        return Reading(
            forest,
            self.plain_symbols,
            self._coarse_marginals(forest, pruned.survivors),
            np.ones(len(forest.left)),
            pruned.survivors.log_probability,
            1.0,
            pruned.problem or _NO_PARSE,
        )

    @staticmethod
    def _average(
        all_votes: list[Posteriors | None], forest: ParseForest, symbols: list[Symbol]
    ) -> Reading | None:
        """The average of the marginals of several grammars; None if none has a parse."""
        votes = [vote for vote in all_votes if vote is not None]
        if not votes:
            return None
        logs, signs = zip(*((vote.log_probability, vote.sign) for vote in votes))
        total, sign = np.array(logsumexp(logs, b=signs, return_sign=True))
        return Reading(
            forest,
            symbols,
            _mean([vote.items for vote in votes]),
            _mean([vote.edges for vote in votes]),
            float(total - np.log(len(all_votes))),
            float(sign),
            None,
        )

    def _pruned_again(
        self, forest: ParseForest, tokens: Sequence[str], threshold: float
    ) -> ParseForest:
        """What the middle grammar leaves, if a tree is left; else the forest as it was."""
        if self.middle is None or threshold == 0:
            return forest
        found = self.middle.posteriors(forest, tokens)
        if found is None:
            return forest
        fewer, _ = kept(forest, found.items >= threshold, found.edges, _EDGES * threshold)
        return fewer if len(fewer.roots) else forest

    def _coarse_marginals(self, forest: ParseForest, survivors: Survivors) -> np.ndarray:
        """The marginals by the coarse chart of the items of a forest of the coarse grammar."""
        n_labels = len(self.plain_symbols)
        cells = np.repeat(np.arange(len(survivors.offsets) - 1), np.diff(survivors.offsets))
        keys = cells * n_labels + survivors.labels  # sorted
        end = forest.end.astype(np.int64)
        cell = end * (end - 1) // 2 + end - 1 - forest.start
        wanted = cell * n_labels + forest.label
        return survivors.marginals[np.searchsorted(keys, wanted)]


def _mean(arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.mean(arrays, axis=0)
