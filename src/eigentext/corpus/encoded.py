"""Text -> integers, once: the only step that touches strings.

Blocks are split and dictionary-encoded by Arrow in the engine's threads; the distinct words of
each block are then looked up in one table, in the order of the blocks, so the ids depend on the
text alone. Tokens are one int32 array in which -1 ends a unit, in memory or mapped from a file.
"""

import json
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.tokenizers import UNIT_END
from eigentext.errors import CorpusError

END = -1
_IN_MEMORY = 1 << 28  # tokens (1 GiB); a longer corpus goes to a file
_CACHE_BYTES = 20 << 30
_VERSION = 1  # of the files in the cache, part of their key


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
        Of the text and of how it was read; equal for equal input.
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
        """Tokens, not counting the marks between units."""
        return int(self.counts.sum())

    def shards(self, n_shards: int) -> list[tuple[int, int]]:
        """Cut the token array into at most `n_shards` ranges of about equal length."""
        edges = np.linspace(0, len(self.tokens), max(1, n_shards) + 1).astype(np.int64)
        return [(int(a), int(b)) for a, b in zip(edges, edges[1:]) if a < b]


def encode(corpus: Any, *, cache: str | os.PathLike[str] | bool | None = None) -> EncodedCorpus:
    """Encode a :class:`TextCorpus` (or anything it takes).

    Parameters
    ----------
    cache : path or bool, optional
        A folder that keeps the result, keyed by content and options, and maps it into memory: the
        next call with the same text skips the encoding. True is the user's cache folder
        (``EIGENTEXT_CACHE``); by default nothing is kept.
    """
    if isinstance(corpus, EncodedCorpus):
        return corpus
    if not isinstance(corpus, TextCorpus):
        corpus = TextCorpus(corpus)
    if cache is None or cache is False:
        return _encode(corpus, None)
    folder = default_cache() if cache is True else Path(cache)
    key = f"{corpus.fingerprint()[:40]}-v{_VERSION}"
    try:
        return _read_cached(folder / key)
    except FileNotFoundError:
        return _fill_cache(corpus, folder, key)


def default_cache() -> Path:
    """``EIGENTEXT_CACHE``, else the folder the system has for caches."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("EIGENTEXT_CACHE") or Path(base, "eigentext"))


def _encode(corpus: TextCorpus, tokens_path: Path | None) -> EncodedCorpus:
    ids: defaultdict[str, int] = defaultdict(count().__next__, {UNIT_END: END})
    counts = np.zeros(1 << 16, np.int64)
    sink = _TokenSink(tokens_path)

    def sized_blocks() -> Iterator[tuple[int, Any]]:
        for block in corpus.blocks():
            yield len(block) if isinstance(block, list) else len(block.data), block

    def encode_block(sized):
        # In a worker thread: Arrow lets go of the GIL while it splits and hashes.
        size, block = sized
        column = corpus.tokens_of(block).dictionary_encode()
        local, words = column.indices.to_numpy(), column.dictionary.to_pylist()
        return size, local, words, np.bincount(local, minlength=len(words))

    with engine.phase("read and encode", corpus.size, "B") as advance:
        for size, local, words, occurrences in engine.current().map(encode_block, sized_blocks()):
            table = np.fromiter(map(ids.__getitem__, words), np.int32, len(words))
            if len(ids) > len(counts):
                counts.resize(2 * len(ids), refcheck=False)
            counts[table] += occurrences
            counts[END] = 0  # the last place is no word's: unit ends were counted there
            sink.append(table[local])
            advance(size)
    tokens = sink.finish()
    del ids[UNIT_END]
    if not ids:
        where = ", ".join(map(str, corpus.files)) or "the corpus"
        raise CorpusError(f"{where}: no words in it; is the file empty?")
    return EncodedCorpus(
        tokens, list(ids), counts[: len(ids)].copy(), corpus.fingerprint(), corpus.options
    )


class _TokenSink:
    """Collects tokens in memory, and past a limit (or from the start, given a path) in a file."""

    def __init__(self, path: Path | None):
        self._chunks: list[np.ndarray] = []
        self._size = 0
        self._file = path.open("w+b") if path else None

    def append(self, tokens: np.ndarray) -> None:
        self._chunks.append(tokens)
        self._size += len(tokens)
        if self._file is None and self._size > _IN_MEMORY:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the map of it
        if self._file is not None:
            for chunk in self._chunks:
                self._file.write(chunk.data)
            self._chunks.clear()

    def finish(self) -> np.ndarray:
        """All tokens, with a last unit end, so that no kernel can run past the array."""
        self.append(np.array([END], np.int32))
        if self._file is None:
            return np.concatenate(self._chunks)
        self._file.flush()
        return np.memmap(self._file, np.int32, "r", shape=(self._size,))


# The cache: one folder an entry, moved into place whole.


def _read_cached(entry: Path) -> EncodedCorpus:
    from eigentext.storage import read_saved

    if not entry.is_dir():
        raise FileNotFoundError(entry)
    arrays, about = read_saved(entry / "words.safetensors")
    tokens = np.memmap(entry / "tokens.i32", np.int32, "r")
    os.utime(entry)  # the least recently used goes first
    return EncodedCorpus(
        tokens,
        arrays["words"],  # type: ignore[arg-type]
        np.asarray(arrays["counts"]),
        about["fingerprint"],
        about["options"],
    )


def _fill_cache(corpus: TextCorpus, folder: Path, key: str) -> EncodedCorpus:
    from eigentext.storage import write_saved

    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
    except OSError as error:
        raise CorpusError(
            f"{folder}: cannot keep encoded text there ({error.strerror}); "
            "name another cache folder (--cache DIR, EIGENTEXT_CACHE) or none (--no-cache)"
        ) from error
    try:
        encoded = _encode(corpus, temporary / "tokens.i32")
        about = {"fingerprint": encoded.fingerprint, "options": encoded.options}
        arrays: dict[str, Any] = {"words": encoded.words, "counts": encoded.counts}
        write_saved(temporary / "words.safetensors", "eigentext.encoded.v1", arrays, about)
        (temporary / "README").write_text(f"encoded text, safe to delete\n{json.dumps(about)}\n")
        if not (folder / key).exists():
            temporary.rename(folder / key)
            _trim(folder)
        return _read_cached(folder / key)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _trim(folder: Path) -> None:
    """Keep the cache within its limit; what a running process has mapped stays readable to it."""
    entries = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(f"-v{_VERSION}")),
        key=lambda entry: entry.stat().st_mtime,
        reverse=True,
    )
    total = 0
    for place, entry in enumerate(entries):
        total += sum(file.stat().st_size for file in entry.iterdir())
        if place > 0 and total > _CACHE_BYTES:
            shutil.rmtree(entry, ignore_errors=True)
