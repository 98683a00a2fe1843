"""Laws of two-view learning: CCA loses nothing of a hidden state, so that few labels suffice."""

import doctest
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_array, csr_array, hstack
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigentext.tagging.two_view as module
from eigentext.errors import ModelFileError, ParameterError
from eigentext.factor import CCA
from eigentext.storage import models
from eigentext.tagging.two_view import TwoViewClassifier, TwoViewRegressor

SEEDS = range(3)


def white(rng, n, d):
    """n rows with mean 0 and covariance I exactly, like the moments of a population."""
    Z = rng.normal(size=(n, d))
    Q = np.linalg.qr(Z - Z.mean(axis=0))[0]
    return Q * np.sqrt(n)


def gaussian_views(seed, n=300, k=2, d=5, d2=4):
    """Two views of k hidden numbers h, and the n rows of h, with exact population moments."""
    rng = np.random.default_rng(seed)
    rows = white(rng, n, k + d + d2)
    h, noise_x, noise_z = np.split(rows, [k, k + d], axis=1)
    X = h @ rng.normal(size=(k, d)) + noise_x @ rng.normal(size=(d, d)) + 10 * rng.normal(size=d)
    Z = h @ rng.normal(size=(k, d2)) + noise_z @ rng.normal(size=(d2, d2)) - 5
    return np.c_[X, Z], h


def naive_bayes_population(seed, k=3, d=7, d2=6):
    """p(h) p(x|h) p(z|h) in whole numbers of rows: one-hot x and z side by side, h, and p(h|x)."""
    rng = np.random.default_rng(seed)
    prior = np.array([2, 3, 5])
    while True:
        O_x, O_z = (
            rng.multinomial(16 - size, np.ones(size) / size, size=k).T + 1 for size in (d, d2)
        )
        if min(np.linalg.svd(P, compute_uv=False)[-1] for P in (O_x, O_z)) > 0.8:  # rank k
            break
    counts = np.einsum("xh,h,zh->hxz", O_x, prior, O_z)
    h, x, z = (np.repeat(i.ravel(), counts.ravel()) for i in np.indices(counts.shape))
    posterior = O_x * prior / (O_x @ prior)[:, None]
    return np.c_[np.eye(d)[x], np.eye(d2)[z]], h, posterior[x]


def bags(seed, n, k=5, d=200, length=5):
    """Bags of words from a hidden class and a background, for both views, and the classes."""
    rng = np.random.default_rng(seed)
    h = rng.integers(k, size=n)
    views = []
    for _ in range(2):
        own, common = rng.dirichlet(np.full(d, 0.1), k), rng.dirichlet(np.full(d, 0.5))
        views.append(rng.multinomial(length, (0.35 * own + 0.65 * common)[h]))
    return csr_array(np.hstack(views).astype(float)), h


def fitted_values(X, Y):
    return LinearRegression().fit(X, Y).predict(X)


def plain(m, **options):
    """CCA and least squares as in the theorems."""
    return TwoViewRegressor(m, **{"regularization": 0, "shrink": False, "alpha": 1e-9} | options)


# Known answers.


def test_known_answer_of_one_column_each():
    x, z = np.array([1.0, 2.0, 3.0, 6.0]), np.array([2.0, 1.0, 0.0, -5.0])
    y = np.array([1.0, 1.0, 2.0, 4.0])
    rho = abs(np.corrcoef(x, z)[0, 1])  # 0.99990...: above the largest that shrinks
    a, b = (x - x.mean()) / x.std(), -(z - z.mean()) / z.std()
    model = plain(1).fit(np.c_[x, z], y)
    assert_allclose(model.cca_.correlations_, rho)
    assert_allclose(model.transform(np.c_[x, z]), np.c_[a, b])
    assert_allclose(plain(1, shrink=True).fit(np.c_[x, z], y).scale_, [np.sqrt(99)])
    first = plain(1, use="first").fit(np.c_[x, z], y)
    assert_allclose(first.coef_, [a @ y / 4])
    assert_allclose(first.intercept_, 2)
    assert_allclose(first.predict([[5.0]]), np.polyval(np.polyfit(x, y, 1), [5]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("use", ["both", "first", "second"])
def test_the_penalty_is_that_of_kakade_and_foster(seed, use):
    X, h = gaussian_views(seed)
    y = h @ [1.0, -2.0] + np.random.default_rng(seed).normal(size=len(h))
    model = TwoViewRegressor(2, n_first=5, regularization=0, use=use, alpha=7.0)
    model.fit(X[:40], y[:40], unlabeled=X[40:])
    F = np.hstack(model.cca_.transform(X[:40, :5], X[:40, 5:]))
    penalty = np.tile(1 / model.cca_.correlations_ - 1, 2)
    if use != "both":
        F, penalty = np.split(F, 2, axis=1)[use == "second"], penalty[:2]
    F -= F.mean(axis=0)
    w = np.linalg.solve(F.T @ F + 7 * np.diag(penalty), F.T @ (y[:40] - y[:40].mean()))
    assert_allclose(model.coef_ * np.resize(model.scale_, len(w)), w, rtol=1e-6, atol=1e-9)


def test_with_alpha_n_weights_shrink_by_the_correlation():
    """White coordinates: n w_j + n (1 - lambda_j) / lambda_j w_j = n cov, so w_j = lambda_j cov."""
    X, h = gaussian_views(0)
    y = h[:, 0] + X[:, 0]
    model = TwoViewRegressor(2, n_first=5, regularization=0, use="first", alpha=len(X)).fit(X, y)
    covariance = model.cca_.transform(X[:, :5]).T @ y / len(X)
    assert_allclose(model.coef_ * model.scale_, model.cca_.correlations_ * covariance)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_is_logistic_regression_on_the_projection(n_classes):
    X, h = bags(0, 400, k=n_classes)
    y = np.array(["a", "b", "c", "d"])[h]
    model = TwoViewClassifier(6, C=0.5).fit(X[:90], y[:90], unlabeled=X[90:])
    theirs = LogisticRegression(C=0.5, max_iter=1000).fit(model.transform(X[:90]), y[:90])
    features = model.transform(X)
    assert_allclose(model.coef_, theirs.coef_)
    assert_allclose(model.decision_function(X), theirs.decision_function(features))
    assert_allclose(model.predict_proba(X), theirs.predict_proba(features))
    assert np.array_equal(model.predict(X), theirs.predict(features))
    assert model.score(X, y) == np.mean(model.predict(X) == y)


# Exactness ([Cohen et al. 2013], "Guarantees for CCA", "Theory: CCA has Nice Properties").


@pytest.mark.parametrize("seed", SEEDS)
def test_two_coordinates_of_a_naive_bayes_model_tell_all_that_the_views_tell(seed):
    X, h, posterior = naive_bayes_population(seed)
    y = np.eye(3)[h]
    first = plain(2, n_first=7, use="first").fit(X, y)
    assert_allclose(first.predict(X), posterior, atol=1e-7)  # p(h|x), which is linear in one-hot x
    both = plain(2, n_first=7).fit(X, y)
    assert_allclose(both.predict(X), fitted_values(X, y), atol=1e-7)
    assert_allclose(both.diagnostics_["next_correlations"], 0, atol=1e-8)
    # one less is not enough
    assert np.abs(plain(1, n_first=7, use="first").fit(X, y).predict(X) - posterior).max() > 1e-3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("use", ["both", "first", "second"])
def test_the_coordinates_of_a_gaussian_model_tell_all_that_the_views_tell(seed, use):
    X, h = gaussian_views(seed)
    y = np.c_[h @ [1.0, -2.0], h[:, 1]]
    columns = {"both": slice(None), "first": slice(5), "second": slice(5, None)}[use]
    model = plain(2, n_first=5, use=use).fit(X, y)
    assert_allclose(model.predict(X), fitted_values(X[:, columns], y), atol=1e-6)
    assert_allclose(model.predict(X[:, columns]), model.predict(X))


def test_principal_components_miss_all_the_signal_and_canonical_ones_none():
    """Each view has its loud noise. PCA keeps it. CCA drops it, because the other view has none."""
    rows = white(np.random.default_rng(0), 500, 10)
    h, quiet, loud = rows[:, :1], rows[:, 1:3], 100 * rows[:, 4:]
    X = np.c_[h + 0.1 * quiet[:, :1], loud[:, :3], h + 0.1 * quiet[:, 1:], loud[:, 3:]]
    y = h[:, 0]
    P = PCA(6).fit_transform(X)
    assert LinearRegression().fit(P, y).score(P, y) < 1e-10
    exact = LinearRegression().fit(X, y).score(X, y)
    assert exact > 0.99
    assert_allclose(plain(1).fit(X, y).score(X, y), exact)
    # and still 99% of it from a few labels
    few = TwoViewRegressor(1, regularization=0).fit(X[:10], y[:10], unlabeled=X[10:])
    assert few.score(X, y) > 0.97
    assert LinearRegression().fit(P[:10], y[:10]).score(P, y) < 0


# Recovery.


def test_error_falls_with_unlabeled_pairs_and_few_labels_are_enough():
    """No classifier can have an accuracy above 0.89 on these classes."""
    sizes, scores, raw = (0, 500, 2000, 8000), [], []
    for seed in range(4):
        X, y = bags(seed, 10_000)
        labeled, rest, test = slice(30), slice(30, 8030), slice(8030, None)
        one = []
        for size in sizes:
            model = TwoViewClassifier(4).fit(X[labeled], y[labeled], unlabeled=X[rest][:size])
            one.append(model.score(X[test], y[test]))
        scores.append(one)
        raw.append(
            max(
                LogisticRegression(C=C).fit(X[labeled], y[labeled]).score(X[test], y[test])
                for C in (0.1, 1, 10)
            )
        )
    mean = np.mean(scores, axis=0)
    assert np.all(np.diff(mean) > 0.05)
    assert mean[-1] > 0.72
    assert mean[-1] > np.mean(raw) + 0.25
    assert mean[0] < np.mean(raw) + 0.05  # without pairs nothing can be gained


def test_shrinking_forgives_components_that_are_too_many():
    gains, losses = [], []
    for seed in SEEDS:
        X, y = bags(seed, 7000)
        scores = {
            (m, shrink): TwoViewClassifier(m, shrink=shrink)
            .fit(X[:40], y[:40], unlabeled=X[40:5000])
            .score(X[5000:], y[5000:])
            for m, shrink in ((4, True), (30, True), (30, False))
        }
        gains.append(scores[30, True] - scores[30, False])
        losses.append(scores[4, True] - scores[30, True])
    assert np.mean(gains) > 0.05
    assert np.mean(losses) < 0.1


def test_regression_from_few_values():
    """20 values, 50 columns in each view, and noise that is 20 times as loud in some columns."""
    uses, scores = ("both", "first", "second"), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        h, views = rng.normal(size=(3020, 2)), []
        for _ in range(2):
            noise = rng.normal(size=(3020, 50)) * np.linspace(0.6, 12, 50)
            turned = noise @ np.linalg.qr(rng.normal(size=(50, 50)))[0]
            views.append(h @ rng.normal(size=(2, 50)) + turned)
        X, y = np.hstack(views), h @ [1.0, -1.0]
        few, rest, test = np.split(np.arange(3020), [20, 2020])
        one = [
            TwoViewRegressor(5, use=use).fit(X[few], y[few], unlabeled=X[rest]) for use in uses
        ] + [RidgeCV(np.logspace(-2, 5, 15)).fit(X[few], y[few])]
        scores.append([model.score(X[test], y[test]) for model in one])
    both, first, second, ridge = np.mean(scores, axis=0)
    assert both > max(first, second)
    assert both > 0.5
    assert min(first, second) > ridge + 0.1


# Real data.


def test_titles_and_bodies_of_reuters(data_folder, monkeypatch):
    """The example of [Cohen et al. 2013]: topics from 100 labels, by title and body, or title."""
    if not (data_folder / "topics/reuters21578.jsonl.xz").exists():
        pytest.skip("no Reuters")
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    from eigentext import load_dataset

    topics = ["earn", "acq", "crude", "trade", "money-fx", "interest"]
    stories = load_dataset("reuters")
    split = [text.partition("\n\n")[::2] for text in stories.texts]
    kept = [i for i, (_, body) in enumerate(split) if body]
    y = np.array([t[0] if len(t) == 1 and t[0] in topics else "" for t in stories.labels])[kept]
    words = {"token_pattern": "[a-z]{2,}", "stop_words": "english", "sublinear_tf": True}
    titles = TfidfVectorizer(max_features=400, **words).fit_transform([split[i][0] for i in kept])
    bodies = TfidfVectorizer(max_features=600, **words).fit_transform([split[i][1] for i in kept])
    X = csr_array(hstack([titles, bodies]))
    known = np.flatnonzero(y)
    test, pool = known[known > 6000], known[known <= 6000]
    scores = []
    for seed in SEEDS:
        few = np.random.default_rng(seed).choice(pool, 100, replace=False)
        rest = np.setdiff1d(np.arange(6000), few)
        one = []
        for use, columns in (("both", slice(None)), ("first", slice(400))):
            model = TwoViewClassifier(n_first=400, use=use)
            model.fit(X[few], y[few], unlabeled=X[rest])
            raw = LogisticRegression(C=100, max_iter=1000).fit(X[few][:, columns], y[few])
            one += [
                model.score(X[test][:, columns], y[test]),
                raw.score(X[test][:, columns], y[test]),
            ]
        scores.append(one)
    both, raw, first, raw_first = np.mean(scores, axis=0)
    assert both > 0.86
    assert both > raw + 0.05
    assert first > raw_first + 0.05


# Input.


@pytest.mark.parametrize("as_form", [csr_array, csc_array])
def test_sparse_equals_dense(as_form):
    X, y = bags(0, 600)
    dense = TwoViewClassifier(5).fit(X[:50].toarray(), y[:50], unlabeled=X[50:].toarray())
    sparse = TwoViewClassifier(5).fit(as_form(X[:50]), y[:50], unlabeled=as_form(X[50:]))
    mixed = TwoViewClassifier(5).fit(X[:50].toarray(), y[:50], unlabeled=as_form(X[50:]))
    for model in (sparse, mixed):
        assert_allclose(model.transform(as_form(X)), dense.transform(X.toarray()), atol=1e-8)
        assert_allclose(model.predict_proba(X), dense.predict_proba(X.toarray()), atol=1e-6)


def test_the_units_of_a_view_do_not_matter():
    X, h = gaussian_views(0)
    model = TwoViewRegressor(2, n_first=5).fit(X[:50], h[:50, 0], unlabeled=X[50:])
    moved = X * np.repeat([1e-3, 1e4], [5, 4]) + 7
    again = clone(model).fit(moved[:50], h[:50, 0], unlabeled=moved[50:])
    assert_allclose(again.predict(moved), model.predict(X), rtol=1e-6)
    assert_allclose(again.cca_.transform(moved[:, :5]), model.cca_.transform(X[:, :5]), atol=1e-6)


def test_numbers_whose_squares_leave_floating_point_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 4))
    for scale in (1e160, 1e-160):
        with pytest.raises(ParameterError, match=r"in the first view is .* divide the first view"):
            TwoViewRegressor(1).fit(X * scale, X[:, 0])


def test_columns_that_never_vary_do_not_matter():
    X, h = gaussian_views(0)
    model = TwoViewRegressor(2, n_first=5).fit(X, h[:, 0])
    constant = np.full((len(X), 1), 0.1)
    wide = np.hstack([X[:, :5], constant, constant, X[:, 5:], constant])
    assert_allclose(
        clone(model).set_params(n_first=7).fit(wide, h[:, 0]).predict(wide), model.predict(X)
    )


def test_labeled_rows_count_among_the_pairs():
    X, y = bags(0, 500)
    model = TwoViewClassifier(4).fit(X[:100], y[:100], unlabeled=X[100:])
    cca = CCA(4, regularization=1.0)
    views = [V[:, V.var(axis=0) > 0] for V in (X[:, :200].toarray(), X[:, 200:].toarray())]
    scaled = [V / np.sqrt(V.var(axis=0).mean()) for V in views]
    assert_allclose(model.cca_.correlations_, cca.fit(*scaled).correlations_, rtol=1e-6)
    alone, empty = (TwoViewClassifier(4).fit(X[:100], y[:100], unlabeled=U) for U in (None, X[:0]))
    assert np.array_equal(alone.predict_proba(X), empty.predict_proba(X))
    assert alone.diagnostics_["n_unlabelled"] == 0


@pytest.mark.parametrize(("use", "columns"), [("first", slice(150)), ("second", slice(150, None))])
def test_one_view_is_enough_to_predict(use, columns):
    X, y = bags(0, 600)
    model = TwoViewClassifier(4, n_first=150, use=use).fit(X[:50], y[:50], unlabeled=X[50:])
    assert model.transform(X).shape == (600, 4)
    for rows in (X, X.toarray()):
        assert np.array_equal(model.predict_proba(rows[:, columns]), model.predict_proba(rows))
    with pytest.raises(ValueError, match="expecting 400 features"):
        model.predict(X[:, :149])
    both = TwoViewClassifier(4, n_first=150).fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="expecting 400 features"):
        both.predict(X[:, :150])


def test_parameters_changed_after_the_fit_wait_for_the_next():
    X, y = bags(0, 300)
    model = TwoViewClassifier(4, use="first").fit(X, y)
    before = model.predict_proba(X)
    model.set_params(use="second", shrink=False, n_first=3)
    assert np.array_equal(model.predict_proba(X), before)


# What can go wrong.


def test_more_components_than_the_rank_are_lowered_with_a_warning():
    X, h = gaussian_views(0)
    doubled = np.c_[X[:, :2], X[:, :2] @ [[1.0, 2.0], [3.0, 4.0]], X[:, 5:]]
    with pytest.warns(UserWarning, match=r"300 pairs support only 2, .*lower n_components"):
        model = TwoViewRegressor(3, regularization=0).fit(doubled, h[:, 0])
    assert model.transform(doubled).shape == (300, 4)
    assert model.diagnostics_["n_components"] == 2
    assert_allclose(
        model.predict(doubled),
        TwoViewRegressor(2, regularization=0).fit(doubled, h[:, 0]).predict(doubled),
    )


def test_few_pairs_support_few_components():
    """Seven rows have six free dimensions, for any number of columns."""
    X, y = bags(0, 7)
    with pytest.warns(UserWarning, match=r"7 pairs support only 6, .* more unlabeled pairs"):
        model = TwoViewClassifier().fit(X, y)
    assert len(model.scale_) == 6
    assert len(model.diagnostics_["correlations"]) == 6
    assert_allclose(model.diagnostics_["next_correlations"], 0, atol=1e-8)


def test_components_without_correlation_are_dropped_with_a_warning():
    X, h, _ = naive_bayes_population(0)
    with pytest.warns(UserWarning, match="support only 2,"):
        model = plain(4, n_first=7).fit(X, h)
    assert_allclose(model.predict(X), plain(2, n_first=7).fit(X, h).predict(X))


def test_independent_views_leave_one_coordinate():
    X = white(np.random.default_rng(0), 50, 4)
    with pytest.warns(UserWarning, match="50 pairs support only 1,"):
        model = TwoViewRegressor(2).fit(X, X[:, 0])
    assert_allclose(model.predict(X), 0, atol=1e-6)  # the views share nothing


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number"),
        ({"n_components": 1.5}, "n_components must be a whole number"),
        ({"regularization": -1.0}, "regularization must be a number, 0 or more"),
        ({"regularization": np.nan}, "regularization must be"),
        ({"use": "third"}, "use must be 'both', 'first' or 'second', not 'third'"),
        ({"use": ["first"]}, "use must be"),
        ({"n_first": 0}, "n_first must be a whole number, 1 or more, or None, not 0"),
        ({"n_first": 9}, r"n_first=9, but X has 9 columns; .* from 1 to 8"),
        ({"n_first": True}, "n_first must be a whole number, 1 or more, or None, not True"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    X, h = gaussian_views(0)
    y = h[:, 0] > 0
    for make in (TwoViewClassifier, TwoViewRegressor):
        with pytest.raises(ParameterError, match=message):
            make(**{"n_components": 1} | parameters).fit(X, y)
    with pytest.raises(ParameterError, match="C must be a number, above 0, not 0"):
        TwoViewClassifier(1, C=0).fit(X, y)
    with pytest.raises(ParameterError, match="alpha must be a number, above 0, not 'much'"):
        TwoViewRegressor(1, alpha="much").fit(X, y)


@pytest.mark.parametrize("as_form", [np.asarray, csr_array])
def test_bad_input_is_a_value_error(as_form):
    X, h = gaussian_views(0)
    y = h[:, 0] > 0
    model = TwoViewClassifier(1)
    with pytest.raises(ParameterError, match=r"unlabeled has 8 columns, but X has 9.*same order"):
        model.fit(as_form(X), y, unlabeled=as_form(X[:, 1:]))
    with pytest.raises(ParameterError, match="only one class"):
        model.fit(as_form(X), np.ones(len(X)))
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    with pytest.raises(ValueError, match="unlabeled contains NaN"):
        model.fit(as_form(X), y, unlabeled=as_form(spoilt))
    for name, columns in (("first", slice(4)), ("second", slice(4, None))):
        constant = X.copy()
        constant[:, columns] = 0.1
        with pytest.raises(ParameterError, match=f"no column of the {name} view varies"):
            model.fit(as_form(constant), y)


# The estimator.


@parametrize_with_checks([TwoViewClassifier(1), TwoViewRegressor(1)])
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_takes_part_in_cross_validation():
    X, y = bags(0, 1500)
    scores = cross_val_score(TwoViewClassifier(4), X[:100], y[:100], params={"unlabeled": X[100:]})
    assert scores.mean() > 0.4


def test_names_of_coordinates():
    X, y = bags(0, 300)
    names = TwoViewClassifier(2).fit(X, y).get_feature_names_out()
    assert names.tolist() == [f"twoviewclassifier{j}" for j in range(4)]


def test_diagnostics_are_plain_and_tell_what_was_learned_from():
    X, y = bags(0, 500)
    model = TwoViewClassifier(3).fit(X[:80], y[:80], unlabeled=X[80:])
    diagnostics = json.loads(json.dumps(model.diagnostics_))
    assert diagnostics == model.diagnostics_
    assert diagnostics["correlations"] == model.cca_.correlations_.tolist()
    assert len(diagnostics["next_correlations"]) == 5
    assert (diagnostics["n_labelled"], diagnostics["n_unlabelled"]) == (80, 420)
    assert diagnostics["first"]["columns"] == 200
    assert diagnostics["second"]["condition_number"] > 1


# Saving.


@pytest.fixture
def _known(monkeypatch):
    for kind in ("Classifier", "Regressor"):
        reader = ("eigentext.tagging.two_view", f"TwoView{kind}")
        monkeypatch.setitem(models._READERS, f"eigentext.two-view-{kind.lower()}", reader)


@pytest.mark.usefixtures("_known")
@pytest.mark.parametrize("use", ["both", "second"])
@pytest.mark.parametrize("labels", [["a", "b", "é", "d", "e"], [1, 2, 3, 5, 8], [0, 0, 0, 0, 1]])
def test_a_classifier_from_a_file_answers_with_the_same_bits(tmp_path, use, labels):
    X, h = bags(0, 300)
    y = np.array(labels)[h]
    model = TwoViewClassifier(3, n_first=150, use=use).fit(X[:80], y[:80], unlabeled=X[80:])
    model.set_params(use="first")  # not what was fitted
    model.save(tmp_path / "model")
    again = models.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.diagnostics_ == model.diagnostics_
    assert again.get_params() == dict(model.parameters_)
    assert again.use == use
    assert_allclose(again.cca_.transform(X[:, :150]), model.cca_.transform(X[:, :150]))
    if use == "second":
        assert np.array_equal(again.predict(X[:, 150:]), model.predict(X))


@pytest.mark.usefixtures("_known")
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_regressor_from_a_file_answers_with_the_same_bits(tmp_path, n_outputs):
    X, h = gaussian_views(0)
    model = TwoViewRegressor(2).fit(X, h[:, 0] if n_outputs == 1 else h)
    model.save(tmp_path / "model")
    assert np.array_equal(models.load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.usefixtures("_known")
def test_a_damaged_file_is_refused(tmp_path, monkeypatch):
    X, h = gaussian_views(0)
    model = TwoViewRegressor(2).fit(X, h[:, 0])
    model.coef_ = model.coef_[:3]
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="made by something else: coef has shape"):
        models.load(tmp_path / "model")


def test_docstring_examples_run():
    assert doctest.testmod(module).failed == 0


def test_the_old_spelling_of_unlabeled_works_with_a_warning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + rng.normal(size=(60, 6))
    new = TwoViewRegressor(1).fit(X[:30], X[:30, 0], unlabeled=X[30:])
    with pytest.warns(DeprecationWarning, match="'unlabelled' is called 'unlabeled' now"):
        old = TwoViewRegressor(1).fit(X[:30], X[:30, 0], unlabelled=X[30:])
    assert np.array_equal(old.coef_, new.coef_)
