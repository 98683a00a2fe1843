"""Steps 1 and 2 of the template against their formulas, written out with dense arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.words.template import SCALINGS, TRANSFORMS, scaled_counts

POWERS = {"none": 1, "two-thirds": 2 / 3, "sqrt": 1 / 2}


def omega_by_hand(C, transform, scaling, alpha):
    """Figure 2 of seed 002, for counts without empty rows and columns."""
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
