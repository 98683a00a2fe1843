"""`import eigentext` is instant: every name is there, and nothing heavy is loaded for it."""

import importlib
import json
import subprocess
import sys

import pytest

import eigentext

HEAVY = ("numba", "sklearn", "pyarrow", "scipy", "numpy", "typer", "rich", "safetensors")
SCRIPT = """
import json, sys, time
before = set(sys.modules)
start = time.perf_counter()
import eigentext
seconds = time.perf_counter() - start
dir(eigentext), eigentext.__version__
print(json.dumps([seconds, sorted(set(sys.modules) - before)]))
"""


def imported(script=SCRIPT):
    command = [sys.executable, "-c", script]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def test_importing_is_instant_and_light():
    runs = [imported() for _ in range(3)]
    assert min(seconds for seconds, _ in runs) < 0.1
    modules = runs[0][1]
    assert "eigentext" in modules
    assert not {module.partition(".")[0] for module in modules} & set(HEAVY)


@pytest.mark.parametrize(
    ("name", "loads", "spares"),
    [
        ("EigentextError", (), HEAVY),
        ("engine", (), ("numba", "sklearn", "scipy", "typer", "pyarrow")),
        ("TextCorpus", ("pyarrow",), ("numba", "sklearn", "scipy", "typer")),
        ("storage", (), HEAVY),
        ("corpus", (), HEAVY),
        ("load", ("numpy",), ("numba", "sklearn", "scipy", "typer", "pyarrow")),
    ],
)
def test_a_name_loads_what_it_needs(name, loads, spares):
    _, modules = imported(SCRIPT.replace("dir(eigentext)", f"eigentext.{name}"))
    roots = {module.partition(".")[0] for module in modules}
    assert roots >= set(loads)
    assert not roots & set(spares)


def test_every_public_name_is_there():
    assert len(set(eigentext.__all__)) == len(eigentext.__all__)
    for name in eigentext.__all__:
        assert getattr(eigentext, name) is not None
        assert name in dir(eigentext)


def test_names_are_those_of_their_homes():
    for name, home in eigentext._HOMES.items():
        module = importlib.import_module(home)
        assert getattr(eigentext, name) is getattr(module, name)
        assert name in eigentext.__all__
        assert name in module.__all__ if hasattr(module, "__all__") else True
    for name in eigentext._ROOMS:
        assert getattr(eigentext, name) is importlib.import_module(f"eigentext.{name}")
        assert name in eigentext.__all__


def test_a_star_import_brings_them_all():
    names: dict[str, object] = {}
    exec("from eigentext import *", names)
    assert names.keys() >= set(eigentext.__all__)


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="module 'eigentext' has no attribute 'Eigenword'"):
        _ = eigentext.Eigenword
    with pytest.raises(ImportError, match="cannot import name 'Eigenword'"):
        exec("from eigentext import Eigenword")
    assert not hasattr(eigentext, "__no_such_thing__")
