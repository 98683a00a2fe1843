"""Where compiled loops are kept: the folders that Numba really uses."""

import os
import subprocess
import sys

import pytest

from eigentext.engine import loop_files

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run"
)


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", ""])
def test_folders_are_those_of_numba(tmp_path, variable):
    """Ask a loop for its folder, and look for this folder in the list."""
    code = (
        "from eigentext.kernels import _loops\n"
        "from eigentext.engine import loop_files\n"
        "from pathlib import Path\n"
        "loop = next(one for one in vars(_loops).values() if hasattr(one, 'stats'))\n"
        "assert Path(loop.stats.cache_path) in loop_files.folders(), loop.stats.cache_path\n"
    )
    environment = os.environ | ({variable: str(tmp_path)} if variable else {})
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=120)


def test_only_own_files_are_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    folder = loop_files.folders()[0]
    folder.mkdir(parents=True)
    ours, other = folder / "loops.f-1.py311.nbi", folder / "notes.txt"
    stranger = tmp_path / "other_123" / "loops.f-1.py311.nbc"
    stranger.parent.mkdir()
    for path in (ours, other, stranger):
        path.write_bytes(b"123")
    assert loop_files.files() == [ours]
    assert loop_files.clear() == 3
    assert not ours.exists()
    assert other.exists() and stranger.exists()
    other.unlink()
    loop_files.clear()
    assert not folder.exists()
    assert stranger.exists()
