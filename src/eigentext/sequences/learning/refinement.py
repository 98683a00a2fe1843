r"""Spectral learning of refinement HMMs [Stratos et al. 2013]: projections of past and future.

Given the label and the state of a token, its past (the labels and words before it) and its future
(its word, and the labels and words after it) are independent. With features :math:`\psi` of the
past and :math:`\phi` of the future, the covariance of the two among the tokens of a label a has the
rank m - 1,

.. math:: \Omega^a = E[(\phi - \bar\phi)(\psi - \bar\psi)^\top \mid a] = U \Sigma V^\top.

The projections of a token begin with the constant 1:

.. math:: y = (1, U^\top (\phi - \bar\phi)),\qquad z = (1, \Sigma^{-1} V^\top (\psi - \bar\psi)).

So :math:`E[z y^\top | a] = I`. A second SVD gives y' and z', where the word of the token belongs to
the past. Then plain averages of products are the parameters of the model up to an invertible matrix
for each label, which cancels in probabilities (:mod:`eigentext.sequences.refined`). This is the
method for latent-variable PCFGs [Cohen et al. 2012] on trees that branch to the right only, with
one difference: the constant direction is not estimated, because it is known. The first entry of
each matrix is then the frequency of the HMM without states, and shrinking all other entries to zero
leads back to that HMM.

Features are scaled by :math:`\sqrt{M / (count + \kappa)}`, a cheap CCA. Averages over n tokens are
smoothed: averages of one vector shrink to zero, and averages of two vectors to the product of those
of one, both with the weight :math:`\sqrt n / (C + \sqrt n)`.

*A start for EM.* As in probabilistic CCA, the state of a token is best seen in
:math:`\Sigma^{1/2} (U^\top \phi + V^\top \psi)`. K-means on the directions of these vectors gives
each token a state. See `grammars/learning/clusters.py`, which does the same with nodes of trees.

[Stratos et al. 2013] K. Stratos, A. Rush, S. Cohen and M. Collins, Spectral learning of refinement
HMMs, CoNLL 2013.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from eigentext import engine
from eigentext.factor.svd import svd
from eigentext.sequences.learning.recovery import _k_means
from eigentext.sequences.refined import Averages, edged

KAPPA = 5.0  # added to the counts that scale features
_DENSE = 1 << 16  # cells of a matrix that is factored as it is
_SPARE, _POWERS = 10, 4  # of the randomized SVD
_ROUNDING = 1e-9  # a singular value below this share of the largest is zero
_REACH = 2  # labels and words that features may look at, on each side
Template = tuple[tuple[str, int], ...]  # labels ("a") and words ("x") at offsets


class Features(NamedTuple):
    """The features of a token: what is before and after its state, and its word in between."""

    past: tuple[Template, ...]
    word: tuple[Template, ...]
    future: tuple[Template, ...]


USUAL = Features(
    past=((("a", -1),), (("x", -1),), (("a", -2), ("a", -1))),
    word=((("x", 0),),),
    future=((("a", 1),), (("x", 1),), (("a", 1), ("a", 2))),
)


class Stream(NamedTuple):
    """Tagged sentences as the numbers that learning needs. Most have an entry for each token."""

    label: np.ndarray
    code: np.ndarray  # the word, or what stands for it in features if it is rare
    pair: np.ndarray  # the place of word and label among the pairs that occurred
    into: np.ndarray  # the place of the bigram of labels that ends here
    after: np.ndarray  # the place of the last bigram of each sentence
    begins: np.ndarray  # the first token of each sentence, and the number of all tokens
    pair_label: np.ndarray  # the label of each pair
    bigrams: np.ndarray  # the two labels of each bigram, (g, 2)
    weights: np.ndarray  # how often each token occurs: once in a sample

    @property
    def n_labels(self) -> int:
        """The number of labels, without the one before and after sentences."""
        return int(self.bigrams.max())

    def counts(self) -> np.ndarray:
        """How often each label occurs."""
        return np.bincount(self.label, self.weights, self.n_labels)

    @property
    def is_last(self) -> np.ndarray:
        """Whether a token is the last one of its sentence."""
        found = np.zeros(len(self.label), bool)
        found[self.begins[1:] - 1] = True
        return found

    @classmethod
    def of(
        cls, label: np.ndarray, word: np.ndarray, code: np.ndarray, lengths: np.ndarray, n: int
    ) -> "Stream":
        """Number the pairs by word and then label, and the bigrams by their labels."""
        begins = np.concatenate([[0], np.cumsum(lengths)])
        pairs, pair = np.unique(word * n + label, return_inverse=True)
        before = np.concatenate([[n], label[:-1]])
        before[begins[:-1]] = n
        codes = np.concatenate([before * (n + 1) + label, label[begins[1:] - 1] * (n + 1) + n])
        bigrams, into = np.unique(codes, return_inverse=True)
        both = np.stack([bigrams // (n + 1), bigrams % (n + 1)], axis=1)
        weights = np.ones(len(label))
        return cls(
            label, code, pair, into[: len(label)], into[len(label) :], begins, pairs % n, both,
            weights,
        )  # fmt: skip


class Projections(NamedTuple):
    """Tokens as vectors. The first entry of each is 1; those beyond its label's states are 0."""

    sizes: np.ndarray  # of each label, without the last one
    y: np.ndarray  # before the word of the token
    z: np.ndarray
    y_after: np.ndarray
    z_after: np.ndarray
    singular_values: list[np.ndarray]  # of each label, before the word


def spectral(
    stream: Stream,
    n_states: np.ndarray,
    *,
    smoothing: float = 0.0,
    tolerance: float = 0.0,
    features: Features = USUAL,
    kappa: float = KAPPA,
) -> tuple[Averages, Projections]:
    """Return the averages, with at most `n_states` for each label, and the projections."""
    found = project(stream, n_states, features=features, kappa=kappa, tolerance=tolerance)
    return averages(stream, found, smoothing), found


def project(
    stream: Stream,
    n_states: np.ndarray,
    *,
    features: Features = USUAL,
    kappa: float = KAPPA,
    tolerance: float = 0.0,
) -> Projections:
    """Compute the two SVDs of each label, and project its tokens."""
    n, M = len(stream.label), int(n_states.max())
    values = _coded(stream, features)
    vectors = [np.zeros((n, M)) for _ in range(4)]
    for one in vectors:
        one[:, 0] = 1.0
    sizes, spectra = np.ones_like(n_states), []
    order = np.argsort(stream.label, kind="stable")
    borders = np.cumsum(np.bincount(stream.label, minlength=len(n_states)))
    with engine.phase("projections", len(n_states), "labels") as advance, engine.report_to(None):
        for a, its in enumerate(np.split(order, borders[:-1])):
            m, w = int(n_states[a]), stream.weights[its]
            if m < 2 or not w.sum() > 0:
                spectra.append(np.zeros(0))
                advance(1)
                continue
            past, word, future = (
                [column[its] for column in values[part]] for part in ("past", "word", "future")
            )
            sides = ((word + future, past), (future, word + past))
            pre, post = (_covariance_svd(*side, w, m - 1, kappa) for side in sides)
            kept = [_useful(found[2], tolerance) for found in (pre, post)]
            for place, (k, found) in enumerate(zip(kept, (pre, post))):
                vectors[2 * place][its, 1 : k + 1] = found[0][:, :k]
                vectors[2 * place + 1][its, 1 : k + 1] = found[1][:, :k] / found[2][:k]
            sizes[a] = 1 + max(kept)  # where one side has fewer, the rest is zero
            spectra.append(pre[2])
            advance(1)
    y, z, y_after, z_after = vectors
    return Projections(sizes, y, z, y_after, z_after, spectra)


def averages(stream: Stream, found: Projections, smoothing: float) -> Averages:
    """Return the averages of products of projections."""
    from eigentext.sequences._refinement_loops import add_products

    w, M = stream.weights, found.y.shape[1]
    shares = np.zeros((len(stream.pair_label), M, M))
    add_products(stream.pair, w, found.z, found.y_after, shares)
    counts = np.bincount(stream.pair, w, len(shares))
    shares /= np.maximum(counts, 1e-300)[:, None, None]
    blocks = np.zeros((len(stream.bigrams), M, M))
    edge = np.eye(M)[:1]
    first, is_last = stream.begins[:-1], stream.is_last
    inner = np.flatnonzero(~is_last)
    add_products(stream.into[inner + 1], w[inner], found.z_after[inner], found.y[inner + 1], blocks)
    ends = np.flatnonzero(is_last)
    add_products(stream.into[first], w[first], np.repeat(edge, len(first), 0), found.y[first],
                 blocks)  # fmt: skip
    add_products(stream.after, w[ends], found.z_after[ends], np.repeat(edge, len(ends), 0), blocks)
    into = np.concatenate([stream.into[inner + 1], stream.into[first], stream.after])
    times = np.bincount(into, np.concatenate([w[inner], w[first], w[ends]]), len(blocks))
    blocks /= np.maximum(times, 1e-300)[:, None, None]
    sizes = edged(found.sizes)
    edges = np.repeat(edge, len(sizes), axis=0)
    return Averages(sizes, edges, edges, shrunk(blocks, times, smoothing), shares)


def shrunk(blocks: np.ndarray, times: np.ndarray, C: float) -> np.ndarray:
    """Shrink averages of products over few tokens, with the weights sqrt(n) / (C + sqrt(n))."""
    if C <= 0:
        return blocks
    lam = (np.sqrt(times) / (C + np.sqrt(times)))[:, None, None]
    new = blocks * lam
    product = new[:, :, :1] * new[:, :1, :]
    new[:, 1:, 1:] += (1 - lam) * product[:, 1:, 1:]
    new[:, 0, 0] = 1.0
    return new


def clusters(stream: Stream, found: Projections, seed: int) -> np.ndarray:
    """A state for each token: k-means, for each label, on what past and future have in common."""
    rng = np.random.default_rng(seed)
    state = np.zeros(len(stream.label), np.int64)
    order = np.argsort(stream.label, kind="stable")
    borders = np.cumsum(np.bincount(stream.label, minlength=len(found.sizes)))
    for a, its in enumerate(np.split(order, borders[:-1])):
        m, s = int(found.sizes[a]), found.singular_values[a]
        if m < 2:
            continue
        k = min(m - 1, len(s))
        rows = np.sqrt(s[:k]) * (found.y[its, 1 : k + 1] + s[:k] * found.z[its, 1 : k + 1])
        rows /= np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), 1e-300)
        state[its] = _k_means(rows, stream.weights[its], m, rng).argmin(axis=1)
    return state


def _coded(stream: Stream, features: Features) -> dict[str, list[np.ndarray]]:
    """The value of each template at each token, as a number."""
    n, n_codes = stream.n_labels, int(stream.code.max(initial=0)) + 1
    lengths = np.diff(stream.begins)
    at = np.arange(len(stream.label)) + _REACH * (1 + np.repeat(np.arange(len(lengths)), lengths))
    size = len(stream.label) + _REACH * (len(lengths) + 1)
    rows = {"a": np.full(size, n), "x": np.full(size, n_codes)}
    rows["a"][at], rows["x"][at] = stream.label, stream.code

    def coded(template: Template) -> np.ndarray:
        value = np.zeros(len(at), np.int64)
        for kind, offset in template:
            value = value * ((n if kind == "a" else n_codes) + 1) + rows[kind][at + offset]
        return value

    return {name: [coded(one) for one in part] for name, part in features._asdict().items()}


def _covariance_svd(
    future: list[np.ndarray], past: list[np.ndarray], w: np.ndarray, rank: int, kappa: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U^T (phi - mean) and V^T (psi - mean) of each token, and the singular values."""
    phi, psi = (_one_hot(side, w, kappa) for side in (future, past))
    total = w.sum()
    mean_phi, mean_psi = (phi.T @ w) / total, (psi.T @ w) / total
    omega: Any = sp.csr_array((sp.diags_array(w / total) @ phi).T @ psi)
    rank = min(rank, *omega.shape)
    if omega.shape[0] * omega.shape[1] <= _DENSE:
        U, s, Vt = svd(omega.toarray() - np.outer(mean_phi, mean_psi), rank, method="exact")
    else:
        across = omega.T.tocsr()
        operator: Any = LinearOperator  # its types know only one way to make one
        centered = operator(
            omega.shape,
            matvec=lambda v: omega @ v - mean_phi * (mean_psi @ v),
            rmatvec=lambda v: across @ v - mean_psi * (mean_phi @ v),
            matmat=lambda v: omega @ v - np.outer(mean_phi, mean_psi @ v),
            rmatmat=lambda v: across @ v - np.outer(mean_psi, mean_phi @ v),
            dtype=np.float64,
        )
        U, s, Vt = svd(centered, rank, method="randomized", n_oversamples=_SPARE, n_iter=_POWERS)
    return phi @ U - mean_phi @ U, psi @ Vt.T - mean_psi @ Vt.T, s


def _one_hot(side: list[np.ndarray], w: np.ndarray, kappa: float) -> sp.csr_array:
    """The scaled feature vectors of tokens, one row for each."""
    columns, width, scales = [], 0, []
    for values in side:
        found, at = np.unique(values, return_inverse=True)
        columns.append(at + width)
        width += len(found)
        counts = np.bincount(at, w)
        scales.append(np.sqrt(w.sum() / (counts + kappa)) if np.isfinite(kappa) else 1 + 0 * counts)
    indices = np.stack(columns, axis=1).ravel()
    scale = np.concatenate(scales)
    offsets = np.arange(0, len(indices) + 1, len(side))
    return sp.csr_array((scale[indices], indices, offsets), (len(w), width))


def _useful(s: np.ndarray, tolerance: float) -> int:
    """How many singular values are not too small to divide by."""
    return int((s > max(tolerance, _ROUNDING) * s[0]).sum()) if len(s) and s[0] > _ROUNDING else 0
