"""Loops are compiled wherever we run, kept where that is possible; no disk makes them fail."""

import importlib.util
import json
import logging
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

import eigentext as et
from eigentext.engine import compiled

LOOP = """
from eigentext.engine.compiled import njit

@njit(cache=True, nogil=True)
def twice(x):
    return x + x
"""


@pytest.fixture(autouse=True)
def _nothing_told(monkeypatch):
    for owner, name, value in (
        (compiled._Told, "compiling", False),
        (compiled._Told, "warning", False),
        (compiled._Substitute, "needed", False),
        (compiled._Substitute, "folder", None),
    ):
        monkeypatch.setattr(owner, name, value)


@pytest.fixture
def declare(tmp_path):
    """Import the module of a loop, as a new process would: nothing of it is in memory."""
    path = tmp_path / "loops.py"
    path.write_text(LOOP)

    def run():
        spec = importlib.util.spec_from_file_location("loops", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.twice

    return run


def hits_and_misses(loop):
    return sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values())


def test_loops_are_kept(declare):
    first, second = declare(), declare()
    assert first(3) == 6
    assert second(3) == 6
    assert hits_and_misses(first) == (0, 1)
    assert hits_and_misses(second) == (1, 0)


def test_a_change_in_a_helper_of_another_file_is_noticed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    head = "from eigentext.engine.compiled import njit\n"
    loop = "\n@njit(cache=True)\ndef {}(x):\n    return {}\n"
    (tmp_path / "loops_a.py").write_text(head + loop.format("deepest", "x"))
    (tmp_path / "loops_b.py").write_text(
        f"{head}from loops_a import deepest\n" + loop.format("helper", "deepest(x) + 1")
    )
    (tmp_path / "loops_c.py").write_text(
        f"{head}from loops_b import helper\n" + loop.format("outer", "helper(x)")
    )

    def outer():
        for name in ("loops_a", "loops_b", "loops_c"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("loops_c").outer

    assert outer()(1) == 2
    again = outer()
    assert again(1) == 2
    assert hits_and_misses(again) == (1, 0)
    (tmp_path / "loops_a.py").write_text(head + loop.format("deepest", "100 * x"))
    again = outer()
    assert again(1) == 101
    assert hits_and_misses(again) == (0, 1)


def test_options_are_numbas(declare):
    loop = declare()
    assert loop.targetoptions["nogil"]
    assert loop.targetoptions["nopython"]
    uncached = compiled.njit(cache=False)(loop.py_func)
    assert uncached(3) == 6
    assert uncached.stats.cache_path is None


def test_the_logger_hears_of_the_first_compilation(declare, caplog):
    caplog.set_level(logging.INFO, "eigentext")
    loop = declare()
    loop(3)
    loop(3.0)
    note = "compiling loops for this machine: only once, up to a minute"
    assert caplog.messages == [note]
    caplog.clear()
    caplog.set_level(logging.DEBUG, "eigentext")
    loop(3j)
    assert caplog.messages == ["compiling loops.twice"]
    caplog.clear()
    compiled._Told.compiling = False
    assert declare()(3) == 6
    assert caplog.messages == []  # it is compiled already


def test_announced_if_it_is_not_compiled(declare, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "eigentext")
    loop = declare()
    monkeypatch.setitem(sys.modules, "loops", module := ModuleType("loops"))
    module.twice = loop
    compiled.announce("loops.twice")
    (note,) = caplog.messages
    assert note.startswith("compiling loops for this machine")
    loop(3)
    compiled._Told.compiling = False
    caplog.clear()
    compiled.announce("loops.twice")
    assert caplog.messages == []
    module.twice = loop.py_func
    compiled.announce("loops.twice")  # as it is under NUMBA_DISABLE_JIT
    assert caplog.messages == []


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x80\x05K\x01."])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_costs_time_and_no_answer(declare, suffix, content):
    loop = declare()
    loop(3)
    (file,) = Path(loop.stats.cache_path).glob(f"*.{suffix}")
    whole = file.read_bytes()
    for damaged in (content, whole[:-20]):
        file.write_bytes(damaged)
        assert declare()(3) == 6
    again = declare()
    assert again(3) == 6
    assert hits_and_misses(again) == (1, 0)  # what was compiled instead is kept


def test_a_cache_that_takes_nothing_more_is_one_warning(declare):
    loop = declare()
    folder = Path(loop.stats.cache_path)
    shutil.rmtree(folder)
    folder.write_text("no folder any more")
    with pytest.warns(UserWarning, match="cannot save compiled loops .* set NUMBA_CACHE_DIR"):
        assert loop(3) == 6
    assert loop(3.5) == 7  # and no second warning, which would be an error


def test_all_loops_are_declared_with_it():
    here = Path(et.__file__).parent
    imports = re.compile(r"^\s*(from numba import .*\bn?jit\b|import numba\b)", re.M)
    strays = [path for path in here.rglob("*.py") if imports.search(path.read_text())]
    assert strays == [here / "engine" / "compiled.py"]


# The folder in place of Numba's.


def test_the_folder_is_of_this_user_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = compiled._private_folder()
    about = Path(folder).lstat()
    assert stat.S_IMODE(about.st_mode) == 0o700
    assert about.st_uid == os.geteuid()
    assert Path(folder).parent == tmp_path
    assert compiled._private_folder() == folder  # found again


def test_a_folder_that_others_might_write_to_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = Path(compiled._private_folder())
    for mode in (0o770, 0o707, 0o755):
        folder.chmod(mode)
        assert compiled._private_folder() is None
    folder.chmod(0o700)
    assert compiled._private_folder() == str(folder)
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        assert compiled._private_folder() is None
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert compiled._private_folder() is None
    folder.unlink()
    folder.write_text("a file")
    assert compiled._private_folder() is None
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert compiled._private_folder() is None


def test_other_numba_functions_keep_their_folder(monkeypatch, tmp_path, declare):
    from numba import config

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(compiled, "_is_homeless", lambda function: True)
    before = config.CACHE_DIR
    with pytest.warns(UserWarning, match="set NUMBA_CACHE_DIR to a permanent folder"):
        loop = declare()
    assert before == config.CACHE_DIR
    assert loop(3) == 6
    assert Path(loop.stats.cache_path).parent == Path(compiled.substitute_folder())


# A whole installation in which this user may not write.

# Enough sentences that the tagger does not warn of too few.
TAGGED = [[("the", "D"), ("cat", "N"), ("sees", "V")], [("a", "D"), ("dog", "N")]] * 500
HEAD = """
import pwd, sys, tempfile

def refuse(user):
    raise KeyError(user)

if "nobody knows" in sys.argv:
    pwd.getpwuid = refuse
if "no temporary folder" in sys.argv:
    tempfile._candidate_tempdir_list = list
"""
SCRIPT = f"""
import json, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import eigentext as et
    assert "numba" not in sys.modules
    words = et.load(sys.argv[1])
    near = [words.most_similar("cat", 3) for _ in range(6)][-1]  # the first few need no loop
    tags = et.HMMTagger().fit({TAGGED[:2]} * {len(TAGGED) // 2}).tag(["the", "dog", "sees"])
print(json.dumps([[str(one.message) for one in told], near, tags]))
"""
COMMAND = """
from eigentext.cli import main
main(sys.argv[sys.argv.index("words"):])
"""


@pytest.fixture
def closed(tmp_path, without_privileges):
    """Run Python where its packages and the user's home are closed to it."""
    package = Path(et.__file__).parent
    hidden = shutil.ignore_patterns("__pycache__", "explorer")
    shutil.copytree(package, tmp_path / "installed" / "eigentext", ignore=hidden)
    (tmp_path / "home").mkdir()
    (tmp_path / "temporary").mkdir()
    folders = [tmp_path / "home", *filter(Path.is_dir, (tmp_path / "installed").rglob("*"))]
    for folder in folders:
        folder.chmod(0o555)
    places = {"PYTHONPATH": "installed", "TMPDIR": "temporary", "HOME": "home"}
    unset = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE")

    def run(code, *arguments, home=True):
        environment = {name: value for name, value in os.environ.items() if name not in unset}
        environment |= {name: str(tmp_path / folder) for name, folder in places.items()}
        if not home:
            del environment["HOME"]
        return subprocess.run(
            [sys.executable, "-c", without_privileges + HEAD + code, *map(str, arguments)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )

    yield run
    for folder in folders:
        folder.chmod(0o755)


@pytest.fixture
def model(tmp_path):
    """A saved model, and what is answered where loops are kept."""
    text = ["the cat sees the dog", "the dog hears the old cat", "an old dog sees the cat"] * 5
    words = et.Eigenwords(2, window=1, min_count=1).fit(text)
    words.save(tmp_path / "model")
    tags = et.HMMTagger().fit(TAGGED).tag(["the", "dog", "sees"])
    return tmp_path / "model", json.loads(json.dumps([words.most_similar("cat", 3), tags]))


def neighbors(model):
    return "words", "neighbors", model, *["cat", "dog", "the", "old", "sees", "hears"], "--topn=3"


def told_and_answered(done):
    """The warnings and the answers of the script."""
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told, *answers = json.loads(done.stdout)
    return told, answers


def test_python_and_the_command_line_share_a_temporary_folder(closed, model, tmp_path):
    path, expected = model
    (warning,), answers = told_and_answered(closed(SCRIPT, path))
    assert answers == expected
    (folder,) = (tmp_path / "temporary").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert f"they go to {folder};" in warning
    kept = sorted(folder.rglob("*.nbc"))
    assert kept
    done = closed(COMMAND, *neighbors(path))
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line == f"eigentext: warning: {warning}"
    for word, _ in expected[0]:
        assert word in done.stdout
    assert sorted(folder.rglob("*.nbc")) == kept  # nothing was compiled again
    assert list((tmp_path / "temporary").iterdir()) == [folder]


def test_without_any_folder_loops_are_not_kept(closed, model):
    path, expected = model
    (warning,), answers = told_and_answered(closed(SCRIPT, path, "no temporary folder"))
    assert answers == expected
    assert "every run compiles them again" in warning
    assert "set NUMBA_CACHE_DIR" in warning


def test_the_command_line_without_any_folder(closed, model):
    path, expected = model
    done = closed(COMMAND, "no temporary folder", *neighbors(path))
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("eigentext: warning: there is no folder for compiled loops")
    assert "every run compiles them again" in line
    for word, _ in expected[0]:
        assert word in done.stdout


def test_a_user_whom_nobody_knows_gets_no_home_in_the_working_folder(closed, tmp_path):
    # Numba would make the folder "~", where anybody might have put code of theirs.
    code = """
import warnings
warnings.simplefilter("ignore")
from eigentext.trellis import _k_best_loops
"""
    done = closed(code, "nobody knows", home=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "~").exists()
    assert [one.name for one in (tmp_path / "temporary").iterdir()] == [
        f"eigentext-loops-{os.geteuid()}"
    ]


def test_without_compilation():
    code = "from eigentext.moments import _loops; print(type(_loops.count_pairs).__name__)"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "function\n"
