"""Packed files (.gz, .bz2, .xz, .zst) as streams of bytes, with a limit to their growth.

A small malicious file may unpack to terabytes. So a file may not unpack to more than 1,000 times
its size, beyond 64 MiB. If a reader keeps the whole content as objects, the limit is 250 times the
size, beyond 4 MiB. (English text shrinks to a quarter, trees to a tenth.)
"""

import bz2
import gzip
import io
import lzma
from typing import Any

from eigentext.errors import CorpusError

_RATIO, _HARMLESS = 1000, 64 << 20
_RATIO_KEPT, _HARMLESS_KEPT = 250, 4 << 20
_XZ_MEMORY = 512 << 20  # a header may ask for 4 GiB; `xz -9` asks for 65 MiB
_PIECE = 1 << 20
_CUT = "the file ended before its end mark"


class Unpacked:
    """The content of a packed file, as long as it is in proportion to the file.

    Parameters
    ----------
    raw : binary file
        The file as stored, at its start.
    how : "gz", "bz2", "xz" or "zst"
    name : str
        The name of the file in error messages.
    kept : bool
        Whether the reader keeps the whole content in memory.
    """

    def __init__(self, raw: Any, how: str, name: str, *, kept: bool = False):
        self._raw = raw
        self._file = _opened(raw, how)
        self._name = name
        self._ratio, self._harmless = (_RATIO_KEPT, _HARMLESS_KEPT) if kept else (_RATIO, _HARMLESS)
        self._size = 0

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes; by default all."""
        if size is not None and size >= 0:
            return self._some(size)
        pieces = bytearray()
        while piece := self._some(_PIECE):
            pieces += piece
        return bytes(pieces)

    def _some(self, size: int) -> bytes:
        data = self._file.read(size)
        self._size += len(data)
        if self._size > self._harmless and self._size > self._ratio * self._raw.tell():
            raise CorpusError(
                f"{self._name}: unpacks to more than {self._ratio} times its size "
                f"({self._size} bytes so far), which text never does; is it "
                "damaged? unpack it first if you trust it"
            )
        return data


def _opened(raw: Any, how: str) -> Any:
    if how == "gz":
        return gzip.GzipFile(fileobj=raw)
    if how == "bz2":
        return bz2.BZ2File(raw)
    if how == "xz":
        return io.BufferedReader(_Xz(raw), _PIECE)
    return _Zst(raw)


class _Zst:
    """Arrow's stream, read by buffers: ``read`` (26.0) leaks memory if it fails."""

    def __init__(self, raw: Any):
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(raw, "zstd")

    def read(self, size: int) -> bytes:
        return self._stream.read_buffer(size).to_pybytes()


class _Xz(io.RawIOBase):
    """Like ``lzma.LZMAFile``, with a limit to the memory that a file may ask for."""

    def __init__(self, raw: Any):
        super().__init__()
        self._raw = raw
        self._decoder: lzma.LZMADecompressor | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._next(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next(self, size: int) -> bytes:
        while True:
            if self._decoder is None or self._decoder.eof:
                data = self._next_stream(size)
                if data is None:
                    return b""
            else:
                piece = b""
                if self._decoder.needs_input and not (piece := self._raw.read(_PIECE)):
                    raise EOFError(_CUT)
                data = self._decoder.decompress(piece, size)
            if data:
                return data

    def _next_stream(self, size: int) -> bytes | None:
        """The first bytes of the next stream, or None if there is no other."""
        left = b"" if self._decoder is None else self._decoder.unused_data
        while not left.strip(b"\0"):  # there may be zeros between streams
            if not (left := self._raw.read(_PIECE)):
                if self._decoder is None:
                    raise EOFError(_CUT)
                return None
        is_first, self._decoder = self._decoder is None, lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        try:
            return self._decoder.decompress(left.lstrip(b"\0") if not is_first else left, size)
        except lzma.LZMAError:
            if is_first:
                raise
            return None  # bytes after the last stream are ignored
