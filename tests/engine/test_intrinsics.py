"""Each function of LLVM instructions equals its plain twin, and the twin can take its place."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import config, njit

from eigentext.engine import intrinsics
from eigentext.engine.intrinsics import PANEL, PLAIN, ROW_GROUP, ROW_WIDTH, TOPIC_WIDTH

SIZES = [(1, 16), (3, 16), (7, 32), (16, 16), (20, 48), (5, 64)]
compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="needs compiled loops")


def compiled():
    """Each function inside a compiled loop, compiled anew."""
    prefetch, sum_rows = intrinsics.prefetch, intrinsics.sum_rows
    add_coded, spread_coded = intrinsics.add_coded, intrinsics.spread_coded
    row_times, add_products, dot = intrinsics.row_times, intrinsics.add_products, intrinsics.dot
    times, add_times = intrinsics.times, intrinsics.add_times
    add_multiple = intrinsics.add_multiple
    weigh, add_scaled = intrinsics.weigh, intrinsics.add_scaled
    return {
        "prefetch": njit(lambda array, place: prefetch(array, place)),
        "sum_rows": njit(lambda i, d, X, out, a, b, r: sum_rows(i, d, X, out, a, b, r)),
        "add_coded": njit(
            lambda c, k, t, X, out, a, b, r, s, e: add_coded(c, k, t, X, out, a, b, r, s, e)
        ),
        "spread_coded": njit(
            lambda c, k, t, X, out, a, b, r, s, e: spread_coded(c, k, t, X, out, a, b, r, s, e)
        ),
        "row_times": njit(lambda x, M, out, n, w: row_times(x, M, out, n, w)),
        "add_products": njit(lambda X, Y, M, a, b, n, w: add_products(X, Y, M, a, b, n, w)),
        "dot": njit(lambda x, y, n: dot(x, y, n)),
        "times": njit(lambda x, y, factor, out, n: times(x, y, factor, out, n)),
        "add_times": njit(lambda x, y, out, n: add_times(x, y, out, n)),
        "add_multiple": njit(lambda factor, x, out, n: add_multiple(factor, x, out, n)),
        "weigh": njit(lambda m, phi, p, lanes, w, K: weigh(m, phi, p, lanes, w, K)),
        "add_scaled": njit(lambda f, p, E, w, K: add_scaled(f, p, E, w, K)),
    }


@pytest.fixture(scope="module")
def fast():
    return compiled()


def slow_build(*arguments, **options):
    raise NotImplementedError("no such instruction")


@pytest.fixture(scope="module")
def substituted():
    """The functions as they are where llvmlite cannot build the instructions."""
    with pytest.MonkeyPatch.context() as patch, pytest.warns(UserWarning, match="are slower"):
        patch.setattr(intrinsics, "_check_builds", slow_build)
        found = compiled()
        for problem in PROBLEMS.values():  # each type is compiled here
            for arguments in problem():
                found[arguments[0]](*arguments[1:])
    return found


# --- problems: the name of a function and its arguments -------------------------------------------


def prefetch_problems():
    for dtype in (np.int32, np.int64):
        for place in (0, 3, 10**9, -7):
            yield "prefetch", np.arange(5, dtype=dtype), place


def sum_rows_problems():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        for index in (np.int32, np.int64):
            X = rng.standard_normal((40, PANEL)).astype(dtype)
            indices = rng.integers(0, 40, 100).astype(index)
            data = rng.standard_normal(100).astype(dtype)
            for first, last in ((0, 100), (3, 4), (7, 7), (50, 83)):
                out = np.full((3, PANEL), 7, dtype)
                yield "sum_rows", indices, data, X, out, first, last, 1


def coded_problems():
    rng = np.random.default_rng(1)
    for dtype in (np.float32, np.float64):
        X = rng.standard_normal((40, PANEL)).astype(dtype)
        table = rng.standard_normal(20).astype(dtype)
        columns = rng.integers(0, 30, 100).astype(np.uint16)
        codes = rng.integers(0, 15, 100).astype(np.uint16)
        for first, last in ((0, 100), (3, 4), (7, 7), (50, 83)):
            for name in ("add_coded", "spread_coded"):
                out = np.full((40, PANEL), 7, dtype)
                yield name, columns, codes, table, X, out, first, last, 1, 10, 5


def row_problems():
    for rows, columns in SIZES:
        rng = np.random.default_rng(rows)
        M, x = rng.standard_normal((rows + 1, columns)), rng.standard_normal(rows + 2)
        yield "row_times", x, M, np.full(columns + 3, 7.0), rows, columns


def product_problems():
    for n, columns in SIZES:
        rng = np.random.default_rng(n)
        X, Y = rng.standard_normal((2, n + 2, columns))
        for rows in range(ROW_GROUP, columns, ROW_GROUP):
            M = rng.standard_normal((rows + 1, columns))
            yield "add_products", X, Y, M, 1, n + 1, rows, columns
        yield "dot", X[0], Y[1], columns
        out = rng.standard_normal(columns + 1)
        yield "times", X[0], Y[1], 0.7, out, columns
        yield "add_times", X[0], Y[1], out, columns
        yield "add_multiple", 0.7, X[0], out, columns


def topic_problems():
    for K in range(TOPIC_WIDTH, 6 * TOPIC_WIDTH, TOPIC_WIDTH):
        rng = np.random.default_rng(K)
        phi, m = rng.random((5, K)).astype(np.float32), rng.random(K).astype(np.float32)
        p, lanes = np.zeros(K, np.float32), np.zeros(TOPIC_WIDTH, np.float32)
        yield "weigh", m, phi, p, lanes, 3, K
        yield "add_scaled", np.float32(0.7), m, phi.copy(), 3, K


PROBLEMS = {
    "prefetch": prefetch_problems,
    "sum_rows": sum_rows_problems,
    "coded": coded_problems,
    "rows": row_problems,
    "products": product_problems,
    "topics": topic_problems,
}


def solved(function, arguments):
    """The answer and the arrays afterwards."""
    arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    return [function(*arguments), *arguments]


def assert_same(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        if mine is not None or theirs is not None:
            assert np.allclose(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_function_is_its_twin(fast, kind):
    for name, *arguments in PROBLEMS[kind]():
        assert_same(solved(fast[name], arguments), solved(PLAIN[name], arguments))


@compiled_only
@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_twin_takes_the_place_of_what_cannot_be_built(substituted, kind):
    for name, *arguments in PROBLEMS[kind]():
        assert_same(solved(substituted[name], arguments), solved(PLAIN[name], arguments))


# --- the twins, against the expressions that define them ------------------------------------------


def test_the_twins_of_matrix_products():
    for _, indices, data, X, out, first, last, row in sum_rows_problems():
        PLAIN["sum_rows"](indices, data, X, out, first, last, row)
        expected = data[first:last] @ X[indices[first:last]]
        assert np.allclose(out[row], expected, atol=1e-5)
        assert (out[[0, 2]] == 7).all()
    for name, columns, codes, table, X, out, first, last, row, shift, base in coded_problems():
        PLAIN[name](columns, codes, table, X, out, first, last, row, shift, base)
        places, numbers = columns[first:last] + shift, table[base + codes[first:last]]
        expected = np.full_like(out, 7)
        if name == "add_coded":
            expected[row] += numbers @ X[places]
        else:
            np.add.at(expected, places, numbers[:, None] * X[row])
        assert np.allclose(out, expected, atol=1e-4)
    for name, *arguments in row_problems():
        PLAIN[name](*arguments)
        x, other, out, rows, columns = arguments
        assert np.allclose(out[:columns], x[:rows] @ other[:rows])
        assert (out[columns:] == 7).all()
    for name, *arguments in product_problems():
        if name != "add_products":
            continue
        X, Y, M, first, last, rows, _ = arguments
        before = M.copy()
        PLAIN[name](*arguments)
        assert np.allclose(M[:rows], before[:rows] + X[first:last, :rows].T @ Y[first:last])
        assert np.array_equal(M[rows:], before[rows:])


def test_the_twins_of_rows():
    x, y, out = np.array([1.0, 2.0]), np.array([3.0, -1.0]), np.array([1.0, 1.0, 7.0])
    assert PLAIN["dot"](x, y, 2) == 1
    PLAIN["add_times"](x, y, out, 2)
    assert out.tolist() == [4, -1, 7]
    PLAIN["add_multiple"](2.0, x, out, 2)
    assert out.tolist() == [6, 3, 7]
    assert PLAIN["times"](x, y, 2.0, out, 2) == 2
    assert out.tolist() == [6, -4, 7]


def test_the_twins_of_loops_over_topics():
    for name, *arguments in topic_problems():
        if name == "weigh":
            m, phi, p, lanes, w, _ = arguments
            mass = PLAIN["weigh"](*arguments)
            assert np.array_equal(p, m * phi[w])
            assert np.allclose(lanes, p.reshape(-1, TOPIC_WIDTH).sum(axis=0), rtol=1e-6)
            assert mass == pytest.approx(float(p.sum()), rel=1e-6)
        else:
            factor, p, expected, w, _ = arguments
            before = expected.copy()
            PLAIN["add_scaled"](*arguments)
            before[w] += factor * p
            assert np.array_equal(expected, before)


@compiled_only
def test_sums_are_in_the_order_of_the_rows(fast):
    # 1 + 1e16 rounds to 1e16: in this order the last 1 remains, in others nothing or 2.
    x, out = np.array([1.0, 1e16, -1e16, 1.0]), np.zeros(ROW_WIDTH)
    fast["row_times"](x, np.ones((4, ROW_WIDTH)), out, 4, ROW_WIDTH)
    assert (out == 1).all()
    out = np.zeros((1, PANEL))
    fast["sum_rows"](np.zeros(4, np.int32), x, np.ones((1, PANEL)), out, 0, 4, 0)
    assert (out == 1).all()


@compiled_only
def test_the_instructions_can_be_built_here(fast, recwarn):
    for kind in PROBLEMS.values():
        for name, *arguments in kind():
            fast[name](*arguments)
    assert not [w for w in recwarn if "are slower" in str(w.message)]


def test_without_compilation_the_twins_are_used():
    code = """
from eigentext.engine import intrinsics
for name, plain in intrinsics.PLAIN.items():
    assert getattr(intrinsics, name) is plain
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
