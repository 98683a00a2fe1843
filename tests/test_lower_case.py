"""One rule for all models: in lower case they learned, in lower case they are asked."""

import pytest

import eigentext as et
from eigentext.corpus.vocabulary import as_asked
from eigentext.errors import UnknownWordError

LINES = ["The Cat sees the Straße", "the cat sees Élan", "Élan sees the CAT"] * 8


def corpus(*, lowercase: bool):
    return et.TextCorpus(LINES, kind="texts", lowercase=lowercase)


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords(2, min_count=1).fit(corpus(lowercase=True))


def test_vectors(words):
    assert "ÉLAN" in words
    assert "Dog" not in words
    assert (words["CAT"] == words["cat"]).all()
    assert words.similarity("Cat", "ÉLAN") == words.similarity("cat", "élan")
    assert words.most_similar("Cat") == words.most_similar("cat")  # both without the word itself
    assert words.analogy("The", "Cat", "Sees") == words.analogy("the", "cat", "sees")
    assert (words.transform([["The", "CAT"]]) == words.transform([["the", "cat"]])).all()


def test_vectors_of_tokens():
    tokens = et.Eigentokens(2, min_count=1).fit(corpus(lowercase=True))
    (upper,), (lower,) = tokens.transform([["The", "CAT"]]), tokens.transform([["the", "cat"]])
    assert (upper == lower).all()
    assert upper.any()


def test_clusters(words, tmp_path):
    clusters = et.WordClusters(2).fit(words)
    clusters.save(tmp_path / "clusters")
    for one in (clusters, et.load(tmp_path / "clusters")):
        assert "Cat" in one
        assert one["CAT"] == one["cat"]
    assert "Cat" not in et.WordClusters(2).fit(words.vectors_, words=words.vocabulary_.words)


@pytest.mark.parametrize(
    ("model", "ask"),
    [
        (et.KneserNey(2), lambda model, a, b: model.probability(b, given=[a])),
        (et.KneserNey(2), lambda model, a, b: model.perplexity([[a, b]])),
        (et.BigramModel(2), lambda model, a, b: model.probability(b, given=a)),
        (et.HMM(2, method="em"), lambda model, a, b: model.log_probability([a, b])),
        (et.HMM(2, method="em"), lambda model, a, b: model.predict_next([a, b]).tolist()),
    ],
)
def test_language_models(model, ask):
    model.fit(corpus(lowercase=True))
    assert ask(model, "THE", "Cat") == ask(model, "the", "cat")


def test_topics():
    texts = ["Cat Dog Cat Fish", "Sun Moon Moon Star"] * 20
    topics = et.TopicModel(2, alpha0=0.0).fit(et.TextCorpus(texts, kind="texts", lowercase=True))
    upper, lower, other = (topics.transform([[word]]) for word in ("CAT", "cat", "sun"))
    assert (upper == lower).all()
    assert (upper != other).any()


def test_a_model_with_capitals_asks_back():
    model = et.Eigenwords(2, min_count=1).fit(corpus(lowercase=False))
    with pytest.raises(UnknownWordError, match="did you mean sees"):
        model["SEES"]
    with pytest.raises(UnknownWordError, match="did you mean Élan"):
        model.most_similar("élan")
    counts = et.KneserNey(2).fit(corpus(lowercase=False))
    with pytest.raises(UnknownWordError, match="did you mean Straße"):
        counts.probability("straße")


def test_letters_are_changed_as_they_are_in_text():
    """Letter by letter, not by `str.lower`: two characters would be no word of the text."""
    words = ["ΣΑΣ", "İ", "Straẞe", "ABC"]
    (read,) = et.TextCorpus([" ".join(words)], kind="texts", lowercase=True)
    assert as_asked(words, {"lowercase": True}) == read
    assert as_asked(words, {}) == words
