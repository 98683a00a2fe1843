"""The template's steps against their formulas, written out with dense arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import CooccurrenceMoments, engine
from eigentext.errors import ParameterError
from eigentext.words.template import (
    SCALINGS,
    TRANSFORMS,
    decomposed,
    factored_counts,
    scaled_counts,
)

POWERS = {"none": 1, "two-thirds": 2 / 3, "sqrt": 1 / 2}


def omega_by_hand(C, transform, scaling, alpha):
    """Figure 2 of Stratos et al. (2015), for counts without empty rows and columns."""
    t = np.log1p if transform == "log" else lambda x: x ** POWERS[transform]
    wc, w, c = t(C), t(C.sum(axis=1, keepdims=True)), t(C.sum(axis=0, keepdims=True))
    N = (c**alpha).sum()
    match scaling:
        case "none":
            return wc
        case "reg":
            return wc / w
        case "ppmi":
            with np.errstate(divide="ignore"):
                return np.maximum(np.log(wc * N / (w * c**alpha)), 0)
        case "cca":
            return wc / np.sqrt(w * c**alpha) * np.sqrt(N / c.sum())


@pytest.fixture
def counts():
    C = np.random.default_rng(0).poisson(0.7, (30, 40))
    C[:, 0] = C[0] = 1  # no empty row or column
    return C


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("alpha", [1, 0.75, 0])
def test_every_cell_of_the_template(counts, transform, scaling, alpha):
    expected = omega_by_hand(counts.astype(float), transform, scaling, alpha)
    settings = {"transform": transform, "scaling": scaling, "alpha": alpha}
    single = scaled_counts(sp.csr_array(counts), **settings)
    assert single.dtype == np.float32
    assert np.allclose(single.toarray(), expected, rtol=1e-4, atol=1e-6)
    double = scaled_counts(sp.csr_array(60 * counts), **settings, unit=60, dtype=np.float64)
    assert np.allclose(double.toarray(), expected, rtol=1e-12, atol=1e-12)


def test_ppmi_keeps_positive_entries_only(counts):
    Omega = scaled_counts(sp.csr_array(counts), transform="none", scaling="ppmi")
    assert (Omega.data > 0).all()
    assert Omega.nnz < (counts > 0).sum()


@pytest.mark.parametrize("scaling", SCALINGS)
def test_empty_rows_and_columns_stay_empty(counts, scaling):
    counts[3] = counts[:, 5] = 0
    Omega = scaled_counts(sp.csr_array(counts), scaling=scaling).toarray()
    assert np.isfinite(Omega).all()
    assert not Omega[3].any()
    assert not Omega[:, 5].any()


def test_same_bits_on_any_number_of_threads(counts):
    counts = sp.csr_array(np.tile(counts, (200, 10)))
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            results.append(scaled_counts(counts).data)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_bad_parameters(counts):
    for bad in ({"transform": "cube"}, {"scaling": "tfidf"}, {"alpha": 2}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            scaled_counts(sp.csr_array(counts), **bad)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("scaling", [scaling for scaling in SCALINGS if scaling != "ppmi"])
@pytest.mark.parametrize("context", ["bag", "list"])
def test_three_parts_multiply_out(zipf_lines, transform, scaling, context):
    moments = CooccurrenceMoments.from_corpus(zipf_lines(60), window=3, context=context)
    settings = {"transform": transform, "scaling": scaling, "alpha": 0.75, "dtype": np.float64}
    left, T, right = factored_counts(moments, **settings)
    Omega = scaled_counts(moments.counts(), unit=moments.unit, **settings)
    assert np.allclose(left[:, None] * T.toarray() * right, Omega.toarray())
    if context == "bag":
        assert np.array_equal(T.toarray(), T.toarray().T)


def test_ppmi_has_no_three_parts(zipf_lines):
    moments = CooccurrenceMoments.from_corpus(zipf_lines(20))
    with pytest.raises(ParameterError, match="use scaled_counts"):
        factored_counts(moments, scaling="ppmi")


@pytest.mark.parametrize("scaling", SCALINGS)
def test_counts_are_left_alone(counts, scaling):
    C = sp.csr_array(counts)
    before = [C.data.copy(), C.indices.copy(), C.indptr.copy()]
    Omega = scaled_counts(C, scaling=scaling)
    Omega.data *= 2
    for part, expected in zip((C.data, C.indices, C.indptr), before):
        assert np.array_equal(part, expected)


def test_decomposed(counts):
    U, s, Vt, told = decomposed(sp.csr_array(counts * 1.0), 7, right=True)
    exact = np.linalg.svd(counts, compute_uv=False)
    assert np.allclose(s, exact[:7])
    assert np.allclose((U * s) @ Vt @ Vt.T, counts @ Vt.T)
    assert np.allclose(told["singular_values"] + told["dropped_singular_values"], exact[:12])
    assert np.isclose(told["condition"], exact[0] / exact[6])
    assert decomposed(sp.csr_array(counts * 1.0), 7)[2].shape == (0, 40)
    with pytest.raises(ParameterError, match="only 30 words; use 30 or less"):
        decomposed(sp.csr_array(counts), 31)


def wide(singular_values, n_columns=1_000_000, dtype=np.float32):
    """A sparse matrix with rows of separate columns, turned a little: its spectrum is known."""
    n = len(singular_values)
    rng = np.random.default_rng(0)
    per_row = 5000  # other columns are empty: the limit goes by the shape
    rotation = np.linalg.qr(rng.normal(size=(n, n)))[0]
    signs = rng.choice([-1.0, 1.0], n * per_row)
    own = sp.csr_array(
        (signs / np.sqrt(per_row), (np.repeat(np.arange(n), per_row), np.arange(n * per_row))),
        shape=(n, n_columns),
    )
    return sp.csr_array(sp.csr_array(rotation * singular_values) @ own, dtype=dtype)


def test_wide_counts_keep_their_rank_in_single_precision():
    # With max(shape) * eps = 0.12 as the limit, most of these counted as nothing.
    exact = np.geomspace(1, 0.03, 20)
    _, s, _, told = decomposed(wide(exact), 20)
    assert s.dtype == np.float32
    assert np.allclose(s, exact, rtol=1e-3)
    assert np.isclose(told["condition"], 1 / 0.03, rtol=1e-3)


def test_wide_counts_of_a_lower_rank_are_refused():
    Omega = wide(np.concatenate([np.geomspace(1, 0.03, 15), np.zeros(5)]))
    assert np.allclose(decomposed(Omega, 15)[1], np.geomspace(1, 0.03, 15), rtol=1e-3)
    with pytest.raises(ParameterError, match="the counts have rank 15; use 15 or less"):
        decomposed(Omega, 16)
