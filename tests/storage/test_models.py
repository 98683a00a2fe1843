"""`save` and `load`: a format names its reader, and every mistake is a `ModelFileError`."""

import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

import eigentext
from eigentext.errors import CorpusError, EigentextError, ModelFileError
from eigentext.storage import Saved, load, models, write_saved


class Thing(Saved):
    """The smallest thing with a file format."""

    _format = "eigentext.thing.v2"

    def __init__(self, numbers, name):
        self.numbers, self.name = numbers, name

    def _to_saved(self):
        return {"numbers": self.numbers}, {"name": self.name}

    @classmethod
    def _from_saved(cls, arrays, about):
        return cls(arrays["numbers"], about["name"])


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    module = ModuleType("eigentext_thing")
    module.Thing = Thing  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "eigentext_thing", module)
    monkeypatch.setitem(models._READERS, "eigentext.thing", ("eigentext_thing", "Thing"))


def test_what_is_saved_is_loaded(tmp_path):
    path = tmp_path / "thing"
    Thing(np.arange(5), "é").save(path)
    for given in (path, str(path)):
        thing = load(given)
        assert type(thing) is Thing
        assert thing.name == "é"
        assert isinstance(thing.numbers, np.memmap)
        assert thing.numbers.tolist() == [0, 1, 2, 3, 4]
    assert eigentext.load is load


def test_saving_what_was_loaded_over_itself(tmp_path):
    path = tmp_path / "thing"
    Thing(np.arange(100_000), "a").save(path)
    content = path.read_bytes()
    load(path).save(path)  # the arrays are mapped from the very file that is replaced
    assert path.read_bytes() == content


def test_every_format_has_its_reader():
    for family, (module, name) in models._READERS.items():
        reader = getattr(import_module(module), name)
        assert issubclass(reader, Saved)
        assert reader._format.rpartition(".v")[0] == family
        assert reader._format.rpartition(".v")[2].isdigit()


@pytest.mark.parametrize(
    ("form", "remedy"),
    [
        ("eigentext.thing.v3", "pip install -U eigentext"),
        ("eigentext.thing.v", "pip install -U eigentext"),
        ("eigentext.thing.v1", "no version of eigentext wrote eigentext.thing.v1; copy"),
    ],
)
def test_another_version_of_the_format(tmp_path, form, remedy):
    write_saved(tmp_path / "m", form, {"numbers": np.arange(2)}, {"name": "", "eigentext": "99.0"})
    with pytest.raises(ModelFileError) as caught:
        load(tmp_path / "m")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'm'}: ")
    for part in ("99.0", eigentext.__version__, "eigentext.thing.v2", remedy):
        assert part in message


@pytest.mark.parametrize("form", ["eigentext.dream.v1", "os.system", "", "v1", 5, None, ["x"]])
def test_a_format_that_nobody_knows(tmp_path, form):
    write_saved(tmp_path / "m", form, {}, {})
    with pytest.raises(ModelFileError, match=r"eigentext .* does not know; a newer version may"):
        load(tmp_path / "m")


def test_a_file_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "thing"
    Thing(np.arange(3, dtype=np.uint8), "a").save(path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match="thing"):
            load(path)


def test_a_whole_file_without_what_the_reader_needs(tmp_path):
    write_saved(tmp_path / "m", Thing._format, {}, {"name": "a"})
    with pytest.raises(
        ModelFileError, match=r"m: damaged or .* KeyError\('numbers'\) while reading"
    ):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    "error",
    [KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, CorpusError],
)
def test_whatever_the_reader_stumbles_over(tmp_path, monkeypatch, error):
    def stumble(cls, arrays, about):
        raise error("here")

    Thing(np.arange(3), "a").save(tmp_path / "m")
    monkeypatch.setattr(Thing, "_from_saved", classmethod(stumble))
    with pytest.raises(ModelFileError, match=r"m: damaged or made by .*here") as caught:
        load(tmp_path / "m")
    assert isinstance(caught.value.__cause__, error)


def test_the_readers_own_words_are_kept(tmp_path, monkeypatch):
    def refuse(cls, arrays, about):
        raise ModelFileError("said better")

    Thing(np.arange(3), "a").save(tmp_path / "m")
    monkeypatch.setattr(Thing, "_from_saved", classmethod(refuse))
    with pytest.raises(ModelFileError, match=r"/m: said better$"):
        load(tmp_path / "m")


def test_missing_files_and_folders(tmp_path):
    for path, reason in ((tmp_path / "missing", "cannot be read"), (tmp_path, "is a folder")):
        with pytest.raises(ModelFileError, match=reason):
            load(path)
    with pytest.raises(EigentextError, match="cannot be written"):
        Thing(np.arange(3), "a").save(tmp_path / "missing" / "thing")


def test_a_mixin_alone_saves_nothing(tmp_path):
    with pytest.raises(NotImplementedError):
        Saved().save(tmp_path / "m")
    with pytest.raises(NotImplementedError):
        Saved._from_saved({}, {})
