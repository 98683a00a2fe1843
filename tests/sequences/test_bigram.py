"""The aggregate bigram model: EM against dense NumPy, known answers, recovery, real text."""

import doctest
import os
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext import BigramModel, NgramMoments, engine
from eigentext.errors import (
    CorpusError,
    LittleDataWarning,
    ModelFileError,
    MomentsError,
    ParameterError,
    UnknownWordError,
)
from eigentext.sequences import bigram
from eigentext.storage import read_saved, write_saved

METHODS = ["pivot+em", "pivot", "em"]


@pytest.fixture
def lines(zipf_lines):
    return [line.split() for line in zipf_lines(400, 30)]


def stream_of(r, s, n_tokens, seed=0):
    """Tokens drawn from p(w2|w1) = r[w1] @ s."""
    rng = np.random.default_rng(seed)
    P = np.cumsum(r @ s, axis=1)
    tokens, draws = [0], rng.random(n_tokens)
    for draw in draws:
        tokens.append(min(int(np.searchsorted(P[tokens[-1]], draw)), len(P) - 1))
    return np.array(tokens)


def separable(n=40, m=3, seed=0):
    """A model with pivots: each of the first words belongs to one state only."""
    rng = np.random.default_rng(seed)
    s = rng.dirichlet(np.full(n, 0.5), m)
    s[:, :m] = 0.1 * np.eye(m)
    return rng.dirichlet(np.full(m, 0.3), n), s / s.sum(axis=1, keepdims=True)


def entropy(tokens, r, s):
    return -np.log((r @ s)[tokens[:-1], tokens[1:]]).mean()


# The model.


@pytest.mark.parametrize("method", METHODS)
def test_events_of_units(lines, method):
    model = BigramModel(3, method=method, min_count=20).fit(lines)
    V = len(model.vocabulary_)
    P = model.r_.astype(float) @ model.s_.T.astype(float)
    known, rare = model.vocabulary_.words[4], "never seen"
    scores = model.log_probabilities([[known, rare, known], [], [rare]])
    k = model.vocabulary_[known]
    expected = [P[V + 1, k], np.nan, P[V, k], P[k, V + 1], np.nan, P[V, V + 1]]
    assert np.allclose(scores, np.log(expected), equal_nan=True, rtol=1e-4)
    assert np.isclose(
        model.perplexity([[known, rare, known], [], [rare]]), np.exp(-np.nanmean(scores))
    )
    assert np.isclose(model.probability(known, given=rare), P[V, k])


def test_events_of_a_stream():
    tokens = ("a b c a b d " * 30).split()
    model = BigramModel(2).fit(tokens)
    a, b = model.vocabulary_["a"], model.vocabulary_["b"]
    P = model.r_.astype(float) @ model.s_.T.astype(float)
    marginal = model.s_.astype(float) @ model.prior_
    assert np.allclose(model.log_probabilities(["a", "b"]), np.log([marginal[a], P[a, b]]))
    assert np.isclose(model.probability("a"), marginal[a])
    assert not model.s_[-2:].any()  # there is no rare word and no end
    # The edges of a stream are not tokens, so the prior is the mean state over contexts.
    counts = np.bincount(model.vocabulary_.ids_of(tokens[:-1]), minlength=len(P))
    assert np.allclose(counts @ model.r_ / counts.sum(), model.prior_, atol=0.05)


@pytest.mark.parametrize("method", METHODS)
def test_distributions_add_up_to_one_and_no_seen_word_is_impossible(lines, method):
    model = BigramModel(5, method=method).fit(lines)
    seen = np.append(np.arange(len(model.vocabulary_)), len(model.vocabulary_) + 1)
    for given in (None, *model.vocabulary_.words, "never seen"):
        distribution = model.distribution(given)
        assert np.isclose(distribution.sum(), 1, atol=1e-5)
        assert distribution[seen].min() > 0
    word, other = model.vocabulary_.words[:2]
    place = model.vocabulary_[word]
    assert np.isclose(model.probability(word, given=other), model.distribution(other)[place])


def test_unseen_contexts_have_the_priors_states():
    model = BigramModel(2, method="em").fit([["a", "b"], ["b", "a"], ["c", "a"]] * 9)
    assert np.allclose(model.states("never seen"), model.prior_)
    assert np.allclose(model.states(), model.prior_)
    last = BigramModel(2, method="em", smoothing=0).fit(["a", "b"] * 9 + ["c"])
    assert np.allclose(last.states("c"), last.prior_)


# EM.


@pytest.mark.parametrize("smoothing", [0.0, 5.0])
@pytest.mark.parametrize("method", METHODS)
def test_steps_are_those_of_dense_matrices(lines, method, smoothing):
    options = {"method": method, "smoothing": smoothing, "validation_fraction": 0}
    start, end = (BigramModel(4, n_iter=n, **options).fit(lines) for n in (0, 3))
    C = start.collect(lines).levels[0].toarray().astype(float)
    r, s = start.r_.astype(float), start.s_.astype(float)
    for _ in range(3):
        P = r @ s.T
        X = np.divide(C, P, out=np.zeros_like(C), where=C > 0)
        left, right = r * (X @ s), s * (X.T @ r)
        prior = left.sum(axis=0) / C.sum()
        weights = C.sum(axis=1, keepdims=True)
        r = (left + smoothing * prior) / np.maximum(weights + smoothing, 1e-30)
        r[weights[:, 0] == 0] = prior
        if method != "pivot":
            s = right / right.sum(axis=0)
    assert np.allclose(end.r_, r, atol=1e-4)
    assert np.allclose(end.s_, s, atol=1e-4)
    assert np.allclose(end.prior_, prior, atol=1e-4)
    assert end.n_iter_ == 3


@pytest.mark.parametrize("init", ["uniform", "dirichlet"])
@pytest.mark.parametrize("method", METHODS)
def test_likelihood_of_plain_em_never_falls(lines, method, init):
    options = {"smoothing": 0, "validation_fraction": 0, "n_iter": 15}
    if method == "em":
        options["init"] = init
    elif init != "uniform":
        return  # only the method "em" has `init`
    model = BigramModel(4, method=method, **options).fit(lines)
    history = np.array(model.history_["perplexity"])
    assert len(history) == 16
    assert (np.diff(history) <= 1e-4 * history[:-1]).all()
    # The last value is the perplexity of the text itself.
    assert np.isclose(history[-1], model.perplexity(lines), rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_the_step_is_chosen_by_held_out_text(lines, method):
    train, validation = lines[:300], lines[300:]
    model = BigramModel(6, method=method, smoothing=0.5, n_iter=30).fit(
        train, validation=validation
    )
    seen = model.history_["heldout_perplexity"]
    assert model.n_iter_ == int(np.argmin(seen))
    assert len(seen) == min(model.n_iter_ + 4, 31)
    assert np.isclose(model.perplexity(validation), min(seen), rtol=1e-4)
    # The same number of steps without validation gives the same model.
    fixed = BigramModel(
        6, method=method, smoothing=0.5, n_iter=model.n_iter_, validation_fraction=0
    )
    assert np.array_equal(fixed.fit(train).r_, model.r_)
    assert model.diagnostics_["heldout"] == "given"
    assert model.diagnostics_["heldout_perplexity"] == min(seen)


def test_held_out_pairs_are_drawn_where_no_text_is_given(lines):
    model = BigramModel(6, smoothing=0.5).fit(lines)
    assert model.diagnostics_["heldout"] == "drawn from the pairs"
    assert model.n_iter_ == int(np.argmin(model.history_["heldout_perplexity"]))
    assert len(model.history_["perplexity"]) == model.n_iter_ + 1
    # EM runs on all pairs in the end, so that even the rarest word is possible.
    assert (model.s_[: len(model.vocabulary_)].sum(axis=1) > 0).all()
    other = BigramModel(6, smoothing=0.5, random_state=1).fit(lines)
    assert other.history_["heldout_perplexity"] != model.history_["heldout_perplexity"]


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_on_any_number_of_threads(lines, method):
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            results.append(BigramModel(4, method=method).fit(lines))
    for other in results[1:]:
        assert np.array_equal(results[0].r_, other.r_)
        assert np.array_equal(results[0].s_, other.s_)


def test_fit_is_collect_and_fit_moments(lines):
    model = BigramModel(3, min_count=5)
    moments = model.collect(lines)
    assert moments.order == 2
    one, other = BigramModel(3, min_count=5).fit(lines), model.fit_moments(moments)
    assert np.array_equal(one.r_, other.r_)
    # Moments of a higher order, or of all words, give the same model.
    whole = NgramMoments.from_corpus(lines, order=3)
    third = BigramModel(3, min_count=5).fit_moments(whole)
    assert np.array_equal(one.s_, third.s_)


# Recovery.


def test_recovery_from_samples():
    r, s = separable()
    test = stream_of(r, s, 20_000, seed=1)
    truth = entropy(test, r, s)
    excess = {}
    for n in (10_000, 300_000):
        model = BigramModel(3).fit(stream_of(r, s, n))
        excess[n] = np.log(model.perplexity(test)) - truth
    assert excess[300_000] < 0.01
    assert excess[300_000] < excess[10_000] / 3


def test_moments_of_a_distribution():
    r, s = separable()
    n = len(r)
    P = r @ s
    values, vectors = np.linalg.eig(P.T)
    stationary = np.abs(vectors[:, np.argmax(values.real)].real)
    Q = stationary[:, None] / stationary.sum() * P
    moments = BigramModel(3).collect(np.arange(n))
    joint = sp.csr_array(np.pad(Q, (0, 2)))
    model = BigramModel(3, smoothing=0, n_iter=2000).fit_moments(replace(moments, levels=[joint]))
    assert model.diagnostics_["heldout"] == "none"
    assert np.abs(model.r_[:n] @ model.s_[:n].T - P).max() < 0.01


def test_pivots_alone_know_all_words_of_the_text():
    """EM does not learn s from pivots, so words that are all held out must not get zero."""
    text = [[f"{line}-{place}" for place in range(5)] for line in range(20)]
    with pytest.warns(LittleDataWarning, match="occur only once"):
        model = BigramModel(2, method="pivot").fit(text)
    assert np.isfinite(model.diagnostics_["perplexity"])
    assert (model.s_[: len(model.vocabulary_)] > 0).any(axis=1).all()


def test_pivots_are_named_and_apart():
    r, s = separable(seed=4)
    model = BigramModel(3).fit(stream_of(r, s, 100_000))
    about = model.diagnostics_
    assert sorted(about["pivots"]) == ["0", "1", "2"]
    assert len(about["separations"]) == 3
    assert min(about["separations"]) > 0.1
    assert np.argmax(model.s_[:3], axis=0).tolist() == [int(word) for word in about["pivots"]]


# Real text.


@pytest.fixture(scope="module")
def brown(data_folder):
    before = os.environ.get("EIGENTEXT_DATA")
    os.environ["EIGENTEXT_DATA"] = str(data_folder)
    try:
        tokens = [word for sentence in et.load_dataset("brown") for word in sentence]
    except CorpusError:
        pytest.skip("no Brown corpus")
    finally:
        os.environ.pop("EIGENTEXT_DATA")
        if before is not None:
            os.environ["EIGENTEXT_DATA"] = before
    moments = BigramModel(min_count=2).collect(tokens[:800_000])
    return moments, tokens[800_000:900_000], tokens[900_000:1_000_000]


def test_brown(brown):
    moments, dev1, dev2 = brown
    assert moments.levels[0].nnz == 310_593 + 2  # the two are the edges of the stream

    def fitted(m, **options):
        return BigramModel(m, min_count=2, **options).fit_moments(moments, validation=dev1)

    for m, bound in ((8, 440), (32, 355)):
        pivot, plain = fitted(m, smoothing=0), fitted(m, smoothing=0, method="em")
        assert pivot.perplexity(dev2) < bound < plain.perplexity(dev2)
        assert pivot.n_iter_ < plain.n_iter_ / 2
        assert fitted(m).perplexity(dev2) < 0.99 * pivot.perplexity(dev2)
    # The near-uniform start is better than the Dirichlet one.
    dirichlet = fitted(32, smoothing=0, method="em", init="dirichlet")
    assert dirichlet.perplexity(dev2) > plain.perplexity(dev2)


# Files, parameters, bad input.


def test_round_trip(lines, tmp_path):
    model = BigramModel(3, min_count=2).fit(lines)
    model.save(tmp_path / "model")
    back = et.load(tmp_path / "model")
    assert back.get_params() == model.get_params()
    assert np.array_equal(back.log_probabilities(lines), model.log_probabilities(lines))
    assert back.history_ == model.history_
    assert back.diagnostics_ == model.diagnostics_
    assert back.states("never seen").shape == (3,)
    model.s_ = model.s_[:-1]
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="damaged"):
        et.load(tmp_path / "model")


def test_parameters():
    from sklearn.base import clone

    assert clone(BigramModel(7, method="em")).get_params()["n_states"] == 7
    for options, message in [
        ({"n_states": 0}, r"n_states \(--states\) must be a whole number, 1 or more, not 0"),
        ({"min_count": 0}, "min_count must be a whole number, 1 or more, not 0"),
        ({"method": "spectral"}, "'pivot\\+em', 'pivot' or 'em'"),
        ({"init": "random"}, "'uniform' or 'dirichlet'"),
        ({"n_iter": -1}, r"n_iter \(--iterations\) must be a whole number, 0 or more, not -1"),
        ({"smoothing": -1}, "smoothing must be a number, 0 or more, not -1"),
        ({"validation_fraction": 1}, "a number, 0 or more and less than 1, not 1"),
        ({"n_states": 9, "n_candidates": 8}, "fewer than the n_states=9"),
    ]:
        with pytest.raises(ParameterError, match=message):
            BigramModel(**options).fit(["a", "b"])


def test_a_failed_refit_leaves_the_model(lines):
    """The sizes of words and arrays must match. Nothing outside an array is read."""
    model = BigramModel(3).fit(lines)
    answers = model.log_probabilities(lines)
    with pytest.raises(ParameterError, match="different symbols follow another"):
        model.set_params(n_states=40).fit([["new", "words"], ["words", "new"]])
    assert np.array_equal(model.log_probabilities(lines), answers)
    assert "new" not in model.vocabulary_


def test_states_set_after_a_fit_wait_for_the_next(lines, tmp_path):
    model = BigramModel(2).fit(lines).set_params(n_states=3)
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert again.r_.shape[1] == again.parameters_.n_states == 2
    assert np.array_equal(again.log_probabilities(lines), model.log_probabilities(lines))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("r", lambda a: a[:-1]),
        ("r", lambda a: a[:, :-1]),
        ("r", lambda a: a.astype(float)),
        ("s", lambda a: a * np.nan),
        ("s", lambda a: -a),
        ("prior", lambda a: a[:-1]),
        ("prior", lambda a: a + 2),
        ("word_counts", lambda a: a - 10**6),
        ("word_counts", lambda a: a[:-1]),
        ("provenance", lambda a: a | {"options": {"unit": 5}}),
        ("provenance", lambda a: []),
        ("diagnostics", lambda a: a | {"perplexity": "low"}),
        ("history", lambda a: {"perplexity": [1.0]}),
        ("history", lambda a: a | {"perplexity": 3}),
        ("n_iter", lambda a: -1),
        ("parameters", lambda a: a | {"method": "none"}),
    ],
)
def test_damaged_models_are_refused(lines, tmp_path, name, change):
    BigramModel(3).fit(lines).save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    if name in about:
        about[name] = change(about[name])
    else:
        arrays[name] = change(np.array(arrays[name]))
    write_saved(tmp_path / "model", BigramModel._format, arrays, about)
    with pytest.raises(ModelFileError, match="damaged or made by something else"):
        et.load(tmp_path / "model")


def test_names_of_pivots_are_of_one_symbol_each():
    units = [["<edge>"], ["<edge>", "<edge>"], ["x"], ["x", "y"], ["y", "x"]] * 20
    pivots = BigramModel(3, method="pivot").fit(units).diagnostics_["pivots"]
    assert sorted(pivots) == ["<<edge>>", "<edge>", "x"]


def test_too_many_states_for_any_memory():
    with pytest.raises(ParameterError, match=r"symbols needs about .* GB of memory"):
        BigramModel(10**12, method="em").fit(["a", "b", "a"])


def test_bad_input(lines):
    with pytest.raises(ParameterError, match=r"--states\) is 40, but only 3 .* use 3 or less"):
        BigramModel(40).fit([["a", "b"], ["b", "a"]])
    with pytest.raises(
        ParameterError, match=r"no 4 pivots .* rank 2; use 2 or less, or method='em'"
    ):
        BigramModel(4).fit([["a"], ["b"], ["c"], ["d"]] * 9)
    with pytest.raises(MomentsError, match="order=2"):
        BigramModel(2).fit_moments(NgramMoments.from_corpus(lines, order=1))
    with pytest.raises(CorpusError, match="one token"):
        BigramModel(2).fit(["alone"])
    with pytest.raises(CorpusError, match="held-out"):
        BigramModel(2, method="em").fit(["a", "b"] * 5, validation=["c", "d"])
    model = BigramModel(2).fit(lines)
    with pytest.raises(UnknownWordError):
        model.probability("never seen", given="w1")
    with pytest.raises(CorpusError, match="no word of this text"):
        BigramModel(2).fit(["a", "b"] * 5).perplexity(["c"])
    with pytest.raises(CorpusError, match="words"):
        model.perplexity([[1, 2]])
    with pytest.raises(Exception, match="not fitted"):
        BigramModel(2).perplexity(lines)


def test_examples():
    failed, tried = doctest.testmod(bigram)
    assert (failed, tried > 0) == (0, True)


# Old names, and findings.


def test_old_names_of_validation_still_work(lines):
    train, validation = lines[:300], lines[300:]
    expected = BigramModel(3, n_iter=5).fit(train, validation=validation)
    with pytest.warns(DeprecationWarning, match="'heldout' is called 'validation' now"):
        model = BigramModel(3, n_iter=5).fit(train, heldout=validation)
    assert np.array_equal(model.r_, expected.r_)
    with pytest.warns(DeprecationWarning, match="'heldout_fraction' is called 'validation_fracti"):
        assert BigramModel(heldout_fraction=0.5).validation_fraction == 0.5
    with pytest.warns(DeprecationWarning):
        assert BigramModel().set_params(heldout_fraction=0.1).validation_fraction == 0.1
    with (
        pytest.warns(DeprecationWarning),
        pytest.raises(ParameterError, match="validation is given twice, once as 'heldout'"),
    ):
        BigramModel(3).fit(train, validation=validation, heldout=validation)


def test_files_with_an_old_name_load(lines, tmp_path):
    model = BigramModel(3, n_iter=2, validation_fraction=0.25).fit(lines)
    arrays, about = model._to_saved()
    about["parameters"]["heldout_fraction"] = about["parameters"].pop("validation_fraction")
    write_saved(tmp_path / "model", BigramModel._format, arrays, about)
    assert et.load(tmp_path / "model").parameters_.validation_fraction == 0.25


def test_findings(lines):
    model = BigramModel(6, min_count=2).fit(lines[:300], validation=lines[300:])
    model.diagnostics_ |= {"perplexity": 10.0, "heldout_perplexity": 12.0, "separations": [0.5]}
    assert [one.severity for one in model.findings()] == ["note"] * len(model.findings())
    assert "10 on the training text and 12 on validation text" in str(model.findings())
    model.diagnostics_ |= {"heldout_perplexity": 40.0, "separations": [0.5, 0.001]}
    warned = [one for one in model.findings() if one.severity == "warning"]
    assert len(warned) >= 2
    assert all(one.remedy for one in warned)
    model.diagnostics_["rare_tokens"] = model.provenance_["n_tokens"] // 2
    assert any("50.0% of the tokens are rare" in one.sentence for one in model.findings())
