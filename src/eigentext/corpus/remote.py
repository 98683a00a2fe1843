"""Files on other machines: s3://…, gs://…, https://…, and all others that fsspec can open.

A `RemoteFile` has the few methods of a path that readers use. Credentials are configured for fsspec
on each machine, in its own way.
"""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

from eigentext.errors import CorpusError

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+(::[a-z][a-z0-9+.-]+)*://\S*", re.IGNORECASE)


def is_url(name: object) -> bool:
    """Whether a name is an address, not a path."""
    return bool(_SCHEME.fullmatch(os.fspath(name) if isinstance(name, os.PathLike) else str(name)))


@dataclass(frozen=True)
class RemoteFile:
    """A file with an address."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return PurePosixPath(self.url).suffix

    @cached_property
    def _size(self) -> int:
        system, path = _opened(self.url)
        return int(system.info(path)["size"])

    def stat(self) -> Any:
        """The size, in the form of ``Path.stat``."""
        return SimpleNamespace(st_size=self._size)

    def open(self, mode: str = "rb") -> Any:
        """Open the file for reading."""
        system, path = _opened(self.url)
        return system.open(path, mode)


def find(url: str) -> list[RemoteFile]:
    """The files that an address or a pattern stands for, sorted."""
    system, path = _opened(url)
    try:
        if not any(mark in path for mark in "*?[") or system.exists(path):
            system.info(path)
            return [RemoteFile(url)]
        found = sorted(system.glob(path))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{url}: cannot be read ({error}); check the address") from error
    if not found:
        raise CorpusError(f"{url}: no file matches; check the pattern")
    return [RemoteFile(system.unstrip_protocol(name)) for name in found]


def _opened(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise CorpusError(
            f"{url}: addresses need fsspec; install it with pip install fsspec"
        ) from error
    try:
        return fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise CorpusError(f"{url}: fsspec cannot open it ({error})") from error
