r"""A few steps of EM from the answer of the moments, as pivot+EM does for grammars (seed 003).

Moments are used up to the third order; likelihood uses all there is, but it has many maxima. EM
that starts at the moments' answer ends in a good one, soon.

**One topic a document** (:math:`\alpha_0 = 0`). The E step is exact: the posterior of a
document's topic is :math:`r_k \propto w_k \prod_w \phi_{kw}^{c_w}`.

**LDA.** The E step needs :math:`p(z_i = k \,|\, \text{words})` for each token i, which is out of
reach. Point estimates of a document's proportions (PLSA) and mean-field approximations are quick
but biased: on model data they move away from the truth that the moments found. So it is sampled
(Monte Carlo EM): a sweep draws each token's topic given those of the others in its document,

.. math:: p(z_i = k) \propto (m_k + \alpha_k)\, \phi_{k w_i},

and the M step takes these probabilities for the expected counts. Once perplexity falls slowly, a
few last steps share the mean of their expected counts, which takes noise out. :math:`\alpha_0`
stays as it is, and :math:`\alpha_k / \alpha_0` follows the topics' shares of the tokens.

Counts are as :class:`~eigentext.moments.DocumentMoments` has them: CSR with sorted indices, without
duplicates or zeros; the row i stands for ``times[i]`` documents.
"""

from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.factor.mixture import posteriors
from eigentext.factor.products import sparse_times

_BLOCKS = 8  # of documents, each with expected counts of its own
_FITTING = 5  # steps for a document's proportions, which its tokens' first topics are drawn by
_SETTLING = 2  # sweeps before the first M step
_AVERAGED = 5  # last steps, whose expected counts are averaged
_LEAST = 1e-6  # alpha of a topic: the sampler's float32 has to tell 1 + alpha from 1
_UNIFORM = 0.01  # the share of the uniform distribution in the first topics: EM cannot leave a zero


class Refined(NamedTuple):
    """Topics after EM, and the training perplexity that each step found, before it moved them."""

    weights: np.ndarray  # (K,)
    components: np.ndarray  # (K, d)
    perplexities: list[float]


def refine_mixture(
    counts: Any,
    times: np.ndarray,
    weights: np.ndarray,
    components: np.ndarray,
    *,
    n_steps: int,
    smoothing: float,
    tol: float = 1e-5,
) -> Refined:
    r"""EM for a mixture of multinomials.

    Every step raises the likelihood times :math:`\prod_{kw} \phi_{kw}^s`, with s for `smoothing`;
    they end when perplexity falls by less than a part `tol`.
    """
    X = counts.astype(np.float64)
    transpose = X.T.tocsr()
    phi, w = _lifted(components), _positive(weights)
    n_tokens = _sum(times, X.sum(axis=1))
    history = []
    with engine.phase("refine", n_steps, "steps") as advance:
        for _ in range(n_steps):
            r, logs = posteriors(X, phi, w)
            history.append(float(np.exp(-_sum(times, logs) / n_tokens)))
            r *= times[:, None]
            expected = sparse_times(transpose, r).T
            w = r.sum(axis=0) / times.sum()
            phi = _maximised(expected, smoothing, phi)
            advance(1)
            if len(history) > 1 and history[-1] > (1 - tol) * history[-2]:
                break
    return Refined(w, phi, history)


def refine_lda(
    counts: Any,
    times: np.ndarray,
    weights: np.ndarray,
    components: np.ndarray,
    *,
    alpha0: float,
    n_steps: int,
    smoothing: float,
    tol: float = 1e-3,
    random_state: int = 0,
) -> Refined:
    """Monte Carlo EM for LDA, of `n_steps` steps or fewer.

    Averaging begins with the first step that lowers perplexity by less than a part `tol`, or with
    the fifth last. Perplexities are of each token given the topics of the others in its document.
    Fractional counts are rounded up.
    """
    phi, w = _lifted(components), _positive(weights)
    sampler = _Sampler(counts, times, phi, alpha0 * w, random_state)
    history: list[float] = []
    n_averaged = 0
    total = np.zeros(phi.T.shape)
    with engine.phase("refine", _SETTLING + n_steps, "sweeps") as advance:
        for _ in range(_SETTLING):
            sampler.sweep(phi, alpha0 * w, keep=False)
            advance(1)
        for left in range(n_steps, 0, -1):
            expected, perplexity = sampler.sweep(phi, alpha0 * w)
            advance(1)
            history.append(perplexity)
            slow = len(history) > 1 and history[-1] > (1 - tol) * history[-2]
            if n_averaged or slow or left <= _AVERAGED:
                total += expected
                n_averaged += 1
                expected = total / n_averaged
            w = expected.sum(axis=0) / expected.sum()
            phi = _maximised(expected.T, smoothing, phi)
            if n_averaged == _AVERAGED:
                break
    return Refined(w, phi, history)


class _Sampler:
    """The tokens of all documents, with their topics: at first, by what fits the document best."""

    def __init__(
        self, counts: Any, times: np.ndarray, phi: np.ndarray, alpha: np.ndarray, seed: int
    ):
        from eigentext.topics._sweep_kernels import draw, fit_proportions, padded

        self._counts = counts
        self._times = times
        self._first = np.concatenate([[0], np.cumsum(np.ceil(counts.data).astype(np.int64))])
        ends = self._first[counts.indptr]
        self._lengths = np.diff(ends)
        self._blocks = engine.even_blocks(ends, 1 + ends[-1] // _BLOCKS)
        self._seeds = np.random.default_rng(seed)
        self._topics = np.empty(ends[-1], np.int32)
        tokens = (counts.indptr, counts.indices, self._first, padded(phi.T))
        prior = padded(np.maximum(alpha, _LEAST)[None])[0]
        theta = np.empty((counts.shape[0], len(prior)), np.float32)
        seed = self._seed()

        def work(block: tuple[int, int]) -> None:
            fit_proportions(*tokens, prior, theta, _FITTING, *block)
            draw(*tokens, theta, self._topics, seed, *block)

        for _ in engine.current().map(work, self._blocks):
            pass

    def sweep(self, phi: np.ndarray, alpha: np.ndarray, keep: bool = True) -> Any:
        """Expected counts of words in topics, (d, K), and the perplexity of the tokens."""
        from eigentext.topics._sweep_kernels import padded, sweep

        X = self._counts
        K = len(phi)
        alpha = np.maximum(alpha, _LEAST)
        tokens = (X.indptr, X.indices, self._first, self._times)
        model = (padded(phi.T), padded(alpha[None])[0])
        seed = self._seed()

        def work(block: tuple[int, int]) -> tuple[np.ndarray, float]:
            expected = np.zeros(model[0].shape if keep else (0, K), np.float32)
            return expected, sweep(*tokens, *model, self._topics, seed, keep, expected, *block)

        total, likelihood = np.zeros((0, K)), 0.0
        for expected, part in engine.current().map(work, self._blocks):
            total = total + expected if len(total) else expected.astype(np.float64)
            likelihood += part
        # Each token's chance is p.sum() / (the document's other tokens + alpha0).
        n = self._lengths
        others = np.log(np.maximum(n - 1, 0) + alpha.sum())
        likelihood -= _sum(self._times, n * others)
        return total[:, :K], float(np.exp(-likelihood / _sum(self._times, n)))

    def _seed(self) -> Any:
        return self._seeds.integers(1 << 63, dtype=np.int64)


def _sum(times: np.ndarray, values: np.ndarray) -> float:
    """``times @ values``, which BLAS may add in another order on more threads."""
    return float((times * values).sum())


def _maximised(expected: np.ndarray, smoothing: float, before: np.ndarray) -> np.ndarray:
    """The M step; a topic that has lost all its tokens stays as it was."""
    phi = expected + smoothing
    sums = phi.sum(axis=1, keepdims=True)
    return np.divide(phi, sums, out=before.copy(), where=sums > 0)


def _lifted(components: np.ndarray) -> np.ndarray:
    return (1 - _UNIFORM) * components + _UNIFORM / components.shape[1]


def _positive(weights: np.ndarray) -> np.ndarray:
    """Weights of sum one; topics that the moments gave next to nothing start small, not dead."""
    weights = np.maximum(weights, 0.1 / len(weights))
    return weights / weights.sum()
