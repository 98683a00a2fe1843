"""Whole fits on a Dask cluster: the same model as on one machine, bit for bit."""

import os
import signal

import numpy as np
import pytest

import eigentext as et
from eigentext import engine
from eigentext.matrices.lazy import waiting
from eigentext.moments import distributed as counting


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch):
    monkeypatch.setattr("eigentext.corpus.shards._SHARD_BYTES", (20_000, 20_000))
    monkeypatch.setattr(counting, "_RANGE_BYTES", 1 << 19)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Text of three hidden states, in 3000 lines."""
    rng = np.random.default_rng(0)
    emission = rng.dirichlet(np.full(900, 0.05), 3)
    model = et.HMM.from_parameters(
        [0.5, 0.3, 0.2], [[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.3, 0.1, 0.6]], emission
    )
    path = tmp_path_factory.mktemp("cluster") / "text.txt"
    lines = (
        model.sample(int(length), random_state=n)
        for n, length in enumerate(rng.integers(3, 15, 3000))
    )
    path.write_text("\n".join(" ".join(f"w{symbol}" for symbol in line) for line in lines))
    return path


def saved(model, folder):
    """The bytes of its file."""
    model.save(folder / "model")
    return (folder / "model").read_bytes()


MODELS = {
    "words": lambda: et.Eigenwords(10, window=2, min_count=2),
    "ppmi": lambda: et.Eigenwords(10, window=2, scaling="ppmi", keep_moments="whole"),
    "list": lambda: et.Eigenwords(10, window=2, context="list", weighting="flat"),
    "tokens": lambda: et.Eigentokens(8, window=2, min_count=2),
    "hmm": lambda: et.HMM(3),
    "bigram": lambda: et.BigramModel(3, n_iter=3),
    "kneser-ney": lambda: et.KneserNey(3),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_are_equal_to_the_last_byte(cluster, path, tmp_path, name):
    here = MODELS[name]().fit(path)
    with engine.use(cluster):
        there = MODELS[name]().fit(path)
    assert saved(there, tmp_path) == saved(here, tmp_path)


@pytest.mark.parametrize("method", ["tensor", "anchors"])
def test_topics(cluster, path, tmp_path, method):
    corpus = et.TextCorpus(path, unit="line")
    here = et.TopicModel(3, method=method).fit(corpus)
    with engine.use(cluster):
        there = et.TopicModel(3, method=method).fit(corpus)
    assert saved(there, tmp_path) == saved(here, tmp_path)


def test_a_matrix_too_large_for_this_process_stays_on_the_workers(cluster, path, tmp_path):
    here = MODELS["words"]().fit(path)
    with engine.use(cluster):
        model = MODELS["words"]()
        moments = model.collect(path, memory=1)
        assert waiting(moments, "forward")
        there = model.fit_moments(moments)
        assert waiting(moments, "forward")  # nobody has asked for it
    assert saved(there, tmp_path) == saved(here, tmp_path)


def test_a_worker_killed_during_the_svd_changes_nothing(cluster, path, tmp_path):
    here = MODELS["words"]().fit(path)

    class Killer:
        killed = 0

        def started(self, phase): ...
        def finished(self, phase): ...

        def advanced(self, phase):
            if phase.name == "factor" and not self.killed:
                self.killed = next(iter(cluster.each(os.getpid).values()))
                os.kill(self.killed, signal.SIGKILL)

    killer = Killer()
    with engine.use(cluster), engine.report_to(killer):
        model = MODELS["words"]()
        there = model.fit_moments(model.collect(path, memory=1))
    assert killer.killed
    assert saved(there, tmp_path) == saved(here, tmp_path)
