"""Hidden Markov models: known answers, exactness, samples, real text, and bad input."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import HMM, NgramMoments, TextCorpus, engine
from eigentext.corpus.symbols import RARE
from eigentext.errors import CorpusError, ModelFileError, MomentsError, ParameterError
from eigentext.sequences.learning.em import Sequences, refine
from eigentext.storage import read_saved, write_saved

METHODS = ["spectral", "em", "spectral+em"]
SIZES = [(2, 10), (3, 10), (4, 20), (5, 20), (6, 30), (7, 40), (8, 50)]
WORDS = [["a", "b", "a", "x"], ["b", "a", "b", "a"], ["b", "y", "a", "b"]] * 8


def fitted(data, m=2, **settings):
    """Fit without the warning that fewer directions than states are usable."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*states asked for")
        return HMM(m, **settings).fit(data)


def short(method, n_iter):
    """Parameters for a short run of EM, if the method has EM."""
    return {} if method == "spectral" else {"n_init": 2, "n_iter": n_iter}


@pytest.fixture(scope="module")
def weather():
    """Two states: 0 mostly emits 0, 1 mostly emits 1, and none emits 2."""
    return HMM.from_parameters(
        [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]
    )


# Known answers.


def test_probabilities_by_hand(weather):
    assert weather.probability([0]) == pytest.approx(0.6 * 0.9 + 0.4 * 0.2)
    # After 0: 0.54 and 0.08 of 0.62; a step on: 0.54 * 0.7 + 0.08 * 0.4 and 0.54 * 0.3 + 0.08 * 0.6
    assert weather.probability([0, 1]) == pytest.approx(0.41 * 0.1 + 0.21 * 0.8)
    assert weather.log_probability([0, 1]) == pytest.approx(np.log(0.209))
    assert np.allclose(weather.filter([0]), [[0.54 / 0.62, 0.08 / 0.62]])
    assert np.allclose(weather.predict_next([0]), np.array([0.41, 0.21]) @ weather.emission_ / 0.62)
    assert np.allclose(weather.predict_next(), [0.62, 0.38, 0])
    path, value = weather.viterbi([0, 1, 1])
    assert path.tolist() == [0, 1, 1]
    assert value == pytest.approx(np.log(0.6 * 0.9 * 0.3 * 0.8 * 0.6 * 0.8))


def test_all_paths(random_hmm):
    hmm = random_hmm(3, 4)
    for x in product(range(4), repeat=4):
        best, total = (-1.0, None), 0.0
        for path in product(range(3), repeat=4):
            p = hmm.initial_[path[0]] * hmm.emission_[path[0], x[0]]
            for t in range(1, 4):
                p *= hmm.transition_[path[t - 1], path[t]] * hmm.emission_[path[t], x[t]]
            total += p
            best = max(best, (p, path))
        assert hmm.probability(x) == pytest.approx(total, rel=1e-12)
        found, value = hmm.viterbi(x)
        assert tuple(found) == best[1]
        assert value == pytest.approx(np.log(best[0]))


@pytest.mark.parametrize("seed", range(3))
def test_k_best_paths_are_the_best_of_all(random_hmm, seed):
    hmm = random_hmm(3, 4, seed)
    sequence = hmm.sample(1, 5, random_state=seed)[0]
    logs = {}
    for path in product(range(3), repeat=5):
        states, symbols = np.array(path), np.asarray(sequence)
        p = hmm.initial_[states[0]] * hmm.transition_[states[:-1], states[1:]].prod()
        logs[path] = np.log(p * hmm.emission_[states, symbols].prod())
    expected = sorted(logs, key=lambda path: -logs[path])
    found = hmm.k_best(sequence, 20)
    np.testing.assert_allclose([log for _, log in found], [logs[path] for path in expected[:20]])
    paths = [tuple(states.tolist()) for states, _ in found]  # equal ones may have any order
    np.testing.assert_allclose([log for _, log in found], [logs[path] for path in paths])
    assert len(set(paths)) == 20
    states, log = hmm.viterbi(sequence)
    assert found[0][0].tolist() == states.tolist()
    assert found[0][1] == log
    assert len(hmm.k_best(sequence, 1000)) == 3**5


def test_k_best_at_the_edges(weather):
    found = weather.k_best([], 3)
    assert [(states.tolist(), log) for states, log in found] == [([], 0.0)]
    certain = HMM.from_parameters([1, 0], [[0, 1], [1, 0]], [[1, 0], [0, 1]])
    assert [(states.tolist(), log) for states, log in certain.k_best([0, 1], 5)] == [([0, 1], 0.0)]
    assert certain.k_best([0, 0], 5) == []  # impossible
    with pytest.raises(ParameterError, match="k must be a whole number, 1 or more, not 0"):
        weather.k_best([0], 0)


def test_operators_multiply_to_probabilities(random_hmm):
    hmm = random_hmm(3, 5)
    for model in (hmm, HMM(3).fit_moments(hmm.moments())):
        b = model.start_
        for x in (4, 0, 2):
            b = model.operator(x) @ b
        assert model.end_ @ b == pytest.approx(hmm.probability([4, 0, 2]), rel=1e-9)
        assert not model.operator(77).any()


def test_long_sequences_do_not_underflow(random_hmm):
    hmm = random_hmm(3, 5)
    x = hmm.sample(1, 5000)[0]
    assert hmm.probability(x) == 0
    logs = hmm.log_probabilities([x])
    assert hmm.log_probability(x) == pytest.approx(logs.sum())
    assert -9000 < logs.sum() < -5000


def test_scores_of_many_sequences(random_hmm):
    hmm = random_hmm(3, 5)
    spectral = HMM(3).fit_moments(hmm.moments())
    sequences = [[0, 1, 2], [], [4], [3, 3]]
    for model in (hmm, spectral):
        each = [model.log_probability(x) for x in sequences]
        for given in (sequences, tuple(sequences), (iter(x) for x in sequences)):
            assert np.allclose(model.score_samples(given), each)
        logs = model.log_probabilities(sequences)
        assert np.allclose(np.add.reduceat(logs, [0, 3, 4]), [p for p in each if p])
        assert model.perplexity(sequences) == pytest.approx(np.exp(-logs.mean()))


def test_empty_sequences_have_scores_in_their_places(weather):
    one = weather.log_probability([0, 1])
    assert weather.score_samples([[], [0, 1], [], [0, 1], []]).tolist() == [0, one, 0, one, 0]
    assert weather.score_samples([[], []]).tolist() == [0, 0]
    assert weather.score_samples(np.zeros((2, 0), int)).tolist() == [0, 0]
    assert weather.score_samples([]).tolist() == []
    assert weather.score_samples([0, 1]).tolist() == [one]  # a stream
    assert weather.score_samples(np.array([[0, 1]])).tolist() == [one]
    with pytest.raises(CorpusError, match="is not a sequence"):
        weather.score_samples(3)


def test_samples_have_the_model_s_frequencies(random_hmm):
    hmm = random_hmm(3, 4)
    spectral = HMM(3).fit_moments(hmm.moments())
    pairs = np.array([hmm.probability(x) for x in product(range(4), repeat=2)])
    for model, size in ((hmm, 40_000), (spectral, 4000)):
        drawn = model.sample(size, 2, random_state=1)
        assert drawn.shape == (size, 2)
        counts = np.bincount(drawn @ [4, 1], minlength=16)
        assert (np.abs(counts - size * pairs) < 5 * np.sqrt(size * pairs)).all()
        assert np.array_equal(model.sample(50, 3), model.sample(50, 3))
        assert not np.array_equal(model.sample(50, 3), model.sample(50, 3, random_state=5))
    assert hmm.sample(0, 3).shape == (0, 3)


@pytest.mark.parametrize("method", METHODS)
def test_states_of_many_sentences(method):
    hmm = fitted(WORDS, method=method, **short(method, 9))
    # Unknown words, also alone, and empty sentences.
    sentences = [["a", "b"], [], ["b", "?", "a"], ["?"], ["a"], []]
    found = hmm.transform(iter(sentences))
    assert len(found) == len(sentences)
    for sentence, states in zip(sentences, found):
        assert states.dtype == np.float64
        assert states.shape == (len(sentence), hmm.filter(["a"]).shape[1])
        assert np.isfinite(states).all()
        assert np.allclose(states, hmm.filter(sentence), rtol=1e-12, atol=0)
    assert hmm.transform([]) == []
    assert [len(states) for states in hmm.transform([[], []])] == [0, 0]


@pytest.mark.parametrize("m", [2, 3])
def test_states_of_sentences_of_numbers(random_hmm, m):
    truth = random_hmm(m, 5)
    for model in (truth, HMM(m).fit_moments(truth.moments())):
        sequences = [row[:n] for row, n in zip(truth.sample(9, 7, random_state=1), range(9))]
        for sequence, states in zip(sequences, model.transform(sequences)):
            assert np.allclose(states, model.filter(sequence), rtol=1e-12, atol=0)
    p = truth.transform([[0, 3], [1]])
    assert np.allclose(np.concatenate(p).sum(axis=1), 1)


def test_states_with_rare_words():
    hmm = fitted(WORDS, min_count=10, method="em")
    assert RARE in hmm.symbols_
    (states,) = hmm.transform([["a", "x", "new"]])
    assert np.allclose(states, hmm.filter(["a", "y", "?"]))


def test_sentences_that_are_none_have_no_states():
    with pytest.raises(NotFittedError):
        HMM(2).transform([["a"]])
    hmm = fitted(WORDS)
    for nothing in ("ab", ["ab", "b"]):  # `filter` refuses strings, too
        with pytest.raises(CorpusError):
            hmm.transform(nothing)
    with pytest.raises(
        CorpusError, match="the input has integers, but the model was fitted to wor"
    ):
        hmm.transform([[0]])


# Exactness.


@pytest.mark.parametrize("scaling", ["cca", "none"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("m", "n"), SIZES)
def test_population_moments_give_exact_probabilities(random_hmm, m, n, seed, scaling):
    truth = random_hmm(m, n, seed)
    hmm = HMM(m, scaling=scaling).fit_moments(truth.moments())
    rng = np.random.default_rng(seed)
    strings = [rng.integers(0, n, rng.integers(1, 6)).tolist() for _ in range(2000)]
    expected = truth.score_samples(strings)
    assert np.allclose(np.exp(hmm.score_samples(strings)), np.exp(expected), rtol=0, atol=1e-8)
    assert np.allclose(hmm.score_samples(strings), expected, rtol=0, atol=1e-6)


def test_moments_sum_up(random_hmm):
    hmm = random_hmm(3, 6)
    moments = hmm.moments()
    pairs = moments.levels[0].toarray()
    assert np.isclose(pairs[:6, :6].sum(), 2)
    assert np.allclose(pairs[moments.edge, :6], hmm.predict_next())
    assert np.isclose(moments.levels[1].sum(), 1)
    assert np.isclose(moments.unigrams[:6].sum(), 3)


def test_moments_of_words():
    words = ["c", "a", "b"]
    truth = HMM.from_parameters(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5, 0], [0, 0.2, 0.8]], symbols=words
    )
    hmm = HMM(2).fit_moments(truth.moments())
    assert hmm.symbols_ == words
    assert hmm.probability(["a", "c", "b", "b"]) == pytest.approx(
        truth.probability(["a", "c", "b", "b"]), rel=1e-9
    )
    rare = fitted(WORDS, min_count=10, method="em")
    assert RARE in rare.symbols_
    exact = HMM(2).fit_moments(rare.moments())
    assert exact.symbols_ == rare.symbols_
    assert exact.probability(["a", "?"]) == pytest.approx(rare.probability(["a", "?"]), rel=1e-6)


def test_recovered_parameters_give_exact_probabilities(random_hmm):
    truth = random_hmm(4, 12)
    hmm = HMM(4, method="spectral+em", n_iter=0).fit_moments(truth.moments())
    strings = truth.sample(50, 6)
    assert np.allclose(hmm.score_samples(strings), truth.score_samples(strings), atol=1e-6)
    assert np.allclose(np.sort(hmm.initial_), np.sort(truth.initial_), atol=1e-6)
    assert {"moved_to_simplex", "eigenvalue_gap", "rank"} <= set(hmm.diagnostics_)


# Samples.


def test_the_error_falls_as_the_root_of_the_data(clear_hmm):
    sizes = [500, 4000, 32_000]
    pairs = np.array(list(product(range(12), repeat=2)))
    errors = np.zeros(3)
    for seed in range(4):
        truth = clear_hmm(3, 12, seed)
        expected = np.exp(truth.score_samples(pairs))
        data = truth.sample(sizes[-1], 10, random_state=seed)
        for k, size in enumerate(sizes):
            p = np.exp(HMM(3).fit(data[:size]).score_samples(pairs))
            errors[k] += np.abs(p - expected).sum() / 4
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.7 < slope < -0.3
    assert errors[-1] < 0.05


def test_a_repaired_spectral_model_is_near_the_truth(clear_hmm):
    for seed in range(3):
        truth = clear_hmm(4, 20, seed)
        data, held = truth.sample(10_000, 10), truth.sample(2000, 10, random_state=1)
        hmm = HMM(4).fit(data)
        unigram = np.log(np.bincount(data.ravel(), minlength=20) / data.size)[held].mean()
        found, best = (model.log_probabilities(held).mean() for model in (hmm, truth))
        assert best - found < 0.05 * (best - unigram)


def test_spectral_starts_reach_what_em_from_the_truth_does(clear_hmm):
    for seed in range(3):
        truth = clear_hmm(3, 12, seed)
        data = truth.sample(1000, 10, random_state=seed)
        hmm = HMM(3, method="spectral+em", smoothing=0).fit(data)
        encoded = et.corpus.encode_sequences(data).tokens
        best = refine(truth._model, Sequences.of(encoded, stream=False), n_iter=500, tol=1e-9)
        assert hmm.score_samples(data).sum() / data.size > best.history[-1] - 1e-4
        assert hmm.diagnostics_["passes"] <= 100


def test_em_never_loses_likelihood(clear_hmm):
    data = clear_hmm(3, 12).sample(300, 8)
    for method in ("em", "spectral+em"):
        hmm = HMM(3, method=method, tol=0, n_iter=60, n_init=3, smoothing=0).fit(data)
        assert (np.diff(hmm.history_) > -1e-10).all()
        assert hmm.diagnostics_["log_likelihood"] == hmm.history_[-1]
        mean = hmm.score_samples(data).sum() / data.size
        assert mean >= hmm.history_[-1] - 1e-10


def test_smoothing_leaves_nothing_impossible():
    data = [[0, 1, 0, 1, 0]] * 20 + [[2, 2, 2, 2]] * 20
    rough, smooth = (
        HMM(2, method="em", smoothing=kappa, random_state=1).fit(data) for kappa in (0, 1.0)
    )
    assert rough.emission_.min() < 1e-9
    assert smooth.emission_.min() > 1e-4


def test_more_states_than_directions_are_clusters(clear_hmm):
    data = clear_hmm(2, 8).sample(400, 8)
    hmm = HMM(5, method="spectral+em").fit(data)  # no warning, because EM uses all states
    assert hmm.diagnostics_["rank"] < 5
    assert hmm.emission_.shape == (5, 8)
    assert hmm.diagnostics_["starts"] == 6


# Same bits.


@pytest.mark.parametrize("method", METHODS)
def test_the_same_bits_on_any_number_of_threads(clear_hmm, method):
    data = clear_hmm(3, 12).sample(400, 9)
    answers = []
    for threads, jobs in ((1, None), (2, None), (8, None), (1, 2), (2, 8)):
        with engine.use(engine.ThreadEngine(threads)):
            settings = {} if method == "spectral" else {"n_jobs": jobs, **short(method, 12)}
            hmm = HMM(4 if method == "em" else 3, method=method, **settings)
            answers.append(hmm.fit(data).score_samples(data).tobytes())
    assert len(set(answers)) == 1


def test_seeds(clear_hmm):
    data = clear_hmm(3, 12).sample(100, 9)
    one, same, other = (
        HMM(3, method="em", n_init=1, n_iter=4, random_state=seed).fit(data) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.emission_, same.emission_)
    assert not np.array_equal(one.emission_, other.emission_)


# The forms of input.


@pytest.mark.parametrize("method", METHODS)
def test_a_stream_is_one_flat_list(clear_hmm, method):
    stream = clear_hmm(3, 12).sample(1, 6000)[0]
    hmm = HMM(3, method=method).fit(stream)
    assert hmm.provenance_["options"]["unit"] == "stream"
    assert np.allclose(hmm.predict_next().sum(), 1)
    unigram = np.bincount(stream, minlength=12) / len(stream)
    assert hmm.perplexity(stream) < 0.9 * np.exp(-unigram @ np.log(unigram))
    words = [f"w{x}" for x in stream]
    named = HMM(3, method=method).fit(words)
    assert named.provenance_["options"]["unit"] == "stream"
    assert named.perplexity(words) == pytest.approx(hmm.perplexity(stream), rel=0.01)


@pytest.mark.parametrize("method", METHODS)
def test_a_stream_may_begin_anywhere(clear_hmm, method):
    """With every method, the probability of a first symbol is its frequency."""
    stream = clear_hmm(2, 6).sample(1, 1500)[0]
    frequencies = np.bincount(stream, minlength=6) / len(stream)
    settings = {} if method == "spectral" else {"smoothing": 0}
    hmm = HMM(2, method=method, **settings).fit(stream)
    assert np.allclose([hmm.probability([x]) for x in range(6)], frequencies, atol=0.01)
    if method == "spectral+em":
        unrefined = HMM(2, method=method, n_iter=0).fit(stream)
        p = unrefined.emission_.T @ unrefined.initial_
        assert np.allclose(p, frequencies, atol=0.05)


def test_the_stream_of_the_issue():
    stream = list("abcabacbabcab") * 3
    p = {}
    for method in METHODS:
        settings = {} if method == "spectral" else {"smoothing": 0}
        p[method] = fitted(stream, method=method, **settings).probability(["b"])
    assert p == pytest.approx(dict.fromkeys(METHODS, stream.count("b") / len(stream)), abs=0.03)


def test_the_name_of_the_rare_symbol_is_no_word():
    hmm = fitted([[RARE, "a", RARE, "a", "b"], ["a", RARE, "c", "a", RARE]] * 2, min_count=3)
    assert hmm.symbols_ == [RARE, "a", f"<{RARE}>"]


@pytest.mark.parametrize("method", METHODS)
def test_rare_words_share_a_symbol(method):
    hmm = fitted(WORDS, min_count=10, method=method)
    assert hmm.symbols_ == ["a", "b", RARE]
    assert hmm.predict_next(["a"]).shape == (3,)
    assert 0 < hmm.probability(["x"]) == hmm.probability(["never seen"])
    total = sum(hmm.probability([word]) for word in ("a", "b", "x"))
    assert total == pytest.approx(1)
    logs = hmm.log_probabilities([["a", "zebra", "b"]])
    assert np.isnan(logs).tolist() == [False, True, False]
    whole = hmm.log_probabilities([["a", "zebra", "b"]], rare=True)
    assert whole.sum() == pytest.approx(hmm.log_probability(["a", "zebra", "b"]))
    assert hmm.perplexity([["a", "zebra", "b"]]) == pytest.approx(np.exp(-np.nanmean(logs)))
    assert {word for row in hmm.sample(50, 4) for word in row} <= {"a", "b", RARE}
    fewer = fitted(WORDS, max_size=1, method=method)
    assert len(fewer.vocabulary_) == 1


def test_text_is_read_from_files(tmp_path):
    path = tmp_path / "text"
    path.write_text("".join(" ".join(unit) + "\n" for unit in WORDS))
    from_file, from_lists = (fitted(data) for data in (TextCorpus(path), WORDS))
    assert from_file.score_samples(TextCorpus(path)) == pytest.approx(
        from_lists.score_samples(WORDS)
    )


def test_integers_that_never_occur_are_impossible():
    for method in METHODS:
        hmm = fitted([[0, 7, 0, 7, 0], [7, 7, 0, 0]], method=method)
        assert len(hmm.symbols_) == 8
        assert not hmm.predict_next([7])[1:7].any()
        assert hmm.log_probability([3]) == -np.inf


@pytest.mark.parametrize("method", ["spectral", "spectral+em"])
def test_fit_is_fit_moments(clear_hmm, method):
    data = clear_hmm(3, 12).sample(400, 9)
    settings = {"method": method, "n_iter": 0 if method == "spectral+em" else None}
    direct, stepwise = HMM(3, **settings).fit(data), HMM(3, **settings)
    stepwise.fit_moments(stepwise.collect(data))
    assert np.array_equal(direct.score_samples(data), stepwise.score_samples(data))
    moments = HMM(3).collect(WORDS) + HMM(3).collect(WORDS)
    added = fitted(WORDS * 2, 1, min_count=10)
    assert HMM(1, min_count=10).fit_moments(moments).probability(["a"]) == added.probability(["a"])


def test_it_is_an_estimator():
    hmm = HMM(3, method="em", tol=0.1)
    assert clone(hmm).get_params() == hmm.get_params()
    assert repr(hmm) == "HMM(n_states=3, method='em', tol=0.1)"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("integers", [True, False])
def test_save_and_load(tmp_path, method, integers):
    data = [[0, 1, 2, 1], [2, 0, 0, 1]] * 9 if integers else WORDS
    settings = {} if integers else {"min_count": 10}
    hmm = fitted(data, method=method, **settings)
    hmm.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert isinstance(again, HMM)
    assert again.get_params() == hmm.get_params()
    assert again.symbols_ == hmm.symbols_
    assert again.provenance_ == hmm.provenance_
    assert again.diagnostics_["rank" if method == "spectral" else "passes"]
    assert np.array_equal(again.score_samples(data), hmm.score_samples(data))
    assert np.array_equal(again.predict_next(data[0]), hmm.predict_next(data[0]))
    assert np.array_equal(again.filter(data[0]), hmm.filter(data[0]))
    assert np.array_equal(np.array(again.sample(3, 4)), np.array(hmm.sample(3, 4)))
    if method != "spectral":
        assert again.history_ == hmm.history_
        assert again.viterbi(data[0])[1] == hmm.viterbi(data[0])[1]


def test_given_parameters_are_saved(weather, tmp_path):
    weather.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert again.probability([0, 1, 0]) == weather.probability([0, 1, 0])
    assert np.array_equal(again.transition_, weather.transition_)


# Repair.


def test_conditionals_sum_to_one_in_every_state(random_hmm):
    # Few sequences, and more directions than they support, give useless operators.
    data = random_hmm(5, 15).sample(60, 8)
    hmm = HMM(5, rank=5).fit(data)
    assert any((hmm.filter(x) @ hmm._model.rows.T < 0).any() for x in data)
    for x in data[:20]:
        for t in range(9):
            p = hmm.predict_next(x[:t])
            assert (p >= 0).all()
            assert p.sum() == pytest.approx(1)
        following = [hmm.probability([*x[:3], y]) for y in range(15)]
        assert sum(following) == pytest.approx(hmm.probability(x[:3]))
    assert hmm.diagnostics_["negative_mass"] > 0
    assert np.isfinite(hmm.score_samples(data)).all()


def test_what_is_repaired_is_counted(random_hmm):
    data = random_hmm(5, 15).sample(60, 8)
    hmm = HMM(5, rank=5).fit(data)
    before = dict(hmm.diagnostics_)
    scored = hmm.scoring_diagnostics(data)
    assert scored["tokens"] == 480
    assert 0 < scored["negative"] <= scored["floored"] < 480
    assert hmm.scoring_diagnostics([[0, 99, 1]])["unknown"] == 1
    hmm.score_samples(data)
    assert hmm.diagnostics_ == before
    truth = random_hmm(5, 15)
    assert truth.scoring_diagnostics([[0, 99], []]) == {"tokens": 2, "unknown": 1}


# Real text.


def test_brown_tags(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    tags = [[tag for _, tag in sentence] for sentence in et.load_dataset("brown", tagged=True)]
    train, held = tags[:4000], tags[4000:5000]
    unigram = et.KneserNey(1, min_count=5).fit(train).perplexity(held)
    spectral = fitted(train, 10, min_count=5)
    refined = fitted(train, 10, min_count=5, method="spectral+em", n_iter=30)
    assert spectral.perplexity(held) < 0.7 * unigram
    assert refined.perplexity(held) < 0.7 * unigram


# Files.


@pytest.fixture
def damaged(tmp_path):
    """Write the file of a model with some parts replaced."""

    def write(method, name, change):
        hmm = fitted(WORDS, method=method, min_count=10, **short(method, 9))
        hmm.save(tmp_path / "model")
        arrays, about = read_saved(tmp_path / "model")
        if name in about:
            about[name] = change(about[name])
        else:
            arrays[name] = change(np.array(arrays[name]))
        write_saved(tmp_path / "model", HMM._format, arrays, about)
        return tmp_path / "model"

    return write


@pytest.mark.parametrize(
    ("method", "name", "change"),
    [
        ("spectral", "operators.places", lambda a: np.array([10**6, *a[1:]], a.dtype)),
        ("spectral", "operators.places", lambda a: a - 2),
        ("spectral", "operators.places", lambda a: a.astype(np.int64)),
        ("spectral", "has_rare", lambda a: False),
        ("spectral", "operators.rows", lambda a: a[:-1]),
        ("spectral", "operators.rows", lambda a: 0 * a),
        ("spectral", "operators.rows", lambda a: a * 1e300),
        ("spectral", "operators.rows", lambda a: a + np.inf),
        ("spectral", "operators.start", lambda a: a + 1),
        ("spectral", "operators.end", lambda a: -a),
        ("spectral", "operators.after", lambda a: 2 * a),
        ("spectral", "operators.operators", lambda a: a[:, :-1]),
        ("spectral", "operators.floors", lambda a: a - 1),
        ("spectral", "kind", lambda a: "parameters"),
        ("em", "kind", lambda a: "operators"),
        ("em", "kind", lambda a: ["parameters"]),
        ("em", "has_rare", lambda a: 1),
        ("em", "parameters.emission", lambda a: a[:-1]),
        ("em", "parameters.emission", lambda a: a[:, :1]),
        ("em", "parameters.emission", lambda a: a.T.copy()),
        ("em", "parameters.emission", lambda a: a / 2),
        ("em", "parameters.transition", lambda a: a[:1]),
        ("em", "parameters.transition", lambda a: -a),
        ("em", "parameters.initial", lambda a: a * np.nan),
        ("em", "parameters.initial", lambda a: np.zeros(0)),
        ("em", "word_counts", lambda a: a[:-1]),
        ("em", "options", lambda a: {"tokenizer": None}),
        ("em", "provenance", lambda a: {}),
        ("em", "diagnostics", lambda a: {"rank": "many"}),
        ("em", "history", lambda a: [None]),
        ("em", "parameters", lambda a: a | {"n_states": 0}),
    ],
)
def test_a_damaged_file_is_refused(damaged, method, name, change):
    with pytest.raises(ModelFileError, match="damaged or made by something else"):
        et.load(damaged(method, name, change))


def test_sizes_are_those_of_arrays(tmp_path):
    hmm = fitted(WORDS, method="em", **short("em", 5)).set_params(n_states=7, method="spectral")
    hmm.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert again.transition_.shape == (2, 2)
    assert again.parameters_.n_states == 2


# Bad input.


@pytest.mark.parametrize("method", ["em", "spectral+em"])
def test_tables_beyond_all_memory_are_told(method):
    with pytest.raises(ParameterError, match=r"needs about .* GB of memory.*ask for fewer states"):
        HMM(10**7, method=method).fit([[0, 1, 2, 1]])
    with pytest.raises(ParameterError, match="a table of all windows of 50,000 symbols needs"):
        n = 50_000
        HMM.from_parameters([1], [[1]], np.full((1, n), 1 / n)).moments()


def test_empty_sequences(weather):
    assert weather.log_probability([]) == 0.0
    assert weather.probability([]) == 1.0
    assert weather.filter([]).shape == (0, 2)
    path, value = weather.viterbi([])
    assert (len(path), value) == (0, 0.0)
    for method in METHODS:
        with pytest.raises(CorpusError, match="the list is empty"):
            HMM(2, method=method).fit([])
        with pytest.raises(CorpusError, match="all sequences are empty"):
            HMM(2, method=method).fit([[], []])


@pytest.mark.parametrize("method", METHODS)
def test_unseen_symbols(method):
    words = fitted([["a", "b", "a"], ["b", "b", "a"]] * 9, method=method)
    numbers = fitted([[0, 1, 0], [1, 1, 0]] * 9, method=method)
    for hmm, seen, unseen in ((words, "a", "zebra"), (numbers, 0, 5)):
        assert hmm.probability([seen, unseen]) == 0.0
        assert hmm.log_probability([unseen]) == -np.inf
        assert hmm.score_samples([[seen], [unseen, seen]])[1] == -np.inf
        assert np.isnan(hmm.log_probabilities([[seen, unseen]])).tolist() == [False, True]
        after = hmm.predict_next([seen, unseen])
        assert after.sum() == pytest.approx(1)
        assert np.isfinite(hmm.filter([seen, unseen, seen])).all()
        with pytest.raises(CorpusError, match="no word of this text is in the vocabulary"):
            hmm.perplexity([[unseen]])


def test_impossible_sequences_are_no_exception(weather):
    assert weather.log_probability([0, 2, 1]) == -np.inf
    assert weather.probability([2]) == 0.0
    assert weather.viterbi([2])[1] == -np.inf
    assert weather.score_samples([[2, 0], [0]])[0] == -np.inf
    assert weather.perplexity([[2, 0]]) == np.inf
    exact = HMM(2).fit_moments(weather.moments())
    assert exact.log_probability([0, 2, 1]) == -np.inf


def test_more_states_than_the_rank(random_hmm):
    moments = random_hmm(2, 8).moments()
    with pytest.warns(UserWarning, match="5 states asked for, but P21 has rank 2: using 2"):
        HMM(5).fit_moments(moments)
    data = random_hmm(2, 8).sample(2000, 8)
    with pytest.warns(UserWarning, match=r"only \d can be told from noise: .* ask for \d states"):
        HMM(6).fit(data)


def test_sequences_shorter_than_three():
    short = [[0, 1], [1], [1, 0]]
    for method in ("spectral", "spectral+em"):
        with pytest.raises(CorpusError, match=r"no sequence has three .* or use method='em'"):
            HMM(2, method=method).fit(short)
    hmm = HMM(2, method="em", smoothing=0).fit(short)
    assert hmm.probability([1]) == pytest.approx(2 / 3, abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_tiny_data(method):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = rng.integers(1, 5)
        data = [rng.integers(0, n, rng.integers(3, 7)).tolist() for _ in range(rng.integers(1, 5))]
        hmm = fitted(data, int(rng.integers(1, 5)), method=method, **short(method, 9))
        assert hmm.predict_next(data[0]).sum() == pytest.approx(1)
        scores = hmm.score_samples(data)
        assert np.isfinite(scores).all()
        assert (scores <= 1e-9).all()


def test_symbols_that_are_none(weather):
    for method in METHODS:
        with pytest.raises(CorpusError, match=r"symbol 2 of sequence 1 is 1\.5: symbols must be"):
            HMM(2, method=method).fit([[0, 1.5, 1]])
        with pytest.raises(CorpusError, match=r"-1: integer symbols are numbered from 0 up"):
            HMM(2, method=method).fit([[0, -1, 1]])
    with pytest.raises(CorpusError, match=r"symbol 1 is 0\.5: symbols must be integers"):
        weather.probability([0.5])
    with pytest.raises(CorpusError, match="symbol 1 is -1: integer symbols"):
        weather.probability([-1])
    with pytest.raises(CorpusError, match="the input has words, but the model was fitted to int"):
        weather.probability(["a"])
    for nothing in (3, None, "abc"):
        with pytest.raises(CorpusError, match="is not a sequence of symbols"):
            weather.probability(nothing)
    with pytest.raises(
        CorpusError, match="the input has integers, but the model was fitted to wor"
    ):
        fitted(WORDS).probability([0])
    with pytest.raises(ParameterError, match=r"symbols given as integers .* never cut"):
        HMM(2, min_count=2).fit([[0, 1, 0, 1]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (([1], [[1]], [0.5, 0.5]), "shapes must be"),
        (([0.5, 0.5], [[1]], [[1], [1]]), r"not \(2,\), \(1, 1\) and \(2, 1\)"),
        (([], [], []), "shapes must be"),
        (([0.5, 0.4], np.eye(2), np.eye(2)), "initial: every row must hold probabilities"),
        (([1, 0], [[1.5, -0.5], [0, 1]], np.eye(2)), "transition: every row"),
        (([1, 0], np.eye(2), [[1, 0], [np.nan, 1]]), "emission: every row"),
        ((["x"], [[1]], [[1]]), "must be arrays of numbers"),
        (([1], [[1], [1, 2]], [[1]]), "must be arrays of numbers"),
    ],
)
def test_parameters_that_are_none(parameters, message):
    with pytest.raises(ParameterError, match=message):
        HMM.from_parameters(*parameters)


def test_names_that_do_not_fit():
    with pytest.raises(ParameterError, match="1 symbols given for an emission of 2 columns"):
        HMM.from_parameters([1], [[1]], [[0.5, 0.5]], symbols=["a"])
    with pytest.raises(ParameterError, match="every word must occur only once"):
        HMM.from_parameters([1], [[1]], [[0.5, 0.5]], symbols=["a", "a"])


def test_em_needs_sequences(clear_hmm):
    moments = NgramMoments.from_corpus(clear_hmm(2, 6).sample(50, 6))
    for settings in ({"method": "em"}, {"method": "spectral+em"}):
        with pytest.raises(
            MomentsError, match="EM needs the sequences, not their statistics: call"
        ):
            HMM(2, **settings).fit_moments(moments)


def test_a_spectral_model_has_no_states_to_show():
    hmm = fitted([[0, 1, 0, 1], [1, 1, 0]] * 9)
    with pytest.raises(ParameterError, match=r"cannot decode states; use method='spectral\+em'"):
        hmm.viterbi([0, 1])
    for name in ("initial_", "transition_", "emission_"):
        with pytest.raises(ParameterError, match="cannot show states"):
            getattr(hmm, name)


def test_nothing_works_before_fit():
    hmm = HMM(2)
    for ask in (
        lambda: hmm.log_probability([0]),
        lambda: hmm.score_samples([[0]]),
        lambda: hmm.perplexity([[0]]),
        lambda: hmm.predict_next(),
        lambda: hmm.filter([0]),
        lambda: hmm.viterbi([0]),
        lambda: hmm.sample(),
        lambda: hmm.moments(),
        lambda: hmm.operator(0),
        lambda: hmm.start_,
        lambda: hmm.emission_,
        lambda: hmm.save("nowhere"),
    ):
        with pytest.raises(NotFittedError, match="this HMM is not fitted yet; call fit first"):
            ask()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_states": 0}, r"n_states \(--states\) must be a whole number, 1 or more, not 0"),
        ({"n_states": 2.5}, r"n_states \(--states\) must be a whole number, 1 or more, not 2\.5"),
        ({"n_states": None}, r"n_states \(--states\) must be a whole number, 1 or more, not None"),
        ({"n_init": 0}, r"n_init \(--starts\) must be a whole number, 1 or more, or None, not 0"),
        ({"n_iter": -1}, r"n_iter \(--iterations\) must be a whole number, 0 or more, or None"),
        ({"n_jobs": 0}, "n_jobs must be a whole number, 1 or more, or None, not 0"),
        ({"rank": 0}, "rank must be a whole number, 1 or more, or None, not 0"),
        ({"rank": 3}, "rank 3 is above n_states, 2"),
        ({"tol": "small"}, "tol must be a number, 0 or more, not 'small'"),
        ({"smoothing": -1.0}, r"smoothing must be a number, 0 or more, not -1\.0"),
        ({"method": "gibbs"}, "method must be 'spectral', 'em', 'spectral"),
        ({"scaling": "pmi"}, "scaling must be 'cca' or 'none', not 'pmi'"),
    ],
)
def test_settings_that_are_none(settings, message):
    with pytest.raises(ParameterError, match=message):
        HMM(**{"n_states": 2} | settings).fit([[0, 1, 0]])


# Findings.


def test_findings_of_a_spectrum(clear_hmm):
    data = clear_hmm(3, 12).sample(2000, 9)
    (finding,) = HMM(3).fit(data).findings()
    assert finding == ("note", "All 3 directions exceed the noise of the counts.", "")
    hmm = fitted(data, 8)
    hmm.diagnostics_["negative_mass"] = 0.5
    found = hmm.findings()
    assert [one.severity for one in found] == ["warning", "warning"]
    assert f"Only {hmm.diagnostics_['rank']} of 8 states" in found[0].sentence
    assert all(one.remedy for one in found)


def test_findings_of_em(clear_hmm):
    data = clear_hmm(3, 12).sample(100, 9)
    stopped = HMM(3, method="em", n_init=1, n_iter=2).fit(data)
    assert [one.severity for one in stopped.findings()] == ["warning"]
    converged = HMM(3, method="em", n_init=1, tol=1.0).fit(data)
    assert converged.findings() == [("note", "EM has converged.", "")]
    given = HMM.from_parameters([1], [[1]], [[0.5, 0.5]])
    assert given.findings() == []
    with pytest.raises(NotFittedError):
        HMM(2).findings()
