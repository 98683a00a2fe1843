"""Maps of files: which arrays are maps, and how to free the memory that reading them took."""

import gc
import os
import tempfile

import numpy as np
import pytest

from eigentext.matrices.budget import resident
from eigentext.storage.maps import forget, is_mapped

linux = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")  # noqa: PTH110


@linux
def test_what_was_read_of_a_map_can_be_forgotten_without_loss():
    with tempfile.TemporaryFile() as file:
        for number in range(40):
            np.full((1 << 14, 8), number, np.float64).tofile(file)
        array = np.memmap(file, np.float64, "r+", shape=(40 << 14, 8))
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
