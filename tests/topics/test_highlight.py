"""The words of a document by topic: Bayes' rule, the original text, and safe pages."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext.corpus.tokenizers import tokenize
from eigentext.errors import CorpusError, ParameterError
from eigentext.topics.highlight import token_places

TEXTS = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20


@pytest.fixture(scope="module")
def model():
    return et.TopicModel(2).fit(TEXTS)


def test_probabilities_are_those_of_bayes(model):
    text = "The HAM and the goal: goal, unknown; eggs"
    found = model.highlight(text)
    assert np.array_equal(found.shares, model.transform([text])[0])
    assert [text[t.start : t.stop] for t in found.tokens] == [t.text for t in found.tokens]
    for token, row in zip(found.tokens, found.probabilities):
        word = token.text.lower()
        if word not in model.vocabulary_:
            assert token.topic is None and token.probability is None and not row.any()
            continue
        phi = model.components_[:, model.vocabulary_[word]] * (1 - 1e-6)
        phi += 1e-6 / len(model.vocabulary_)
        expected = found.shares * phi / (found.shares @ phi)
        assert np.allclose(row, expected)
        assert (token.topic, token.probability) == (row.argmax(), row.max())


def test_with_one_topic_per_document_every_word_has_that_of_the_document():
    model = et.TopicModel(2, alpha0=0).fit(TEXTS)
    found = model.highlight("ham and goal and eggs and cheese")
    known = [
        row for token, row in zip(found.tokens, found.probabilities) if token.topic is not None
    ]
    assert all(np.array_equal(row, found.shares) for row in known)


def test_forms(model):
    found = model.highlight("A <ham> & Goal!\n\033[0m")
    food = int(model.transform(["ham"]).argmax())
    assert str(found) == f"A <ham[{food}]> & Goal[{1 - food}]!\n\033[0m"
    page = found.to_html()
    assert "<ham>" not in page and "&lt;" in page and page == found._repr_html_()
    assert "\033[3" in found.to_text(color=True)
    about = found.to_dict()
    assert about["text"] == found.text and about["tokens"][0]["topic"] == food
    table = found.to_arrow()
    assert table.column_names == ["token", "start", "stop", "topic", "probability"]
    assert table["token"].to_pylist() == [token.text for token in found.tokens]


@pytest.mark.parametrize("text", ["", " \n", "xyz", "1 2 3", "'"])
def test_documents_without_known_words(model, text):
    found = model.highlight(text)
    assert str(found) == text
    assert np.allclose(found.shares, model.weights_)
    assert found.to_arrow().num_rows == len(found.tokens)
    assert "background" not in found.to_html()


def test_one_topic():
    found = et.TopicModel(1).fit(TEXTS).highlight("ham and goal")
    assert [t.topic for t in found.tokens if t.topic is not None] == [0, 0]


def test_a_model_of_tokens_splits_at_blanks():
    model = et.TopicModel(2, stop_words=None).fit([text.split() for text in TEXTS])
    assert [t.topic is None for t in model.highlight("ham, ham  goal Ham").tokens] == [
        *(True, False, False, True)
    ]


def test_bad_input(model):
    for text in (None, ["ham"], b"ham"):
        with pytest.raises(ParameterError, match="must be a string"):
            model.highlight(text)
    with pytest.raises(CorpusError, match="not valid Unicode"):
        model.highlight("ham \ud800")
    with pytest.raises(CorpusError, match="NUL"):
        model.highlight("ham \0")
    of_matrix = et.TopicModel(2).fit(np.array([[3, 1, 0], [2, 2, 0], [0, 0, 3]] * 20))
    with pytest.raises(CorpusError, match="columns of a matrix"):
        of_matrix.highlight("ham")


@given(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=60),
    st.sampled_from(["words", "simple", "whitespace"]),
    st.booleans(),
)
def test_places_are_those_of_the_tokens(text, tokenizer, lowercase):
    options = {"tokenizer": tokenizer, "lowercase": lowercase}
    places = token_places(text, options)
    tokens = tokenize(text.encode(), tokenizer, lowercase=lowercase, lines_are_units=False)
    assert [token for token, _, _ in places] == tokens.to_pylist()
    before = 0
    for token, start, stop in places:
        assert before <= start <= stop <= len(text) and stop - start == len(token)
        before = stop
