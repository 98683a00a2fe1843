r"""The chart of a coarse PCFG, what survives in it, and the packed forest of a finer grammar.

Every rule is a -> b c, with probability q, or a -> x. The inside and outside values of a label over
the words i to j - 1 (Baker 1979),

.. math::

    \alpha(a, i, j) &= \sum_{a \to b\,c} q(a \to b\,c) \sum_k \alpha(b, i, k)\, \alpha(c, k, j), \\
    \beta(b, i, k) &= \sum_{a \to b\,c} q(a \to b\,c) \sum_j \beta(a, i, j)\, \alpha(c, k, j)
        \quad\text{and so for } c,

give its marginal :math:`\mu(a, i, j) = \alpha \beta / p(x)`. Items, labels over spans, with
:math:`\mu` below a threshold are pruned, and a finer grammar, each of whose labels refines a coarse
one, is then tried on the survivors alone (Charniak et al., "Multilevel coarse-to-fine PCFG
parsing", NAACL 2006).

The cube of the length is paid for few pairs of labels only. Preterminals span one word, so that
rules with one cost a square; and of the others the right children are summed out first,

.. math:: w_{kj}(a, b) = \sum_c q(a \to b\,c)\, \alpha(c, k, j), \qquad
    \alpha(a, \cdot, j) \mathrel{+}= w_{kj}(a, b)\, \alpha(b, \cdot, k),

which, in a treebank binarised to the left, leaves a hundred pairs (a, b) of some thousands of
rules, each one product of a number and a vector.

Numbers are scaled by powers of two, one for each word: a cell has the product of its words'
factors, whatever its derivation, so that no sum is disturbed. The factor of word j - 1 brings the
longest span that ends with it, most often all the words so far, to about 1; a shorter one is then
as large as it is good in comparison. That is enough for nearly every sentence that people write.
Where a product leaves the range of doubles all the same, as in long sentences of a small and
regular grammar, the sentence is done again with an exponent for each item (``_wide``).
"""

from typing import Any, NamedTuple

import numpy as np

from eigentext.errors import ParameterError
from eigentext.grammars.chart.forest import ParseForest
from eigentext.grammars.chart.wide import prune_wide, too_long


class Grouped(NamedTuple):
    """Rules by (parent, child), one of the two children; the other, the sibling, is summed out.

    ``groups[a]:groups[a + 1]`` are the groups of parent ``a``, and ``offsets[g]:offsets[g + 1]``
    the rules of group ``g``, with their siblings and probabilities.
    """

    groups: np.ndarray
    parent: np.ndarray
    child: np.ndarray
    offsets: np.ndarray
    sibling: np.ndarray
    q: np.ndarray


class Listed(NamedTuple):
    """Rules one by one."""

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    q: np.ndarray


class CoarseGrammar(NamedTuple):
    """A PCFG, arranged for the chart; made by :meth:`from_rules`.

    Attributes
    ----------
    pi
        The probability of each label to be the root.
    prior
        How often each label occurs, on any scale.
    ii, it, ti, tt
        The rules, by whether the left and the right child are inner or preterminals (tags), which
        are numbered from 0 here. Of ``ti`` the left child is summed out, else the right one.
    """

    pi: np.ndarray
    prior: np.ndarray
    ii: Grouped
    it: Grouped
    ti: Grouped
    tt: Listed

    @classmethod
    def from_rules(cls, parent: Any, left: Any, right: Any, q: Any, pi: Any, prior: Any = None):
        """Arrange rules.

        Parameters
        ----------
        parent, left, right
            Labels of the rules a -> b c. Inner labels, those with rules, come before preterminals.
        q
            The probability of each rule.
        pi
            The probability of each label, preterminals included, to be the root.
        prior
            How often each label occurs, on any scale; None for alike. It chooses the pieces that
            cover a sentence without a parse, of which inner labels at zero are none.

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
        """How many labels are inner ones."""
        return len(self.ii.groups) - 1


class FineGrammar(NamedTuple):
    """The rules of a grammar whose labels refine coarse ones; made by :meth:`from_rules`.

    Attributes
    ----------
    coarse
        The coarse label of each label.
    is_root
        Whether each label may be the root.
    parent
        Of each rule.
    pairs
        ``pairs[p]:pairs[p + 1]`` are the rules of the p-th pair of children.
    lefts, left, pair
        From ``lefts[c]`` to ``lefts[c + 1]``: the left children that c may have as a right one,
        and the numbers of these pairs.
    """

    coarse: np.ndarray
    is_root: np.ndarray
    parent: np.ndarray
    pairs: np.ndarray
    lefts: np.ndarray
    left: np.ndarray
    pair: np.ndarray

    @classmethod
    def from_rules(cls, parent: Any, left: Any, right: Any, pi: Any, coarse: Any = None):
        """Arrange rules.

        Parameters
        ----------
        parent, left, right
            Labels of the rules, sorted by (left, right, parent).
        pi
            The probability of each label to be the root.
        coarse
            The coarse label that each label refines; None if they are the same.
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
    """The items of a chart that are worth a closer look, cell by cell.

    Attributes
    ----------
    offsets
        ``offsets[s]:offsets[s + 1]`` are those over words ``i`` to ``j - 1``, where
        ``s = j * (j - 1) // 2 + j - 1 - i``: bottom-up.
    labels, marginals
        The label of each, and its marginal.
    log_probability
        Of the sentence; -inf if it has no parse.
    pieces
        None if the sentence has a parse. Else the label, the start and the end of items side by
        side that cover it: the fewest, and of these the most probable. The others are below them.
    """

    offsets: np.ndarray
    labels: np.ndarray
    marginals: np.ndarray
    log_probability: float
    pieces: np.ndarray | None


def prune(
    grammar: CoarseGrammar,
    offsets: Any,
    labels: Any,
    scores: Any,
    *,
    threshold: float = 5e-5,
    memory: float = 2e9,
) -> Survivors:
    """The items of a sentence whose marginal reaches a threshold.

    Parameters
    ----------
    grammar
        The coarse PCFG.
    offsets, labels, scores
        ``labels[offsets[i]:offsets[i + 1]]`` are the preterminals of the i-th word, with their
        q(a -> x) or anything in proportion to it.
    threshold
        At 0 every possible item survives.
    memory
        Bytes for the charts, more than which is an error. They need 8 n (n + 1) for each inner
        label: 35 MB for 250 words and 69 labels; half as much again with an exponent for each
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


_DOUBTS = 1e-12  # of all marginals, not more than rounding would change


def _prune(grammar: CoarseGrammar, leaves: np.ndarray, threshold: float) -> Any:
    """Cells, labels and marginals of the survivors, log p and pieces; None if out of range."""
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
    if not doubts < _DOUBTS:  # nor is NaN
        return None
    cells, survivors, marginals = (x[::-1].copy() for x in found)
    return cells, survivors, marginals, log_probability, pieces


def refine(
    survivors: Survivors,
    grammar: FineGrammar,
    offsets: Any,
    labels: Any,
    scores: Any,
    *,
    memory: float = 2e9,
) -> ParseForest:
    """The packed forest of a finer grammar over what survived of the coarse one.

    An item is in it if its coarse label survived, it has a derivation, and it is below a root.
    Without a derivation of the whole sentence the forest is empty; for a sentence covered by
    pieces the roots are theirs, from left to right.

    Parameters
    ----------
    survivors
        Of :func:`prune`.
    grammar
        The finer grammar; the coarse one itself will do.
    offsets, labels, scores
        As in :func:`prune`, but in the labels of the finer grammar.
    memory
        Bytes for the forest while it is built, more than which is an error: up to 40 for each
        edge. A sentence of 25 words has ten or twenty thousand edges at the usual threshold, one
        of 250 a few millions.
    """
    from eigentext.grammars.chart._build_loops import build, collect

    offsets, labels, scores = _checked(offsets, labels, scores, 0, len(grammar.coarse))
    n = len(offsets) - 1
    if len(survivors.offsets) != n * (n + 1) // 2 + 1:
        raise ParameterError("the survivors are those of a sentence of another length")
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


def _roots(survivors: Survivors, grammar: FineGrammar, items: Any, label: np.ndarray) -> np.ndarray:
    """The items over all words that may be the root, or those over the pieces, of their label."""
    if survivors.pieces is None:
        whole = np.arange(items[-2], items[-1])
        return whole[grammar.is_root[label[whole]]]
    roots = []
    for a, i, j in survivors.pieces.tolist():
        cell = j * (j - 1) // 2 + j - 1 - i
        span = np.arange(items[cell], items[cell + 1])
        roots.append(span[grammar.coarse[label[span]] == a])
    return np.concatenate(roots)


def _checked(offsets: Any, labels: Any, scores: Any, first: int, last: int) -> Any:
    """The three arrays as kernels want them, the scores copied."""
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


def _rules(parent: Any, left: Any, right: Any, n_labels: int) -> Any:
    rules = np.array((parent, left, right), np.int32).reshape(3, -1)
    if rules.size and not 0 <= rules.min() <= rules.max() < n_labels:
        raise ParameterError(f"labels of rules must be from 0 to {n_labels - 1}, as many as pi has")
    return rules


def _offsets(keys: np.ndarray, n: int) -> np.ndarray:
    """Where each of n keys begins among sorted ones, and at last their number."""
    return np.append(0, np.cumsum(np.bincount(keys, minlength=n))).astype(np.int64)
