"""The class bigram: known answers, exact recovery, samples, other models, and real text."""

import doctest
import os
from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext import ClassBigram, KneserNey, NgramMoments
from eigentext.corpus import Vocabulary
from eigentext.errors import (
    CorpusError,
    LittleDataWarning,
    ModelFileError,
    MomentsError,
    ParameterError,
    UnknownWordError,
)
from eigentext.evaluate import average_mutual_information
from eigentext.sequences import Interpolation, class_bigram
from eigentext.storage import read_saved, write_saved

LINES = [line.split() for line in ("the cat sat", "a dog ran", "the dog sat", "a cat ran")] * 8
STREAM = list(chain.from_iterable(LINES))
GIVEN = {"the": "0", "a": "0", "cat": "10", "dog": "10", "sat": "11", "ran": "11"}
INITS = ("cca", "frequency", "brown")


def brown_model(K=4, n=30, seed=0):
    """A random Brown model: classes, p(w | c) and p(c2 | c1)."""
    rng = np.random.default_rng(seed)
    classes = np.append(np.arange(K), rng.integers(K, size=n - K))
    emission = rng.gamma(1.0, size=n) + 0.05
    emission /= np.bincount(classes, emission)[classes]
    return classes, emission, rng.dirichlet(np.full(K, 0.5), K)


def population(classes, emission, transition):
    """The exact moments of the stream of a Brown model."""
    K, n = len(transition), len(classes)
    system = np.vstack([transition.T - np.eye(K), np.ones(K)])
    share = np.linalg.lstsq(system, np.append(np.zeros(K), 1), rcond=None)[0]
    unigrams = np.append(share[classes] * emission, [0.0, 0.0])
    pairs = np.zeros((n + 2, n + 2))
    pairs[:n, :n] = unigrams[:n, None] * transition[classes][:, classes] * emission
    vocabulary = Vocabulary([f"w{x}" for x in range(n)], np.zeros(n, np.int64))
    options = {"tokenizer": "none", "lowercase": False, "unit": "stream"}
    return NgramMoments(vocabulary, unigrams, [sp.csr_array(pairs)], False, options, [])


def sampled(classes, emission, transition, n_tokens, seed=1):
    rng = np.random.default_rng(seed)
    K = len(transition)
    state, tokens = 0, []
    words = [np.flatnonzero(classes == c) for c in range(K)]
    for _ in range(n_tokens):
        state = rng.choice(K, p=transition[state])
        tokens.append(f"w{rng.choice(words[state], p=emission[words[state]])}")
    return tokens


def same_partition(a, b):
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist()))
    return len(pairs) == len(set(a)) == len(set(b))


# Known answers.


def test_probabilities_by_hand():
    model = ClassBigram(GIVEN, smoothing="none").fit(STREAM)
    N = len(STREAM)
    assert np.isclose(model.probability("cat", given="the"), 1 * 16 / 32)
    assert np.isclose(model.probability("the", given="sat"), 16 / 32)
    assert np.isclose(model.probability("cat"), 16 / N)
    assert model.probability("the", given="cat") == 0
    assert np.isclose(model.perplexity(STREAM), 2 ** ((N - 1) / N) * 6 ** (1 / N))
    assert model.log_probabilities(["the", "sat"])[1] == -np.inf


def test_smoothing_is_kneser_ney_over_classes():
    model = ClassBigram(GIVEN).fit(LINES)
    classes = KneserNey(2).fit([[GIVEN[word] for word in line] for line in LINES])
    p = classes.probability("10", given="0") * 0.5
    assert np.isclose(model.probability("cat", given="the"), p)
    expected = classes.log_probabilities([["0", "10"]]) + np.log([0.5, 0.5, 1])
    assert np.allclose(model.log_probabilities([["a", "dog"]]), expected)


@pytest.mark.parametrize("smoothing", ["kneser-ney", "none"])
@pytest.mark.parametrize("text", [LINES, STREAM])
def test_distributions_add_up_to_one(text, smoothing):
    model = ClassBigram(n_classes=2, smoothing=smoothing, min_count=2).fit(text + text[:1])
    for given in (None, "the", "cat", "never seen"):
        if given == "never seen" and smoothing == "none":
            assert np.isclose(model.distribution(given).sum(), 1)
            continue
        assert abs(model.distribution(given).sum() - 1) < 1e-12
    if text is LINES:
        assert abs(model.distribution(start=True).sum() - 1) < 1e-12
        with pytest.raises(ParameterError, match="no word comes before a start"):
            model.distribution("the", start=True)
    else:
        with pytest.raises(ParameterError, match="a stream has no starts"):
            model.distribution(start=True)
    place = model.vocabulary_["cat"]
    assert np.isclose(model.probability("cat", given="a"), model.distribution("a")[place])
    sums = np.bincount(model.classes_, model.emission_)
    assert np.abs(sums - 1).max() < 1e-12
    if smoothing != "none":
        assert np.isfinite(model.perplexity([["sat", "sat", "the"]]))


def test_events_of_units_and_unknown_words():
    model = ClassBigram(n_classes=3, min_count=2).fit([*LINES, ["once", "sat"]])
    ends = model.distribution("sat")[-1], model.distribution("never")[-1]
    scores = model.log_probabilities([["the", "zzz", "cat"], [], ["zzz"]])
    start, rare = model.distribution(start=True), model.distribution("zzz")
    the, cat = (model.vocabulary_[word] for word in ("the", "cat"))
    expected = [start[the], np.nan, rare[cat], model.distribution("cat")[-1], np.nan, ends[1]]
    assert np.allclose(np.exp(scores), expected, equal_nan=True)
    counted = model.log_probabilities([["zzz"]], rare=True)
    assert np.allclose(np.exp(counted), [start[-2], ends[1]])
    assert np.isclose(model.score(LINES), -np.log(model.perplexity(LINES)))
    with pytest.raises(UnknownWordError, match="zzz"):
        model.probability("zzz")
    with pytest.raises(UnknownWordError, match="zzz"):
        model.class_of("zzz")


def test_integers_are_symbols():
    model = ClassBigram(n_classes=2).fit([[0, 1, 0, 1, 2, 1]] * 9)
    assert model.class_of(0) == model.class_of(2) != model.class_of(1)
    assert model.top_next([0], 1)[0][0] == 1
    assert set(model.generate(5)) <= {0, 1, 2}


def test_a_symbol_without_tokens_gets_a_share_of_its_class():
    # 3 is a symbol, because numbers have no gaps.
    model = ClassBigram({"0": 0, "2": 0, "3": 0, "1": 1, "4": 1}).fit([[0, 1, 0, 1, 2, 4]] * 9)
    p = model.emission_
    assert (p > 0).all()
    assert np.abs(np.bincount(model.classes_, p) - 1).max() < 1e-12


# Exactness and recovery.


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("init", ["cca", "brown"])
def test_a_distribution_is_recovered_exactly(seed, init):
    truth = classes, emission, transition = brown_model(seed=seed)
    moments = population(*truth)
    model = ClassBigram(n_classes=4, init=init).fit_moments(moments)
    assert same_partition(model.classes_, classes)
    assert np.abs(model.emission_ - emission).max() < 1e-8
    numbers = model.classes_[:4]  # word c is of class c
    found = model.transition_matrix()[np.ix_(numbers, numbers)]
    assert np.abs(found - transition).max() < 1e-8
    C = moments.levels[0].toarray()[:-2, :-2]
    p = np.array([model.distribution(f"w{x}")[:-2] for x in range(len(classes))])
    assert np.abs(p - C / C.sum(axis=1, keepdims=True)).max() < 1e-8


def test_classes_are_recovered_from_samples():
    truth = brown_model(K=4, n=30, seed=2)
    tokens = sampled(*truth, 20_000)
    model = ClassBigram(n_classes=4).fit(tokens)
    names = [f"w{x}" for x in range(30) if f"w{x}" in model.vocabulary_]
    found = [model.class_of(name) for name in names]
    expected = [truth[0][int(name[1:])] for name in names]
    assert same_partition(found, expected)
    P = truth[2][truth[0]][:, truth[0]] * truth[1]
    errors = [
        np.abs(model.distribution(name)[model.vocabulary_.ids_of(names)] - P[int(name[1:])]).sum()
        for name in names
    ]
    assert np.mean(errors) < 0.1


@pytest.mark.parametrize("smoothing", ["kneser-ney", "none"])
@pytest.mark.parametrize("text", [LINES, STREAM])
def test_the_hidden_markov_model_has_the_same_probabilities(text, smoothing):
    model = ClassBigram(n_classes=3, smoothing=smoothing).fit(text)
    hmm = model.to_hmm()
    assert len(hmm.initial_) == 3 + (smoothing != "none") + (text is LINES)
    for line in (["the", "dog", "sat"], ["a", "cat", "ran", "the"], ["dog"]):
        if text is STREAM:
            expected, asked = model.log_probabilities(line).sum(), line
        else:
            expected, asked = model.log_probabilities([line]).sum(), [*line, "<end>"]
        found = hmm.log_probability(asked)
        assert found == expected or abs(found - expected) < 1e-12
    states, _ = hmm.viterbi(["the", "dog", "sat"])
    assert states.tolist() == [model.class_of(word) for word in ("the", "dog", "sat")]


# Where classes come from.


def test_clusters_of_any_kind_give_the_same_model(tmp_path):
    clusters = et.WordClusters(3).fit(et.Eigenwords(2, window=1, min_count=1).fit(LINES))
    clusters.to_tsv(tmp_path / "paths")
    given = dict(zip(clusters.vocabulary_.words, clusters.bit_strings_))
    models = [
        ClassBigram(one).fit(LINES) for one in (clusters, given, tmp_path / "paths", clusters)
    ]
    models.append(ClassBigram(models[0]).fit(LINES))
    for model in models:
        assert np.array_equal(model.classes_, models[0].classes_)
        assert model.perplexity(LINES) == models[0].perplexity(LINES)
        assert model.n_iter_ == 0
        assert len(model.history_) == 1
    assert same_partition(models[0].classes_, clusters.labels_)


def test_exchange_goes_on_from_given_clusters():
    bad = {"the": 0, "cat": 0, "a": 1, "dog": 1, "sat": 2, "ran": 2}
    kept = ClassBigram(bad).fit(LINES)
    better = ClassBigram(bad, exchange=True).fit(LINES)
    assert kept.n_iter_ == 0 < better.n_iter_
    assert better.average_mutual_information_ > kept.average_mutual_information_
    assert better.perplexity(LINES) < kept.perplexity(LINES)
    assert ClassBigram(bad, exchange=True, n_iter=0).fit(LINES).history_ == kept.history_
    start = ClassBigram(n_classes=3, init="frequency", exchange=False).fit(LINES)
    assert start.n_iter_ == 0


def test_words_that_clusters_lack_share_a_class():
    model = ClassBigram({"the": 0, "a": 0, "unheard": 1}).fit(LINES)
    assert same_partition(model.classes_, [word in ("the", "a") for word in model.vocabulary_])
    assert model.diagnostics_["covered"] == pytest.approx(1 / 3)
    assert model.diagnostics_["empty_classes"] == 1
    said = " ".join(one.line for one in model.findings())
    assert "only 33% of the tokens" in said
    assert "1 of the given clusters have no word" in said


@pytest.mark.parametrize("init", INITS)
def test_all_starts_find_the_classes(init):
    model = ClassBigram(n_classes=3, init=init).fit(STREAM)
    assert same_partition(model.classes_, [GIVEN[word] for word in model.vocabulary_])
    assert [model.words(c) for c in range(3)] == [["a", "the"], ["cat", "dog"], ["ran", "sat"]]
    assert model.words(0, 1) == ["a"]
    assert np.isclose(model.average_mutual_information_, average_mutual_information(model, STREAM))


def test_history_is_the_likelihood_of_the_model_without_smoothing():
    model = ClassBigram(n_classes=2, smoothing="none").fit(LINES)
    assert np.isclose(model.history_[-1], model.score(LINES))
    assert model.diagnostics_["log_likelihood"] == model.history_[-1]


# With other models.


def test_mixtures_with_ngrams():
    ngrams, classes = KneserNey(2).fit(LINES), ClassBigram(n_classes=3).fit(LINES)
    mixture = Interpolation([ngrams, classes]).fit(LINES[:5])
    found, alone = mixture.diagnostics_["perplexity"], mixture.diagnostics_["model_perplexities"]
    assert found <= min(alone) + 1e-4
    assert np.isclose(sum(p for _, p in mixture.top_next("the", 99)), 1)
    by_count = Interpolation([classes, ngrams], by_count=True).fit(LINES[:5])
    assert np.isfinite(by_count.perplexity(LINES))


def test_moments_and_text_give_the_same_model():
    whole = NgramMoments.from_corpus([*LINES, ["once"]], order=3)
    a = ClassBigram(n_classes=3, min_count=2).fit([*LINES, ["once"]])
    b = ClassBigram(n_classes=3, min_count=2).fit_moments(whole)
    parts = [NgramMoments.from_corpus(part, order=2) for part in ([*LINES[:5]], LINES[5:])]
    c = ClassBigram(n_classes=3).fit_moments(parts[0] + parts[1])
    assert np.array_equal(a.log_probabilities(LINES), b.log_probabilities(LINES))
    d = ClassBigram(n_classes=3).fit(LINES)
    assert np.array_equal(c.log_probabilities(LINES), d.log_probabilities(LINES))


def test_clusters_survive_a_file(tmp_path):
    clusters = et.WordClusters(3).fit(et.Eigenwords(2, window=1, min_count=1).fit(LINES))
    model = ClassBigram(clusters, exchange=True).fit(LINES)
    model.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    again = loaded.fit(LINES)
    assert np.array_equal(again.classes_, model.classes_)
    path = tmp_path / "paths"
    clusters.to_tsv(path)
    named = ClassBigram(path).fit(LINES)
    named.save(tmp_path / "named")
    assert et.load(tmp_path / "named").parameters_.clusters == str(path)


# Bad input.


@pytest.mark.parametrize("text", [[], [[]], [""]])
def test_empty_text(text):
    with pytest.raises(CorpusError):
        ClassBigram(n_classes=2).fit(text)


def test_one_token():
    with pytest.raises(CorpusError, match="one token only"):
        ClassBigram(n_classes=2).fit(["alone"])
    model = ClassBigram(n_classes=2).fit([["alone"]])
    assert np.isfinite(model.perplexity([["alone"]]))


def test_more_classes_than_words_is_a_bigram_of_words():
    with pytest.warns(LittleDataWarning, match="Each of the 6 words is a class of its own"):
        model = ClassBigram().fit(LINES)
    assert np.allclose(
        model.log_probabilities(LINES), KneserNey(2).fit(LINES).log_probabilities(LINES)
    )
    assert model.parameters_.n_classes == 1000


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"clusters": {"zebra": 0}}, "no word of the text is in the clusters"),
        ({"clusters": {"cat": None}}, "not a word with its class"),
        ({"clusters": 3}, "clusters must be fitted WordClusters"),
        ({"clusters": ""}, "clusters must be"),
        ({"n_classes": 0}, r"n_classes \(--classes\) must be"),
        ({"init": "random"}, "init must be"),
        ({"tol": -1}, "tol must be"),
        ({"smoothing": "laplace"}, "smoothing must be"),
    ],
)
def test_refused_parameters(settings, why):
    with pytest.raises(ParameterError, match=why):
        ClassBigram(**settings).fit(LINES)


def test_other_refusals(tmp_path):
    with pytest.raises(MomentsError, match="order=2"):
        ClassBigram(n_classes=2).fit_moments(NgramMoments.from_corpus(LINES, order=1))
    with pytest.raises(CorpusError, match="lower min_count"):
        ClassBigram(n_classes=2, min_count=99).fit(LINES)
    with pytest.raises(CorpusError, match="no/such"):
        ClassBigram("no/such/file").fit(LINES)
    model = ClassBigram(n_classes=3).fit(LINES)
    with pytest.raises(ParameterError, match="from 0 to 2"):
        model.words(3)
    with pytest.raises(CorpusError, match="no word of this text"):
        ClassBigram(n_classes=3).fit(STREAM).perplexity(["zzz"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda a, _: a.update(classes=a["classes"] + 1), "do not fit the 3 classes"),
        (lambda a, _: a.update(classes=a["classes"] * 0), "a class without a word"),
        (lambda a, _: a.update(emission=a["emission"] / 2), "do not add up to 1"),
        (lambda _, b: b["transitions"].update(format="eigentext.ngrams.v1"), "damaged"),
        (lambda _, b: b.update(transitions={}), "transitions"),
    ],
)
def test_damaged_files(tmp_path, change, why):
    ClassBigram(n_classes=3).fit(LINES).save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    arrays = {name: arrays[name] for name in list(arrays)}
    change(arrays, about)
    name = about.pop("format")
    about.pop("made_by", None)
    write_saved(tmp_path / "damaged", name, arrays, about)
    with pytest.raises(ModelFileError, match=why):
        et.load(tmp_path / "damaged")


# Documents and real text.


def test_the_example_of_the_documentation():
    assert doctest.testmod(class_bigram).failed == 0


def test_plot():
    axes = ClassBigram(n_classes=3, init="frequency").fit(LINES).plot()
    assert axes.get_ylabel() == "log-likelihood per event"


@pytest.mark.skipif("EIGENTEXT_DATA" not in os.environ, reason="needs the Brown corpus")
def test_the_brown_corpus():
    from eigentext.corpus.datasets import load_dataset

    tokens = list(chain.from_iterable(load_dataset("brown")))[:90_000]
    train, held, test = tokens[:70_000], tokens[70_000:80_000], tokens[80_000:]
    moments = NgramMoments.from_corpus(train, order=2, min_count=2)
    ngrams = KneserNey(2, min_count=2).fit_moments(moments)
    found = {
        init: ClassBigram(n_classes=50, min_count=2, init=init).fit_moments(moments)
        for init in INITS
    }
    greedy = ClassBigram(n_classes=50, min_count=2, init="brown", exchange=False)
    greedy = greedy.fit_moments(moments)
    for model in found.values():
        assert (np.diff(model.history_) >= 0).all()
        assert model.average_mutual_information_ > greedy.average_mutual_information_
    model = found["cca"]
    assert model.class_of("he") == model.class_of("she")
    mixture = Interpolation([ngrams, model]).fit(held)
    assert mixture.perplexity(test) < 0.93 * ngrams.perplexity(test)
