"""Numbers in 16 bits: NumPy's half precision of 32768 x, and back."""

import numpy as np

from eigentext.factor import _half_loops as loops


def narrowed(X):
    out, row = np.empty(X.shape, np.uint16), np.empty(X.shape[1], np.float32)
    loops.narrow(X, (row, row.view(np.uint32)), out)
    return out


def test_both_ways_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((8, 9)) * 10.0 ** rng.integers(-9, 0, (8, 9))).astype(np.float32)
    X = np.clip(X, -1, 1)
    X[0] = [1, -1, 0, -0.0, 1e-9, -1e-11, 2**-15, (1 + 2**-11) / 2, (1 + 3 * 2**-11) / 2]
    expected = (X * np.float32(32768)).astype(np.float16)
    half = narrowed(X)
    assert np.array_equal(half, expected.view(np.uint16))
    out = np.empty((3, 5), np.float32)
    loops.widen(half, 2, 4, out, out.view(np.uint32))
    assert np.array_equal(out, expected[2:5, 4:].astype(np.float32) / 32768)


def test_what_was_rounded_stays():
    X = np.linspace(-1, 1, 70, dtype=np.float32).reshape(7, 10)
    half = narrowed(X)
    out = np.empty(X.shape, np.float32)
    loops.widen(half, 0, 0, out, out.view(np.uint32))
    assert np.abs(out - X).max() <= 2.0**-12
    assert np.array_equal(narrowed(out), half)
