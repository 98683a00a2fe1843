"""Files as blocks of bytes: plain, .gz, .bz2, .xz or .zst, cut where no token is cut.

Limits that no honest file meets keep damaged and hostile ones from taking all memory: a token may
have 64 MiB, a line that must be held whole 256 MiB, a file that is parsed whole 1 GiB (unpacked),
and packed files may not grow out of proportion (see :mod:`eigentext.corpus.unpacking`).

A byte order mark (BOM) at the start of a file is passed over by every reader.
"""

import contextlib
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from eigentext.corpus.remote import RemoteFile, find, is_url
from eigentext.corpus.unpacking import Unpacked
from eigentext.errors import CorpusError

File = Path | RemoteFile
BLOCK_BYTES = 8 << 20
LONGEST_TOKEN = 64 << 20
LONGEST_LINE = 256 << 20
LARGEST_FILE = 1 << 30
_BLANKS = (b" ", b"\n", b"\t", b"\r")
_NEWLINES = (b"\n",)
_LOOK = 1 << 16  # bytes to look for a blank in at a time
_BOM = b"\xef\xbb\xbf"
_ENDINGS = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".lzma": "xz", ".zst": "zst", ".zstd": "zst"}
# What a broken or foreign compressed file raises, by the library that reads it.
_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, OSError)


@dataclass(frozen=True)
class Block:
    """A piece of one source: whole tokens (or whole lines), with its place for error messages."""

    data: bytes
    source: str
    offset: int
    ends_source: bool


def expand_paths(patterns: Sequence[str | os.PathLike[str]]) -> list[Any]:
    """Files that the names and globs stand for, in the order given, each glob sorted.

    They are paths, and `RemoteFile` for addresses.
    """
    paths: list[File] = []
    for pattern in patterns:
        if is_url(pattern):
            paths.extend(find(os.fspath(pattern)))
            continue
        # os.path, as pathlib raises on names too long, of unknown users or in closed folders.
        name = os.path.expanduser(pattern)  # noqa: PTH111
        if os.path.exists(name) or not has_magic(name):  # noqa: PTH110
            paths.append(Path(name))
            continue
        matches = map(Path, sorted(glob(name, recursive=True)))  # noqa: PTH207
        found = [path for path in matches if path.is_file()]
        if not found:
            raise CorpusError(f"{pattern}: no file matches; check the pattern and the folder")
        paths.extend(found)
    for path in paths:
        if isinstance(path, RemoteFile):
            continue
        if not os.path.exists(path):  # noqa: PTH110
            raise CorpusError(f"{path}: no such file; check the name")
        if path.is_dir():
            raise CorpusError(f"{path}: is a folder; name its files, as in '{path}/*.txt'")
        if not path.is_file():
            raise CorpusError(f"{path}: is a pipe or a device, not a file; save its text in one")
        if not os.access(path, os.R_OK):
            raise CorpusError(f"{path}: cannot be read; check its permissions")
    return paths


def compression(path: File) -> str:
    """How the ending of the name says the file is packed: "gz", "bz2", "xz", "zst" or ""."""
    return _ENDINGS.get(path.suffix.lower(), "")


@contextlib.contextmanager
def open_bytes(path: File, *, kept: bool = False) -> Iterator[Any]:
    """Open for reading; the ending of the name says how it is compressed.

    `kept` says that all of it will be in memory: it may grow less by unpacking.
    """
    how = compression(path)
    with path.open("rb") as raw:
        yield Unpacked(raw, how, str(path), kept=kept) if how else raw


def read_blocks(
    path: File,
    *,
    whole_lines: bool = False,
    start: int = 0,
    stop: int | None = None,
    kept: bool = False,
) -> Iterator[Block]:
    """The file as blocks that end after a blank (or after a newline, with `whole_lines`).

    A line or a token longer than a block makes that block longer; nothing is cut in two. Of a file
    that is not compressed, only the bytes from `start` to `stop` if these are given: see `cuts`.
    `kept` is as in `open_bytes`.
    """
    blanks = _NEWLINES if whole_lines else _BLANKS
    longest = LONGEST_LINE if whole_lines else LONGEST_TOKEN
    pieces: list[bytes] = []
    offset, waiting = start, 0
    with named_errors(path), open_bytes(path, kept=kept) as file:
        if start:
            file.seek(start)
        left = stop and stop - start
        while piece := file.read(BLOCK_BYTES if left is None else min(left, BLOCK_BYTES)):
            left = left and left - len(piece)
            cut = 1 + max(piece.rfind(blank) for blank in blanks)
            if cut == 0:
                pieces.append(piece)
                waiting += len(piece)
                if waiting > longest:
                    what = "a line" if whole_lines else "a word (without blanks)"
                    raise CorpusError(
                        f"{path}, line {line_number(path, offset)}: {what} of more than "
                        f"{longest >> 20} MiB; is this text? put line ends or blanks into it"
                    )
                continue
            data = b"".join((*pieces, piece[:cut]))
            pieces = [piece[cut:]] if cut < len(piece) else []
            waiting = len(piece) - cut
            yield _block(data, path, offset, ends_source=False)
            offset += len(data)
            if left == 0:
                break
    yield _block(b"".join(pieces), path, offset, ends_source=stop is None)


def read_lines(path: File) -> Iterator[tuple[int, bytes]]:
    """The lines of a file and their numbers, without line ends; for readers that keep them."""
    number = 0
    for block in read_blocks(path, whole_lines=True, kept=True):
        lines = block.data.split(b"\n")
        if not lines[-1]:  # what is after the last newline is no line
            lines.pop()
        for line in lines:
            number += 1
            yield number, line


def read_whole(path: File) -> bytes:
    """All of a file, without its byte order mark; for readers that need it at once."""
    data = bytearray()
    with named_errors(path), open_bytes(path, kept=True) as file:
        while piece := file.read(BLOCK_BYTES):
            data += piece
            check_size(len(data), path)
    return bytes(data.removeprefix(_BOM))


def check_size(size: int, path: File) -> None:
    """Refuse what is too much to be parsed whole."""
    if size > LARGEST_FILE:
        raise CorpusError(
            f"{path}: holds more than {LARGEST_FILE >> 20} MiB, all of which would be in memory; "
            "cut it into several files"
        )


def cuts(path: File, size: int, *, whole_lines: bool = False) -> list[int]:
    """Where to cut a file that is not compressed into pieces of about `size` bytes; the first is 0.

    Each cut is after a blank (a newline, with `whole_lines`), so no token is cut in two.
    """
    blanks = _NEWLINES if whole_lines else _BLANKS
    found, end = [0], path.stat().st_size
    with named_errors(path), path.open("rb") as file:
        while (place := found[-1] + size) < end:
            file.seek(place)
            while piece := file.read(_LOOK):
                ahead = [at for blank in blanks if (at := piece.find(blank)) >= 0]
                if ahead:
                    place += 1 + min(ahead)
                    break
                place += len(piece)
            if place >= end:
                break
            found.append(place)
    return found


def line_number(path: File, offset: int) -> int:
    """The line (from 1) that holds the byte at `offset`; only ever needed to report an error."""
    line, seen = 1, 0
    with open_bytes(path) as file:
        while seen < offset and (piece := file.read(min(BLOCK_BYTES, offset - seen))):
            line += piece.count(b"\n")
            seen += len(piece)
    return line


def _block(data: bytes, path: File, offset: int, *, ends_source: bool) -> Block:
    if offset == 0 and data.startswith(_BOM):
        data = data[len(_BOM) :]
        offset = len(_BOM)
    return Block(data, str(path), offset, ends_source)


@contextlib.contextmanager
def named_errors(path: File) -> Iterator[None]:
    """Turn what goes wrong while reading `path` into an error that names it."""
    try:
        yield
    except _BROKEN as error:
        if compression(path):
            raise CorpusError(
                f"{path}: not a whole {path.suffix} file ({error}); "
                "make it again or unpack it first"
            ) from error
        raise CorpusError(f"{path}: cannot be read ({error})") from error
