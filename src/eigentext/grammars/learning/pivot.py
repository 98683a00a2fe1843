r"""Pivot learning of latent-variable PCFGs: true probabilities, if states have pivots.

The method is that of [Cohen and Collins 2014]. Given the label and the state h of a node, the
features f of its inside tree and g of its outside tree are independent. If each state has a
*pivot*, an inside feature that no other state has, then

1. the means of the projected outside trees, :math:`v_f = E[V^\top \psi(o)|f] = \sum_h p(h|f) w_h`,
   have those of the pivots as corners, and p(h|f) are weights on them (``factor/anchors.py``);
2. a node's average :math:`\bar y` of p(h|f) over its features has
   :math:`E[\bar y|g] = \sum_h p(h|g) C_h`, where :math:`C_h = E[\bar y|h]`, an average of the
   p(·|f) by p(f|h), is known: p(h|g) are weights on these corners, in the same order of states;
3. t(h1, h2, h3 | a -> b c) maximizes the concave function

   .. math:: \sum \hat p(g, f_2, f_3) \log \sum_{h_1 h_2 h_3} t(h_1, h_2, h_3)\,
             s(g|h_1)\,r(f_2|h_2)\,r(f_3|h_3),

   summed over all templates of g, of f2 and of f3, with r and s by Bayes' rule. Steps of EM start
   from the solution for data without noise: :math:`E[\bar z\,\bar y_2\,\bar y_3]` times the
   inverses of the three C;
4. p(h|x) of words and p(h) at roots are found as p(h|f) and p(h|g) are.

Then rules and words are normalized for each state. Under the pivot assumption, the parameters are
the true ones up to the order of states (theorem 1 of the paper). Unlike those of ``spectral.py``
they are probabilities, on samples too, so EM can continue from them.

Figure 2 of the paper has pivots for the outside too, and a further step that matches the two sides.
Step 2 needs neither.

[Cohen and Collins 2014] S. Cohen and M. Collins, A provably correct learning algorithm for
latent-variable PCFGs, ACL 2014.
"""

from typing import Any, Literal, NamedTuple, overload

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.engine.spread import in_batches
from eigentext.factor.anchors import anchors, separations, simplex_weights
from eigentext.grammars import parameters as tables
from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import improve
from eigentext.grammars.learning.protocol import Learned, Task
from eigentext.grammars.learning.spectral import (
    BATCH,
    Projections,
    packed,
    projections,
    spectral_grammar,
)
from eigentext.grammars.learning.training import (
    Expectations,
    GrammarParameters,
    Smoothing,
    maximize,
)
from eigentext.grammars.treebank.features import Coded
from eigentext.grammars.treebank.normal_form import Treebank

_WORK = 1 << 22  # multiplications of one task
_TINY = np.finfo(float).tiny
_EPS = 1e-12  # the share of each word that all states get, so that no state is without words


def learn(task: Task, k: int) -> Learned:
    """Pivots; with the method "pivot+em", then EM (:func:`eigentext.grammars.learning.em.improve`).

    The history has "separations": for each label with several states, how far its pivots are apart.
    """
    settings = task.settings
    found = projections(task, k, noise=settings.noise)
    assert task.evidence is not None
    n_states = found.n_states(task.limits, settings.tolerance, settings.nodes_per_state)
    how = tables.constants(settings.pivots, "steps", tables.PIVOTS)
    start, separated = pivot(
        task.counted, task.evidence.features, found, n_states,
        least=how["least"], n_iter=int(how["steps"]), tol=how["tol"],
        smoothing=task.smoothing, return_diagnostics=True,
    )  # fmt: skip
    learned = improve(task, start)
    return learned._replace(history=separated | learned.history)


@overload
def pivot(
    counted: CountedTrees,
    features: tuple[Coded, Coded],
    projections: Projections,
    n_states: np.ndarray,
    *,
    least: float = ...,
    n_iter: int = ...,
    tol: float = ...,
    smoothing: Smoothing | None = ...,
    return_diagnostics: Literal[False] = ...,
) -> GrammarParameters: ...


@overload
def pivot(
    counted: CountedTrees,
    features: tuple[Coded, Coded],
    projections: Projections,
    n_states: np.ndarray,
    *,
    least: float = ...,
    n_iter: int = ...,
    tol: float = ...,
    smoothing: Smoothing | None = ...,
    return_diagnostics: Literal[True],
) -> tuple[GrammarParameters, dict[str, Any]]: ...


def pivot(
    counted: CountedTrees,
    features: tuple[Coded, Coded],
    projections: Projections,
    n_states: np.ndarray,
    *,
    least: float = 10.0,
    n_iter: int = 5,
    tol: float = 1e-9,
    smoothing: Smoothing | None = None,
    return_diagnostics: bool = False,
) -> GrammarParameters | tuple[GrammarParameters, dict[str, Any]]:
    """Estimate the probabilities of rules, words and roots by steps 1 to 4.

    Parameters
    ----------
    counted, features, projections
        The trees, the features of their nodes, and their nodes as vectors.
    n_states
        How many states to look for in each label, at most as many as it has directions. There are
        fewer if there are fewer corners.
    least
        A feature that fewer nodes of a label have cannot be a pivot: it may be far out by chance.
    n_iter, tol
        EM for each rule ends after `n_iter` steps, or when its log-likelihood is within `tol` of
        the maximum. A few steps make up for noise in the start. Many would fit the noise of rare
        rules.
    smoothing
        As at the end of a step of EM on trees.
    return_diagnostics
        Whether to return a dictionary too. For each label with several states it has the smallest
        distance of a pivot from the span of the others. If it is small, noise decides what the
        states are.
    """
    trees = counted.trees
    labels = label_states(counted, features, projections, n_states, least)
    with engine.phase("rules"), engine.one_blas_thread():
        grammar, states = _rules(counted, projections, labels, n_iter, tol)
    preterminals = labels[counted.treebank.n_inner :]
    lexical = np.concatenate([one.words.ravel() for one in preterminals])
    roots = np.concatenate([one.roots for one in labels])
    states = states + np.bincount(trees.lexical_states(grammar), lexical, len(states))
    counts = Expectations(float("nan"), grammar.tensor, lexical, roots, states)
    parameters = maximize(trees, grammar, counts, smoothing)
    return (parameters, _diagnostics(counted, labels)) if return_diagnostics else parameters


def _diagnostics(counted: CountedTrees, labels: list["LabelStates"]) -> dict[str, Any]:
    corners = {str(a): one.corners for a, one in zip(counted.treebank.symbols, labels)}
    nearest = {a: float(separations(w).min()) for a, w in corners.items() if len(w) > 1}
    return {"separations": nearest}


class FeatureTable:
    """The features of the nodes of one label. Each template gives every node one value.

    To have no value counts as a value, if other nodes of the label have values.

    Parameters
    ----------
    values : array, templates by nodes
        A negative number is no value.
    weights
        How often each node occurs.
    """

    def __init__(self, values: np.ndarray, weights: np.ndarray):
        used = values[(values >= 0).any(axis=1)]
        rows, first = [], [0]
        for row in used if len(used) else values[:1]:
            kinds, codes = np.unique(row, return_inverse=True)
            rows.append(first[-1] + codes)
            first.append(first[-1] + len(kinds))
        self.codes = np.stack(rows, axis=1)  # nodes by templates
        self.first, self.weights = np.array(first), weights
        n, k = self.codes.shape
        self.one_hot = sp.csr_array(
            (np.ones(n * k), self.codes.ravel(), np.arange(0, n * k + 1, k)), (n, first[-1])
        )
        self.counts = self.one_hot.T @ weights

    def expect(self, values: np.ndarray) -> np.ndarray:
        """E[values | f] for every feature f, given a row of values for each node."""
        return _divided(self.one_hot.T @ (self.weights[:, None] * values), self.counts)

    def average(self, p: np.ndarray) -> np.ndarray:
        """The mean of p(h|f) over the features of each node."""
        return self.one_hot @ p / self.codes.shape[1]

    def confusion(self, p: np.ndarray) -> np.ndarray:
        """E[that mean | h] for every state h."""
        joint = (self.counts[:, None] * p).T @ p
        return _divided(joint, joint.sum(axis=1))

    def ratios(self, p: np.ndarray) -> np.ndarray:
        """p(f|h) / p(f) = p(h|f) / p(h), with the p(h) that each template gives."""
        joint = np.add.reduceat(self.counts[:, None] * p, self.first[:-1])
        prior = (joint / self.weights.sum()).repeat(np.diff(self.first), axis=0)
        return np.divide(p, prior, out=np.ones_like(p), where=prior > _EPS)


class Side(NamedTuple):
    """What the features of one side tell about the states of the nodes of a label."""

    templates: FeatureTable
    p: np.ndarray  # p(h|f), a row for each feature
    average: np.ndarray  # the mean of p(h|f) over the features of each node
    confusion: np.ndarray  # the expectation of that mean in each state

    @classmethod
    def of(cls, templates: FeatureTable, p: np.ndarray) -> "Side":
        """One side of a label, from its features and their p(h|f)."""
        return cls(templates, p, templates.average(p), templates.confusion(p))

    def unmixed(self) -> np.ndarray:
        """A vector for each node whose expectation is one at its state and zero at the others."""
        return self.average @ np.linalg.pinv(self.confusion)


class LabelStates(NamedTuple):
    """What is known about the states of one label, except for its rules."""

    corners: np.ndarray  # the points of the pivots
    inside: Side
    outside: Side
    words: np.ndarray  # how often each word is in each state, if the label has words
    roots: np.ndarray  # how often the root is in each state


def label_states(
    counted: CountedTrees,
    features: tuple[Coded, Coded],
    projections: Projections,
    n_states: np.ndarray,
    least: float,
) -> list[LabelStates]:
    """Steps 1, 2 and 4 for all labels."""
    treebank, trees = counted.treebank, counted.trees
    word = np.full((1, len(treebank.label)), -1)
    word[0, treebank.left < 0] = trees.pair_of_token
    at_root = np.zeros(len(treebank.label))
    at_root[treebank.offsets[1:] - 1] = 1

    known = (
        _Label(
            features[0].values[:, nodes],
            features[1].values[:, nodes],
            word[:, nodes],
            projections.weights[nodes],
            projections.outside[a][:, : n_states[a]],
            at_root[nodes],
        )
        for a, nodes in enumerate(projections.nodes)
    )
    with engine.phase("pivots", len(n_states), "labels") as advance, engine.one_blas_thread():
        labels = []
        for one in in_batches(
            engine.workers(), _label_states, known, least, weigh=lambda a: len(a[-1]), size=BATCH
        ):
            labels.append(one)
            advance(1)
    return labels


class _Label(NamedTuple):
    """The data of the nodes of one label."""

    inside: np.ndarray  # the values of the templates, one row for each template
    outside: np.ndarray
    word: np.ndarray
    weights: np.ndarray
    projected: np.ndarray  # V^T psi, with as many directions as there are states to look for
    at_root: np.ndarray


def _label_states(label: _Label, least: float) -> LabelStates:
    *sides, weights, projected, at_root = label
    below, above, words = (FeatureTable(values, weights) for values in sides)
    v = below.expect(projected)
    corners = v[_pivots(v, below.counts >= least, projected.shape[1])]
    p, in_words = _weights(corners, v, words.expect(projected))
    inside = Side.of(below, p)
    roots = weights * at_root
    of_roots = roots @ inside.average / max(roots.sum(), _TINY)
    q, in_roots = _weights(inside.confusion, above.expect(inside.average), of_roots[None])
    return LabelStates(
        corners,
        inside,
        Side.of(above, q),
        words.counts[:, None] * (in_words + _EPS),
        roots.sum() * in_roots[0],
    )


def _pivots(v: np.ndarray, frequent: np.ndarray, m: int) -> np.ndarray:
    """The corners among the points of frequent features; any point if the label has one state."""
    m = min(m, int(frequent.sum()))
    return anchors(v, m, candidates=frequent, fewer=True) if m > 1 else np.zeros(1, np.int64)


def _weights(corners: np.ndarray, *points: np.ndarray) -> list[np.ndarray]:
    """The weights of points on corners."""
    every = np.vstack(points)
    weights = simplex_weights(every, corners) if len(corners) > 1 else np.ones((len(every), 1))
    return np.split(weights, np.cumsum([len(part) for part in points])[:-1])


def _rules(
    counted: CountedTrees,
    projections: Projections,
    labels: list[LabelStates],
    n_iter: int,
    tol: float,
) -> tuple[Grammar, np.ndarray]:
    """Step 3: a grammar of expected counts, and the counts of the states of its labels."""
    from eigentext.grammars.learning._pivot_loops import likeliest_rules

    treebank = counted.treebank
    inside, outside = [one.inside for one in labels], [one.outside for one in labels]
    y, z = ([one.average for one in side] for side in (inside, outside))
    average = _averages(treebank, projections, y, z)
    y, z = ([one.unmixed() for one in side] for side in (inside, outside))
    grammar = _averages(treebank, projections, y, z)
    r_at, r = _tables(inside, projections.nodes)
    s_at, s = _tables(outside, projections.nodes)

    rules, sizes = grammar.rules, grammar.sizes
    inner = np.flatnonzero(treebank.left >= 0)
    nodes = inner[np.argsort(treebank.rule[inner], kind="stable")]
    members, sum_offsets = starts(rules.counts), starts(sizes[:, 2])
    sums = np.empty(sum_offsets[-1])

    def work(block: tuple[int, int]) -> None:
        likeliest_rules(
            *block, members, nodes, treebank.left, treebank.right, projections.weights, sizes,
            grammar.tensor_offsets, r_at, r, s_at, s, average.tensor, n_iter, tol, grammar.tensor,
            sums, sum_offsets,
        )  # fmt: skip

    multiplications = starts(rules.counts * sizes.prod(axis=1) * s_at.shape[1])
    for _ in engine.current().map(work, engine.even_blocks(multiplications, _WORK)):
        pass
    parents = grammar.states_of(rules.parent)
    return grammar, np.bincount(parents, sums, grammar.state_offsets[-1])


def _averages(
    treebank: Treebank, projections: Projections, y: list[np.ndarray], z: list[np.ndarray]
) -> Grammar:
    """E[y2 y3 z] of each rule: the averages of ``spectral.py`` for any y and z."""
    n_states = np.array([one.shape[1] for one in y])
    ones = [np.ones(m) for m in n_states]
    rows = Projections(projections.nodes, ones, y, z, projections.weights)
    vectors = packed(treebank.label, rows, n_states)
    return spectral_grammar(treebank, projections.weights, n_states, vectors)


def _tables(sides: list[Side], nodes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Where the rows of each node begin among r(f|h) / p(f) of all features; -1 for no row."""
    rows = [side.templates.ratios(side.p).ravel() for side in sides]
    first = starts(np.array([len(row) for row in rows]))
    widest = max(side.templates.codes.shape[1] for side in sides)
    at = np.full((sum(map(len, nodes)), widest), -1, np.int64)
    for (templates, p, *_), of_label, start in zip(sides, nodes, first):
        at[of_label, : templates.codes.shape[1]] = start + templates.codes * p.shape[1]
    return at, np.concatenate(rows)


def _divided(x: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Divide each row by a number. Division by zero gives zero."""
    return np.divide(x, by[:, None], out=np.zeros_like(x), where=by[:, None] > 0)
