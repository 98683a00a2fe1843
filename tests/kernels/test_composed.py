"""Kernels made of kernels: matrix, diagonal and scores equal the formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from eigentext.errors import ParameterError
from eigentext.kernels import Candidate, LinearKernel, PolynomialKernel

first, second = LinearKernel(), PolynomialKernel(2)
rng = np.random.default_rng(0)
X, L = rng.normal(size=(30, 4)), -10 * rng.random(30)
CANDIDATES = [Candidate(x, log) for x, log in zip(X, L)]
A, B = X @ X.T, (1 + X @ X.T) ** 2
LL = np.outer(L, L)


def scaled(K):
    root = np.sqrt(np.diag(K))
    return K / root / root[:, None]


COMPOSED = {
    "sum": (first + second, A + B),
    "product": (first * second, A * B),
    "scaled": (2.5 * first, 2.5 * A),
    "scaled on the right": (second * 3, 3 * B),
    "normalized": (second.normalized(), scaled(B)),
    "baseline": (first.with_baseline(0.3), 0.3 * LL + A),
    "no baseline": (first.with_baseline(0), A),
    "sum of baselines": (
        first.with_baseline(0.3) + second.with_baseline(0.2),
        0.5 * LL + A + B,
    ),
    "scaled baseline": (2.0 * first.with_baseline(0.3), 0.6 * LL + 2 * A),
    "product with a baseline": (first.with_baseline(1) * second, (LL + A) * B),
    "normalized baseline": (first.with_baseline(0.3).normalized(), scaled(0.3 * LL + A)),
    "baseline of a normalized sum": (
        (first.normalized() + second).normalized().with_baseline(2),
        2 * LL + scaled(scaled(A) + B),
    ),
}


@pytest.mark.parametrize(("kernel", "expected"), COMPOSED.values(), ids=COMPOSED)
def test_equals_its_formula(kernel, expected):
    encoded = kernel.encode(CANDIDATES)
    assert len(encoded) == 30
    which = np.array([3, 17, 4])
    alpha = rng.normal(size=30)
    for given_as in (CANDIDATES, encoded):
        np.testing.assert_allclose(kernel.gram(given_as), expected, rtol=1e-9)
        np.testing.assert_allclose(kernel.diagonal(given_as), np.diag(expected), rtol=1e-9)
    np.testing.assert_allclose(
        kernel.gram(encoded[5:9], encoded[which]), expected[5:9][:, which], rtol=1e-9
    )
    np.testing.assert_allclose(
        kernel.scores(encoded, alpha, encoded[which]), alpha @ expected[:, which], rtol=1e-8
    )
    np.testing.assert_allclose(kernel(CANDIDATES[0], CANDIDATES[1]), expected[0, 1], rtol=1e-9)
    values = np.linalg.eigvalsh(kernel.gram(encoded))
    assert values.min() > -1e-10 * values.max()
    copy = clone(kernel)
    assert repr(copy) == repr(kernel)
    assert (copy.gram(CANDIDATES) == kernel.gram(CANDIDATES)).all()


numbers = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=8)


@given(numbers)
def test_identity_is_of_structure_and_log_probability(pairs):
    candidates = [Candidate([float(value)], float(-log)) for value, log in pairs]
    for kernel, keys in (
        (first + second, [value for value, _ in pairs]),
        (first * second, [value for value, _ in pairs]),
        (2.0 * first, [value for value, _ in pairs]),
        (first.normalized(), [value for value, _ in pairs]),
        (first.with_baseline(1), pairs),
        (first + second.with_baseline(1), pairs),
    ):
        identity = kernel.encode(candidates).identity
        for i, key in enumerate(keys):
            assert (identity == identity[i]).tolist() == [key == other for other in keys]


def test_a_structure_without_features_has_norm_zero():
    K = first.normalized()
    assert K.gram([{}, {"a": 2}]).tolist() == [[0, 0], [0, 1]]
    assert K.diagonal([{}, {"a": 2}]).tolist() == [0, 1]


def test_no_structures():
    for kernel, _ in COMPOSED.values():
        assert kernel.gram([], CANDIDATES).shape == (0, 30)
        assert len(kernel.encode([]).identity) == 0


@pytest.mark.parametrize("scale", [0, -1.0, np.nan, np.inf, "2", None])
def test_factors_that_are_refused(scale):
    with pytest.raises(ParameterError, match="scale must be a number, above 0, not"):
        scale * first
    if scale != 0:
        with pytest.raises(ParameterError, match="beta must be a number, 0 or more, not"):
            first.with_baseline(scale)


def test_a_baseline_needs_log_probabilities():
    K = first.with_baseline(1.0)
    with pytest.raises(ParameterError, match="structure 1 has no log-probability; give Candidate"):
        K.gram([CANDIDATES[0], X[1]])
    with pytest.raises(ParameterError, match="structure 0 has an infinite log-probability"):
        K.gram([Candidate(X[0], -np.inf)])
    with pytest.raises(ParameterError, match="structure 0 has no log-probability"):
        (first + K).gram(X)
    with pytest.raises(ParameterError, match="a list of structures, not one"):
        K.gram("(S x)")
