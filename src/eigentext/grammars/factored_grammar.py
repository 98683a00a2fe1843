r"""Grammars with tensors of low rank: sums of a few products of three vectors.

[Cohen and Collins 2012] write the tensor of a rule as

.. math:: T(h_2, h_3, h_1) \approx \sum_{k=1}^{r} u_k(h_2)\, v_k(h_3)\, w_k(h_1).

Then T(y2, y3) is the sum of (u_k · y2)(v_k · y3) w_k. It costs r (m_b + m_c + m_a) multiplications
and so many numbers, instead of m_b m_c m_a. ``learning/low_rank.py`` finds the vectors. Rules whose
vectors would take more room than their tensor keep the tensor.

[Cohen and Collins 2012] S. Cohen and M. Collins, Tensor decomposition for fast parsing with
latent-variable PCFGs, NIPS 2012.
"""

from typing import NamedTuple

import numpy as np

from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.treebank.normal_form import Rules


class FactoredRules(NamedTuple):
    """The rules of a :class:`FactoredGrammar`, as the compiled loops take them.

    Attributes
    ----------
    sizes
        (m_left, m_right, m_parent) of each rule.
    ranks
        The number of products of each rule; 0 if it has a tensor.
    at, numbers
        ``numbers[at[r]:at[r + 1]]`` are u, v and w of rule r, one after another, each with a row
        for each state and a column for each product. If the rank is 0, they are the tensor.
    """

    sizes: np.ndarray
    ranks: np.ndarray
    at: np.ndarray
    numbers: np.ndarray


class FactoredGrammar(Grammar):
    """A grammar by its factors. All of :class:`Grammar` works, but `tensor` is large.

    Parameters
    ----------
    rules, n_states, root, means
        As in :class:`Grammar`.
    ranks, numbers
        See :class:`FactoredRules`. Numbers have 32 bits.
    """

    def __init__(
        self,
        rules: Rules,
        n_states: np.ndarray,
        ranks: np.ndarray,
        numbers: np.ndarray,
        root: np.ndarray,
        means: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        self.rules, self.n_states, self.root, self.means = rules, n_states, root, means
        self.__post_init__()
        ranks = np.asarray(ranks, np.int64)
        at = starts(lengths(self.sizes, ranks))
        if at[-1] != len(numbers):
            raise ValueError(f"{len(numbers)} numbers, not {at[-1]}, for rules of these ranks")
        self.parts = FactoredRules(self.sizes, ranks, at, np.asarray(numbers, np.float32))

    @property
    def tensor(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All tensors, packed. They are made anew each time, and are large."""
        return self.tensors_of(np.arange(len(self.sizes)))

    def tensor_of(self, rule: int) -> np.ndarray:
        """The tensor of a rule, of shape (m_left, m_right, m_parent)."""
        mb, mc, ma = self.sizes[rule].tolist()
        at, k = self.parts.at, int(self.parts.ranks[rule])
        numbers = self.parts.numbers[at[rule] : at[rule + 1]].astype(np.float64)
        if not k:
            return numbers.reshape(mb, mc, ma)
        u, v, w = np.split(numbers.reshape(-1, k), (mb, mb + mc))
        return ((u[:, None] * v).reshape(-1, k) @ w.T).reshape(mb, mc, ma)

    def tensors_of(self, rules: np.ndarray) -> np.ndarray:
        """The tensors of some rules, one after another."""
        found = [self.tensor_of(r).ravel() for r in rules.tolist()]
        return np.concatenate(found) if found else np.empty(0)


def lengths(sizes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """How many numbers each rule has."""
    return np.where(ranks > 0, ranks * sizes.sum(axis=1), sizes.prod(axis=1))
