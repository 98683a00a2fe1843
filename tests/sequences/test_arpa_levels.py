"""N-grams in any order, with and without their beginnings, compared with back-off by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.sequences._arpa_levels import Levels

N = 5  # symbols: three words, the rare word, the edge
NGRAMS = st.dictionaries(
    st.lists(st.integers(0, N - 2), min_size=2, max_size=4).map(tuple),
    st.tuples(st.floats(0.01, 1), st.floats(0.1, 2)),
    max_size=20,
)


def levels_of(ngrams, n_blocks=1, order=4):
    rng = np.random.default_rng(0)
    levels = Levels(rng.random(N), rng.random(N))
    for k in range(2, order + 1):
        some = [one for one in ngrams.items() if len(one[0]) == k]
        for part in np.array_split(np.arange(len(some)), n_blocks):
            if len(part):
                ids = np.array([some[i][0] for i in part], np.int32)
                p, b = np.array([some[i][1] for i in part]).T
                levels.add(ids, p, b)
        assert levels.close() is None
    return levels


@given(NGRAMS, st.integers(1, 3), st.lists(st.integers(0, N - 1), max_size=5))
def test_back_off_is_that_of_the_listed_ngrams(ngrams, n_blocks, context):
    tables = levels_of(ngrams, n_blocks).tables()
    rng = np.random.default_rng(0)
    single, weight = rng.random(N), rng.random(N)

    def b(h):
        return weight[h[0]] if len(h) == 1 else ngrams.get(h, (None, 1.0))[1]

    def p(w, h):
        if not h:
            return single[w]
        return ngrams[*h, w][0] if (*h, w) in ngrams else b(h) * p(w, h[1:])

    h = tuple(context[-3:])
    assert np.allclose(tables.distribution(list(context)), [p(w, h) for w in range(N)])


def test_what_was_added_twice():
    levels = levels_of({(0, 1): (0.5, 1.0)}, order=2)
    ids = np.array([[0, 1, 2], [0, 1, 1], [0, 1, 2]], np.int32)
    levels.add(ids[:1], np.ones(1), np.ones(1))
    levels.add(ids[1:], np.ones(2), np.ones(2))
    assert levels.close() == 2


def test_starts_and_ends_are_one_symbol():
    start, end = N - 1, N
    levels = Levels(np.full(N, 0.2), np.ones(N))
    levels.add(np.array([[start, 0], [0, end]], np.int32), np.array([0.5, 0.25]), np.ones(2))
    levels.close()
    assert levels.has_ends
    tables = levels.tables()
    assert tables.distribution([N - 1])[0] == 0.5
    assert tables.distribution([0])[N - 1] == 0.25


def test_edges_inside_are_left_out():
    levels = Levels(np.full(N, 0.2), np.ones(N))
    levels.add(np.array([[0, N - 1], [N, 0], [0, 1]], np.int32), np.full(3, 0.5), np.ones(3))
    levels.close()
    with pytest.warns(UserWarning, match="left out 2 n-grams"):
        tables = levels.tables()
    assert tables.trie.borders == [0, N, N + 1]
