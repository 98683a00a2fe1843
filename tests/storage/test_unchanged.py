"""A file is replaced only if it is as it was read, whoever else writes it."""

import os
import threading

import pytest

from eigentext.errors import EigentextError
from eigentext.storage.files import replacing
from eigentext.storage.unchanged import unchanged_since, version_of


def _replace(path, text):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_a_replaced_file_is_another_version(tmp_path):
    path = tmp_path / "model"
    assert version_of(path) is None
    _replace(path, "same")
    first = version_of(path)
    assert version_of(path) == first
    _replace(path, "same")
    assert version_of(path) != first


def test_nothing_runs_if_the_file_has_changed(tmp_path):
    path = tmp_path / "model"
    _replace(path, "old")
    version = version_of(path)
    with unchanged_since(path, version):
        _replace(path, "ours")
    with pytest.raises(EigentextError, match="has changed since it was read"):  # noqa: SIM117
        with unchanged_since(path, version):
            pytest.fail("the block must not run")
    path.unlink()
    with pytest.raises(EigentextError, match="choose another -o"), unchanged_since(path, version):
        pass


def test_a_new_file(tmp_path):
    path = tmp_path / "model"
    with unchanged_since(path, version_of(path)):
        _replace(path, "new")
    assert path.read_text() == "new"


def test_of_many_at_once_one_wins(tmp_path):
    path = tmp_path / "model"
    _replace(path, "old")
    version, won, lost = version_of(path), [], []
    ready = threading.Barrier(8)

    def write(name):
        ready.wait()
        try:
            with unchanged_since(path, version):
                temporary = tmp_path / name
                temporary.write_text(name)
                os.replace(temporary, path)  # noqa: PTH105
                won.append(name)
        except EigentextError:
            lost.append(name)

    threads = [threading.Thread(target=write, args=(f"writer {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 7)
    assert path.read_text() == won[0]
