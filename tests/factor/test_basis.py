"""A basis is the same matrix in memory and on disk; kept blocks are those of one matrix."""

import numpy as np
import pytest

from eigentext.factor.basis import Basis, KeptBlocks
from eigentext.storage import checkpointing
from eigentext.storage.maps import is_mapped


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_basis_is_its_blocks_side_by_side(on_disk):
    blocks = np.random.default_rng(0).random((3, 10, 4)).astype(np.float32)
    basis = Basis(10, 12, np.float32, on_disk=on_disk)
    for number, block in enumerate(blocks, start=1):
        basis.append(block)
        assert basis.shape == (10, 4 * number)
    expected = np.hstack(list(blocks))
    assert basis.on_disk == on_disk
    assert len(basis) == 10
    assert np.array_equal(basis[:], expected)
    assert np.array_equal(basis[3:7], expected[3:7])
    assert np.array_equal(basis.last(8)[2:5], expected[2:5, 4:])
    assert np.array_equal(basis.last(100)[:], expected)
    assert np.array_equal(basis.with_columns(blocks[0])[:], np.hstack([expected, blocks[0]]))
    assert basis.shape == (10, 12)
    assert len(list(basis.panels())) == (3 if on_disk else 0)


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_compact_basis_keeps_16_bits(on_disk):
    blocks = np.random.default_rng(0).uniform(-1, 1, (3, 10, 4)).astype(np.float32)
    exact = np.hstack(list(blocks))
    rounded = (exact * 32768).astype(np.float16).astype(np.float32) / 32768
    basis = Basis(10, 12, np.float32, on_disk=on_disk, compact=True)
    for number, block in enumerate(blocks):
        kept = basis.append(block.copy())
        assert np.array_equal(kept, rounded[:, 4 * number : 4 * number + 4])
    assert np.abs(rounded - exact).max() < 2.0**-11
    assert basis.dtype == np.float32
    assert np.array_equal(basis[:], rounded)
    assert np.array_equal(basis[3:7], rounded[3:7])
    assert np.array_equal(basis.last(8)[2:5], rounded[2:5, 4:])
    assert np.array_equal(basis.with_columns(exact[:, :4])[:][:, :12], rounded)
    assert all(
        np.array_equal(panel, rounded[:, 4 * number : 4 * number + 4])
        for number, panel in enumerate(basis.panels())
    )
    M = np.random.default_rng(1).random((12, 6)).astype(np.float32)
    product = basis.times_in_place(M)
    if on_disk:
        assert product is None
    else:
        assert np.allclose(product, rounded @ M, atol=1e-6)
        assert basis.times_in_place(np.zeros((12, 7), np.float32)) is None  # no room


def test_a_block_that_is_not_ours_is_not_rounded_in_place():
    block = np.full((4, 2), 0.1, np.float32)
    block.flags.writeable = False
    kept = Basis(4, 2, np.float32, on_disk=False, compact=True).append(block)
    assert (block == np.float32(0.1)).all()
    assert (kept != block).all()
    assert np.allclose(kept, block, rtol=5e-4)


def test_a_block_that_lies_in_a_file_is_not_copied(tmp_path):
    with checkpointing(tmp_path / "state"):
        kept = KeptBlocks()
        kept.begin(np.eye(3))
        kept.write(1, block=np.ones((5, 2)))
        basis = Basis(5, 2, np.float64, on_disk=True)
        basis.append(kept.read(1)["block"])
        assert basis._blocks[0]._mmap is not None
        assert basis._blocks[0].filename.name == "svd-0.block-001.state"
        assert is_mapped(basis._blocks[0])
        assert np.array_equal(basis[1:], np.ones((4, 2)))


def test_states_are_of_one_matrix_and_one_decomposition(tmp_path):
    with checkpointing(tmp_path / "state"):
        first, second = KeptBlocks(), KeptBlocks()
        assert first.in_use
        for kept in (first, second):
            kept.begin(np.eye(3))
        first.write(1, C=np.zeros(2))
        first.write(4, C=np.ones(2))
        assert second.read(1) is None
        assert first.last(9)[0] == 4
        assert first.last(3)[0] == 1
        assert np.array_equal(first.last(9)[1]["C"], np.ones(2))
        first.drop(4)
        assert first.last(9)[0] == 1
        first.begin(2 * np.eye(3))
        assert first.read(1) is None
        assert first.last(9) == (0, None)


def test_without_a_checkpoint_nothing_is_kept():
    kept = KeptBlocks()
    kept.begin(np.eye(3))
    kept.write(1, C=np.zeros(2))
    kept.drop(1)
    assert not kept.in_use
    assert kept.read(1) is None
    assert kept.last(5) == (0, None)
