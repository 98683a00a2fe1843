"""Arrays without a name: the same in a file as in memory, and forgotten without loss."""

import gc
import os
import resource
import tempfile

import numpy as np
import pytest

from eigentext.errors import EigentextError
from eigentext.matrices import disk
from eigentext.matrices.budget import resident, room
from eigentext.matrices.disk import Growing, write_at
from eigentext.storage.maps import forget, is_mapped

linux = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")  # noqa: PTH110


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_large_files():
    """The system refuses to let any file grow past 64 KiB, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("keep", [float("inf"), 100, 0, -1])
@pytest.mark.parametrize("row", [(), (3,)])
def test_an_array_grows_to_the_same_in_memory_and_on_disk(folder, keep, row):
    rng = np.random.default_rng(0)
    parts = [rng.random((n, *row)).astype(np.float32) for n in (2, 0, 5, 40, 1)]
    grown = Growing(np.float32, keep, row)
    for part in parts:
        grown.append(part)
    found = grown.finish()
    assert is_mapped(found) == (keep <= 100)
    assert found.dtype == np.float32
    assert np.array_equal(found, np.concatenate(parts))
    assert not any(folder.iterdir())


def test_nothing_grows_to_nothing():
    assert Growing(np.int64, 0).finish().shape == (0,)
    assert Growing(np.int64, 0, (4,)).finish().shape == (0, 4)


@linux
def test_what_was_read_of_a_map_can_be_forgotten_without_loss():
    grown = Growing(np.float64, 0, (8,))
    for number in range(40):
        grown.append(np.full((1 << 14, 8), number))
    array = grown.finish()
    gc.collect()
    before = resident()
    assert array.sum() == sum(range(40)) * (1 << 17)
    read = resident()
    assert read - before > 0.9 * array.nbytes
    forget(np.asarray(array)[100:, :3])
    assert resident() - before < 0.1 * array.nbytes
    assert array.sum() == sum(range(40)) * (1 << 17)


def test_changes_that_are_not_in_the_file_are_never_forgotten(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(5000))
    private = np.load(tmp_path / "a.npy", mmap_mode="c")
    private[:] = 1
    forget(private, np.ones(3))
    assert (private == 1).all()
    assert not is_mapped(private)
    assert is_mapped(np.load(tmp_path / "a.npy", mmap_mode="r")[2:].reshape(-1, 2))


def test_a_full_disk_names_the_folder_and_the_remedy(folder, no_large_files):
    grown = Growing(np.int64, 0)
    with pytest.raises(EigentextError, match=rf"{folder}.*File too large.*TMPDIR"):
        for _ in range(100):
            grown.append(np.arange(1000))
    with disk.scratch_file() as file, pytest.raises(EigentextError, match="TMPDIR"):
        write_at(file, np.arange(10_000), 0)
    assert not any(folder.iterdir())


def test_parts_are_written_where_they_belong():
    numbers = np.arange(10)
    with disk.scratch_file() as file:
        for start in (6, 0, 3):
            write_at(file, numbers[start : start + 4], 8 * start)
        write_at(file, numbers[:0], 3)
        assert np.array_equal(np.memmap(file, np.int64, "r"), numbers)


def test_room_is_what_is_left_of_a_budget():
    assert room(None) == float("inf")
    assert room(1) == 0
    assert 0 < room(1 << 50) < 1 << 50
