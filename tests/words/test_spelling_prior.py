"""Spelling as a prior: the formula, the estimate, a language with morphology, odd words."""

import numpy as np
import pytest

import eigentext as et
from eigentext import Eigenwords, engine
from eigentext.errors import ParameterError
from eigentext.storage import read_saved, write_saved
from eigentext.words import spelling_prior
from eigentext.words._findings import findings_of_vectors
from eigentext.words.spelling_prior import (
    Prior,
    _best_prior,
    estimated,
    learned,
    mixed,
    strengths,
    weights,
)
from eigentext.words.subwords import CharacterRidge

STEMS = [f"{a}{b}{c}" for a in "bdfgklmp" for b in "aeiou" for c in "lmnrst"]  # 240
ENDINGS = ["ing", "ed", "ness", "ism", "able", "ly", "ize", "ful", "er", "ation", "less", "ous"]
KAPPA = 20.0


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def cosines(a, b):
    return np.einsum("ij,ij->i", unit(a), unit(b))


def language(seed, words=None):
    """Words, their counts, true vectors and noisy ones: a stem, an ending, something of its own."""
    rng = np.random.default_rng(seed)
    stems, endings = rng.normal(size=(80, 40)), rng.normal(size=(len(ENDINGS), 40))
    spelled = [stem + ending for stem in STEMS[::3] for ending in ENDINGS]  # 960
    own = rng.normal(size=(len(spelled), 40))
    V = (0.5 * stems[:, None] + endings).reshape(len(spelled), 40) + 0.6 * own
    order = rng.permutation(len(spelled))
    spelled, V = [spelled[w] for w in order], unit(V[order])
    counts = np.maximum(4_000 // np.arange(1, len(spelled) + 1), 3)
    a = np.sqrt(counts / (counts + KAPPA))[:, None]
    noise = rng.normal(size=V.shape) / np.sqrt(V.shape[1])
    return words or spelled, counts, V, unit(a * V + np.sqrt(1 - a**2) * noise)


@pytest.fixture(scope="module")
def text():
    """Words of a stem and an ending, which decide the words before and after them."""
    rng = np.random.default_rng(0)
    stems, p = STEMS[:60], 1 / np.arange(1, 61)
    lines = []
    for _ in range(6000):
        stem, ending = rng.choice(60, p=p / p.sum()), rng.integers(4)
        if rng.random() < 0.7:  # anything
            stem_like, ending_like = rng.integers(6), rng.integers(4)
        else:
            stem_like, ending_like = stem % 6, ending
        before, after = f"x{stem_like}{rng.integers(8)}", f"y{ending_like}{rng.integers(8)}"
        lines.append(f"{before} {stems[stem]}{ENDINGS[ending]} {after}")
    return lines


# The formula.


def test_strengths_and_weights_by_hand():
    a = strengths(np.array([20, 60, 0]), 20.0)
    assert np.allclose(a[:2] ** 2, [0.5, 0.75])
    assert 0 < a[2] < 0.01
    g = weights(a[:2], Prior(20.0, 0.5, 0.8), weight=3.0)
    assert np.allclose(g, 0.5 * (3 + 20 / 0.8 / np.sqrt([20 * 40, 60 * 80])))
    assert np.array_equal(strengths(np.array([0, 5]), 0.0), [1, 1])


@pytest.mark.parametrize("n", [1, 20, 500])
def test_the_mixture_is_the_posterior_mean(n):
    """Against Gaussian conditioning: v ~ N(m, left), and v̂ = a v + sqrt(1 - a²) noise."""
    rng = np.random.default_rng(n)
    m, seen, left = rng.normal(size=5), rng.normal(size=5), 0.7
    a = strengths(np.array([n]), KAPPA)
    # The covariance of v and v̂ is left * a, and the variance of v̂ is left * a² + 1 - a².
    mean = m + left * a / (left * a**2 + 1 - a**2) * (seen - a * m)
    found = seen + weights(a, Prior(KAPPA, 1.0, left), weight=0.0) * m
    assert np.allclose(mean / np.linalg.norm(mean), found / np.linalg.norm(found), atol=1e-12)


def test_population_products_give_back_the_prior():
    rng = np.random.default_rng(0)
    counts, lengths = rng.integers(1, 1000, 300), rng.uniform(0.1, 0.3, 300)
    kappas = spelling_prior._KAPPAS
    for kappa in kappas[[0, 60, 150, 200]].tolist():
        along = 0.7 * strengths(counts, kappa) * lengths
        found = _best_prior(along, lengths, counts, kappas)
        assert found[:2] == pytest.approx((kappa, 0.7), abs=1e-8)
        a = strengths(counts, kappa)
        assert found.left == pytest.approx(1 - 0.49 * (a**2 @ lengths) / (a @ a), abs=1e-8)


def test_without_weights_the_bits_are_the_same(text):
    settings = {"min_count": 1, "window": 1}
    plain = Eigenwords(8, **settings).fit(text)
    same = Eigenwords(
        8, **settings, oov="characters", spelling_weight=0, spelling_half_count=0
    ).fit(text)
    assert np.array_equal(plain.vectors_, same.vectors_)
    assert plain.diagnostics_ == same.diagnostics_
    other = Eigenwords(8, **settings, oov="characters").fit(text)
    assert not np.array_equal(plain.vectors_, other.vectors_)
    words, V = list(plain.vocabulary_.words), plain.vectors_
    g = np.zeros(len(words))
    assert np.array_equal(mixed(words, V, g, CharacterRidge().fit(words, V)), V)


def test_where_spelling_decides_the_vector_a_rare_word_gets_it(monkeypatch):
    """All words have one length, so the ending is linear in the n-grams, and W is exact."""
    monkeypatch.setattr(
        spelling_prior, "_SETTINGS", {"ngram_range": (3, 5), "penalty": 0.1, "tol": 1e-3}
    )
    words = [stem + ending for ending in ("ism", "ing", "est", "ous") for stem in STEMS]
    directions = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)  # their mean is zero
    V = np.repeat(directions, len(STEMS), axis=0)
    counts = np.full(len(words), 10**9)
    spoiled, counts[5] = V.copy(), 1
    spoiled[5] = np.float32(2**-0.5)  # of no ending
    found, spelling, prior = learned(words, spoiled, counts, weight=0.0, half_count=1e6)
    assert prior is not None
    assert np.allclose(found, V, atol=5e-3)  # coefficients have half precision
    assert np.allclose(spelling.predict(["zutism", "zuting"]), directions[:2], atol=0.02)


# Samples.


@pytest.mark.parametrize("seed", range(3))
def test_the_posterior_mean_beats_counts_and_spelling(seed):
    words, counts, truth, seen = language(seed)
    found, _, prior = learned(words, seen, counts, weight=0.0)
    assert prior is not None
    assert KAPPA / 2 < prior.half_count < KAPPA * 2
    spelled = np.empty_like(seen)  # by a regression that has not seen the word
    for half in (0, 1):
        ridge = CharacterRidge(ngram_range=(3, 5), penalty=1.0)
        ridge.fit(words[1 - half :: 2], seen[1 - half :: 2])
        spelled[half::2] = ridge.predict(words[half::2])
    for rare in (counts < 10, (counts >= 10) & (counts < 50)):
        scores = [cosines(V[rare], truth[rare]).mean() for V in (found, seen, spelled)]
        assert scores[0] > max(scores[1:]) + 0.03
    frequent = counts > 400
    assert cosines(found[frequent], seen[frequent]).min() > 0.97


def test_spelling_that_says_nothing_changes_little():
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(960)]
    words, counts, _, seen = language(0, names)
    found, _, prior = learned(words, seen, counts)
    assert prior is not None and prior.slope == 0
    assert np.array_equal(found, seen)


def test_rare_words_of_a_text(text):
    """Among the rarer words, the nearest neighbor more often has the same ending."""
    right = []
    for oov in ("none", "characters"):
        words = Eigenwords(8, min_count=1, window=1, oov=oov).fit(text)
        rare = [w for w, n in zip(words, words.vocabulary_.counts) if n < 8 and w[0] not in "xy"]
        nearest = [words.most_similar(word, 1)[0][0] for word in rare]
        right.append(np.mean([a[-2:] == b[-2:] for a, b in zip(rare, nearest)]))
    assert right[1] > right[0] + 0.02


# Any word, and none.


@pytest.mark.parametrize(
    "words",
    [
        list("abcdefghijkl"),
        [str(n) for n in range(12)],
        ["كتاب", "كتب", "مكتب", "قلم", "أقلام", "بيت", "بيوت", "باب", "أبواب", "ولد"],
        ["中国", "中", "国", "日本", "日", "本", "日本語", "語", "人", "大人"],
        ["", " ", "\ud800", "🙂", "🙂🙂", "-", "--", "a", "ab", "abc"],
        ["aaa"] * 10,
        ["a", "b"],
        ["a"],
    ],
)
def test_any_spelling(words):
    rng = np.random.default_rng(0)
    V, counts = unit(rng.normal(size=(len(words), 6))), np.arange(len(words), 0, -1)
    found, spelling, prior = learned(words, V, counts)
    assert found.shape == V.shape
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert prior is not None and prior.slope >= 0
    assert np.isfinite(spelling.predict(["", "x", "語"])).all()


def test_a_zero_vector_becomes_the_prediction():
    words, counts, _, seen = language(1)
    seen[7] = 0
    found, spelling, prior = learned(words, seen, counts)
    assert prior is not None and prior.slope > 0.3
    assert np.allclose(found[7], spelling.predict([words[7]])[0], atol=1e-6)


def test_a_word_without_context_gets_a_vector(text):
    lines = [*text, "balness", "balness", "balness"]  # alone in its line
    lines = [line for line in lines if "balness" not in line.split() or line == "balness"]
    settings = {"min_count": 1, "window": 1}
    plain = Eigenwords(8, **settings).fit(lines)
    assert not plain["balness"].any()
    words = Eigenwords(8, **settings, oov="characters").fit(lines)
    assert np.linalg.norm(words["balness"]) == pytest.approx(1, abs=1e-5)
    assert words.diagnostics_["words_without_context"] == 0


def test_no_vector_at_all():
    with pytest.raises(ParameterError, match="no words to learn from"):
        learned(["a", "b"], np.zeros((2, 3), np.float32), np.ones(2))


def test_strengths_of_another_size_are_refused():
    V = np.eye(3, dtype=np.float32)
    for wrong in ([1.0, 1.0], [0.5, 0.5, 2.0], [0.5, np.nan, 0.5], ["a", "b", "c"]):
        with pytest.raises(ParameterError, match="strengths must be"):
            CharacterRidge().fit(["a", "b", "c"], V, strengths=wrong)


def test_the_ridge_with_strengths_against_its_closed_form():
    words, counts, _, V = language(0)
    words, V, a = words[:50], V[:50], strengths(counts[:50], 300.0)
    ridge = CharacterRidge(ngram_range=(3, 4), n_buckets=300, penalty=0.5, tol=1e-6, max_iter=1000)
    ridge.fit(words, V, strengths=a)
    X = ridge.features(words).toarray().astype(np.float64) * a[:, None]
    mean = a @ V / (a @ a)
    W = np.linalg.solve(X.T @ X + 0.5 * np.eye(300), X.T @ (V - a[:, None] * mean))
    assert np.allclose(ridge.mean_, mean, atol=1e-5)
    assert np.allclose(ridge.coefficients_, W, atol=2e-3 * np.abs(W).max())
    assert np.allclose(ridge.deviations(words), X / a[:, None] @ W, atol=2e-3)


# The estimator.


def test_same_bits_on_any_number_of_threads_and_by_any_way(text, tmp_path):
    settings = {"n_components": 8, "min_count": 1, "window": 1, "oov": "characters"}
    words = Eigenwords(**settings, keep_moments="whole")
    with engine.use(engine.ThreadEngine(1)):
        one = words.fit(text).vectors_
    with engine.use(engine.ThreadEngine(3)):
        assert np.array_equal(Eigenwords(**settings).fit(text).vectors_, one)
    parts = Eigenwords(**settings, keep_moments="whole").fit(text[:2000]).partial_fit(text[2000:])
    assert np.array_equal(parts.vectors_, one)
    words.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert np.array_equal(loaded.vectors_, one)
    assert loaded.diagnostics_ == words.diagnostics_


def test_a_file_from_before_the_prior(text, tmp_path):
    words = Eigenwords(8, min_count=1, window=1, oov="characters").fit(text)
    words.save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    for name in ("spelling_weight", "spelling_half_count", "method"):
        del about["parameters"][name]
    for name in ("spelling_half_count", "spelling_slope"):
        del about["diagnostics"][name]
    write_saved(tmp_path / "old", "eigentext.words.v2", dict(arrays), about)
    old = et.load(tmp_path / "old")
    assert np.array_equal(old.vectors_, words.vectors_)
    assert np.array_equal(old["kulness"], words["kulness"])
    assert old.findings()


def test_findings_say_how_many_occurrences_are_enough(text):
    words = Eigenwords(8, min_count=1, window=1, oov="characters").fit(text)
    half = words.diagnostics_["spelling_half_count"]
    given = Eigenwords(8, min_count=1, window=1, oov="characters", spelling_half_count=half).fit(
        text
    )
    assert np.array_equal(given.vectors_, words.vectors_)
    told = list(findings_of_vectors({"spelling_slope": 0.8, "spelling_half_count": 21.1}, 9, 5))
    assert "occurs 21 times has a vector that is half noise" in told[0].sentence
    told = list(findings_of_vectors({"spelling_slope": 0.02, "spelling_half_count": 1.0}, 9, 5))
    assert "oov='none'" in told[0].remedy


def test_the_estimate_of_few_words_is_none():
    assert estimated(["a"], np.ones((1, 2), np.float32), np.ones(1)) == Prior(0.0, 0.0, 1.0)
