"""What word vectors answer: collections of words, lists of words, sums of words."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext.errors import ParameterError, UnknownWordError

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords(4, window=2).fit(TEXT)


@pytest.fixture(scope="module")
def spread():
    """Words whose cosines all differ."""
    vectors = np.random.default_rng(0).standard_normal((8, 5))
    names = ["the", "cat", "dog", "sat", "ran", "a", "here", "there"]
    return et.Eigenwords.from_vectors(names, vectors)


def test_a_model_is_a_collection_of_its_words(words):
    assert len(words) == len(words.vocabulary_) == 8
    assert list(words) == words.vocabulary_.words
    assert all(word in words for word in words)
    assert bool(words)


def test_before_the_fit_there_are_no_words():
    model = et.Eigenwords()
    assert model  # has no length, and is not nothing
    for ask in (len, list, lambda one: "cat" in one, lambda one: one.most_similar("cat")):
        with pytest.raises(NotFittedError):
            ask(model)


@pytest.mark.parametrize("several", [list, tuple, np.array, iter])
def test_several_words_have_several_answers(words, several):
    asked = ["cat", "dog", "cat", "sat"] * 4  # more than are searched one by one
    found = words.most_similar(several(asked), topn=3)
    assert found == [words.most_similar(word, topn=3) for word in asked]


def test_several_vectors_have_several_answers(words):
    matrix = np.stack([words["cat"], words["dog"]])
    one_by_one = [words.most_similar(vector) for vector in matrix]
    assert words.most_similar(matrix) == one_by_one
    assert words.most_similar([*matrix]) == one_by_one
    assert words.most_similar([words["cat"], "dog"]) == [one_by_one[0], words.most_similar("dog")]


def test_a_list_of_numbers_is_one_vector(spread):
    assert _near(spread.most_similar(spread["cat"].tolist()), spread.most_similar(spread["cat"]))


def _near(found, others):
    cosines, expected = ([x for _, x in one] for one in (found, others))
    return [w for w, _ in found] == [w for w, _ in others] and np.allclose(cosines, expected)


def test_an_empty_list_has_no_answers(words):
    assert words.most_similar([]) == []


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        (["cat"], []),
        (["cat", "ran"], ["sat"]),
        (["cat", ("ran", 0.5), ("sat", -0.25)], ["the"]),
        ("cat", "dog"),
        ([], ["cat"]),
        (["cat", "cat"], []),
    ],
)
def test_positive_and_negative_words_are_those_of_gensim(spread, positive, negative):
    pytest.importorskip("gensim")
    ours = spread.most_similar(positive=positive, negative=negative, topn=4)
    theirs = spread.to_gensim().most_similar(positive=positive, negative=negative, topn=4)
    np.testing.assert_allclose([x for _, x in ours], [x for _, x in theirs], atol=1e-6)
    assert [word for word, _ in ours] == [word for word, _ in theirs]


def test_vectors_may_be_among_the_positive_ones(words):
    found = words.most_similar(positive=[words["cat"], "ran"], topn=8)
    assert "ran" not in dict(found)
    assert "cat" in dict(found)  # a vector is no word, as in gensim
    scaled = words.most_similar(positive=[7 * words["cat"], "ran"], topn=8)
    np.testing.assert_allclose([x for _, x in found], [x for _, x in scaled], atol=1e-6)


def test_one_positive_word_is_that_word(spread):
    assert _near(spread.most_similar(positive="cat"), spread.most_similar("cat"))
    assert _near(spread.most_similar(positive=("cat", 0.5)), spread.most_similar("cat"))


def test_what_cannot_be_asked(words):
    with pytest.raises(ParameterError, match="not both"):
        words.most_similar("cat", positive=["dog"])
    with pytest.raises(ParameterError, match="no word was given"):
        words.most_similar()
    with pytest.raises(UnknownWordError, match="'zebra' is not in the vocabulary"):
        words.most_similar(["cat", "zebra"])
    with pytest.raises(ParameterError, match="4 dimensions"):
        words.most_similar(np.zeros((2, 3)))
    with pytest.raises(ParameterError, match=r"give positive=\[\('sat', -0.5\)\]"):
        words.most_similar(positive=["cat"], negative=[("sat", 0.5)])
    with pytest.raises(ParameterError, match="topn must be"):
        words.most_similar(["cat"], topn=-1)
