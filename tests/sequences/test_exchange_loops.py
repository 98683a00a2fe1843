"""A sweep of exchange steps, compared with trying every class and computing the likelihood anew."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.sequences import _exchange_loops as loops


def h(x):
    x = np.asarray(x, float)
    return (x * np.log(np.where(x > 0, x, 1))).sum()


def objective(C, labels, n):
    S = np.eye(n)[labels]
    N = S.T @ C @ S
    return h(N) - h(N.sum(axis=0)) - h(N.sum(axis=1))


def slow_sweep(C, labels, order, K, n):
    moved = 0
    for w in order:
        a = labels[w]
        if (labels == a).sum() == 1:
            continue
        values = []
        for b in range(K):
            labels[w] = b
            values.append(objective(C, labels, n))
        best = int(np.argmax(values))
        labels[w] = best if values[best] > values[a] + 1e-6 else a
        moved += labels[w] != a
    return moved


def rows(C, kind):
    C = sp.csr_array(C)
    return C.indptr.astype(np.int64), C.indices.astype(np.int32), C.data.astype(kind)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("size", [1, 3, 10_000])  # of the table: some or all counts are beyond it
def test_a_sweep_takes_the_best_class_of_each_word(kind, size):
    rng = np.random.default_rng(size)
    n_words, K = 9, 3
    C = rng.poisson(1.5, (n_words + 2, n_words + 2))
    C[-1, -1] = 0
    labels = np.append(rng.permutation(np.arange(n_words) % K), [K, K + 1]).astype(np.int32)
    n = K + 2
    S = np.eye(n, dtype=kind)[labels]
    N = S.T @ C.astype(kind) @ S
    T, left, right = N.T.copy(), N.sum(axis=1, dtype=kind), N.sum(axis=0, dtype=kind)
    sizes = np.bincount(labels)[:K]
    x = np.arange(size, dtype=float)
    table = x * np.log(np.maximum(x, 1))
    order = rng.permutation(n_words)
    expected = labels.copy()
    moved = slow_sweep(C, expected, order, K, n)
    before = objective(C, labels, n)
    found = loops.sweep(
        rows(C, kind), rows(C.T, kind), labels, order, N, T, left, right, sizes, table
    )
    assert np.array_equal(labels, expected)
    assert found == moved > 0
    assert objective(C, labels, n) > before
    S = np.eye(n, dtype=kind)[labels]
    assert np.array_equal(N, S.T @ C @ S)
    assert np.array_equal(T, N.T)
    assert np.array_equal(left, N.sum(axis=1))
    assert np.array_equal(right, N.sum(axis=0))
    assert np.array_equal(sizes, np.bincount(labels)[:K])


def test_a_word_that_is_alone_in_its_class_stays():
    C = np.array([[0, 3, 1, 0, 0], [2, 0, 1, 0, 0], [1, 2, 0, 0, 0], [0] * 5, [0] * 5])
    labels = np.array([0, 1, 1, 2, 3], np.int32)
    N = np.eye(4, dtype=np.int64)[labels].T @ C @ np.eye(4, dtype=np.int64)[labels]
    sides = N.sum(axis=1), N.sum(axis=0)
    sizes, table = np.array([1, 2]), np.zeros(1)
    arguments = rows(C, np.int64), rows(C.T, np.int64), labels, np.array([0])
    assert not loops.sweep(*arguments, N, N.T.copy(), *sides, sizes, table)
    assert labels.tolist() == [0, 1, 1, 2, 3]
