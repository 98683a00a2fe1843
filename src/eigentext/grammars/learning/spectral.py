r"""Spectral learning of latent-variable PCFGs: averages of projected features [1]_ [2]_.

At a node i of label a, phi(t) and psi(o) are the features of its inside and outside tree. For each
label, an SVD of what they have in common,

.. math:: \Omega^a = \frac{1}{M} \sum_i \phi(t^{(i)})\,\psi(o^{(i)})^\top \approx U \Sigma V^\top,

gives projections Y(t) = U^T phi(t) and Z(o) = Sigma^-1 V^T psi(o), in which the parameters are
plain averages over the treebank, times relative frequencies:

.. math::

    \hat C^{a \to b c} = \frac{\#(a \to b c)}{\#(a)}\,\hat E[Z(o)\,Y(t_2)\,Y(t_3)],\quad
    \hat c_{a \to x} = \frac{\#(a \to x)}{\#(a)}\,\hat E[Z(o)],\quad
    \hat c^a = \frac{\#(root = a)}{\#(root)}\,\hat E[Y(t)].

They are the true ones up to an invertible matrix for each label, which cancels wherever states are
summed out: in p(tree) and in marginals. Three things make it work on small samples:

* features are scaled by sqrt(1 / (count + kappa)), a cheap CCA;
* directions of small singular values are left out: Z divides by them;
* averages of three vectors over few nodes are smoothed with products of averages of two and of one,
  by lambda = sqrt(n) / (C + sqrt(n)) for a rule seen n times; the fewer vectors, the smaller C.

.. [1] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Spectral learning of
   latent-variable PCFGs, ACL 2012.
.. [2] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Experiments with spectral learning
   of latent-variable PCFGs, NAACL 2013.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.engine.spread import in_batches
from eigentext.factor.svd import svd
from eigentext.grammars.chart.cascade import Level
from eigentext.grammars.grammar import Grammar, ranges, starts, tensor_sizes
from eigentext.grammars.learning.learner import Learner, state_tags
from eigentext.grammars.treebank.features import Coded, FeatureSet, Nodes, code_features
from eigentext.grammars.treebank.lexicon import WordStates
from eigentext.grammars.treebank.normal_form import Symbol, Treebank

_WORK = 1 << 22  # multiplications worth a task of their own
BATCH = 1 << 12  # nodes of the labels that go to a worker of a cluster together
_ROUNDING = 1e-12  # a singular value that is a smaller share of the largest is zero
RULES = np.array([2.5, 10.0, 40.0])  # the C of averages of one, two and three vectors
WORDS = 3.0  # and of a word's
_UNSMOOTHED = np.zeros(3)
_TOLD = 5  # labels whose singular values are told


@dataclass(frozen=True)
class Projections:
    """What the SVDs make of the features, label by label, in as many dimensions as were asked for.

    Attributes
    ----------
    nodes
        The nodes of each label, in the order of the treebank.
    singular_values
        Those of each label, falling.
    inside, outside
        U^T phi and V^T psi of each label's nodes, a row each.
    weights
        How often each node of the treebank occurs: one, of a sample.
    """

    nodes: list[np.ndarray]
    singular_values: list[np.ndarray]
    inside: list[np.ndarray]
    outside: list[np.ndarray]
    weights: np.ndarray

    def n_states(self, most: int, tolerance: float, nodes_per_state: float) -> np.ndarray:
        """How many directions to keep of each label: those of singular values that count.

        Exact zeros are common, in labels seen a few times, and Z would divide by them.
        """
        least = max(tolerance, _ROUNDING)
        kept = [int((s > least * s[0]).sum()) for s in self.singular_values]
        counts = np.array([self.weights[nodes].sum() for nodes in self.nodes])
        room = counts // nodes_per_state if nodes_per_state else np.inf
        return np.clip(np.minimum(kept, room), 1, most).astype(np.int64)

    def spectra(self, symbols: list[Symbol], n_states: np.ndarray) -> dict[str, Any]:
        """For diagnostics: singular values kept and the next few, as shares of the largest.

        Those of the labels with most nodes; the condition number is the largest of all labels.
        """
        found: dict[str, Any] = {}
        for a in sorted(range(len(symbols)), key=lambda a: -len(self.nodes[a]))[:_TOLD]:
            shares, m = self.singular_values[a] / self.singular_values[a][0], n_states[a]
            kept, dropped = shares[:m].round(4).tolist(), shares[m : m + 3].round(4).tolist()
            found[str(symbols[a])] = {"kept": kept, "dropped": dropped}
        condition = max(s[0] / s[m - 1] for s, m in zip(self.singular_values, n_states))
        return {"condition_number": float(condition), "singular_values": found}


class Evidence:
    """The features of a treebank's nodes, and the last projections that were made of them."""

    def __init__(self, learner: Learner, feature_set: str | FeatureSet):
        self.nodes = Nodes(learner.treebank, learner.lexicon.terminals())
        self.features = code_features(feature_set, self.nodes)
        self._last: tuple[Any, Projections] | None = None

    def projections(self, max_states: int, **how: Any) -> Projections:
        """See :func:`project`."""
        key = max_states, how
        if self._last is None or self._last[0] != key:
            self._last = key, project(self.nodes, self.features, max_states, **how)
        return self._last[1]


def project(
    nodes: Nodes,
    features: tuple[Coded, Coded],
    max_states: int,
    *,
    kappa: float = 5.0,
    noise: float = 0.0,
    random_state: int = 0,
    weights: np.ndarray | None = None,
) -> Projections:
    """The SVD of each label's Omega, and its nodes in the directions found.

    Parameters
    ----------
    nodes, features
        The treebank's nodes and what is known of them.
    max_states
        Directions at most.
    kappa
        Of the scaling by sqrt(1 / (count + kappa)); infinite is none.
    noise
        Each feature's scale is multiplied by a normal variable of mean one and this deviation.
    random_state
        Of the noise.
    weights
        How often each node occurs, if not once: with the probabilities of all trees there are, the
        moments are those of the population.
    """
    label = nodes.treebank.label
    n_labels = len(nodes.treebank.symbols)
    if weights is None:
        weights = np.ones(len(label))
    by_label = np.split(
        np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=n_labels))[:-1]
    )

    labels = (
        (a, *(side._replace(values=side.values[:, its]) for side in features), weights[its])
        for a, its in enumerate(by_label)
    )
    with (
        engine.phase("projections", n_labels, "labels") as advance,
        engine.report_to(None),  # of the phases of each SVD
        engine.one_blas_thread(),
    ):
        found = []
        how = max_states, kappa, noise, random_state
        for one in in_batches(
            engine.workers(), _project_label, labels, *how, weigh=lambda a: len(a[-1]), size=BATCH
        ):
            found.append(one)
            advance(1)
    s, inside, outside = (list(part) for part in zip(*found, strict=True))
    return Projections(by_label, s, inside, outside, weights)


def _project_label(
    label: tuple[int, Coded, Coded, np.ndarray],
    max_states: int,
    kappa: float,
    noise: float,
    random_state: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular values, and the projections of a label's nodes, given their features and weights."""
    a, *sides, w = label
    rng = np.random.default_rng([random_state, a]) if noise else None
    phi, psi = (scaled(one_hot(side, np.arange(len(w))), w, kappa, noise, rng) for side in sides)
    omega = (sp.diags_array(w / w.sum()) @ phi).T @ psi
    U, s, Vt = svd(omega, min(max_states, *omega.shape))
    return s, phi @ U, psi @ Vt.T


def one_hot(side: Coded, nodes: np.ndarray) -> sp.csr_array:
    """The feature vectors of some nodes, a row each; features that none of them has are left out.

    To have none at all is a feature too: else such nodes would count for nothing.
    """
    values = side.values[:, nodes].T.astype(np.int64)
    bare = np.where((values < 0).all(axis=1), 0, -1)
    values = np.column_stack((values, bare))
    present = values >= 0
    columns, places = np.unique((values + starts(side.sizes))[present], return_inverse=True)
    shape = len(nodes), len(columns)
    return sp.csr_array((np.ones(len(places)), places, starts(present.sum(axis=1))), shape)


def scaled(
    features: sp.csr_array,
    weights: np.ndarray,
    kappa: float,
    noise: float = 0.0,
    rng: np.random.Generator | None = None,
) -> sp.csr_array:
    """Features times sqrt(M / (count + kappa)), and some noise.

    M, the number of nodes, is there for the eye alone: singular values are then correlations,
    nearly. All that is learned is the same without.
    """
    counts = features.T @ weights
    scale = np.ones(len(counts))
    if np.isfinite(kappa):
        scale = np.sqrt(weights.sum() / (counts + kappa))
    if rng is not None:
        scale *= 1 + noise * rng.standard_normal(len(scale))
    return features @ sp.diags_array(scale)


@dataclass(frozen=True)
class Vectors:
    """Y and Z of all nodes, packed: those of node i start at place[i]."""

    place: np.ndarray
    y: np.ndarray
    z: np.ndarray
    mean_y: np.ndarray  # of each label, packed by states
    mean_z: np.ndarray
    totals: np.ndarray  # the weight of each label's nodes


def packed(label: np.ndarray, projections: Projections, n_states: np.ndarray) -> Vectors:
    """The first so many directions of each label."""
    place, states = starts(n_states[label]), starts(n_states)
    y, z = np.empty(place[-1]), np.empty(place[-1])
    mean_y, mean_z = np.empty(states[-1]), np.empty(states[-1])
    totals = np.empty(len(n_states))
    for a, m in enumerate(n_states):
        nodes, s = projections.nodes[a], projections.singular_values[a][:m]
        w = projections.weights[nodes]
        inside = projections.inside[a][:, :m]
        outside = projections.outside[a][:, :m] / np.where(s > 0, s, 1.0)
        at = place[nodes][:, None] + np.arange(m)
        y[at], z[at], totals[a] = inside, outside, w.sum()
        mean_y[states[a] : states[a + 1]] = w @ inside / totals[a]
        mean_z[states[a] : states[a + 1]] = w @ outside / totals[a]
    return Vectors(place, y, z, mean_y, mean_z, totals)


def spectral(
    learner: Learner,
    projections: Projections,
    n_states: np.ndarray,
    *,
    smoothing: float = 1.0,
) -> Level:
    """The averages, in so many directions of each label; `smoothing` is by how much of C."""
    vectors = packed(learner.treebank.label, projections, n_states)
    with engine.phase("averages"):
        grammar = spectral_grammar(
            learner.treebank, projections.weights, n_states, vectors, C=RULES * smoothing
        )
        words = _words(learner, projections.weights, n_states, vectors, C=WORDS * smoothing)
        return Level(grammar, words)


def spectral_grammar(
    treebank: Treebank,
    weights: np.ndarray,
    n_states: np.ndarray,
    vectors: Vectors,
    C: np.ndarray = _UNSMOOTHED,
) -> Grammar:
    """The tensors of rules and the vectors of roots."""
    from eigentext.grammars.learning._spectral_loops import average_rules

    rules, roots = treebank.rules(), treebank.offsets[1:] - 1
    sizes = tensor_sizes(rules, n_states)
    offsets, states = starts(sizes.prod(axis=1)), starts(n_states)
    inner = np.flatnonzero(treebank.left >= 0)
    nodes = inner[np.argsort(treebank.rule[inner], kind="stable")]
    members = starts(rules.counts)
    tensor = np.empty(offsets[-1])

    def work(block: tuple[int, int]) -> None:
        average_rules(
            *block, members, nodes, treebank.left, treebank.right, weights, sizes, offsets,
            vectors.place, vectors.y, vectors.z, vectors.mean_y, vectors.mean_z,
            states[rules.left], states[rules.right], states[rules.parent],
            vectors.totals[rules.parent], C, tensor,
        )  # fmt: skip

    multiplications = starts((rules.counts + 1) * sizes.prod(axis=1))
    with engine.one_blas_thread():
        for _ in engine.current().map(work, engine.even_blocks(multiplications, _WORK)):
            pass
    labels = treebank.label[roots]
    at_roots = vectors.y[ranges(vectors.place[roots], n_states[labels])]
    w = np.repeat(weights[roots], n_states[labels])
    root = np.bincount(ranges(states[labels], n_states[labels]), w * at_roots, states[-1])
    return Grammar(rules, n_states, tensor, root / weights[roots].sum())


def _words(
    learner: Learner, weights: np.ndarray, n_states: np.ndarray, vectors: Vectors, C: float
) -> WordStates:
    """The lexicon, of Z instead of posteriors, smoothed with the label's average of it."""
    treebank, lexicon = learner.treebank, learner.lexicon
    leaves = np.flatnonzero(treebank.left < 0)
    labels = treebank.label[leaves]
    sizes = n_states[labels]
    states = ranges(starts(n_states)[labels], sizes)
    terminals = lexicon.terminals()
    pairs = labels.astype(np.int64) * (terminals.max() + 1) + terminals
    pair = np.unique(pairs, return_inverse=True)[1]
    root = np.sqrt(np.bincount(pair, weights[leaves])[pair])
    lam = np.repeat(root / (C + root), sizes)
    z = lam * vectors.z[ranges(vectors.place[leaves], sizes)] + (1 - lam) * vectors.mean_z[states]
    # What the PCFG divides by: a label's leaves, by weight, and what is kept for unseen words.
    totals = learner.level(learner.pcfg).words.totals
    totals = totals + np.bincount(labels, weights[leaves] - 1.0, len(n_states))
    return lexicon.learn(
        np.repeat(weights[leaves], sizes) * z, states, sizes,
        state_tags(treebank.symbols, n_states), beta=learner.beta, gamma=learner.gamma,
        totals=np.repeat(totals, n_states),
    )  # fmt: skip
