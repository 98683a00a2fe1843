r"""The best trees of a packed forest, by several scores.

Items :math:`(a, i, j)` and edges :math:`a \to b\,c` over :math:`i, k, j` have scores that add up.
The best tree below an item follows from the best trees below its children:

.. math:: s(v) = s_v + \max_{e = (b, c) \in v} \left( s_e + s(b) + s(c) \right),

Latent states were summed out before. There are three kinds of scores:

* :func:`viterbi_scores` are log-probabilities of rules. They give the most probable tree of a PCFG.
* :func:`minimum_bayes_risk` uses the marginals :math:`\mu(a, i, j)`. Their sum over a tree is the
  expected number of its labeled spans that are right [Goodman 1996].
* :func:`max_rule_scores` are logs of the posteriors :math:`r(a \to b\,c, i, k, j)`. They give the
  tree that is most probable if rules are drawn one by one [Petrov and Klein 2007].

:func:`best` and :func:`k_best` take any of them. The latter is exact and lazy: algorithm 3 of
[Huang and Chiang 2005]. A score of -inf forbids an item or an edge. Of equal scores, the first root
and the first edge win. A :class:`Decoder` chooses the tree that a parser returns.

[Goodman 1996] J. Goodman, Parsing algorithms and metrics, ACL 1996.

[Petrov and Klein 2007] S. Petrov and D. Klein, Improved inference for unlexicalized parsing, NAACL
2007.

[Huang and Chiang 2005] L. Huang and D. Chiang, Better k-best parsing, IWPT 2005.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from eigentext.corpus.trees import Tree
from eigentext.errors import ParameterError
from eigentext.grammars.chart.cascade import Cascade, Reading
from eigentext.grammars.chart.forest import ParseForest
from eigentext.grammars.treebank.normal_form import Symbol, restore
from eigentext.parameters import Settings

_LEAST = np.finfo(np.float64).tiny  # the least posterior, so that its log is finite
_LARGEST_TAU = 1e9  # a model file may have any


class Derivation(NamedTuple):
    """One tree of a forest, its nodes in post-order: children before parents, the root last.

    Attributes
    ----------
    item, edge
        The item and the edge of each node in the forest. The edge of a leaf is -1.
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
    """The scores of every item, edge and root of a forest. The score of a tree is their sum."""

    items: np.ndarray
    edges: np.ndarray
    roots: np.ndarray | None


class Brackets(NamedTuple):
    """The names that each symbol gives its span, as numbers. Brackets come before tags.

    Attributes
    ----------
    offsets, names
        ``names[offsets[a]:offsets[a + 1]]`` are the names of symbol ``a``.
    n_brackets
        Names from this number on are tags.
    """

    offsets: np.ndarray
    names: np.ndarray
    n_brackets: int


@dataclass(frozen=True)
class Decoder:
    """Chooses the tree of a sentence, given the marginals that a cascade found.

    Attributes
    ----------
    cascade
        The grammars.
    table
        The brackets of their symbols.
    decoding, tau, mbr
        The parameters of :class:`~eigentext.PCFG`.
    negative
        What becomes of negative marginals: "abs", "clip" or "none" (see
        :class:`~eigentext.LatentPCFG`). A PCFG has no negative marginals.
    """

    cascade: Cascade
    table: Brackets
    decoding: str
    tau: float
    negative: str = "none"
    mbr: str = "bracket"

    @classmethod
    def of(cls, cascade: Cascade, settings: Settings, table: Brackets | None = None) -> "Decoder":
        """A decoder by the parameters of an estimator."""
        by = settings.mbr
        table = brackets(cascade.symbols, by) if table is None else table
        negative = getattr(settings, "negative", "none")
        tau = min(settings.tau, _LARGEST_TAU)
        return cls(cascade, table, settings.decoding, tau, negative, by)

    def tree(self, reading: Reading, words: Sequence[str]) -> Tree:
        """The tree to choose from a reading."""
        if reading.problem is not None:
            return self.fallback(reading, words)
        if self.decoding == "mbr":
            marginals = self.signed(reading.items, reading.sign)
            table = self.table
            if reading.levels is not None:
                table = brackets(reading.symbols, self.mbr)
            found = minimum_bayes_risk(reading.forest, marginals, table, tau=self.tau)
        else:
            found = best(reading.forest, *self.scores(reading, words, self.decoding))
        return restored(reading, found, words)

    def scores(self, reading: Reading, words: Sequence[str], decoding: str) -> Scores:
        """Logs of the probabilities of rules; of their posteriors with hidden states or "max-rule".

        With hidden states, finding the most probable tree is intractable.
        """
        forest, levels = reading.forest, reading.levels or self.cascade.levels
        level, grammar = levels[0], levels[0].grammar
        if decoding == "viterbi" and len(levels) == 1 and grammar.n_states.max() == 1:
            with np.errstate(divide="ignore"):
                lexical = np.zeros(len(forest.label))
                lexical[np.diff(forest.groups) == 0] = np.log(level.leaf_scores(forest, words))
                roots = np.log(grammar.root[forest.label[forest.roots]])
                return viterbi_scores(forest, np.log(grammar.tensor), lexical, roots)
        edges, items = (self.signed(x, reading.sign) for x in (reading.edges, reading.items))
        return max_rule_scores(forest, np.maximum(edges, 0.0), np.maximum(items, 0.0))

    def fallback(self, reading: Reading, words: Sequence[str]) -> Tree:
        """The best tree by the coarse grammar, or the best trees of its pieces below one root."""
        forest, scores, pieces = reading.forest, reading.items, []
        if (forest.end[forest.roots] - forest.start[forest.roots] == len(words)).all():
            return restored(reading, best(forest, scores), words)
        for root in forest.roots.tolist():
            found = best(forest._replace(roots=np.array([root], np.int32)), scores)
            part = words[int(forest.start[root]) : int(forest.end[root])]
            pieces.append(restored(reading, found, part))
        return Tree(self._usual_root(), pieces)

    def signed(self, marginals: np.ndarray, sign: float) -> np.ndarray:
        """Marginals as they are decoded, if the probability of the sentence has this sign."""
        match self.negative:
            case "abs":
                return np.abs(marginals)
            case "clip":
                return np.maximum(marginals, 0.0)
            case _:
                return sign * marginals

    def _usual_root(self) -> str:
        symbols, pi = self.cascade.plain_symbols, self.cascade.coarse.grammar.root
        inner = [not symbol.preterminal for symbol in symbols]
        return symbols[int(np.where(inner, pi, -1.0).argmax())].chain[0]


def restored(reading: Reading, found: Derivation | None, words: Sequence[str]) -> Tree:
    """The tree of a derivation."""
    if found is None:
        raise ValueError("the forest of this reading has no derivation")
    labels = reading.forest.label[found.item]
    return restore(reading.symbols, labels, found.left, found.right, words)


def brackets(symbols: Sequence[Symbol], by: str = "bracket") -> Brackets:
    """The names by which :func:`minimum_bayes_risk` knows a span to be right.

    Parameters
    ----------
    symbols
        The symbols of the grammar.
    by : "bracket" | "node" | "symbol"
        "bracket": every label of a unary chain is a bracket. What it remembers of its parents does
        not count, and intermediate nodes are not brackets. A label that a chain has twice is two
        brackets, as in EVALB. "node": a chain is right as a whole, with what it remembers of its
        parents. "symbol": intermediate nodes count as well ([Goodman 1996] on the binarized
        grammar). The tag of a preterminal, or its whole symbol, is a tag, not a bracket.
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
    forest: ParseForest,
    item_scores: np.ndarray | None,
    edge_scores: np.ndarray | None = None,
    root_scores: np.ndarray | None = None,
) -> Derivation | None:
    """The derivation with the largest sum of scores; None if no sum is above -inf.

    Parameters
    ----------
    forest
        The forest of one sentence.
    item_scores, edge_scores, root_scores
        The scores of every item, edge, and root in ``forest.roots``; None for zeros.

    Examples
    --------
    Two trees over three words: the items 0, 1, 2 are words, 3 and 4 their pairs, 5 is the root.

    >>> import numpy as np
    >>> from eigentext.grammars.chart.forest import ParseForest
    >>> from eigentext.grammars.chart.decoding import best, k_best
    >>> forest = ParseForest(
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
    forest: ParseForest,
    item_scores: np.ndarray | None,
    edge_scores: np.ndarray | None = None,
    root_scores: np.ndarray | None = None,
    k: int = 1,
) -> list[tuple[float, Derivation]]:
    """The k derivations with the largest sums of scores, best first; fewer if there are no more.

    The first is that of :func:`best`. Derivations with a score of -inf are left out. Further
    derivations of an item are computed only if they may be needed, so that a small k costs almost
    nothing and k may be large.
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
    forest: ParseForest,
    rule_log_probability: np.ndarray,
    lexical_log_probability: np.ndarray,
    root_log_probability: np.ndarray | None = None,
) -> Scores:
    """The scores with which :func:`best` and :func:`k_best` find the most probable trees of a PCFG.

    Parameters
    ----------
    forest
        The forest of one sentence.
    rule_log_probability
        log t(a -> b c | a) of each rule of the grammar.
    lexical_log_probability
        log q(a -> x | a) of each item. Values of items over several words are ignored.
    root_log_probability
        log pi(a) of each root in ``forest.roots``; None for zeros.
    """
    edge_scores = np.repeat(rule_log_probability[forest.rule], np.diff(forest.edges))
    item_scores = _at_words(forest, lexical_log_probability)
    return Scores(item_scores, edge_scores, root_log_probability)


def max_rule_scores(
    forest: ParseForest,
    edge_posteriors: np.ndarray,
    lexical_posteriors: np.ndarray,
    root_posteriors: np.ndarray | None = None,
) -> Scores:
    """The scores that give the trees with the largest product of the posteriors of their rules.

    Parameters
    ----------
    forest
        The forest of one sentence.
    edge_posteriors : array, shape (n_edges,) or (n_models, n_edges)
        The posteriors of edges, with latent states summed out. Those of several models are
        multiplied.
    lexical_posteriors : array, shape (n_items,) or (n_models, n_items)
        The posteriors of a -> x. Values of items over several words are ignored.
    root_posteriors : array, shape (n_roots,) or (n_models, n_roots), or None
        The posteriors of the roots in ``forest.roots``, if they count.

    Posteriors at zero or below, which rounding may cause, count as the least positive number. So a
    tree with few such rules is better than one with many, and any tree is better than none.
    """
    return Scores(
        _at_words(forest, _logs(lexical_posteriors)),
        _logs(edge_posteriors),
        None if root_posteriors is None else _logs(root_posteriors),
    )


def minimum_bayes_risk(
    forest: ParseForest,
    marginals: np.ndarray,
    table: Brackets,
    *,
    tau: float = 0.0,
    tags: float = 1.0,
) -> Derivation | None:
    r"""The derivation with the largest expected number of right names, less `tau` for each bracket.

    .. math:: \sum_{(X, i, j)} (\mu(X, i, j) - \tau) + \text{tags} \sum_{(T, i)} \mu(T, i),
       \qquad \mu(X, i, j) = \sum_{a \ni X} \mu(a, i, j)

    over the brackets X and tags T that the tree's symbols stand for.

    Parameters
    ----------
    forest
        The forest of one sentence.
    marginals : array, shape (n_items,) or (n_models, n_items)
        The probability of each item given the sentence. Those of several models are averaged.
    table
        The names of each symbol, from :func:`brackets`.
    tau
        0 maximizes labeled recall. With a larger value, only brackets more probable than `tau` are
        worth having, which favors precision.
    tags
        The worth of a right tag. A right bracket is worth 1.
    """
    return best(forest, bracket_scores(forest, marginals, table, tau=tau, tags=tags))


def bracket_scores(
    forest: ParseForest,
    marginals: np.ndarray,
    table: Brackets,
    *,
    tau: float = 0.0,
    tags: float = 1.0,
) -> np.ndarray:
    """The scores of items that :func:`minimum_bayes_risk` adds up; the parameters are its own."""
    mu = _checked("items", np.atleast_2d(marginals).mean(axis=0), len(forest.label))
    counts = np.diff(table.offsets)[forest.label]
    item = np.repeat(np.arange(len(counts)), counts)
    shift = table.offsets[forest.label] - (np.cumsum(counts) - counts)
    name = table.names[np.arange(len(item)) + shift[item]]
    span = forest.start * (forest.end.max(initial=0) + np.int64(1)) + forest.end
    _, place = np.unique(span[item] * (name.max(initial=0) + 1) + name, return_inverse=True)
    expected = np.bincount(place, mu[item])[place]
    worth = np.where(name < table.n_brackets, expected - tau, tags * expected)
    return np.bincount(item, worth, len(counts))


def count_derivations(forest: ParseForest) -> int:
    """The exact number of derivations."""
    bounds, left, right = (x.tolist() for x in (_bounds(forest), forest.left, forest.right))
    counts: list[int] = []
    for first, end in pairwise(bounds):
        below = sum(counts[left[e]] * counts[right[e]] for e in range(first, end))
        counts.append(below if end > first else 1)
    return sum(counts[root] for root in forest.roots.tolist())


def enumerate_derivations(forest: ParseForest) -> Iterator[Derivation]:
    """All derivations, by root, then edge, then those of the left and of the right child."""
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


def _bounds(forest: ParseForest) -> np.ndarray:
    """``bounds[i]:bounds[i + 1]`` are the edges of item ``i``, for all rules."""
    return forest.edges[forest.groups]


def _rooted(
    forest: ParseForest,
    item_scores: np.ndarray | None,
    edge_scores: np.ndarray | None,
    root_scores: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A forest with an empty item and a top item, as the compiled loops take it."""
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


def _unfolded(forest: ParseForest, records: np.ndarray, d: int) -> Derivation:
    from eigentext.grammars.chart._decoding_loops import ITEM, unfold

    width = forest.end - forest.start
    derivation = Derivation(*np.empty((4, 2 * width[records[d, ITEM]] - 1), np.int32))
    unfold(records, d, width, *derivation)
    return derivation


def _at_words(forest: ParseForest, scores: np.ndarray) -> np.ndarray:
    return np.where(forest.end - forest.start == 1, scores, 0.0)


def _logs(posteriors: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(np.atleast_2d(posteriors), _LEAST)).sum(axis=0)
