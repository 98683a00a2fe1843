r"""The best derivations of a packed forest, by whatever is thought best.

Items :math:`(a, i, j)` and edges :math:`a \to b\,c` over :math:`i, k, j` have scores that add up;
the best tree below each item follows from those of its children,

.. math:: s(v) = s_v + \max_{e = (b, c) \in v} \left( s_e + s(b) + s(c) \right),

and latent states, already summed out, have no part in it. Which scores, is the question:

* :func:`viterbi_scores`: log-probabilities of rules, the most probable tree of a PCFG;
* :func:`minimum_bayes_risk`: the marginals :math:`\mu(a, i, j)`, whose sum over a tree is the
  number of its labelled spans expected to be right (Goodman, "Parsing algorithms and metrics",
  ACL 1996);
* :func:`max_rule_scores`: logs of the posteriors :math:`r(a \to b\,c, i, k, j)`, the tree most
  probable if rules were drawn one by one (Petrov and Klein, "Improved inference for
  unlexicalized parsing", NAACL 2007);
* :func:`best` and :func:`k_best` take any; the latter is exact and lazy (Huang and Chiang,
  "Better k-best parsing", IWPT 2005, algorithm 3).

A score of -inf forbids. Of equal scores the first root and the first edge win.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eigentext.errors import ParameterError
from eigentext.grammars.chart.forest import Forest

if TYPE_CHECKING:
    from eigentext.grammars.treebank.normal_form import Symbol

_LEAST = np.finfo(np.float64).tiny  # a posterior, so that its log is finite


class Derivation(NamedTuple):
    """One tree of a forest, its nodes in post-order: children before parents, the root last.

    Attributes
    ----------
    item, edge
        Of each node in the forest; leaves have no edge (-1).
    left, right
        The nodes of the two children, -1 at leaves.

    Notes
    -----
    ``restore(symbols, forest.label[item], left, right, tokens)`` is the tree
    (:func:`~eigentext.grammars.treebank.normal_form.restore`).
    """

    item: np.ndarray
    edge: np.ndarray
    left: np.ndarray
    right: np.ndarray


class Scores(NamedTuple):
    """Of every item, edge and root of a forest, to be added up."""

    items: np.ndarray
    edges: np.ndarray
    roots: np.ndarray | None


class Brackets(NamedTuple):
    """What each symbol says of its span, as CSR: names numbered so that brackets come before tags.

    Attributes
    ----------
    offsets, names
        ``names[offsets[a]:offsets[a + 1]]`` are those of symbol ``a``.
    n_brackets
        Names from this on are tags.
    """

    offsets: np.ndarray
    names: np.ndarray
    n_brackets: int


def brackets(symbols: "Sequence[Symbol]", by: str = "bracket") -> Brackets:
    """The names by which :func:`minimum_bayes_risk` knows a span to be right.

    Parameters
    ----------
    symbols
        Of the grammar.
    by : "bracket" | "node" | "symbol"
        "bracket": every label of a unary chain is a bracket; what is remembered of parents does
        not count, and intermediate nodes are none. A label that a chain has twice is two brackets,
        as in EVALB. "node": a chain is right as a whole, with what it remembers of its parents.
        "symbol": intermediate nodes count as well (Goodman on the binarised grammar). The tag of
        a preterminal, or its whole symbol, is a tag and no bracket.
    """
    if by not in ("bracket", "node", "symbol"):
        raise ParameterError(f'by is "bracket", "node" or "symbol", not {by!r}')
    rows = []
    for symbol in symbols:
        chain: tuple = symbol.chain if by == "bracket" else (symbol,)
        if symbol.siblings is not None and by != "symbol":
            chain = ()
        row = [(x, chain[:n].count(x)) for n, x in enumerate(chain)]
        if symbol.preterminal:
            row[-1] = (chain[-1], -1)
        rows.append(row)
    names = sorted(dict.fromkeys(x for row in rows for x in row), key=lambda x: x[1] < 0)
    number = {x: n for n, x in enumerate(names)}
    return Brackets(
        offsets=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        names=np.array([number[x] for row in rows for x in row], np.int32),
        n_brackets=sum(nth >= 0 for _, nth in names),
    )


def best(
    forest: Forest,
    item_scores: np.ndarray | None,
    edge_scores: np.ndarray | None = None,
    root_scores: np.ndarray | None = None,
) -> Derivation | None:
    """The derivation with the largest sum of scores; None if there is none above -inf.

    Parameters
    ----------
    forest
        Of one sentence.
    item_scores, edge_scores, root_scores
        Of every item, edge, and root in ``forest.roots``; None for zeros.

    Examples
    --------
    Two trees over three words: the items 0, 1, 2 are words, 3 and 4 their pairs, 5 is the root.

    >>> import numpy as np
    >>> from eigentext.grammars.chart.forest import Forest
    >>> from eigentext.grammars.chart.decoding import best, k_best
    >>> forest = Forest(
    ...     label=np.array([1, 1, 1, 0, 0, 0]),
    ...     start=np.array([0, 1, 2, 0, 1, 0]),
    ...     end=np.array([1, 2, 3, 2, 3, 3]),
    ...     groups=np.array([0, 0, 0, 0, 1, 2, 4]),
    ...     rule=np.array([2, 2, 0, 1]),
    ...     edges=np.array([0, 1, 2, 3, 4]),
    ...     left=np.array([0, 1, 3, 0]),
    ...     right=np.array([1, 2, 2, 4]),
    ...     roots=np.array([5]),
    ... )
    >>> scores = np.array([0, 0, 0, 0.4, 0.6, 1])
    >>> best(forest, scores).item
    array([0, 1, 2, 4, 5], dtype=int32)
    >>> [score for score, derivation in k_best(forest, scores, k=9)]
    [1.6, 1.4]
    """
    from eigentext.grammars.chart._decoding_loops import EDGE, LEFT, best_edges

    records, _ = best_edges(*_rooted(forest, item_scores, edge_scores, root_scores))
    return None if records[-1, EDGE] < 0 else _unfolded(forest, records, records[-1, LEFT])


def k_best(
    forest: Forest,
    item_scores: np.ndarray | None,
    edge_scores: np.ndarray | None = None,
    root_scores: np.ndarray | None = None,
    k: int = 1,
) -> list[tuple[float, Derivation]]:
    """The k derivations with the largest sums of scores, best first; fewer if there are no more.

    The first is that of :func:`best`, and those at -inf are left out. The second best and on are
    looked for only where they may be needed: a few are nearly free, and k may be large.
    """
    from eigentext.grammars.chart._decoding_loops import EDGE, LEFT, NEXT, best_edges, next_best

    if k < 1:
        raise ParameterError(f"k is {k}: ask for one derivation or more")
    rooted = _rooted(forest, item_scores, edge_scores, root_scores)
    records, scores = best_edges(*rooted)
    top = len(records) - 1
    if records[top, EDGE] < 0:
        return []
    records, scores, found = next_best(*rooted, records, scores, k)
    answers = []
    for _ in range(found):
        answers.append((float(scores[top]), _unfolded(forest, records, records[top, LEFT])))
        top = records[top, NEXT]
    return answers


def viterbi_scores(
    forest: Forest,
    rule_log_probability: np.ndarray,
    lexical_log_probability: np.ndarray,
    root_log_probability: np.ndarray | None = None,
) -> Scores:
    """What :func:`best` and :func:`k_best` need to find the most probable derivations of a PCFG.

    Parameters
    ----------
    forest
        Of one sentence.
    rule_log_probability
        log t(a -> b c | a) of each rule of the grammar.
    lexical_log_probability
        log q(a -> x | a) of each item; those of several words do not count.
    root_log_probability
        log pi(a) of each root in ``forest.roots``; None for zeros.
    """
    edge_scores = np.repeat(rule_log_probability[forest.rule], np.diff(forest.edges))
    item_scores = _at_words(forest, lexical_log_probability)
    return Scores(item_scores, edge_scores, root_log_probability)


def max_rule_scores(
    forest: Forest,
    edge_posteriors: np.ndarray,
    lexical_posteriors: np.ndarray,
    root_posteriors: np.ndarray | None = None,
) -> Scores:
    """What finds derivations with the largest product of posteriors of rules, given the sentence.

    Parameters
    ----------
    forest
        Of one sentence.
    edge_posteriors : array, shape (n_edges,) or (n_models, n_edges)
        Latent states summed out; those of several models are multiplied.
    lexical_posteriors : array, shape (n_items,) or (n_models, n_items)
        The same of a -> x; items of several words do not count.
    root_posteriors : array, shape (n_roots,) or (n_models, n_roots), or None
        The same of each root in ``forest.roots``, if it is to count.

    Posteriors that rounding left at zero or below count as the least number: a tree with few such
    rules is better than one with many, and better than none.
    """
    return Scores(
        _at_words(forest, _logs(lexical_posteriors)),
        _logs(edge_posteriors),
        None if root_posteriors is None else _logs(root_posteriors),
    )


def minimum_bayes_risk(
    forest: Forest,
    marginals: np.ndarray,
    table: Brackets,
    *,
    tau: float = 0.0,
    tags: float = 1.0,
) -> Derivation | None:
    r"""The derivation with the most names expected to be right, less `tau` for each bracket.

    .. math:: \sum_{(X, i, j)} (\mu(X, i, j) - \tau) + \text{tags} \sum_{(T, i)} \mu(T, i),
       \qquad \mu(X, i, j) = \sum_{a \ni X} \mu(a, i, j)

    over the brackets X and tags T that the tree's symbols stand for.

    Parameters
    ----------
    forest
        Of one sentence.
    marginals : array, shape (n_items,) or (n_models, n_items)
        The probability of each item given the sentence; the mean of several models is taken.
    table
        The names of each symbol, from :func:`brackets`.
    tau
        At 0 labelled recall is the largest; above, only brackets more probable than `tau` are
        worth having, which is precision's side.
    tags
        What a right tag is worth, for a bracket's 1.
    """
    mu = _checked("items", np.atleast_2d(marginals).mean(axis=0), len(forest.label))
    counts = np.diff(table.offsets)[forest.label]
    item = np.repeat(np.arange(len(counts)), counts)
    shift = table.offsets[forest.label] - (np.cumsum(counts) - counts)
    name = table.names[np.arange(len(item)) + shift[item]]
    span = forest.start * (forest.end.max(initial=0) + np.int64(1)) + forest.end
    _, place = np.unique(span[item] * (name.max(initial=0) + 1) + name, return_inverse=True)
    expected = np.bincount(place, mu[item])[place]
    worth = np.where(name < table.n_brackets, expected - tau, tags * expected)
    return best(forest, np.bincount(item, worth, len(counts)))


def count_derivations(forest: Forest) -> int:
    """How many derivations there are, exactly."""
    bounds, left, right = (x.tolist() for x in (_bounds(forest), forest.left, forest.right))
    counts: list[int] = []
    for first, end in pairwise(bounds):
        below = sum(counts[left[e]] * counts[right[e]] for e in range(first, end))
        counts.append(below if end > first else 1)
    return sum(counts[root] for root in forest.roots.tolist())


def enumerate_derivations(forest: Forest) -> Iterator[Derivation]:
    """Every derivation, by root, then edge, then those of the left child, then of the right."""
    bounds, left, right = (x.tolist() for x in (_bounds(forest), forest.left, forest.right))

    def grow(item: int, place: int) -> Iterator[list[tuple[int, ...]]]:
        if bounds[item] == bounds[item + 1]:
            yield [(item, -1, -1, -1)]
        for e in range(bounds[item], bounds[item + 1]):
            for b in grow(left[e], place):
                middle = place + len(b)
                for c in grow(right[e], middle):
                    yield [*b, *c, (item, e, middle - 1, middle + len(c) - 1)]

    for root in forest.roots.tolist():
        for nodes in grow(root, 0):
            yield Derivation(*np.array(nodes, np.int32).T)


def _bounds(forest: Forest) -> np.ndarray:
    """``bounds[i]:bounds[i + 1]`` are the edges of item ``i``, whatever their rule."""
    return forest.edges[forest.groups]


def _rooted(
    forest: Forest,
    item_scores: np.ndarray | None,
    edge_scores: np.ndarray | None,
    root_scores: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A forest with an empty item and a top, as kernels take it."""
    n_items, n_edges, n_roots = len(forest.label), len(forest.left), len(forest.roots)
    items = _checked("items", item_scores, n_items)
    edges = _checked("edges", edge_scores, n_edges)
    roots = _checked("roots", root_scores, n_roots)
    return (
        np.concatenate((_bounds(forest), [n_edges, n_edges + n_roots]), dtype=np.int64),
        np.concatenate((forest.left, forest.roots), dtype=np.int64),
        np.concatenate((forest.right, np.full(n_roots, n_items)), dtype=np.int64),
        np.concatenate((items, [0.0, 0.0])),
        np.concatenate((edges, roots)),
    )


def _checked(what: str, scores: np.ndarray | None, n: int) -> np.ndarray:
    if scores is None:
        return np.zeros(n)
    scores = np.asarray(scores, np.float64)
    if scores.shape != (n,):
        raise ParameterError(f"scores of {n} {what} have the shape {scores.shape}: give one each")
    if not (scores < np.inf).all():
        raise ParameterError(f"scores of {what} hold NaN or inf: give numbers, or -inf to forbid")
    return scores


def _unfolded(forest: Forest, records: np.ndarray, d: int) -> Derivation:
    from eigentext.grammars.chart._decoding_loops import ITEM, unfold

    width = forest.end - forest.start
    derivation = Derivation(*np.empty((4, 2 * width[records[d, ITEM]] - 1), np.int32))
    unfold(records, d, width, *derivation)
    return derivation


def _at_words(forest: Forest, scores: np.ndarray) -> np.ndarray:
    return np.where(forest.end - forest.start == 1, scores, 0.0)


def _logs(posteriors: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(np.atleast_2d(posteriors), _LEAST)).sum(axis=0)
