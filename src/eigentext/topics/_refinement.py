r"""A few steps of EM from the answer of the moments, as Cohen and Collins (2014) do for grammars.

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

import os
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.engine.spread import Spread
from eigentext.errors import CorpusError
from eigentext.factor.mixture import posteriors
from eigentext.matrices.products import sparse_times
from eigentext.storage.checkpoints import Iteration, State

_BLOCKS = 8  # of documents, each with expected counts of its own
_FITTING = 5  # steps for a document's proportions, which its tokens' first topics are drawn by
_SETTLING = 2  # sweeps before the first M step
_AVERAGED = 5  # last steps, whose expected counts are averaged
_WORTH = 1 << 24  # tokens times topics of a sweep that a cluster may take
_LONGEST = 1 << 20  # tokens of a document, each with a topic in memory; no text is as long
_MOST = 1 << 24  # tokens in all beyond which fewer do for a document,
_ENOUGH = 1 << 16  # but not fewer than these
_TOKEN = 12  # bytes: its topic, before a sweep and after, and the two put together
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
    history, is_done = [], n_steps == 0
    given = X.indptr, X.indices, X.data, times, weights, components
    loop = Iteration("mixture-em", *given, n_steps, smoothing, tol)
    if kept := loop.kept():
        phi, w, history = kept[0]["phi"], kept[0]["w"], kept[0]["history"].tolist()
        is_done = kept[1]["is_done"]

    def state() -> State:
        return {"phi": phi, "w": w, "history": np.array(history)}, {"is_done": is_done}

    with engine.phase("refine", n_steps, "steps") as advance:
        if kept:
            advance(len(history))
        while not is_done:
            r, logs = posteriors(X, phi, w)
            history.append(float(np.exp(-_sum(times, logs) / n_tokens)))
            r *= times[:, None]
            expected = sparse_times(transpose, r).T
            w = r.sum(axis=0) / times.sum()
            phi = _maximised(expected, smoothing, phi)
            advance(1)
            slow = len(history) > 1 and history[-1] > (1 - tol) * history[-2]
            is_done = slow or len(history) == n_steps
            loop.keep(state, is_last=is_done)
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
    given = counts.indptr, counts.indices, counts.data, times, weights, components
    loop = Iteration("lda-em", *given, alpha0, n_steps, smoothing, tol, random_state)
    kept = loop.kept()
    topics = kept[0]["topics"] if kept else None
    sampler = _Sampler(counts, times, phi, alpha0 * w, random_state, topics)
    history: list[float] = []
    n_averaged = 0
    total = np.zeros(phi.T.shape)
    if kept:
        arrays, about = kept
        phi, w, total = (arrays[name] for name in ("phi", "w", "total"))
        history, n_averaged = arrays["history"].tolist(), about["n_averaged"]
        sampler.seeds.bit_generator.state = about["seeds"]

    def state() -> State:
        arrays = {"phi": phi, "w": w, "total": total, "topics": sampler.topics}
        about = {"n_averaged": n_averaged, "seeds": sampler.seeds.bit_generator.state}
        return arrays | {"history": np.array(history)}, about

    with engine.phase("refine", _SETTLING + n_steps, "sweeps") as advance:
        for _ in range(0 if kept else _SETTLING):
            sampler.sweep(phi, alpha0 * w, keep=False)
            advance(1)
        if kept:
            advance(_SETTLING + len(history))
        for left in range(n_steps - len(history), 0, -1):
            if n_averaged == _AVERAGED:
                break
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
            loop.keep(state, is_last=n_averaged == _AVERAGED or left == 1)
    return Refined(w, phi, history)


class _Documents(NamedTuple):
    """Some documents: CSR, of which the tokens of entry e are those from ``first[e]`` on."""

    indptr: np.ndarray
    words: np.ndarray
    first: np.ndarray
    times: np.ndarray
    place: int  # of the first of them among all


class _Sampler:
    """The tokens of all documents, with their topics: at first, by what fits the document best."""

    def __init__(
        self,
        counts: Any,
        times: np.ndarray,
        phi: np.ndarray,
        alpha: np.ndarray,
        seed: int,
        topics: np.ndarray | None = None,
    ):
        from eigentext.topics._sweep_loops import padded

        tokens, times = _thinned(counts, times, seed)
        first = np.concatenate([[0], np.cumsum(tokens)])
        ends = first[counts.indptr]
        _check_room(int(ends[-1]))
        self._times, self._lengths = times, np.diff(ends)
        borders = engine.even_blocks(ends, 1 + ends[-1] // _BLOCKS)
        self._borders = ends[[stop for _, stop in borders][:-1]]
        blocks = []
        for start, stop in borders:
            indptr = counts.indptr[start : stop + 1]
            a, z = indptr[0], indptr[-1]
            part = indptr - a, counts.indices[a:z], first[a : z + 1] - first[a]
            blocks.append(_Documents(*part, times[start:stop], start))
        is_worth = ends[-1] * len(phi) >= _WORTH
        self._blocks = Spread(_same, blocks, worth=bool(is_worth))
        self.seeds = np.random.default_rng(seed)
        if topics is None:
            prior = padded(np.maximum(alpha, _LEAST)[None])[0]
            found = self._blocks.map(_draw_first, padded(phi.T), prior, self._seed())
            topics = np.concatenate(list(found))
        self.topics = topics

    def sweep(self, phi: np.ndarray, alpha: np.ndarray, keep: bool = True) -> Any:
        """Expected counts of words in topics, (d, K), and the perplexity of the tokens."""
        from eigentext.topics._sweep_loops import padded

        K = len(phi)
        alpha = np.maximum(alpha, _LEAST)
        model = (padded(phi.T), padded(alpha[None])[0])
        total, likelihood, topics = np.zeros((0, K)), 0.0, []
        before = np.split(self.topics, self._borders)
        for drawn, expected, part in self._blocks.map(
            _sweep, *model, self._seed(), keep, each=before
        ):
            topics.append(drawn)
            total = total + expected if len(total) else expected.astype(np.float64)
            likelihood += part
        self.topics = np.concatenate(topics)
        # Each token's chance is p.sum() / (the document's other tokens + alpha0).
        n = self._lengths
        others = np.log(np.maximum(n - 1, 0) + alpha.sum())
        likelihood -= _sum(self._times, n * others)
        return total[:, :K], float(np.exp(-likelihood / _sum(self._times, n)))

    def _seed(self) -> Any:
        return self.seeds.integers(1 << 63, dtype=np.int64)


def _thinned(counts: Any, times: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of each entry, and how often each document counts.

    Memory and time grow with tokens, and a matrix may have counts of billions. Of a document that
    is longer than any text, so many tokens are sampled as are enough to know its proportions, and
    it counts the more often: its sums stay the same, and so does their expectation for each word.
    """
    tokens = np.ceil(counts.data).astype(np.int64)
    lengths = np.diff(np.concatenate([[0], np.cumsum(tokens)])[counts.indptr])
    longest = _LONGEST
    while longest > _ENOUGH and np.minimum(lengths, longest).sum() > _MOST:
        longest //= 2
    share = longest / np.maximum(lengths, longest)
    if (share == 1).all():
        return tokens, times
    entries = np.repeat(share, np.diff(counts.indptr))
    some = entries < 1
    lots = np.random.default_rng([seed, 1]).random(int(some.sum()))
    tokens[some] = tokens[some] * entries[some] + lots  # rounded up or down by chance
    left = np.diff(np.concatenate([[0], np.cumsum(tokens)])[counts.indptr])
    return tokens, times * (lengths / np.maximum(left, 1))


def _check_room(n_tokens: int) -> None:
    """Raise if the machine has no room for the topics of all tokens."""
    try:
        room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not every system tells
        return
    if (needed := _TOKEN * n_tokens) > room:
        raise CorpusError(
            f"EM for LDA keeps a topic for each of {n_tokens:,} tokens: {needed / 1e9:.0f} GB, and "
            f"this machine has {room / 1e9:.0f}; divide the counts, give fewer documents, or "
            "refine=0 (--refine 0)"
        )


def _same(documents: _Documents) -> _Documents:
    return documents


def _draw_first(
    documents: _Documents, phi: np.ndarray, prior: np.ndarray, seed: np.int64
) -> np.ndarray:
    """A topic for each token of some documents."""
    from eigentext.topics._sweep_loops import draw, fit_proportions, seed_from

    tokens, n = (*documents[:3], phi), len(documents.times)
    theta = np.empty((n, len(prior)), np.float32)
    topics = np.empty(documents.first[-1], np.int32)
    fit_proportions(*tokens, prior, theta, _FITTING, 0, n)
    draw(*tokens, theta, topics, seed_from(seed, documents.place), 0, n)
    return topics


def _sweep(
    block: tuple[_Documents, np.ndarray],
    phi: np.ndarray,
    alpha: np.ndarray,
    seed: np.int64,
    keep: bool,
) -> tuple[np.ndarray, np.ndarray, float]:
    """New topics of some documents, expected counts, and the log-likelihood but for constants."""
    from eigentext.topics._sweep_loops import seed_from, sweep

    documents, topics = block[0], block[1].copy()
    expected = np.zeros(phi.shape if keep else (0, phi.shape[1]), np.float32)
    known = *documents[:4], phi, alpha, topics, seed_from(seed, documents.place)
    total = sweep(*known, keep, expected, 0, len(documents.times))
    return topics, expected, total


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
