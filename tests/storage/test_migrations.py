"""Old files are read: every old version of a format has its step to the next one."""

import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

from eigentext.errors import ModelFileError
from eigentext.storage import Saved, load, migrations, models, write_saved


class Thing(Saved):
    """A thing whose format changed twice: numbers were rows, and the name had another key."""

    _format = "eigentext.thing.v3"

    def __init__(self, numbers, name):
        self.numbers, self.name = numbers, name

    def _to_saved(self):
        return {"numbers": self.numbers}, {"name": self.name}

    @classmethod
    def _from_saved(cls, arrays, about):
        assert about["format"] == cls._format
        return cls(np.array(arrays["numbers"]), about["name"])


def thing_v1(arrays, about):
    if "rows" not in arrays:
        raise ModelFileError("damaged: no rows")
    return {"numbers": arrays["rows"].ravel()}, about


def thing_v2(arrays, about):
    return arrays, about | {"name": about["title"]}


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    module = ModuleType("eigentext_thing")
    module.Thing, module.thing_v1, module.thing_v2 = Thing, thing_v1, thing_v2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "eigentext_thing", module)
    monkeypatch.setitem(models._READERS, "eigentext.thing", ("eigentext_thing", "Thing"))
    for version in (1, 2):
        step = ("eigentext_thing", f"thing_v{version}")
        monkeypatch.setitem(migrations._STEPS, f"eigentext.thing.v{version}", step)


def test_all_steps_are_taken(tmp_path):
    rows = np.arange(4).reshape(2, 2)
    write_saved(tmp_path / "1", "eigentext.thing.v1", {"rows": rows}, {"title": "a"})
    write_saved(tmp_path / "2", "eigentext.thing.v2", {"numbers": rows.ravel()}, {"title": "a"})
    Thing(rows.ravel(), "a").save(tmp_path / "3")
    for name in "123":
        found = load(tmp_path / name)
        assert (found.numbers.tolist(), found.name) == ([0, 1, 2, 3], "a")
        found.save(tmp_path / "again")  # in the newest version
        assert (tmp_path / "again").read_bytes() == (tmp_path / "3").read_bytes()


def test_damage_in_old_files_is_named_with_the_file(tmp_path):
    write_saved(tmp_path / "m", "eigentext.thing.v1", {}, {"title": "a"})
    with pytest.raises(ModelFileError, match=r"/m: damaged: no rows$"):
        load(tmp_path / "m")
    write_saved(tmp_path / "m", "eigentext.thing.v2", {}, {})
    with pytest.raises(ModelFileError, match=r"/m: damaged or made by .*KeyError\('title'\)"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("version", "remedy"),
    [("4", "pip install -U eigentext"), ("x", "pip install -U"), ("0", "no version of eigentext")],
)
def test_versions_that_are_not_older(tmp_path, version, remedy):
    write_saved(tmp_path / "m", f"eigentext.thing.v{version}", {}, {})
    with pytest.raises(ModelFileError, match=rf"/m: format version {version}, .*{remedy}"):
        load(tmp_path / "m")


def test_every_old_version_of_every_format_has_a_step():
    for family, (module, name) in models._READERS.items():
        newest = int(getattr(import_module(module), name)._format.rpartition(".v")[2])
        for version in range(1, newest):
            module, name = migrations._STEPS[f"{family}.v{version}"]
            assert callable(getattr(import_module(module), name))
