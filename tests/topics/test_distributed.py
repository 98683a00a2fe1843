"""EM for topics on Dask workers, and after an interruption: the same bits."""

import numpy as np
import pytest

from eigentext import engine
from eigentext.topics import em
from eigentext.topics.em import _Sampler, refine_lda, refine_mixture


@pytest.fixture
def problem(random_topics):
    truth = random_topics(4, 40, 0.5)
    X = truth.draw(300, 30)
    times = np.random.default_rng(0).integers(1, 3, 300)
    start = np.random.default_rng(1).dirichlet(np.ones(40), 4)
    return X, times, np.full(4, 0.25), start


def bits(refined):
    return refined.weights.tobytes(), refined.components.tobytes(), refined.perplexities


def test_the_same_topics(cluster, problem, monkeypatch):
    monkeypatch.setattr(em, "_WORTH", 0)
    found = []
    for where in (engine.ThreadEngine(2), cluster):
        with engine.use(where):
            found.append(bits(refine_lda(*problem, alpha0=1.0, n_steps=6, smoothing=0.1)))
    assert found[0] == found[1]


def test_sweeps_over_little_stay_here(cluster, problem, monkeypatch):
    monkeypatch.setattr(cluster, "_submit", lambda *_: pytest.fail("sent to a worker"))
    with engine.use(cluster):
        refine_lda(*problem, alpha0=1.0, n_steps=1, smoothing=0.1)


def test_blocks_do_not_matter_for_what_is_drawn(problem, monkeypatch):
    """A document has its own generator, whatever block it is in."""
    found = []
    for n_blocks in (1, 3, 8):
        monkeypatch.setattr(em, "_BLOCKS", n_blocks)
        sampler = _Sampler(problem[0], problem[1], problem[3], problem[2], 7)
        first = sampler.topics
        sampler.sweep(problem[3], problem[2])
        found.append((first.tobytes(), sampler.topics.tobytes()))
    assert found[0] == found[1] == found[2]
    assert found[0][0] != found[0][1]


@pytest.mark.parametrize("n", [4, 7, 9])
def test_lda_goes_on(problem, killed_at, n):
    def fit():
        return bits(refine_lda(*problem, alpha0=1.0, n_steps=9, smoothing=0.1, tol=0.05))

    expected = fit()
    assert killed_at(n, (_Sampler, "sweep"), fit) == expected


@pytest.mark.parametrize("n", [2, 5])
def test_a_mixture_goes_on(problem, killed_at, n):
    def fit():
        return bits(refine_mixture(*problem, n_steps=6, smoothing=0.1, tol=0))

    expected = fit()
    assert killed_at(n, (em, "posteriors"), fit) == expected
