"""Sweeps over tokens: compared with plain Python with the same random numbers."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit
from scipy.stats import chisquare, kstest

from eigentext.factor.mixture import proportions
from eigentext.topics._sweep_loops import (
    WIDTH,
    _drawn,
    _next,
    _seeded,
    draw,
    fit_proportions,
    padded,
    sweep,
)

MASK = (1 << 64) - 1
SEED = np.int64(1234567890123456789)


@njit
def uniforms(seed, n_documents, n):
    out = np.empty((n_documents, n))
    for document in range(n_documents):
        state = _seeded(seed, document)  # its number as its key
        for i in range(n):
            state = _next(state)
            out[document, i] = np.float64(state >> np.uint64(40)) * 2.0**-24
    return out


# --- in plain Python ------------------------------------------------------------------------------


def key_of(place):
    return (place + 1) * 0xC2B2AE3D27D4EB4F & MASK


def generator(seed, key):
    """Yield uniform numbers of 24 bits: the finalizer of splitmix64, then xorshift64."""
    x = (int(seed) + key * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    x = (x ^ (x >> 31)) | 1
    while True:
        x ^= (x << 13) & MASK
        x ^= x >> 7
        x ^= (x << 17) & MASK
        yield (x >> 40) / 2**24


def choice(u, p):
    """Return the topic at which the sum of p exceeds u. The order of topics is lane by lane."""
    order = np.arange(len(p)).reshape(-1, WIDTH).T.ravel()
    return order[np.searchsorted(np.cumsum(p[order]), u * p.sum(), side="right")]


def plain_sweep(documents, times, phi, alpha, topics, seed):
    topics, expected, total, i = topics.copy(), np.zeros(phi.shape), 0.0, 0
    for place, document in enumerate(documents):
        random = generator(seed, key_of(place))
        own = topics[i : i + len(document)]
        for j, w in enumerate(document):
            others = np.delete(own, j)
            p = (np.bincount(others, minlength=phi.shape[1]) + alpha) * phi[w]
            own[j] = choice(next(random), p)
            expected[w] += times[place] * p / p.sum()
            total += times[place] * np.log(p.sum())
        i += len(document)
    return topics, expected, total


def plain_draw(documents, phi, theta, seed):
    topics = []
    for place, document in enumerate(documents):
        random = generator(seed, key_of(place))
        topics += [choice(next(random), theta[place] * phi[w]) for w in document]
    return np.array(topics)


# --- a small problem ------------------------------------------------------------------------------


def as_arrays(documents):
    """Return indptr, words and first."""
    indptr, words, first = [0], [], [0]
    for document in documents:
        distinct, counts = np.unique(np.array(document, np.int64), return_counts=True)
        words += distinct.tolist()
        first += (first[-1] + np.cumsum(counts)).tolist()
        indptr.append(len(words))
    return np.array(indptr, np.int32), np.array(words, np.int32), np.array(first)


def problem(K, n=12, d=15, seed=0, zeros=0.0):
    rng = np.random.default_rng([K, seed])
    documents = [sorted(rng.integers(0, d, rng.integers(0, 30)).tolist()) for _ in range(n)]
    phi = rng.dirichlet(np.full(d, 0.5), K).T * (rng.random((d, K)) >= zeros)
    phi[:, 0] += 1e-3  # every word has a topic
    alpha, theta = rng.uniform(0.05, 1, K), rng.dirichlet(np.ones(K), n)
    topics = rng.integers(0, K, sum(map(len, documents))).astype(np.int32)
    times = rng.integers(1, 4, n)
    return documents, times, padded(phi), padded(alpha[None])[0], padded(theta), topics


def keys_of(documents):
    return np.array([key_of(place) for place in range(len(documents))], np.uint64)


def run_sweep(documents, times, phi, alpha, topics, seed=SEED, keep=True, blocks=None):
    topics, expected = topics.copy(), np.zeros(phi.shape, np.float32)
    problem_of = *as_arrays(documents), keys_of(documents)
    total = sum(
        sweep(*problem_of, times, phi, alpha, topics, seed, keep, expected, *block)
        for block in blocks or [(0, len(documents))]
    )
    return topics, expected, total


# --- padding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("K", "width"), [(1, 8), (7, 8), (8, 8), (9, 16), (17, 24)])
def test_padding(K, width):
    matrix = np.random.default_rng(0).random((3, K))
    wide = padded(matrix)
    assert wide.shape == (3, width)
    assert wide.dtype == np.float32
    assert wide.flags.c_contiguous
    assert np.array_equal(wide[:, :K], matrix.astype(np.float32))
    assert not wide[:, K:].any()


# --- random numbers -------------------------------------------------------------------------------


def test_the_generator():
    found = uniforms(SEED, 3, 20)
    for document in range(3):
        random = generator(SEED, document)
        assert found[document].tolist() == [next(random) for _ in range(20)]


@pytest.mark.skipif(config.DISABLE_JIT, reason="slow")
@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1, int(SEED)])
def test_numbers_are_uniform_along_documents_and_across_them(seed):
    """The numbers of neighboring documents, and of neighboring seeds, must be independent."""
    found = uniforms(np.int64(seed), 5000, 4)
    for column in found.T:
        assert kstest(column, "uniform").pvalue > 1e-4
    bound = 5 / np.sqrt(5000)
    assert np.abs(np.corrcoef(found.T) - np.eye(4)).max() < bound
    assert abs(np.corrcoef(found[1:, 0], found[:-1, 0])[0, 1]) < bound
    if seed < 2**63 - 1:
        next_seed = uniforms(np.int64(seed + 1), 5000, 1)
        assert abs(np.corrcoef(found[:, 0], next_seed[:, 0])[0, 1]) < bound


# --- sweeps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [0.0, 0.6])
@pytest.mark.parametrize("K", [1, 2, 7, 8, 9, 20, 40])
def test_sweep_is_its_plain_twin(K, zeros):
    documents, times, phi, alpha, _, topics = problem(K, zeros=zeros)
    plain = plain_sweep(documents, times, phi.astype(float), alpha.astype(float), topics, SEED)
    found = run_sweep(documents, times, phi, alpha, topics)
    assert np.array_equal(found[0], plain[0])
    assert np.allclose(found[1], plain[1], rtol=1e-4, atol=1e-6)
    assert found[2] == pytest.approx(plain[2], rel=1e-5)
    again = run_sweep(documents, times, phi, alpha, topics, keep=False)
    assert np.array_equal(again[0], plain[0])
    assert not again[1].any()
    assert again[2] == found[2]


@pytest.mark.parametrize("K", [1, 5, 8, 33])
def test_draw_is_its_plain_twin(K):
    documents, _, phi, _, theta, topics = problem(K)
    draw(*as_arrays(documents), keys_of(documents), phi, theta, topics, SEED, 0, len(documents))
    plain = plain_draw(documents, phi.astype(float), theta.astype(float), SEED)
    assert np.array_equal(topics, plain)


@pytest.mark.parametrize("K", [1, 5, 8, 33])
def test_proportions_are_those_of_the_mixture(K):
    documents, _, phi, alpha, theta, _ = problem(K)
    indptr, words, first = as_arrays(documents)
    X = sp.csr_array((np.diff(first), words, indptr), (len(documents), len(phi)))
    for n_steps in (1, 5):
        fit_proportions(indptr, words, first, phi, alpha, theta, n_steps, 0, len(documents))
        wide = phi[:, :K].T.astype(float), alpha[:K].astype(float)
        assert np.allclose(theta[:, :K], proportions(X, *wide, n_iter=n_steps, tol=0), atol=1e-5)
        assert not theta[:, K:].any()


def test_sweeps_one_after_another():
    """A sweep starts from the topics of the sweep before."""
    documents, times, phi, alpha, _, topics = problem(6, n=8)
    plain = topics
    for seed in range(5):
        topics, _, _ = run_sweep(documents, times, phi, alpha, topics, np.int64(seed))
        wide = phi.astype(float), alpha.astype(float)
        plain, _, _ = plain_sweep(documents, times, *wide, plain, seed)
        assert np.array_equal(topics, plain)


def test_borders_of_blocks_change_no_topic():
    documents, times, phi, alpha, theta, topics = problem(5)
    whole = run_sweep(documents, times, phi, alpha, topics)
    parts = run_sweep(documents, times, phi, alpha, topics, blocks=[(0, 3), (3, 4), (4, 12)])
    assert np.array_equal(whole[0], parts[0])
    assert np.array_equal(whole[1], parts[1])
    assert whole[2] == pytest.approx(parts[2], rel=1e-12)
    drawn, again = topics.copy(), topics.copy()
    draw(*as_arrays(documents), keys_of(documents), phi, theta, drawn, SEED, 0, 12)
    for block in [(5, 12), (0, 5)]:
        draw(*as_arrays(documents), keys_of(documents), phi, theta, again, SEED, *block)
    assert np.array_equal(drawn, again)


def test_expected_counts_sum_to_the_tokens():
    documents, times, phi, alpha, _, topics = problem(11)
    _, expected, _ = run_sweep(documents, times, phi, alpha, topics)
    tokens = np.zeros(15)
    for document, n in zip(documents, times):
        tokens += n * np.bincount(np.array(document, int), minlength=15)
    assert np.allclose(expected.sum(axis=1), tokens, rtol=1e-5)


def test_likelihood_of_a_long_document_does_not_run_over():
    """The product of probabilities would leave the range of floats many times."""
    documents, alpha = [[0] * 3000], padded(np.ones((1, 2)))[0]
    for chance, times in ((1e-9, 1), (1e3, 2)):
        phi, topics = padded(np.full((1, 2), chance)), np.zeros(3000, np.int32)
        _, _, total = run_sweep(documents, np.array([times]), phi, alpha, topics)
        assert total == pytest.approx(times * 3000 * np.log(chance * 3001), rel=1e-6)


def test_a_word_that_no_topic_has():
    """Its tokens keep their topics. The draws of other tokens do not change."""
    phi, alpha = padded(np.array([[0.5, 0.5], [0, 0], [0.3, 0.7]])), padded(np.ones((1, 2)))[0]
    topics = np.array([0, 1, 1, 0], np.int32)
    found, expected, total = run_sweep([[0, 1, 1, 2]], np.array([1]), phi, alpha, topics)
    assert found[1:3].tolist() == [1, 1]
    assert not expected[1].any()
    assert np.allclose(expected.sum(axis=1), [1, 0, 1])
    assert np.isfinite(total)


# --- probabilities --------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from([0.0, 1e-30, 1e-8, 0.3, 1.0, 1e6]), min_size=1, max_size=20),
    st.integers(0, MASK),
    st.sampled_from([1.0, 1.01]),
)
def test_only_what_has_a_chance_is_drawn(chances, state, excess):
    """This holds for any rounding of sums (`excess`)."""
    p = padded(np.array([chances]))[0]
    lanes = p.reshape(-1, WIDTH).sum(axis=0)
    topic = _drawn(np.uint64(state), np.float32(p.sum() * excess), p, lanes, len(p))
    assert p[topic] > 0 or (not p.any() and topic == 0)


@pytest.mark.parametrize("K", [3, 11, 20])
def test_draws_are_in_proportion(K):
    n = 20_000 if not config.DISABLE_JIT else 500
    rng = np.random.default_rng(K)
    phi, theta = padded(rng.random((2, K))), padded(rng.dirichlet(np.ones(K), 1))
    topics = np.full(n, -1, np.int32)
    draw(*as_arrays([[1] * n]), keys_of([[1] * n]), phi, theta, topics, SEED, 0, 1)
    p = (theta[0] * phi[1]).astype(float)[:K]
    assert topics.max() < K
    expected = n * p / p.sum()
    likely = expected >= 5
    found = np.bincount(topics, minlength=K)
    cells = (np.append(x[likely], x[~likely].sum() + 1e-9) for x in (found, expected))
    assert chisquare(*cells, sum_check=False).pvalue > 1e-4


@pytest.mark.parametrize("K", [3, 11])
def test_sweeps_draw_in_proportion(K):
    """In documents of one word, only the prior and the word decide the topic."""
    n = 20_000 if not config.DISABLE_JIT else 500
    rng = np.random.default_rng(K)
    phi, alpha = padded(rng.uniform(0.2, 1, (1, K))), padded(rng.uniform(0.1, 1, (1, K)))[0]
    topics = rng.integers(0, K, n).astype(np.int32)
    found, expected, _ = run_sweep([[0]] * n, np.ones(n, int), phi, alpha, topics)
    p = (alpha * phi[0]).astype(float)[:K]
    assert chisquare(np.bincount(found, minlength=K), n * p / p.sum()).pvalue > 1e-4
    assert np.allclose(expected[0, :K], n * p / p.sum(), rtol=1e-3)


@pytest.mark.parametrize("K", [1, 5, 9])
def test_topics_of_the_padding_are_never_drawn(K):
    documents, times, phi, alpha, theta, topics = problem(K, n=60)
    draw(*as_arrays(documents), keys_of(documents), phi, theta, topics, SEED, 0, 60)
    assert 0 <= topics.min() <= topics.max() < K
    for seed in range(20):
        topics, expected, _ = run_sweep(documents, times, phi, alpha, topics, np.int64(seed))
        assert 0 <= topics.min() <= topics.max() < K
        assert not expected[:, K:].any()


def test_topics_without_a_chance_are_never_drawn():
    phi = np.random.default_rng(0).random((4, 12))
    phi[2, [0, 3, 4, 11]] = 0
    topics = np.full(2000, 5, np.int32)
    found, expected, _ = run_sweep(
        [[2] * 200] * 10, np.ones(10, int), padded(phi), padded(np.ones((1, 12)))[0], topics
    )
    assert not np.isin(found, [0, 3, 4, 11]).any()
    assert len(set(found)) > 4
    assert not expected[2, [0, 3, 4, 11]].any()


# --- without compilation --------------------------------------------------------------------------


def test_without_compilation():
    """The topics are the same, and the intended overflow causes no warning."""
    code = """
import numpy as np
import scipy.sparse as sp
from eigentext.factor.mixture import proportions
from eigentext.topics.em import _Sampler, refine_lda
rng = np.random.default_rng(0)
phi = rng.dirichlet(np.ones(12), 3)
X = sp.csr_array(rng.multinomial(200, rng.dirichlet(np.ones(3), 5) @ phi))
sampler = _Sampler(X, np.ones(5, int), phi, np.ones(3) / 3, 0)
sampler.sweep(phi, np.ones(3) / 3)
start = np.full(3, 1 / 3), phi
found = refine_lda(X, np.ones(5, int), *start, alpha0=1.0, n_steps=2, smoothing=0.1)
print("".join(map(str, sampler.topics)), *map(repr, map(float, found.perplexities)))
"""
    printed = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.split())
    (compiled, *values), (interpreted, *others) = printed
    assert compiled == interpreted
    assert np.allclose([float(v) for v in values], [float(v) for v in others], rtol=1e-5)
