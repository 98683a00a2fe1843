"""Files as blocks of bytes: plain, .gz, .bz2, .xz or .zst, cut where no token is cut."""

import bz2
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

from eigentext.errors import CorpusError

BLOCK_BYTES = 8 << 20
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


def expand_paths(patterns: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Files that the names and globs stand for, in the order given, each glob sorted."""
    paths: list[Path] = []
    for pattern in patterns:
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
        if not os.path.exists(path):  # noqa: PTH110
            raise CorpusError(f"{path}: no such file; check the name")
        if path.is_dir():
            raise CorpusError(f"{path}: is a folder; name its files, as in '{path}/*.txt'")
        if not path.is_file():
            raise CorpusError(f"{path}: is a pipe or a device, not a file; save its text in one")
        if not os.access(path, os.R_OK):
            raise CorpusError(f"{path}: cannot be read; check its permissions")
    return paths


def compression(path: Path) -> str:
    """How the ending of the name says the file is packed: "gz", "bz2", "xz", "zst" or ""."""
    return _ENDINGS.get(path.suffix.lower(), "")


def open_bytes(path: Path) -> contextlib.AbstractContextManager[Any]:
    """Open for reading; the ending of the name says how it is compressed."""
    match compression(path):
        case "gz":
            return gzip.open(path, "rb")
        case "bz2":
            return bz2.open(path, "rb")
        case "xz":
            return lzma.open(path, "rb")
        case "zst":
            import pyarrow as pa

            return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
        case _:
            return path.open("rb")


def read_blocks(path: Path, *, whole_lines: bool = False) -> Iterator[Block]:
    """The file as blocks that end after a blank (or after a newline, with `whole_lines`).

    A line or a token longer than a block makes that block longer; nothing is cut in two.
    """
    blanks = (b"\n",) if whole_lines else (b" ", b"\n", b"\t", b"\r")
    pieces: list[bytes] = []
    offset = 0
    with named_errors(path), open_bytes(path) as file:
        while piece := file.read(BLOCK_BYTES):
            cut = 1 + max(piece.rfind(blank) for blank in blanks)
            if cut == 0:
                pieces.append(piece)
                continue
            data = b"".join((*pieces, piece[:cut]))
            pieces = [piece[cut:]] if cut < len(piece) else []
            yield _block(data, path, offset, ends_source=False)
            offset += len(data)
    yield _block(b"".join(pieces), path, offset, ends_source=True)


def line_number(path: Path, offset: int) -> int:
    """The line (from 1) that holds the byte at `offset`; only ever needed to report an error."""
    line, seen = 1, 0
    with open_bytes(path) as file:
        while seen < offset and (piece := file.read(min(BLOCK_BYTES, offset - seen))):
            line += piece.count(b"\n")
            seen += len(piece)
    return line


def _block(data: bytes, path: Path, offset: int, *, ends_source: bool) -> Block:
    if offset == 0 and data.startswith(_BOM):
        data = data[len(_BOM) :]
        offset = len(_BOM)
    return Block(data, str(path), offset, ends_source)


@contextlib.contextmanager
def named_errors(path: Path) -> Iterator[None]:
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
