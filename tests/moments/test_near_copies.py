"""Near copies: joined if and only if their share in common is large enough."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.moments.near_copies import near_copies


def all_pairs(D: np.ndarray, least: float) -> np.ndarray:
    """The slow way: every pair."""
    n = len(D)
    alike = [
        [np.minimum(a, b).sum() >= least * max(np.maximum(a, b).sum(), 1) for b in D] for a in D
    ]
    alike = np.array(alike) & (D.sum(axis=1) > 0)
    _, found = connected_components(sp.csr_array(alike), directed=False)
    numbers, groups = {}, np.full(n, -1)
    for row in range(n):
        if (found == found[row]).sum() > 1:
            groups[row] = numbers.setdefault(found[row], len(numbers))
    return groups


@pytest.fixture(name="D")
def documents():
    """Documents, some of them edited copies of others."""
    rng = np.random.default_rng(0)
    D = rng.poisson(0.3, (60, 80))
    for row in range(40, 60):
        D[row] = D[rng.integers(40)]
        edited = rng.integers(80, size=rng.integers(4))
        D[row, edited] += 1
    return D


@pytest.mark.parametrize("least", [0.7, 0.8, 0.95, 1.0])
def test_the_same_groups_as_by_all_pairs(D, least):
    assert near_copies(D, least).tolist() == all_pairs(D, least).tolist()


def test_chains_are_one_group():
    a, b, c = np.ones((3, 20), int)
    a[0], c[1] = 0, 0
    other = np.arange(20) % 2
    assert near_copies([a, b, c, other], 0.95).tolist() == [0, 0, 0, -1]  # a and c: 18 of 20
    assert near_copies([a, c, other], 0.95).tolist() == [-1, -1, -1]


def test_short_rows_and_empty_rows_are_no_copies():
    D = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert near_copies(D).tolist() == [0, 0, -1, -1]
    assert near_copies(D, least_columns=3).tolist() == [-1] * 4
    assert near_copies(np.zeros((0, 3))).tolist() == []


def test_thousands_of_equal_rows_are_one_group():
    assert not near_copies(np.tile([1, 2, 3, 4, 5], (5000, 1))).any()


def test_the_same_bits_with_one_and_two_threads(D):
    with engine.use(engine.ThreadEngine(1)):
        one = near_copies(D)
    with engine.use(engine.ThreadEngine(2)):
        assert (near_copies(D) == one).all()


@pytest.mark.parametrize("least", [0, -1, 1.1])
def test_a_share_that_is_none(least):
    with pytest.raises(ParameterError, match="least"):
        near_copies(np.eye(2), least)
