"""Blocks put together are the file, however it is packed and wherever it is cut."""

import bz2
import gzip
import lzma
import os
import random
import tempfile
import zlib
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus import readers, unpacking
from eigentext.corpus.readers import (
    compression,
    expand_paths,
    line_number,
    read_blocks,
    read_lines,
    read_whole,
)
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
        with pytest.raises(CorpusError, match=rf"text{ending}: not a complete {ending}.*unpack it"):
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
        ("folder", r"folder: is a folder; name its files, for example '.*folder/\*\.txt'"),
        ("*.none", r"\*\.none: no file matches; check the pattern"),
        ("fold*", r"fold\*: no file matches"),
        ("pipe", "pipe: is a pipe or a device, not a file; save its text in a file"),
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


# Files that would take all memory.


@pytest.mark.parametrize("ending", PACKED)
def test_what_grows_out_of_proportion_is_refused(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(unpacking, "_HARMLESS_KEPT", 1 << 16)
    path = tmp_path / f"bomb{ending}"
    path.write_bytes(PACK[ending](b"\n" * (1 << 20)))
    ratio = (1 << 20) / path.stat().st_size
    assert ratio > 250
    with mock.patch.object(readers, "BLOCK_BYTES", 1 << 14):
        with pytest.raises(CorpusError, match=r"more than 250 times its size.*unpack it first"):
            read_whole(path)
        with pytest.raises(CorpusError, match="more than 250 times"):
            list(read_lines(path))
        assert sum(len(block.data) for block in read_blocks(path)) == 1 << 20  # that streams
        monkeypatch.setattr(unpacking, "_HARMLESS", 1 << 16)
        monkeypatch.setattr(unpacking, "_RATIO", ratio / 2)
        with pytest.raises(CorpusError, match="times its size"):
            list(read_blocks(path))


def test_honest_packed_files_are_in_proportion(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "_HARMLESS_KEPT", 1)
    words = random.Random(0).choices([f"(N word{i})" for i in range(1000)], k=10_000)
    text = "\n".join(words).encode()
    for ending in PACKED:
        path = tmp_path / f"text{ending}"
        path.write_bytes(PACK[ending](text))
        assert read_whole(path) == text


@pytest.mark.parametrize("ending", PACK)
def test_lines_and_words_without_end(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(readers, "LONGEST_TOKEN", 1000)
    monkeypatch.setattr(readers, "LONGEST_LINE", 5000)
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACK[ending](b"a b\n" + b"x " * 2000 + b"\n" + b"x" * 2000))
    with pytest.raises(CorpusError, match=r"line 3: a word .without blanks. of more than"):
        blocks_of(path, 100)
    assert len(blocks_of(path, 100, whole_lines=True)) >= 2
    path.write_bytes(PACK[ending](b"a b\n" + b"x " * 4000))
    with pytest.raises(CorpusError, match="line 2: a line of more than"):
        blocks_of(path, 100, whole_lines=True)
    assert blocks_of(path, 100)


@pytest.mark.parametrize("ending", PACK)
def test_files_too_large_to_be_parsed_whole(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(readers, "LARGEST_FILE", 1000)
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACK[ending](b"x " * 600))
    with pytest.raises(CorpusError, match=f"text{ending}: has more than .*split it into several"):
        read_whole(path)


def test_an_xz_file_that_asks_for_gigabytes(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 12}]
    data = bytearray(lzma.compress(b"a b c", check=lzma.CHECK_NONE, filters=filters))
    at = data.index(b"\x21\x01", 12) + 2  # the size of the dictionary, in the header of the block
    data[at] = 39  # 3 GiB
    header = data[12 : 12 + 4 * (data[12] + 1)]
    header[-4:] = zlib.crc32(bytes(header[:-4])).to_bytes(4, "little")
    data[12 : 12 + len(header)] = header
    path = tmp_path / "text.xz"
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=r"not a complete \.xz file .*[Mm]emory"):
        list(read_blocks(path))


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="not Linux")
def test_broken_files_leave_no_memory_behind(tmp_path, ending):
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACK[ending](b"a b c" * 1000)[:-9])

    def read() -> None:
        with pytest.raises(CorpusError):
            list(read_blocks(path))

    def size() -> int:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    read()
    before = size()
    for _ in range(50):
        read()
    assert size() - before < 25 * readers.BLOCK_BYTES


@pytest.mark.parametrize("ending", PACK)
def test_lines_with_their_numbers(tmp_path, ending):
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACK[ending](BOM + b"a\n\nb\r\nc"))
    for block_bytes in (1, 2, 100):
        with mock.patch.object(readers, "BLOCK_BYTES", block_bytes):
            assert list(read_lines(path)) == [(1, b"a"), (2, b""), (3, b"b\r"), (4, b"c")]
    assert read_whole(path) == b"a\n\nb\r\nc"


def test_streams_of_xz_with_padding_between(tmp_path):
    path = tmp_path / "text.xz"
    path.write_bytes(lzma.compress(b"one ") + bytes(8) + lzma.compress(b"two") + bytes(4))
    assert read_whole(path) == b"one two"
    path.write_bytes(lzma.compress(b"old", format=lzma.FORMAT_ALONE))
    assert read_whole(path) == b"old"
