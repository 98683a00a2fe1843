"""Topics and documents as tables: the numbers are those of the model."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from eigentext import TextCorpus, TopicModel, TwoViewTopics
from eigentext.errors import ParameterError
from eigentext.topics.tables import share_table, top_table, topic_names

TEXTS = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20


@pytest.fixture(scope="module")
def model():
    return TopicModel(2).fit(TEXTS)


def test_names_of_topics_with_and_without_them(model):
    named = TopicModel(2, anchors={"food": ["ham"]}).fit(TEXTS)
    assert topic_names(named) == named.topic_names_
    assert "food" in topic_names(named)
    two = TwoViewTopics(2).fit(TEXTS, TEXTS)
    assert topic_names(model) == topic_names(two) == [None, None]
    assert "<i" not in two.report(TEXTS)


def test_words(model):
    table = model.to_arrow("words", n_words=2)
    assert table.column_names == ["topic", "weight", "rank", "word", "probability", "forms"]
    assert table["word"].to_pylist() == [word for words in model.top_words(2) for word in words]
    for row in table.to_pylist():
        place = model.vocabulary_[row["word"]]
        assert row["probability"] == model.components_[row["topic"], place]
        assert row["forms"] == row["word"]
        assert row["weight"] == model.weights_[row["topic"]]
    assert table["rank"].to_pylist() == [1, 2, 1, 2]
    assert model.to_pandas(n_words=2).equals(table.to_pandas())
    assert len(model.to_arrow(n_words=100)) == 2 * len(model.vocabulary_)
    assert len(model.to_arrow(n_words=0)) == 0
    probable = model.to_arrow("words", n_words=2, rank="probability")["word"].to_pylist()
    assert probable == [word for words in model.top_words(2, rank="probability") for word in words]


def test_topics(model):
    table = model.to_arrow("topics", n_words=3)
    assert table["words"].to_pylist() == [" ".join(words) for words in model.top_words(3)]
    assert table["alpha"].to_pylist() == model.alpha_.tolist()
    assert table["topic"].to_pylist() == [0, 1]


def test_names_of_columns():
    counts = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1]] * 20)
    model = TopicModel(2).fit(counts)
    names = ["ham", "eggs", "goal", "team"]
    found = model.to_pandas("words", n_words=2, words=names)
    assert set(found["word"]) == set(names)
    frame = pd.DataFrame(counts, columns=names, index=[f"d{k}" for k in range(60)])
    assert model.to_pandas("documents", frame).index.tolist() == frame.index.tolist()


@pytest.mark.parametrize(
    ("documents", "names"),
    [
        (TEXTS[:3], [0, 1, 2]),
        ([text.split() for text in TEXTS[:3]], [0, 1, 2]),
        (pd.Series(TEXTS[:3], index=["a", "b", "c"]), ["a", "b", "c"]),
        (pa.array(TEXTS[:3]), [0, 1, 2]),
        (TextCorpus(TEXTS[:3], tokenizer="words", unit="document"), [0, 1, 2]),
        (
            TextCorpus({"n": [7, 8, 9], "text": TEXTS[:3]}, column="text", id="n"),
            [7, 8, 9],
        ),
        (
            TextCorpus({"n": ["x", None, "z"], "text": TEXTS[:3]}, column="text", id="n"),
            ["x", "row 1", "z"],
        ),
    ],
)
def test_documents_have_their_names(model, documents, names):
    table = model.to_arrow("documents", documents)
    title = getattr(documents, "id", None) or "document"
    assert table.column_names == [title, "topic0", "topic1"]
    assert table[title].to_pylist() == names
    shares = np.array([table["topic0"], table["topic1"]]).T
    assert np.allclose(shares, model.transform(TEXTS[:3]))
    frame = model.to_pandas("documents", documents)
    assert (frame.index.name, frame.index.tolist()) == (title, names)


def test_names_of_files(model, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("ham eggs\n\ngoal team\n")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    lines = model.to_arrow("documents", TextCorpus(files))["document"].to_pylist()
    assert lines == [f"{file}:{line}" for file in files for line in (1, 3)]
    whole = model.to_arrow("documents", TextCorpus(files, unit="document"))
    assert whole["document"].to_pylist() == [str(file) for file in files]
    (one,) = files[:1]
    assert model.to_arrow("documents", TextCorpus(one))["document"].to_pylist() == [1, 3]


def test_a_title_that_is_taken():
    shares = np.array([[0.25, 0.75]])
    assert share_table(["a"], shares, "topic1").column_names == ["document", "topic0", "topic1"]
    assert top_table(["a"], shares, "share").to_pylist() == [
        {"document": "a", "topic": 1, "share": 0.75}
    ]


def test_mistakes(model):
    with pytest.raises(ParameterError, match="needs documents"):
        model.to_arrow("documents")
    with pytest.raises(ParameterError, match="uses no documents"):
        model.to_arrow("words", TEXTS)
    with pytest.raises(ParameterError, match="'matrix', 'tree', not 'shares'"):
        model.to_pandas("shares")


def test_matrix_and_tree(model):
    table = model.to_arrow("matrix")
    assert table["word"].to_pylist() == model.vocabulary_.words
    assert np.array_equal(np.array([*table.columns[1:]]), model.components_)
    assert model.to_pandas("tree")["topic"].dropna().tolist() == [0, 1]
    with pytest.raises(ParameterError, match="give one for each"):
        model.to_arrow("matrix", words=["a"])
    with pytest.raises(ParameterError, match="kind must be 'words'"):
        model.to_arrow("nope")
