"""Vectors from spelling: n-grams by hand, the ridge against its closed form, words of Brown."""

import json
import zipfile
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from eigentext import Eigenwords, engine
from eigentext.errors import ModelFileError, ParameterError
from eigentext.storage import read_saved, write_saved
from eigentext.words.subwords import CharacterRidge

STEMS = ["walk", "talk", "jump", "bark", "cook", "paint", "climb", "kick", "ask", "look"]
ENDINGS = ["ed", "ing", "er", "s"]


def fnv1a(data: bytes) -> int:
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 % 2**32
    return value


def ngrams(word, shortest, longest):
    marked = f"<{word}>"
    for start in range(len(marked)):
        for stop in range(start + shortest, min(start + longest, len(marked)) + 1):
            yield marked[start:stop]


def features_by_hand(words, ngram_range, n_buckets):
    X = np.zeros((len(words), n_buckets))
    for row, word in zip(X, words):
        for gram, count in Counter(ngrams(word, *ngram_range)).items():
            row[fnv1a(gram.encode("utf-8", "surrogatepass")) % n_buckets] += count
        row /= max(np.linalg.norm(row), 1e-300)
    return X


@pytest.fixture
def inflected():
    """Words of a stem and an ending, whose vectors are the sum of one for each, and noise."""
    rng = np.random.default_rng(0)
    stems, endings = rng.standard_normal((len(STEMS), 40)), rng.standard_normal((len(ENDINGS), 40))
    words = [stem + ending for stem in STEMS for ending in ENDINGS]
    V = (stems[:, None] + endings).reshape(len(words), -1)
    return words, V / np.linalg.norm(V, axis=1, keepdims=True)


# Features.


def test_fnv1a_is_the_published_function():
    assert fnv1a(b"") == 0x811C9DC5
    assert fnv1a(b"a") == 0xE40C292C
    assert fnv1a(b"foobar") == 0xBF9CF968


def test_ngrams_of_one_word_by_hand():
    X = CharacterRidge(ngram_range=(3, 4), n_buckets=1000).features(["ana"])
    grams = ["<an", "<ana", "ana", "ana>", "na>"]
    assert sorted(X.indices) == sorted(fnv1a(gram.encode()) % 1000 for gram in grams)
    assert np.allclose(X.data, 5**-0.5)


@given(
    st.lists(st.text(max_size=9), max_size=5),
    st.tuples(st.integers(1, 3), st.integers(0, 4)),
    st.sampled_from([1, 7, 1 << 10]),
)
@example(["", "naïve", "日本語", "\ud800", "🙂🙂🙂"], (1, 5), 64)
def test_features_against_their_twin(words, lengths, n_buckets):
    ngram_range = (lengths[0], sum(lengths))
    ridge = CharacterRidge(ngram_range=ngram_range, n_buckets=n_buckets)
    X = ridge.features(words)
    assert X.shape == (len(words), n_buckets)
    assert X.dtype == np.float32
    assert np.allclose(X.toarray(), features_by_hand(words, ngram_range, n_buckets), atol=1e-6)


# The ridge.


@pytest.mark.parametrize("counts", [None, range(1, 41)])
@pytest.mark.parametrize("penalty", [0.1, 1, 100])
@pytest.mark.parametrize("width", [1, 32, 40])
def test_coefficients_are_those_of_the_closed_form(inflected, counts, penalty, width):
    words, V = inflected
    V = V[:, :width] / np.linalg.norm(V[:, :width], axis=1, keepdims=True)
    settings = {"ngram_range": (2, 4), "n_buckets": 200}
    ridge = CharacterRidge(**settings, penalty=penalty, tol=1e-6, max_iter=1000)
    ridge.fit(words, V, counts)
    X = features_by_hand(words, *settings.values())
    weights = np.ones(40) if counts is None else np.log1p(counts)
    weights /= weights.mean()
    mean = weights @ V / 40
    C = np.diag(weights)
    W = np.linalg.solve(X.T @ C @ X + penalty * np.eye(200), X.T @ C @ (V - mean))
    assert np.allclose(ridge.mean_, mean, atol=1e-6)
    assert np.allclose(ridge.coefficients_, W, atol=1e-3 * np.abs(W).max())


def test_inflections_of_known_stems(inflected):
    words, V = inflected
    rng = np.random.default_rng(1)
    unseen = rng.permutation(40)[:6]
    seen = np.setdiff1d(np.arange(40), unseen)
    ridge = CharacterRidge(penalty=0.01).fit([words[w] for w in seen], V[seen])
    predicted = ridge.predict([words[w] for w in unseen])
    nearest = (predicted @ V.T).argmax(axis=1)
    assert (nearest == unseen).mean() > 0.6  # of 40 words; by chance one in 40
    assert (predicted * V[unseen]).sum(axis=1).mean() > 0.8


def test_what_is_predicted_has_unit_length_and_a_known_default(inflected):
    ridge = CharacterRidge(ngram_range=(3, 5)).fit(*inflected)
    predicted = ridge.predict(["walkers", "", "日本", "x" * 10_000])
    assert predicted.dtype == np.float32
    assert np.allclose(np.linalg.norm(predicted, axis=1), 1, atol=1e-6)
    # "<>" has no n-gram of three characters.
    assert np.allclose(predicted[1], ridge.mean_ / np.linalg.norm(ridge.mean_), atol=1e-6)
    assert ridge.predict([]).shape == (0, 40)


def test_a_word_is_predicted_alike_alone_and_in_company(inflected):
    ridge = CharacterRidge().fit(*inflected)
    words = ["walkable", "asker", "kickings"]
    assert np.array_equal(ridge.predict(words)[1], ridge.predict(words[1:2])[0])


def test_only_directions_matter_and_zeros_are_left_out(inflected):
    words, V = inflected
    plain = CharacterRidge().fit(words, V)
    scaled = np.vstack([V * np.arange(1, 41)[:, None], np.zeros((1, 40))])
    other = CharacterRidge().fit([*words, "alone"], scaled)
    assert np.allclose(plain.predict(["walker"]), other.predict(["walker"]), atol=1e-3)
    assert other.diagnostics_["left_out"] == 1
    assert other.diagnostics_["n_words"] == 40


def test_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcde"), rng.integers(1, 8))) for _ in range(500)]
    V = rng.standard_normal((500, 100))
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            ridge = CharacterRidge(n_buckets=1 << 10).fit(words, V)
            results.append((ridge.coefficients_, ridge.predict(["abba", "deed"])))
    for coefficients, predicted in results[1:]:
        assert np.array_equal(results[0][0], coefficients)
        assert np.array_equal(results[0][1], predicted)


def test_too_few_steps_are_a_warning_that_names_the_remedy(inflected):
    with pytest.warns(ConvergenceWarning, match="raise max_iter or penalty"):
        ridge = CharacterRidge(penalty=1e-3, tol=1e-6, max_iter=2).fit(*inflected)
    assert ridge.diagnostics_["n_iter"] == 2
    assert ridge.diagnostics_["residual"] > 1e-6


def test_words_of_brown(data_folder):
    with zipfile.ZipFile(data_folder / "nltk_data/corpora/brown.zip") as archive:
        lines = [
            " ".join(token.rsplit("/", 1)[0].lower() for token in line.split())
            for name in archive.namelist()
            if name.startswith(("brown/ca", "brown/cb"))
            for line in archive.read(name).decode().splitlines()
        ]
    model = Eigenwords(30, window=2, weighting="flat", alpha=0.75, beta=0).fit(lines)
    words, V = model.vocabulary_.words, model.vectors_
    unseen = np.arange(len(words)) % 10 == 0
    ridge = CharacterRidge().fit([w for w, out in zip(words, unseen) if not out], V[~unseen])
    predicted = ridge.predict([w for w, out in zip(words, unseen) if out])
    theirs = (predicted * V[unseen]).sum(axis=1).mean()
    others = (predicted @ V[unseen].T).mean()
    mean = (V[unseen] @ ridge.mean_).mean() / np.linalg.norm(ridge.mean_)
    assert theirs > others + 0.05
    assert theirs > mean + 0.05


def test_the_score_is_the_mean_cosine(inflected):
    words, V = inflected
    ridge = CharacterRidge(penalty=1.0).fit(words, V)
    cosines = (ridge.predict(words) * V).sum(axis=1)
    assert np.isclose(ridge.score(words, V * 7), cosines.mean(), atol=1e-6)
    zeros = np.vstack([V, np.zeros(V.shape[1])])
    assert np.isclose(ridge.score([*words, "x"], zeros), cosines.mean(), atol=1e-6)  # left out
    with pytest.raises(ParameterError, match="3 dimensions; this model predicts 40"):
        ridge.score(words, V[:, :3])
    with pytest.raises(ParameterError, match="no words to score"):
        ridge.score(words, 0 * V)


def test_the_penalty_is_found_by_a_search(inflected):
    words, V = inflected
    search = GridSearchCV(CharacterRidge(), {"penalty": [0.01, 1e6]}, cv=4).fit(words, V)
    assert search.best_params_ == {"penalty": 0.01}


# The contracts of an estimator.


def test_saved_and_read_again(inflected, tmp_path):
    ridge = CharacterRidge(n_buckets=500, penalty=2.0).fit(*inflected)
    arrays, about = ridge._to_saved()
    write_saved(tmp_path / "file", "eigentext.test.v1", dict(arrays), about)
    again = CharacterRidge._from_saved(*read_saved(tmp_path / "file"))
    assert again.get_params() == ridge.get_params()
    assert again.diagnostics_ == ridge.diagnostics_
    words = ["walker", "unheard"]
    assert np.array_equal(again.predict(words), ridge.predict(words))
    for damage in ({"mean": ridge.mean_[:-1]}, {"mean": np.full_like(ridge.mean_, np.nan)}):
        with pytest.raises(ModelFileError, match="damaged"):
            CharacterRidge._schema(about).check({**arrays, **damage}, about)
    with pytest.raises(ModelFileError, match=r"coefficients has shape \(499, "):
        CharacterRidge._from_saved({**arrays, "coefficients": ridge.coefficients_[:-1]}, about)
    assert json.loads(json.dumps(about)) == {
        **about,
        "parameters": {**about["parameters"], "ngram_range": [2, 6]},
    }


def test_clone_and_not_fitted():
    ridge = CharacterRidge(penalty=3.0)
    assert clone(ridge).penalty == 3.0
    with pytest.raises(NotFittedError):
        ridge.predict(["word"])


@pytest.mark.parametrize(
    "bad",
    [
        {"ngram_range": (0, 3)},
        {"ngram_range": (4, 3)},
        {"n_buckets": 0},
        {"penalty": 0.0},
        {"penalty": np.nan},
        {"tol": 0.0},
        {"max_iter": 0},
    ],
)
def test_bad_parameters(inflected, bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        CharacterRidge(**bad).fit(*inflected)


def test_bad_input(inflected):
    words, V = inflected
    ridge = CharacterRidge()
    with pytest.raises(ParameterError, match=r"39 words, but vectors of shape \(40, 40\)"):
        ridge.fit(words[1:], V)
    with pytest.raises(ParameterError, match="counts must be 40 numbers"):
        ridge.fit(words, V, counts=[1])
    with pytest.raises(ParameterError, match="counts must be 40 numbers of 0 or more"):
        ridge.fit(words, V, counts=[-1] * 40)
    with pytest.raises(ParameterError, match="no words to learn from"):
        ridge.fit(words, 0 * V)
    with pytest.raises(ParameterError, match="row 3 is not finite"):
        ridge.fit(words, np.where(np.arange(40)[:, None] == 3, np.nan, V))
    with pytest.raises(ParameterError, match="not the string 'walker'"):
        ridge.fit(words, V).predict("walker")
