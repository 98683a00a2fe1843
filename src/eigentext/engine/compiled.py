"""Compiled kernels: Numba's `njit`, with a place to keep what it compiled wherever we run.

Numba keeps compiled code beside the source or in the user's cache folder, and refuses to define a
function where it may write to neither (a service without a home, a read-only installation). There
the code goes to a private folder of this user in the temporary folder, or is compiled in every
process if there is none either; one warning says so. A damaged or full cache costs time, never the
answer.

Kernels import `njit` from here. This module is the only one of the engine that loads Numba.
"""

import os
import stat
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
from numba import config

from eigentext.engine._log import logger

_REMEDY = "set NUMBA_CACHE_DIR to a folder that this user may write to"
_lock = threading.RLock()  # the search for a folder, and Numba's setting while we change it


def njit(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Equivalent to ``numba.njit``, except that it never fails for want of a cache folder."""

    def compiled(function: Callable[..., Any]) -> Any:
        kernel = _declared(function, options) if cache else numba.njit(**options)(function)
        if hasattr(kernel, "_cache"):  # else a plain function under NUMBA_DISABLE_JIT
            kernel._cache = _Cache(kernel._cache, f"{function.__module__}.{function.__name__}")
        return kernel

    return compiled


def announce(kernel: str) -> None:
    """Say that kernels are being compiled if this one, a module.function, is not on this machine.

    For a program that leaves the compiling to processes whose notes nobody hears.
    """
    module, _, name = kernel.rpartition(".")
    stats = getattr(getattr(import_module(module), name), "stats", None)
    if stats is None or stats.cache_path is None:  # not compiled at all, or the warning says it
        return
    if not any(Path(stats.cache_path).glob(f"{module.rpartition('.')[2]}.{name}-*.nbi")):
        _tell_compiling(kernel)


def substitute_folder() -> str | None:
    """The temporary folder that keeps kernels in place of Numba's own, if they had to move there.

    Other processes use it too where it is their NUMBA_CACHE_DIR, and then have no warning to give.
    """
    return _Substitute.folder


class _Cache:
    """Numba's cache of one function; tells of compilation, and no error of the disk goes through.

    It has the methods that Numba's dispatcher calls, and hands them on.
    """

    def __init__(self, cache: Any, name: str):
        self._cache, self._name = cache, name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._cache, attribute)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None
        try:
            found = self._cache.load_overload(sig, target_context)
        except Exception as error:  # whatever damaged pickles raise
            logger.info("compiling %s again: its cache cannot be read (%r)", self._name, error)
            with suppress(OSError):
                self._cache.flush()
        if found is None:
            _tell_compiling(self._name)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._cache.save_overload(sig, data)
        except Exception as error:  # a full disk, or a damaged index that could not be flushed
            _warn_once(
                f"cannot keep compiled kernels ({error}): every run compiles them again; {_REMEDY}"
            )


class _Told:
    """What was said already in this process."""

    compiling = False
    warning = False


def _tell_compiling(name: str) -> None:
    is_kept = _Substitute.folder or not _Substitute.needed  # else the warning has said more
    if is_kept and not _Told.compiling:
        _Told.compiling = True
        logger.info("compiling kernels for this machine: only this once, up to a minute")
    logger.debug("compiling %s", name)


def _warn_once(message: str) -> None:
    with _lock:
        if _Told.warning:
            return
        _Told.warning = True
    warnings.warn(message, stacklevel=2)


# Where Numba finds no folder.


class _Substitute:
    """The folder in place of Numba's: whether it is needed, and which it is if there is one."""

    needed = False
    folder: str | None = None


def _declared(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The function as Numba has it, with a cache if there is a folder for one."""
    if not _Substitute.needed and not _is_homeless(function):
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # "no locator available"
            pass
    folder = _substitute()
    if folder:
        with _lock:
            before, config.CACHE_DIR = config.CACHE_DIR, folder
            try:
                return numba.njit(cache=True, **options)(function)
            except RuntimeError:  # it was closed or removed since
                pass
            finally:
                config.CACHE_DIR = before
    return numba.njit(**options)(function)


def _substitute() -> str | None:
    """The folder for all kernels to come; looked for, and warned of, once."""
    with _lock:
        if _Substitute.needed:
            return _Substitute.folder
        _Substitute.folder = _private_folder()
        _Substitute.needed = True
    if _Substitute.folder:
        where = f"they are in {_Substitute.folder} for now; set NUMBA_CACHE_DIR to one that lasts"
    else:
        where = f"every run compiles them again, for up to a minute; {_REMEDY}"
    _warn_once(f"compiled kernels have no folder that this user may write to: {where}")
    return _Substitute.folder


def _is_homeless(function: Callable[..., Any]) -> bool:
    """Whether Numba would take the working folder, in which others may write, for the user's home.

    It does for a user whom the system does not know, as in many containers.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~")  # noqa: PTH111 - as Numba does
    if config.CACHE_DIR or Path(home).is_absolute():
        return False
    beside = Path(function.__code__.co_filename).parent
    kept = beside / "__pycache__"
    return not os.access(kept if kept.exists() else beside, os.W_OK)


def _private_folder() -> str | None:
    """A folder of this user alone in the temporary folder; None where there can be none.

    Numba runs what it finds there: a folder that somebody else made or may write to is not for us.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else os.getlogin()
    try:
        folder = Path(tempfile.gettempdir(), f"eigentext-kernels-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    is_folder, is_open = stat.S_ISDIR(about.st_mode), stat.S_IMODE(about.st_mode) & 0o077
    if not is_folder or (hasattr(os, "geteuid") and (about.st_uid != user or is_open)):
        return None
    return str(folder)
