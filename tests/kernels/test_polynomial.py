"""The polynomial kernel: the numbers of [Collins 2003], the explicit map, fast and slow ways."""

from collections import Counter
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import PolynomialKernel, engine
from eigentext.errors import ParameterError
from eigentext.kernels import Candidate, LinearKernel, polynomial

dictionaries = st.lists(
    st.dictionaries(st.sampled_from("abcd"), st.integers(-3, 3), max_size=4), max_size=6
)


def explicit(phi, degree):
    """Every product of `degree` of the features and 1, times the root of its multinomial."""
    features = [1.0, *phi]
    return np.array(
        [
            np.sqrt(factorial(degree) / prod(map(factorial, Counter(which).values())))
            * prod(features[j] for j in which)
            for which in combinations_with_replacement(range(len(features)), degree)
        ]
    )


def test_the_example_of_collins_2003():
    K = PolynomialKernel(degree=2)
    assert K([1, 3], [2, 4]) == 225
    assert K({"x": 1, "y": 3}, {"y": 4, "x": 2}) == 225
    assert K(([0, 1], [1, 3]), ([1, 0], [4, 2])) == 225
    r = np.sqrt(2)
    first, second = np.array([1, r, 3 * r, 1, 9, 3 * r]), np.array([1, 2 * r, 4 * r, 4, 16, 8 * r])
    assert first @ second == pytest.approx(225)
    assert sorted(explicit([1, 3], 2)) == pytest.approx(sorted(first))


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_equals_the_explicit_map(degree, d):
    X = np.random.default_rng(d).normal(size=(7, d))
    Phi = np.array([explicit(x, degree) for x in X])
    np.testing.assert_allclose(
        PolynomialKernel(degree).gram(X), Phi @ Phi.T, rtol=1e-12, atol=1e-12
    )


def test_gram_matrices_are_positive_semidefinite():
    X = np.random.default_rng(0).normal(size=(40, 3))
    for kernel in (LinearKernel(), PolynomialKernel(2), PolynomialKernel(5)):
        values = np.linalg.eigvalsh(kernel.gram(X))
        assert values.min() > -1e-12 * values.max()


@given(dictionaries, dictionaries, st.integers(1, 3))
def test_gram_diagonal_and_scores_of_separate_sets_agree(first, second, degree):
    for K, lift in (
        (LinearKernel(), lambda x: x),
        (PolynomialKernel(degree), lambda x: (1 + x) ** degree),
    ):
        slow = np.array(
            [[lift(sum(v * b.get(n, 0) for n, v in a.items())) for b in second] for a in first],
            float,
        ).reshape(len(first), len(second))
        A, B = K.encode(first), K.encode(second)
        assert (K.gram(A, B) == slow).all()
        assert (K.gram(B, A) == slow.T).all()
        assert (K.diagonal(A) == np.diag(K.gram(A))).all()
        alpha = np.arange(len(first)) - 1.0
        assert (K.scores(A, alpha, B) == alpha @ slow).all()


@pytest.mark.parametrize("dense", [False, True])
def test_the_same_bits_on_any_number_of_threads(dense, monkeypatch):
    monkeypatch.setattr(polynomial, "_ENTRIES", 500)
    monkeypatch.setattr(polynomial, "_FEW", 1000)
    X = np.random.default_rng(1).normal(size=(60, 8))
    structures = list(X) if dense else [dict(enumerate(x)) for x in X]
    K = PolynomialKernel(3)
    grams = []
    for n_threads in (1, 3):
        with engine.use(engine.ThreadEngine(n_threads)):
            grams.append(K.gram(structures, structures[:50]))
    assert (grams[0] == grams[1]).all()
    np.testing.assert_allclose(grams[0], (1 + X @ X[:50].T) ** 3, rtol=1e-9)


def test_phi_and_log_probabilities():
    K = LinearKernel(lambda text: Counter(text.split()))
    assert K("a rose is a rose", "a rose") == 4
    assert K(Candidate("a rose", -1.0), Candidate("a", -3.0)) == 1
    assert K.encode(["a b", "b a", "a"]).identity.tolist() == [0, 0, 1]
    assert PolynomialKernel(3, phi=len_and_one)("abc", "de") == (1 + 6 + 1) ** 3


def len_and_one(text):
    return [len(text), 1]


def test_params():
    K = PolynomialKernel(3, phi=len)
    assert K.get_params() == {"degree": 3, "phi": len}
    assert repr(PolynomialKernel(4)) == "PolynomialKernel(degree=4)"


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", True, None])
def test_degrees_that_are_refused(degree):
    with pytest.raises(ParameterError, match="degree must be a whole number, 1 or more, not"):
        PolynomialKernel(degree)([1.0], [2.0])


def test_values_beyond_floating_point():
    with pytest.raises(ParameterError, match="lower its decay or degree, or scale its features"):
        PolynomialKernel(200).gram([[1e3]])


def test_structures_without_features():
    with pytest.raises(ParameterError, match=r"structure 1 .* phi is a function"):
        PolynomialKernel(2).gram([[1.0], "(S x)"])
