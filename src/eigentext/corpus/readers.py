"""Files as blocks of bytes: plain, .gz, .bz2, .xz or .zst. No block cuts a token.

Limits protect the memory from damaged and malicious files: a token may have 64 MiB, a line that is
read at once 256 MiB, and a file that is parsed at once 1 GiB (unpacked). Packed files may not grow
out of proportion (see :mod:`eigentext.corpus.unpacking`).

All readers skip a byte order mark (BOM) at the start of a file.
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

from eigentext.corpus.encodings import UTF8, Recoded
from eigentext.corpus.remote import RemoteFile, find, is_url
from eigentext.corpus.unpacking import Unpacked
from eigentext.errors import CorpusError

File = Path | RemoteFile
BLOCK_BYTES = 2 << 20
LONGEST_TOKEN = 64 << 20
LONGEST_LINE = 256 << 20
LARGEST_FILE = 1 << 30
_BLANKS = (b" ", b"\n", b"\t", b"\r")
_NEWLINES = (b"\n",)
_LOOK = 1 << 16  # bytes to search for a blank at a time
_BOM = b"\xef\xbb\xbf"
_ENDINGS = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".lzma": "xz", ".zst": "zst", ".zstd": "zst"}
# The errors of the libraries for damaged compressed files.
_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, OSError)


@dataclass(frozen=True)
class Block:
    """A piece of one source: complete tokens or lines, with its place for error messages."""

    data: bytes
    source: str
    offset: int
    ends_source: bool


def expand_paths(patterns: Sequence[str | os.PathLike[str]]) -> list[Any]:
    """The files that names and globs stand for, in the given order; each glob is sorted.

    Files are paths; files of addresses are `RemoteFile` objects.
    """
    paths: list[File] = []
    for pattern in patterns:
        if is_url(pattern):
            paths.extend(find(os.fspath(pattern)))
            continue
        # os.path, because pathlib raises errors for long names, unknown users and closed folders.
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
            raise CorpusError(f"{path}: is a folder; name its files, for example '{path}/*.txt'")
        if not path.is_file():
            raise CorpusError(f"{path}: is a pipe or a device, not a file; save its text in a file")
        if not os.access(path, os.R_OK):
            raise CorpusError(f"{path}: cannot be read; check its permissions")
    return paths


def compression(path: File) -> str:
    """The compression by the ending of the name: "gz", "bz2", "xz", "zst" or ""."""
    return _ENDINGS.get(path.suffix.lower(), "")


@contextlib.contextmanager
def open_bytes(
    path: File, *, kept: bool = False, encoding: str = UTF8, errors: str = "strict"
) -> Iterator[Any]:
    """Open a file for reading; the ending of its name decides the compression.

    `kept` means that the whole file will be in memory. Then it may grow less when unpacked. Text in
    another `encoding` (see :mod:`eigentext.corpus.encodings`) is read as UTF-8; UTF-8 itself is not
    checked here.
    """
    how = compression(path)
    with path.open("rb") as raw:
        file = Unpacked(raw, how, str(path), kept=kept) if how else raw
        yield file if encoding == UTF8 else Recoded(file, encoding, str(path), errors)


def read_blocks(
    path: File,
    *,
    whole_lines: bool = False,
    start: int = 0,
    stop: int | None = None,
    kept: bool = False,
    encoding: str = UTF8,
    errors: str = "strict",
) -> Iterator[Block]:
    """The file as blocks that end after a blank (or after a newline, with `whole_lines`).

    A token or line that is longer than a block makes the block longer, so nothing is cut. `start`
    and `stop` select a range of bytes of an uncompressed file in UTF-8: see `cuts`. For `kept`,
    `encoding` and `errors` see `open_bytes`. Offsets count bytes of UTF-8.
    """
    blanks = _NEWLINES if whole_lines else _BLANKS
    longest = LONGEST_LINE if whole_lines else LONGEST_TOKEN
    pieces: list[bytes] = []
    offset, waiting = start, 0
    how = {"kept": kept, "encoding": encoding, "errors": errors}
    with named_errors(path), open_bytes(path, **how) as file:
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
                        f"{path}, line {line_number(path, offset, encoding)}: {what} of more than "
                        f"{longest >> 20} MiB; is this text? add line ends or blanks"
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


def read_lines(path: File, encoding: str = UTF8) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, without line ends, and their numbers; for readers that keep them."""
    number = 0
    for block in read_blocks(path, whole_lines=True, kept=True, encoding=encoding):
        lines = block.data.split(b"\n")
        if not lines[-1]:  # nothing follows the last newline
            lines.pop()
        for line in lines:
            number += 1
            yield number, line


def read_whole(path: File, encoding: str = UTF8) -> bytes:
    """The whole file as UTF-8, without its byte order mark."""
    data = bytearray()
    with named_errors(path), open_bytes(path, kept=True, encoding=encoding) as file:
        while piece := file.read(BLOCK_BYTES):
            data += piece
            check_size(len(data), path)
    return bytes(data.removeprefix(_BOM))


def check_size(size: int, path: File) -> None:
    """Raise CorpusError if a file is too large to be parsed at once."""
    if size > LARGEST_FILE:
        raise CorpusError(
            f"{path}: has more than {LARGEST_FILE >> 20} MiB, which would all be in memory; "
            "split it into several files"
        )


def cuts(path: File, size: int, *, whole_lines: bool = False) -> list[int]:
    """The starts of pieces of about `size` bytes of an uncompressed file; the first is 0.

    Each piece starts after a blank (after a newline, with `whole_lines`), so no token is cut.
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


def line_number(path: File, offset: int, encoding: str = UTF8) -> int:
    """The number of the line, from 1, with the byte at `offset`; for error messages."""
    line, seen = 1, 0
    with open_bytes(path, encoding=encoding, errors="replace") as file:
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
    """Turn errors while reading `path` into a CorpusError that names the file."""
    try:
        yield
    except _BROKEN as error:
        if compression(path):
            raise CorpusError(
                f"{path}: not a complete {path.suffix} file ({error}); "
                "make it again or unpack it first"
            ) from error
        raise CorpusError(f"{path}: cannot be read ({error})") from error
