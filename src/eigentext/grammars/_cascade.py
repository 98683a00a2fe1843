"""From a sentence to the marginals of what may be in its tree, coarse to fine.

Three passes, each over what the one before thinks possible: the chart of a plain PCFG
(``_chart``), which is cheap for each rule and split point; a grammar of two states for each label;
and the grammar, or several of them, whose marginals are averaged. A pass leaves out items, labels
over spans, whose marginal is below a threshold; the second is so much better a judge than the
first that a few hundred rules are left of many thousands for the third.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eigentext.grammars._chart import CoarseGrammar, FineGrammar, Survivors, prune, refine
from eigentext.grammars._forest import Forest, kept
from eigentext.grammars._grammar import Grammar, within
from eigentext.grammars._passes import Posteriors, inside_outside
from eigentext.grammars.lexicon import WordStates


@dataclass
class Level:
    """A grammar with the words of its states."""

    grammar: Grammar
    words: WordStates

    def posteriors(self, forest: Forest, tokens: Sequence[str]) -> Posteriors | None:
        """The two passes over a forest."""
        return inside_outside(forest, self.grammar, self.leaf_scores(forest, tokens))

    def leaf_scores(self, forest: Forest, tokens: Sequence[str]) -> np.ndarray:
        """q of the words below the items of width one, packed."""
        rows = self.words(tokens)
        leaves = np.flatnonzero(np.diff(forest.groups) == 0)
        labels = forest.label[leaves]
        sizes = self.grammar.n_states[labels]
        states = np.repeat(self.grammar.state_offsets[labels], sizes) + within(sizes)
        return rows[np.repeat(forest.start[leaves], sizes), states]


class Reading(NamedTuple):
    """What a cascade makes of a sentence.

    Attributes
    ----------
    forest
        The items left.
    items, edges
        Their marginals, and those of the edges; of an ensemble, the average.
    log_probability
        log p(sentence): of an ensemble, of its average; by the coarse grammar where `problem` says
        that the fine ones have none. Over the items left, so a little below the truth.
    problem
        None, or why these are not the marginals of whole parses by the fine grammar.
    """

    forest: Forest
    items: np.ndarray
    edges: np.ndarray
    log_probability: float
    problem: str | None


@dataclass
class Cascade:
    """The grammars of a parser.

    Attributes
    ----------
    coarse, coarse_words
        The plain PCFG of the labels without what they remember (of one state for each), and the
        words of its labels.
    symbol_map
        The coarse label of each label of the grammars after it.
    middle
        A grammar of few states, or None.
    levels
        The grammars that decide.
    """

    coarse: Level
    symbol_map: np.ndarray  # the coarse label of each refined one
    middle: Level | None
    levels: list[Level]

    def __post_init__(self):
        rules, grammar = self.coarse.grammar.rules, self.coarse.grammar
        self._chart = CoarseGrammar.from_rules(
            rules.parent, rules.left, rules.right, grammar.tensor, grammar.root,
            prior=np.bincount(rules.parent, rules.counts, len(grammar.root)),
        )  # fmt: skip
        fine = self.levels[0].grammar
        pi = np.add.reduceat(np.abs(fine.root), fine.state_offsets[:-1])
        self._refined = FineGrammar.from_rules(
            fine.rules.parent, fine.rules.left, fine.rules.right, pi, self.symbol_map
        )

    def read(self, tokens: Sequence[str], threshold: float, middle_threshold: float) -> Reading:
        """Marginals of what may be in the tree of a sentence; there is always some answer."""
        forest, survivors = self.forest(tokens, threshold)
        whole = survivors.pieces is None
        if whole and len(forest.roots):
            if self.middle is not None and middle_threshold > 0:
                found = self.middle.posteriors(forest, tokens)
                if found is not None:
                    forest, _ = kept(forest, found.items >= middle_threshold)
            votes = [level.posteriors(forest, tokens) for level in self.levels]
            votes = [vote for vote in votes if vote is not None]
            if votes:
                logs = [vote.log_probability for vote in votes]
                return Reading(
                    forest,
                    _mean([vote.items for vote in votes]),
                    _mean([vote.edges for vote in votes]),
                    float(np.logaddexp.reduce(logs) - np.log(len(self.levels))),
                    None,
                )
        problem = "no parse by the fine grammar" if whole else "no parse of the whole sentence"
        if not len(forest.roots):  # a finer grammar without a parse where the coarse one has some
            return Reading(forest, np.empty(0), np.empty(0), -np.inf, problem)
        items = self._coarse_marginals(forest, survivors)
        return Reading(
            forest, items, np.ones(len(forest.left)), survivors.log_probability, problem
        )

    def forest(self, tokens: Sequence[str], threshold: float) -> tuple[Forest, Survivors]:
        """What survives the coarse grammar, as a forest of the refined one."""
        rows = self.coarse.words(tokens)
        position, label = np.nonzero(rows)
        offsets = np.searchsorted(position, np.arange(len(tokens) + 1))
        scores = rows[position, label]
        label = label.astype(np.int32)
        survivors = prune(self._chart, offsets, label, scores, threshold=threshold)
        # Preterminals come after the inner labels, in the same order here as there.
        moved = label + np.int32(len(self.symbol_map) - rows.shape[1])
        return refine(survivors, self._refined, offsets, moved, scores), survivors

    def _coarse_marginals(self, forest: Forest, survivors: Survivors) -> np.ndarray:
        """Of each item, that of the coarse item that it refines."""
        n_labels = len(self._chart.pi)
        cells = np.repeat(np.arange(len(survivors.offsets) - 1), np.diff(survivors.offsets))
        keys = cells * n_labels + survivors.labels
        order = np.argsort(keys)
        end = forest.end.astype(np.int64)
        cell = end * (end - 1) // 2 + end - 1 - forest.start
        wanted = cell * n_labels + self.symbol_map[forest.label]
        return survivors.marginals[order[np.searchsorted(keys, wanted, sorter=order)]]


def _mean(arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.mean(arrays, axis=0)
