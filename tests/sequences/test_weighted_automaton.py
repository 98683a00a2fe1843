"""Weighted automata: known answers, exactness, bases that matter, samples, text, bad input."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import HMM, KneserNey, NgramMoments, TextCorpus, WeightedAutomaton, engine
from eigentext.errors import CorpusError, ModelFileError, MomentsError, ParameterError
from eigentext.parameters import UnusedParameterWarning
from eigentext.storage import read_saved, write_saved

STATISTICS = ["string", "prefix", "substring"]
LINES = [["a", "b"], ["a", "b", "a", "b"], ["b", "a"]] * 40


def strings_of(n, longest):
    return [x for k in range(1, longest + 1) for x in product(range(n), repeat=k)]


def singles(n):
    return [[(x,) for x in range(n)]] * 2


def copier(p=0.9):
    """Each symbol is, with probability p, the one two places before. Neighbors are independent."""
    pairs = list(product(range(2), repeat=2))
    transition = [
        [(p if c == a else 1 - p) if b == b2 else 0.0 for b2, c in pairs] for a, b in pairs
    ]
    emission = [[float(b == x) for x in range(2)] for _, b in pairs]
    return HMM.from_parameters([0.25] * 4, transition, emission)


def as_automaton(hmm):
    """The same model without ends, as an automaton."""
    operators = [hmm.operator(x) for x in range(len(hmm.symbols_))]
    return WeightedAutomaton.from_operators(hmm.start_, operators, hmm.end_, ends=False)


@pytest.fixture(scope="module")
def coin():
    """Heads (0) or tails (1) until the end, which comes with probability 1/2."""
    return WeightedAutomaton.from_operators([1.0], [[[0.3]], [[0.2]]], [0.5])


# Known answers.


def test_probabilities_by_hand(coin):
    assert coin.probability([0, 1]) == pytest.approx(0.3 * 0.2 * 0.5)  # the whole sequence
    assert coin.probability([0, 1], end=False) == pytest.approx(0.06)  # its beginning
    assert coin.probability([]) == pytest.approx(0.5)
    assert coin.log_probability([]) == pytest.approx(np.log(0.5))
    assert coin.log_probability([], end=False) == 0
    assert coin.predict_next([1]).tolist() == pytest.approx([0.3, 0.2, 0.5])
    assert coin.symbols_ == ["0", "1", "<end>"]
    assert coin.stop_.tolist() == [0.5]
    assert np.exp(coin.score_samples([[0], [], [1, 1]])) == pytest.approx([0.15, 0.5, 0.02])
    assert np.exp(coin.log_probabilities([[0], [1]])) == pytest.approx([0.3, 0.5, 0.2, 0.5])
    assert coin.perplexity([[0]]) == pytest.approx((0.3 * 0.5) ** -0.5)
    total = sum(coin.probability(x) for x in strings_of(2, 12)) + coin.probability([])
    assert total == pytest.approx(1, abs=1e-3)
    assert coin.top_next([0], 1) == [("<end>", pytest.approx(0.5))]


def test_a_certain_sequence_is_no_empty_one():
    certain = WeightedAutomaton.from_operators([1, 0], [[[0, 0], [1, 0]]], [0, 1])  # always one 0
    assert certain.score_samples([[0], [0, 0], []]).tolist() == [0, -np.inf, -np.inf]
    assert certain.score_samples([[], []]).tolist() == [-np.inf, -np.inf]


def test_samples_stop_at_their_end(coin):
    drawn = coin.sample(4000, 30)
    assert np.mean([len(row) for row in drawn]) == pytest.approx(1, abs=0.1)
    assert np.mean([x for row in drawn for x in row]) == pytest.approx(0.4, abs=0.05)
    assert coin.sample(3, 0) == [[], [], []]
    words = WeightedAutomaton(3).fit(LINES)
    assert all(len(words.generate(50, random_state=seed)) < 50 for seed in range(5))
    assert all(set(row) <= {"a", "b"} for row in words.sample(20, 9))


# Exactness.


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("scaling", ["cca", "none"])
@pytest.mark.parametrize(("m", "n"), [(1, 2), (2, 2), (3, 3), (4, 2)])
def test_population_statistics_give_exact_probabilities(
    random_automaton, m, n, statistics, scaling
):
    truth = random_automaton(m, n)
    settings = {"basis": 99, "longest": 3, "statistics": statistics, "scaling": scaling}
    automaton = WeightedAutomaton(m + 1, **settings)
    found = automaton.fit_moments(truth.moments(automaton._order()))
    for x in strings_of(n, 6 if n < 3 else 4):
        assert found.probability(x) == pytest.approx(truth.probability(x), abs=1e-8)
        expected = truth.probability(x, end=False)
        assert found.probability(x, end=False) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("repair", ["floor", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_hidden_markov_models_are_automata(random_hmm, seed, repair):
    truth = random_hmm(3, 4, seed)
    found = WeightedAutomaton(3, basis=50, longest=2, repair=repair)
    found.fit_moments(as_automaton(truth).moments(5))
    assert found.symbols_ == truth.symbols_
    for x in strings_of(4, 5):
        assert found.probability(x) == pytest.approx(truth.probability(x), abs=1e-8)
    assert np.allclose(found.predict_next([0, 1]), truth.predict_next([0, 1]))


def test_an_automaton_that_is_no_hidden_markov_model():
    # A rotation by an angle that is no fraction of a circle: the probability of 0 after k zeros
    # goes up and down for ever. No hidden Markov model does that with finitely many states.
    c, s = 0.5 * np.cos(1.0), 0.5 * np.sin(1.0)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 0.5]])
    end = np.array([0.3, 0.0, 1.0])
    start = np.array([1.0, 0.0, 1.0]) / 1.3
    restart = np.outer(start, end - end @ turn)  # 1 forgets everything
    truth = WeightedAutomaton.from_operators(start, [turn, restart], end, ends=False)
    assert all(0 < truth.predict_next([0] * k)[0] < 1 for k in range(40))
    found = WeightedAutomaton(3, basis=30, longest=3).fit_moments(truth.moments(7))
    assert found.diagnostics_["rank"] == 3
    for x in strings_of(2, 10):
        assert found.probability(x) == pytest.approx(truth.probability(x), abs=1e-8)


def test_single_symbols_are_the_spectral_hidden_markov_model(random_hmm):
    stream = random_hmm(3, 5).sample(1, 3000)[0]
    hmm = HMM(3, repair="none").fit(stream)
    found = WeightedAutomaton(3, basis=singles(5), repair="none").fit(stream)
    for x in strings_of(5, 4):
        assert found.probability(x) == pytest.approx(hmm.probability(x), rel=1e-7, abs=1e-12)
    assert found.diagnostics_["singular_values"][:3] == pytest.approx(
        hmm.diagnostics_["singular_values"][:3]
    )
    repaired = HMM(3, rank=3).fit(stream)
    also = WeightedAutomaton(3, rank=3, basis=singles(5)).fit(stream)
    assert also.diagnostics_["noise"] == pytest.approx(repaired.diagnostics_["noise"], rel=0.3)
    assert also.perplexity(stream) == pytest.approx(repaired.perplexity(stream), rel=0.01)


def test_a_longer_basis_sees_what_pairs_do_not():
    truth = copier()
    exact = as_automaton(truth)
    short = WeightedAutomaton(4, basis=singles(2)).fit_moments(exact.moments(3))
    assert short.diagnostics_["rank"] == 1  # all pairs are equally frequent
    assert short.predict_next([0, 1]) == pytest.approx([0.5, 0.5])
    long = WeightedAutomaton(4, basis=7, longest=2).fit_moments(exact.moments(5))
    assert long.diagnostics_["rank"] == 4
    for x in strings_of(2, 8):
        assert long.probability(x) == pytest.approx(truth.probability(x), abs=1e-8)
    # The same from a sample: pairs are at 2, and the truth is at 1.38.
    stream, held = (truth.sample(1, 20_000, random_state=seed)[0] for seed in (1, 2))
    short, long = (
        WeightedAutomaton(4, basis=basis, longest=2).fit(stream) for basis in (singles(2), 7)
    )
    assert short.perplexity(held) > 1.99
    assert long.diagnostics_["rank"] == 4
    assert long.perplexity(held) < 1.01 * truth.perplexity(held)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert HMM(4).fit(stream).perplexity(held) > 1.95


# Samples.


@pytest.mark.parametrize("statistics", STATISTICS)
def test_recovery_from_samples(random_automaton, statistics):
    truth = random_automaton(2, 3)
    strings = strings_of(3, 3)
    expected = np.exp(truth.score_samples(strings))
    errors = []
    for size in (300, 3000, 30_000):
        data = truth.sample(size, 60, random_state=1)
        found = WeightedAutomaton(3, rank=3, basis=40, longest=2, statistics=statistics).fit(data)
        errors.append(np.abs(np.exp(found.score_samples(strings)) - expected).sum())
    assert errors[2] < errors[0] / 3
    assert errors[2] < 0.05


def test_validation_finds_a_good_size(random_automaton):
    truth = random_automaton(3, 3)
    data, held = (truth.sample(size, 60, random_state=size) for size in (4000, 1000))
    automaton = WeightedAutomaton(12, basis=40, longest=2, selection="validation")
    found = automaton.fit(data)
    tried = found.diagnostics_["tried"]
    best = max(tried, key=lambda one: one["log_probability"])
    assert best["rank"] == found.diagnostics_["rank"] == len(found.start_)
    assert best["basis"] == found.diagnostics_["prefixes"]
    assert len({one["basis"] for one in tried}) == 1  # 13 strings: a third would be too few
    assert found.score(held) > truth.score(held) - 0.01
    assert any("Held-out text" in one.sentence for one in found.findings())
    again = automaton.fit(data)
    assert np.array_equal(again.start_, found.start_)


def test_validation_with_words_that_are_only_held_out():
    lines = [["a", "b", f"w{k}"] for k in range(60)]  # each w is on one side
    found = WeightedAutomaton(4, basis=20, longest=1, selection="validation").fit(lines)
    assert np.isfinite(found.score_samples(lines)).all()
    rare = WeightedAutomaton(4, basis=20, selection="validation", min_count=2).fit(lines)
    assert rare.perplexity(lines, unknown="count") < 2
    numbers = [[0, 1, 2 + k] for k in range(60)]
    found = WeightedAutomaton(4, basis=20, longest=1, selection="validation").fit(numbers)
    assert np.isfinite(found.score_samples(numbers)).all()


def test_validation_of_a_stream():
    stream = copier().sample(1, 5000)[0]
    found = WeightedAutomaton(8, basis=15, longest=3, selection="validation").fit(stream)
    assert found.perplexity(stream) < 1.42
    given = WeightedAutomaton(4, basis=[[(), (0,)], [(), (1,)]], selection="validation")
    assert {one["basis"] for one in given.fit(stream).diagnostics_["tried"]} == {2}


def test_the_same_bits_on_any_number_of_threads(random_automaton):
    data = random_automaton(3, 3).sample(400, 20)
    for selection in ("noise", "validation"):
        answers = []
        for jobs in (None, 1, 2, 5):
            model = WeightedAutomaton(4, basis=30, selection=selection, n_jobs=jobs).fit(data)
            answers.append(model.score_samples(data).tobytes())
        with engine.use(engine.ThreadEngine(3)):
            model = WeightedAutomaton(4, basis=30, selection=selection).fit(data)
        assert set(answers) == {model.score_samples(data).tobytes()}


@pytest.mark.parametrize("statistics", STATISTICS)
def test_sums_of_shards_give_the_same_model(statistics):
    automaton = WeightedAutomaton(3, basis=20, longest=2, statistics=statistics)
    whole = automaton.fit(LINES)
    parts = [automaton.collect(LINES[k::3]) for k in range(3)]
    summed = WeightedAutomaton(**automaton.get_params()).fit_moments(parts[0] + parts[1] + parts[2])
    assert np.array_equal(whole.score_samples(LINES), summed.score_samples(LINES))


# Text.


def test_language_model_of_a_text(zipf_lines, tmp_path):
    lines = zipf_lines(300, 40)
    train, held = lines[:250], lines[250:]
    corpus = TextCorpus(train, kind="texts")
    automaton = WeightedAutomaton(10, basis=100, longest=2, min_count=9).fit(corpus)
    assert automaton.symbols_[-2:] == ["<rare>", "<end>"]
    test = TextCorpus(held, kind="texts")
    kn = KneserNey(1, min_count=9).fit(corpus)
    assert len(automaton.log_probabilities(test)) == len(kn.log_probabilities(test))  # with ends
    assert automaton.perplexity(test, unknown="count") < 1.2 * kn.perplexity(test, unknown="count")
    assert np.isnan(automaton.log_probabilities([["never-seen"]])[0])
    automaton.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert np.array_equal(again.predict_next(["w1"]), automaton.predict_next(["w1"]))
    assert again.basis_ == automaton.basis_
    assert again.generate(8) == automaton.generate(8)


def test_tags_of_the_penn_treebank(penn_tags):
    """Longer bases predict tags better than single ones, and than a bigram."""
    train, held = penn_tags
    tags = sorted({tag for line in train for tag in line})
    one, many = (
        WeightedAutomaton(30, basis=basis, longest=2, selection="validation").fit(train)
        for basis in ([[(tag,) for tag in tags]] * 2, 400)
    )
    assert many.perplexity(held) < 0.97 * one.perplexity(held)
    assert many.perplexity(held) < KneserNey(2).fit(train).perplexity(held)


# Repairs.


def test_plain_probabilities_may_be_negative(random_automaton):
    data = random_automaton(3, 3).sample(60, 20)
    plain = WeightedAutomaton(6, basis=30, longest=2, repair="none").fit(data)
    strings = strings_of(3, 4)
    values = np.array([plain.probability(x) for x in strings])
    assert (values < 0).any()
    with pytest.warns(UserWarning, match="of the sequences have a negative probability"):
        logs = plain.score_samples(strings)
    assert np.array_equal(np.isnan(logs), values < 0)
    with pytest.warns(UserWarning, match="of the tokens have a negative probability"):
        assert np.isnan(plain.perplexity(strings))
    assert any("not repaired" in one.sentence for one in plain.findings())
    repaired = WeightedAutomaton(6, rank=6, basis=30, longest=2).fit(data)
    assert np.isfinite(repaired.score_samples(strings)).all()
    assert np.allclose(repaired.predict_next([0]).sum(), 1)
    assert repaired.scoring_diagnostics(strings)["floored"] >= 0


def test_unknown_words_do_not_end_a_sequence():
    for repair in ("floor", "none"):
        automaton = WeightedAutomaton(2, basis=20, repair=repair).fit(LINES)
        assert automaton.log_probability(["a", "?"]) == -np.inf
        after, state = automaton.predict_next(["a", "?"]), automaton.filter(["a", "?"])
        assert np.isfinite(state).all()
        assert after.sum() == pytest.approx(1, abs=0.05)


# Bad input.


def test_settings_that_are_none():
    for basis in (
        0,
        -1,
        2.5,
        "ab",
        [],
        [[]],
        [[], [("a",)]],
        [["a"], ["b"]],
        [[("a",)]],
        [[1], [2]],
    ):
        with pytest.raises(ParameterError, match="basis must be a whole number, 1 or more, or two"):
            WeightedAutomaton(2, basis=basis).fit(LINES)
    for settings, message in (
        ({"n_states": 0}, "n_states"),
        ({"longest": 0}, "longest must be a whole number, 1 or more, not 0"),
        ({"statistics": "suffix"}, "statistics must be"),
        ({"selection": "aic"}, "selection must be 'noise' or 'validation'"),
        ({"validation_fraction": 0}, "validation_fraction must be a number"),
        ({"n_states": 2, "rank": 3}, "rank 3 is above n_states, 2"),
        ({"n_states": 50, "rank": 40, "basis": 5}, r"but the Hankel matrix has rank \d; ask for"),
        (
            {"n_states": 50, "repair": "none"},
            r"50 states asked for, but the Hankel matrix has rank",
        ),
    ):
        with pytest.raises(ParameterError, match=message):
            WeightedAutomaton(**settings).fit(LINES)


def test_bases_that_do_not_occur():
    with pytest.raises(CorpusError, match=r"no sequence has a prefix.*give strings that occur"):
        WeightedAutomaton(2, basis=[[("x",)], [("y",)]]).fit(LINES)
    with pytest.raises(CorpusError, match="no sequence is a prefix, a symbol and a suffix"):
        WeightedAutomaton(2, basis=[[("b", "b")], [()]], statistics="string").fit(LINES)
    partly = WeightedAutomaton(2, basis=[[(), ("a",), ("x", "y"), ("a",)], [(), ("b",), ("?",)]])
    partly.fit(LINES)
    assert partly.diagnostics_["never_seen"] == 2
    assert partly.diagnostics_["prefixes"] == 3
    assert any("2 strings of the basis never occur" in one.sentence for one in partly.findings())
    assert np.isfinite(partly.score_samples(LINES)).all()
    larger = WeightedAutomaton(500, basis=10**6, longest=6).fit(LINES)  # than the data
    assert larger.diagnostics_["prefixes"] < 100
    assert larger.diagnostics_["rank"] < 100


def test_degenerate_data():
    one = WeightedAutomaton(5).fit([["a"]] * 500)
    assert one.probability(["a"]) > 0.5
    alone = WeightedAutomaton(3).fit([["a", "a", "a"], ["a"]] * 20)
    assert alone.perplexity([["a", "a", "a"]]) < 2
    assert alone.symbols_ == ["a", "<end>"]
    stream = WeightedAutomaton(3).fit([0] * 50)
    assert stream.probability([0, 0, 0]) == pytest.approx(1)
    with pytest.raises(CorpusError, match="no window of 7 symbols"):
        WeightedAutomaton(3).fit([0, 1, 0])
    with pytest.raises(CorpusError, match="all sequences are empty"):
        WeightedAutomaton(3).fit([[], []])
    with pytest.raises(CorpusError, match=r"no starts and ends.*statistics='substring'"):
        WeightedAutomaton(3, statistics="string").fit([0, 1] * 50)
    with pytest.raises(CorpusError, match="too little text to hold some out"):
        WeightedAutomaton(3, selection="validation").fit([["a", "b"]])
    ends = [["a", "b"], ["a"], ["b"]] * 9  # some sequences are shorter than the basis
    for statistics in STATISTICS:
        model = WeightedAutomaton(3, longest=4, statistics=statistics).fit(ends)
        assert np.isfinite(model.score_samples([*ends, []])).all()


def test_validation_needs_sequences():
    automaton = WeightedAutomaton(2, selection="validation")
    with pytest.raises(MomentsError, match="validation needs the sequences"):
        automaton.fit_moments(automaton.collect(LINES))
    with pytest.raises(MomentsError, match="this basis needs 7; count with order=7"):
        WeightedAutomaton(2).fit_moments(NgramMoments.from_corpus(LINES, order=3))
    with pytest.warns(UnusedParameterWarning, match="does not use validation_fraction"):
        WeightedAutomaton(2, validation_fraction=0.2).fit(LINES)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (([1], [[[0.5]]], [0.4]), "must add up to 1, not 0.8"),
        (([1], [[[1.5]]], [0.4]), "eigenvalues below 1"),
        (([1], [[[0.5]]], [0.5, 1]), "shapes must be"),
        (([1], [[[np.nan]]], [0.5]), "finite"),
        ((["x"], [[[1]]], [0.5]), "arrays of numbers"),
        (([], np.zeros((0, 0, 0)), []), "shapes must be"),
    ],
)
def test_weights_that_are_none(weights, message):
    with pytest.raises(ParameterError, match=message):
        WeightedAutomaton.from_operators(*weights)
    with pytest.raises(ParameterError, match="must add up to itself"):
        WeightedAutomaton.from_operators([1], [[[0.5]]], [1], ends=False)
    with pytest.raises(ParameterError, match="give 1 different words"):
        WeightedAutomaton.from_operators([1], [[[0.5]]], [0.5], symbols=["a", "b"])


def test_nothing_works_before_fit():
    automaton = WeightedAutomaton(2)
    for ask in (
        lambda: automaton.log_probability([0]),
        lambda: automaton.predict_next(),
        lambda: automaton.moments(),
        lambda: automaton.stop_,
        lambda: automaton.plot(),
        lambda: automaton.save("nowhere"),
    ):
        with pytest.raises(NotFittedError, match="this WeightedAutomaton is not fitted yet"):
            ask()


def test_damaged_files(tmp_path):
    path = tmp_path / "model"
    WeightedAutomaton(2, basis=9).fit(LINES).save(path)
    arrays, about = read_saved(path)
    for key, value in (("ends", 3), ("ends", False), ("basis", [[]]), ("basis", [[[None]], []])):
        write_saved(path, WeightedAutomaton._format, dict(arrays), about | {key: value})
        with pytest.raises(ModelFileError):
            et.load(path)


@pytest.mark.parametrize("repair", ["floor", "none"])
@pytest.mark.parametrize(("data", "unit"), [(LINES, "stream"), ([0, 1] * 50, "line")])
def test_files_whose_text_cannot_end_like_this(tmp_path, data, unit, repair):
    """Else the symbol of the end would have no row."""
    path = tmp_path / "model"
    WeightedAutomaton(1, basis=9, repair=repair).fit(data).save(path)
    arrays, about = read_saved(path)
    changed = about | {"options": about["options"] | {"unit": unit}}
    write_saved(path, WeightedAutomaton._format, dict(arrays), changed)
    with pytest.raises(ModelFileError, match="does not fit the unit of the text"):
        et.load(path)


def test_the_remedy_for_negative_probabilities_is_not_what_was_done():
    lines = [["the", "cat", "sat"], ["the", "dog", "ran"], ["a", "cat", "ran"]]
    automaton = WeightedAutomaton(3, selection="validation").fit(lines)
    assert automaton.diagnostics_["negative_mass"] > 0.05
    (finding,) = (one for one in automaton.findings() if "is negative" in one.sentence)
    assert "n_states" in finding.line and "validation" not in finding.line


def test_findings_of_given_weights(coin):
    assert coin.findings() == []
    with pytest.raises(ParameterError, match="no spectrum"):
        coin.plot()
