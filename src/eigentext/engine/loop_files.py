"""Where compiled loops are kept on this machine, and how to delete them.

Numba has a folder for each folder of sources: ``__pycache__`` beside them, or one in
``NUMBA_CACHE_DIR``, in the user's cache, or in the temporary folder that
:mod:`eigentext.engine.compiled` makes if nothing else can be written. Only files of this
installation are listed. Those of other libraries and other installations are never touched.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from eigentext.engine.compiled import private_folder_name

_PACKAGE = Path(__file__).parents[1]
_ENDINGS = (".nbi", ".nbc")  # Numba's index of a loop, and its code


def shared_folders() -> list[Path]:
    """The folders above those of :func:`folders`, the one that Numba tries first at the start.

    If ``NUMBA_CACHE_DIR`` is set, Numba uses no other one. Otherwise it writes beside the sources,
    or into the user's cache if it may not.
    """
    from numba import config
    from numba.misc.appdirs import user_cache_dir

    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR)]
    return [_PACKAGE, Path(user_cache_dir("numba", False)), Path(private_folder_name())]


def folders() -> list[Path]:
    """The folders that Numba may keep compiled loops in, whether they exist or not."""
    sources = sorted({file.parent for file in _PACKAGE.rglob("*.py")})
    return [
        source / "__pycache__" if above == _PACKAGE else above / _subfolder(source)
        for above in shared_folders()
        for source in sources
    ]


def files() -> list[Path]:
    """The files of compiled loops."""
    return [file for folder in folders() for file in _of(folder)]


def clear() -> int:
    """Delete the compiled loops, and folders that are empty then; return how many bytes."""
    n_bytes = 0
    for folder in folders():
        for file in _of(folder):
            with suppress(OSError):  # another process deletes it, too
                size = file.stat().st_size
                file.unlink()
                n_bytes += size
        if folder.name != "__pycache__":
            with suppress(OSError):  # it does not exist, or is not empty
                folder.rmdir()
    return n_bytes


def _of(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(file for file in folder.iterdir() if file.suffix in _ENDINGS)


def _subfolder(source: Path) -> str:
    """The name that Numba gives to the folder for loops of a folder of sources."""
    digest = hashlib.sha1(str(source).encode(), usedforsecurity=False).hexdigest()
    return f"{source.name}_{digest}"
