r"""Spectral learning of latent-variable PCFGs: averages of projected features.

The method is that of [Cohen et al. 2012], with the refinements of [Cohen et al. 2013]. At a node i
of label a, phi(t) and psi(o) are the features of its inside and its outside tree. For each label,
an SVD of their cross-moments,

.. math:: \Omega^a = \frac{1}{M} \sum_i \phi(t^{(i)})\,\psi(o^{(i)})^\top \approx U \Sigma V^\top,

gives projections Y(t) = U^T phi(t) and Z(o) = Sigma^-1 V^T psi(o). With them, the parameters are
plain averages over the treebank, times relative frequencies:

.. math::

    \hat C^{a \to b c} = \frac{\#(a \to b c)}{\#(a)}\,\hat E[Z(o)\,Y(t_2)\,Y(t_3)],\quad
    \hat c_{a \to x} = \frac{\#(a \to x)}{\#(a)}\,\hat E[Z(o)],\quad
    \hat c^a = \frac{\#(root = a)}{\#(root)}\,\hat E[Y(t)].

They equal the true parameters up to an invertible matrix for each label. These matrices cancel
wherever states are summed out: in p(tree) and in marginals. Three things make it work on small
samples:

* Features are scaled by sqrt(1 / (count + kappa)), which is a cheap CCA.
* Directions with small singular values are left out, because Z divides by them.
* Averages of three vectors over few nodes are smoothed with products of averages of two and of one.
  The weight is lambda = sqrt(n) / (C + sqrt(n)) for a rule seen n times. The fewer vectors, the
  smaller is C.

[Cohen et al. 2012] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Spectral learning of
latent-variable PCFGs, ACL 2012.

[Cohen et al. 2013] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Experiments with
spectral learning of latent-variable PCFGs, NAACL 2013.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.engine.spread import in_batches
from eigentext.factor.svd import svd
from eigentext.grammars.chart.cascade import Level
from eigentext.grammars.grammar import Grammar, ranges, starts, tensor_sizes
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.protocol import Learned, Task
from eigentext.grammars.learning.whitening import canonical_directions
from eigentext.grammars.learning.whitening import whitening as exactly
from eigentext.grammars.parameters import SMOOTHING, constants
from eigentext.grammars.treebank.features import Coded, FeatureSet, TreebankNodes, code_features
from eigentext.grammars.treebank.lexicon import WordStates, state_tags
from eigentext.grammars.treebank.normal_form import Symbol, Treebank
from eigentext.monitor import HeldOut

_WORK = 1 << 22  # multiplications of one task
BATCH = 1 << 12  # nodes of the labels that go to a Dask worker together
_ROUNDING = 1e-12  # a singular value below this share of the largest counts as zero
_UNSMOOTHED = np.zeros(3)
_SHOWN = 5  # labels whose singular values are in the history


def learn(task: Task, k: int) -> Learned:
    """The averages.

    With validation trees, also try a half and a quarter of the states, and return what does best on
    them. The history has "singular_values" and "condition_number" (:meth:`Projections.spectra`).
    With a `rank` it also has "rank_error" and "rank_share" (``low_rank.py``).
    """
    found = projections(task, k, noise=task.settings.noise)
    if task.score is None or task.settings.allocation == "held-out":  # which did this before
        return _averages(task, found, task.limits)
    held_out = _judge(task)
    for divisor in (1, 2, 4):
        held_out.show(_averages(task, found, np.maximum(task.limits // divisor, 1)))
    best = held_out.best
    assert best is not None  # something was shown
    return best._replace(history=best.history | {"validation": held_out.scores})


def _averages(task: Task, found: "Projections", most: np.ndarray) -> Learned:
    """The averages, with at most `most` states for each label."""
    settings = task.settings
    n_states = found.n_states(most, settings.tolerance, settings.nodes_per_state)
    level = spectral(task.counted, found, n_states, smoothing=settings.smoothing)
    history = found.spectra(task.counted.treebank.symbols, n_states)
    if settings.rank is None:
        return Learned(level, history)
    from eigentext.grammars.learning.low_rank import low_rank

    small = low_rank(level.grammar, settings.rank, *found.deviations(n_states))
    history |= {"rank_error": small.error, "rank_share": small.share}
    return Learned(Level(small.grammar, level.words), history)


def _judge(task: Task) -> HeldOut[Learned]:
    score = task.score
    assert score is not None

    def packed(_: Any) -> Any:
        raise NotImplementedError("no checkpoint is kept between numbers of states")

    return HeldOut(lambda one: score(one.level), pack=packed, unpack=packed)


@dataclass(frozen=True)
class Projections:
    """The nodes of each label as vectors, which the SVDs make of their features.

    Attributes
    ----------
    nodes
        The nodes of each label, in the order of the treebank.
    singular_values
        Those of each label, from the largest to the smallest.
    inside, outside
        U^T phi and V^T psi of the nodes of each label, one row for each node.
    weights
        How often each node of the treebank occurs: once in a sample.
    """

    nodes: list[np.ndarray]
    singular_values: list[np.ndarray]
    inside: list[np.ndarray]
    outside: list[np.ndarray]
    weights: np.ndarray

    def n_states(
        self, most: int | np.ndarray, tolerance: float, nodes_per_state: float
    ) -> np.ndarray:
        """How many directions to keep for each label: those of large singular values.

        Labels seen a few times often have singular values of exactly zero, and Z would divide by
        them.
        """
        least = max(tolerance, _ROUNDING)
        kept = [int((s > least * s[0]).sum()) for s in self.singular_values]
        counts = np.array([self.weights[nodes].sum() for nodes in self.nodes])
        room = counts // nodes_per_state if nodes_per_state else np.inf
        return np.clip(np.minimum(kept, room), 1, most).astype(np.int64)

    def first(self, n_directions: np.ndarray) -> "Projections":
        """Only the first directions of each label."""
        every = list(enumerate(n_directions.tolist()))
        return Projections(
            self.nodes,
            [self.singular_values[a][:n] for a, n in every],
            [self.inside[a][:, :n] for a, n in every],
            [self.outside[a][:, :n] for a, n in every],
            self.weights,
        )

    def deviations(self, n_states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The root mean squares of Y and of Z, packed by states."""
        y, z = [], []
        for nodes, s, inside, outside, m in zip(
            self.nodes, self.singular_values, self.inside, self.outside, n_states.tolist()
        ):
            w = self.weights[nodes] / max(self.weights[nodes].sum(), 1e-300)
            y.append(np.sqrt(w @ inside[:, :m] ** 2))
            z.append(np.sqrt(w @ outside[:, :m] ** 2) / np.where(s[:m] > 0, s[:m], 1.0))
        return np.concatenate(y), np.concatenate(z)

    def spectra(self, symbols: list[Symbol], n_states: np.ndarray) -> dict[str, Any]:
        """For diagnostics: the singular values kept and the next three, as shares of the largest.

        Only the labels with the most nodes are shown. The condition number is the largest of all
        labels.
        """
        found: dict[str, Any] = {}
        for a in sorted(range(len(symbols)), key=lambda a: -len(self.nodes[a]))[:_SHOWN]:
            shares, m = self.singular_values[a] / self.singular_values[a][0], n_states[a]
            kept, dropped = shares[:m].round(4).tolist(), shares[m : m + 3].round(4).tolist()
            found[str(symbols[a])] = {"kept": kept, "dropped": dropped}
        condition = max(s[0] / s[m - 1] for s, m in zip(self.singular_values, n_states))
        return {"condition_number": float(condition), "singular_values": found}


class Evidence:
    """The features of the nodes of a treebank, and the last projections made of them.

    Parameters
    ----------
    counted
        The trees.
    feature_set
        "full", "simple" or a function (``treebank/features.py``).
    n_kept
        How many projections to keep. They are large.
    """

    def __init__(self, counted: CountedTrees, feature_set: str | FeatureSet, n_kept: int = 1):
        with engine.phase("features"):
            self.nodes = TreebankNodes(counted.treebank, counted.lexicon.terminals())
            self.features = code_features(feature_set, self.nodes)
        self._n_kept = n_kept
        self._kept: dict[tuple[Any, ...], Projections] = {}

    def projections(
        self, max_states: int, *, kappa: float = 5.0, whitening: str = "diagonal",
        noise: float = 0.0, random_state: int = 0,
    ) -> Projections:  # fmt: skip
        """See :func:`project`."""
        key = max_states, kappa, whitening, noise, random_state
        if key not in self._kept:
            while len(self._kept) >= self._n_kept:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = project(
                self.nodes, self.features, max_states,
                kappa=kappa, whitening=whitening, noise=noise, random_state=random_state,
            )  # fmt: skip
        return self._kept[key]


def projections(task: Task, k: int, noise: float = 0.0) -> Projections:
    """The projections for the k-th grammar. The first one is without noise."""
    if task.evidence is None:
        raise ValueError("the task of a method with features needs evidence")
    settings = task.settings
    noise = noise if k else 0.0
    return task.evidence.projections(
        task.directions or task.most_states,
        kappa=settings.kappa,
        whitening=settings.whitening,
        noise=noise,
        random_state=settings.random_state + k if noise else 0,
    )


def project(
    nodes: TreebankNodes,
    features: tuple[Coded, Coded],
    max_states: int,
    *,
    kappa: float = 5.0,
    whitening: str = "diagonal",
    noise: float = 0.0,
    random_state: int = 0,
    weights: np.ndarray | None = None,
) -> Projections:
    """Compute the SVD of the Omega of each label, and project the nodes of the label.

    Parameters
    ----------
    nodes, features
        The nodes of the treebank and their features.
    max_states
        The largest number of directions.
    kappa
        Features are scaled by sqrt(1 / (count + kappa)); with infinity they are not scaled.
    whitening
        "diagonal", or "exact" for an exact CCA (``whitening.py``).
    noise
        The scale of each feature is multiplied by a normal variable of mean one and this standard
        deviation.
    random_state
        The seed of the noise.
    weights
        How often each node occurs, if not once. With all trees of a grammar and their
        probabilities, the moments are those of the population.
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
        engine.report_to(None),  # the phases of each SVD are not shown
        engine.one_blas_thread(),
    ):
        found = []
        how = max_states, kappa, whitening, noise, random_state
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
    whitening: str,
    noise: float,
    random_state: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The singular values of a label and the projections of its nodes."""
    a, *sides, w = label
    rng = np.random.default_rng([random_state, a]) if noise else None
    if whitening == "exact":
        phi, psi = (one_hot(side, np.arange(len(w))) for side in sides)
        left, right = (exactly(one, w, kappa, noise, rng) for one in (phi, psi))
        U, s, V = canonical_directions(phi, psi, w, left, right, max_states)
        return s, phi @ U, psi @ V
    phi, psi = (scaled(one_hot(side, np.arange(len(w))), w, kappa, noise, rng) for side in sides)
    omega = (sp.diags_array(w / w.sum()) @ phi).T @ psi
    U, s, Vt = svd(omega, min(max_states, *omega.shape))
    return s, phi @ U, psi @ Vt.T


def one_hot(side: Coded, nodes: np.ndarray) -> sp.csr_array:
    """The feature vectors of some nodes, one row for each. Features that no node has are left out.

    To have no feature at all is a feature too. Otherwise such nodes would not count.
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
    """Multiply features by sqrt(M / (count + kappa)), and by some noise.

    M is the number of nodes. It makes singular values look like correlations. What is learned is
    the same without it.
    """
    counts = features.T @ weights
    scale = np.ones(len(counts))
    if np.isfinite(kappa):
        scale = np.sqrt(weights.sum() / (counts + kappa))
    if rng is not None:
        scale *= 1 + noise * rng.standard_normal(len(scale))
    return features @ sp.diags_array(scale)


@dataclass(frozen=True)
class NodeVectors:
    """Y and Z of all nodes, packed: the vectors of node i start at place[i]."""

    place: np.ndarray
    y: np.ndarray
    z: np.ndarray
    mean_y: np.ndarray  # of each label, packed by states
    mean_z: np.ndarray
    totals: np.ndarray  # the total weight of the nodes of each label


def packed(label: np.ndarray, projections: Projections, n_states: np.ndarray) -> NodeVectors:
    """The first `n_states` directions of each label."""
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
    return NodeVectors(place, y, z, mean_y, mean_z, totals)


def spectral(
    counted: CountedTrees,
    projections: Projections,
    n_states: np.ndarray,
    *,
    smoothing: float | Mapping[str, float] = 1.0,
) -> Level:
    """The averages, with `n_states` for each label.

    `smoothing` multiplies the C. A mapping may have other C, of averages of "one", "two" and
    "three" vectors and of a "word", and the "factor" that multiplies them.
    """
    known = constants(smoothing, "factor", SMOOTHING)
    C = known["factor"] * np.array([known[name] for name in ("one", "two", "three", "word")])
    vectors = packed(counted.treebank.label, projections, n_states)
    with engine.phase("averages"):
        grammar = spectral_grammar(
            counted.treebank, projections.weights, n_states, vectors, C=C[:3]
        )
        words = _words(counted, projections.weights, n_states, vectors, C=float(C[3]))
        return Level(grammar, words)


def spectral_grammar(
    treebank: Treebank,
    weights: np.ndarray,
    n_states: np.ndarray,
    vectors: NodeVectors,
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
    means = vectors.mean_z, vectors.mean_y
    return Grammar(rules, n_states, tensor, root / weights[roots].sum(), means)


def _words(
    counted: CountedTrees, weights: np.ndarray, n_states: np.ndarray, vectors: NodeVectors, C: float
) -> WordStates:
    """The lexicon, with Z instead of posteriors, smoothed with the average Z of the label."""
    treebank, lexicon = counted.treebank, counted.lexicon
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
    # Divide as the PCFG does: by the leaves of the label, and what is kept for unseen words.
    totals = counted.level(counted.pcfg).words.totals
    totals = totals + np.bincount(labels, weights[leaves] - 1.0, len(n_states))
    return lexicon.learn(
        np.repeat(weights[leaves], sizes) * z, states, sizes,
        state_tags(treebank.symbols, n_states), beta=counted.beta, gamma=counted.gamma,
        totals=np.repeat(totals, n_states),
    )  # fmt: skip
