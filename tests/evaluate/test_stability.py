"""Stability: overlaps by hand, and refits of good and of random models."""

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import stability, topic_overlap

TEXTS = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20


class Guess:
    """Topics that depend on nothing but the seed and the first document."""

    def __init__(self, random_state=0, words=100):
        self.random_state, self.words = random_state, words

    def get_params(self, deep=True):
        return {"random_state": self.random_state, "words": self.words}

    def fit(self, documents):
        self.first = documents[0]
        return self

    def top_words(self, n):
        rng = np.random.default_rng(self.random_state)
        return [[str(i) for i in rng.permutation(self.words)[:n]] for _ in range(3)]


def test_overlaps_by_hand():
    a = [["tea", "cup"], ["ox", "hay"]]
    assert topic_overlap(a, a) == topic_overlap(a, a[::-1]) == 1
    assert topic_overlap(a, [["hay", "cow"], ["cup", "tea"]]) == 0.75
    assert topic_overlap(a, [["x"], ["y"]]) == 0
    assert topic_overlap(a, a[:1]) == 0.5  # the other topic has no partner
    assert topic_overlap(a, [["tea", "cup", "pot", "jug"], ["ox", "hay"]]) == 0.75


def test_the_matching_is_the_best_one():
    a = [["x", "y"], ["x", "z"]]
    b = [["x", "y", "z"], ["x", "y"]]
    assert topic_overlap(a, b) == pytest.approx((2 / 3 + 1) / 2)
    assert topic_overlap(a, b) == topic_overlap(b, a)


def test_the_same_fit_has_stability_one():
    found = stability(Guess(), TEXTS, ["order", "resample"], n_fits=2)
    assert found.means == {"order": 1, "resample": 1}
    assert found.overlaps == {"order": [1, 1], "resample": [1, 1]}


def test_another_seed_is_used():
    assert stability(Guess(), TEXTS, "seed").means["seed"] < 0.5


def test_clear_topics_stay_and_the_model_is_not_changed():
    model = et.TopicModel(2)
    found = stability(model, iter(TEXTS), n_words=3)
    assert set(found.means) == {"seed", "order", "resample"}
    assert min(found.means.values()) == 1
    assert not hasattr(model, "components_")
    assert found.to_dict()["n_words"] == 3
    assert "<table" in found._repr_html_()


def test_a_matrix_and_a_corpus_are_taken():
    vocabulary = sorted({word for text in TEXTS for word in text.split()})
    rows = [[text.split().count(word) for word in vocabulary] for text in TEXTS]
    for documents in (np.array(rows), sp.csr_array(rows), et.TextCorpus(TEXTS)):
        assert stability(et.TopicModel(2), documents, "order", n_words=3).means["order"] == 1


@pytest.mark.parametrize(
    ("documents", "options", "error", "told"),
    [
        (TEXTS, {"kind": "weather"}, ParameterError, "'seed', 'order', 'resample'"),
        (TEXTS, {"kind": []}, ParameterError, "'seed', 'order', 'resample'"),
        (TEXTS, {"n_fits": 0}, ParameterError, "n_fits"),
        (TEXTS, {"n_words": 0}, ParameterError, "n_words"),
        ("ham", {}, ParameterError, "a list of texts"),
        ([], {}, CorpusError, "there are no documents"),
    ],
)
def test_bad_input_is_told(documents, options, error, told):
    with pytest.raises(error, match=told):
        stability(et.TopicModel(2), documents, **options)
    with pytest.raises(ParameterError, match="a topic model, not str"):
        stability("model", TEXTS)


@pytest.mark.parametrize("a", [[], "ab", ["tea"]])
def test_bad_topics_are_told(a):
    with pytest.raises(ParameterError, match="a list of words"):
        topic_overlap(a, [["tea"]])
