"""Brown's greedy merges, compared with the mutual information of the window, computed anew."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.sequences import _brown_loops as loops

FIXED = 2


def information(C, members, fixed, n):
    """The mutual information of the classes of a window, with the shares of all tokens."""
    S = np.zeros((n, len(members) + len(fixed)))
    for k, words in enumerate([*members, *fixed]):
        S[list(words), k] = 1
    N = S.T @ C @ S
    first, second = S.T @ C.sum(axis=1), S.T @ C.sum(axis=0)
    inside = N > 0
    return (N[inside] * np.log(N[inside] / np.outer(first, second)[inside])).sum() / C.sum()


def slow_greedy(C, order, K):
    """Add each word as a class, and try every merge of two classes of the window."""
    n = len(C)
    fixed = [[n - 2], [n - 1]]
    members: list[list[int]] = []
    for w in order:
        members.append([w])
        if len(members) <= K:
            continue
        options = []
        for i, j in combinations(range(len(members)), 2):
            rest = [one for k, one in enumerate(members) if k not in (i, j)]
            options.append((information(C, [*rest, members[i] + members[j]], fixed, n), i, j))
        _, i, j = max(options)
        joined = members[i] + members[j]
        members = [one for k, one in enumerate(members) if k not in (i, j)] + [joined]
    return {frozenset(one) for one in members}


def rows(C):
    C = sp.csr_array(C)
    return C.indptr.astype(np.int64), C.indices.astype(np.int32), C.data.astype(np.int64)


def greedy(C, order, K, size):
    S, n = K + 1, len(C)
    slots = np.append(np.full(n - FIXED, -1), [S, S + 1])

    def side():
        N = np.zeros((S + FIXED, S + FIXED), np.int64)
        whole = np.zeros((2, S), np.int64)
        return loops.Side(N, np.zeros((S, S)), np.zeros(S), whole[0], whole[1], np.zeros(S))

    x = np.arange(size, dtype=float)
    table = x * np.log(np.maximum(x, 1))
    losses = np.full((S, S), np.inf)
    loops.add_words(order, rows(C), rows(C.T), slots, side(), side(), losses, table)
    found = {}
    for w, slot in enumerate(slots[:-FIXED]):
        found.setdefault(int(slot), set()).add(w)
    return {frozenset(one) for one in found.values()}


@pytest.mark.parametrize("size", [1, 10_000])
@pytest.mark.parametrize(("seed", "K"), [(0, 2), (1, 3), (2, 4)])
def test_merges_lose_least_of_all(seed, K, size):
    rng = np.random.default_rng(seed)
    n = 11 + FIXED
    heavy = rng.gamma(0.5, size=(n, n)) * np.geomspace(9, 1, n)[:, None]
    C = rng.poisson(heavy)
    C[-1, -1] = 0
    order = np.argsort(-C[:-FIXED].sum(axis=1), kind="stable")
    assert greedy(C, order, K, size) == slow_greedy(C, order.tolist(), K)
