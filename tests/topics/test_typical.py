"""Typical and borderline documents: known ones, no copies, long enough, and as tables."""

import numpy as np
import pandas as pd
import pytest

import eigentext as et
from eigentext.errors import CorpusError, ParameterError

FOOD, SPORT = "ham eggs cheese bread butter", "goal team match league coach"
TEXTS = [f"{FOOD} {FOOD}", f"{SPORT} {SPORT}", f"{FOOD} ham eggs", f"{SPORT} goal team"] * 15


@pytest.fixture(scope="module")
def model():
    return et.TopicModel(2).fit(TEXTS)


def test_the_document_in_which_topics_tie_is_the_first(model):
    documents = [f"{FOOD} {FOOD}", f"{FOOD} ham eggs goal", f"{FOOD} {SPORT}", "ham goal"]
    documents += [f"{SPORT} {SPORT} {SPORT}"] * 3
    for k, some in enumerate(model.borderline_documents(documents, 2)):
        assert some[0].name == "document 2" and some[0].text == documents[2]
        assert (some[0].other, some[0].n_words) == (1 - k, 10)
        assert some[0].share + some[0].other_share == pytest.approx(1)
        seconds = [min(one.share, one.other_share) for one in some]
        assert seconds == sorted(seconds, reverse=True)
        assert "ham goal" not in [one.text for one in some]  # it is too short


def test_copies_and_pure_documents_are_left_out(model):
    tied = f"{FOOD} {SPORT}"
    documents = [tied, tied, f"{FOOD} {FOOD} {FOOD} {FOOD} {FOOD} {FOOD}"]
    assert [len(some) for some in model.borderline_documents(documents, 5)] == [1, 1]


def test_the_method_is_the_function(model):
    from eigentext.topics.typical import borderline_documents, typical_documents

    assert model.typical_documents(TEXTS, 2) == typical_documents(model, TEXTS, 2)
    assert model.borderline_documents(TEXTS, 2) == borderline_documents(model, TEXTS, 2)


def test_tables(model):
    found = model.typical_documents(TEXTS, 1)
    assert found.to_arrow().column_names == ["topic", "rank", "share", "score", "name", "text"]
    assert found.to_pandas()["topic"].tolist() == [0, 1]
    border = model.borderline_documents([f"{FOOD} {SPORT}"], 1)
    names = ["topic", "rank", "share", "other", "other_share", "n_words", "name", "text"]
    assert border.to_arrow().column_names == names
    assert border.to_arrow()["other"].to_pylist() == [1, 0]
    assert "document 0" in border._repr_html_()
    assert isinstance(border.to_pandas(), pd.DataFrame)
    empty = model.borderline_documents(["xyz"], 3)
    assert empty == [[], []] and empty.to_arrow().column_names == names
    assert len(model.typical_documents(["xyz"], 3).to_arrow()) == 0
    with pytest.raises(CorpusError, match="the list is empty"):
        model.typical_documents([])


def test_titles_matrices_and_one_topic(model):
    titles = [f"title {k}" for k in range(len(TEXTS))]
    first = model.typical_documents(TEXTS, 1, titles=titles)[0][0]
    assert first.text == TEXTS[titles.index(first.name)]
    with pytest.raises(ParameterError, match="1 titles for 2 documents"):
        model.borderline_documents(TEXTS[:2], titles=["a"])
    counts = np.array([[5, 4, 0, 0], [0, 0, 6, 5], [3, 3, 3, 3]] * 20)
    of_matrix = et.TopicModel(2, stop_words=None).fit(counts)
    tied = of_matrix.borderline_documents(counts[:3], 1)
    assert [(one.name, one.text) for some in tied for one in some] == [("document 2", "")] * 2
    assert et.TopicModel(1).fit(TEXTS).borderline_documents(TEXTS) == [[]]


@pytest.mark.parametrize("n", [0, -1, 1.5, "3"])
def test_bad_numbers(model, n):
    for method in (model.typical_documents, model.borderline_documents):
        with pytest.raises(ParameterError, match="n_documents"):
            method(TEXTS, n)
