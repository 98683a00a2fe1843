"""The parameters of a latent-variable PCFG, as packed arrays.

They are pi(a, h), the probability of a(h) at the root, and t(a -> b c, h2, h3 | a, h1), a tensor
for each rule. The lexicon has q(a -> x | a, h) (``treebank/lexicon.py``). States are numbered label
by label: those of label a are ``state_offsets[a]`` to ``state_offsets[a + 1] - 1``. The tensor of
rule r is ``tensor[tensor_offsets[r]:tensor_offsets[r + 1]]``, of shape (m_b, m_c, m_a), where the
state of the parent changes fastest. A PCFG has one state for each label.
"""

from dataclasses import dataclass, field

import numpy as np

from eigentext.grammars.treebank.normal_form import Rules, Treebank

_LEAST_PRODUCT = 0.01  # of averages that should be 1; below, they are of no use
_MOST_LAYERS, _LAST_LAYER = 500, 1e-9  # of a tree; the share of its nodes that may be left out


@dataclass
class Grammar:
    """Binary rules with their tensors, and the distribution of the root over states.

    `means` are the averages of the inside and of the outside vectors of each label, packed by
    states. A spectral grammar learns them; other grammars imply them (:meth:`state_means`).
    """

    rules: Rules
    n_states: np.ndarray
    tensor: np.ndarray
    root: np.ndarray
    means: tuple[np.ndarray, np.ndarray] | None = None
    state_offsets: np.ndarray = field(init=False)
    tensor_offsets: np.ndarray = field(init=False)
    sizes: np.ndarray = field(init=False)

    def __post_init__(self):
        self.n_states = np.asarray(self.n_states, np.int64)
        self.state_offsets = starts(self.n_states)
        self.sizes = tensor_sizes(self.rules, self.n_states)
        self.tensor_offsets = starts(self.sizes.prod(axis=1))

    @property
    def parent_states(self) -> np.ndarray:
        """The first state of the parent of each rule."""
        return self.state_offsets[self.rules.parent]

    def states_of(self, labels: np.ndarray) -> np.ndarray:
        """The states of each of these labels, one after another."""
        return ranges(self.state_offsets[labels], self.n_states[labels])

    def tensor_of(self, rule: int) -> np.ndarray:
        """The tensor of a rule, a view of shape (m_left, m_right, m_parent)."""
        packed = self.tensor[self.tensor_offsets[rule] : self.tensor_offsets[rule + 1]]
        return packed.reshape(self.sizes[rule])

    def tensors_of(self, rules: np.ndarray) -> np.ndarray:
        """The tensors of some rules, one after another."""
        lengths = np.diff(self.tensor_offsets)[rules]
        return self.tensor[ranges(self.tensor_offsets[rules], lengths)]

    def state_means(self) -> tuple[np.ndarray, np.ndarray]:
        """The average inside and outside vectors r and s of each label, with r @ s = 1.

        If states are states, r is 1 and s is p(h | a): how often trees of the grammar have a(h).
        """
        labels = np.repeat(np.arange(len(self.n_states)), self.n_states)
        if self.means is not None:
            r, s = self.means
            products = np.bincount(labels, r * s, len(self.n_states))[labels]
            usable = np.abs(products) > _LEAST_PRODUCT
            return np.where(usable, r, 1.0), np.where(
                usable, s / np.where(usable, products, 1.0), 1 / self.n_states[labels]
            )
        if self.n_states.max() == 1:
            return np.ones(len(labels)), np.ones(len(labels))
        uses = np.abs(self._uses())
        totals = np.bincount(labels, uses, len(self.n_states))[labels]
        usable = np.isfinite(totals) & (totals > 0)
        shares = np.where(usable, uses, 1.0) / np.where(usable, totals, self.n_states[labels])
        return np.ones(len(labels)), shares

    def _uses(self) -> np.ndarray:
        """How often each state occurs in a tree, on average."""
        import scipy.sparse as sp

        rows, columns, values = [], [], []
        first = self.state_offsets.tolist()
        for r, (a, b, c) in enumerate(zip(*(x.tolist() for x in self.rules[:3]))):
            tensor = self.tensor_of(r)
            for child, part in ((b, tensor.sum(axis=1)), (c, tensor.sum(axis=0))):
                rows.append(np.repeat(np.arange(first[child], first[child + 1]), part.shape[1]))
                columns.append(np.tile(np.arange(first[a], first[a + 1]), part.shape[0]))
                values.append(part.ravel())
        n, uses = int(first[-1]), self.root.copy()
        if not rows:
            return uses
        at = np.concatenate(rows), np.concatenate(columns)
        below = sp.csr_array((np.concatenate(values), at), (n, n))
        layer = uses
        with np.errstate(all="ignore"):  # a model file may have any numbers
            for _ in range(_MOST_LAYERS):
                layer = below @ layer
                uses = uses + layer
                if not layer.sum() > _LAST_LAYER * uses.sum():
                    break
        return uses

    @classmethod
    def maximum_likelihood(cls, treebank: Treebank) -> "Grammar":
        """The PCFG of a treebank: relative frequencies, with one state for each label."""
        rules = treebank.rules()
        n_labels = len(treebank.symbols)
        labels = np.bincount(treebank.label, minlength=n_labels)
        roots = np.bincount(treebank.label[treebank.offsets[1:] - 1], minlength=n_labels)
        return cls(
            rules,
            np.ones(n_labels, np.int64),
            rules.counts / labels[rules.parent],
            roots / roots.sum(),
        )


def tensor_sizes(rules: Rules, n_states: np.ndarray) -> np.ndarray:
    """(m_left, m_right, m_parent) of each rule."""
    return n_states[np.stack((rules.left, rules.right, rules.parent), axis=1)]


def starts(sizes: np.ndarray) -> np.ndarray:
    """Where parts of these sizes begin if they are stored side by side, and where the last ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def ranges(first: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Ranges of numbers, one after another: each begins at `first` and has `sizes` numbers.

    Examples
    --------
    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    return np.repeat(first - starts(sizes)[:-1], sizes) + np.arange(sizes.sum())
