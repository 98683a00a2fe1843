"""What is written comes back; what is damaged or foreign is refused, and never by accident."""

import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import eigentext
from eigentext.errors import EigentextError, ModelFileError
from eigentext.storage import check_writable, read_saved, write_saved
from eigentext.storage.files import _DTYPES, _write_safetensors, replacing

FORM = "eigentext.test.v1"
STRINGS = st.lists(st.text(st.characters(exclude_categories=("Cs",))))
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ARRAYS = st.sampled_from(list(_DTYPES.values())).flatmap(lambda dtype: hnp.arrays(dtype, SHAPES))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def small(tmp_path):
    """A file with all there can be in one."""
    path = tmp_path / "model"
    arrays = {"vectors": np.eye(2, dtype=np.float32), "none": np.zeros((0, 3)), "words": ["a", "é"]}
    write_saved(path, FORM, arrays, {"about": {"rank": 2}})
    return path


def with_header(path: Path, header: object, data: bytes = b"") -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data)
    return path


def about(**document) -> dict[str, dict[str, str]]:
    return {"__metadata__": {"eigentext": json.dumps({"format": FORM, **document})}}


# Round trips.


@given(st.lists(ARRAYS, max_size=5), st.text(st.characters(exclude_categories=("Cs",))))
def test_files_are_byte_for_byte_those_of_the_safetensors_library(folder, arrays, text):
    named = {f"array {text!r} {number}": array for number, array in enumerate(arrays)}
    save_file(named, folder / "theirs", metadata={"eigentext": text})
    with (folder / "ours").open("wb") as file:
        _write_safetensors(file, named, {"eigentext": text})
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()


def test_a_long_array_is_written_in_pieces_and_read_by_any_reader(tmp_path, monkeypatch):
    monkeypatch.setattr("eigentext.storage.files._CHUNK", 7)
    array = np.arange(60.0).reshape(20, 3)
    np.save(tmp_path / "source.npy", array)
    mapped = np.load(tmp_path / "source.npy", mmap_mode="r")
    turned = array.astype(">f8").T  # neither in this order of bytes nor of axes
    write_saved(tmp_path / "model", FORM, {"mapped": mapped, "turned": turned}, {})
    found = load_file(tmp_path / "model")
    assert np.array_equal(found["mapped"], array)
    assert np.array_equal(found["turned"], array.T)


@given(ARRAYS)
def test_arrays_come_back(folder, array):
    path = folder / "array"
    write_saved(path, FORM, {"x": array}, {})
    found = read_saved(path)[0]["x"]
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()  # NaNs too
    assert load_file(path)["x"].tobytes() == array.tobytes()  # and in any other reader


@given(STRINGS)
def test_strings_come_back(folder, strings):
    path = folder / "strings"
    write_saved(path, FORM, {"words": strings, "x": np.arange(2)}, {})
    arrays, _ = read_saved(path)
    assert arrays["words"] == strings
    assert sorted(arrays) == ["words", "x"]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3).T,
        np.arange(10)[::2],
        np.arange(3, dtype=">i4"),
        np.broadcast_to(np.float32(1), (2, 2)),
        np.float64(2.5),
    ],
    ids=["transposed", "strided", "big-endian", "broadcast", "scalar"],
)
def test_arrays_of_any_layout(tmp_path, array):
    write_saved(tmp_path / "m", FORM, {"x": array}, {})
    found = read_saved(tmp_path / "m")[0]["x"]
    assert np.array_equal(found, array)
    assert np.shape(found) == np.shape(array)


@pytest.mark.parametrize("array", [np.array([{}]), np.array(["a"]), np.zeros(1, complex)])
def test_what_would_not_come_back_is_not_written(tmp_path, array):
    with pytest.raises(TypeError, match=f"x: files cannot hold arrays of {array.dtype}"):
        write_saved(tmp_path / "m", FORM, {"x": array}, {})
    assert list(tmp_path.iterdir()) == []


def test_the_document_comes_back(tmp_path):
    said = {"rank": 3, "names": ["é", "\0", '"'], "nested": {"x": [1.5, None, True]}}
    write_saved(tmp_path / "m", FORM, {}, said)
    arrays, document = read_saved(str(tmp_path / "m"))
    assert arrays == {}
    assert document == {"format": FORM, "eigentext": eigentext.__version__, **said}


def test_reading_maps(small):
    arrays, _ = read_saved(small)
    assert isinstance(arrays["vectors"], np.memmap)
    assert not arrays["vectors"].flags.writeable
    replaced = arrays["vectors"].copy()
    write_saved(small, FORM, {"vectors": np.zeros((9, 9))}, {})
    assert np.array_equal(arrays["vectors"], replaced)  # the old file lives while it is mapped


def test_other_tools_open_it(small):
    found = load_file(small)
    assert np.array_equal(found["vectors"], np.eye(2))
    assert found["words.utf8"].tobytes().decode() == "aé"
    assert found["words.offsets"].tolist() == [0, 1, 3]
    with safe_open(small, "numpy") as file:
        assert json.loads(file.metadata()["eigentext"])["about"] == {"rank": 2}


def test_the_file_has_the_permissions_of_any_other(small, tmp_path):
    other = tmp_path / "other"
    other.touch()
    assert stat.S_IMODE(small.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


# Written at once or not at all.


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_while_writing_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "model"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as temporary:
        temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "model"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.parent == path.parent  # else the rename would copy
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(small):
    before = small.read_bytes()
    script = """
import resource, signal, sys
import numpy as np
from eigentext.errors import EigentextError
from eigentext.storage import write_saved
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_saved(sys.argv[1], "eigentext.test.v1", {"x": np.zeros(1000)}, {})
except EigentextError as error:
    print(error)
"""
    command = [sys.executable, "-c", script, str(small)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "model: cannot be written (" in done.stdout
    assert "File too large" in done.stdout
    assert "choose another place with -o" in done.stdout
    assert small.read_bytes() == before
    assert list(small.parent.iterdir()) == [small]


@pytest.mark.parametrize("write", [check_writable, lambda path: write_saved(path, FORM, {}, {})])
@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("folder", "folder: is a folder; name a file in it, such as .*folder/model"),
        (".", "is a folder"),
        ("missing/model", r"missing/model: cannot be written \(No such file.*with -o"),
        ("file/model", r"cannot be written \(Not a directory\)"),
        ("x" * 300, r"cannot be written \(File name too long\)"),
        ("/proc/model", r"/proc/model: cannot be written"),
    ],
)
def test_places_that_cannot_be_written(tmp_path, monkeypatch, write, place, message):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").touch()
    with pytest.raises(EigentextError, match=message):
        write(place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_folder_that_is_read_only(as_nobody):
    with tempfile.TemporaryDirectory() as closed:
        for mode in (0o555, 0o000):
            Path(closed).chmod(mode)
            with (
                as_nobody(),
                pytest.raises(EigentextError, match=r"Permission denied.*permissions"),
            ):
                check_writable(Path(closed, "model"))
        Path(closed).chmod(0o700)


def test_trying_leaves_nothing_behind(tmp_path):
    path = tmp_path / "model"
    check_writable(path)
    assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    check_writable(str(path))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# Damaged and foreign files.


def test_a_file_cut_anywhere_is_refused(small):
    whole = small.read_bytes()
    for size in range(len(whole)):
        small.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match=r"model: (damaged or incompl|not an eigentext)"):
            read_saved(small)
    small.write_bytes(whole + b"\0")
    with pytest.raises(ModelFileError, match="damaged"):
        read_saved(small)


@given(st.data())
def test_a_file_with_other_bytes_in_it_is_read_or_refused(folder, data):
    path = folder / "changed"
    arrays = {"x": np.arange(4, dtype=np.int16), "words": ["one", "zwölf"]}
    write_saved(path, FORM, arrays, {"about": 1})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.sampled_from(list(b'"0129-.,:[]{}eEnft \\\x00\xff')))
    path.write_bytes(content)
    try:
        read_saved(path)
    except ModelFileError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"plain text, no model\n" * 100, bytes(64)])
def test_files_of_another_kind(tmp_path, content):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="model: not an eigentext file; give a file of `save`"):
        read_saved(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_not_run(tmp_path, protocol):
    path, trace = tmp_path / "model", tmp_path / "trace"

    class Trap:
        def __reduce__(self):
            return Path.touch, (trace,)

    path.write_bytes(pickle.dumps(Trap(), protocol))
    with pytest.raises(ModelFileError, match="not an eigentext file"):
        read_saved(path)
    assert not trace.exists()
    pickle.loads(path.read_bytes())
    assert trace.exists()  # the trap does work


def test_a_safetensors_file_of_others(tmp_path):
    for metadata in (None, {"format": "pt"}, {"eigentext": "no json"}, {"eigentext": "[]"}):
        save_file({"x": np.zeros(3)}, tmp_path / "model", metadata)
        with pytest.raises(ModelFileError, match="not an eigentext file"):
            read_saved(tmp_path / "model")


def test_a_header_of_any_length(tmp_path):
    path = tmp_path / "model"
    for length in (0, 1, 100, 99 << 20, 101 << 20, 1 << 40, (1 << 64) - 1):
        path.write_bytes(struct.pack("<Q", length) + b'{"a": 1}')
        with pytest.raises(ModelFileError):
            read_saved(path)


ENTRY = {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]}


@pytest.mark.parametrize(
    "entry",
    [
        {**ENTRY, "dtype": "F8"},
        {**ENTRY, "dtype": "BF16"},
        {**ENTRY, "dtype": ["I64"]},
        {**ENTRY, "dtype": None},
        {**ENTRY, "shape": [3]},
        {**ENTRY, "shape": [-1, -2]},
        {**ENTRY, "shape": [1 << 63, 1 << 63]},
        {**ENTRY, "shape": [2.0]},
        {**ENTRY, "shape": 2},
        {**ENTRY, "shape": ["2"]},
        {**ENTRY, "shape": None},
        {"dtype": "I64", "shape": [0, 1 << 70], "data_offsets": [16, 16]},
        {**ENTRY, "data_offsets": [-16, 16], "shape": [4]},
        {**ENTRY, "data_offsets": [16, 0]},
        {**ENTRY, "data_offsets": [0, 24]},
        {**ENTRY, "data_offsets": [0]},
        {**ENTRY, "data_offsets": [0, 16, 32]},
        {**ENTRY, "data_offsets": [0.0, 16.0]},
        {**ENTRY, "data_offsets": [0, float("inf")]},
        {**ENTRY, "data_offsets": [0, float("nan")]},
        {**ENTRY, "data_offsets": "06"},
        {**ENTRY, "data_offsets": None},
        {},
        [],
        5,
        None,
    ],
    ids=str,
)
def test_entries_that_are_wrong(tmp_path, entry):
    path = with_header(tmp_path / "model", {**about(), "x": entry}, bytes(16))
    with pytest.raises(ModelFileError, match="damaged or incomplete; copy it again or fit"):
        read_saved(path)
    with_header(path, {**about(), "x": ENTRY}, bytes(16))
    assert np.array_equal(read_saved(path)[0]["x"], [0, 0])


@pytest.mark.parametrize(
    "header",
    [
        [],
        b"{" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"__metadata__": 1e999}',
        b'{"\xff": 1}',
        {"__metadata__": None},
        {"__metadata__": {"eigentext": 5}},
        {"__metadata__": {"eigentext": "5"}},
        {"__metadata__": {"eigentext": "{}"}},
        {"__metadata__": {"eigentext": "[" * 100_000}},
        {"__metadata__": {"eigentext": '"format"'}},
    ],
    ids=range(11),
)
def test_headers_that_are_wrong(tmp_path, header):
    with pytest.raises(ModelFileError, match=r"model: (damaged|not an eigentext file)"):
        read_saved(with_header(tmp_path / "model", header))


@pytest.mark.parametrize(
    ("offsets", "utf8"),
    [
        (np.array([0, 2, 1]), b"ab"),
        (np.array([0, 1, 3]), b"ab"),
        (np.array([-1, 1]), b"ab"),
        (np.array([0, 1]), b"\xff"),
        (np.array([0, 1, 2]), "é".encode()),
        (np.array([], np.int64), b"ab"),
        (np.array([0, 1], np.int32), b"ab"),
        (np.array([[0, 1]]), b"ab"),
        (np.array([0.0, 0.0]), b"ab"),
        (None, b"ab"),
    ],
)
def test_strings_that_are_damaged(tmp_path, offsets, utf8):
    path = tmp_path / "model"
    flat = {"words.utf8": np.frombuffer(utf8, np.uint8)}
    if offsets is not None:
        flat["words.offsets"] = offsets
    save_file(flat, path, about()["__metadata__"])
    with pytest.raises(ModelFileError, match="model: damaged"):
        read_saved(path)


def test_paths_that_hold_no_file(tmp_path):
    with pytest.raises(ModelFileError, match=r"missing: cannot be read \(No such file"):
        read_saved(tmp_path / "missing")
    with pytest.raises(
        ModelFileError, match=r"is a folder without model\.safetensors; name the file"
    ):
        read_saved(tmp_path)


def test_pipes_are_not_replaced_and_links_stay_links(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EigentextError, match="device or a pipe"):
        write_saved(tmp_path / "pipe", "eigentext.test.v1", {}, {})
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link").symlink_to(tmp_path / "model")
    write_saved(tmp_path / "link", "eigentext.test.v1", {"a": np.arange(3)}, {})
    assert (tmp_path / "link").is_symlink()
    assert read_saved(tmp_path / "model")[0]["a"].tolist() == [0, 1, 2]
