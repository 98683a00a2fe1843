"""TopicModel: known answers, recovery, all inputs, bad input, files, scikit-learn, real text."""

import json
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import eigentext as et
from eigentext import DocumentMoments, TextCorpus, TopicModel, engine
from eigentext.errors import CorpusError, EigentextError, MomentsError, ParameterError
from eigentext.parameters import UnusedParameterWarning

METHODS = ["tensor", "gradient", "anchors"]
MEALS = ["ham eggs ham cheese", "eggs cheese ham eggs", "cheese ham bread"] * 20
GAMES = ["goal team goal match", "team match win goal"] * 20


# Known answers and recovery.


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha0", [0.0, 1.0])
def test_two_topics_without_a_common_word(method, alpha0):
    model = TopicModel(2, method=method, alpha0=alpha0).fit(MEALS + GAMES)
    assert [set(words) for words in model.top_words(4)] == [
        {"ham", "eggs", "cheese", "bread"},
        {"goal", "team", "match", "win"},
    ]
    assert model.weights_[0] == pytest.approx(0.6, abs=0.03)
    assert np.allclose(model.components_.sum(axis=1), 1)
    assert model.components_[0] @ model.components_[1] < 0.01
    assert np.allclose(model.alpha_, alpha0 * model.weights_)


@pytest.mark.parametrize("refine", [0, 30])
@pytest.mark.parametrize("alpha0", [0.0, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_recovery(random_topics, matched, method, alpha0, refine):
    truth = random_topics(4, 40, alpha0)
    X = truth.draw(4000, 30)
    model = TopicModel(4, method=method, alpha0=alpha0, refine=refine).fit(X)
    order, l1 = matched(truth.topics, model.components_)
    assert l1.max() < (0.4 if method == "anchors" and not refine else 0.2)
    tolerance = 0.1 if method == "anchors" else 0.05
    assert np.abs(model.weights_[order] - truth.weights).max() < tolerance
    assert (np.diff(model.weights_) <= 0).all()


def test_refinement_brings_topics_nearer(random_topics, matched):
    truth = random_topics(6, 100, 1.0)
    X = truth.draw(4000, 40)
    before, after = (
        matched(truth.topics, TopicModel(6, alpha0=1.0, refine=n).fit(X).components_)[1].mean()
        for n in (0, 30)
    )
    assert after < before


def test_alpha0_is_chosen_by_held_out_documents(random_topics):
    truth = random_topics(4, 60, 0.0)
    model = TopicModel(4, alpha0=[0.0, 5.0], refine=5).fit(truth.draw(1000, 30))
    assert model.alpha0_ == 0
    tried = model.diagnostics_["alpha0_perplexities"]
    assert tried["0.0"] < tried["5.0"]
    mixed = random_topics(4, 60, 5.0)
    model = TopicModel(4, alpha0="auto", refine=5).fit(mixed.draw(2000, 60))
    assert model.alpha0_ >= 3
    assert len(model.diagnostics_["alpha0_perplexities"]) == 5


@pytest.mark.parametrize("refine", [0, 10])
def test_topics_meet_as_often_as_their_prior_says(random_topics, refine):
    """It is E[h h'] of the Dirichlet distribution, in the order of the topics."""
    truth = random_topics(4, 80, 1.0, concentration=0.05)
    model = TopicModel(4, method="anchors", alpha0=1.0, refine=refine).fit(truth.draw(8000, 60))
    expected = (np.diag(model.alpha_) + np.outer(model.alpha_, model.alpha_)) / 2
    assert np.abs(model.topic_topic_ - expected).max() < 0.02
    assert np.ptp(np.diag(expected)) > 0.05  # another order would differ
    anchors = model.vocabulary_.ids_of(model.diagnostics_["anchors"])
    assert model.components_[:, anchors].argmax(axis=0).tolist() == [0, 1, 2, 3]


def test_one_topic_is_the_mean(random_topics):
    X = random_topics(3, 20).draw(200, 10)
    mean = X.sum(axis=0) / X.sum()
    for method in METHODS:
        model = TopicModel(1, method=method, smoothing=0).fit(X)
        assert np.allclose(model.components_[0], mean)
        assert model.weights_.tolist() == [1.0]


# Input.


def test_all_inputs_are_one():
    """Strings, tokens, a corpus, a matrix and moments give the same topics."""
    texts = MEALS + GAMES
    tokens = [text.split() for text in texts]
    model = TopicModel(2, alpha0=1.0).fit(texts)
    words = model.vocabulary_.words
    X = CountVectorizer(vocabulary=words).transform(texts)
    corpus = TextCorpus(texts, kind="texts", unit="document")
    moments = DocumentMoments.from_corpus(texts)
    for other in (tokens, corpus, X, sp.csr_array(X), X.toarray(), moments):
        again = TopicModel(2, alpha0=1.0).fit(other)
        assert np.array_equal(again.components_, model.components_)
        same = texts if other is moments else other
        assert np.array_equal(again.transform(same), model.transform(texts))
    halves = DocumentMoments.from_corpus(texts[:37]) + DocumentMoments.from_corpus(texts[37:])
    added = TopicModel(2, alpha0=1.0).fit_moments(halves)
    assert np.array_equal(added.components_, model.components_)


def test_vocabulary_limits():
    model = TopicModel(2, stop_words=["ham"], min_df=21, max_size=4).fit(MEALS + GAMES)
    assert sorted(model.vocabulary_.words) == ["cheese", "eggs", "goal", "match"]


def test_defaults_leave_out_what_says_nothing():
    """Stop words, and words in few or most documents, are left out. Diagnostics show the limits."""
    fillers = ["the", "of", "and", "film"]
    texts = [f"{text} {' '.join(fillers)} {'odd' * (n < 4)}" for n, text in enumerate(6 * MEALS)]
    texts += [f"{text} the of and" for text in 6 * GAMES]
    model = TopicModel(2).fit(texts)
    assert len(texts) == 600
    assert model.diagnostics_["limits"] == {"min_df": 5, "max_df": 0.5}
    assert set(model.vocabulary_.words) == {"goal", "team", "match", "win", "bread", "eggs"}
    assert model.alpha0_ == 1
    everything = TopicModel(2, stop_words=None, min_df=1, max_df=1.0).fit(texts)
    assert set(model.vocabulary_.words) | {*fillers, "odd"} < set(everything.vocabulary_.words)


def test_defaults_leave_small_collections_whole():
    texts = ["the ham and eggs", "ham cheese and the eggs", "goal team match", "team match win"]
    model = TopicModel(2).fit(texts)
    assert model.diagnostics_["limits"] == {"min_df": 1, "max_df": 1.0}
    words = {"ham", "eggs", "cheese", "goal", "team", "match", "win"}
    assert set(model.vocabulary_.words) == words
    moments = DocumentMoments.from_corpus(texts)  # these cover all words, so the limits apply later
    assert np.array_equal(TopicModel(2).fit_moments(moments).components_, model.components_)


def test_all_columns_of_a_matrix_stay(random_topics):
    """Columns stay unless numbers are given. Stop words do not apply to names of columns."""
    X = random_topics(3, 30).draw(600, 20).toarray()
    X[:, 0], X[:, 1] = 1, 0  # one is in all documents, and one in none
    model = TopicModel(3).fit(X)
    assert model.components_.shape == (3, 30)
    assert model.diagnostics_["limits"] == {"min_df": 1, "max_df": 1.0}
    named = DocumentMoments.from_matrix(X, words=["the", "of", *map(str, range(28))])
    assert np.array_equal(TopicModel(3).fit_moments(named).components_, model.components_)
    cut = TopicModel(3, min_df=1, max_df=0.99).fit(X)
    assert cut.components_.shape == (3, 29)
    assert cut.transform(X).shape == (600, 3)


def test_generators_are_read_once():
    texts = MEALS + GAMES
    model = TopicModel(2, stop_words=(word for word in ("ham", "win")))
    theta = model.fit_transform(text for text in texts)
    again = TopicModel(2, stop_words=["ham", "win"]).fit(texts)
    assert np.array_equal(theta, again.transform(texts))
    assert model.stop_words == ["ham", "win"]
    assert np.array_equal(model.fit(iter(texts)).components_, again.components_)
    model = TopicModel(2, stop_words=(word for word in ("ham", "win")))
    assert model.collect(texts) == model.collect(texts)
    assert "ham" not in model.collect(texts).vocabulary


def test_strings_are_documents_and_never_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ham", "goal"):
        (tmp_path / name).write_text("team " * 9)
    model = TopicModel(2).fit(MEALS + GAMES)
    theta = model.transform(["ham", "goal", "n/a", "*", "some/file"])
    assert np.array_equal(theta[:2], model.transform([["ham"], ["goal"]]))
    assert np.allclose(theta[2:], model.weights_)


def test_a_refit_by_another_method_leaves_nothing():
    texts = MEALS + GAMES
    model = TopicModel(2, method="anchors").fit(texts)
    assert model.topic_topic_.shape == (2, 2)
    model.set_params(method="tensor").fit(texts)
    assert not hasattr(model, "topic_topic_")
    assert "anchors" not in model.diagnostics_


def test_parameters_that_are_set_later_do_not_change_the_file(tmp_path):
    model = TopicModel(2).fit(MEALS + GAMES)
    model.save(tmp_path / "before")
    model.set_params(method="anchors", n_topics=9, alpha0=0).save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    assert et.load(tmp_path / "after").parameters_ == model.parameters_
    assert model.report() == TopicModel(2).fit(MEALS + GAMES).report()


def test_no_array_grows_with_counts(random_topics):
    X = random_topics(2, 6, 1.0).draw(4, 2_000_000_000).toarray()
    tracemalloc.start()
    try:
        model = TopicModel(2, refine=1).fit(X)
        assert 1 < model.perplexity(X) < 6
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()
    assert model.provenance_["n_tokens"] == 8_000_000_000
    with pytest.raises(CorpusError, match=r"the counts add up to 8e\+21, and beyond 2\*\*53"):
        TopicModel(2).fit(X * 1e12)


def test_after_a_vectorizer(tmp_path):
    pipeline = make_pipeline(CountVectorizer(), TopicModel(2, alpha0=1.0))
    theta = pipeline.fit_transform(MEALS + GAMES)
    assert theta.shape == (100, 2)
    assert np.array_equal(theta, pipeline.transform(MEALS + GAMES))
    names = pipeline[0].get_feature_names_out()
    assert set(pipeline[1].top_words(1, words=names)[1]) <= {"goal", "team"}
    assert pipeline.get_feature_names_out().tolist() == ["topic0", "topic1"]
    assert pipeline.score(GAMES) < 0


def test_data_frames():
    frame = TopicModel(2).set_output(transform="pandas").fit_transform(pd.Series(MEALS + GAMES))
    assert frame.columns.tolist() == ["topic0", "topic1"]
    assert np.array_equal(frame, TopicModel(2).fit(MEALS + GAMES).transform(MEALS + GAMES))


def test_grid_search():
    texts = [text for pair in zip(MEALS, GAMES * 2) for text in pair]
    search = GridSearchCV(TopicModel(refine=3), {"n_topics": [1, 2], "alpha0": [0, 1.0]}, cv=3)
    assert search.fit(texts).best_params_["n_topics"] == 2
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_scikit_learn_protocol():
    model = TopicModel(3, alpha0=[0.1, 1.0], stop_words=["a"])
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert repr(again) == "TopicModel(n_topics=3, alpha0=[0.1, 1.0], stop_words=['a'])"


# Checks of scikit-learn that use data which is not text, or that expect another message.
NOT_FOR_TEXT = {
    "check_fit_score_takes_y": "documents of less than three words",
    "check_fit2d_1feature": "documents of less than three words",
    "check_estimator_sparse_tag": "documents of less than three words",
    "check_estimator_sparse_array": "documents of less than three words",
    "check_estimator_sparse_matrix": "documents of less than three words",
    "check_pipeline_consistency": "half a word cannot be held out by score",
    "check_dtype_object": "objects are taken for tokens",
    "check_n_features_in_after_fitting": "in other words",
    "check_positive_only_tag_during_fit": "in other words",
    "check_complex_data": "in other words",
    "check_estimators_empty_data_messages": "in other words",
    "check_estimators_nan_inf": "in other words",
    "check_fit2d_predict1d": "in other words",
}


def test_scikit_learn_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(TopicModel(2, alpha0=1.0), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= NOT_FOR_TEXT.keys()
    assert sum(result["status"] == "passed" for result in results) > 30


# Output.


def test_transform_is_one_row_a_document_in_order():
    for alpha0 in (0.0, 1.0):
        model = TopicModel(2, alpha0=alpha0).fit(MEALS + GAMES)
        theta = model.transform(["goal goal team", "", "unheard words", "ham ham goal goal"])
        assert theta.shape == (4, 2)
        assert np.allclose(theta.sum(axis=1), 1)
        assert theta[0, 1] > 0.8
        assert np.allclose(theta[1:3], model.weights_)
        if alpha0:
            assert 0.3 < theta[3, 0] < 0.7


def test_transform_finds_the_proportions(random_topics, matched):
    truth = random_topics(4, 60, 1.0)
    model = TopicModel(4, alpha0=1.0).fit(truth.draw(4000, 50))
    order, _ = matched(truth.topics, model.components_)
    h = np.random.default_rng(1).dirichlet(truth.weights, 50)
    X = np.random.default_rng(2).multinomial(2000, h @ truth.topics)
    assert np.abs(model.transform(X)[:, order] - h).mean() < 0.02


def test_perplexity_prefers_the_right_number(random_topics):
    truth = random_topics(5, 60, 1.0)
    train, test = truth.draw(3000, 40), truth.draw(500, 40, seed=1)
    found = [TopicModel(K, alpha0=1.0).fit(train).perplexity(test) for K in (1, 2, 5)]
    assert found[0] > found[1] > found[2]
    model = TopicModel(5, alpha0=1.0).fit(train)
    assert model.score(test) == pytest.approx(-np.log(model.perplexity(test)))


def test_diagnostics_are_plain_data(random_topics):
    X = random_topics(3, 30, 1.0).draw(500, 20).toarray()
    X[:4] = 0
    X[4, :] = 0
    X[4, 0] = 2
    model = TopicModel(3, alpha0=1.0).fit(X)
    found = json.loads(json.dumps(model.diagnostics_))
    assert (found["n_documents"], found["n_empty"], found["n_short"]) == (500, 4, 1)
    assert len(found["eigenvalues"]) == 3
    assert found["dropped"][0] < found["eigenvalues"][-1]
    assert 0 <= found["moved"] <= found["moved_most"]
    assert found["perplexities"][-1] < found["perplexities"][0]
    assert found["weight_sum"] == pytest.approx(1, abs=0.3)


def test_report(tmp_path):
    model = TopicModel(2).fit(MEALS + GAMES)
    page = model.report(MEALS + GAMES, tmp_path / "topics.html", n_words=3)
    assert (tmp_path / "topics.html").read_text() == page
    assert "goal team goal match" in page


@pytest.mark.parametrize("method", METHODS)
def test_round_trip(tmp_path, method):
    texts = MEALS + GAMES
    model = TopicModel(2, method=method, alpha0=1.0, stop_words={"win"}).fit(texts)
    model.save(tmp_path / "topics.safetensors")
    again = et.load(tmp_path / "topics.safetensors")
    assert np.array_equal(again.components_, model.components_)
    assert np.array_equal(again.transform(texts), model.transform(texts))
    assert again.perplexity(texts) == model.perplexity(texts)
    assert again.top_words() == model.top_words()
    assert again.get_params() == model.get_params() | {"stop_words": ["win"]}
    if method == "anchors":
        assert np.array_equal(again.topic_topic_, model.topic_topic_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha0", [0.0, 1.0])
def test_same_bits_on_any_number_of_threads(random_topics, method, alpha0):
    X = random_topics(5, 300, alpha0).draw(2000, 30)
    found = []
    for n_threads in (1, 2, 8):
        with engine.use(engine.ThreadEngine(n_threads)):
            model = TopicModel(5, method=method, alpha0=alpha0).fit(X)
            found.append((model.components_, model.transform(X)))
    for other in found[1:]:
        assert np.array_equal(found[0][0], other[0])
        assert np.array_equal(found[0][1], other[1])


def test_the_order_of_documents_does_not_matter(random_topics):
    X = random_topics(4, 50, 1.0).draw(500, 30)
    shuffled = X[np.random.default_rng(0).permutation(500)]
    one, other = (TopicModel(4, alpha0=1.0).fit(Y).components_ for Y in (X, shuffled))
    assert np.array_equal(one, other)


# Bad input.


def test_short_and_empty_documents_are_counted():
    model = TopicModel(2).fit([*MEALS, *GAMES, "", "ham", "ham eggs", "goal"])
    assert model.diagnostics_["n_empty"] == 1
    assert model.diagnostics_["n_short"] == 3


@pytest.mark.parametrize("method", METHODS)
def test_more_topics_than_the_documents_support(method):
    X = np.array([[3, 3, 0, 0], [0, 0, 3, 3]] * 5)
    with pytest.warns(UserWarning, match=r"support only 2, .* ask for n_topics=2 \(--topics 2\)"):
        model = TopicModel(3, method=method).fit(X)
    assert model.n_topics_ == 2
    assert model.components_.shape == (2, 4)


def test_a_vocabulary_of_one_word():
    with pytest.warns(UserWarning, match="support only 1"):
        model = TopicModel(2).fit(["ham ham ham", "ham ham ham ham"])
    assert model.components_.tolist() == [[1.0]]
    assert model.transform(["ham"]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, -2, 1]], "row 0, column 1"),
        ([[1, np.nan, 1]], "row 0, column 1"),
        (["ham", "eggs ham", ""], "none of 3 documents has three words or more"),
        (["", ""], "no words|empty"),
        ([], "no documents|empty"),
    ],
)
def test_bad_documents(X, message):
    with pytest.raises(EigentextError, match=message):
        TopicModel(2).fit(X)


def test_fractions_cause_a_warning():
    X = np.array([[2.5, 3, 0, 0], [0, 0, 3, 3.5]] * 5)
    with pytest.warns(UserWarning, match="CountVectorizer, not TfidfVectorizer"):
        TopicModel(2, alpha0=1.0).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_topics": 0},
            r"n_topics \(--topics\) must be a whole number, 1 or more, or 'auto', not 0",
        ),
        ({"method": "magic"}, "method must be 'tensor', 'gradient' or 'anchors', not 'magic'"),
        (
            {"alpha0": -1},
            "alpha0 must be a number, 0 or more, 'auto', 'moments', or a list of such numbers",
        ),
        ({"alpha0": "much"}, "alpha0 must be"),
        ({"alpha0": [1, np.inf]}, "alpha0 must be"),
        ({"alpha0": []}, "alpha0 must be"),
        ({"refine": 2.5}, "refine must be a whole number, 0 or more"),
        ({"stop_words": "latin"}, "stop_words must be .auto., .none., a language"),
        ({"stop_words": [1]}, "stop_words must be"),
        ({"min_df": 1.5}, "min_df must be a number of documents .* or 'auto', not 1.5"),
        ({"max_df": "half"}, "max_df must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        TopicModel(**parameters).fit(MEALS)
    with pytest.raises(ParameterError, match=message):
        TopicModel(**parameters).collect(MEALS)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"rectify": False}, "rectify"),
        ({"recovery": "kl"}, "recovery"),
        ({"refine": 0, "smoothing": 0.5}, "smoothing"),
    ],
)
def test_parameters_without_effect_cause_a_warning(parameters, name):
    with pytest.warns(UnusedParameterWarning, match=f"does not use {name}"):
        TopicModel(2, **parameters).fit(MEALS + GAMES)


def test_only_sound_moments_are_learned_from():
    with pytest.raises(MomentsError, match="from DocumentMoments, not from list; fit takes"):
        TopicModel(2).fit_moments(MEALS)
    moments = DocumentMoments.from_corpus(MEALS + GAMES)
    moments.times[0] = 0
    with pytest.raises(MomentsError, match="times has 0, below 1"):
        TopicModel(2).fit_moments(moments)
    with pytest.raises(MomentsError, match="times has 0, below 1"):
        TopicModel(2).fit(moments)


def test_diagnostics_are_json_whatever_the_topics():
    model = TopicModel(1, method="anchors").fit(MEALS)  # its separation is infinite
    told = json.loads(json.dumps(model.diagnostics_, allow_nan=False))
    assert told["separations"] == [None]


def test_use_that_makes_no_sense():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        TopicModel(2).transform(MEALS)
    model = TopicModel(2).fit(MEALS + GAMES)
    with pytest.raises(ParameterError, match="3 names for 8 words"):
        model.top_words(words=["a", "b", "c"])
    with pytest.raises(ParameterError, match="rank must be"):
        model.top_words(rank="lift")
    with pytest.raises(ParameterError, match="weight must be"):
        model.top_words(weight=2)
    with pytest.raises(ParameterError, match="merge must be True or False"):
        model.top_words(merge="yes")
    with pytest.raises(ParameterError, match="n must be a whole number"):
        model.top_words(-1)
    assert model.top_words(0) == [[], []]
    with pytest.raises(CorpusError, match="too few documents to choose alpha0"):
        TopicModel(1, alpha0="auto").fit(["ham ham ham"])


# Real text.


def test_newsgroups(data_folder, monkeypatch):
    """Four newsgroups give four topics with the words that one expects."""
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    news = et.load_dataset("20news", split="train")
    groups = {
        "sci.space": "space",
        "rec.sport.hockey": "hockey",
        "sci.crypt": "key",
        "talk.politics.mideast": "israel",
    }
    texts = [text for text, group in zip(news.texts, news.labels) if group in groups]
    labels = [group for group in news.labels if group in groups]
    model = TopicModel(4, alpha0=1.0, stop_words="english", min_df=5, max_df=0.3).fit(texts)
    theta = model.transform(texts)
    for group, word in groups.items():
        here = np.array([label == group for label in labels])
        topic = theta[here].mean(axis=0).argmax()
        assert word in model.top_words(15)[topic]
        assert (theta[here].argmax(axis=1) == topic).mean() > 0.7
    plain = TopicModel(4, alpha0=1.0, stop_words="english", min_df=5, max_df=0.3, refine=0)
    test = et.load_dataset("20news", split="test")
    held_out = [text for text, group in zip(test.texts, test.labels) if group in groups]
    assert model.perplexity(held_out) < 0.95 * plain.fit(texts).perplexity(held_out)


# Findings.


def test_findings():
    model = TopicModel(2, refine=3).fit(MEALS + GAMES)
    model.diagnostics_ |= {"n_empty": 0, "n_reduced": 0, "dropped": [], "moved_most": 0.1}
    assert model.findings() == []
    n = model.diagnostics_["n_documents"]
    model.diagnostics_ |= {"n_empty": n - 1, "n_reduced": 2, "moved_most": 0.9}
    model.diagnostics_["dropped"] = model.diagnostics_["eigenvalues"][-1:]
    found = model.findings()
    assert [one.severity for one in found] == ["warning", "note", "note", "note"]
    assert f"{n - 1} of {n} documents have no word that was kept" in found[0].sentence
    assert "min_df" in found[0].remedy
    assert "2 documents lost weight" in found[1].sentence


def test_findings_when_topics_are_missing():
    with pytest.warns(UserWarning, match="support only"):
        model = TopicModel(9, refine=0).fit([[*"aabbc"], [*"ccdda"]] * 9)
    assert model.findings()[0].severity == "warning"
    assert f"support only {model.n_topics_}" in model.findings()[0].sentence
