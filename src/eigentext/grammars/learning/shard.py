"""The passes of EM over some trees: inside vectors upwards, outside vectors downwards.

Only the states of the nodes of a tree are unknown, so a pass takes time linear in the number of
nodes [Matsuzaki et al. 2005]. The m^3 work is done by matrix products (``_training_loops``). The
nodes of all trees are processed level by level, and those with the same rule are contiguous. A
level needs only the levels below it (inside) or above it (outside), so threads may share its rules.
Each vector results from the same operations for any number of threads.

[Matsuzaki et al. 2005] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent
annotations, ACL 2005.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.grammars.grammar import Grammar, ranges, starts
from eigentext.grammars.sparse_grammar import Mixing, SparseCounts, SparseGrammar, parent_counts

_TINY = np.finfo(float).tiny  # the inverse of a smaller number may be infinite
_WORK = 1 << 22  # multiplications of one task
LEAST_SHARE = 1e-6  # of the uses of a rule; smaller counts of a sparse grammar are left out


@dataclass
class GrammarParameters:
    """What EM learns: a grammar, and q(a -> x | a, h) for pairs of a preterminal and a word."""

    grammar: Grammar
    lexical: np.ndarray  # packed: the vector of pair l starts at pair_offsets[l]

    def arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        """The arrays that change from one step of EM to the next, for a file."""
        parts = {"root": self.grammar.root, "lexical": self.lexical}
        if isinstance(self.grammar, SparseGrammar):
            parts |= dict(zip(("key", "value"), self.grammar.counts))
            parts |= {"states": self.grammar.states, "mixing": np.array(self.grammar.mixing)}
        else:
            parts["tensor"] = self.grammar.tensor
        return {prefix + name: part for name, part in parts.items()}

    def replaced(self, arrays: dict[str, Any], prefix: str = "") -> "GrammarParameters":
        """The parameters of another step, from its arrays."""

        def part(name: str) -> Any:
            return arrays[prefix + name]

        shape = self.grammar.rules, self.grammar.n_states
        if isinstance(self.grammar, SparseGrammar):
            counts = SparseCounts(np.array(part("key")), np.array(part("value")))
            mixing = Mixing(*np.array(part("mixing")).tolist())
            grammar = SparseGrammar(*shape, counts, np.array(part("states")), part("root"), mixing)
        else:
            grammar = Grammar(*shape, part("tensor"), part("root"))
        return GrammarParameters(grammar, part("lexical"))


@dataclass
class Expectations:
    """Expected counts, with the shapes of the parameters, and the log-likelihood."""

    log_likelihood: float
    tensor: Any  # an array; for sparse grammars SparseCounts
    lexical: np.ndarray
    root: np.ndarray
    states: np.ndarray  # how often each state occurs


class Counts(NamedTuple):
    """The expectations of some trees. The tensor has only the rules that occur in these trees.

    Many rules are rare, so there is much less to send and to add up. Sparse counts have places in
    the tensor of all rules.
    """

    rules: np.ndarray
    lengths: np.ndarray  # of their parts of the tensor
    found: Expectations

    def plus(self, other: "Counts") -> "Counts":
        """The expectations of both."""
        a, b = self.found, other.found
        log_likelihood, lexical = a.log_likelihood + b.log_likelihood, a.lexical + b.lexical
        rest = lexical, a.root + b.root, a.states + b.states
        if isinstance(a.tensor, SparseCounts):
            both = Expectations(log_likelihood, a.tensor.plus(b.tensor), *rest)
            return self._replace(found=both)
        if np.array_equal(self.rules, other.rules):
            both = Expectations(log_likelihood, a.tensor + b.tensor, *rest)
            return self._replace(found=both)
        rules = np.union1d(self.rules, other.rules)
        lengths = np.empty(len(rules), np.int64)
        for one in (self, other):
            lengths[np.searchsorted(rules, one.rules)] = one.lengths
        first = starts(lengths)
        tensor = np.zeros(first[-1])
        for one in (self, other):
            places = first[np.searchsorted(rules, one.rules)]
            add_parts(one.found.tensor, one.lengths, places, tensor)
        return Counts(rules, lengths, Expectations(log_likelihood, tensor, *rest))


def add_parts(
    parts: np.ndarray, lengths: np.ndarray, places: np.ndarray, total: np.ndarray
) -> None:
    """Add parts, which are stored one after another, to the `places` in a total."""
    # Slices are faster than one index for each number.
    borders = starts(lengths).tolist()
    for place, a, b in zip(places.tolist(), borders, borders[1:]):
        total[place : place + b - a] += parts[a:b]


class ShardTrees(NamedTuple):
    """The nodes of some trees in post-order, as in a treebank.

    Children are numbered within these trees. Symbols, rules and pairs are those of the whole
    treebank.
    """

    label: np.ndarray
    left: np.ndarray
    right: np.ndarray
    rule: np.ndarray
    height: np.ndarray
    roots: np.ndarray
    pair: np.ndarray  # the pair of a preterminal and a terminal, for each leaf
    pair_label: np.ndarray  # the preterminal of each pair


@dataclass
class InsideOutside:
    """The inside and outside vectors of all nodes for some parameters, packed, and their scales."""

    sizes: np.ndarray  # of the tensors of the rules of the shard
    offsets: np.ndarray
    tensor: np.ndarray
    place: np.ndarray  # where the vectors of each node begin
    lexical_place: np.ndarray  # where those of leaves are in `GrammarParameters.lexical`
    root_place: np.ndarray
    root_state: np.ndarray
    root_sizes: np.ndarray
    root: np.ndarray  # pi of the states of the roots
    at_root: np.ndarray  # the probability of each tree, divided by the scale of its root
    inside: np.ndarray
    outside: np.ndarray
    scale: np.ndarray
    log_likelihood: float = 0.0


class TreeShard:
    """Trees whose nodes are sorted by height and rule."""

    def __init__(self, nodes: ShardTrees):
        inner = nodes.left >= 0
        # Leaves are sorted by their pair of a preterminal and a terminal, inner nodes by rule.
        kind = nodes.rule.astype(np.int64)
        kind[~inner] = nodes.pair
        order = np.lexsort((kind, nodes.height))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))

        self.label = nodes.label[order]
        self.n_leaves = int((~inner).sum())
        self.left = np.where(inner, rank[nodes.left], -1)[order]
        self.right = np.where(inner, rank[nodes.right], -1)[order]
        self.roots = rank[nodes.roots]
        self.pair = kind[order][: self.n_leaves]
        self.pair_label = nodes.pair_label
        self.leaf_of_token = rank[~inner]

        height = nodes.height[order][self.n_leaves :]
        self.rules, rule = np.unique(kind[order][self.n_leaves :], return_inverse=True)
        new = np.flatnonzero((np.diff(height) != 0) | (np.diff(rule) != 0)) + 1
        first = np.concatenate(([0], new, [len(rule)])) if len(rule) else np.zeros(1, np.int64)
        self.runs = first + self.n_leaves
        self.run_rule = rule[first[:-1]]
        self.levels = np.searchsorted(height[first[:-1]], np.arange(1, height.max(initial=0) + 2))
        self.by_rule = np.argsort(rule, kind="stable") + self.n_leaves
        self.members = starts(np.bincount(rule, minlength=len(self.rules)))

    def expect(self, parameters: GrammarParameters) -> Counts:
        """The expected counts: one pass up and one pass down all trees."""
        grammar, v = parameters.grammar, self.vectors(parameters)
        n_states = grammar.state_offsets[-1]
        if isinstance(grammar, SparseGrammar):
            tensor, above = self._sparse_counts(grammar, v)
        else:
            tensor, sums = self._dense_counts(v)
            parents = grammar.states_of(grammar.rules.parent[self.rules])
            above = np.bincount(parents, sums, n_states)
        leaves = v.place[self.n_leaves]
        posterior = v.inside[:leaves] * v.outside[:leaves]
        lexical = np.bincount(v.lexical_place, posterior, len(parameters.lexical))
        at_root = v.inside[v.root_place] * v.outside[v.root_place]
        states = above + np.bincount(grammar.states_of(self.pair_label), lexical, n_states)
        root = np.bincount(v.root_state, at_root, n_states)
        found = Expectations(v.log_likelihood, tensor, lexical, root, states)
        return Counts(self.rules, np.diff(v.offsets), found)

    def _dense_counts(self, v: InsideOutside) -> tuple[np.ndarray, np.ndarray]:
        """The counts of the rules of these trees, and their sums by the state of the parent."""
        from eigentext.grammars.learning._training_loops import count_rules

        tensor = np.empty_like(v.tensor)
        sum_offsets = starts(v.sizes[:, 2])
        sums = np.empty(sum_offsets[-1])
        in_blocks(
            lambda a, b: count_rules(
                a, b, self.members, self.by_rule, self.left, self.right, v.sizes, v.offsets,
                v.tensor, v.place, v.inside, v.outside, v.scale, tensor, sums, sum_offsets,
            ),
            0, starts(np.diff(self.members) * v.sizes.prod(axis=1)),
        )  # fmt: skip
        return tensor, sums

    def _sparse_counts(
        self, grammar: SparseGrammar, v: InsideOutside
    ) -> tuple[SparseCounts, np.ndarray]:
        """The counts of the rules of these trees, and how often each state is that of a parent."""
        from eigentext.grammars.learning._sparse_training_loops import count_rules_sparse

        found = in_blocks(
            lambda a, b: count_rules_sparse(
                a, b, self.members, self.by_rule, self.rules, self.left, self.right, grammar.parts,
                grammar.tensor_offsets, v.place, v.inside, v.outside, v.scale, LEAST_SHARE,
            ),
            0, starts((np.diff(self.members) + 2) * v.sizes.prod(axis=1)),
        )  # fmt: skip
        if not found:
            return SparseCounts(np.empty(0, np.int64), np.empty(0)), np.zeros(len(grammar.root))
        counts = SparseCounts.of(*(np.concatenate(part) for part in zip(*found)))
        return counts, parent_counts(grammar, counts)

    def log_likelihood(self, parameters: GrammarParameters) -> float:
        """The log-likelihood of the trees, by the inside pass alone."""
        return self._inside(parameters).log_likelihood

    def leaf_posteriors(
        self, parameters: GrammarParameters
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P(state | tree) of the leaves, packed; the states; and how many states each token has."""
        v, grammar, leaf = self.vectors(parameters), parameters.grammar, self.leaf_of_token
        sizes = grammar.n_states[self.label[leaf]]
        at = ranges(v.place[leaf], sizes)
        states = grammar.states_of(self.label[leaf])
        return v.inside[at] * v.outside[at], states, sizes

    def split_losses(
        self, parameters: GrammarParameters, states: np.ndarray, was_split: np.ndarray
    ) -> np.ndarray:
        """The log-likelihood lost by undoing each split, at its first state; infinite elsewhere."""
        from eigentext.grammars.learning._training_loops import add_losses

        grammar, v = parameters.grammar, self.vectors(parameters)
        losses = np.full(grammar.state_offsets[-1], np.inf)
        for a in np.flatnonzero(was_split):
            losses[grammar.state_offsets[a] : grammar.state_offsets[a + 1] : 2] = 0.0
        add_losses(
            self.label, grammar.n_states, was_split, v.place, v.inside, v.outside,
            grammar.state_offsets, states, losses,
        )  # fmt: skip
        return losses

    # -- the passes ------------------------------------------------------------------------------

    def vectors(self, parameters: GrammarParameters) -> InsideOutside:
        """The inside and the outside pass."""
        v = self._inside(parameters)
        self._outside(parameters.grammar, v)
        return v

    def _laid_out(self, parameters: GrammarParameters) -> InsideOutside:
        """Where the vector of each node is, and the data of leaves and roots."""
        grammar = parameters.grammar
        n_states = grammar.n_states
        place = starts(n_states[self.label])
        sizes = n_states[self.pair_label[self.pair]]
        pair_offsets = starts(n_states[self.pair_label])
        labels = self.label[self.roots]
        root_state = grammar.states_of(labels)
        own = grammar.sizes[self.rules]
        offsets = starts(own.prod(axis=1))
        is_sparse = isinstance(grammar, SparseGrammar)
        tensor = np.empty(0) if is_sparse else grammar.tensor
        if len(self.rules) < len(grammar.sizes) and not is_sparse:
            places = grammar.tensor_offsets[self.rules].tolist()
            ends = (grammar.tensor_offsets[self.rules] + np.diff(offsets)).tolist()
            tensor = np.concatenate([tensor[a:b] for a, b in zip(places, ends)] or [tensor[:0]])
        return InsideOutside(
            own,
            offsets,
            tensor,
            place,
            ranges(pair_offsets[self.pair], sizes),
            ranges(place[self.roots], n_states[labels]),
            root_state,
            n_states[labels],
            grammar.root[root_state],
            np.empty(0),
            np.empty(place[-1]),
            np.empty(0),
            np.empty(len(self.label)),
        )

    def _inside(self, parameters: GrammarParameters) -> InsideOutside:
        v, grammar = self._laid_out(parameters), parameters.grammar
        leaves = v.place[self.n_leaves]
        words = parameters.lexical[v.lexical_place]
        totals = np.add.reduceat(words, v.place[: self.n_leaves])
        divisors = np.where(totals > 0, totals, 1.0)
        v.inside[:leaves] = words / np.repeat(
            divisors, grammar.n_states[self.label[: self.n_leaves]]
        )
        with np.errstate(divide="ignore"):
            v.scale[: self.n_leaves] = np.log(totals)
        for first, last in zip(self.levels[:-1], self.levels[1:]):
            in_blocks(self._up(grammar, v), first, self._work(first, last, v.sizes))
        both = v.root * v.inside[v.root_place]
        v.at_root = np.add.reduceat(both, starts(v.root_sizes)[:-1])
        v.at_root[v.at_root < _TINY] = 0.0
        with np.errstate(divide="ignore"):
            v.log_likelihood = float((np.log(v.at_root) + v.scale[self.roots]).sum())
        return v

    def _outside(self, grammar: Grammar, v: InsideOutside) -> None:
        v.outside = np.empty(v.place[-1])
        divisors = np.where(v.at_root > 0, v.at_root, np.inf)  # without probability, zeros below
        v.outside[v.root_place] = v.root / np.repeat(divisors, v.root_sizes)
        for first, last in zip(self.levels[-2::-1], self.levels[:0:-1]):
            in_blocks(self._down(grammar, v), first, self._work(first, last, v.sizes))

    def _up(self, grammar: Grammar, v: InsideOutside) -> Callable[[int, int], Any]:
        """The inside pass over a range of runs."""
        from eigentext.grammars.learning._sparse_training_loops import inside_runs_sparse
        from eigentext.grammars.learning._training_loops import inside_runs

        children, vectors = (self.left, self.right), (v.place, v.inside, v.scale)
        if isinstance(grammar, SparseGrammar):
            rule, parts = self.rules[self.run_rule], grammar.parts
            return lambda a, b: inside_runs_sparse(
                a, b, self.runs, rule, *children, parts, *vectors
            )
        tensors = v.sizes, v.offsets, v.tensor
        return lambda a, b: inside_runs(
            a, b, self.runs, self.run_rule, *children, *tensors, *vectors
        )

    def _down(self, grammar: Grammar, v: InsideOutside) -> Callable[[int, int], Any]:
        """The outside pass over a range of runs."""
        from eigentext.grammars.learning._sparse_training_loops import outside_runs_sparse
        from eigentext.grammars.learning._training_loops import outside_runs

        children, vectors = (self.left, self.right), (v.place, v.inside, v.outside, v.scale)
        if isinstance(grammar, SparseGrammar):
            rule, parts = self.rules[self.run_rule], grammar.parts
            return lambda a, b: outside_runs_sparse(
                a, b, self.runs, rule, *children, parts, *vectors
            )
        tensors = v.sizes, v.offsets, v.tensor
        return lambda a, b: outside_runs(
            a, b, self.runs, self.run_rule, *children, *tensors, *vectors
        )

    def _work(self, first: int, last: int, sizes: np.ndarray) -> np.ndarray:
        nodes = np.diff(self.runs[first : last + 1])
        return starts(nodes * sizes[self.run_rule[first:last]].prod(axis=1))


def in_blocks(task: Callable[[int, int], Any], first: int, work: np.ndarray) -> list[Any]:
    """Run ``task(start, end)`` for ranges of about equal work; ranges begin at `first`."""
    blocks = [(first + start, first + end) for start, end in engine.even_blocks(work, _WORK)]
    if len(blocks) == 1:
        return [task(*blocks[0])]
    return list(engine.current().map(lambda block: task(*block), blocks))
