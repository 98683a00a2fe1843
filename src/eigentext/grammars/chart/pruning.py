r"""The chart of a coarse PCFG, what survives in it, and the packed forest of a finer grammar.

Every rule is a -> b c, with probability q, or a -> x. The inside and outside values of a label over
the words i to j - 1 [Baker 1979],

.. math::

    \alpha(a, i, j) &= \sum_{a \to b\,c} q(a \to b\,c) \sum_k \alpha(b, i, k)\, \alpha(c, k, j), \\
    \beta(b, i, k) &= \sum_{a \to b\,c} q(a \to b\,c) \sum_j \beta(a, i, j)\, \alpha(c, k, j)
        \quad\text{and likewise for } c,

give its marginal :math:`\mu(a, i, j) = \alpha \beta / p(x)`. Items, which are labels over spans,
are pruned if :math:`\mu` is below a threshold. A finer grammar, each of whose labels refines a
coarse one, then looks only at the survivors [Charniak et al. 2006].

Only few pairs of labels cost the cube of the length. Preterminals span one word, so that rules with
preterminals cost the square. For other rules, the right children are summed out first:

.. math:: w_{kj}(a, b) = \sum_c q(a \to b\,c)\, \alpha(c, k, j), \qquad
    \alpha(a, \cdot, j) \mathrel{+}= w_{kj}(a, b)\, \alpha(b, \cdot, k),

In a treebank binarized to the left, this leaves a hundred pairs (a, b) of some thousand rules. Each
costs one product of a number and a vector.

Numbers are scaled by powers of two, one for each word. Every cell is scaled by the product of the
factors of its words, whatever its derivation, so that sums stay right. The factor of word j - 1
brings the longest span that ends with it, usually all the words so far, to about 1. This is enough
for nearly every sentence that people write. If a product still leaves the range of doubles, as in
long sentences of a small and regular grammar, the sentence is done again with an exponent for each
item (``wide.py``).

[Baker 1979] J. Baker, Trainable grammars for speech recognition, in Speech communication papers for
the 97th meeting of the Acoustical Society of America, 1979.

[Charniak et al. 2006] E. Charniak and others, Multilevel coarse-to-fine PCFG parsing, NAACL 2006.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eigentext.errors import ParameterError
from eigentext.grammars.chart.forest import ParseForest
from eigentext.grammars.chart.wide import prune_wide, too_long


class Grouped(NamedTuple):
    """Rules grouped by parent and one child. The other child, the sibling, is summed out.

    ``groups[a]:groups[a + 1]`` are the groups of parent ``a``. ``offsets[g]:offsets[g + 1]`` are
    the rules of group ``g``, with their siblings and probabilities.
    """

    groups: np.ndarray
    parent: np.ndarray
    child: np.ndarray
    offsets: np.ndarray
    sibling: np.ndarray
    q: np.ndarray


class Listed(NamedTuple):
    """Rules as a plain list."""

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    q: np.ndarray


class CoarseGrammar(NamedTuple):
    """A PCFG, arranged for the chart. :meth:`from_rules` makes it.

    Attributes
    ----------
    pi
        The probability that each label is the root.
    prior
        How often each label occurs, on any scale.
    ii, it, ti, tt
        The rules, by whether the left and the right child are inner labels (i) or preterminals,
        tags (t). Tags are numbered from 0 here. The left child of ``ti`` is summed out, and the
        right child of the others.
    """

    pi: np.ndarray
    prior: np.ndarray
    ii: Grouped
    it: Grouped
    ti: Grouped
    tt: Listed

    @classmethod
    def from_rules(
        cls,
        parent: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        q: ArrayLike,
        pi: ArrayLike,
        prior: ArrayLike | None = None,
    ) -> "CoarseGrammar":
        """Arrange rules.

        Parameters
        ----------
        parent, left, right
            Labels of the rules a -> b c. Inner labels, those with rules, come before preterminals.
        q
            The probability of each rule.
        pi
            The probability that each label, also a preterminal, is the root.
        prior
            How often each label occurs, on any scale; None if all are equal. It decides which
            pieces cover a sentence without a parse. An inner label with zero is never a piece.

        Examples
        --------
        ``S -> NP V`` always, with the labels S, NP and V numbered in this order:

        >>> grammar = CoarseGrammar.from_rules([0], [1], [2], [1.0], [1.0, 0, 0])
        >>> offsets, labels, scores = [0, 1, 2], [1, 2], [0.5, 0.25]
        >>> survivors = prune(grammar, offsets, labels, scores)
        >>> survivors.labels, round(np.exp(survivors.log_probability).item(), 6)
        (array([1, 2, 0], dtype=int32), 0.125)
        """
        q, pi = np.asarray(q, np.float64), np.array(pi, np.float64)
        parent, left, right = _rules(parent, left, right, len(pi))
        prior = np.ones(len(pi)) if prior is None else np.array(prior, np.float64)
        m = int(parent.max(initial=-1)) + 1
        n_tags = len(pi) - m
        if n_tags < 1:
            raise ParameterError("the last labels must be preterminals, without rules")
        left_tag, right_tag = left >= m, right >= m

        def grouped(of: np.ndarray, child: np.ndarray, sibling: np.ndarray) -> Grouped:
            keys = parent[of].astype(np.int64) * m + child[of]
            keys, group = np.unique(keys, return_inverse=True)
            order = np.argsort(group, kind="stable")
            a, b = (x.astype(np.int32) for x in np.divmod(keys, max(m, 1)))
            return Grouped(
                _offsets(a, m), a, b, _offsets(group, len(keys)), sibling[of][order], q[of][order]
            )

        both = left_tag & right_tag
        return cls(
            pi,
            prior,
            grouped(~left_tag & ~right_tag, left, right),
            grouped(~left_tag & right_tag, left, right - m),
            grouped(left_tag & ~right_tag, right, left - m),
            Listed(parent[both], left[both] - m, right[both] - m, q[both]),
        )

    @property
    def n_inner(self) -> int:
        """The number of inner labels."""
        return len(self.ii.groups) - 1


class FineGrammar(NamedTuple):
    """The rules of a grammar whose labels refine coarse ones. :meth:`from_rules` makes it.

    Attributes
    ----------
    coarse
        The coarse label of each label.
    is_root
        Whether each label may be the root.
    parent
        The parent of each rule.
    pairs
        ``pairs[p]:pairs[p + 1]`` are the rules of the p-th pair of children.
    lefts, left, pair
        ``left[lefts[c]:lefts[c + 1]]`` are the labels that may be left of the right child c, and
        ``pair`` has the numbers of these pairs.
    """

    coarse: np.ndarray
    is_root: np.ndarray
    parent: np.ndarray
    pairs: np.ndarray
    lefts: np.ndarray
    left: np.ndarray
    pair: np.ndarray

    @classmethod
    def from_rules(
        cls,
        parent: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        pi: ArrayLike,
        coarse: ArrayLike | None = None,
    ) -> "FineGrammar":
        """Arrange rules.

        Parameters
        ----------
        parent, left, right
            Labels of the rules, sorted by (left, right, parent).
        pi
            The probability that each label is the root.
        coarse
            The coarse label that each label refines; None if the labels are the same.
        """
        is_root = np.asarray(pi) > 0
        parent, left, right = _rules(parent, left, right, len(is_root))
        coarse = np.arange(len(is_root)) if coarse is None else coarse
        keys = left.astype(np.int64) * len(is_root) + right
        if (np.diff(keys) < 0).any():
            raise ParameterError("rules must be sorted by their left and then their right child")
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        pair = np.argsort(right[first], kind="stable")
        return cls(
            np.array(coarse, np.int32), is_root, parent, np.append(first, len(keys)),
            _offsets(right[first], len(is_root)), left[first][pair], pair.astype(np.int32),
        )  # fmt: skip


class Survivors(NamedTuple):
    """The items of a chart that were not pruned, cell by cell.

    Attributes
    ----------
    offsets
        ``offsets[s]:offsets[s + 1]`` are those over words ``i`` to ``j - 1``, where
        ``s = j * (j - 1) // 2 + j - 1 - i``. Cells are in bottom-up order.
    labels, marginals
        The label and the marginal of each.
    log_probability
        log p(sentence); -inf if it has no parse.
    pieces
        None if the sentence has a parse. Else the label, the start and the end of items that cover
        it side by side: as few as possible, and of these the most probable. All other items are
        below them.
    """

    offsets: np.ndarray
    labels: np.ndarray
    marginals: np.ndarray
    log_probability: float
    pieces: np.ndarray | None

    def above(self, threshold: float) -> "Survivors":
        """Those whose marginals reach a higher threshold; for sentences with a parse."""
        keep = self.marginals >= threshold
        before = np.concatenate(([0], np.cumsum(keep)))
        return self._replace(
            offsets=before[self.offsets].astype(self.offsets.dtype),
            labels=self.labels[keep],
            marginals=self.marginals[keep],
        )


def prune(
    grammar: CoarseGrammar,
    offsets: ArrayLike,
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    threshold: float = 5e-5,
    memory: float = 2e9,
) -> Survivors:
    """Find the items of a sentence whose marginals reach a threshold.

    Parameters
    ----------
    grammar
        The coarse PCFG.
    offsets, labels, scores
        ``labels[offsets[i]:offsets[i + 1]]`` are the preterminals of the i-th word, with their
        q(a -> x) or numbers in proportion to it.
    threshold
        With 0, every possible item survives.
    memory
        Raise ParameterError if the charts need more bytes. They need 8 n (n + 1) for each inner
        label: 35 MB for 250 words and 69 labels, and half as much again with an exponent for each
        item.
    """
    if not 0 <= threshold < 1:
        raise ParameterError(f"threshold must be from 0 to below 1, not {threshold}")
    m = grammar.n_inner
    offsets, labels, scores = _checked(offsets, labels, scores, m, len(grammar.pi))
    n = len(offsets) - 1
    size = m * n * (n + 1) // 2
    if 16 * size > memory:
        raise too_long(n, 16 * size)
    leaves = np.zeros((n, len(grammar.pi) - m))
    leaves[np.repeat(np.arange(n), np.diff(offsets)), labels - m] = scores
    found = _prune(grammar, leaves.copy(), threshold) or prune_wide(
        grammar, leaves, threshold, memory
    )
    cells, survivors, marginals, log_probability, pieces = found
    return Survivors(
        _offsets(cells, n * (n + 1) // 2), survivors, marginals, log_probability, pieces
    )


_DOUBTS = 1e-12  # the largest sum of doubtful marginals; rounding changes as much


def _prune(
    grammar: CoarseGrammar, leaves: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray | None] | None:
    """The cells, labels and marginals of the survivors, log p, and pieces; None if out of range."""
    from eigentext.grammars.chart._chart_loops import cover, inside, outside

    m, n = grammar.n_inner, len(leaves)
    size = m * n * (n + 1) // 2
    chart, spread = np.zeros(size), np.zeros((n + 1, m, 2), np.int32)
    before, exponents = np.zeros((n, len(grammar.ti.child))), np.zeros(n, np.int64)
    if not inside(grammar, leaves, chart, spread, before, exponents):
        return None
    outer, outer_leaves = np.zeros(size), np.zeros_like(leaves)
    top, outer_top, pi = (
        (leaves[0], outer_leaves[0], grammar.pi[m:])
        if n == 1
        else (chart[-m * n :: n], outer[-m * n :: n], grammar.pi[:m])
    )
    total = top @ pi
    log_probability, pieces = -np.inf, None
    if total > 0:
        log_probability = float(np.log(total) + np.log(2) * exponents.sum())
        outer_top[:] = pi / total
    else:
        pieces = np.stack(cover(grammar.prior, leaves, chart), axis=1)
        for a, i, j in pieces.tolist():
            if a >= m:
                outer_leaves[i, a - m] = 1 / leaves[i, a - m]
            else:
                place = m * j * (j - 1) // 2 + a * j + i
                outer[place] = 1 / chart[place]
    *found, doubts = outside(
        grammar, leaves, chart, spread, before, outer, outer_leaves, float(threshold)
    )
    if not doubts < _DOUBTS:  # true for NaN too
        return None
    cells, survivors, marginals = (x[::-1].copy() for x in found)
    return cells, survivors, marginals, log_probability, pieces


def refine(
    survivors: Survivors,
    grammar: FineGrammar,
    offsets: ArrayLike,
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    memory: float = 2e9,
) -> ParseForest:
    """Build the packed forest of a finer grammar over what the coarse one left.

    An item is in the forest if its coarse label survived, it has a derivation, and it is below a
    root. Without a derivation of the whole sentence, the forest is empty. If pieces cover the
    sentence, they are the roots, from left to right.

    Parameters
    ----------
    survivors
        What :func:`prune` returned.
    grammar
        The finer grammar. It may be the coarse one itself.
    offsets, labels, scores
        As in :func:`prune`, with the labels of the finer grammar.
    memory
        Raise ParameterError if the forest may need more bytes while it is built, up to 40 for each
        edge. At the usual threshold, a sentence of 25 words has ten or twenty thousand edges, and
        one of 250 words a few million.
    """
    from eigentext.grammars.chart._build_loops import build, collect

    offsets, labels, scores = _checked(offsets, labels, scores, 0, len(grammar.coarse))
    n = len(offsets) - 1
    if len(survivors.offsets) != n * (n + 1) // 2 + 1:
        raise ParameterError("the survivors belong to a sentence of another length")
    n_coarse = int(max(grammar.coarse.max(), survivors.labels.max(initial=0))) + 1
    items, label, groups, edges = build(
        grammar, survivors.offsets, survivors.labels, n_coarse, offsets, labels, scores,
        int(memory / 40),
    )  # fmt: skip
    if items[-1] < 0:
        raise ParameterError(
            f"the forest of a sentence of {n:,} words needs more than {memory / 1e9:g} GB; raise "
            "the threshold of pruning, cut the sentence, or allow more memory"
        )
    roots = _roots(survivors, grammar, items, label)
    *forest, number = collect(items, label, groups, edges, roots)
    return ParseForest(*forest, roots=number[roots])


def _roots(
    survivors: Survivors, grammar: FineGrammar, items: np.ndarray, label: np.ndarray
) -> np.ndarray:
    """The items over all words that may be the root; or the items of the pieces."""
    if survivors.pieces is None:
        whole = np.arange(int(items[-2]), int(items[-1]))
        return whole[grammar.is_root[label[whole]]]
    roots = []
    for a, i, j in survivors.pieces.tolist():
        cell = j * (j - 1) // 2 + j - 1 - i
        span = np.arange(int(items[cell]), int(items[cell + 1]))
        roots.append(span[grammar.coarse[label[span]] == a])
    return np.concatenate(roots)


def _checked(
    offsets: ArrayLike, labels: ArrayLike, scores: ArrayLike, first: int, last: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check the three arrays, and convert them for the compiled loops. The scores are copied."""
    offsets = np.require(offsets, np.int64, ["C", "W"])
    labels, scores = np.require(labels, np.int32, ["C", "W"]), np.array(scores, np.float64)
    if len(offsets) < 2:
        raise ParameterError("an empty sentence has no chart")
    if offsets[0] != 0 or not offsets[-1] == len(labels) == len(scores):
        raise ParameterError("offsets must run from 0 to the number of labels, and of scores")
    if not (np.isfinite(scores) & (scores >= 0)).all():
        raise ParameterError("scores must be finite and 0 or more")
    n_possible = np.diff(np.append(0, np.cumsum(scores > 0))[offsets])
    if n_possible.min() < 1:
        word = int(np.argmin(n_possible)) + 1
        raise ParameterError(f"word {word} has no preterminal with a score above 0")
    if labels.min() < first or labels.max() >= last:
        raise ParameterError(f"labels of words must be preterminals, from {first} to {last - 1}")
    return offsets, labels, scores


def _rules(
    parent: ArrayLike, left: ArrayLike, right: ArrayLike, n_labels: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rules = np.array((parent, left, right), np.int32).reshape(3, -1)
    if rules.size and not 0 <= rules.min() <= rules.max() < n_labels:
        raise ParameterError(f"labels of rules must be from 0 to {n_labels - 1}, as many as pi has")
    return rules[0], rules[1], rules[2]


def _offsets(keys: np.ndarray, n: int) -> np.ndarray:
    """Where each of n keys begins in a sorted array of keys, and the length of the array."""
    return np.append(0, np.cumsum(np.bincount(keys, minlength=n))).astype(np.int64)
