r"""Starts for EM: from the operators of a hidden Markov model to parameters.

The sum of all operators is :math:`B = G T G^{-1}`, so
:math:`B^{-1} B_x = G\,\mathrm{diag}(o_x)\,G^{-1}` for every symbol: one G diagonalizes them all
(Hsu, Kakade and Zhang 2009, appendix C). Several random mixtures of these matrices are tried, and G
comes from the one whose eigenvalues are furthest apart. It is scaled so that
:math:`b_\infty^\top G = \mathbf 1^\top`. Then :math:`o_x` is the diagonal of
:math:`G^{-1} B^{-1} B_x G`, or :math:`q_x^\top G` for a symbol whose operator has rank one,
:math:`T = G^{-1} B G`, and :math:`\pi = G^{-1} b_1`. All of them are projected on the simplex.

With fixed emissions, the likelihood of bigrams is concave in the joint probabilities of two states.
So a few EM steps improve T, and in the same way :math:`\pi`.

This needs as many usable directions as states. With fewer directions, the states are clusters of
symbols: k-means finds symbols that occur before and after the same other symbols. Each clustering
draws its own centers and gives another start.
"""

from typing import Any

import numpy as np

from eigentext import engine
from eigentext.factor.mixture import ConditionalMixture
from eigentext.sequences.forms import HMMParameters, Operators
from eigentext.sequences.learning.windows import Windows

_MIXTURES = 20  # the mixtures of operators that are tried
_STEPS = 20  # the steps of EM for a concave likelihood
_BLUR = 0.02  # the least share of each symbol in each cluster
_LLOYD = 30  # the steps of k-means
_SINGULAR = 1e12  # a matrix with a larger condition number is not inverted


def recovered(
    model: Operators, windows: Windows, rng: np.random.Generator
) -> tuple[HMMParameters, dict[str, Any]] | None:
    """Diagonalize the operators. Return parameters, and how far they were from probabilities.

    Return None if the operators cannot be diagonalized. With little text, too few symbols have an
    operator.
    """
    if (found := _common_eigenvectors(model, rng)) is None:
        return None
    G, gap = found
    inverse = np.linalg.inv(G)
    B = model.mean
    O = model.rows @ G  # noqa: E741 - the letter of the paper
    own = np.flatnonzero(model.places >= 0)
    B_x = model.operators[model.places[own]]
    O[own] = np.einsum("hi,xij,jh->xh", np.linalg.solve(B @ G, np.eye(len(B))), B_x, G)
    emission, moved = _on_simplex(O.T, windows.frequencies, blur=1e-3 if windows.sampled else 0.0)
    transition, _ = _on_simplex((inverse @ B @ G).T)
    initial, _ = _on_simplex((inverse @ model.start)[None])
    parameters = _with_transitions(emission, transition, initial[0], windows)
    return parameters, {"eigenvalue_gap": gap, "moved_to_simplex": moved}


def clustered(
    profiles: np.ndarray, windows: Windows, m: int, rng: np.random.Generator
) -> HMMParameters:
    """Return parameters whose states are clusters of symbols with similar profiles."""
    frequencies = windows.frequencies
    distances = _k_means(profiles, frequencies, m, rng)
    distances -= distances.min(axis=1, keepdims=True)
    second = np.partition(distances, 1, axis=1)[:, 1] if m > 1 else distances[:, 0]
    scale = max(float(np.median(second)), 1e-300)
    shares = np.exp(-distances / scale)
    shares = shares / shares.sum(axis=1, keepdims=True) + _BLUR
    emission, _ = _on_simplex((frequencies[:, None] * shares).T)
    return _with_transitions(emission, np.full((m, m), 1 / m), np.full(m, 1 / m), windows)


def _common_eigenvectors(
    model: Operators, rng: np.random.Generator
) -> tuple[np.ndarray, float] | None:
    """Find G, and the least relative distance of two eigenvalues of the mixture behind it."""
    if np.linalg.cond(model.mean) > _SINGULAR:
        return None
    own = np.flatnonzero(model.places >= 0)
    B_x = model.operators[model.places[own]]
    best: tuple[float, float, np.ndarray] | None = None
    for _ in range(_MIXTURES):
        # The symbols that follow x depend on the state of x, so these weights separate states.
        weights = model.after[own] @ rng.standard_normal(len(model.start))
        mixture = np.linalg.solve(model.mean, np.tensordot(weights, B_x, 1))
        values, G = np.linalg.eig(mixture)
        distances = np.abs(values[:, None] - values) + np.diag(np.full(len(values), np.inf))
        if not (spread := np.abs(values).max()) > 0:
            continue
        gap = float(distances.min() / spread) if len(values) > 1 else 1.0
        score = gap - 10 * float(np.abs(values.imag).max() / spread)  # the true ones are real
        if best is None or score > best[0]:
            best = score, gap, G
    if best is None:
        return None
    _, gap, G = best
    # A complex pair spans the plane of its real part and its imaginary part.
    real = np.where(G.imag.sum(axis=0) >= 0, G.real, G.imag)
    real = real / _away_from_zero(model.end @ real)
    return (real, gap) if np.linalg.cond(real) < _SINGULAR else None


def _with_transitions(
    emission: np.ndarray, transition: np.ndarray, initial: np.ndarray, windows: Windows
) -> HMMParameters:
    """Improve the initial and transition probabilities for these emissions (m x n) by EM."""
    O = np.ascontiguousarray(emission.T)  # noqa: E741
    if not windows.sampled:  # they are exact already
        return HMMParameters(initial, transition, O)
    m = O.shape[1]
    first = np.asarray(windows.follow.sum(axis=1))
    states = mixture_weights(first, O, np.full(m, 1 / m))
    J = states[:, None] * transition
    mixture = ConditionalMixture(windows.follow)
    total = windows.follow.sum()
    with engine.one_blas_thread():
        for _ in range(_STEPS):
            r = O @ J
            ratios, _, _ = mixture.ratios(r, O)
            X = mixture.counts.copy()
            X.data = ratios
            J = J * (O.T @ (X @ O)) / total
    initial = mixture_weights(windows.start, O, initial)
    transition, _ = _on_simplex(J, blur=1e-3)
    initial = _on_simplex(initial[None], blur=1e-2)[0][0]
    return HMMParameters(initial, transition, O)


def mixture_weights(counts: np.ndarray, O: np.ndarray, weights: np.ndarray) -> np.ndarray:  # noqa: E741
    """The weights of a mixture of known distributions, by EM."""
    share = counts / counts.sum()
    for _ in range(_STEPS):
        p = O @ weights
        weights = weights * ((np.where(share > 0, share, 0) / np.where(p > 0, p, 1)) @ O)
    return weights / weights.sum()


def _on_simplex(
    rows: np.ndarray, usual: np.ndarray | None = None, blur: float = 0.0
) -> tuple[np.ndarray, float]:
    """Make rows into distributions. Return them and the mean sum of the negative entries.

    The usual distribution is mixed in, with that sum as its share, or `blur` if that is more: EM
    cannot leave a zero.
    """
    positive = np.maximum(rows, 0)
    moved = float((positive - rows).sum() / len(rows))
    moved = moved if moved > 1e-9 else 0.0  # rounding
    usual = np.ones(rows.shape[1]) if usual is None else usual
    share = max(min(moved, 0.05), blur)
    positive /= _away_from_zero(positive.sum(axis=1, keepdims=True))
    positive = (1 - share) * positive + share * usual / usual.sum()
    return positive / positive.sum(axis=1, keepdims=True), moved


def _k_means(
    points: np.ndarray, weights: np.ndarray, m: int, rng: np.random.Generator
) -> np.ndarray:
    """Squared distances to m centers: k-means++, then some of Lloyd's steps."""
    lengths = (points**2).sum(axis=1)

    def distances(centers: np.ndarray) -> np.ndarray:
        cross = points @ centers.T
        return np.maximum(lengths[:, None] - 2 * cross + (centers**2).sum(axis=1), 0)

    with engine.one_blas_thread():
        chosen: list[int] = []
        chance = weights.astype(np.float64)
        for _ in range(m):
            if not chance.any():  # there are fewer different points than clusters
                chance = weights.astype(np.float64)
            chosen.append(int(rng.choice(len(points), p=chance / chance.sum())))
            chance = weights * distances(points[chosen]).min(axis=1)
        centers = points[chosen]
        for _ in range(_LLOYD):
            nearest = distances(centers).argmin(axis=1)
            size = np.bincount(nearest, weights, m)
            for h in np.flatnonzero(size):
                inside = nearest == h
                centers[h] = weights[inside] @ points[inside] / size[h]
        return distances(centers)


def _away_from_zero(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) < 1e-300, 1.0, values)
