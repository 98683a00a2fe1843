r"""EM for topics, from the topics that the moments give.

Moments use words up to the third order. The likelihood uses all of them, but it has many maxima. EM
that starts from the moments' topics reaches a good maximum in a few steps, as Cohen and Collins
(2014) found for grammars.

**One topic per document** (:math:`\alpha_0 = 0`). The E step is exact: the posterior of a
document's topic is :math:`r_k \propto w_k \prod_w \phi_{kw}^{c_w}`.

**LDA.** The E step needs :math:`p(z_i = k \,|\, \text{words})` for each token i, which cannot be
computed. Point estimates of a document's proportions (PLSA) and mean-field approximations are fast
but biased: on data from a model, they move away from the true topics that the moments found. So the
E step is sampled (Monte Carlo EM). A sweep draws each token's topic given the topics of the other
tokens in its document,

.. math:: p(z_i = k) \propto (m_k + \alpha_k)\, \phi_{k w_i},

and the M step uses these probabilities as expected counts. When the perplexity falls slowly, a few
last steps use the mean of their expected counts, which removes noise. :math:`\alpha_0` stays as it
is, and :math:`\alpha_k / \alpha_0` follows the topics' shares of the tokens.

Counts have the form of :class:`~eigentext.moments.DocumentMoments`: CSR with sorted indices,
without duplicates or zeros. Row i stands for ``times[i]`` documents. The content of a
document seeds its draws (:mod:`eigentext.topics.content`), so they do not depend on its place.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.engine.spread import Spread
from eigentext.errors import CorpusError
from eigentext.factor.mixture import posteriors
from eigentext.matrices.budget import machine_memory
from eigentext.matrices.products import sparse_times
from eigentext.matrices.runs import CSR
from eigentext.monitor import Monitor
from eigentext.topics.choosing import improved_alpha
from eigentext.topics.content import by_key, column_keys, document_keys, mixed, uniforms

_BLOCKS = 8  # blocks of documents, each with its own expected counts
_FITTING = 5  # steps for the proportions of a document, by which the first topics are drawn
_SETTLING = 2  # sweeps before the first M step
_AVERAGED = 5  # the last steps, whose expected counts are averaged
_WORTH = 1 << 24  # tokens times topics of a sweep that make Dask workers worthwhile
_LONGEST = 1 << 20  # the most tokens of a document that are sampled; no text is as long
_MOST = 1 << 24  # if there are more tokens in all, fewer of each long document are sampled,
_ENOUGH = 1 << 16  # but at least this many
_TOKEN = 12  # bytes for the topic of a token: before a sweep, after it, and in the joined array
_LEAST = 1e-6  # the least alpha of a topic: 1 + alpha must differ from 1 in float32
_ALPHA_STEPS = 5  # for alpha in each step of EM
_LAST_ALPHA_STEPS = 20  # for alpha if it is only reported
_UNIFORM = 0.01  # the share of the uniform distribution in the first topics: EM cannot leave a zero


class RefinedTopics(NamedTuple):
    """Topics after EM."""

    weights: np.ndarray  # (K,)
    components: np.ndarray  # (K, d)
    perplexities: list[float]  # of the training documents, before each step
    alpha: np.ndarray | None = None  # (K,), the best prior of the drawn topics, for LDA


def refine_mixture(
    counts: CSR,
    times: np.ndarray,
    weights: np.ndarray,
    components: np.ndarray,
    *,
    n_steps: int,
    smoothing: float | np.ndarray,
    tol: float = 1e-5,
) -> RefinedTopics:
    r"""Run EM for a mixture of multinomials.

    Every step raises the likelihood times :math:`\prod_{kw} \phi_{kw}^s`, where s is `smoothing`.
    EM stops when the perplexity falls by less than the fraction `tol`.
    """
    X = counts.astype(np.float64)
    transpose = X.T.tocsr()
    phi, w = _lifted(components), _positive(weights)
    n_tokens = _sum(times, X.sum(axis=1))
    problem = X.indptr, X.indices, X.data, times, weights, components, smoothing
    monitor = Monitor(
        "mixture-em", n_steps, problem=problem, tol=tol, relative=True, falls=True, title="refine"
    )
    if kept := monitor.resume():
        phi, w = kept.arrays["phi"], kept.arrays["w"]
    with monitor:
        while not monitor.is_done:
            r, logs = posteriors(X, phi, w)
            monitor.record(float(np.exp(-_sum(times, logs) / n_tokens)))
            r *= times[:, None]
            expected = sparse_times(transpose, r).T
            w = r.sum(axis=0) / times.sum()
            phi = _maximized(expected, smoothing, phi)
            monitor.keep(partial(dict, phi=phi, w=w))
    return RefinedTopics(w, phi, monitor.history)


def refine_lda(
    counts: CSR,
    times: np.ndarray,
    weights: np.ndarray,
    components: np.ndarray,
    *,
    alpha0: float,
    n_steps: int,
    smoothing: float | np.ndarray,
    tol: float = 1e-3,
    random_state: int = 0,
    words: np.ndarray | None = None,
    learn_alpha: bool = False,
) -> RefinedTopics:
    """Run Monte Carlo EM for LDA, with at most `n_steps` steps.

    Averaging begins with the first step that lowers the perplexity by less than the fraction `tol`,
    or with the fifth last step. The perplexity is that of each token given the topics of the other
    tokens in its document. Fractional counts are rounded up. `words` are the keys of the columns
    (:func:`eigentext.topics.content.word_keys`), by default those of their numbers. They seed the
    draws of a document, with its counts. With `learn_alpha`, each step improves alpha too
    (:func:`eigentext.topics.choosing.improved_alpha`), and `alpha0` is only where it begins.
    """
    phi, w = _lifted(components), _positive(weights)
    words = column_keys(counts.shape[1]) if words is None else words
    given = counts.indptr, counts.indices, counts.data, times, weights, components, words
    monitor = Monitor(
        "lda-em",
        n_steps,
        problem=(*given, alpha0, smoothing, tol, random_state, learn_alpha),
        relative=True,
        falls=True,
        unit="sweeps",
        title="refine",
        total=_SETTLING + n_steps,
    )
    kept = monitor.resume()
    topics = kept.arrays["topics"] if kept else None
    alpha = alpha0 * w
    sampler = _Sampler(counts, times, phi, alpha, random_state, words, topics)
    n_averaged = 0
    total = np.zeros(phi.T.shape)
    if kept:
        phi, w, total, alpha = (kept.arrays[name] for name in ("phi", "w", "total", "alpha"))
        n_averaged = kept.about["n_averaged"]
        sampler.seeds.bit_generator.state = kept.about["seeds"]
    with monitor:
        for _ in range(_SETTLING):
            if not kept:
                sampler.sweep(phi, alpha, keep=False)
            monitor.advance(1)
        while not monitor.is_done:
            expected, perplexity = sampler.sweep(phi, alpha)
            monitor.record(perplexity)
            is_near_the_end = len(monitor.history) > n_steps - _AVERAGED
            if n_averaged or is_near_the_end or monitor.gains_less_than(tol):
                total += expected
                n_averaged += 1
                expected = total / n_averaged
            w = expected.sum(axis=0) / expected.sum()
            phi = _maximized(expected.T, smoothing, phi)
            alpha = sampler.improved(alpha, _ALPHA_STEPS) if learn_alpha else alpha0 * w
            if n_averaged == _AVERAGED:
                monitor.stop()
            state = partial(dict, phi=phi, w=w, total=total, alpha=alpha, topics=sampler.topics)
            about = {"n_averaged": n_averaged, "seeds": sampler.seeds.bit_generator.state}
            monitor.keep(state, about)
    if not learn_alpha:
        alpha = sampler.improved(np.maximum(alpha, _LEAST), _LAST_ALPHA_STEPS)
    return RefinedTopics(w, phi, monitor.history, alpha)


class _Documents(NamedTuple):
    """A block of documents in CSR. The tokens of entry e begin at ``first[e]``."""

    indptr: np.ndarray
    words: np.ndarray
    first: np.ndarray
    keys: np.ndarray
    times: np.ndarray


class _Sampler:
    """The topics of all tokens. The first ones are drawn by the best proportions of a document."""

    def __init__(
        self,
        counts: CSR,
        times: np.ndarray,
        phi: np.ndarray,
        alpha: np.ndarray,
        seed: int,
        words: np.ndarray | None = None,
        topics: np.ndarray | None = None,
    ):
        from eigentext.topics._sweep_loops import padded

        words = column_keys(counts.shape[1]) if words is None else words
        keys = document_keys(counts, words)
        counts = by_key(counts, words)  # in an order that does not change with other documents
        tokens, times = _thinned(counts, times, keys, words, seed)
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
            blocks.append(_Documents(*part, keys[start:stop], times[start:stop]))
        is_worth = ends[-1] * len(phi) >= _WORTH
        self._blocks = Spread(_same, blocks, worth=bool(is_worth))
        self.seeds = np.random.default_rng(seed)
        if topics is None:
            prior = padded(np.maximum(alpha, _LEAST)[None])[0]
            found = self._blocks.map(_draw_first, padded(phi.T), prior, self._seed())
            topics = np.concatenate(list(found))
        self.topics = topics

    def sweep(
        self, phi: np.ndarray, alpha: np.ndarray, keep: bool = True
    ) -> tuple[np.ndarray, float]:
        """Draw all topics again. Return expected counts of words in topics, and the perplexity."""
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
        # The probability of a token is p.sum() / (the other tokens of its document + alpha0).
        n = self._lengths
        others = np.log(np.maximum(n - 1, 0) + alpha.sum())
        likelihood -= _sum(self._times, n * others)
        return total[:, :K], float(np.exp(-likelihood / _sum(self._times, n)))

    def improved(self, alpha: np.ndarray, n_steps: int) -> np.ndarray:
        """Return an alpha that fits the drawn topics better."""
        K, n = len(alpha), len(self._lengths)
        cells = np.repeat(np.arange(n) * K, self._lengths) + self.topics
        drawn = np.bincount(cells, minlength=n * K).reshape(n, K)
        return improved_alpha(np.maximum(alpha, _LEAST), drawn, self._times, n_steps)

    def _seed(self) -> np.int64:
        return self.seeds.integers(1 << 63, dtype=np.int64)


def _thinned(
    counts: CSR, times: np.ndarray, keys: np.ndarray, words: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The number of tokens of each entry, and the weight of each document.

    Memory and time grow with the tokens, and a matrix may have counts of billions. If a document is
    longer than any text, only some of its tokens are sampled, which is enough for its proportions.
    Its weight grows accordingly, so that its sum, and the expected sum of each word, do not change.
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
    documents = np.repeat(keys, np.diff(counts.indptr))[some]
    lots = uniforms(mixed(documents) + words[counts.indices[some]], seed)
    tokens[some] = tokens[some] * entries[some] + lots  # rounded up or down at random
    left = np.diff(np.concatenate([[0], np.cumsum(tokens)])[counts.indptr])
    return tokens, times * (lengths / np.maximum(left, 1))


def _check_room(n_tokens: int) -> None:
    """Raise CorpusError if the topics of all tokens do not fit into memory."""
    room = machine_memory()
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
    """Draw the first topic of each token of some documents."""
    from eigentext.topics._sweep_loops import draw, fit_proportions

    tokens, n = documents[:3], len(documents.times)
    theta = np.empty((n, len(prior)), np.float32)
    topics = np.empty(documents.first[-1], np.int32)
    fit_proportions(*tokens, phi, prior, theta, _FITTING, 0, n)
    draw(*tokens, documents.keys, phi, theta, topics, seed, 0, n)
    return topics


def _sweep(
    block: tuple[_Documents, np.ndarray],
    phi: np.ndarray,
    alpha: np.ndarray,
    seed: np.int64,
    keep: bool,
) -> tuple[np.ndarray, np.ndarray, float]:
    """New topics of some documents, expected counts, and the log-likelihood without constants."""
    from eigentext.topics._sweep_loops import sweep

    documents, topics = block[0], block[1].copy()
    expected = np.zeros(phi.shape if keep else (0, phi.shape[1]), np.float32)
    total = sweep(*documents, phi, alpha, topics, seed, keep, expected, 0, len(documents.times))
    return topics, expected, total


def _sum(times: np.ndarray, values: np.ndarray) -> float:
    """The same as ``times @ values``, in which BLAS may change the order of the sum."""
    return float((times * values).sum())


def _maximized(
    expected: np.ndarray, smoothing: float | np.ndarray, before: np.ndarray
) -> np.ndarray:
    """The M step. A topic without any tokens does not change."""
    phi = expected + smoothing
    sums = phi.sum(axis=1, keepdims=True)
    return np.divide(phi, sums, out=before.copy(), where=sums > 0)


def _lifted(components: np.ndarray) -> np.ndarray:
    return (1 - _UNIFORM) * components + _UNIFORM / components.shape[1]


def _positive(weights: np.ndarray) -> np.ndarray:
    """Weights with the sum 1. A topic with hardly any weight starts with a small one."""
    weights = np.maximum(weights, 0.1 / len(weights))
    return weights / weights.sum()
