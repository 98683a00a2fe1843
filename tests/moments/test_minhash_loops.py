"""Each loop equals its plain expression."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.moments._minhash_loops import overlaps, signatures

_MASK = (1 << 64) - 1


def mixed(state: int) -> int:
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)


@pytest.fixture(name="X")
def counts():
    X = sp.csr_array(np.random.default_rng(0).poisson(0.5, (12, 9)))
    X.sort_indices()
    return X


def test_signatures_are_least_hashes(X):
    seeds = np.random.default_rng(1).integers(1 << 63, size=5).astype(np.uint64)
    found = np.zeros((12, 5), np.uint64)
    signatures(X.indptr, X.indices, seeds, found, 0, 12)
    for row in range(12):
        columns = X.indices[X.indptr[row] : X.indptr[row + 1]].tolist()
        for j, seed in enumerate(seeds.tolist()):
            hashes = [mixed((c * 0x9E3779B97F4A7C15 + seed) & _MASK) for c in columns]
            assert int(found[row, j]) == min(hashes, default=_MASK)


def test_overlaps_are_shares_of_multisets(X):
    first, second = (np.ravel(part) for part in np.indices((12, 12)))
    found = np.full(144, -1.0)
    overlaps(X.indptr, X.indices, X.data.astype(float), first, second, found, 0, 144)
    D = X.toarray()
    for i, (a, b) in enumerate(zip(D[first], D[second])):
        either = np.maximum(a, b).sum()
        assert found[i] == (np.minimum(a, b).sum() / either if either else 0)
