"""Blocks put together are the file, however it is packed and wherever it is cut."""

import bz2
import gzip
import lzma
import os
import tempfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus import readers
from eigentext.corpus.readers import compression, expand_paths, line_number, read_blocks
from eigentext.errors import CorpusError

BOM = b"\xef\xbb\xbf"
BYTES = st.lists(st.sampled_from([b"a", b"bc", "é".encode(), b" ", b"\n", b"\t", b"\r\n", BOM]))


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACK = {
    ".txt": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
PACKED = [ending for ending in PACK if ending != ".txt"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readers")


def blocks_of(path, block_bytes, **options):
    with mock.patch.object(readers, "BLOCK_BYTES", block_bytes):
        return list(read_blocks(path, **options))


# Blocks.


@given(BYTES.map(b"".join), st.integers(1, 8), st.booleans())
def test_blocks_are_the_file_cut_after_blanks(folder, data, block_bytes, whole_lines):
    path = folder / "text.txt"
    path.write_bytes(data)
    blocks = blocks_of(path, block_bytes, whole_lines=whole_lines)
    assert b"".join(block.data for block in blocks) == data.removeprefix(BOM)
    assert [block.ends_source for block in blocks] == [False] * (len(blocks) - 1) + [True]
    for block in blocks[:-1]:
        assert block.data.endswith(b"\n" if whole_lines else (b" ", b"\n", b"\t", b"\r"))
    for block in blocks:
        assert block.source == str(path)
        assert data[block.offset : block.offset + len(block.data)] == block.data


def test_block_bytes_bound_the_blocks(folder):
    path = folder / "bound.txt"
    path.write_bytes(b"ab " * 1000)
    sizes = [len(block.data) for block in blocks_of(path, 30)]
    assert max(sizes) <= 30
    assert len(sizes) == 101
    assert len(list(read_blocks(path))) == 2  # of 4 MiB by default: all of it, and the end


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("block_bytes", [1, 7, 1 << 20])
def test_packing_changes_nothing(tmp_path, ending, block_bytes):
    data = "\ufeffein Bär\r\nund noch  einer\n\nohne Zeilenende".encode()
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACK[ending](data))
    assert b"".join(block.data for block in blocks_of(path, block_bytes)) == data[3:]


@pytest.mark.parametrize("ending", PACK)
def test_endings_in_capitals(tmp_path, ending):
    path = tmp_path / f"text{ending.upper()}"
    path.write_bytes(PACK[ending](b"a b"))
    assert [block.data for block in read_blocks(path)] == [b"a ", b"b"]
    assert compression(path) == ending[1:].replace("txt", "")


@pytest.mark.parametrize("ending", PACK)
def test_concatenated_members_follow_one_another(tmp_path, ending):
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACK[ending](b"one tw") + PACK[ending](b"o\nthree"))
    assert b"".join(block.data for block in read_blocks(path)) == b"one two\nthree"


@pytest.mark.parametrize("ending", PACKED)
def test_a_cut_file_is_never_taken_for_a_whole_one(tmp_path, ending):
    whole = PACK[ending](b"some words of a text\n" * 20)
    path = tmp_path / f"text{ending}"
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(CorpusError, match=rf"text{ending}: not a whole {ending}.*unpack it"):
            list(read_blocks(path))


@pytest.mark.parametrize("ending", PACKED)
def test_plain_text_under_a_packed_name(tmp_path, ending):
    path = tmp_path / f"text{ending}"
    path.write_bytes(b"this was never compressed, only named so")
    with pytest.raises(CorpusError, match="unpack it first"):
        list(read_blocks(path))


@pytest.mark.parametrize("ending", PACK)
def test_line_numbers_of_every_byte(tmp_path, ending):
    data = b"a\n\nbc\nd e f\n\xff\n"
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACK[ending](data))
    with mock.patch.object(readers, "BLOCK_BYTES", 3):
        found = [line_number(path, offset) for offset in range(len(data))]
    assert found == [data[:offset].count(b"\n") + 1 for offset in range(len(data))]


def test_a_file_that_went_away_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"gone\.txt: cannot be read \(.*No such file"):
        list(read_blocks(tmp_path / "gone.txt"))


# Names.


def test_names_keep_their_order_and_globs_are_sorted(tmp_path, monkeypatch):
    for name in ("c.txt", "a.txt", "b.txt", "z.gz", "deep/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expand_paths(["z.gz", "*.txt"]) == [Path(n) for n in ("z.gz", "a.txt", "b.txt", "c.txt")]
    assert expand_paths([Path("[bc].txt"), "~/a.txt"])[::2] == [Path("b.txt"), tmp_path / "a.txt"]
    assert Path("deep/x.txt") in expand_paths(["**/*.txt"])


def test_a_file_with_signs_of_a_glob_in_its_name(tmp_path):
    path = tmp_path / "what[1]?.txt"
    path.touch()
    assert expand_paths([str(path)]) == [path]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.txt", r"missing\.txt: no such file; check the name"),
        (f"{'long' * 100}.txt", "no such file"),
        ("folder", r"folder: is a folder; name its files, as in '.*folder/\*\.txt'"),
        ("*.none", r"\*\.none: no file matches; check the pattern"),
        ("fold*", r"fold\*: no file matches"),
        ("pipe", "pipe: is a pipe or a device, not a file; save its text in one"),
    ],
)
def test_names_that_cannot_be_read(tmp_path, name, message):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match=message):
        expand_paths([str(tmp_path / name)])


def test_the_home_of_nobody():
    with pytest.raises(CorpusError, match="no such file"):
        expand_paths(["~no-such-user/text.txt"])


def test_a_file_without_permission(as_nobody):
    with tempfile.TemporaryDirectory() as open_folder:
        Path(open_folder).chmod(0o755)
        path = Path(open_folder, "secret.txt")
        path.write_text("a b")
        path.chmod(0o000)
        with as_nobody(), pytest.raises(CorpusError, match=r"secret\.txt: .*check its permissions"):
            expand_paths([path])


def test_a_folder_without_permission(as_nobody):
    with tempfile.TemporaryDirectory() as closed:
        path = Path(closed, "text.txt")
        path.write_text("a b")
        Path(closed).chmod(0o000)
        with as_nobody(), pytest.raises(CorpusError, match="no such file"):
            expand_paths([path])
        Path(closed).chmod(0o700)
