"""The two products, against NumPy, compiled and not."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import config, njit

from eigentext.sequences import _row_loops
from eigentext.sequences._row_loops import WIDTH, add_outer, padded, row_times

SIZES = [(1, 1), (3, 16), (7, 17), (16, 16), (20, 33), (5, 64)]


@njit
def times(x, M, out, n_rows, n_columns):
    row_times(x, M, out, n_rows, n_columns)


@njit
def add(x, y, M, n_rows, n_columns):
    add_outer(x, y, M, n_rows, n_columns)


def test_padding():
    M = np.arange(6.0).reshape(2, 3)
    wide = padded(M)
    assert wide.shape == (2, WIDTH)
    assert np.array_equal(wide[:, :3], M)
    assert not wide[:, 3:].any()
    assert padded(np.ones((3, 2 * WIDTH))).shape == (3, 2 * WIDTH)


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_products(rows, columns):
    rng = np.random.default_rng(rows)
    M, x = padded(rng.standard_normal((rows, columns))), rng.standard_normal(rows)
    width = M.shape[1]
    out = np.full(width + 3, np.nan)
    times(x, M, out, rows, width)
    assert np.allclose(out[:width], x @ M, rtol=1e-14, atol=1e-14)
    assert np.isnan(out[width:]).all()
    y = rng.standard_normal(width)
    total = np.vstack([M, np.ones(width)])  # a row that is not to change
    add(x, y, total, rows, width)
    assert np.allclose(total[:rows], M + np.outer(x, y), rtol=1e-14, atol=1e-14)
    assert (total[rows:] == 1).all()


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_the_plain_ones(rows, columns):
    rng = np.random.default_rng(rows)
    M, x = padded(rng.standard_normal((rows, columns))), rng.standard_normal(rows + 2)
    width = M.shape[1]
    out = np.zeros(width)
    _row_loops._plain_row_times(x, M, out, rows, width)
    assert np.allclose(out, [sum(x[h] * M[h, k] for h in range(rows)) for k in range(width)])
    total = M.copy()
    _row_loops._plain_add_outer(x, out, total, rows, width)
    assert np.allclose(total, M + x[:rows, None] * out)


def test_only_rows_asked_for_count():
    M, x, out = np.ones((4, WIDTH)), np.arange(1.0, 5.0), np.zeros(WIDTH)
    times(x, M, out, 2, WIDTH)
    assert (out == 3).all()


@pytest.mark.skipif(config.DISABLE_JIT, reason="NumPy adds up as it likes")
def test_sums_are_in_the_order_of_the_rows():
    # 1 + 1e16 rounds to 1e16: in this order the last 1 is left, in others none or 2.
    x, out = np.array([1.0, 1e16, -1e16, 1.0]), np.zeros(WIDTH)
    times(x, np.ones((4, WIDTH)), out, 4, WIDTH)
    assert (out == 1).all()


def test_without_compilation():
    code = """
from numba import config
from eigentext import HMM
from eigentext.sequences import _row_loops
plain = _row_loops._plain_row_times, _row_loops._plain_add_outer
assert ((_row_loops.row_times, _row_loops.add_outer) == plain) == config.DISABLE_JIT
hmm = HMM.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]], [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
data = hmm.sample(30, 6)
fitted = HMM(2, method="em", n_init=1, n_iter=6).fit(data)
print(repr(float(fitted.score_samples(data).sum())))
"""
    sums = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        sums.append(float(done.stdout))
    assert sums[0] == pytest.approx(sums[1], rel=1e-9)
