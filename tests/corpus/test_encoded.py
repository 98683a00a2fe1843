"""Encoding is counting: Python's `Counter` says what must come out, whoever does the work."""

import errno
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import TextCorpus, engine
from eigentext.corpus import EncodedCorpus, encode, encoded, readers
from eigentext.corpus.encoded import END, default_cache
from eigentext.engine import ThreadEngine, use
from eigentext.errors import CorpusError

UNITS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "dd", "é"]), max_size=6), max_size=8)


def decoded(corpus: EncodedCorpus) -> list[list[str]]:
    units: list[list[str]] = [[]]
    for token in corpus.tokens.tolist():
        if token == END:
            units.append([])
        else:
            units[-1].append(corpus.words[token])
    return [unit for unit in units if unit]


def same(one: EncodedCorpus, two: EncodedCorpus) -> bool:
    return (
        np.array_equal(one.tokens, two.tokens)
        and one.words == two.words
        and np.array_equal(one.counts, two.counts)
        and one.fingerprint == two.fingerprint
        and one.options == two.options
    )


@pytest.fixture
def text(tmp_path, zipf_lines):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(zipf_lines(120)))
    return path


@pytest.fixture
def reads(monkeypatch):
    """The corpora whose text was read, in order."""
    seen, blocks = [], TextCorpus.blocks

    def counted(self):
        seen.append(self)
        return blocks(self)

    monkeypatch.setattr(TextCorpus, "blocks", counted)
    return seen


def entries(folder):
    return sorted(path.name for path in Path(folder).iterdir())


# Ids and counts.


@given(UNITS.filter(lambda units: any(units)), st.sampled_from(["line", "stream"]))
def test_ids_and_counts_are_those_of_a_counter(units, unit):
    corpus = encode(TextCorpus(units, unit=unit))
    counter = Counter(token for tokens in units for token in tokens)
    assert corpus.words == list(counter)  # a dict, too, keeps the order of first occurrence
    assert corpus.counts.tolist() == list(counter.values())
    assert corpus.n_tokens == counter.total()
    assert decoded(corpus) == list(TextCorpus(units, unit=unit))
    assert corpus.tokens[-1] == END
    assert (corpus.tokens.dtype, corpus.counts.dtype) == (np.int32, np.int64)


def test_more_words_than_the_first_table_holds():
    words = [f"w{number}" for number in range(70_000)]
    corpus = encode([words[:65_534], words[65_530:65_536], words, words[:10]])
    counter = Counter([*words[:65_534], *words[65_530:65_536], *words, *words[:10]])
    assert corpus.words == words
    assert corpus.counts.tolist() == list(counter.values())


@pytest.mark.parametrize("size", [65_534, 65_535, 65_536, 65_537])
def test_the_counts_at_the_edge_of_the_table(size):
    text = " ".join(f"w{number}" for number in range(size))
    with mock.patch.object(readers, "BLOCK_BYTES", 1):  # one text a block: the table grows later
        corpus = encode(TextCorpus(["w0", "w0", text, text, text + " last"]))
    assert corpus.counts.tolist() == [5, *[3] * (size - 1), 1]


@pytest.mark.parametrize("unit", ["line", "document", "stream"])
def test_the_same_bits_for_any_threads_and_blocks(text, unit, monkeypatch):
    corpus = TextCorpus([text, text], unit=unit)
    with use(ThreadEngine(1)):
        expected = encode(corpus)
    assert decoded(expected) == list(corpus)
    for block_bytes in (1, 30, 1000):
        monkeypatch.setattr(readers, "BLOCK_BYTES", block_bytes)
        for threads in (1, 2, 4):
            with use(ThreadEngine(threads)):
                found = encode(corpus)
            assert same(found, expected)


def test_what_is_encoded_stays_as_it_is(text):
    corpus = encode(text)
    assert encode(corpus) is corpus
    assert same(encode(TextCorpus(text)), corpus)


def test_shards_cover_the_tokens_once():
    corpus = encode([["a"] * 10])
    for n_shards in range(20):
        shards = corpus.shards(n_shards)
        assert [place for start, stop in shards for place in range(start, stop)] == list(range(12))
        assert len(shards) == min(max(n_shards, 1), 12)
        sizes = [stop - start for start, stop in shards]
        assert max(sizes) - min(sizes) <= 1


def test_progress_counts_the_bytes(text):
    listener = mock.Mock()
    phases = []
    listener.finished = phases.append
    with engine.report_to(listener):
        encode(text)
    (phase,) = phases
    assert (phase.name, phase.unit) == ("read and encode", "B")
    assert phase.total == phase.done == text.stat().st_size


# More tokens than memory should hold.


@pytest.mark.parametrize("limit", [0, 1, 100, 500])
def test_spilling_to_a_file_gives_the_same_tokens(text, monkeypatch, limit):
    expected = encode(text)
    monkeypatch.setattr(readers, "BLOCK_BYTES", 64)
    monkeypatch.setattr(encoded, "_IN_MEMORY", limit)
    spilled = encode(text)
    assert isinstance(spilled.tokens, np.memmap)
    assert not isinstance(expected.tokens, np.memmap)
    assert same(spilled, expected)


def test_no_room_to_spill_names_the_remedy(text, monkeypatch):
    monkeypatch.setattr(encoded, "_IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(open, "/dev/full", "w+b", 0))
    with pytest.raises(CorpusError, match=r"No space left on device\); set TMPDIR"):
        encode(text)


# The cache.


def test_the_second_call_maps_and_does_not_read(text, tmp_path, reads):
    cache = tmp_path / "made" / "cache"
    expected = encode(text)
    reads.clear()
    first, second = encode(text, cache=cache), encode(text, cache=cache)
    assert len(reads) == 1
    assert same(first, expected)
    assert same(second, expected)
    assert isinstance(second.tokens, np.memmap)
    assert not second.tokens.flags.writeable


def test_the_key_is_the_content(text, tmp_path, reads):
    cache = tmp_path / "cache"
    encode(text, cache=cache)
    moved = text.rename(tmp_path / "moved.text")
    encode(TextCorpus(moved), cache=cache)
    assert len(reads) == 1
    content = bytearray(moved.read_bytes())
    content[-1] ^= 1
    moved.write_bytes(content)
    changed = encode(moved, cache=cache)
    assert len(reads) == 2
    assert same(changed, encode(moved))


@pytest.mark.parametrize(
    "options",
    [{"lowercase": True}, {"unit": "stream"}, {"tokenizer": "simple"}, {"errors": "replace"}],
)
def test_the_key_has_the_options_in_it(text, tmp_path, reads, options):
    encode(text, cache=tmp_path / "cache")
    found = encode(TextCorpus(text, **options), cache=tmp_path / "cache")
    assert len(reads) == 2
    assert same(found, encode(TextCorpus(text, **options)))


def test_packed_bytes_under_a_plain_name_are_other_text(tmp_path):
    packed, copy = tmp_path / "text.gz", tmp_path / "text.txt"
    packed.write_bytes(gzip.compress(b"a b c"))
    copy.write_bytes(packed.read_bytes())
    assert encode(packed, cache=tmp_path / "cache").words == ["a", "b", "c"]
    with pytest.raises(CorpusError, match=r"not UTF-8|NUL"):
        encode(copy, cache=tmp_path / "cache")


def test_what_a_callable_made_is_never_kept(text, tmp_path):
    # Both are test_what_a_callable_made_is_never_kept.<locals>.<lambda>: no name tells them apart.
    cache = tmp_path / "cache"
    letters = encode(TextCorpus(text, tokenizer=lambda line: list(line)), cache=cache)
    words = encode(TextCorpus(text, tokenizer=lambda line: line.split()), cache=cache)
    assert letters.words != words.words


def test_the_users_folder(text, tmp_path, monkeypatch, reads):
    monkeypatch.setenv("EIGENTEXT_CACHE", str(tmp_path / "mine"))
    encode(text, cache=True)
    encode(text, cache=True)
    encode(text, cache=False)
    assert len(reads) == 2
    assert len(entries(tmp_path / "mine")) == 1
    monkeypatch.delenv("EIGENTEXT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert default_cache() == Path("/x/eigentext")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache() == Path.home() / ".cache" / "eigentext"


@pytest.mark.parametrize("damage", ["cut", "empty", "no tokens", "no words", "garbage", "file"])
def test_a_damaged_entry_is_made_again(text, tmp_path, damage):
    cache = tmp_path / "cache"
    expected = encode(text)
    encode(text, cache=cache)
    (entry,) = cache.iterdir()
    tokens, words = entry / "tokens.i32", entry / "words.safetensors"
    match damage:
        case "cut":
            os.truncate(tokens, tokens.stat().st_size // 2)
        case "empty":
            os.truncate(tokens, 0)
        case "no tokens":
            tokens.unlink()
        case "no words":
            words.unlink()
        case "garbage":
            words.write_bytes(b"garbage")
        case "file":
            shutil.rmtree(entry)
            entry.write_text("not even a folder")
    assert same(encode(text, cache=cache), expected)
    if damage != "file":  # not ours to delete
        kept = encoded._read_cached(entry)
        assert kept
        assert same(kept, expected)


def test_a_failed_encoding_leaves_nothing(text, tmp_path):
    text.write_bytes(text.read_bytes() + b"\n\xff")
    with pytest.raises(CorpusError, match="not UTF-8"):
        encode(text, cache=tmp_path / "cache")
    assert entries(tmp_path / "cache") == []


def test_an_interrupted_encoding_leaves_nothing(text, tmp_path, monkeypatch):
    monkeypatch.setattr(encoded._TokenSink, "finish", mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        encode(text, cache=tmp_path / "cache")
    assert entries(tmp_path / "cache") == []


def test_a_killed_encoding_leaves_no_entry_and_is_swept_up_later(text, tmp_path, reads):
    cache = tmp_path / "cache"
    script = """
import sys, time
from eigentext.corpus import encode, encoded
def hang(sink):
    sink._file.flush()
    print("hanging", flush=True)
    time.sleep(60)
encoded._TokenSink.finish = hang
encode(sys.argv[1], cache=sys.argv[2])
"""
    command = [sys.executable, "-c", script, str(text), str(cache)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"hanging\n"
        process.send_signal(signal.SIGKILL)
    (left,) = cache.iterdir()
    assert left.name.startswith(".")
    encode(text, cache=cache)
    assert len(reads) == 1
    assert left.exists()  # it might still be at work
    os.utime(left, (0, 0))
    encode([["other"]], cache=cache)
    assert not left.exists()
    assert len(entries(cache)) == 2


def test_text_that_changes_while_it_is_read_is_not_kept(text, tmp_path, monkeypatch):
    blocks = TextCorpus.blocks

    def growing(self):
        yield from blocks(self)
        text.write_text("another text altogether")

    monkeypatch.setattr(TextCorpus, "blocks", growing)
    encode(text, cache=tmp_path / "cache")
    assert entries(tmp_path / "cache") == []


@pytest.mark.parametrize("folder", ["/proc/eigentext", "a file", "a file/below"])
def test_a_cache_that_cannot_be_written_names_the_remedy(text, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    Path("a file").touch()
    with pytest.raises(CorpusError, match=rf"^{folder}: cannot save.*--cache DIR.*--no-cache"):
        encode(text, cache=folder)


def test_the_default_cache_is_done_without_where_it_cannot_be(text, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_CACHE", "/proc/eigentext")
    assert np.array_equal(encode(text, cache=True).tokens, encode(text).tokens)


def test_a_full_disk_names_the_remedy(text, tmp_path, monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(encoded._TokenSink, "append", mock.Mock(side_effect=full))
    with pytest.raises(CorpusError, match=r"cache: .*No space left on device.*--no-cache"):
        encode(text, cache=tmp_path / "cache")
    assert entries(tmp_path / "cache") == []


def test_an_entry_of_another_user_is_read(text, tmp_path, monkeypatch, reads):
    encode(text, cache=tmp_path / "cache")
    monkeypatch.setattr(os, "utime", mock.Mock(side_effect=PermissionError))
    encode(text, cache=tmp_path / "cache")
    assert len(reads) == 1


def test_the_least_recently_used_goes_first(tmp_path, monkeypatch, reads):
    cache = tmp_path / "cache"
    own = cache / "my-model-v1"
    own.mkdir(parents=True)
    (own / "precious").write_bytes(bytes(1 << 16))
    (cache / "notes-v1").write_text("a file of the user's")
    texts = [TextCorpus([[word] * 1000]) for word in "abc"]
    now = time.time()
    for age, corpus in zip((300, 200), texts):
        encode(corpus, cache=cache)
        os.utime(cache / encoded._key(corpus.fingerprint()), (now - age, now - age))
    encode(texts[0], cache=cache)  # used again: now b is the oldest
    monkeypatch.setattr(encoded, "_CACHE_BYTES", 13_000)  # room for two
    encode(texts[2], cache=cache)
    reads.clear()
    for corpus in (texts[0], texts[2]):
        encode(corpus, cache=cache)
    assert reads == []
    encode(texts[1], cache=cache)
    assert reads == [texts[1]]
    assert (own / "precious").exists()
    assert (cache / "notes-v1").exists()


def test_an_entry_larger_than_the_limit_stays_till_the_next(tmp_path, monkeypatch, reads):
    monkeypatch.setattr(encoded, "_CACHE_BYTES", 0)
    large = encode([["a", "b"]], cache=tmp_path)
    encode([["a", "b"]], cache=tmp_path)
    assert len(reads) == 1
    encode([["c"]], cache=tmp_path)
    assert len(entries(tmp_path)) == 1
    assert decoded(large) == [["a", "b"]]  # what is mapped stays readable


def test_many_at_once_fill_one_cache(text, tmp_path):
    expected = encode(text)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: encode(text, cache=tmp_path / "cache"), range(16)))
    assert all(same(one, expected) for one in found)
    assert len(entries(tmp_path / "cache")) == 1
