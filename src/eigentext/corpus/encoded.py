"""Text becomes integers, once. No later step touches strings.

Threads of the engine split blocks into tokens and encode them with Arrow. Then one table numbers
the distinct words of each block, in the order of the blocks, so the ids depend on the text alone.
Tokens are one int32 array, in memory or mapped from a file. The value -1 ends a unit.
"""

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.corpus.buffers import integers_of
from eigentext.corpus.given import as_corpus
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.tokenizers import UNIT_END
from eigentext.corpus.wordless import wordless
from eigentext.errors import CorpusError
from eigentext.matrices.budget import give_back
from eigentext.storage.valid_json import json_text

END = -1
_IN_MEMORY = 1 << 28  # tokens (1 GiB); longer texts go to a file
_CACHE_BYTES = 20 << 30
_VERSION = 1  # the version of cache files, a part of their key
# The folder may contain other files. Only files with these names may be deleted.
_ENTRY = re.compile(r"[0-9a-f]{40}-v\d+")
_UNFINISHED = ".eigentext-new-"


@dataclass
class EncodedCorpus:
    """A corpus as integers.

    Attributes
    ----------
    tokens : int32 array, may be memory-mapped
        Ids in the order of first occurrence; `END` (-1) after each unit.
    words : list of str
    counts : int64 array
    fingerprint : str
        A hash of the text and the options; equal for equal input.
    options : dict
        Tokenizer, lower case, unit.
    """

    tokens: np.ndarray
    words: list[str]
    counts: np.ndarray
    fingerprint: str
    options: dict[str, Any]

    @property
    def n_tokens(self) -> int:
        """The number of tokens, without the marks between units."""
        return int(self.counts.sum())

    def shards(self, n_shards: int) -> list[tuple[int, int]]:
        """Cut the token array into at most `n_shards` ranges of about equal length."""
        edges = np.linspace(0, len(self.tokens), max(1, n_shards) + 1).astype(np.int64)
        return [(int(a), int(b)) for a, b in pairwise(edges) if a < b]


def encode(
    corpus: Any,
    *,
    cache: str | os.PathLike[str] | bool | None = None,
    memory: int | None = None,
) -> EncodedCorpus:
    """Encode a corpus as integers: split, number and count its tokens on all threads.

    Parameters
    ----------
    corpus : TextCorpus, list of strings, list of lists of tokens, path or list of paths
        A list of strings is always text; paths are files: see :mod:`eigentext.corpus.given`.
    cache : path or bool, optional
        A folder for the result. The next call with the same content and options maps the result
        into memory and skips the encoding. True means the user's cache folder
        (``EIGENTEXT_CACHE``). The default saves nothing. Tokens of a user's own tokenizer are never
        saved, because nothing would tell whether the function has changed.
    memory : int, optional
        The memory budget of the whole process in bytes. Tokens may take a sixteenth of it, and
        1 GiB without a budget. Longer texts go to a file in the temporary folder.
    """
    if isinstance(corpus, EncodedCorpus):
        return corpus
    corpus = as_corpus(corpus)
    if cache is True and not _usable(default_cache()):
        cache = None  # the user did not choose this folder, so do without
    if cache is None or cache is False or callable(corpus.tokenizer):
        with _room_in(tempfile.gettempdir(), "set TMPDIR to another folder"):
            return _encode(corpus, None, _IN_MEMORY if memory is None else memory // 64)
    folder = default_cache() if cache is True else Path(cache)
    entry = folder / _key(corpus.fingerprint())
    remedy = "name another cache folder (--cache DIR, EIGENTEXT_CACHE) or none (--no-cache)"
    with _room_in(folder, remedy):
        return _read_cached(entry) or _fill_cache(corpus, entry)


def default_cache() -> Path:
    """``EIGENTEXT_CACHE``, or the cache folder of the system."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("EIGENTEXT_CACHE") or Path(base, "eigentext"))


def is_entry(name: str) -> bool:
    """Whether a folder in the cache has the name of an encoded text."""
    return bool(_ENTRY.fullmatch(name))


def is_unfinished(name: str) -> bool:
    """Whether a folder in the cache has the name of a text that is being encoded."""
    return name.startswith(_UNFINISHED)


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _encode(
    corpus: TextCorpus, tokens_path: Path | None, in_memory: int = _IN_MEMORY
) -> EncodedCorpus:
    tokens, words, counts = encoded_tokens(corpus, tokens_path, in_memory)
    if not words:
        raise wordless(corpus)
    return EncodedCorpus(tokens, words, counts, corpus.fingerprint(), corpus.options)


def encoded_tokens(
    corpus: TextCorpus, tokens_path: Path | None = None, in_memory: int = _IN_MEMORY
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Tokens (in memory or in a file, ending with `END`), the distinct words, their counts."""
    ids: defaultdict[str, int] = defaultdict(count().__next__, {UNIT_END: END})
    counts = np.zeros(1 << 16, np.int64)

    def sized_blocks() -> Iterator[tuple[int, Any]]:
        for block in corpus.blocks():
            yield len(block) if isinstance(block, list) else len(block.data), block

    def encode_block(sized):
        # In a worker thread: Arrow releases the GIL while it splits and hashes.
        size, block = sized
        column = corpus.tokens_of(block).dictionary_encode()
        local, words = integers_of(column.indices, np.int32), column.dictionary.to_pylist()
        return size, local, words, np.bincount(local, minlength=len(words))

    with (
        _plain_memory(),
        _TokenSink(tokens_path, in_memory) as sink,
        engine.phase("read and encode", corpus.size, "B") as advance,
    ):
        for size, local, words, occurrences in engine.current().map(encode_block, sized_blocks()):
            table = np.fromiter(map(ids.__getitem__, words), np.int32, len(words))
            if len(ids) > len(counts):
                counts.resize(2 * len(ids), refcheck=False)
            counts[table] += occurrences
            counts[END] = 0  # unit ends were counted in the last place
            sink.append(table[local])
            advance(size)
        tokens = sink.finish()
    give_back()  # counting needs the memory
    del ids[UNIT_END]
    return tokens, list(ids), counts[: len(ids)].copy()


@contextlib.contextmanager
def _plain_memory() -> Iterator[None]:
    """Let Arrow use malloc: its own pool keeps free memory for each thread, for ever."""
    import pyarrow as pa

    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


class _TokenSink(contextlib.AbstractContextManager):
    """Collects tokens in memory. Beyond a limit, or if a path is given, in a file."""

    def __init__(self, path: Path | None, in_memory: int):
        self._in_memory = in_memory
        self._tokens = np.empty(0, np.int32)
        self._size = 0
        self._file = path.open("w+b") if path else None

    def append(self, tokens: np.ndarray) -> None:
        filled, self._size = self._size, self._size + len(tokens)
        if self._file is None and self._size > self._in_memory:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
            self._file.write(self._tokens.data)
            self._tokens = np.empty(0, np.int32)
        if self._file is not None:
            self._file.write(tokens.data)
            return
        # Grows in place (the system moves pages, not bytes), so there are never two copies.
        self._tokens.resize(self._size, refcheck=False)
        self._tokens[filled:] = tokens

    def finish(self) -> np.ndarray:
        """All tokens with a last unit end, so that no loop can run past the array."""
        self.append(np.array([END], np.int32))
        if self._file is None:
            return self._tokens
        self._file.flush()
        return np.memmap(self._file, np.int32, "r", shape=(self._size,))

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()  # its map stays valid


@contextlib.contextmanager
def _room_in(folder: str | Path, remedy: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CorpusError(
            f"{folder}: cannot save encoded text there ({error.strerror}); {remedy}"
        ) from error


# The cache: one folder per entry, moved into place when it is complete.


def _key(fingerprint: str) -> str:
    return f"{fingerprint[:40]}-v{_VERSION}"


def _read_cached(entry: Path) -> EncodedCorpus | None:
    from eigentext.storage import read_saved

    try:
        arrays, about = read_saved(entry / "words.safetensors")
        tokens = np.memmap(entry / "tokens.i32", np.int32, "r", shape=(about["length"],))
    except (OSError, KeyError, ValueError):  # missing or damaged
        return None
    with contextlib.suppress(OSError):  # it belongs to another user
        os.utime(entry)  # the least recently used entry is deleted first
    return EncodedCorpus(
        tokens,
        arrays["words"],  # type: ignore[arg-type]
        np.asarray(arrays["counts"]),
        about["fingerprint"],
        about["options"],
    )


def _fill_cache(corpus: TextCorpus, entry: Path) -> EncodedCorpus:
    from eigentext.storage import write_saved

    entry.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=entry.parent, prefix=_UNFINISHED))
    try:
        encoded = _encode(corpus, temporary / "tokens.i32")
        about = {
            "fingerprint": encoded.fingerprint,
            "options": encoded.options,
            "length": len(encoded.tokens),
        }
        arrays: dict[str, Any] = {"words": encoded.words, "counts": encoded.counts}
        write_saved(temporary / "words.safetensors", "eigentext.encoded.v1", arrays, about)
        (temporary / "README").write_text(f"encoded text, safe to delete\n{json_text(about)}\n")
        if entry.name == _key(encoded.fingerprint):  # else the text changed during reading
            shutil.rmtree(entry, ignore_errors=True)
            with contextlib.suppress(OSError):  # another process was faster
                temporary.rename(entry)
            _trim(entry.parent)
        return encoded  # its tokens stay mapped after the rename
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _trim(folder: Path) -> None:
    """Keep the cache within its limit. Entries that a process has mapped stay readable."""
    entries = []
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):  # another process deletes it too, or it is not ours
            age = time.time() - entry.stat().st_mtime
            if _ENTRY.fullmatch(entry.name):
                size = sum(file.stat().st_size for file in entry.iterdir())
                entries.append((age, size, entry))
            elif entry.name.startswith(_UNFINISHED) and age > 86_400:  # its process was killed
                shutil.rmtree(entry, ignore_errors=True)
    total = 0
    for place, (_, size, entry) in enumerate(sorted(entries)):
        total += size
        if place > 0 and total > _CACHE_BYTES:
            shutil.rmtree(entry, ignore_errors=True)
