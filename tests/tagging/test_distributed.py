"""Taggers on Dask workers, and fits that are interrupted and resumed: the bits stay the same."""

import numpy as np
import pytest

from eigentext import HMMTagger, Tagger, engine
from eigentext.sequences import hmm_tagger
from eigentext.tagging import _loops, decoding


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(decoding, "_TOKENS", 100)
    monkeypatch.setattr(hmm_tagger, "_BLOCK", 10)


def saved(model):
    arrays, about = model._to_saved()
    bits = {n: a if isinstance(a, list) else (a.dtype, a.tobytes()) for n, a in arrays.items()}
    return bits, about["diagnostics"]


@pytest.mark.parametrize("with_sources", [False, True])
def test_the_same_bits(cluster, class_world, unlabeled, with_sources):
    learned = unlabeled if with_sources else {}
    tagged, new = class_world(60, 0), class_world(80, 1)
    words = [[token[0] for token in sentence] for sentence in new]
    found = []
    for where in (engine.ThreadEngine(2), cluster):
        with engine.use(where):
            model = Tagger(**learned, n_epochs=4, n_runs=3).fit(tagged, validation=new[:20])
            answers = model.tag(words), model.k_best_many(words, 2), model.evaluate(new)
            sure = [p.tobytes() for p in model.confidences(words)]
        found.append((saved(model), answers, sure))
    assert found[0] == found[1]


def test_hidden_markov(cluster, class_world):
    model = HMMTagger().fit(class_world(60, 0))
    words = [[token[0] for token in sentence] for sentence in class_world(50, 1)]
    with engine.use(cluster):
        there = model.tag_many(words), model.k_best_many(words, 3)
    assert there == (model.tag_many(words), model.k_best_many(words, 3))


def test_one_block_stays_here(cluster, class_world, monkeypatch):
    model = Tagger(n_epochs=2).fit(class_world(20, 0))
    other = HMMTagger().fit(class_world(20, 0))
    monkeypatch.setattr(cluster, "_submit", lambda *_: pytest.fail("to the cluster"))
    with engine.use(cluster):
        for one in (model, other):
            assert len(one.k_best("0013 0014 0015", 2)) == 2
        assert model.marginals("0013 0014 0015").shape == (3, len(model.tags_))


@pytest.mark.parametrize("validated", [False, True])
@pytest.mark.parametrize("n", [2, 5, 7])  # among 4 passes, 3 runs, and the passes of the twin
def test_a_fit_goes_on(class_world, killed_at, n, validated):
    tagged, validation = class_world(80, 0), class_world(20, 1)

    def fit():
        with engine.use(engine.ThreadEngine(1)):  # all runs in one thread
            model = Tagger(n_epochs=4, n_runs=3, min_count=2)
            return saved(model.fit(tagged, validation=validation if validated else None))

    expected = fit()
    assert killed_at(n, (_loops, "perceptron_epoch"), fit) == expected
    assert expected[1]["wrong_tags"][-1] > 0
    assert np.all(np.array(expected[1].get("validation", [1])) > 0)
