"""Expectation on observed trees: how often each rule was used, in each of its states.

A tree is observed but for the states of its nodes. Inside vectors go up it and outside vectors
down, in time linear in its nodes [1]_; m^3 of it goes into matrix products (``_training_kernels``).
The nodes of all trees are worked on level by level, those with the same rule side by side; a level
needs only those below it (inside) or above it (outside), so its rules may be shared among threads,
and each vector comes out of the same operations however many there are.

.. [1] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent annotations, ACL 2005.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from eigentext import engine
from eigentext.grammars._grammar import Grammar, ranges, starts
from eigentext.grammars.treebank import Treebank

LEAST = 1e-30  # a smaller probability is taken for zero
_TINY = np.finfo(float).tiny  # the inverse of a smaller number may be infinite
_WORK = 1 << 22  # multiplications worth a task of their own


@dataclass
class Parameters:
    """What EM learns: a grammar, and q(a -> x | a, h) of each pair of a preterminal and a word."""

    grammar: Grammar
    lexical: np.ndarray  # packed: the vector of pair l starts at pair_offsets[l]


@dataclass
class Expectations:
    """Expected counts, shaped like the parameters, and the log-likelihood that they came with."""

    log_likelihood: float
    tensor: np.ndarray
    lexical: np.ndarray
    root: np.ndarray
    states: np.ndarray  # how often each state occurs


class TrainingTrees:
    """The nodes of a treebank sorted by height and rule, and its words as terminals.

    Parameters
    ----------
    treebank
        The trees.
    terminals
        The terminal of each leaf, in the order of the sentences: a frequent word's number, or a
        class of rare words (``Lexicon.terminals``).
    """

    def __init__(self, treebank: Treebank, terminals: np.ndarray):
        inner = treebank.left >= 0
        label = treebank.label
        # A pair of a preterminal and a terminal is to a leaf what a rule is to an inner node.
        n_terminals = int(terminals.max()) + 1
        keys = label[~inner].astype(np.int64) * n_terminals + terminals
        pairs, of_leaf = np.unique(keys, return_inverse=True)
        kind = treebank.rule.astype(np.int64)
        kind[~inner] = of_leaf
        order = np.lexsort((kind, treebank.height))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))

        self.rules = treebank.rules()
        self.label = label[order]
        self.n_leaves = int((~inner).sum())
        self.left = np.where(inner, rank[treebank.left], -1)[order]
        self.right = np.where(inner, rank[treebank.right], -1)[order]
        self.roots = rank[treebank.offsets[1:] - 1]
        self.pair = kind[order][: self.n_leaves]
        self.pair_label = (pairs // n_terminals).astype(np.int32)
        self.pair_terminal = pairs % n_terminals
        self.leaf_of_token = rank[~inner]

        height = treebank.height[order][self.n_leaves :]
        rule = kind[order][self.n_leaves :]
        new = np.flatnonzero((np.diff(height) != 0) | (np.diff(rule) != 0)) + 1
        first = np.concatenate(([0], new, [len(rule)])) if len(rule) else np.zeros(1, np.int64)
        self.runs = first + self.n_leaves
        self.run_rule = rule[first[:-1]]
        self.levels = np.searchsorted(height[first[:-1]], np.arange(1, height.max(initial=0) + 2))
        self.by_rule = np.argsort(rule, kind="stable") + self.n_leaves
        self.members = starts(self.rules.counts)

    def maximum_likelihood(self, treebank: Treebank) -> Parameters:
        """Relative frequencies, one state for each label: where EM and split-merge begin."""
        grammar = Grammar.maximum_likelihood(treebank)
        labels = np.bincount(self.label, minlength=len(treebank.symbols))
        lexical = np.bincount(self.pair) / labels[self.pair_label]
        return Parameters(grammar, lexical)

    def expect(self, parameters: Parameters) -> Expectations:
        """One pass up and one down all trees; keeps the vectors of the nodes."""
        with threadpool_limits(1, "blas"):
            return self._expect(parameters)

    def log_likelihood(self, parameters: Parameters) -> float:
        """Of the trees, by the pass upwards alone."""
        with threadpool_limits(1, "blas"):
            self._lay_out(parameters)
            return self._inside(parameters)

    def leaf_posteriors(self, parameters: Parameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P(state | tree) of the leaves, packed, the states, and how many each token may be in."""
        with threadpool_limits(1, "blas"):
            self._lay_out(parameters)
            self._inside(parameters)
            self._outside(parameters)
        grammar, leaf = parameters.grammar, self.leaf_of_token
        sizes = grammar.n_states[self.label[leaf]]
        at = ranges(self.place[leaf], sizes)
        states = grammar.states_of(self.label[leaf])
        return self.inside[at] * self.outside[at], states, sizes

    # -- the passes ------------------------------------------------------------------------------

    def _expect(self, parameters: Parameters) -> Expectations:
        from eigentext.grammars._training_kernels import count_rules

        grammar = parameters.grammar
        self._lay_out(parameters)
        total = self._inside(parameters)
        self._outside(parameters)

        tensor = np.empty_like(grammar.tensor)
        sum_offsets = starts(grammar.sizes[:, 2])
        sums = np.empty(sum_offsets[-1])
        work = starts(np.diff(self.members) * grammar.sizes.prod(axis=1))
        _in_blocks(
            lambda a, b: count_rules(
                a, b, self.members, self.by_rule, self.left, self.right, grammar.sizes,
                grammar.tensor_offsets, grammar.tensor, self.place, self.inside, self.outside,
                self.scale, tensor, sums, sum_offsets,
            ),
            0, work,
        )  # fmt: skip

        n_states = grammar.state_offsets[-1]
        leaves = self.place[self.n_leaves]
        posterior = self.inside[:leaves] * self.outside[:leaves]
        lexical = np.bincount(self._lexical_place, posterior, len(parameters.lexical))
        at_root = self.inside[self._root_place] * self.outside[self._root_place]
        parents = grammar.states_of(grammar.rules.parent)
        states = np.bincount(parents, sums, n_states) + np.bincount(
            self.lexical_states(grammar), lexical, n_states
        )
        return Expectations(
            total, tensor, lexical, np.bincount(self._root_state, at_root, n_states), states
        )

    def lexical_states(self, grammar: Grammar) -> np.ndarray:
        """The state of each entry of `Parameters.lexical`."""
        return grammar.states_of(self.pair_label)

    def _lay_out(self, parameters: Parameters) -> None:
        """Where the vector of each node is, and what goes into those of leaves and roots."""
        grammar = parameters.grammar
        n_states = grammar.n_states
        self.place = starts(n_states[self.label])
        sizes = n_states[self.pair_label[self.pair]]
        pair_offsets = starts(n_states[self.pair_label])
        self._lexical_place = ranges(pair_offsets[self.pair], sizes)
        labels = self.label[self.roots]
        sizes = n_states[labels]
        self._root_place = ranges(self.place[self.roots], sizes)
        self._root_state = grammar.states_of(labels)
        self._root_sizes = sizes

    def _inside(self, parameters: Parameters) -> float:
        from eigentext.grammars._training_kernels import inside_runs

        grammar, leaves = parameters.grammar, self.place[self.n_leaves]
        self.inside = np.empty(self.place[-1])
        self.scale = np.empty(len(self.label))
        words = parameters.lexical[self._lexical_place]
        totals = np.add.reduceat(words, self.place[: self.n_leaves])
        divisors = np.where(totals > 0, totals, 1.0)
        self.inside[:leaves] = words / np.repeat(
            divisors, grammar.n_states[self.label[: self.n_leaves]]
        )
        with np.errstate(divide="ignore"):
            self.scale[: self.n_leaves] = np.log(totals)
        sizes, offsets = grammar.sizes, grammar.tensor_offsets
        for first, last in zip(self.levels[:-1], self.levels[1:]):
            _in_blocks(
                lambda a, b: inside_runs(
                    a, b, self.runs, self.run_rule, self.left, self.right, sizes, offsets,
                    grammar.tensor, self.place, self.inside, self.scale,
                ),
                first, self._work(first, last, sizes),
            )  # fmt: skip
        self._root = grammar.root[self._root_state]
        both = self._root * self.inside[self._root_place]
        self._at_root = np.add.reduceat(both, starts(self._root_sizes)[:-1])
        self._at_root[self._at_root < _TINY] = 0.0
        with np.errstate(divide="ignore"):
            return float((np.log(self._at_root) + self.scale[self.roots]).sum())

    def _outside(self, parameters: Parameters) -> None:
        from eigentext.grammars._training_kernels import outside_runs

        grammar = parameters.grammar
        sizes, offsets = grammar.sizes, grammar.tensor_offsets
        self.outside = np.empty(self.place[-1])
        divisors = np.where(self._at_root > 0, self._at_root, np.inf)  # no probability: zeros below
        self.outside[self._root_place] = self._root / np.repeat(divisors, self._root_sizes)
        for first, last in zip(self.levels[-2::-1], self.levels[:0:-1]):
            _in_blocks(
                lambda a, b: outside_runs(
                    a, b, self.runs, self.run_rule, self.left, self.right, sizes, offsets,
                    grammar.tensor, self.place, self.inside, self.outside, self.scale,
                ),
                first, self._work(first, last, sizes),
            )  # fmt: skip

    def _work(self, first: int, last: int, sizes: np.ndarray) -> np.ndarray:
        nodes = np.diff(self.runs[first : last + 1])
        return starts(nodes * sizes[self.run_rule[first:last]].prod(axis=1))


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
    from eigentext.grammars._training_kernels import back_off_rules, normalize_rules

    rules, sizes, offsets = grammar.rules, grammar.sizes, grammar.tensor_offsets
    first_states = grammar.state_offsets
    labels = np.repeat(np.arange(len(grammar.n_states)), grammar.n_states)
    work = starts(sizes.prod(axis=1))
    if smoothing:
        share = counts.states / np.maximum(np.bincount(labels, counts.states), 1e-300)[labels]
        _in_blocks(
            lambda a, b: back_off_rules(
                a, b, sizes, offsets, first_states[rules.left], first_states[rules.right], share,
                smoothing.dependent, smoothing.independent, counts.tensor,
            ),
            0, work,
        )  # fmt: skip
    _in_blocks(
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


def _in_blocks(task: Callable[[int, int], None], first: int, work: np.ndarray) -> None:
    """Run ``task(start, end)`` over ranges of about equal work, counted from `first`."""
    blocks = [(first + start, first + end) for start, end in engine.even_blocks(work, _WORK)]
    if len(blocks) == 1:
        task(*blocks[0])
    else:
        for _ in engine.current().map(lambda block: task(*block), blocks):
            pass
