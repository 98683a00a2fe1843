"""Loops that come with the package are used where they fit, and never change an answer."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from eigentext.engine import shipped

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run"
    ),
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="loops are for x86-64"
    ),
]
SCRIPT = """
import json, sys
from pathlib import Path
from eigentext.engine import shipped
shipped._FOLDER = Path(sys.argv[1])
from eigentext.kernels import TreeKernel
gram = TreeKernel(0.5).gram(["(S (N a) (V b))", "(S (N a) (V c))"])
print(json.dumps([gram.tolist(), shipped.is_there()]))
"""


def run(folder, cache, setting=""):
    """The answer of a new process, whether it had an archive, and how many loops it compiled."""
    cache.mkdir(exist_ok=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), shipped.VARIABLE: setting}
    if setting.startswith("record="):
        environment |= {"NUMBA_CPU_NAME": shipped.PROCESSOR, "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    answer, found = json.loads(done.stdout)
    return answer, found, len(list(cache.rglob("*.nbc")))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shipped")
    answer, found, n_compiled = run(folder, folder / "made", f"record={folder / 'recorded'}")
    assert not found
    assert n_compiled > 0
    return answer, shipped.pack(folder / "recorded", folder / "loops")


def test_nothing_is_compiled_that_is_shipped(archive, tmp_path):
    answer, path = archive
    assert run(path.parent, tmp_path / "cache") == (answer, True, 0)


def test_archives_can_be_ignored(archive, tmp_path):
    answer, path = archive
    assert run(path.parent, tmp_path / "cache", "off")[:2] == (answer, False)
    assert list((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.parametrize("damage", ["cut", "empty", "other loops", "no pickles"])
def test_a_damaged_archive_costs_time_only(archive, damage, tmp_path):
    answer, path = archive
    bad = tmp_path / path.name
    data = path.read_bytes()
    if damage == "no pickles":
        import zipfile

        with zipfile.ZipFile(path) as good, zipfile.ZipFile(bad, "w") as made:
            for name in good.namelist():
                made.writestr(name, b"nothing")
    elif damage == "other loops":  # of other sources
        Path(tmp_path, path.name.replace(path.stem[-16:], "0" * 16)).write_bytes(data)
    else:
        bad.write_bytes(data[: len(data) // 2] if damage == "cut" else b"")
    found, _, n_compiled = run(tmp_path, tmp_path / "cache")
    assert found == answer
    assert n_compiled > 0


def test_other_processors_compile(monkeypatch, archive):
    monkeypatch.setattr(shipped, "_FOLDER", archive[1].parent)
    monkeypatch.setenv(shipped.VARIABLE, "")
    shipped._archive.cache_clear()
    assert shipped.is_there()
    monkeypatch.setattr(shipped, "_NEEDED", ("avx2", "an instruction of tomorrow"))
    shipped._archive.cache_clear()
    assert not shipped.is_there()
    shipped._archive.cache_clear()


def test_equal_loops_make_equal_archives(archive, tmp_path):
    recorded = archive[1].parents[1] / "recorded"
    assert shipped.pack(recorded, tmp_path).read_bytes() == archive[1].read_bytes()


def test_sources_of_loops_are_all_stamped():
    """A constant that a loop takes from a file without a stamp could change unnoticed."""
    package = Path(shipped.__file__).parents[1]
    known = ("numpy", "math", "numba", "typing", "eigentext.engine")
    allowed = {f"eigentext/{name}"[:-3].replace("/", ".") for name in shipped._CONSTANTS}
    for file in package.rglob("*loops.py"):
        for line in file.read_text().splitlines():
            if line.startswith(("from eigentext", "import ")):
                module = line.split()[1]
                assert module.startswith(known) or module.endswith("loops") or module in allowed, (
                    f"{file}: {module}"
                )
