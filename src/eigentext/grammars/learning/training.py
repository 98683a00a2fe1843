"""The two steps of EM on a treebank: expected counts, and the probabilities that follow.

The trees are cut into shards of whole trees. The borders depend only on the trees. Expected counts
are computed for each shard (``shard.py``), on Dask workers if that is faster, and are added up in
an order that is always the same.
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
    GrammarParameters,
    ShardTrees,
    TreeShard,
    add_parts,
    in_blocks,
)
from eigentext.grammars.sparse_grammar import Mixing, SparseCounts, SparseGrammar
from eigentext.grammars.treebank.normal_form import Treebank
from eigentext.storage.checkpoints import fingerprint

# What a step costs on Dask workers, in multiplications of about a nanosecond: for each parameter
# that goes to the workers and comes back as an expected count, and once for each step.
_WAY, _LATENCY = 40.0, 3e7
LEAST = 1e-30  # a smaller probability counts as zero
NODES = 1 << 18  # nodes of a shard, at most: 100 MB of vectors, and a second of work


class TrainingTrees:
    """The trees of a treebank, and its words as terminals.

    Parameters
    ----------
    treebank
        The trees.
    terminals
        The terminal of each leaf, in the order of the sentences: the number of a frequent word, or
        of a class of rare words (``Lexicon.terminals``).
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
        self._shards = Spread(TreeShard, self.pieces, threaded=True)

    def maximum_likelihood(self, treebank: Treebank) -> GrammarParameters:
        """Relative frequencies, with one state for each label. EM and split-merge begin here."""
        grammar = Grammar.maximum_likelihood(treebank)
        labels = np.bincount(self.label, minlength=len(treebank.symbols))
        lexical = np.bincount(self.pair_of_token) / labels[self.pair_label]
        return GrammarParameters(grammar, lexical)

    def expect(self, parameters: GrammarParameters) -> Expectations:
        """The E step: expected counts."""
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            counts = self._shards.reduce(TreeShard.expect, Counts.plus, parameters)
        grammar = parameters.grammar
        is_sparse = isinstance(grammar, SparseGrammar)
        if len(counts.rules) < len(grammar.sizes) and not is_sparse:
            # Some rules do not occur in these trees.
            tensor = np.zeros_like(grammar.tensor)
            places = grammar.tensor_offsets[counts.rules]
            add_parts(counts.found.tensor, counts.lengths, places, tensor)
            return replace(counts.found, tensor=tensor)
        return counts.found

    def log_likelihood(self, parameters: GrammarParameters) -> float:
        """The log-likelihood of the trees."""
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            return self._shards.reduce(TreeShard.log_likelihood, add, parameters)

    def leaf_posteriors(
        self, parameters: GrammarParameters
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P(state | tree) of the leaves, packed; the states; and how many states each token has."""
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            parts = list(self._shards.map(TreeShard.leaf_posteriors, parameters))
        posteriors, states, sizes = (np.concatenate(part) for part in zip(*parts))
        return posteriors, states, sizes

    def split_losses(
        self, parameters: GrammarParameters, states: np.ndarray, was_split: np.ndarray
    ) -> np.ndarray:
        """How much log-likelihood is lost if a split is undone, at the first state of the split.

        It is infinite at all other states. `states` are the expected counts of the states.
        """
        with engine.one_blas_thread(), engine.use(self._workers(parameters)):
            known = parameters, states, was_split
            return self._shards.reduce(TreeShard.split_losses, add, *known)

    @cached_property
    def problem(self) -> str:
        """A fingerprint of the trees."""
        return fingerprint(*chain.from_iterable(self.pieces))

    def lexical_states(self, grammar: Grammar) -> np.ndarray:
        """The state of each entry of `GrammarParameters.lexical`."""
        return grammar.states_of(self.pair_label)

    def _workers(self, parameters: GrammarParameters) -> Engine:
        """The Dask workers, if there are any and a pass is faster there than here."""
        there, here = engine.workers(), engine.current()
        grammar = parameters.grammar
        work = float(self.rules.counts @ grammar.sizes.prod(axis=1))
        gained = work / here.n_workers - work / there.n_workers
        is_sparse = isinstance(grammar, SparseGrammar)
        size = len(grammar.counts.key) if is_sparse else grammar.tensor_offsets[-1]
        return there if gained > _WAY * size + _LATENCY else here

    def _pieces(self, treebank: Treebank) -> list[ShardTrees]:
        """As few shards as possible, of about equal size."""
        n, offsets = len(treebank.label), treebank.offsets
        n_shards = -(-n // NODES)
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
                ShardTrees(
                    treebank.label[some], left, right, treebank.rule[some], treebank.height[some],
                    offsets[t + 1 : u + 1] - 1 - first,
                    self.pair_of_token[leaves[first] : leaves[last]],
                    self.pair_label,
                )
            )  # fmt: skip
        return pieces


@dataclass(frozen=True)
class Smoothing:
    """How far probabilities move towards those of simpler models, in a step of EM or after it.

    `states` and `words` are shares. The probabilities of the rules and words of a state move by
    this share towards the average of the states of its label [Petrov et al. 2006].

    `dependent` and `independent` are numbers of uses. A rule used N times keeps its counts with
    weight N. It also gets its counts with the states of its children independent of each other
    given the parent, with weight `dependent`, and with the children independent of the parent too,
    with weight `independent`.

    [Petrov et al. 2006] S. Petrov, L. Barrett, R. Thibaux and D. Klein, Learning accurate, compact,
    and interpretable tree annotation, ACL 2006.
    """

    states: float = 0.03
    words: float = 0.2
    dependent: float = 5.0
    independent: float = 2.0

    def times(self, factor: float) -> "Smoothing":
        """The same smoothing, `factor` times as strong. Shares are at most 1/2."""
        states, words = min(factor * self.states, 0.5), min(factor * self.words, 0.5)
        return Smoothing(states, words, factor * self.dependent, factor * self.independent)


def maximize(
    trees: TrainingTrees,
    grammar: Grammar,
    counts: Expectations,
    smoothing: Smoothing | None = None,
) -> GrammarParameters:
    """The M step: the parameters that make expected counts most likely.

    They are the relative frequencies for each state. The counts are used up: their tensor becomes
    that of the new grammar.
    """
    from eigentext.grammars.learning._training_loops import back_off_rules, normalize_rules

    if isinstance(counts.tensor, SparseCounts):
        return _maximize_sparse(trees, grammar, counts, smoothing)
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
    tensor = counts.tensor
    if smoothing:
        rows = np.repeat(rules.parent, sizes[:, :2].prod(axis=1))
        alive = _alive(grammar, counts.states)
        tensor = _towards_average(tensor, grammar.n_states[rows], alive[rows], smoothing.states)
    root = counts.root / counts.root.sum()
    lexical = _lexical(trees, grammar, counts, smoothing)
    return GrammarParameters(Grammar(rules, grammar.n_states, tensor, root), lexical)


def _maximize_sparse(
    trees: TrainingTrees, grammar: Grammar, counts: Expectations, smoothing: Smoothing | None
) -> GrammarParameters:
    """The same for sparse counts. The grammar keeps them, and smooths when it is used."""
    mixing = Mixing()
    if smoothing:
        mixing = Mixing(smoothing.states, smoothing.dependent, smoothing.independent)
    root = counts.root / counts.root.sum()
    found = SparseGrammar(
        grammar.rules, grammar.n_states, counts.tensor, counts.states, root, mixing
    )
    return GrammarParameters(found, _lexical(trees, grammar, counts, smoothing))


def _lexical(
    trees: TrainingTrees, grammar: Grammar, counts: Expectations, smoothing: Smoothing | None
) -> np.ndarray:
    """The probabilities of words."""
    totals = counts.states[trees.lexical_states(grammar)]
    lexical = np.divide(counts.lexical, totals, out=np.zeros_like(totals), where=totals > 0)
    lexical[lexical < LEAST] = 0.0
    if not smoothing:
        return lexical
    rows, alive = trees.pair_label, _alive(grammar, counts.states)
    return _towards_average(lexical, grammar.n_states[rows], alive[rows], smoothing.words)


def _alive(grammar: Grammar, states: np.ndarray) -> np.ndarray:
    """How many states of each label are in use."""
    labels = np.repeat(np.arange(len(grammar.n_states)), grammar.n_states)
    return np.bincount(labels, states > 0).clip(min=1)


def _towards_average(
    values: np.ndarray, sizes: np.ndarray, alive: np.ndarray, alpha: float
) -> np.ndarray:
    """Move each row, of `sizes` values, towards its average over the `alive` states."""
    average = np.add.reduceat(values, starts(sizes)[:-1]) / alive
    return (1 - alpha) * values + alpha * np.repeat(average, sizes)


def split(
    trees: TrainingTrees,
    parameters: GrammarParameters,
    n_states: np.ndarray,
    noise: float,
    rng: np.random.Generator,
) -> GrammarParameters:
    """Give each label `n_states`, which is a multiple of the number it has.

    The probability of a state is shared evenly among the states that it becomes, so the likelihood
    stays the same except for the noise. Rules and words are multiplied by 1 + noise * u, with u
    uniform on (-1, 1). Without noise, EM would find no difference between equal states.
    """
    old = parameters.grammar
    times = n_states // old.n_states
    new = Grammar(old.rules, n_states, np.empty(0), np.empty(0))
    tensor = np.empty(new.tensor_offsets[-1])
    for r, (left, right, parent) in enumerate(
        zip(old.rules.left, old.rules.right, old.rules.parent)
    ):
        b, c, a = times[left], times[right], times[parent]
        t = old.tensor_of(r) / (b * c)
        tensor[new.tensor_offsets[r] : new.tensor_offsets[r + 1]] = (
            t.repeat(b, 0).repeat(c, 1).repeat(a, 2).ravel()
        )
    tensor *= 1 + noise * rng.uniform(-1, 1, tensor.size)
    pair_times = times[trees.pair_label]
    lexical = parameters.lexical.repeat(pair_times.repeat(old.n_states[trees.pair_label]))
    lexical *= 1 + noise * rng.uniform(-1, 1, lexical.size)
    each = times.repeat(old.n_states)
    root = (old.root / each).repeat(each)
    return maximize(trees, new, counted(trees, new, tensor, lexical, root))


def counted(
    trees: TrainingTrees,
    grammar: Grammar,
    tensor: np.ndarray,
    lexical: np.ndarray,
    root: np.ndarray,
) -> Expectations:
    """Counts, or unnormalized probabilities, with their sums by state, for `maximize`."""
    m = grammar.sizes[:, 2]
    rows = grammar.sizes[:, :2].prod(axis=1)
    sums = np.concatenate(
        [
            tensor[grammar.tensor_offsets[r] : grammar.tensor_offsets[r + 1]].reshape(n, k).sum(0)
            for r, (n, k) in enumerate(zip(rows, m))
        ]
        or [np.empty(0)]
    )
    parents = grammar.states_of(grammar.rules.parent)
    n_states = int(grammar.state_offsets[-1])
    states = np.bincount(parents, sums, n_states) + np.bincount(
        trees.lexical_states(grammar), lexical, n_states
    )
    return Expectations(float("nan"), tensor, lexical, root, states)
