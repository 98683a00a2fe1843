"""The data of pyLDAvis: relevance by its definition, distances of topics, and valid JSON.

`benchmarks/topics_pyldavis.py` compares them with those of pyLDAvis itself.
"""

import json

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon, pdist

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.topics.pyldavis import coordinates

TEXTS = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20


@pytest.fixture(scope="module")
def model():
    return et.TopicModel(2).fit(TEXTS)


def test_words_are_those_of_the_largest_relevance(model):
    found = model.to_pyldavis(TEXTS, n_words=3, step=0.25)
    order = np.array(found["topic.order"]) - 1
    phi = (1 - 1e-6) * model.components_[order] + 1e-6 / 6
    sizes = model._counts(TEXTS).sum(axis=1) @ model.transform(TEXTS)[:, order]
    p = sizes @ phi / sizes.sum()
    table = list(
        zip(*(found["tinfo"][name] for name in ("Term", "Category", "logprob", "loglift")))
    )
    for k in range(2):
        rows = {term: (a, b) for term, name, a, b in table if name == f"Topic{k + 1}"}
        for step in np.arange(0, 1.25, 0.25):
            relevance = step * np.log(phi[k]) + (1 - step) * np.log(phi[k] / p)
            top = [model.vocabulary_.words[w] for w in np.argsort(-relevance)[:3]]
            assert set(top) <= set(rows)
        for term, (logprob, loglift) in rows.items():
            w = model.vocabulary_[term]
            assert logprob == pytest.approx(np.log(phi[k, w]), abs=1e-4)
            assert loglift == pytest.approx(np.log(phi[k, w] / p[w]), abs=1e-4)
    assert [row[1] for row in table[:3]] == ["Default"] * 3
    assert np.allclose(found["mdsDat"]["Freq"], 100 * sizes / sizes.sum())
    tokens = found["token.table"]
    assert tokens["Term"] == sorted(tokens["Term"]) and set(tokens["Topic"]) == {1, 2}


def test_two_axes_keep_the_distances_of_three_topics():
    phi = np.random.default_rng(0).dirichlet(np.ones(20), 3)
    found = coordinates(phi)
    assert np.allclose(pdist(found), pdist(phi, lambda p, q: jensenshannon(p, q) ** 2))
    assert np.allclose(found.sum(axis=0), 0)
    assert np.array_equal(coordinates(phi), found)


def test_json(model, tmp_path):
    path = tmp_path / "topics.json"
    found = model.to_pyldavis(TEXTS, path)
    assert json.loads(path.read_text()) == found
    assert [*found] == [
        *("mdsDat", "tinfo", "token.table", "R", "lambda.step", "plot.opts", "topic.order")
    ]
    for name in ("mdsDat", "tinfo", "token.table"):
        assert len({len(column) for column in found[name].values()}) == 1
    assert found["R"] == len(model.vocabulary_)


def test_one_topic_and_equal_topics(model):
    found = et.TopicModel(1).fit(TEXTS).to_pyldavis(TEXTS)
    assert found["mdsDat"]["x"] == [0.0] and found["topic.order"] == [1]
    assert np.array_equal(coordinates(np.full((4, 5), 0.2)), np.zeros((4, 2)))


def test_bad_input(model):
    with pytest.raises(CorpusError, match="no document has a word"):
        model.to_pyldavis(["xyz", ""])
    with pytest.raises(CorpusError, match="no document has a word"):
        model.to_pyldavis([])
    with pytest.raises(ParameterError, match="n_words"):
        model.to_pyldavis(TEXTS, n_words=0)
    with pytest.raises(ParameterError, match="step"):
        model.to_pyldavis(TEXTS, step=0)
    with pytest.raises(ParameterError, match="give one for each"):
        model.to_pyldavis(TEXTS, words=["a"])
