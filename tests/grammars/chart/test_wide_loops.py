"""Wide numbers against exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eigentext.grammars.chart._wide_loops import _by, _fit, _plus, _times, multiply

numbers = st.builds(
    lambda x, e: (x, e) if x else (0.0, -(2**28)),
    st.one_of(st.just(0.0), st.floats(2.0**-255, 2.0**255), st.floats(-(2.0**255), -(2.0**-255))),
    st.integers(-3, 3),
)


def exact(x, e):
    return Fraction(x) * Fraction(2) ** (512 * e) if x else Fraction(0)


def near(found, expected):
    """Equal up to rounding, and in range."""
    x, _ = found
    assert abs(exact(*found) - expected) <= abs(expected) * Fraction(1, 2**50)
    assert x == 0.0 or 2.0**-256 <= abs(x) < 2.0**256


@given(numbers, numbers)
def test_products(one, other):
    near(_times(*one, *other), exact(*one) * exact(*other))


@given(st.floats(allow_nan=False, allow_infinity=False), numbers)
def test_products_with_any_double(q, number):
    near(_by(q, *number), Fraction(q) * exact(*number))


@given(numbers, numbers)
def test_sums(one, other):
    """Up to cancellation, which loses as much as in a sum of doubles."""
    found, expected = _fit(*_plus(*one, *other)), exact(*one) + exact(*other)
    larger = max(abs(exact(*one)), abs(exact(*other)))
    assert abs(exact(*found) - expected) <= larger * Fraction(1, 2**50)


def test_long_sums_in_any_order():
    rng = np.random.default_rng(0)
    terms = [(rng.random() + 0.5, int(e)) for e in rng.integers(-4, 3, 1000)]
    expected = sum(exact(*term) for term in terms)
    for order in (terms, sorted(terms, key=lambda term: term[1]), terms[::-1]):
        total = 0.0, -(2**28)
        for term in order:
            total = _plus(*total, *term)
        assert abs(exact(*_fit(*total)) / expected - 1) < Fraction(1, 2**40)


def test_marginals_are_doubles():
    values = np.array([1.5, 2.0, 3.0, 2.0]), np.array([-7, 3, 1, 5], np.int32)
    outer = np.array([2.0, 0.0, 5.0, -1.0]), np.array([7, 0, -9, 5], np.int32)
    multiply(values, outer)
    assert outer[0].tolist() == [3.0, 0.0, 0.0, -(2.0**513)]
