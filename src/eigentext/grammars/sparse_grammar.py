r"""Grammars learned by EM, in a small form: sparse counts, and the smoothing that they imply.

Most rules of a treebank are seen a few times, and their nodes use a few combinations of states. So
of the expected counts E(h2, h3, h1) of a rule, all but one in fifty or so are next to nothing. A
step of EM makes a tensor without zeros of them, because it smooths. But what smoothing adds is a
product of sums of E. With N the sum of E, P, L and R its sums by (h1), (h2, h1) and (h3, h1), p(h)
the share of a state in its label, and n(h1) the expected count of the parent's state,

.. math::

    \bar t(h_2, h_3 \mid h_1) &= \frac{N E(h_2, h_3, h_1) + d\, L(h_2, h_1) R(h_3, h_1) / P(h_1)
        + i\, p(h_2)\, p(h_3)\, P(h_1)}{(N + d + i)\; n(h_1)}, \\
    t(h_2, h_3 \mid h_1) &= (1 - \alpha)\, \bar t(h_2, h_3 \mid h_1)
        + \frac{\alpha}{m} \sum_h \bar t(h_2, h_3 \mid h).

This is the tensor of ``learning/training.py``, with its smoothing: d is `dependent`, i is
`independent`, alpha is `states` and m is the number of states in use. So only E is stored. The
passes over trees and forests use the sum of the three terms: the first is sparse, and the other two
cost (m_b + m_c) m_a instead of m_b m_c m_a multiplications. It is a tensor decomposition, after
[Cohen and Collins 2012], that needs no approximation: only counts below a millionth of N are
left out.

[Cohen and Collins 2012] S. Cohen and M. Collins, Tensor decomposition for fast parsing with
latent-variable PCFGs, NIPS 2012.
"""

from typing import NamedTuple

import numpy as np

from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.treebank.normal_form import Rules

MOST_STATES = int(np.iinfo(np.uint16).max)  # of a label in a sparse grammar


class Mixing(NamedTuple):
    """alpha, d and i of the formulas: how much smoothing there is. The default is none."""

    states: float = 0.0
    dependent: float = 0.0
    independent: float = 0.0


NOT_MIXED = Mixing()


class SparseCounts(NamedTuple):
    """Counts of rules by states, without zeros. They may be added.

    ``key`` is the place of each count in the packed tensor (``tensor_offsets``), rising. Values are
    64-bit numbers that 32 bits can hold, so that a file keeps them as they are.
    """

    key: np.ndarray
    value: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray, values: np.ndarray) -> "SparseCounts":
        """Add up the values of equal keys, in the order given."""
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        sums = np.add.reduceat(values[order], first) if len(first) else values[:0]
        return cls(keys[first], sums.astype(np.float32).astype(np.float64))

    def plus(self, other: "SparseCounts") -> "SparseCounts":
        """The sum of both."""
        both = zip(self, other)
        return SparseCounts.of(*(np.concatenate(pair) for pair in both))

    def dense(self, size: int) -> np.ndarray:
        """The packed tensor of this size."""
        found = np.zeros(size)
        found[self.key] = self.value
        return found


class SparseRules(NamedTuple):
    """The tensors of a :class:`SparseGrammar`, as the compiled loops take them.

    Attributes
    ----------
    sizes
        (m_left, m_right, m_parent) of each rule.
    entries, b, c, a, value
        ``value[entries[r]:entries[r + 1]]`` are the entries of the first term of rule r, and b, c
        and a the states of its left child, right child and parent.
    left_at, left, right_at, right
        The second term is ``left[b, a] * right[c, a]``. Those of rule r begin at ``left_at[r]`` and
        ``right_at[r]``.
    top_at, top
        The third is ``share[b] * share[c] * top[a]``.
    left_states, right_states
        The first states of both children.
    share
        p(h) of each state.
    own, others
        ``own`` is 1 - alpha; ``others`` is alpha / m for each label.
    """

    sizes: np.ndarray
    entries: np.ndarray
    b: np.ndarray
    c: np.ndarray
    a: np.ndarray
    value: np.ndarray
    left_at: np.ndarray
    left: np.ndarray
    right_at: np.ndarray
    right: np.ndarray
    top_at: np.ndarray
    top: np.ndarray
    parent: np.ndarray
    left_states: np.ndarray
    right_states: np.ndarray
    share: np.ndarray
    own: float
    others: np.ndarray


class SparseGrammar(Grammar):
    """A grammar by its sparse counts. All of :class:`Grammar` works, but `tensor` is large.

    Parameters
    ----------
    rules, n_states, root
        As in :class:`Grammar`.
    counts
        E of all rules.
    states
        n, the expected count of each state.
    mixing
        alpha, d and i.
    """

    def __init__(
        self,
        rules: Rules,
        n_states: np.ndarray,
        counts: SparseCounts,
        states: np.ndarray,
        root: np.ndarray,
        mixing: Mixing = NOT_MIXED,
    ):
        self.rules, self.n_states, self.root, self.means = rules, n_states, root, None
        self.counts, self.states, self.mixing = counts, states, mixing
        self.__post_init__()
        self.parts = self._parts()

    @property
    def tensor(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All tensors, packed. They are made anew each time, and are large."""
        return self.tensors_of(np.arange(len(self.sizes)))

    def tensor_of(self, rule: int) -> np.ndarray:
        """The tensor of a rule, of shape (m_left, m_right, m_parent)."""
        return self.tensors_of(np.array([rule])).reshape(self.sizes[rule])

    def tensors_of(self, rules: np.ndarray) -> np.ndarray:
        """The tensors of some rules, one after another."""
        from eigentext.grammars._sparse_loops import fill

        places = starts(self.sizes[rules].prod(axis=1)).tolist()
        found = np.empty(places[-1])
        for r, first, last in zip(rules.tolist(), places, places[1:]):
            fill(self.parts, r, found[first:last])
        return found

    def _parts(self) -> SparseRules:
        """The three terms."""
        rules, sizes, n = self.rules, self.sizes, len(self.sizes)
        if self.n_states.max(initial=0) > MOST_STATES:
            raise ValueError(f"a label has more than {MOST_STATES} states")
        key, value = self.counts
        entries = np.searchsorted(key, self.tensor_offsets)
        rule = np.repeat(np.arange(n), np.diff(entries))
        pair, a = np.divmod(key - self.tensor_offsets[rule], sizes[rule, 2])
        b, c = np.divmod(pair, sizes[rule, 1])
        top_at, left_at, right_at = (
            starts(sizes[:, 2] * (sizes[:, k] if k < 2 else 1)) for k in (2, 0, 1)
        )
        at_top = top_at[rule] + a
        uses = _sums(rule, value, n)
        parent = _sums(at_top, value, top_at[-1])
        left = _sums(left_at[rule] + b * sizes[rule, 2] + a, value, left_at[-1])
        right = _sums(right_at[rule] + c * sizes[rule, 2] + a, value, right_at[-1])
        first = self.state_offsets
        labels = np.repeat(np.arange(len(self.n_states)), self.n_states)
        of_label = np.bincount(labels, self.states, len(self.n_states))[labels]
        total = np.where(self.states > 0, self.states, np.inf)
        smoothed = sizes[:, :2].prod(axis=1) > 1  # one pair of states has nothing to smooth
        dependent = np.where(smoothed, self.mixing.dependent, 0.0)
        independent = np.where(smoothed, self.mixing.independent, 0.0)
        weight = np.maximum(uses + dependent + independent, 1e-300)
        kept = np.where(smoothed, uses / weight, 1.0)
        at = first[rules.parent[rule]] + a
        value = kept[rule] * value / total[at]
        per_top = np.repeat(np.arange(n), sizes[:, 2])
        total = total[self.states_of(rules.parent)]
        given = np.divide(1.0, parent, out=np.zeros_like(parent), where=parent > 0)
        alive = np.bincount(labels, self.states > 0, len(self.n_states)).clip(min=1)
        small, short = np.float32, np.uint16
        return SparseRules(
            sizes, entries, b.astype(short), c.astype(short), a.astype(short), value.astype(small),
            left_at, (left * _by_rows(given, sizes, 0)).astype(small),
            right_at,
            (right * _by_rows((dependent / weight)[per_top] / total, sizes, 1)).astype(small),
            top_at, ((independent / weight)[per_top] * parent / total).astype(small),
            rules.parent.astype(np.int64), first[rules.left], first[rules.right],
            self.states / np.maximum(of_label, 1e-300),
            1.0 - self.mixing.states, self.mixing.states / alive,
        )  # fmt: skip


def _sums(places: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Sums of values by their places. Those of no values are floats too."""
    return np.bincount(places, values, size).astype(np.float64)


def _by_rows(tops: np.ndarray, sizes: np.ndarray, child: int) -> np.ndarray:
    """Numbers of the parent's states of each rule, once for each state of a child."""
    found = np.empty(int((sizes[:, child] * sizes[:, 2]).sum()))
    place, first = 0, 0
    for m, k in sizes[:, [child, 2]].tolist():
        found[place : place + m * k].reshape(m, k)[:] = tops[first : first + k]
        place, first = place + m * k, first + k
    return found


def parent_counts(grammar: Grammar, counts: SparseCounts) -> np.ndarray:
    """How often each state is that of a parent, by counts of the rules of a grammar."""
    rule = np.searchsorted(grammar.tensor_offsets, counts.key, side="right") - 1
    state = (counts.key - grammar.tensor_offsets[rule]) % grammar.sizes[rule, 2]
    return _sums(grammar.parent_states[rule] + state, counts.value, len(grammar.root))
