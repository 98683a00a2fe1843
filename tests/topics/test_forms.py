"""Forms of one word: only words of the same topics, by the rules of the language."""

import numpy as np
import pytest

from eigentext import TopicModel
from eigentext.topics.forms import groups, language_of, merged

COUNTS = np.array([5, 9, 4, 7])


def profiles(names, alike=()):
    """Six topics over words; the words in `alike` have the first topic, the others their own."""
    components = np.full((6, len(names)), 0.01)
    for place, name in enumerate(names):
        components[0 if name in alike else 1 + place % 5, place] = 1.0
    return components / components.sum(axis=1, keepdims=True)


def found(names, language, alike=None, counts=None):
    components = profiles(names, names if alike is None else alike)
    counts = np.arange(len(names), 0, -1) if counts is None else counts
    together = groups(components, np.full(6, 1 / 6), counts, names, language)
    return [[names[word] for word in group] for group in together]


@pytest.mark.parametrize(
    ("language", "one", "more"),
    [
        ("english", "drive", "drives"),
        ("english", "city", "cities"),
        ("english", "church", "churches"),
        ("english", "japan", "japan's"),
        ("french", "journal", "journaux"),
        ("french", "bateau", "bateaux"),
        ("french", "voiture", "voitures"),
        ("spanish", "canción", "canciones"),
        ("spanish", "luz", "luces"),
        ("spanish", "ciudad", "ciudades"),
        ("portuguese", "nação", "nações"),
        ("portuguese", "jornal", "jornais"),
        ("portuguese", "homem", "homens"),
        ("catalan", "casa", "cases"),
        ("italian", "libro", "libri"),
        ("italian", "casa", "case"),
        ("german", "hund", "hunde"),
        ("german", "frau", "frauen"),
        ("dutch", "boek", "boeken"),
        ("dutch", "auto", "auto's"),
    ],
)
def test_plurals(language, one, more):
    assert found([one, more], language) == [[one, more]]
    assert found([more, one], language, counts=[2, 3]) == [[one, more]]
    assert found([one, more], language, alike=[one]) == []  # of other topics
    assert found([one, more], None) == found([one, more], "turkish") == []


@pytest.mark.parametrize("language", [None, "english", "turkish"])
def test_case(language):
    assert found(["Windows", "windows", "WINDOWS"], language) == [["Windows", "windows", "WINDOWS"]]
    assert found(["bill", "Bill"], language, alike=["bill"]) == []


def test_words_that_only_look_alike_stay_apart():
    assert found(["as", "ass", "is", "bus", "bu", "class", "clas"], "english") == []
    assert found(["new", "news"], "english", alike=["new"]) == []
    assert found(["ham", "eggs"], "english") == []


def test_chains_are_one_group_and_the_most_frequent_form_is_first():
    names = ["game", "Games", "Game", "games", "game's"]
    assert found(names, "english", counts=[5, 9, 4, 7, 9]) == [
        ["Games", "game's", "games", "game", "Game"]
    ]


def test_few_topics_tell_nothing():
    names, weights = ["new", "news"], np.full(4, 0.25)
    assert groups(np.full((4, 2), 0.5), weights, COUNTS[:2], names, "english") == []


def test_words_without_probability_are_like_no_other():
    components = np.zeros((5, 3))
    components[:, 0] = 1.0
    weights = np.full(5, 0.2)
    assert groups(components, weights, COUNTS[:3], ["ham", "hams", "Hams"], "english") == []


def test_nothing_is_lost_when_forms_are_merged():
    rng = np.random.default_rng(0)
    components = rng.dirichlet(np.ones(4), 5)
    phi, counts, left = merged(components, COUNTS, [[1, 3]])
    assert left.tolist() == [0, 1, 2]
    assert np.allclose(phi.sum(axis=1), 1)
    assert np.allclose(phi[:, 1], components[:, 1] + components[:, 3])
    assert counts.tolist() == [5, 16, 4]
    assert COUNTS.tolist() == [5, 9, 4, 7]  # the arguments stay


def texts_of(genres):
    """Short texts of words of one genre each, with English stop words around them."""
    rng = np.random.default_rng(0)
    joined = "the {} of the {} is in a {} and it was with the {}"
    return [joined.format(*rng.choice(genre, 4)) for _ in range(60) for genre in genres]


GENRES = [
    ["drive", "drives", "disk", "controller"],
    ["goal", "team", "match", "keeper"],
    ["ham", "cheese", "bread", "eggs"],
    ["space", "orbit", "moon", "launch"],
    ["court", "judge", "law", "trial"],
]


def test_top_words_show_one_form():
    model = TopicModel(5).fit(texts_of(GENRES))
    assert language_of(model.diagnostics_) == "english"
    top = model.top_words(3)
    (forms,) = top.forms.values()
    assert sorted(forms) == ["drive", "drives"]
    k = next(k for k, words in enumerate(top) if forms[0] in words)
    assert set(top[k]) == {forms[0], "disk", "controller"}
    ids = model.vocabulary_.ids_of(forms)
    both = model.components_[k, ids].sum()
    assert top.probabilities[k][top[k].index(forms[0])] == pytest.approx(both)
    assert "shown as one: drive" in top._repr_html_()

    assert model.top_words(4, merge=False).forms == {}
    assert {"drive", "drives"} <= set(model.top_words(4, merge=False)[k])
    assert {"drive", "drives"} <= set(model.top_words(4, rank="probability")[k])
    assert model.top_words(4, rank="probability", merge=True).forms == top.forms
    listed = model.to_arrow("words", n_words=3).to_pylist()
    assert [row["forms"] for row in listed if row["word"] == forms[0]] == [" ".join(forms)]
    everything = model.top_words(100)
    assert all(len(words) == len(model.vocabulary_) - 1 for words in everything)


def test_the_language_must_be_known():
    model = TopicModel(5, stop_words=["the", "of", "is", "in", "a", "and", "it", "was", "with"])
    model.fit(texts_of(GENRES))
    assert language_of(model.diagnostics_) is None
    assert model.top_words(3).forms == {}
    assert language_of({}) is None
    assert language_of({"left_out": {"language": "english", "recognized": False}}) is None
