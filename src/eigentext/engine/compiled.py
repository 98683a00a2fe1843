"""Numba's `njit` with a cache that works everywhere.

Numba saves compiled code beside the source or in the user's cache folder. If it can write to
neither (a service without a home, a read-only installation), it raises an error. Here the code then
goes to a private folder in the temporary folder. If that fails too, every process compiles again.
One warning tells the user. A damaged or full cache costs time, but never an answer.

Numba compiles a loop again when its file changes, but not when a helper in another file does. So
the files of the helpers that a loop's module imports are a part of the cache's key here.

All compiled loops import `njit` from here. No other module of the engine loads Numba.
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

from eigentext.engine import shipped
from eigentext.engine._log import logger

_REMEDY = "set NUMBA_CACHE_DIR to a folder that this user may write to"
_lock = threading.RLock()  # for the search for a folder, and while Numba's setting is changed


def njit(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Equivalent to ``numba.njit``, except that it does not fail without a cache folder."""

    def compiled(function: Callable[..., Any]) -> Any:
        loop = _declared(function, options) if cache else numba.njit(**options)(function)
        if hasattr(loop, "_cache"):  # else a plain function under NUMBA_DISABLE_JIT
            _stamp_with_helpers(loop._cache, function)
            loop._cache = _Cache(loop._cache, f"{function.__module__}.{function.__name__}")
        return loop

    return compiled


def announce(loop: str) -> None:
    """Log that loops are being compiled if the cache of this machine lacks `loop`.

    `loop` is "module.function". For programs whose child processes compile and log nothing.
    """
    if shipped.is_there():
        return
    module, _, name = loop.rpartition(".")
    stats = getattr(getattr(import_module(module), name), "stats", None)
    if stats is None or stats.cache_path is None:  # nothing is compiled, or the warning has told it
        return
    if not any(Path(stats.cache_path).glob(f"{module.rpartition('.')[2]}.{name}-*.nbi")):
        _tell_compiling(loop)


def substitute_folder() -> str | None:
    """The temporary folder that replaces Numba's cache folder, or None.

    Child processes that get it as NUMBA_CACHE_DIR use it without a warning.
    """
    return _Substitute.folder


def _stamp_with_helpers(cache: Any, function: Callable[..., Any]) -> None:
    """Let the cache also notice changes in the files of imported helpers."""
    stamps = []
    for file in sorted(_helper_files(function, set())):
        with suppress(OSError):
            about = Path(file).stat()
            stamps.append((Path(file).name, about.st_mtime, about.st_size))
    if stamps and hasattr(cache, "_cache_file"):  # else there is no cache
        cache._cache_file._source_stamp = (cache._cache_file._source_stamp, *stamps)


def _helper_files(function: Callable[..., Any], seen: set[str]) -> set[str]:
    """The files of compiled helpers in the module of a function, and of their helpers."""
    own = function.__code__.co_filename
    for helper in list(function.__globals__.values()):
        code = getattr(helper, "py_func", None) or getattr(helper, "_defn", None)  # an intrinsic
        file = getattr(getattr(code, "__code__", None), "co_filename", own)
        if file != own and file not in seen:
            seen.add(file)
            _helper_files(code, seen)  # type: ignore[arg-type]
    return seen


class _Cache:
    """The cache of one function. It logs compilation and catches errors of the disk.

    Numba's dispatcher calls its methods, which call those of Numba's own cache.
    """

    def __init__(self, cache: Any, name: str):
        self._cache, self._name = cache, name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._cache, attribute)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None
        try:
            found = shipped.load(self._cache, sig, target_context)
        except Exception as error:  # another Numba may pickle in another way
            logger.info("the compiled code of %s cannot be used (%r)", self._name, error)
        if found is not None:
            return found
        try:
            found = self._cache.load_overload(sig, target_context)
        except Exception as error:  # damaged pickles raise many kinds
            logger.info("compiling %s again: its cache cannot be read (%r)", self._name, error)
            with suppress(OSError):
                self._cache.flush()
        if found is None:
            _tell_compiling(self._name)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        shipped.record(self._cache, sig, data)
        try:
            self._cache.save_overload(sig, data)
        except Exception as error:  # a full disk, or a damaged index that could not be flushed
            _warn_once(
                f"cannot save compiled loops ({error}): every run compiles them again; {_REMEDY}"
            )


class _Told:
    """Messages that this process has already shown."""

    compiling = False
    warning = False


def _tell_compiling(name: str) -> None:
    is_kept = _Substitute.folder or not _Substitute.needed  # else the warning tells more
    if is_kept and not _Told.compiling:
        _Told.compiling = True
        logger.info("compiling loops for this machine: only once, up to a minute")
    logger.debug("compiling %s", name)


def _warn_once(message: str) -> None:
    with _lock:
        if _Told.warning:
            return
        _Told.warning = True
    warnings.warn(message, stacklevel=2)


# Where Numba finds no cache folder.


class _Substitute:
    """The folder that replaces Numba's: whether it is needed, and its path or None."""

    needed = False
    folder: str | None = None


def _declared(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The function as Numba defines it, with a cache if there is a folder for it."""
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
            except RuntimeError:  # the folder is gone or closed by now
                pass
            finally:
                config.CACHE_DIR = before
    return numba.njit(**options)(function)


def _substitute() -> str | None:
    """The cache folder for all further loops; searched for, and warned about, once."""
    with _lock:
        if _Substitute.needed:
            return _Substitute.folder
        _Substitute.folder = _private_folder()
        _Substitute.needed = True
    if not shipped.is_there():  # else few loops are compiled, or none
        _warn_of_substitute()
    return _Substitute.folder


def _warn_of_substitute() -> None:
    if _Substitute.folder:
        where = f"they go to {_Substitute.folder}; set NUMBA_CACHE_DIR to a permanent folder"
    else:
        where = f"every run compiles them again, for up to a minute; {_REMEDY}"
    _warn_once(f"there is no folder for compiled loops that this user may write to: {where}")


def _is_homeless(function: Callable[..., Any]) -> bool:
    """Whether Numba would use the working folder as the user's home.

    It does so for a user whom the system does not know, as in many containers. Others may be able
    to write to the working folder, so it is not safe.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~")  # noqa: PTH111 - as Numba does
    if config.CACHE_DIR or Path(home).is_absolute():
        return False
    beside = Path(function.__code__.co_filename).parent
    kept = beside / "__pycache__"
    return not os.access(kept if kept.exists() else beside, os.W_OK)


def private_folder_name() -> str:
    """The path of the folder in the temporary folder; it may not exist, and is not checked."""
    return str(Path(tempfile.gettempdir(), f"eigentext-loops-{_user()}"))


def _user() -> int | str:
    return os.geteuid() if hasattr(os, "geteuid") else os.getlogin()


def _private_folder() -> str | None:
    """A folder in the temporary folder that only this user can write to, or None.

    Numba runs the code in its cache. So a folder that others own or can write to is not used.
    """
    user = _user()
    try:
        folder = Path(private_folder_name())
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    is_folder, is_open = stat.S_ISDIR(about.st_mode), stat.S_IMODE(about.st_mode) & 0o077
    if not is_folder or (hasattr(os, "geteuid") and (about.st_uid != user or is_open)):
        return None
    return str(folder)
