"""One pass of the perceptron: the compiled loop equals its docstring."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.linear._perceptron_loops import perceptron_epoch


def slow_epoch(X, borders, gold, identity, W, S, step):
    mistakes = []
    for i, y in enumerate(gold):
        z = borders[i] + np.argmax((X @ W)[borders[i] : borders[i + 1]])
        if identity[z] != identity[y]:
            W += X[y] - X[z]
            S += (step + i) * (X[y] - X[z])
            mistakes.append((i, z))
    return mistakes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_one_pass(seed, dtype):
    rng = np.random.default_rng(seed)
    borders = np.append(0, np.cumsum(rng.integers(1, 6, 50)))
    X = rng.integers(-2, 3, (borders[-1], 6)).astype(float)
    X[rng.random(X.shape) < 0.5] = 0
    gold = rng.integers(borders[:-1], borders[1:])
    identity = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    W, S = rng.integers(-2, 3, (2, 6)).astype(float)
    slow = W.copy(), S.copy()
    expected = slow_epoch(X, borders, gold, identity, *slow, 100)
    sparse = sp.csr_array(X)
    indptr, indices = sparse.indptr.astype(dtype), sparse.indices.astype(dtype)
    examples, predicted = np.empty((2, 50), np.int64)
    count = perceptron_epoch(
        indptr, indices, sparse.data, borders, gold, identity, W, S, 100, examples, predicted
    )
    assert list(zip(examples[:count], predicted[:count])) == expected
    assert (slow[0] == W).all()
    assert (slow[1] == S).all()
    assert len(expected) > 5
