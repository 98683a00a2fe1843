"""Hidden states by clustering: probabilities from spectral projections, for EM to go on from [1]_.

In the projections of ``_spectral.py`` the inside and the outside tree of a node are vectors, whose
parts vary together by the singular values sigma. What they have in common is the state of the node,
and what is known of it from both is, but for its length, as in probabilistic CCA [2]_,

    sigma^1/2 (U^T phi(t) + V^T psi(o)).

For each label, k-means of these directions gives every node a state; the treebank then shows its
states, and relative frequencies of rules and words, smoothed, are proper probabilities. It is as if
the clusters were an E step and the frequencies the M step, so that EM need not spend most of its
steps on finding out what states there are. Lengths do not count: those of nodes with rare features
are large, and would make clusters of a few nodes.

.. [1] S. Narayan and S. Cohen, Diversity in spectral learning for natural language parsing, EMNLP
   2015.
.. [2] F. Bach and M. Jordan, A probabilistic interpretation of canonical correlation analysis,
   2005.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eigentext import engine
from eigentext.engine.spread import in_batches
from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.learning.learner import Learner
from eigentext.grammars.learning.spectral import BATCH, Projections
from eigentext.grammars.learning.training import Expectations, Parameters, Smoothing, maximize

_STEPS = 20  # of k-means, at most: the last ones move few nodes
_CANDIDATES = 3  # for each centre to begin with, of which the best is taken


def cluster_start(
    learner: Learner,
    projections: Projections,
    n_states: np.ndarray,
    *,
    smoothing: Smoothing | None = None,
    rng: np.random.Generator,
) -> Parameters:
    """Relative frequencies of rules and words, where the states of nodes are clusters.

    Parameters
    ----------
    learner, projections
        The trees, and their nodes as vectors.
    n_states
        How many clusters to look for in the nodes of each label. There will be fewer where fewer
        nodes differ.
    smoothing
        As in a step of EM. Without it, what no node shows stays at zero in all further steps.
    rng
        Of the nodes that clusters begin with.
    """
    sizes, state = cluster(projections, n_states, rng)
    trees = learner.trees
    grammar = Grammar(trees.rules, sizes, np.empty(0), np.empty(0))
    return maximize(trees, grammar, count_states(learner, grammar, state), smoothing)


def cluster(
    projections: Projections, n_states: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """How many clusters each label has, and that of each node, by falling size."""
    seeds = rng.integers(1 << 63, size=len(n_states))  # so that labels may go to any thread

    views = projections.singular_values, projections.inside, projections.outside
    labels = zip(*views, n_states.tolist(), seeds)
    state = np.empty(sum(map(len, projections.nodes)), np.int64)
    sizes = np.ones_like(n_states)
    with (
        engine.phase("clusters", len(n_states), "labels") as advance,
        engine.one_blas_thread(),
    ):
        found = in_batches(
            engine.workers(), _cluster_label, labels, weigh=lambda a: len(a[1]), size=BATCH
        )
        for a, (nodes, clusters) in enumerate(zip(projections.nodes, found)):
            state[nodes] = clusters
            sizes[a] = clusters.max(initial=0) + 1
            advance(1)
    return sizes, state


def _cluster_label(label: tuple[np.ndarray, np.ndarray, np.ndarray, int, Any]) -> np.ndarray:
    """The cluster of each node of a label."""
    *views, k, seed = label
    return k_means(directions(*views), k, np.random.default_rng(seed))


def directions(s: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """What both views say of each node, a row of length one (or zero, where they say nothing)."""
    rows = np.sqrt(s) * (inside + outside)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def k_means(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """The cluster of each row, 0, 1, … by falling size; rows have length one or zero.

    Lloyd's steps from the centres of :func:`spread`. Centres are means; where clusters lose all of
    their rows there are fewer than `k`.
    """
    centres = rows[spread(rows, k, rng)]
    cluster = np.full(len(rows), -1)
    for _ in range(_STEPS):
        # |x - c|^2 / 2 without |x|^2, which is the same for all centres.
        distances = np.einsum("ij,ij->i", centres, centres) / 2 - rows @ centres.T
        before, cluster = cluster, distances.argmin(axis=1)
        if np.array_equal(cluster, before):
            break
        centres = _means(rows, cluster)
    sizes = np.bincount(cluster)
    order = np.argsort(-sizes, kind="stable")
    return np.argsort(order)[cluster]


def spread(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Up to `k` rows far from one another: k-means++, the best of a few draws each time.

    A draw is as likely as the square of the distance to the nearest row taken so far.
    """
    taken = [int(rng.integers(len(rows)))]
    squares = np.einsum("ij,ij->i", rows, rows)
    far = _squared_distances(rows, squares, np.array(taken))[:, 0]
    while len(taken) < k:
        so_far = np.cumsum(far)
        if so_far[-1] <= 1e-12 * len(rows):  # no other rows
            break
        draws = np.searchsorted(so_far, rng.random(_CANDIDATES) * so_far[-1], side="right")
        draws = np.minimum(draws, len(rows) - 1)
        nearest = np.minimum(far[:, None], _squared_distances(rows, squares, draws))
        best = int(nearest.sum(axis=0).argmin())
        taken.append(int(draws[best]))
        far = nearest[:, best]
    return np.array(taken)


def _squared_distances(rows: np.ndarray, squares: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Of all rows to some of them; `squares` are their lengths squared."""
    distances = squares[:, None] + squares[to] - 2 * (rows @ rows[to].T)
    return np.maximum(distances, 0.0)


def _means(rows: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Of each cluster that has any rows."""
    sizes = np.bincount(cluster)
    members = csr_array((np.ones(len(rows)), cluster, np.arange(len(rows) + 1)))
    return (members.T @ rows)[sizes > 0] / sizes[sizes > 0, None]


def count_states(learner: Learner, grammar: Grammar, state: np.ndarray) -> Expectations:
    """How often rules, words and roots occur in their states, if each node shows its own."""
    treebank, trees = learner.treebank, learner.trees
    is_leaf, roots = treebank.left < 0, treebank.offsets[1:] - 1
    p = np.flatnonzero(~is_leaf)
    rule, h1 = treebank.rule[p], state[p]
    h2, h3 = state[treebank.left[p]], state[treebank.right[p]]
    _, m3, m1 = grammar.sizes[rule].T
    in_tensor = grammar.tensor_offsets[rule] + (h2 * m3 + h3) * m1 + h1
    pairs = starts(grammar.n_states[trees.pair_label])
    in_lexical = pairs[trees.pair_of_token] + state[is_leaf]
    states = grammar.state_offsets[treebank.label] + state
    n_states = grammar.state_offsets[-1]
    return Expectations(
        float("nan"),
        _count(in_tensor, grammar.tensor_offsets[-1]),
        _count(in_lexical, pairs[-1]),
        _count(states[roots], n_states),
        _count(states, n_states),
    )


def _count(numbers: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(numbers, np.ones(len(numbers)), size)
