"""What every kernel inherits from its base class, tested with the smallest possible kernel."""

import numpy as np
import pytest
from sklearn.base import clone

from eigentext.errors import ParameterError
from eigentext.kernels import Candidate, Encoded, Kernel


class Words(Encoded):
    """Sets of words."""

    def __init__(self, sets):
        self.sets = sets

    def __len__(self):
        return len(self.sets)

    def __getitem__(self, indices):
        which = range(len(self))[indices] if isinstance(indices, slice) else indices
        return Words([self.sets[i] for i in which])

    @property
    def identity(self):
        distinct = list(dict.fromkeys(self.sets))
        return np.array([distinct.index(one) for one in self.sets])


class Common(Kernel):
    """How many words two texts share, times a weight."""

    def __init__(self, weight=1.0):
        self.weight = weight

    def _encode(self, structures):
        return Words([frozenset(text.split()) for text in structures])

    def _gram(self, a, b):
        return self.weight * np.array([[len(x & y) for y in b.sets] for x in a.sets]).reshape(
            len(a), len(b)
        )


@pytest.fixture
def texts(zipf_lines):
    return zipf_lines(600, 40)


def test_a_kernel_is_a_function():
    assert Common()("a b c", "c b x") == 2
    assert isinstance(Common()("a", "b"), float)


def test_gram_of_raw_and_encoded_structures(texts):
    K, some, others = Common(2.0), texts[:20], texts[20:25]
    expected = [[2.0 * len(set(a.split()) & set(b.split())) for b in others] for a in some]
    for a in (some, iter(some), K.encode(some)):
        assert K.gram(a, K.encode(others)).tolist() == expected
    assert (K.gram(some) == K.gram(some, some)).all()
    assert K.encode(K.encode(some)).sets == K.encode(some).sets


def test_diagonal_and_scores_without_the_matrix(texts):
    K = Common()
    A, B = K.encode(texts), K.encode(texts[:30])
    assert (K.diagonal(B) == np.diag(K.gram(B))).all()
    alpha = np.random.default_rng(0).integers(-3, 4, len(texts))  # more than one block of rows
    assert (K.scores(A, alpha, B) == alpha @ K.gram(A, B)).all()
    assert K.scores([], [], B).tolist() == [0] * 30
    assert K.scores(A, alpha, []).shape == (0,)


def test_log_probabilities_are_left_aside():
    K = Common()
    assert K(Candidate("a b", -3.0), (-1.5, "b")) == 1
    assert K.encode([Candidate("a", -1.0), Candidate("a", -2.0)]).identity.tolist() == [0, 0]


def test_a_kernel_is_an_estimator():
    K = clone(Common(3.0))
    assert K.get_params() == {"weight": 3.0}
    assert repr(K.set_params(weight=2.0)) == "Common(weight=2.0)"


def test_bad_input():
    K = Common()
    with pytest.raises(ParameterError, match=r"a list of structures, not one: \['\(S x\)'\]"):
        K.gram("(S x)")
    with pytest.raises(ParameterError, match="2 structures need as many weights, not"):
        K.scores(["a", "b"], [1.0], ["a"])
    with pytest.raises(ParameterError, match="beyond floating point"):
        Common(np.inf).gram(["a"])
    with pytest.raises(TypeError):
        K + 1
