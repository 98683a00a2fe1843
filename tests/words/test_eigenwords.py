"""Eigenwords: theorem 4.1 from exact moments and from samples; the contracts of the estimator."""

import importlib.util
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import eigentext as et
from eigentext import CooccurrenceMoments, Eigenwords, TextCorpus, engine
from eigentext.corpus import encode
from eigentext.errors import (
    CorpusError,
    ModelFileError,
    MomentsError,
    ParameterError,
    UnknownWordError,
)
from eigentext.factor import svd
from eigentext.parameters import UnusedParameterWarning
from eigentext.storage import write_saved
from eigentext.words import scaled_counts

_spec = importlib.util.spec_from_file_location(
    "brown_model", Path(__file__).with_name("brown_model.py")
)
brown_model = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brown_model)
BrownModel = brown_model.BrownModel

SMALL = {"n_components": 8, "min_count": 2, "window": 2}


@pytest.fixture
def lines(zipf_lines):
    return zipf_lines(400, n_words=300)


@pytest.fixture
def fitted(lines):
    return Eigenwords(**SMALL).fit(lines)


# Theorem 4.1.


@pytest.mark.parametrize("transform", ["none", "two-thirds", "sqrt"])  # a = 1, 2/3, 1/2
@pytest.mark.parametrize("seed", range(5))
def test_theorem_4_1_exactly(transform, seed):
    model = BrownModel(m=5, n=200, seed=seed)
    B = sp.csr_array(model.cooccurrence(window=2))
    Omega = scaled_counts(B, transform=transform, scaling="cca", alpha=1, dtype=np.float64)
    U, s, _ = svd(Omega, 6)
    assert s[5] < 1e-12 < s[4]  # the rank is exactly m
    rows = U[:, :5] / np.linalg.norm(U[:, :5], axis=1, keepdims=True)
    same_state = model.states[:, None] == model.states
    # One direction for each state, and those of two states are orthogonal: rows of Q.
    assert np.allclose(rows @ rows.T, same_state, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_recovery_of_the_states_from_samples(seed):
    model = BrownModel(m=5, n=200, seed=seed)
    tokens = model.sample(300_000, seed)
    accuracies = []
    for n_tokens in (3_000, 30_000, 300_000):
        words = Eigenwords(5, min_count=1, window=2, alpha=1).fit([tokens[:n_tokens]])
        truth = model.states[[int(word) for word in words.vocabulary_]]
        accuracies.append(clustering_accuracy(words.vectors_, truth, 5))
    assert accuracies[0] < accuracies[-1] == 1.0
    assert accuracies == sorted(accuracies)


def clustering_accuracy(vectors, truth, m):
    labels = KMeans(m, n_init=10, random_state=0).fit_predict(vectors)
    agreement = np.array(
        [[np.sum((labels == a) & (truth == b)) for b in range(m)] for a in range(m)]
    )
    return agreement[linear_sum_assignment(-agreement)].sum() / len(truth)


# The estimator.


def test_vectors_are_the_normalized_rows_of_u_sigma_beta(lines):
    words = Eigenwords(**SMALL, beta=0.5).fit(lines)
    moments = CooccurrenceMoments.from_corpus(lines, window=2, min_count=2)
    Omega = scaled_counts(moments.counts(), alpha=1, unit=moments.unit, dtype=np.float64)
    U, s, _ = np.linalg.svd(Omega.toarray())
    rows = (U[:, :8] * s[:8] ** 0.5)[: len(moments.vocabulary)]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.allclose(np.abs(words.vectors_ @ words.vectors_.T), np.abs(rows @ rows.T), atol=1e-4)
    assert np.allclose(words.singular_values_, s[:8], rtol=1e-5)
    assert np.allclose(words.diagnostics_["dropped_singular_values"], s[8:13], rtol=1e-5)
    assert np.allclose(np.linalg.norm(words.vectors_, axis=1), 1, atol=1e-6)
    assert words.vectors_.dtype == np.float32


def test_fit_is_fit_moments_of_collect(lines, fitted):
    estimator = Eigenwords(**SMALL)
    again = estimator.fit_moments(estimator.collect(lines))
    assert np.array_equal(again.vectors_, fitted.vectors_)


@pytest.mark.parametrize("unit", ["line", "stream"])
def test_same_bits_for_any_number_of_shards_and_threads(lines, unit):
    corpus = encode(TextCorpus(lines, unit=unit))
    reference = None
    for n_shards in (1, 2, 8):
        for threads in (1, 2, 8):
            with engine.use(engine.ThreadEngine(threads)):
                moments = CooccurrenceMoments.from_corpus(corpus, n_shards=n_shards, window=2)
                vectors = Eigenwords(**SMALL).fit_moments(moments).vectors_
            reference = vectors if reference is None else reference
            assert np.array_equal(vectors, reference)


def test_adding_text_equals_fitting_from_scratch(lines):
    together = Eigenwords(**SMALL, keep_moments="whole").fit(lines)
    added = Eigenwords(**SMALL, keep_moments="whole").fit(lines[:150])
    added.partial_fit(lines[150:300]).partial_fit(lines[300:])
    assert np.array_equal(added.vectors_, together.vectors_)
    assert added.vocabulary_ == together.vocabulary_
    assert added.moments_ == together.moments_
    fresh = Eigenwords(**SMALL, keep_moments="whole").partial_fit(lines)
    assert np.array_equal(fresh.vectors_, together.vectors_)


def test_whole_and_cut_moments_give_the_same_vectors(lines, fitted):
    for keep in ("whole", "cut"):
        words = Eigenwords(**SMALL, keep_moments=keep).fit(lines)
        assert np.array_equal(words.vectors_, fitted.vectors_)
        assert words.moments_.whole == (keep == "whole")
    assert fitted.moments_ is None


def test_adding_to_cut_moments_must_be_asked_for(lines):
    words = Eigenwords(**SMALL, keep_moments="cut").fit(lines[:200])
    kept = words.vocabulary_.words
    with pytest.raises(MomentsError, match="no word can join"):
        words.partial_fit(lines[200:])
    words.partial_fit(lines[200:], fixed_vocabulary=True)
    assert sorted(words.vocabulary_.words) == sorted(kept)
    with pytest.raises(ParameterError, match="keep_moments='whole'"):
        Eigenwords(**SMALL).fit(lines).partial_fit(lines)


def test_a_saved_model_is_the_same_model(tmp_path, lines):
    for keep in ("none", "cut", "whole"):
        words = Eigenwords(**SMALL, keep_moments=keep).fit(lines)
        words.save(tmp_path / "model")
        loaded = et.load(tmp_path / "model")
        assert isinstance(loaded.vectors_, np.memmap)
        assert np.array_equal(loaded.vectors_, words.vectors_)
        assert loaded.vocabulary_ == words.vocabulary_
        assert loaded.get_params() == dict(words.parameters_)
        assert loaded.diagnostics_ == words.diagnostics_
        assert loaded.provenance_ == words.provenance_
        assert loaded.moments_ == words.moments_
        assert loaded.most_similar("w1") == words.most_similar("w1")
    loaded.partial_fit(lines[:50]).save(tmp_path / "model")  # over the file it was mapped from
    assert et.load(tmp_path / "model").provenance_["n_tokens"] > words.provenance_["n_tokens"]


def test_equal_input_gives_equal_files(tmp_path, lines):
    for name in ("one", "two"):
        Eigenwords(**SMALL, keep_moments="whole").fit(lines).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_sklearn_contract(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert copy.set_params(beta=0.5).beta == 0.5
    with pytest.raises(NotFittedError):
        copy.most_similar("w1")
    with pytest.raises(NotFittedError):
        copy.save("nowhere")


@pytest.mark.parametrize("transform", ["none", "log", "two-thirds", "sqrt"])
@pytest.mark.parametrize("scaling", ["none", "reg", "ppmi", "cca"])
@pytest.mark.parametrize("context", ["bag", "list"])
def test_every_configuration_fits(lines, transform, scaling, context):
    words = Eigenwords(
        **SMALL, count_transform=transform, scaling=scaling, context=context, weighting="distance"
    ).fit(lines)
    assert np.allclose(np.linalg.norm(words.vectors_, axis=1), 1, atol=1e-5)


# Questions.


def test_most_similar_sorts_all_words_by_cosine(fitted):
    cosines = fitted.vectors_ @ fitted["w3"]
    found = fitted.most_similar("w3", topn=5)
    others = [w for w in fitted.vocabulary_ if w != "w3"]
    expected = sorted((fitted.similarity("w3", w) for w in others), reverse=True)[:5]
    assert np.allclose([score for _, score in found], expected, atol=1e-6)
    assert all(np.isclose(score, cosines[fitted.vocabulary_[w]]) for w, score in found)
    assert len(fitted.most_similar("w3", topn=10_000)) == len(fitted.vocabulary_) - 1
    assert fitted.most_similar("w3", topn=0) == []
    assert fitted.most_similar(fitted["w3"] * 7)[0][0] == "w3"  # a vector leaves out no word


@pytest.mark.parametrize("method", ["mul", "add"])
def test_analogy_maximises_its_formula(fitted, method):
    def score(x):
        a, b, c = (fitted.similarity(x, word) for word in ("w1", "w2", "w3"))
        if method == "add":
            return b - a + c
        return (1 + b) / 2 * (1 + c) / 2 / ((1 + a) / 2 + 0.001)

    found = fitted.analogy("w1", "w2", "w3", topn=3, method=method)
    others = [w for w in fitted.vocabulary_ if w not in ("w1", "w2", "w3")]
    best = sorted(others, key=score, reverse=True)[:3]
    assert [word for word, _ in found] == best
    assert np.isclose(found[0][1], score(best[0]), atol=1e-5)


def test_unknown_words_are_named_with_near_spellings():
    words = Eigenwords(2, min_count=1).fit(["spectral methods", "spectral learning"] * 3)
    with pytest.raises(UnknownWordError, match="did you mean spectral"):
        words["spectrl"]
    with pytest.raises(KeyError):
        words.similarity("methods", "xyzzy")
    assert "methods" in words
    assert "method" not in words


def test_a_word_always_alone_has_a_zero_vector():
    words = Eigenwords(2, min_count=1).fit(["a b", "b c", "c a", "lonely"] * 3)
    assert words.diagnostics_["words_without_context"] == 1
    assert not words["lonely"].any()
    assert words.similarity("lonely", "a") == 0


def test_the_index_of_neighbors_follows_the_vectors(lines):
    words = Eigenwords(**SMALL).fit(lines)
    before = words.most_similar("w3")
    words.fit([line[::2] for line in (text.split() for text in lines[:200])])
    assert words.most_similar("w3") != before
    assert np.isclose(
        words.most_similar("w3", 1)[0][1],
        words._cosines(words["w3"])[words.vocabulary_[words.most_similar("w3", 1)[0][0]]],
    )


# Texts.


@pytest.fixture(scope="module")
def cats_and_dogs():
    text = ["The cat sat, here.", "The dog sat there.", "A cat ran here!", "A dog ran there?"] * 5
    corpus = TextCorpus(text, kind="texts", tokenizer="simple", lowercase=True)
    return Eigenwords(3, window=2, min_count=1).fit(corpus)


def test_a_word_has_its_vector_and_a_text_the_mean_of_its_tokens(cats_and_dogs):
    words = cats_and_dogs
    known = words.vocabulary_.words
    assert np.array_equal(words.transform(known), words.vectors_)
    assert np.array_equal(words.transform(["Cat"]), words["cat"][None])  # read as in fit
    (row,) = words.transform(["A dog, a zebra"])
    vectors = [words[token] for token in ("a", "dog", ",", "a")]  # "zebra" is left out
    assert np.allclose(row, np.mean(vectors, axis=0), atol=1e-6)
    same = words.transform([["A", "dog", ",", "a", "zebra"]])
    assert np.array_equal(same[0], row)
    assert words.transform(["a dog", "cat"]).dtype == np.float32


def test_texts_without_known_words_are_zero_and_keep_their_places(cats_and_dogs):
    rows = cats_and_dogs.transform(["zebra", "", "the cat", "?!", "\n"])
    assert rows.any(axis=1).tolist() == [False, False, True, True, False]
    assert cats_and_dogs.transform([]).shape == (0, 3)
    assert cats_and_dogs.transform([[], ["cat"], []]).any(axis=1).tolist() == [False, True, False]
    assert not cats_and_dogs.transform(["x", "y"]).any()


def test_texts_in_any_form(cats_and_dogs, tmp_path):
    texts = ["the cat sat", "a dog", "zebra"]
    expected = cats_and_dogs.transform(texts)
    for given in (tuple(texts), iter(texts), np.array(texts), pd.Series(texts)):
        assert np.array_equal(cats_and_dogs.transform(given), expected)
    split = [text.split() for text in texts]
    for given in (split, pd.Series(split), [np.array(one) for one in split]):
        assert np.array_equal(cats_and_dogs.transform(given), expected)
    assert np.array_equal(cats_and_dogs.transform(TextCorpus(texts, kind="texts")), expected)
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(text + "\n")
    assert np.array_equal(cats_and_dogs.transform(paths), expected)
    for one in ("cat", tmp_path):
        with pytest.raises(CorpusError, match="is not a list of words or texts"):
            cats_and_dogs.transform(one)
    with pytest.raises(CorpusError, match="item 1 is 3"):
        cats_and_dogs.transform([3])


@pytest.mark.parametrize("tokenizer", [None, str.split])
def test_where_nobody_knows_how_text_was_split_strings_are_words(tokenizer):
    lines = ["a b c", "b c a", "c b"] * 3
    given = [line.split() for line in lines]
    if tokenizer:
        given = TextCorpus(lines, kind="texts", tokenizer=tokenizer)
    words = Eigenwords(2, window=1, min_count=1).fit(given)
    assert np.array_equal(words.transform(["a", "c"]), np.array([words["a"], words["c"]]))
    with pytest.raises(CorpusError, match="give lists of tokens"):
        words.transform(["a b"])


def test_vectors_of_unseen_words_count_where_they_are_predicted(spelled):
    words = Eigenwords(4, min_count=1, window=1, oov="characters").fit(spelled[0])
    mean = (words["kulize"] + words["the"]) / 2
    assert np.allclose(words.transform(["the kulize"]), mean, atol=1e-6)


def test_fit_transform_reads_its_texts_once(lines):
    expected = Eigenwords(**SMALL).fit(lines).transform(lines)
    assert np.array_equal(Eigenwords(**SMALL).fit_transform(iter(lines)), expected)


def test_frames_have_the_names_of_the_dimensions(cats_and_dogs):
    texts = pd.Series(["the cat", "a dog"], index=["x", "y"])
    names = ["eigenwords0", "eigenwords1", "eigenwords2"]
    assert list(cats_and_dogs.get_feature_names_out()) == names
    framed = clone(cats_and_dogs).set_output(transform="pandas").fit(list(texts) * 5)
    frame = framed.set_params(n_components=1).transform(texts)
    assert list(frame.columns) == names
    assert np.array_equal(frame, framed.set_output(transform="default").transform(texts))
    with sklearn.config_context(transform_output="pandas"):
        frame = Eigenwords(3, window=2, min_count=1).fit_transform(list(texts) * 5)
    assert list(frame.columns) == names


def test_texts_are_classified_in_a_pipeline_and_parameters_searched():
    """Two kinds of text with no word in common but through their neighbors."""
    rng = np.random.default_rng(0)
    kinds = {0: ["sun", "rain", "wind", "snow", "hail"], 1: ["cup", "fork", "plate", "bowl", "pan"]}
    y = rng.integers(0, 2, 120)
    texts = [" ".join(rng.choice(kinds[kind], 4)) for kind in y]
    pipeline = Pipeline(
        [("words", Eigenwords(2, window=2, min_count=1)), ("model", LogisticRegression())]
    )
    search = GridSearchCV(
        pipeline,
        {"words__n_components": [1, 2], "words__count_transform": ["sqrt", "none"]},
        cv=3,
        error_score="raise",
    ).fit(texts, y)
    assert search.best_score_ > 0.95
    assert set(search.best_params_) == {"words__n_components", "words__count_transform"}
    assert search.predict(["snow wind", "fork fork"]).tolist() == [0, 1]


# The parameter that was called `transform`.


def test_the_old_name_of_a_parameter_still_works(lines):
    with pytest.warns(DeprecationWarning, match="'transform' is called 'count_transform' now"):
        words = Eigenwords(**SMALL, transform="log")
    assert words.count_transform == "log"
    assert "transform" not in words.get_params()
    assert callable(words.transform)
    assert clone(words).get_params() == words.get_params()
    with pytest.warns(DeprecationWarning, match="'transform' is called 'count_transform' now"):
        words.set_params(transform="none", beta=0)
    assert (words.count_transform, words.beta) == ("none", 0)
    with (
        pytest.warns(DeprecationWarning),
        pytest.raises(ParameterError, match="count_transform is given twice"),
    ):
        Eigenwords(count_transform="log", transform="log")
    with pytest.raises(TypeError, match="nonsense"):
        Eigenwords(nonsense=1)


def test_files_with_the_old_name_are_read(fitted, tmp_path):
    arrays, about = fitted._to_saved()
    about["parameters"]["transform"] = about["parameters"].pop("count_transform")
    write_saved(tmp_path / "old", fitted._format, arrays, about)
    loaded = et.load(tmp_path / "old")
    assert loaded.parameters_ == fitted.parameters_
    assert loaded.most_similar("w1") == fitted.most_similar("w1")


# Damaged files.


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e30, -2])
def test_vectors_that_are_none_are_found_when_they_are_used(fitted, tmp_path, number):
    arrays, about = fitted._to_saved()
    spoilt = arrays["vectors"].copy()
    spoilt[5, 3] = number
    write_saved(tmp_path / "model", fitted._format, {**arrays, "vectors": spoilt}, about)
    words = et.load(tmp_path / "model")
    good, bad = words.vocabulary_.words[4:6]
    assert np.array_equal(words[good], fitted[good])
    message = f"{tmp_path / 'model'}: damaged or made by something else: vectors has "
    for use in (
        lambda: words.most_similar(good),
        lambda: words.analogy(good, good, good),
        lambda: words.export(tmp_path / "vectors"),
    ):
        with pytest.raises(ModelFileError, match=re.escape(message)):
            use()
    for use in (lambda: words[bad], lambda: words.transform([f"{good} {bad}"])):
        with pytest.raises(ModelFileError, match="vectors has"):
            use()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"vectors": np.zeros((2, 8), np.float32)}, "vectors"),
        ({"vectors": np.zeros((2, 8))}, "vectors"),
        ({"singular_values": np.ones(7, np.float32)}, "singular_values"),
        ({"singular_values": np.full(8, np.nan, np.float32)}, "singular_values"),
        ({"words": ["a"] * 2}, "words"),
        ({"word_counts": np.array([-1])}, "word_counts"),
        ({"provenance": {}}, "provenance"),
        ({"provenance": {"n_tokens": 3, "options": {"tokenizer": 3}}}, "provenance"),
        ({"provenance": {"n_tokens": 3, "options": {"unit": "page"}}}, "provenance"),
        ({"diagnostics": None}, "diagnostics"),
        ({"diagnostics": {"dropped_singular_values": [None]}}, "diagnostics"),
        ({"parameters": {"window": 2.5}}, "window"),
        ({"parameters": {"windows": 2}}, "windows"),
        ({"parameters": None}, "NoneType"),
    ],
)
def test_a_file_that_is_not_as_declared_names_what_is_wrong(fitted, tmp_path, change, named):
    arrays, about = fitted._to_saved()
    for name, value in change.items():
        (arrays if name in arrays else about)[name] = value
    write_saved(tmp_path / "model", fitted._format, arrays, about)
    with pytest.raises(ModelFileError, match=rf"damaged or made by something else: .*{named}"):
        et.load(tmp_path / "model")


# Unseen words.


@pytest.fixture(scope="module")
def spelled():
    """Words whose ending tells what stands beside them."""
    rng = np.random.default_rng(0)
    stems = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnr"]
    lines = [
        f"{'to' if ending == 'ize' else 'the'} {stem}{ending} {'it' if ending == 'ize' else 'of'}"
        for stem, ending in zip(rng.choice(stems[:-5], 4000), rng.choice(["ize", "ness"], 4000))
    ]
    return lines, stems[-5:]


def test_unseen_words_get_vectors_from_their_spelling(spelled, tmp_path):
    lines, unseen = spelled
    words = Eigenwords(4, min_count=1, window=1, oov="characters").fit(lines)
    for stem in unseen:
        assert f"{stem}ize" not in words
        assert words.most_similar(f"{stem}ize", 1)[0][0].endswith("ize")
        assert words.most_similar(f"{stem}ness", 1)[0][0].endswith("ness")
    known = words.vocabulary_.words[5]
    assert np.array_equal(words[known], words.vectors_[5])  # what is known is not predicted
    words.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert np.array_equal(loaded["kulize"], words["kulize"])
    plain = Eigenwords(4, min_count=1, window=1).fit(lines)
    with pytest.raises(UnknownWordError):
        plain["kulize"]


# Fewer pairs kept.


def test_fewer_pairs_are_kept_but_the_vectors_are_of_all(lines, fitted, tmp_path):
    words = Eigenwords(**SMALL, keep_moments="whole", keep_pairs=3).fit(lines)
    whole = Eigenwords(**SMALL, keep_moments="whole").fit(lines)
    assert np.array_equal(words.vectors_, fitted.vectors_)
    assert words.moments_ == whole.moments_.thresholded(3)
    assert words.moments_.forward.nnz < whole.moments_.forward.nnz
    for model, name in ((words, "few"), (whole, "all")):
        model.save(tmp_path / name)
    assert (tmp_path / "few").stat().st_size < (tmp_path / "all").stat().st_size
    with pytest.warns(UserWarning, match="pairs counted less than 3 times were dropped"):
        words.partial_fit(lines[:50])


# Bad input.


def test_more_components_than_rank():
    with pytest.raises(ParameterError, match="there are only 3 words; use 3 or less"):
        Eigenwords(300, min_count=1).fit(["a b c"] * 9)
    # b and c are used alike: three words, two directions.
    with pytest.raises(ParameterError, match="rank 2"):
        Eigenwords(3, min_count=1, window=1).fit(["a b", "a c"] * 9)


@pytest.mark.parametrize(
    "bad",
    [
        {"n_components": 0},
        {"n_components": 2.5},
        {"min_count": 0},
        {"beta": 1.5},
        {"alpha": 1.5},
        {"window": 0},
        {"window": 2.5},
        {"window": 41, "weighting": "distance"},
        {"random_state": -1},
        {"keep_pairs": 1.5, "keep_moments": "cut"},
        {"count_transform": "cube"},
        {"scaling": "tfidf"},
        {"context": "tree"},
        {"weighting": "linear"},
        {"keep_moments": "all"},
        {"keep_pairs": -1},
        {"max_size": 0},
        {"oov": "guess"},
    ],
)
def test_bad_parameters(lines, bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        Eigenwords(**{**SMALL, **bad}).fit(lines)


def test_moments_of_other_settings_are_refused(lines):
    moments = CooccurrenceMoments.from_corpus(lines, window=3)
    with pytest.raises(MomentsError, match="window"):
        Eigenwords(**SMALL).fit_moments(moments)


def test_an_unfitted_model_knows_no_word():
    with pytest.raises(NotFittedError):
        "a" in Eigenwords()  # noqa: B015


def test_asking_leaves_no_index_in_copies(fitted):
    before = len(pickle.dumps(fitted))
    fitted.most_similar("w1")
    assert len(pickle.dumps(fitted)) == before


def test_a_parameter_that_scaling_does_not_use_is_told(lines):
    with pytest.warns(UnusedParameterWarning, match=r"scaling='reg' does not use alpha: 0\.5"):
        Eigenwords(**SMALL, scaling="reg", alpha=0.5).fit(lines)


def test_wrong_questions(fitted):
    for topn in (True, 2.5, -1, None, "3"):
        for ask in (fitted.most_similar, lambda w, n: fitted.analogy(w, "w2", "w3", n)):
            with pytest.raises(ParameterError, match=r"^topn must be a whole number, 0 or more"):
                ask("w1", topn)
    for memory in (0, 1e9, True):
        with pytest.raises(ParameterError, match=r"^memory must be a whole number"):
            clone(fitted).fit(["a b"], memory=memory)
    with pytest.raises(ParameterError, match="shape"):
        fitted.most_similar(np.ones(3))
    with pytest.raises(ParameterError, match="'mul' or 'add'"):
        fitted.analogy("w1", "w2", "w3", method="div")


# Real data.


def test_brown_corpus_has_sensible_neighbors(data_folder):
    import zipfile

    with zipfile.ZipFile(data_folder / "nltk_data/corpora/brown.zip") as archive:
        names = sorted(n for n in archive.namelist() if n[-4:-2].isalpha() and n[-2:].isdigit())
        text = [archive.read(name).decode() for name in names]
    sentences = [
        [token.rpartition("/")[0].lower() for token in line.split()]
        for file in text
        for line in file.splitlines()
        if line.strip()
    ]
    assert len(sentences) == 57_340
    assert sum(map(len, sentences)) == 1_161_192
    words = Eigenwords(50, min_count=50, window=2).fit(sentences)
    days = {"monday", "sunday", "saturday", "friday"} & set(words.vocabulary_)
    assert {w for w, _ in words.most_similar("him", 5)} & {"them", "me", "her", "us", "himself"}
    assert {w for w, _ in words.most_similar("two", 5)} & {
        "three",
        "four",
        "five",
        "several",
        "six",
    }
    assert words.similarity("could", "would") > words.similarity("could", "three")
    assert not days or words.similarity(*sorted(days)[:2]) > words.similarity("could", "three")
