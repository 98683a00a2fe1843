"""Compiled loops that other loops share, against NumPy."""

import numpy as np
import pytest

from eigentext.matrices.row_loops import SHIFT, sort_positions, write_row


def test_positions_by_word():
    tokens = np.random.default_rng(0).integers(-1, 5, 200).astype(np.int32)
    starts, positions = sort_positions(tokens, 150, 6)
    for word in range(6):
        expected = np.flatnonzero(tokens[:150] == word)
        assert np.array_equal(positions[starts[word] : starts[word + 1]], expected)


@pytest.mark.parametrize("n_touched", [0, 1, 7, 40, 41, 300])
def test_a_row_is_written_in_the_order_of_its_columns(n_touched):
    rng = np.random.default_rng(n_touched)
    n_columns = 1000
    touched = np.zeros(n_columns, np.int32)
    touched[:n_touched] = rng.permutation(n_columns)[:n_touched]
    buffer = np.zeros(n_columns, np.int64)
    buffer[touched[:n_touched]] = rng.integers(1, 100, n_touched)
    expected = buffer.copy()
    flags = np.zeros((n_columns >> SHIFT) + 1, np.uint8)
    indices, data = np.empty(n_columns, np.int32), np.empty(n_columns, np.int64)
    end = write_row(buffer, touched, n_touched, flags, indices, data, 3)
    assert end == 3 + n_touched
    assert np.array_equal(indices[3:end], np.flatnonzero(expected))
    assert np.array_equal(data[3:end], expected[expected > 0])
    assert not buffer.any()
    assert not flags.any()
