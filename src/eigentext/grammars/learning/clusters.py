"""Hidden states by clustering: a start for EM from spectral projections [Narayan and Cohen 2015].

In the projections of ``spectral.py``, the inside and the outside tree of a node are vectors. Their
components vary together by the singular values sigma. What the two have in common is the state of
the node. As in probabilistic CCA [Bach and Jordan 2005], the estimate of it from both is, up to its
length,

    sigma^1/2 (U^T phi(t) + V^T psi(o)).

For each label, k-means on these directions gives every node a state. The treebank then shows its
states, and the smoothed relative frequencies of rules and words are proper probabilities. The
clusters act as an E step and the frequencies as an M step, so that EM need not spend most of its
steps on finding the states. Lengths are ignored: nodes with rare features have large ones, and
would form clusters of a few nodes.

[Narayan and Cohen 2015] S. Narayan and S. Cohen, Diversity in spectral learning for natural
language parsing, EMNLP 2015.

[Bach and Jordan 2005] F. Bach and M. Jordan, A probabilistic interpretation of canonical
correlation analysis, technical report 688, University of California, Berkeley, 2005.
"""

import numpy as np
from scipy.sparse import csr_array

from eigentext import engine
from eigentext.engine.spread import in_batches
from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import improve
from eigentext.grammars.learning.protocol import Learned, Task
from eigentext.grammars.learning.spectral import BATCH, Projections, projections
from eigentext.grammars.learning.training import (
    Expectations,
    GrammarParameters,
    Smoothing,
    maximize,
)
from eigentext.grammars.sparse_grammar import SparseCounts

_STEPS = 20  # steps of k-means, at most: the last ones move few nodes
_CANDIDATES = 3  # draws for each first center, of which the best is taken


def learn(task: Task, k: int) -> Learned:
    """Clusters, then EM (:func:`eigentext.grammars.learning.em.improve`).

    Grammars differ by the nodes that their clusters begin with; the projections have no noise.
    """
    found = useful_projections(task, k)
    start = cluster_start(task.counted, found, task.room, smoothing=task.smoothing, rng=task.rng(k))
    return improve(task, start)


def useful_projections(task: Task, k: int) -> Projections:
    """The projections, without directions that are known to be chance: k-means would heed them."""
    found = projections(task, k)
    return found if task.useful is None else found.first(task.useful)


def cluster_start(
    counted: CountedTrees,
    projections: Projections,
    n_states: np.ndarray,
    *,
    smoothing: Smoothing | None = None,
    rng: np.random.Generator,
) -> GrammarParameters:
    """Relative frequencies of rules and words, with the clusters of nodes as their states.

    Parameters
    ----------
    counted, projections
        The trees, and their nodes as vectors.
    n_states
        How many clusters to look for among the nodes of each label. There are fewer if fewer nodes
        differ.
    smoothing
        As in a step of EM. Without it, what no node shows stays at zero in all further steps.
    rng
        Draws the nodes that clusters begin with.
    """
    sizes, state = cluster(projections, n_states, rng)
    trees = counted.trees
    grammar = Grammar(trees.rules, sizes, np.empty(0), np.empty(0))
    return maximize(trees, grammar, count_states(counted, grammar, state), smoothing)


def cluster(
    projections: Projections, n_states: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """How many clusters each label has, and the cluster of each node. Cluster 0 is the largest."""
    seeds = rng.integers(1 << 63, size=len(n_states))  # so that any thread may take any label

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


def _cluster_label(label: tuple[np.ndarray, np.ndarray, np.ndarray, int, np.int64]) -> np.ndarray:
    """The cluster of each node of a label."""
    s, inside, outside, k, seed = label
    return clustered_label(s, inside, outside, k, np.random.default_rng(seed))


def clustered_label(
    s: np.ndarray, inside: np.ndarray, outside: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """The cluster of each node of a label, from its singular values and projections."""
    return k_means(directions(s, inside, outside), k, rng)


def directions(s: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """What both views say about each node: a row of length one, or zero if they say nothing."""
    rows = np.sqrt(s) * (inside + outside)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def k_means(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """The cluster of each row; cluster 0 is the largest. Rows have length one or zero.

    Lloyd's algorithm, from the centers of :func:`spread`. Centers are means. There are fewer than
    `k` clusters if some lose all of their rows.
    """
    centers = rows[spread(rows, k, rng)]
    cluster = np.full(len(rows), -1)
    for _ in range(_STEPS):
        # |x - c|^2 / 2 without |x|^2, which is the same for all centers.
        distances = np.einsum("ij,ij->i", centers, centers) / 2 - rows @ centers.T
        before, cluster = cluster, distances.argmin(axis=1)
        if np.array_equal(cluster, before):
            break
        centers = _means(rows, cluster)
    sizes = np.bincount(cluster)
    order = np.argsort(-sizes, kind="stable")
    return np.argsort(order)[cluster]


def spread(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Up to `k` rows far from one another: k-means++, with the best of a few draws each time.

    The probability of a row is in proportion to its squared distance from the nearest row taken.
    """
    taken = [int(rng.integers(len(rows)))]
    squares = np.einsum("ij,ij->i", rows, rows)
    far = _squared_distances(rows, squares, np.array(taken))[:, 0]
    while len(taken) < k:
        so_far = np.cumsum(far)
        if so_far[-1] <= 1e-12 * len(rows):  # all rows equal some row taken
            break
        draws = np.searchsorted(so_far, rng.random(_CANDIDATES) * so_far[-1], side="right")
        draws = np.minimum(draws, len(rows) - 1)
        nearest = np.minimum(far[:, None], _squared_distances(rows, squares, draws))
        best = int(nearest.sum(axis=0).argmin())
        taken.append(int(draws[best]))
        far = nearest[:, best]
    return np.array(taken)


def _squared_distances(rows: np.ndarray, squares: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The squared distances of all rows to some of them. `squares` are their squared lengths."""
    distances = squares[:, None] + squares[to] - 2 * (rows @ rows[to].T)
    return np.maximum(distances, 0.0)


def _means(rows: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """The mean of each cluster that has any rows."""
    sizes = np.bincount(cluster)
    members = csr_array((np.ones(len(rows)), cluster, np.arange(len(rows) + 1)))
    return (members.T @ rows)[sizes > 0] / sizes[sizes > 0, None]


def count_states(counted: CountedTrees, grammar: Grammar, state: np.ndarray) -> Expectations:
    """Count rules, words and roots by states, given the state of each node."""
    treebank, trees = counted.treebank, counted.trees
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
        SparseCounts.of(in_tensor, np.ones(len(in_tensor))),
        _count(in_lexical, pairs[-1]),
        _count(states[roots], n_states),
        _count(states, n_states),
    )


def _count(numbers: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(numbers, np.ones(len(numbers)), size)
