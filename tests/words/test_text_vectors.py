"""Texts as weighted means: the formula, pipelines, files, and a real classification."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import eigentext as et
from eigentext.errors import CorpusError, ModelFileError, ParameterError
from eigentext.words.text_vectors import _common_directions

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5
WORDS = ["the", "cat", "dog", "sat", "ran"]
COUNTS = [60, 20, 10, 5, 5]
VECTORS = np.random.default_rng(0).standard_normal((5, 4))
TEXTS = ["the cat sat", "the dog ran", "cat dog", "the the zebra", "zebra"]


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords.from_vectors(WORDS, VECTORS, counts=COUNTS)


def by_hand(words, texts, a, counts, n_tokens):
    """The formula of Arora, Liang and Ma (2017), word by word."""
    rows = []
    for text in texts:
        known = [word for word in text.split() if word in words]
        weights = [a / (a + counts[word] / n_tokens) for word in known]
        total = sum((p * words[word] for p, word in zip(weights, known)), np.zeros(4))
        rows.append(total / max(len(known), 1))
    return np.array(rows)


def test_the_formula_with_the_counts_of_the_words(words):
    found = et.TextVectors(words, a=0.05, remove=0).fit_transform(TEXTS)
    expected = by_hand(words, TEXTS, 0.05, dict(zip(WORDS, COUNTS)), 100)
    np.testing.assert_allclose(found, expected / length(expected), atol=1e-5)


def length(rows):
    """The root of the mean square length."""
    return np.sqrt(np.square(rows).sum(axis=1).mean())


def test_the_formula_with_the_counts_of_the_texts():
    words = et.Eigenwords.from_vectors(WORDS, VECTORS)  # counts unknown
    model = et.TextVectors(words, a=0.05, remove=0)
    in_texts = {"the": 4, "cat": 2, "dog": 2, "sat": 1, "ran": 1}  # of 12 tokens, 2 unknown
    expected = by_hand(words, TEXTS, 0.05, in_texts, 12)
    found = model.fit_transform(TEXTS)
    np.testing.assert_allclose(found, expected / length(expected), atol=1e-5)
    counted = et.Eigenwords.from_vectors(WORDS, VECTORS, counts=COUNTS)
    same = et.TextVectors(counted, a=0.05, remove=0, frequencies="texts").fit(TEXTS)
    np.testing.assert_array_equal(same.weights_, model.weights_)


def test_common_directions_are_removed(words):
    model = et.TextVectors(words, remove=2).fit(TEXTS)
    kept = et.TextVectors(words, remove=0).fit(TEXTS).transform(TEXTS)
    _, _, Vt = np.linalg.svd(kept.astype(np.float64))
    np.testing.assert_allclose(np.abs(model.components_ @ Vt[:2].T), np.eye(2), atol=1e-5)
    np.testing.assert_allclose(model.transform(TEXTS) @ model.components_.T, 0, atol=1e-6)
    expected = kept - kept @ Vt[:2].T @ Vt[:2]
    found = model.transform(TEXTS)
    np.testing.assert_allclose(found, expected / length(expected), atol=1e-4)
    assert length(found) == pytest.approx(1)
    s = np.linalg.svd(kept, compute_uv=False) ** 2
    assert model.diagnostics_["removed_share"] == pytest.approx(s[:2].sum() / s.sum(), abs=1e-5)


def test_directions_that_are_not_there_are_not_removed():
    rows = np.outer(np.arange(5.0), [1, -2, 0]).astype(np.float32)
    found, share = _common_directions(rows, 2)
    assert found.shape == (1, 3)
    assert found[0, 1] > 0  # the largest entry is positive
    assert share == pytest.approx(1)
    assert _common_directions(np.zeros((4, 3), np.float32), 2)[0].shape == (0, 3)


def test_rounding_is_not_scaled_up(words):
    texts = ["the cat", "the cat", "cat the"]
    model = et.TextVectors(words).fit(texts)
    assert model.scale_ == 1
    np.testing.assert_allclose(model.transform(texts), 0, atol=1e-6)
    assert "nothing is left" in model.findings()[0].sentence


def test_flat_is_the_plain_mean(words):
    found = et.TextVectors(words, weighting="flat", remove=0).fit(TEXTS).transform(TEXTS)
    expected = words.transform(TEXTS)
    np.testing.assert_allclose(found, expected / length(expected), atol=1e-6)


def test_new_texts_have_the_weights_and_directions_of_the_fit(words):
    model = et.TextVectors(words).fit(TEXTS)
    together = model.transform(TEXTS)
    one_by_one = np.vstack([model.transform([text]) for text in TEXTS])
    np.testing.assert_allclose(one_by_one, together, atol=1e-6)
    assert not together[4].any()  # no word is known
    assert model.transform([]).shape == (0, 4)


def test_words_that_are_not_fitted_learn_from_the_texts():
    model = et.TextVectors(et.Eigenwords(3, window=2)).fit(TEXT)
    alone = et.Eigenwords(3, window=2).fit(TEXT)
    np.testing.assert_array_equal(model.words_.vectors_, alone.vectors_)
    given = et.TextVectors(alone).fit(TEXT)
    np.testing.assert_array_equal(given.transform(TEXT), model.transform(TEXT))


def test_a_clone_keeps_fitted_words_and_forgets_others(words):
    model = et.TextVectors(words, remove=2).fit(TEXTS)
    again = clone(model).fit(TEXTS)
    np.testing.assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))
    learned = et.TextVectors(et.Eigenwords(3, window=2)).fit(TEXT)
    assert clone(learned).words.get_params() == learned.words.get_params()
    assert clone(learned).words is not learned.words


def test_pipelines_and_searches(words):
    texts = ["my cat sleeps", "my dog sleeps", "the sun shines", "the star shines"] * 5
    labels = ["pet", "pet", "sky", "sky"] * 5
    pipeline = make_pipeline(
        et.TextVectors(et.Eigenwords(3, window=2, min_count=1)), LogisticRegression()
    )
    grid = {"textvectors__remove": [0, 1], "textvectors__words__n_components": [2, 3]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(texts, labels)
    assert search.best_score_ == 1.0
    fixed = make_pipeline(et.TextVectors(words), LogisticRegression())
    search = GridSearchCV(fixed, {"textvectors__a": [0.01, 1.0]}, cv=2, error_score="raise")
    assert search.fit(TEXT, ["cat", "dog"] * 10).best_score_ == 1.0  # words are used as they are


def test_frames(words):
    pytest.importorskip("pandas")
    frame = et.TextVectors(words).set_output(transform="pandas").fit_transform(TEXTS)
    assert list(frame.columns) == [f"textvectors{k}" for k in range(4)]


def test_findings(words):
    found = et.TextVectors(words).fit(TEXTS).findings()
    assert found[0].severity == "warning"
    assert found[0].sentence.startswith("20.0% of the texts have no word with a vector")
    assert "was removed" in found[1].sentence
    assert et.TextVectors(words, remove=0).fit(TEXTS[:3]).findings() == []


def test_what_is_refused(words):
    with pytest.raises(ParameterError, match="remove is 4, but the vectors have 4 dimensions"):
        et.TextVectors(words, remove=4).fit(TEXTS)
    with pytest.raises(ParameterError, match=r"Eigenwords\.from_gensim"):
        et.TextVectors("glove").fit(TEXTS)
    unknown = et.Eigenwords.from_vectors(WORDS, VECTORS)
    with pytest.raises(ParameterError, match="give frequencies='texts'"):
        et.TextVectors(unknown, frequencies="words").fit(TEXTS)
    with pytest.raises(CorpusError, match="no texts"):
        et.TextVectors(words).fit([])


def test_files_that_do_not_fit_are_refused(words, tmp_path):
    model = et.TextVectors(words).fit(TEXTS)
    model.weights_ = model.weights_[:3]
    model.save(tmp_path / "weights")
    with pytest.raises(ModelFileError, match="weights has 3 values"):
        et.load(tmp_path / "weights")
    model = et.TextVectors(words).fit(TEXTS)
    model.components_ = model.components_[:, :2]
    model.save(tmp_path / "components")
    with pytest.raises(ModelFileError, match="another dimension"):
        et.load(tmp_path / "components")


def test_weights_help_to_classify_posts(data_folder):
    """Four groups of 20 newsgroups, with words learned from these posts alone."""
    groups = ("sci.space", "rec.autos", "talk.politics.guns", "comp.graphics")
    posts = {}
    for split in ("train", "test"):
        news = et.load_dataset("20news", split=split)
        chosen = [place for place, label in enumerate(news.labels) if label in groups]
        texts = [news.texts[place] for place in chosen]
        posts[split] = texts, [news.labels[place] for place in chosen]
    corpus = et.TextCorpus(posts["train"][0], kind="texts", tokenizer="simple", lowercase=True)
    words = et.Eigenwords(50).fit(corpus)
    scores = {}
    for weighting, remove in (("flat", 0), ("sif", 1)):
        vectors = et.TextVectors(words, weighting=weighting, remove=remove)
        pipeline = make_pipeline(vectors, LogisticRegression(max_iter=1000))
        scores[weighting] = pipeline.fit(*posts["train"]).score(*posts["test"])
    print(scores)
    assert scores["sif"] > scores["flat"] > 0.5
