"""Nearest neighbors against brute force: every way, any shape, ties, and the errors."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.words import neighbors
from eigentext.words._neighbor_loops import quantize_rows
from eigentext.words.neighbors import Neighbors

# Up to _FEW queries the first look is at codes, or at plain products in the first _EARLY searches;
# beyond, it is at products in blocks. All must be exact.
WAYS = pytest.mark.parametrize(
    ("few", "early"), [(0, 0), (1000, 0), (1000, 4)], ids=["products", "codes", "early"]
)


def brute_force(V, Q, topn, leave_out=None):
    """All cosines in float64, rounded; a stable sort leaves ties in the order of the rows."""
    V, Q = (np.asarray(rows, np.float64) for rows in (V, Q))
    V, Q = (rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None] for rows in (V, Q))
    cosines = Q @ V.T
    for row, unwanted in zip(cosines, leave_out if leave_out is not None else [[]] * len(Q)):
        row[[place for place in unwanted if place >= 0]] = -np.inf
    order = np.argsort(-cosines.astype(np.float32), axis=1, kind="stable")[:, :topn]
    best = np.take_along_axis(cosines, order, axis=1)
    return np.where(np.isneginf(best), -1, order), best


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def way(monkeypatch, few, early):
    monkeypatch.setattr(neighbors, "_FEW", few)
    monkeypatch.setattr(neighbors, "_EARLY", early)


def test_by_hand():
    V = np.array([[3, 4], [0, 0], [1, 0], [-1, 0], [2, 0]])
    rows, cosines = Neighbors(V).search([[1, 0], [0, -7]], topn=4)
    assert rows.tolist() == [[2, 4, 0, 1], [1, 2, 3, 4]]  # equal cosines: the earlier row first
    assert np.allclose(cosines, [[1, 1, 0.6, 0], [0, 0, 0, 0]])
    assert rows.dtype == np.int64
    assert cosines.dtype == np.float32


@WAYS
@pytest.mark.parametrize("n", [1, 7, 20_000])
@pytest.mark.parametrize("topn", [1, 10, 50])
def test_random_vectors(way, n, topn):
    rng = np.random.default_rng(0)
    V = unit(rng.standard_normal((n, 37)))
    Q = rng.standard_normal((9, 37))
    expected_rows, expected = brute_force(V, Q, topn)
    rows, cosines = Neighbors(V).search(Q, topn)
    assert np.array_equal(rows, expected_rows)
    assert np.allclose(cosines, expected, atol=1e-7)


@WAYS
def test_near_ties_are_distinguished(way):
    """Rows that 8 bits, and sums in float32, cannot put in order."""
    rng = np.random.default_rng(0)
    centre = rng.standard_normal(300)
    V = unit(centre + 1e-5 * rng.standard_normal((3000, 300)))
    Q = unit(centre + 0.01 * rng.standard_normal((3, 300)))
    rows, cosines = Neighbors(V).search(Q, 20)
    exact = Q.astype(np.float64) @ V.T.astype(np.float64)
    exact /= np.linalg.norm(V.astype(np.float64), axis=1)
    exact = (exact / np.linalg.norm(Q.astype(np.float64), axis=1)[:, None]).astype(np.float32)
    assert np.array_equal(rows, np.argsort(-exact, axis=1, kind="stable")[:, :20])
    assert np.array_equal(cosines, np.take_along_axis(exact, rows, axis=1))


@given(st.data())
@pytest.mark.parametrize("method", ["products", "codes", "early"])
def test_any_shape_and_ties(method, data):
    n, d, q, k = (data.draw(st.integers(0, 12)) for _ in range(4))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))

    def draw(n_rows):
        """Entries of four times 1, or none: of length 2 or 0, all cosines are quarters."""
        rows = np.zeros((n_rows, 4 + d))
        rows[:, :4] = rng.choice([-1, 1], (n_rows, 4)) * (rng.random((n_rows, 1)) < 0.8)
        return rng.permuted(rows, axis=1)

    V, Q = draw(n), draw(q)
    topn = data.draw(st.integers(0, 15))
    leave_out = rng.integers(-1, max(n, 1), (q, k)) if n else np.full((q, k), -1)
    before = neighbors._FEW, neighbors._EARLY
    try:
        neighbors._FEW, neighbors._EARLY = 1000 * (method != "products"), 4 * (method == "early")
        rows, cosines = Neighbors(V).search(Q, topn, leave_out=leave_out)
    finally:
        neighbors._FEW, neighbors._EARLY = before
    expected_rows, expected = brute_force(V, Q, topn, leave_out)
    assert rows.shape == (q, min(topn, n))
    assert np.array_equal(rows, expected_rows)
    assert np.array_equal(cosines, expected)


@WAYS
def test_rows_of_any_scale_and_type(way):
    rng = np.random.default_rng(0)
    V = rng.standard_normal((50, 8))
    expected_rows, expected = brute_force(V, V[:4], 5)
    scales = 10.0 ** rng.integers(-100, 100, 50)[:, None]
    for rows in (V * scales, (V * 1e-42).astype(np.longdouble), np.asfortranarray(V)):
        found, cosines = Neighbors(rows).search(V[:4], 5)
        assert np.array_equal(found, expected_rows)
        assert np.allclose(cosines, expected, atol=1e-6)


@WAYS
def test_same_bits_on_any_number_of_threads(way):
    rng = np.random.default_rng(0)
    V = unit(rng.standard_normal((40_000, 20)))
    V[30_000:] = V[:10_000]  # ties, across the threads' borders
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            results.append(Neighbors(V).search(V[:5], 7))
    for rows, cosines in results[1:]:
        assert np.array_equal(results[0][0], rows)
        assert np.array_equal(results[0][1], cosines)
    assert results[0][0][:, :2].tolist() == [[row, row + 30_000] for row in range(5)]


def test_one_query_and_many_give_the_same_bits():
    rng = np.random.default_rng(0)
    V = unit(rng.standard_normal((5000, 50)))
    nearest = Neighbors(V)
    rows, cosines = nearest.search(V[:300], 10)
    for query in range(0, 300, 40):
        alone_rows, alone = nearest.search(V[query : query + 1], 10)
        assert np.array_equal(alone_rows[0], rows[query])
        assert np.array_equal(alone[0], cosines[query])


def test_many_dimensions_do_not_overflow_the_codes():
    V = np.ones((2, 30_000))
    V[0, ::2] = -1
    rows, cosines = Neighbors(V).search([np.ones(30_000)], 2)
    assert rows.tolist() == [[1, 0]]
    assert np.allclose(cosines, [[1, 0]])


def test_left_out_rows_give_their_places_to_others():
    V = np.eye(4)
    nearest = Neighbors(V)
    rows, cosines = nearest.search(V[:2], 2, leave_out=[[0, -1, 0], [1, 2, 3]])
    assert rows.tolist() == [[1, 2], [0, -1]]
    assert cosines.tolist() == [[0, 0], [0, -np.inf]]


def test_vectors_that_are_ready_are_not_copied():
    V = unit(np.random.default_rng(0).standard_normal((100, 10)))
    assert np.shares_memory(Neighbors(V).vectors, V)


def test_codes_are_within_their_error():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((50, 30)).astype(np.float32)
    V[7] = 0
    codes, scale, error = np.empty((50, 30), np.int8), np.empty(50), np.empty(50)
    quantize_rows(V, codes, scale, error, 0, 50)
    assert np.allclose(scale, np.abs(V).max(axis=1) / 127)
    step = np.where(scale > 0, scale, 1)[:, None]
    assert np.array_equal(codes, np.rint(V / step))
    assert np.allclose(error, np.linalg.norm(V - codes * scale[:, None], axis=1), atol=1e-7)


# faiss.


def test_faiss_finds_most_of_them():
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    V = unit(rng.standard_normal((3000, 16)))
    rows, cosines = Neighbors(V, method="faiss").search(V[:100], 10)
    expected_rows, expected = Neighbors(V).search(V[:100], 10)
    found = [len(set(a) & set(b)) for a, b in zip(rows, expected_rows)]
    assert np.mean(found) > 9.5
    # Those found carry the same cosines, bit for bit, and stand in the same order.
    known = dict(zip(expected_rows[0], expected[0]))
    assert all(known.get(row, cosine) == cosine for row, cosine in zip(rows[0], cosines[0]))
    assert (np.diff(cosines, axis=1) <= 0).all()


def test_faiss_is_reproducible_and_leaves_threads_alone():
    faiss = pytest.importorskip("faiss")
    V = np.random.default_rng(0).standard_normal((2000, 8))
    before = faiss.omp_get_max_threads()
    one, two = (Neighbors(V, method="faiss", random_state=3).search(V[:50], 5) for _ in range(2))
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])
    assert faiss.omp_get_max_threads() == before


def test_faiss_with_few_rows_and_some_left_out():
    pytest.importorskip("faiss")
    nearest = Neighbors(np.eye(3), method="faiss")
    rows, cosines = nearest.search([[3, 2, 1]], 10, leave_out=[[1]])
    assert rows.tolist() == [[0, 2, -1]]
    assert np.isneginf(cosines[0, 2])
    assert Neighbors(np.empty((0, 3)), method="faiss").search([[1, 0, 0]])[0].shape == (1, 0)


def test_faiss_missing_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ParameterError, match=r"pip install eigentext\[faiss\]"):
        Neighbors(np.eye(3), method="faiss")
    Neighbors(np.eye(3), method="auto")


# Errors.


def test_bad_input():
    V = np.eye(3)
    with pytest.raises(ParameterError, match="'auto', 'exact' or 'faiss', not 'annoy'"):
        Neighbors(V, method="annoy")
    with pytest.raises(ParameterError, match=r"vectors must be .* of shape \(3,\)"):
        Neighbors(V[0])
    with pytest.raises(ParameterError, match="vectors must be numbers"):
        Neighbors([["a"]])
    with pytest.raises(ParameterError, match="vectors: row 2 is not finite"):
        Neighbors([[1, 0], [0, 1], [np.nan, 0]])
    nearest = Neighbors(V)
    with pytest.raises(ParameterError, match="queries: row 0 is not finite"):
        nearest.search([[np.inf, 0, 0]])
    with pytest.raises(ParameterError, match="queries of 2 dimensions, but the vectors have 3"):
        nearest.search([[1, 0]])
    with pytest.raises(ParameterError, match=r"queries must be .* of shape \(3,\)"):
        nearest.search(V[0])
    for topn in (-1, 1.5, True, None):
        with pytest.raises(ParameterError, match="topn must be a whole number, 0 or more, not "):
            nearest.search(V, topn)
    for leave_out in ([0], [[0]], [[0.5]] * 3):
        with pytest.raises(ParameterError, match=r"leave_out must be .* of shape \(3, k\)"):
            nearest.search(V, leave_out=leave_out)
    with pytest.raises(ParameterError, match="leave_out must be from 0 to 2, or -1"):
        nearest.search(V, leave_out=[[3]] * 3)
