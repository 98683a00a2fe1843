"""Files that are written compressed, as the ending of their name says (.gz, .bz2, .xz, .zst)."""

import bz2
import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from eigentext.corpus.readers import compression


@contextmanager
def compressed(path: Path, name: Path) -> Iterator[BinaryIO]:
    """Open `path` for writing bytes. The ending of `name`, its later name, says how to compress."""
    with path.open("wb") as file:
        match compression(name):
            case "gz":  # without name and time, so that the same content gives the same bytes
                packed: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            case "bz2":
                packed = bz2.BZ2File(file, "wb")
            case "xz":
                packed = lzma.LZMAFile(file, "wb")  # noqa: SIM115 - entered below
            case "zst":
                import pyarrow as pa

                packed = pa.CompressedOutputStream(file, "zstd")
            case _:
                packed = nullcontext(file)
        with packed as opened:
            yield opened
