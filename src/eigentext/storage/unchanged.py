"""Replacing a file only if nobody else has replaced it since it was read.

A command that adds to a model reads it, works for a while, and writes it again. If two such
commands ran at once, the second would undo the work of the first, and nobody would notice.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from eigentext.errors import EigentextError

try:
    import fcntl
except ImportError:  # not on Windows: there, the check has a gap of a moment
    fcntl = None


class Version(NamedTuple):
    """Which contents a path has; every replacement makes another one."""

    device: int
    inode: int
    size: int
    changed: int  # in nanoseconds


def version_of(path: str | os.PathLike[str]) -> Version | None:
    """Return the version of a file, or None if there is no such file."""
    try:
        facts = Path(path).stat()
    except OSError:
        return None
    return Version(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)


@contextmanager
def unchanged_since(path: str | os.PathLike[str], version: Version | None) -> Iterator[None]:
    """Raise EigentextError unless the file has this version; replace it inside.

    The file that is to be replaced is locked. Another process that waits for it finds afterwards
    that the path has another file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model")
    ...     _ = path.write_text("old")
    ...     version = version_of(path)
    ...     with unchanged_since(path, version):
    ...         _ = path.write_text("new, by us")
    ...     with unchanged_since(path, version):
    ...         pass
    Traceback (most recent call last):
    eigentext.errors.EigentextError: ...model: has changed since it was read...
    """
    with _locked(Path(path)):
        if version_of(path) != version:
            raise EigentextError(
                f"{path}: has changed since it was read, so another command may have added to it; "
                "nothing was written. Run this command again, or choose another -o"
            )
        yield


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a file, if it is there and can be locked."""
    try:
        file = path.open("rb")
    except OSError:
        yield
        return
    with file:
        if fcntl is not None:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(file, fcntl.LOCK_EX)
        yield
