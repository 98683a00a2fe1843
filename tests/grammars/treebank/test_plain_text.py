"""Tags of rare and unseen words, from spelling and plain text."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.grammars.treebank.plain_text import (
    KeptText,
    PlainText,
    learn_text_tags,
    penalized_loss,
    spelling,
)

NOUNS = [f"n{x}" for x in "abcdefghijkl"]
VERBS = [f"v{x}" for x in "abcdefghijkl"]


def vectors(seed=0):
    """Nouns and verbs point into different directions. Half of them are in the treebank."""
    rng = np.random.default_rng(seed)
    centers = np.repeat(rng.standard_normal((2, 8)), 12, axis=0)
    return [*NOUNS, *VERBS], centers + 0.1 * rng.standard_normal(centers.shape)


def clusters():
    return dict.fromkeys(NOUNS, "00") | dict.fromkeys(VERBS, "01")


def learned(text, words=(*NOUNS[:6], *VERBS[:6])):
    """Learn from words whose spelling says nothing: their first letter is no feature."""
    tags = np.array([0 if word in NOUNS else 1 for word in words])
    return learn_text_tags(text, list(words), np.zeros(len(words), bool), tags, 2)


def test_spelling_of_a_word():
    assert [*spelling("Walks", False, True)] == [
        "1", "class C+s", "signs Xx", "capital True False", "ending s", "ending ks", "ending lks",
    ]  # fmt: skip
    assert [*spelling("4%", True, False)] == [
        "1", "class 0", "signs %9", "capital False True", "no text",
    ]  # fmt: skip


def test_gradient_of_the_loss():
    rng = np.random.default_rng(1)
    sparse = sp.random_array((7, 4), density=0.5, rng=rng, format="csr")
    dense, wanted = rng.standard_normal((7, 3)), rng.random((7, 5))
    weights, direction = rng.standard_normal((2, 7, 5))

    def loss(step):
        return penalized_loss(sparse, sparse.T.tocsr(), dense, wanted, weights + step * direction)

    slope = (loss(1e-6)[0] - loss(-1e-6)[0]) / 2e-6
    assert slope == pytest.approx(loss(0.0)[1] @ direction.ravel(), rel=1e-6)


@pytest.mark.parametrize("source", ["vectors", "clusters", "both"])
def test_unseen_words_have_the_tags_of_their_neighbors(source):
    given = {"vectors": vectors(), "clusters": clusters()}
    text = PlainText.of(**{name: one for name, one in given.items() if source in (name, "both")})
    found = learned(text)
    for word in NOUNS[6:]:
        assert found.tags(word, False)[0] > 0.6
    for word in VERBS[6:]:
        assert found.tags(word, False)[1] > 0.6
    unknown = found.tags("zzz", False)
    assert unknown.sum() == pytest.approx(1)
    assert abs(unknown[0] - 0.5) < 0.1  # nothing speaks for either


def test_tags_are_probabilities_and_stay_the_same():
    found = learned(PlainText.of(vectors(), clusters()))
    again = pickle.loads(pickle.dumps(found))
    for word in [*NOUNS, *VERBS, "Na", "NA", "x" * 3000, "7"]:
        tags = found.tags(word, True)
        assert tags.sum() == pytest.approx(1) and (tags >= 0).all()
        np.testing.assert_array_equal(tags, again.tags(word, True))


def test_words_are_looked_up_in_other_cases():
    found = learned(PlainText.of(clusters=clusters()))
    assert found.group("NA") == found.group("na") >= 0
    assert found.group("zzz") == -1


def test_clusters_without_a_word_of_the_treebank_are_no_group():
    paths = clusters() | {f"other{x}": "1" * (x + 1) for x in range(9)}
    found = learned(PlainText.of(clusters=paths))
    assert set(found.groups.tolist()) == {-1, 0, 1}


def test_words_of_both_sources_are_joined():
    text = PlainText.of((["a", "b"], np.array([[3.0, 4.0], [0.0, 0.0]])), {"b": "0", "c": "1"})
    assert text is not None and text.words == ["a", "b", "c"]
    lengths = np.linalg.norm(text.vectors, axis=1)
    np.testing.assert_allclose(lengths, [5.5, 0, 0], rtol=1e-6)
    assert text.bit_strings == ["", "0", "1"]
    assert PlainText.of() is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vectors": (["a"], np.array([[np.nan]]))}, "finite"),
        ({"vectors": (["a"], np.zeros((2, 2)))}, "one row for each word"),
        ({"vectors": object()}, "no word vectors"),
        ({"clusters": {"a": 3}}, "no clusters"),
        ({"vectors": KeptText("vectors")}, r"set_params\(vectors"),
    ],
)
def test_bad_sources_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        PlainText.of(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"vectors": (["слово", "дом"], np.eye(2))},
        {"vectors": (["one"], np.ones((1, 4)))},
        {"clusters": {"Wort": "0", "Haus": "1"}},
    ],
)
def test_a_warning_tells_the_coverage(given, hand_trees):
    name = next(iter(given))
    with pytest.warns(UserWarning, match=rf"only 0\.0% .* words of {name}.*another language"):
        model = et.PCFG(**given).fit(hand_trees)
    assert model.provenance_["coverage"] == {name: 0.0}
    assert any(
        f"0.0% of the tokens of the trees are among the words of {name}" in one.sentence
        and one.severity == "warning"
        for one in model.findings()
    )
    assert str(model.parse(hand_trees[0].leaves())).startswith("(")


def test_capitals_of_another_text_are_told(hand_trees):
    words = sorted({word.upper() for tree in hand_trees for word in tree.leaves()})
    shouted = [word for word in words if len(word) > 1 and word.isalpha()]
    with pytest.warns(UserWarning, match="other capitals"):
        et.PCFG(clusters=dict.fromkeys(shouted, "0")).fit(hand_trees)
