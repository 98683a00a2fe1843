"""Arrays in files without a name: they equal those in memory, and a full disk is explained."""

import resource
import tempfile

import numpy as np
import pytest

from eigentext.errors import EigentextError
from eigentext.matrices import disk
from eigentext.matrices.disk import Growing, write_at
from eigentext.storage.maps import is_mapped


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


@pytest.mark.parametrize("size", [1 << 10, 1 << 16, 3 << 20])
def test_an_array_that_grows_beyond_the_room_it_has(size, monkeypatch):
    monkeypatch.setattr(disk, "_ROOM", 8 << 20)
    grown = disk.Growing(np.float32)
    parts = [np.full(size, number, np.float32) for number in range(5)]
    for part in parts:
        grown.append(part)
    found = grown.finish()
    assert found.shape == (5 * size,)
    assert np.array_equal(found, np.concatenate(parts))
