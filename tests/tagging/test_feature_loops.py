"""Keys of templates and their table, against plain Python."""

from itertools import pairwise

import numpy as np
import pytest

from eigentext.tagging._feature_loops import AFTER, BEFORE, fill_table, look_up, template_keys

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

MIX, WHOLE = 0x9E3779B97F4A7C15, (1 << 64) - 1


def slow_keys(symbols, borders, parts, number):
    """The formula of the docstring with Python's integers."""
    keys = []
    for first, last in pairwise(borders):
        for t in range(first, last):
            found = [
                BEFORE if t + o < first else AFTER if t + o >= last else int(symbols[t + o, a])
                for a, o in parts
            ]
            key = (number + 1) * MIX & WHOLE
            for symbol in found:
                h = ((key ^ symbol) * MIX) & WHOLE
                key = h ^ (h >> 32)
            keys.append(0 if min(found) < 0 else key | 1)
    return keys


@pytest.mark.parametrize("seed", range(10))
def test_keys(seed):
    rng = np.random.default_rng(seed)
    borders = np.concatenate([[0], np.cumsum(rng.integers(1, 6, 7))])
    symbols = rng.integers(-1, 9, (int(borders[-1]), 3)).astype(np.int32)
    symbols[rng.random(symbols.shape) < 0.05] = np.iinfo(np.int32).max
    for number in (0, 5, 300):
        n_parts = rng.integers(1, 4)
        parts = np.stack([rng.integers(0, 3, n_parts), rng.integers(-4, 5, n_parts)], axis=1)
        keys = np.empty(len(symbols), np.uint64)
        template_keys(symbols, borders, parts, number, keys)
        expected = slow_keys(symbols, borders.tolist(), parts.tolist(), number)
        assert keys.tolist() == expected


def test_keys_tell_everything_apart():
    # Two symbols in every order, in three templates, and positions outside the sentence.
    symbols = np.array([[a, b] for a in range(2, 12) for b in range(2, 12)], np.int32)
    borders = np.arange(len(symbols) + 1)
    found = []
    for number, parts in enumerate([[(0, 0), (1, 0)], [(1, 0), (0, 0)], [(0, 0)]]):
        keys = np.empty(len(symbols), np.uint64)
        template_keys(symbols, borders, np.array(parts), number, keys)
        found += keys.tolist()
    assert len(set(found)) == 100 + 100 + 10
    beyond = np.empty(len(symbols), np.uint64)
    for offset in (-1, 1):
        template_keys(symbols, borders, np.array([(0, offset)]), 2, beyond)
        assert len(set(beyond.tolist())) == 1
        found.append(int(beyond[0]))
    assert len(set(found)) == 212
    assert 0 not in found


def looked_up(keys, asked, size):
    table, values = np.zeros(size, np.uint64), np.zeros(size, np.int32)
    fill_table(np.array(keys, np.uint64), table, values)
    found = np.empty(len(asked), np.int32)
    look_up(np.array(asked, np.uint64), table, values, found)
    return found.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_table_is_a_dictionary(seed):
    rng = np.random.default_rng(seed)
    keys = np.unique(rng.integers(1, 1 << 63, 200, dtype=np.uint64))
    rng.shuffle(keys)
    known = dict(zip(keys.tolist(), range(len(keys))))
    asked = [*keys.tolist(), 0, *rng.integers(1, 1 << 63, 200, dtype=np.uint64).tolist()]
    for size in (256, 512, 4096):
        assert looked_up(keys, asked, size) == [known.get(key, -1) for key in asked]


def test_keys_that_want_the_same_place():
    # The upper halves are equal under the mask, and the search continues at the start of the table.
    keys = [((8 * i + 7) << 32) + i + 1 for i in range(5)]
    other = (7 << 32) + 999
    assert looked_up(keys, [*reversed(keys), other], 8) == [4, 3, 2, 1, 0, -1]


def test_an_empty_table():
    assert looked_up([], [0, 1, WHOLE], 8) == [-1, -1, -1]
    assert looked_up([5], [], 8) == []
