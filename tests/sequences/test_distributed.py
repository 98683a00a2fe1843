"""EM of sequence models on Dask workers, and after an interruption: the same bits."""

import numpy as np
import pytest

from eigentext import HMM, BigramModel, engine
from eigentext.factor.mixture import ConditionalMixture
from eigentext.sequences.learning import em


def saved(model):
    arrays, about = model._to_saved()
    bits = {n: a if isinstance(a, list) else (a.dtype, a.tobytes()) for n, a in arrays.items()}
    return bits, about["diagnostics"], model.history_


@pytest.mark.parametrize("method", ["em", "spectral+em"])
def test_the_same_hmm(cluster, zipf_lines, monkeypatch, method):
    monkeypatch.setattr(em, "_WORTH", 0)
    monkeypatch.setattr(em, "_SHORT", 3)
    monkeypatch.setattr(em, "_TASKS", 4)
    found = []
    for where in (engine.ThreadEngine(2), cluster):
        with engine.use(where):
            model = HMM(3, method=method, n_iter=6, n_init=2, min_count=1, smoothing=0.1)
            found.append(saved(model.fit(zipf_lines(1500))))
    assert found[0] == found[1]


def test_a_pass_over_little_stays_here(cluster, monkeypatch):
    monkeypatch.setattr(cluster, "_submit", lambda *_: pytest.fail("sent to a worker"))
    data = em.Sequences(np.array([0, 1, 0, -1, 1, 0]), np.array([0, 4]), np.array([3, 6]))
    start = em.random_start(np.ones(2), 2, np.random.default_rng(0))
    with engine.use(cluster):
        assert em.refine(start, data, n_iter=4).n_passes == 4


@pytest.mark.parametrize("n", [2, 15, 22])
def test_em_goes_on(zipf_lines, killed_at, monkeypatch, n):
    monkeypatch.setattr(em, "_SHORT", 5)

    def fit():
        model = HMM(3, method="em", n_iter=9, n_init=3, tol=0, min_count=1, smoothing=0.1)
        return saved(model.fit(zipf_lines(300)))

    expected = fit()
    assert killed_at(n, (em, "expect"), fit) == expected


@pytest.mark.parametrize("method", ["em", "pivot+em", "pivot"])
@pytest.mark.parametrize(("n", "fraction"), [(2, 0.1), (4, 0.1), (6, 0.0)])
def test_a_bigram_model_goes_on(zipf_lines, killed_at, method, n, fraction):
    how = {"method": method, "n_iter": 6, "min_count": 1, "validation_fraction": fraction}

    def fit():
        return saved(BigramModel(3, **how).fit(zipf_lines(300)))

    expected = fit()
    assert killed_at(n, (ConditionalMixture, "expect"), fit) == expected
