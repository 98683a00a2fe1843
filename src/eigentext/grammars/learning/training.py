"""The two steps of EM on a treebank: how often rules are used in each state, and what follows.

The trees are cut into shards of whole trees, whose borders depend on the trees alone; expected
counts are worked out for each (``_shard.py``), on the workers of a cluster where that is faster,
and added up in an order that is always the same.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from operator import add

import numpy as np

from eigentext import engine
from eigentext.engine import Engine
from eigentext.engine.spread import Spread
from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.learning.shard import (
    Counts,
    Expectations,
    Parameters,
    Piece,
    Shard,
    add_parts,
    in_blocks,
)
from eigentext.grammars.treebank.normal_form import Treebank
from eigentext.storage.checkpoints import fingerprint

# What a step costs on a cluster, in multiplications of about a nanosecond: for each parameter that
# goes to the workers and comes back as an expected count, and once for the step.
_WAY, _LATENCY = 40.0, 3e7
LEAST = 1e-30  # a smaller probability is taken for zero
_NODES = 1 << 18  # of a shard, at most: a hundred megabytes of vectors, and a second of work


class TrainingTrees:
    """The trees of a treebank, and its words as terminals.

    Parameters
    ----------
    treebank
        The trees.
    terminals
        The terminal of each leaf, in the order of the sentences: a frequent word's number, or a
        class of rare words (``Lexicon.terminals``).
    """

    def __init__(self, treebank: Treebank, terminals: np.ndarray):
        is_leaf = treebank.left < 0
        n_terminals = int(terminals.max()) + 1
        keys = treebank.label[is_leaf].astype(np.int64) * n_terminals + terminals
        pairs, self.pair_of_token = np.unique(keys, return_inverse=True)
        self.pair_label = (pairs // n_terminals).astype(np.int32)
        self.pair_terminal = pairs % n_terminals
        self.rules = treebank.rules()
        self.label = treebank.label
        self.pieces = self._pieces(treebank)
        self._shards = Spread(Shard, self.pieces, threaded=True)

    def maximum_likelihood(self, treebank: Treebank) -> Parameters:
        """Relative frequencies, one state for each label: where EM and split-merge begin."""
        grammar = Grammar.maximum_likelihood(treebank)
        labels = np.bincount(self.label, minlength=len(treebank.symbols))
        lexical = np.bincount(self.pair_of_token) / labels[self.pair_label]
        return Parameters(grammar, lexical)

    def expect(self, parameters: Parameters) -> Expectations:
        """The E step."""
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            counts = self._shards.reduce(Shard.expect, Counts.plus, parameters)
        grammar = parameters.grammar
        if len(counts.rules) < len(grammar.sizes):  # some rules are of other trees
            tensor = np.zeros_like(grammar.tensor)
            places = grammar.tensor_offsets[counts.rules]
            add_parts(counts.found.tensor, counts.lengths, places, tensor)
            return replace(counts.found, tensor=tensor)
        return counts.found

    def log_likelihood(self, parameters: Parameters) -> float:
        """Of the trees."""
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            return self._shards.reduce(Shard.log_likelihood, add, parameters)

    def leaf_posteriors(self, parameters: Parameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P(state | tree) of the leaves, packed, the states, and how many each token may be in."""
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            parts = list(self._shards.map(Shard.leaf_posteriors, parameters))
        posteriors, states, sizes = (np.concatenate(part) for part in zip(*parts))
        return posteriors, states, sizes

    def split_losses(
        self, parameters: Parameters, states: np.ndarray, was_split: np.ndarray
    ) -> np.ndarray:
        """What undoing each split loses of the log-likelihood; infinite but at its first state.

        `states` is how often each state is expected to occur.
        """
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            known = parameters, states, was_split
            return self._shards.reduce(Shard.split_losses, add, *known)

    @cached_property
    def problem(self) -> str:
        """A fingerprint of the trees."""
        return fingerprint(*chain.from_iterable(self.pieces))

    def lexical_states(self, grammar: Grammar) -> np.ndarray:
        """The state of each entry of `Parameters.lexical`."""
        return grammar.states_of(self.pair_label)

    def _workers(self, parameters: Parameters) -> Engine:
        """The cluster, if there is one and a pass is done sooner there than here."""
        there, here = engine.workers(), engine.current()
        grammar = parameters.grammar
        work = float(self.rules.counts @ grammar.sizes.prod(axis=1))
        gained = work / here.n_workers - work / there.n_workers
        return there if gained > _WAY * len(grammar.tensor) + _LATENCY else here

    def _pieces(self, treebank: Treebank) -> list[Piece]:
        """Shards of about equal size, as few as may be."""
        n, offsets = len(treebank.label), treebank.offsets
        n_shards = -(-n // _NODES)
        borders = np.searchsorted(offsets, np.arange(1, n_shards) * n // n_shards)
        borders = np.unique([0, *borders, len(offsets) - 1])
        leaves = np.concatenate(([0], np.cumsum(treebank.left < 0)))
        pieces = []
        for t, u in pairwise(borders.tolist()):
            first, last = offsets[t], offsets[u]
            some = slice(first, last)
            left, right = (
                np.maximum(child[some] - first, -1) for child in (treebank.left, treebank.right)
            )
            pieces.append(
                Piece(
                    treebank.label[some], left, right, treebank.rule[some], treebank.height[some],
                    offsets[t + 1 : u + 1] - 1 - first,
                    self.pair_of_token[leaves[first] : leaves[last]],
                    self.pair_label,
                )
            )  # fmt: skip
        return pieces


@dataclass(frozen=True)
class Smoothing:
    """How far estimates are moved towards simpler ones, in a step of EM or after the last.

    `states` and `words` are the shares by which the probabilities of a state's rules and words move
    towards the average of the states of its label [1]_. `dependent` and `independent` are numbers
    of uses: a rule used N times keeps N parts of what was counted, and gets these many of the same
    counts with the states of its children independent of each other, and also of the parent's.

    .. [1] S. Petrov, L. Barrett, R. Thibaux and D. Klein, Learning accurate, compact, and
       interpretable tree annotation, ACL 2006.
    """

    states: float = 0.03
    words: float = 0.2
    dependent: float = 5.0
    independent: float = 2.0

    def times(self, factor: float) -> "Smoothing":
        """So many times as much of it; shares stay below one."""
        states, words = min(factor * self.states, 0.5), min(factor * self.words, 0.5)
        return Smoothing(states, words, factor * self.dependent, factor * self.independent)


def maximize(
    trees: TrainingTrees,
    grammar: Grammar,
    counts: Expectations,
    smoothing: Smoothing | None = None,
) -> Parameters:
    """The parameters that make expected counts most likely: relative frequencies for each state.

    The counts are used up: their tensor becomes that of the new grammar.
    """
    from eigentext.grammars.learning._training_loops import back_off_rules, normalize_rules

    rules, sizes, offsets = grammar.rules, grammar.sizes, grammar.tensor_offsets
    first_states = grammar.state_offsets
    labels = np.repeat(np.arange(len(grammar.n_states)), grammar.n_states)
    work = starts(sizes.prod(axis=1))
    if smoothing:
        share = counts.states / np.maximum(np.bincount(labels, counts.states), 1e-300)[labels]
        in_blocks(
            lambda a, b: back_off_rules(
                a, b, sizes, offsets, first_states[rules.left], first_states[rules.right], share,
                smoothing.dependent, smoothing.independent, counts.tensor,
            ),
            0, work,
        )  # fmt: skip
    in_blocks(
        lambda a, b: normalize_rules(
            a, b, grammar.parent_states, sizes, offsets, counts.states, LEAST, counts.tensor
        ),
        0, work,
    )  # fmt: skip
    totals = counts.states[trees.lexical_states(grammar)]
    lexical = np.divide(counts.lexical, totals, out=np.zeros_like(totals), where=totals > 0)
    lexical[lexical < LEAST] = 0.0
    tensor = counts.tensor
    if smoothing:
        alive = np.bincount(labels, counts.states > 0).clip(min=1)  # how many states are in use
        rows = np.repeat(rules.parent, sizes[:, :2].prod(axis=1))
        tensor = _towards_average(tensor, grammar.n_states[rows], alive[rows], smoothing.states)
        rows = trees.pair_label
        lexical = _towards_average(lexical, grammar.n_states[rows], alive[rows], smoothing.words)
    root = counts.root / counts.root.sum()
    return Parameters(Grammar(rules, grammar.n_states, tensor, root), lexical)


def _towards_average(
    values: np.ndarray, sizes: np.ndarray, alive: np.ndarray, alpha: float
) -> np.ndarray:
    """Rows of so many `sizes`, moved towards their average over the states that are `alive`."""
    average = np.add.reduceat(values, starts(sizes)[:-1]) / alive
    return (1 - alpha) * values + alpha * np.repeat(average, sizes)
