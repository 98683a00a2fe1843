"""Blocks of rows: they cover all rows once, and none is much larger than asked."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eigentext.engine import even_blocks

COSTS = st.lists(st.integers(0, 20), min_size=1, max_size=50)


@given(COSTS, st.integers(1, 100))
def test_blocks_cover_every_row_once(costs, size):
    work = np.concatenate([[0], np.cumsum(costs)])
    blocks = even_blocks(work, size)
    assert [row for start, stop in blocks for row in range(start, stop)] == list(range(len(costs)))


@given(COSTS, st.integers(1, 100))
def test_a_block_exceeds_its_size_by_one_row_at_most(costs, size):
    work = np.concatenate([[0], np.cumsum(costs)])
    for start, stop in even_blocks(work, size):
        assert work[stop] - work[start] < size + 2 * max(costs) + 1


def test_no_rows():
    assert even_blocks(np.array([0]), 5) == []
