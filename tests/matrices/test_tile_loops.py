"""Each compiled loop of tiles does what its docstring says that it is equivalent to."""

import numpy as np

from eigentext.matrices import _tile_loops as loops

UPPER = np.array([[2, 5, 0, 5], [0, 0, 7, 5], [0, 0, 3, 0], [0, 0, 0, 0]])


def rows_of(dense):
    indptr = np.append(0, np.cumsum((dense > 0).sum(axis=1)))
    return indptr, np.nonzero(dense)[1].astype(np.int32), dense[dense > 0]


def test_pieces_are_cut_at_borders_and_numbered():
    borders = np.array([0, 2, 4])
    fits, lengths, columns, codes, distinct, ends = loops.pack_pieces(
        *rows_of(UPPER[:2]), borders, 0
    )
    assert fits
    assert lengths.tolist() == [2, 0, 1, 2]  # rows 0 and 1 of the first strip, then of the second
    assert columns.tolist() == [0, 1, 1, 0, 1]
    assert codes.tolist() == [0, 1, 0, 1, 0]
    assert distinct.tolist() == [2, 5, 5, 7]
    assert ends.tolist() == [[2, 2], [5, 4]]


def test_a_product_with_a_panel():
    borders = np.array([0, 2, 4])
    parts = [loops.pack_pieces(*rows_of(UPPER[a : a + 2]), borders, a // 2)[1:] for a in (0, 2)]
    lengths, columns, codes, distinct = (
        np.concatenate([part[k] for part in parts]) for k in range(4)
    )
    pieces = (  # the first piece of each run; and of each piece: its entries, lengths and numbers
        np.array([0, 2]),
        np.array([0, 2, 5]),
        np.array([0, 2, 4]),
        np.array([0, 2, 4]),
    )
    X = np.random.default_rng(0).standard_normal((4, 32))
    out = np.full((4, 32), 9.0)
    runs = bounds = np.array([0, 1, 2])
    for strip in range(2):
        loops.tiles_times_panel(
            borders, runs, 2 * bounds, pieces, lengths, columns, codes,
            distinct.astype(float), X, out, strip,
        )  # fmt: skip
    assert np.allclose(out, (UPPER + np.triu(UPPER, 1).T) @ X, atol=1e-12)
