"""The compiled loops of the back-off against their slow twins."""

from itertools import product

import numpy as np

from eigentext.grammars.chart._backoff_loops import (
    BASE,
    FREE,
    IS_BETWEEN,
    MOTHER,
    NAME,
    TOP,
    agrees,
    expand,
    products,
)


def test_the_products_are_outer_products():
    rng = np.random.default_rng(0)
    parent, left, right = np.array([0, 2, 1]), np.array([1, 0, 2]), np.array([1, 2, 0])
    states = np.array([0, 2, 5, 6])  # labels of two, three and one states
    r, s, factor = rng.normal(size=6), rng.normal(size=6), rng.normal(size=3)
    sizes = np.diff(states)
    offsets = np.cumsum([0, *(sizes[parent] * sizes[left] * sizes[right])])
    found = products(parent, left, right, states, r, s, factor, offsets)
    for k, (a, b, c) in enumerate(zip(parent, left, right, strict=True)):
        r_a, s_b, s_c = (
            x[states[y] : states[y + 1]] for x, y in zip((r, s, s), (a, b, c), strict=True)
        )
        expected = factor[k] * s_b[:, None, None] * s_c[:, None] * r_a
        np.testing.assert_allclose(found[offsets[k] : offsets[k + 1]], expected.ravel())


def test_edges_are_all_pairs_of_stand_ins_that_agree():
    """Three words below two items, and one production for each pair of places."""
    rng = np.random.default_rng(1)
    n_places, n_symbols = 3, 12
    known = np.full((n_symbols, 11), FREE, np.int64)
    known[:, TOP], known[:, IS_BETWEEN] = np.repeat(np.arange(n_places), 4), 0
    known[:, BASE], known[:, NAME] = rng.integers(n_places, size=(2, n_symbols))
    known[:, MOTHER] = rng.integers(-1, n_places, n_symbols)
    numbers = [(b * n_places + c) * n_places + a for a, b, c in product(range(3), repeat=3)]
    keys = np.sort(rng.choice(numbers, 22, replace=False))
    # Items 0, 1, 2 are words; 3 is over 0 and 1; 4 is over 3 and 2.
    groups, edges = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 1, 2])
    left, right = np.array([0, 3]), np.array([1, 2])
    symbols = np.concatenate([np.arange(4 * k, 4 * k + 4) for k in (0, 1, 2, 0, 1)])
    first = np.arange(0, 24, 4)
    alive = np.arange(20) < 12
    arrays = groups, edges, left, right, first, symbols
    found, fits = expand(*arrays, alive.copy(), known, keys, n_places, True, 10**6)
    expected = []
    for p, one, two in ((3, 0, 1), (4, 3, 2)):
        for z, x, y in product(*(range(first[i], first[i + 1]) for i in (p, one, two))):
            a, b, c = symbols[[z, x, y]]
            key = (known[b, TOP] * n_places + known[c, TOP]) * n_places + known[a, BASE]
            if (alive[x] and alive[y] and key in keys
                    and agrees(known, a, b, True) and agrees(known, a, c, False)):  # fmt: skip
                expected.append((z, x, y))
        for z, _, _ in expected:
            alive[z] = True
    assert fits
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, np.array(expected).tolist()))
    assert {z < 16 for z, _, _ in expected} == {True, False}  # at both items
    none, fits = expand(*arrays, np.arange(20) < 12, known, keys, n_places, True, 5)
    assert not fits and not len(none)
