"""Laws of CCA: it solves its eigenproblem, whitens both views, and takes any form of input."""

import doctest
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import block_diag, eigh
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.cross_decomposition import CCA as SklearnCCA  # noqa: N811
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigentext.factor.cca as module
from eigentext.errors import ParameterError
from eigentext.factor.cca import CCA

SEEDS = range(3)


def gaussian_pair(rng, n=400, d=5, d2=4, k=3):
    """Two views of k hidden numbers, with correlated noise and means far from 0."""
    h = rng.normal(size=(n, k))
    noise_x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    noise_y = rng.normal(size=(n, d2)) @ rng.normal(size=(d2, d2))
    X = h @ rng.normal(size=(k, d)) + noise_x + 10 * rng.normal(size=d)
    Y = h @ rng.normal(size=(k, d2)) + noise_y + 10 * rng.normal(size=d2)
    return X, Y


def one_hot(ids, d):
    return csr_array((np.ones(len(ids)), (np.arange(len(ids)), ids)), shape=(len(ids), d))


def one_hot_pair(rng, n=300, d=6, d2=5):
    """Words and contexts that depend on each other; every column occurs."""
    x = np.r_[np.arange(d), rng.integers(d, size=n - d)]
    y = np.where(rng.random(n) < 0.5, rng.integers(d2, size=n), x * x % d2)
    y[:d2] = np.arange(d2)
    return one_hot(x, d), one_hot(y, d2)


def covariance(X, Y):
    return (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / len(X)


def eigenproblem(X, Y, r=0.0):
    """Correlations and directions from [0 C; C' 0] w = rho [Cxx+r 0; 0 Cyy+r] w, rho falling."""
    d, d2 = X.shape[1], Y.shape[1]
    C = covariance(np.c_[X, Y], np.c_[X, Y])
    within = block_diag(C[:d, :d] + r * np.eye(d), C[d:, d:] + r * np.eye(d2))
    across = C - block_diag(C[:d, :d], C[d:, d:])
    rho, w = eigh(across, within)
    w = np.sqrt(2) * w[:, ::-1]  # both halves then have unit variance
    return rho[::-1], w[:d], w[d:]


def assert_same_up_to_sign(a, b, **tolerance):
    assert_allclose(a * np.sign(np.sum(a * b, axis=0)), b, **tolerance)


def assert_same_answer(a, b, rtol=1e-8):
    """Two fits agree in everything, the signs too."""
    assert_allclose(a.correlations_, b.correlations_, rtol=rtol, atol=1e-10)
    scale_x, scale_y = np.abs(b.x_weights_).max(), np.abs(b.y_weights_).max()
    assert_allclose(a.x_weights_, b.x_weights_, atol=rtol * scale_x)
    assert_allclose(a.y_weights_, b.y_weights_, atol=rtol * scale_y)
    assert_allclose(a.x_mean_, b.x_mean_, rtol=1e-12, atol=1e-14)
    assert_allclose(a.y_mean_, b.y_mean_, rtol=1e-12, atol=1e-14)


# The definition -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("r", [0.0, 0.7])
def test_solves_the_generalized_eigenproblem(seed, r):
    X, Y = gaussian_pair(np.random.default_rng(seed))
    cca = CCA(3, regularization=r).fit(X, Y)
    rho, A, B = eigenproblem(X, Y, r)
    assert_allclose(cca.correlations_, rho[:3], atol=1e-8)
    assert_same_up_to_sign(cca.x_weights_, A[:, :3], atol=1e-8)
    assert_same_up_to_sign(cca.y_weights_, B[:, :3], atol=1e-8)
    # a pair has one sign for both: a_j and b_j correlate positively
    assert np.all(np.sum(cca.x_weights_ * (covariance(X, Y) @ cca.y_weights_), axis=0) > 0)


def test_first_correlations_are_those_of_scikit_learn():
    X, Y = gaussian_pair(np.random.default_rng(0))
    theirs = SklearnCCA(n_components=2, tol=1e-14, max_iter=20_000).fit_transform(X, Y)
    expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(theirs[0].T, theirs[1].T)]
    assert_allclose(CCA(2).fit(X, Y).correlations_, expected, atol=1e-6)


def test_known_answer_of_one_column_each():
    X, Y = np.array([[1.0], [2.0], [3.0], [6.0]]), np.array([2.0, 1.0, 0.0, -5.0])
    cca = CCA(1).fit(X, Y)  # a list of numbers is one column
    assert_allclose(cca.correlations_, abs(np.corrcoef(X[:, 0], Y)[0, 1]))
    assert_allclose(cca.x_weights_, [[1 / X.std()]])
    assert_allclose(cca.y_weights_, [[-1 / Y.std()]])
    assert_allclose(CCA(1, center=False).fit(X, Y).correlations_, 26 / np.sqrt(50 * 30))


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 6),
    d2=st.integers(1, 6),
    extra=st.integers(2, 60),
    center=st.booleans(),
    doubled=st.booleans(),
)
def test_projections_are_white_and_paired(seed, d, d2, extra, center, doubled):
    """Xc' Xc / n = I = Yc' Yc / n and Xc' Yc / n = diag(correlations), singular C_XX or not."""
    rng = np.random.default_rng(seed)
    X, Y = gaussian_pair(rng, n=d + d2 + extra, d=d, d2=d2)
    if doubled:
        X = np.c_[X, 3 * X, np.full(len(X), 0.1 * center)]
    m = min(d, d2)
    cca = CCA(m, center=center).fit(X, Y)
    a, b = cca.transform(X, Y)
    n = len(X)
    assert_allclose(a.T @ a / n, np.eye(m), atol=1e-7)
    assert_allclose(b.T @ b / n, np.eye(m), atol=1e-7)
    assert_allclose(a.T @ b / n, np.diag(cca.correlations_), atol=1e-7)
    assert np.all(np.diff(cca.correlations_) <= 1e-12)
    assert cca.diagnostics_["x"]["rank"] == d


@pytest.mark.parametrize("seed", SEEDS)
def test_correlations_do_not_change_under_invertible_maps_of_a_view(seed):
    rng = np.random.default_rng(seed)
    X, Y = gaussian_pair(rng)
    M = rng.normal(size=(5, 5))
    plain, mapped = CCA(4).fit(X, Y), CCA(4).fit(X @ M + 3, Y)
    assert_allclose(mapped.correlations_, plain.correlations_, atol=1e-9)
    assert_same_up_to_sign(M @ mapped.x_weights_, plain.x_weights_, atol=1e-7)
    units = 10.0 ** np.array([-9, -3, 0, 5, 9])
    assert_allclose(CCA(4).fit(X * units, Y).correlations_, plain.correlations_, atol=1e-9)


def test_views_change_places():
    X, Y = gaussian_pair(np.random.default_rng(0))
    one, other = CCA(3).fit(X, Y), CCA(3).fit(Y, X)
    assert_allclose(one.correlations_, other.correlations_, atol=1e-12)
    assert_same_up_to_sign(one.x_weights_, other.y_weights_, atol=1e-9)


def test_regularization_shrinks_the_correlations_to_nothing():
    X, Y = gaussian_pair(np.random.default_rng(0))
    path = [CCA(4, regularization=r).fit(X, Y).correlations_ for r in (0.0, 0.1, 1.0, 10.0, 1e9)]
    assert np.all(np.diff(path, axis=0) < 0)
    assert path[-1].max() < 1e-6


def test_small_regularization_tends_to_the_pseudo_inverse():
    X, Y = gaussian_pair(np.random.default_rng(0))
    X = np.c_[X, X[:, :2] @ [1.0, 2.0]]
    exact = CCA(3).fit(X, Y)
    assert exact.diagnostics_["x"]["null_directions"] == 1
    far, near = (
        np.abs(CCA(3, regularization=r).fit(X, Y).x_weights_ - exact.x_weights_).max()
        for r in (1e-4, 1e-6)
    )
    assert near < far / 50  # in proportion to r
    assert near < 1e-3


# Sparse views -------------------------------------------------------------------------------------

R_AND_CENTER = pytest.mark.parametrize(("r", "center"), [(0, True), (0, False), (0.05, True)])


@R_AND_CENTER
@pytest.mark.parametrize("seed", SEEDS)
def test_one_hot_equals_dense(seed, r, center):
    X, Y = one_hot_pair(np.random.default_rng(seed))
    sparse = CCA(3, regularization=r, center=center).fit(X, Y)
    dense = clone(sparse).fit(X.toarray(), Y.toarray())
    assert sparse.diagnostics_["x"]["form"] == "diagonal"
    assert sparse.diagnostics_["x"]["null_directions"] == (center and r == 0)
    assert sparse.diagnostics_["x"]["rank"] == dense.diagnostics_["x"]["rank"]
    assert_same_answer(sparse, dense)
    assert_allclose(sparse.transform(X), dense.transform(X.toarray()), atol=1e-8)


@R_AND_CENTER
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("change", ["empty rows", "values", "values of columns", "unused columns"])
def test_views_that_are_nearly_one_hot_equal_dense(change, seed, r, center):
    rng = np.random.default_rng(seed)
    X, Y = one_hot_pair(rng)
    if change == "empty rows":
        X.data[20::7] = 0
    elif change == "values":
        X.data = rng.normal(size=len(X.data))
    elif change == "values of columns":
        X.data = np.array([1.0, 2, -3, 0.4, 50, 6])[X.indices]
    else:
        X = one_hot(X.indices * 2 + 1, 15)
    sparse = CCA(3, regularization=r, center=center).fit(X, Y)
    assert sparse.diagnostics_["x"]["form"] == "diagonal"
    if change == "unused columns":
        assert not sparse.x_weights_[::2].any()
    assert_same_answer(sparse, clone(sparse).fit(X.toarray(), Y.toarray()))


def test_centering_one_hot_views_removes_the_trivial_triple_and_nothing_else():
    """Observation 1 of Stratos et al. (2015): sigma = 1, u = sqrt(p_x), v = sqrt(p_y)."""
    X, Y = one_hot_pair(np.random.default_rng(0))
    centered, plain = CCA(4).fit(X, Y), CCA(5, center=False).fit(X, Y)
    assert_allclose(plain.correlations_, [1, *centered.correlations_], atol=1e-12)
    assert_allclose(plain.x_weights_[:, 0], 1)  # D^{-1/2} sqrt(p)
    differences = centered.x_weights_ - plain.x_weights_[:, 1:]
    differences_of_opposite_sign = centered.x_weights_ + plain.x_weights_[:, 1:]
    constant = np.minimum(np.ptp(differences, axis=0), np.ptp(differences_of_opposite_sign, axis=0))
    assert_allclose(constant, 0, atol=1e-9)


def test_independent_one_hot_views_have_no_correlation_and_still_are_white():
    x, y = np.divmod(np.arange(30), 6)
    X, Y = one_hot(x, 5), one_hot(y, 6)
    cca = CCA(4).fit(X, Y)
    assert_allclose(cca.correlations_, 0, atol=1e-12)
    a, b = cca.transform(X, Y)
    assert_allclose(covariance(a, a), np.eye(4), atol=1e-10)
    assert_allclose(covariance(b, b), np.eye(4), atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("of_x", ["one-hot", "bag", "dense"])
@pytest.mark.parametrize("of_y", ["one-hot", "bag", "dense"])
def test_any_two_forms_of_view_equal_dense(of_x, of_y, center):
    rng = np.random.default_rng(0)
    X, Y = (A.toarray() for A in one_hot_pair(rng))
    X = X if of_x == "one-hot" else X + rng.poisson(0.3, X.shape) + 3 * (of_x == "dense")
    Y = Y if of_y == "one-hot" else Y + rng.poisson(0.3, Y.shape) + 3 * (of_y == "dense")
    given_x = X if of_x == "dense" else csr_matrix(X)
    given_y = Y if of_y == "dense" else csc_array(Y)
    cca = CCA(3, center=center).fit(given_x, given_y)
    assert_same_answer(cca, clone(cca).fit(X, Y))
    for ours, dense in zip(cca.transform(given_x, given_y), cca.transform(X, Y)):
        assert_allclose(ours, dense, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_sparse_views_with_large_means_do_not_take_rounding_for_a_direction(seed):
    """E[x^2] - E[x]^2 loses six digits here; the doubled columns must not come out as rank."""
    X, Y = gaussian_pair(np.random.default_rng(seed))
    X = np.c_[X + 3000, 0.3 * X - 7000]
    dense, sparse = CCA(3).fit(X, Y), CCA(3).fit(csr_array(X), Y)
    assert sparse.diagnostics_["x"]["rank"] == dense.diagnostics_["x"]["rank"] == 5
    assert_same_answer(sparse, dense, rtol=1e-4)


def test_explicit_zeros_and_entries_in_two_parts_count_as_what_they_are():
    X, Y = one_hot_pair(np.random.default_rng(0))
    n, d = X.shape
    others = (X.indices + 1) % d
    data = np.c_[np.full(n, 0.25), np.full(n, 0.75), np.zeros(n)]
    indices = np.c_[X.indices, X.indices, others]
    parts = csr_array((data.ravel(), indices.ravel(), np.arange(n + 1) * 3), shape=(n, d))
    cca = CCA(3).fit(parts, Y)
    assert parts.nnz == 3 * n
    assert cca.diagnostics_["x"]["form"] == "diagonal"
    assert_same_answer(cca, CCA(3).fit(X, Y))


@pytest.mark.parametrize("as_form", [np.asarray, csr_array])
def test_rounding_of_long_sums_is_not_taken_for_variance(as_form):
    """Half a million equal numbers, added one by one, are off by more than √n roundings."""
    rng = np.random.default_rng(0)
    X, Y = (A.toarray() for A in one_hot_pair(rng, n=500_000, d=3, d2=3))
    scaled = CCA(1).fit(as_form(0.7 * X), as_form(Y))
    assert scaled.diagnostics_["x"]["null_directions"] == 1
    beside_constant = CCA(1).fit(as_form(np.c_[X, np.full(len(X), 0.1)]), as_form(Y))
    assert beside_constant.diagnostics_["x"]["constant_columns"] == 1
    assert_allclose(scaled.correlations_, beside_constant.correlations_, rtol=1e-9)


def test_input_is_left_as_it_was():
    X, Y = one_hot_pair(np.random.default_rng(0))
    X.data[::5] = 0
    before, dense = X.copy(), Y.toarray()
    CCA(2).fit(X, dense)
    assert np.array_equal(X.data, before.data)
    assert np.array_equal(X.indices, before.indices)
    assert np.array_equal(dense, Y.toarray())


def test_wide_one_hot_views_never_become_dense():
    """200,000 columns each, of which X has 50,000 that occur: 20 GB for a dense covariance."""
    rng = np.random.default_rng(0)
    n, d, k, r = 100_000, 200_000, 4, 1e-3
    h = np.arange(n) % k
    x, y = h + k * (d // k * rng.random((2, n)) ** 16).astype(int)
    x[: n // 2] = rng.permutation(d)[: n // 2]
    X, Y = one_hot(x, d), one_hot(y, d)
    tracemalloc.start()
    try:
        cca = CCA(k - 1, regularization=r).fit(X, Y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1e9  # a dense covariance would take 320e9
    assert cca.diagnostics_["x"]["rank"] > n // 2
    assert cca.diagnostics_["residual"] < 1e-4
    assert cca.correlations_[-1] > 2 * cca.diagnostics_["next_correlations"][0]  # h has k states
    a, b = cca.transform(X, Y)
    A, B = cca.x_weights_, cca.y_weights_
    assert_allclose(covariance(a, a) + r * A.T @ A, np.eye(k - 1), atol=1e-8)
    assert_allclose(covariance(b, b) + r * B.T @ B, np.eye(k - 1), atol=1e-8)
    assert_allclose(covariance(a, b), np.diag(cca.correlations_), atol=1e-6)


def test_slow_convergence_is_a_warning_with_its_remedy(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = (
        one_hot(rng.integers(1100, size=6000), 1100),
        one_hot(rng.integers(1100, size=6000), 1100),
    )
    monkeypatch.setattr(module, "_CONVERGED", 1e-15)
    with pytest.warns(UserWarning, match="drop rare columns"):
        cca = CCA(2).fit(X, Y)
    assert 1e-15 < cca.diagnostics_["residual"] < 1e-2


def test_wide_views_of_another_kind_are_refused_before_memory_is_taken():
    d = 30_000
    X = csr_array((np.ones(2 * d), (np.repeat(np.arange(d), 2), np.arange(2 * d) % d)), (d, d))
    with pytest.raises(ParameterError, match=r"30,000 columns of X .* 29 GB.*keep the most freq"):
        CCA(1).fit(X, np.arange(d))
    few = X[:, :40]  # columns that never occur do not count
    wide = csr_array((few.data, few.indices, few.indptr), shape=(d, d))
    assert CCA(1).fit(wide, np.arange(d)).diagnostics_["x"]["constant_columns"] == d - 40


# Naive Bayes (Cohen et al. 2013, "Guarantees for CCA") --------------------------------------------


@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("seed", SEEDS)
def test_population_of_a_naive_bayes_model_has_k_minus_1_correlations(form, seed):
    """p(h) p(x|h) p(y|h) in whole numbers of rows, so that the moments are the population's."""
    rng = np.random.default_rng(seed)
    k, d, d2 = 3, 7, 6
    while True:
        prior = np.array([2, 3, 5]) / 10
        O_x, O_y = (
            1 / 16 * (rng.multinomial(16 - size, np.ones(size) / size, size=k).T + 1)
            for size in (d, d2)
        )
        smallest = min(np.linalg.svd(o, compute_uv=False)[-1] for o in (O_x, O_y))
        if smallest > 0.05:  # the theorem wants rank k of both
            break
    counts = np.rint(O_x * prior @ O_y.T * 2560).astype(int)
    x, y = (np.repeat(i.ravel(), counts.ravel()) for i in np.indices(counts.shape))
    X, Y = one_hot(x, d), one_hot(y, d2)
    if form == "dense":
        X, Y = X.toarray(), Y.toarray()
    cca = CCA(k - 1).fit(X, Y)
    assert np.all(cca.correlations_ > 1e-4)
    assert_allclose(cca.diagnostics_["next_correlations"], 0, atol=1e-10)

    # the k - 1 projections and the constant predict h as well as x itself does
    posterior = O_x * prior / (O_x @ prior)[:, None]
    features = np.c_[np.ones(d), cca.transform(np.eye(d))]
    fitted = features @ np.linalg.lstsq(features, posterior)[0]
    assert_allclose(fitted, posterior, atol=1e-8)


def test_sampled_correlations_near_those_of_the_population():
    """The error of a sample falls as 1/sqrt(N)."""
    rng = np.random.default_rng(0)
    true = np.array([0.9, 0.5, 0.2])
    mixed, mixed_y = rng.normal(size=(2, 3, 3))
    for n in (1_000, 100_000):
        z, noise = rng.normal(size=(2, n, 3))
        Y = (z * true + noise * np.sqrt(1 - true**2)) @ mixed_y
        cca = CCA(3).fit(z @ mixed, Y)
        assert_allclose(cca.correlations_, true, atol=5 / np.sqrt(n))


# What can go wrong --------------------------------------------------------------------------------


def test_more_components_than_the_rank():
    X, Y = gaussian_pair(np.random.default_rng(0))
    with pytest.raises(ParameterError, match=r"largest possible value is 4.*lower n_components"):
        CCA(5).fit(X, Y)
    with pytest.raises(ParameterError, match="largest possible value is 2"):
        CCA(3).fit(np.c_[X[:, :2], X[:, :2] @ [[1.0, 2.0], [3.0, 4.0]]], Y)
    one_hot_X, one_hot_Y = one_hot_pair(np.random.default_rng(0))
    with pytest.raises(ParameterError, match="largest possible value is 4"):
        CCA(5).fit(one_hot_X, one_hot_Y)
    assert CCA(5, center=False).fit(one_hot_X, one_hot_Y).correlations_.shape == (5,)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e7])
@pytest.mark.parametrize("as_form", [np.asarray, csr_array])
@pytest.mark.parametrize("r", [0.0, 1.0])
def test_constant_columns_have_weight_zero(value, as_form, r):
    X, Y = gaussian_pair(np.random.default_rng(0), n=103)
    with_constant = CCA(2, regularization=r).fit(as_form(np.c_[X, np.full(len(X), value)]), Y)
    assert not with_constant.x_weights_[-1].any()
    assert with_constant.diagnostics_["x"]["constant_columns"] == 1
    plain = CCA(2, regularization=r).fit(X, Y)
    assert_allclose(with_constant.x_weights_[:-1], plain.x_weights_, atol=1e-7)


@pytest.mark.parametrize("as_form", [np.asarray, csr_array])
def test_a_view_without_variance_is_an_error(as_form):
    X = np.random.default_rng(0).normal(size=(20, 2))
    for constant in (np.zeros((20, 3)), np.ones((20, 1))):
        with pytest.raises(ParameterError, match="no column of Y varies"):
            CCA(1).fit(X, as_form(constant))


def test_fewer_samples_than_dimensions_is_a_warning_with_its_remedy():
    X, Y = np.random.default_rng(0).normal(size=(2, 12, 8))
    with pytest.warns(UserWarning, match=r"5 correlations are 1 whatever.*regularization > 0"):
        cca = CCA(6).fit(X, Y)
    assert_allclose(cca.correlations_[:5], 1, atol=1e-10)
    assert cca.correlations_[5] < 1 - 1e-6
    assert np.all(CCA(6, regularization=0.5).fit(X, Y).correlations_ < 0.99)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_components": 0},
        {"n_components": 1.5},
        {"n_components": True},
        {"regularization": -1.0},
        {"regularization": np.nan},
        {"regularization": "much"},
    ],
)
def test_parameters_out_of_range(parameters):
    X, Y = gaussian_pair(np.random.default_rng(0))
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        CCA(**parameters).fit(X, Y)


@pytest.mark.parametrize("as_form", [np.asarray, csr_array])
def test_bad_input_is_a_value_error(as_form):
    X, Y = gaussian_pair(np.random.default_rng(0))
    cca = CCA(1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cca.fit(as_form(X), as_form(Y[:-1]))
    for bad in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[3, 1] = bad
        for pair in ((spoilt, Y), (Y, spoilt)):
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                cca.fit(as_form(pair[0]), as_form(pair[1]))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        cca.fit(as_form(X[:1]), as_form(Y[:1]))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        cca.fit(as_form(X[:0]), as_form(Y[:0]))
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        cca.fit(as_form(X), as_form(Y[:, :0]))
    with pytest.raises(ParameterError, match="target y is None"):
        cca.fit(as_form(X), None)
    cca.fit(as_form(X), as_form(Y))
    with pytest.raises(ValueError, match="expecting 5 features"):
        cca.transform(as_form(X[:, :3]))
    with pytest.raises(ParameterError, match="Y has 3 columns, but CCA was fitted with 4"):
        cca.transform(as_form(X), as_form(Y[:, :3]))


# The estimator ------------------------------------------------------------------------------------


def test_score_adds_up_the_correlations():
    rng = np.random.default_rng(0)
    X, Y = gaussian_pair(rng)
    cca = CCA(2).fit(X, Y)
    assert np.isclose(cca.score(X, Y), cca.correlations_.sum())
    a, b = cca.transform(X[:50], Y[:50])
    assert np.isclose(
        cca.score(X[:50], Y[:50]), sum(np.corrcoef(a[:, k], b[:, k])[0, 1] for k in range(2))
    )
    assert cca.set_output(transform="pandas").score(X, Y) == CCA(2).fit(X, Y).score(X, Y)
    assert cca.score(X[:1], Y[:1]) == 0  # nothing varies
    with pytest.raises(ParameterError, match="both views"):
        cca.score(X)


def test_a_search_prefers_the_number_of_pairs_that_is_there():
    rng = np.random.default_rng(0)
    h = rng.standard_normal((400, 2))
    X = np.c_[h, rng.standard_normal((400, 20))]
    Y = np.c_[h + 0.1 * rng.standard_normal((400, 2)), rng.standard_normal((400, 20))]
    search = GridSearchCV(CCA(), {"n_components": [1, 2]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"n_components": 2}
    assert search.best_score_ > 1.9


@parametrize_with_checks([CCA(n_components=1), CCA(n_components=1, regularization=0.1)])
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_fit_transform_is_fit_then_transform():
    X, Y = gaussian_pair(np.random.default_rng(0))
    cca = CCA(2)
    for ours, expected in zip(cca.fit_transform(X, Y), CCA(2).fit(X, Y).transform(X, Y)):
        assert np.array_equal(ours, expected)
    assert np.array_equal(cca.fit_transform(X, y=Y)[0], cca.transform(X))
    assert list(cca.get_feature_names_out()) == ["cca0", "cca1"]


@pytest.mark.parametrize("random_state", [0, 1, 2**31, None])
def test_any_seed_gives_the_same_answer(random_state):
    X, Y = one_hot_pair(np.random.default_rng(5), n=3000, d=60, d2=50)
    assert_same_answer(CCA(2, random_state=random_state).fit(X, Y), CCA(2).fit(X, Y), rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_signs_are_decided_by_the_largest_x_weight(seed):
    X, Y = gaussian_pair(np.random.default_rng(seed))
    A = CCA(3).fit(X, Y).x_weights_
    assert np.all(A[np.abs(A).argmax(axis=0), range(3)] > 0)
    assert_allclose(CCA(3).fit(-X, Y).x_weights_, A, atol=1e-9)


def test_diagnostics_are_plain_and_tell_what_was_cut():
    X, Y = gaussian_pair(np.random.default_rng(0))
    X = np.c_[X, X[:, 0] - X[:, 1], np.ones(len(X)), np.zeros(len(X))]
    cca = CCA(2, regularization=0.0).fit(X, Y)
    diagnostics = json.loads(json.dumps(cca.diagnostics_))
    assert diagnostics == cca.diagnostics_
    assert diagnostics["correlations"] == cca.correlations_.tolist()
    assert len(diagnostics["next_correlations"]) == 2
    condition = diagnostics["x"].pop("condition_number")
    assert 1 < condition < 1e6
    assert diagnostics["x"] == {
        "form": "dense",
        "columns": 8,
        "constant_columns": 2,
        "null_directions": 1,
        "rank": 5,
    }


def test_docstring_example_runs():
    assert doctest.testmod(module) == (0, 10)


def findings(X, Y, **settings):
    return CCA(2, **settings).fit(X, Y).findings()


def test_findings_of_good_views_are_notes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    Y = X @ rng.standard_normal((4, 3)) + rng.standard_normal((300, 3))
    found = findings(X, Y)
    assert [one.severity for one in found] == ["note"]
    assert "The 2 pairs of directions correlate with 0." in found[0].sentence


def test_findings_of_too_few_samples_are_a_problem_first():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((10, 6)), rng.standard_normal((10, 5))
    with pytest.warns(UserWarning, match="whatever the data"):
        first, *_ = findings(X, Y)
    assert first.severity == "problem"
    assert "11 directions for 10 samples" in first.sentence
    assert "regularization" in first.remedy
    assert all(one.severity == "note" for one in findings(X, Y, regularization=0.1))


def test_findings_of_columns_that_do_not_vary_or_depend_on_each_other():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((200, 3)), rng.standard_normal((200, 2))
    nearly = X[:, :1] + 1e-5 * rng.standard_normal((200, 1))
    found = findings(np.hstack([X, np.ones((200, 1)), nearly]), Y)
    assert "1 of 5 directions of X do not vary" in " ".join(one.sentence for one in found)
    assert found[0].severity == "warning"
    assert "The columns of X nearly depend on each other" in found[0].sentence


def test_findings_need_a_fit():
    with pytest.raises(NotFittedError):
        CCA().findings()
