"""Compiled loops that come with the package, so that the first call does not wait for a compiler.

A wheel has an archive of compiled loops for each version of Python (``make wheel``). The code in it
is for all x86-64 processors with AVX2 and FMA ("x86-64-v3"). It is used only if Python, Numba, the
sources of all loops and the processor are those that it was made for. Otherwise Numba compiles as
usual, and nothing is lost but time. A checkout of the repository has no archives.

The variable EIGENTEXT_SHIPPED_LOOPS=off ignores the archives, and ``record=FOLDER`` writes every
loop that is compiled into a folder, from which :func:`pack` makes an archive.
"""

import hashlib
import os
import pickle
import platform
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba import __version__ as numba_version

from eigentext.engine._log import logger

VARIABLE = "EIGENTEXT_SHIPPED_LOOPS"
PROCESSOR = "x86-64-v3"
_NEEDED = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")  # what PROCESSOR has
_PACKAGE = Path(__file__).parents[1]
_FOLDER = Path(__file__).with_name("loops")
_CONSTANTS = ("corpus/encoded.py", "corpus/symbols.py")  # other files whose constants loops use


def load(loop: Any, sig: Any, target_context: Any) -> Any:
    """The compiled code of a loop for some types, or None.

    `loop` is Numba's cache of the loop, and `sig` are the types of its arguments.
    """
    archive = _archive()
    if archive is None:
        return None
    try:
        data = archive.read(_member(loop, sig))
    except KeyError:  # never compiled for such types
        return None
    target_context.refresh()
    return loop._impl.rebuild(target_context, pickle.loads(data))


def record(loop: Any, sig: Any, data: Any) -> None:
    """Keep compiled code, if the variable says so."""
    setting = os.environ.get(VARIABLE, "")
    if not setting.startswith("record=") or not loop._impl.check_cachable(data):
        return
    from numba.core.serialize import dumps

    folder = Path(setting.removeprefix("record="))
    folder.mkdir(parents=True, exist_ok=True)
    Path(folder, _member(loop, sig)).write_bytes(dumps(loop._impl.reduce(data)))


def pack(folder: str | os.PathLike[str], into: str | os.PathLike[str] = _FOLDER) -> Path:
    """Make the archive of this Python from a folder of recorded loops. Returns its path."""
    files = sorted(Path(folder).iterdir())
    Path(into).mkdir(parents=True, exist_ok=True)
    path = Path(into, _name())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            # A fixed date, so that equal loops make equal archives.
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return path


def archives_of_this_python() -> list[Path]:
    """The archives for this version of Python, also those of other sources."""
    return sorted(_FOLDER.glob(f"{sys.implementation.cache_tag}-*.zip"))


def is_there() -> bool:
    """Whether there are compiled loops for this machine."""
    return _archive() is not None


@cache
def _archive() -> zipfile.ZipFile | None:
    if os.environ.get(VARIABLE, "") or not _fits():
        return None
    path = _FOLDER / _name()
    if not path.is_file():
        return None
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        logger.info("the compiled loops in %s cannot be read (%s)", path, error)
        return None


def _fits() -> bool:
    """Whether this machine can run the code."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    has = binding.get_host_cpu_features()
    return all(has.get(one) for one in _NEEDED)


def _name() -> str:
    return f"{sys.implementation.cache_tag}-numba-{numba_version}-{PROCESSOR}-{_sources()[:16]}.zip"


def _sources() -> str:
    """A digest of all files with loops, and of those that they import."""
    files = {*_PACKAGE.rglob("*loops.py"), *(_PACKAGE / "engine").glob("*.py")}
    files |= {_PACKAGE / name for name in _CONSTANTS}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(_PACKAGE)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def _member(loop: Any, sig: Any) -> str:
    """The name of a loop for some types in an archive."""
    types = hashlib.sha256(", ".join(map(str, sig)).encode()).hexdigest()[:16]
    function = loop._py_func
    return f"{function.__module__}.{function.__qualname__}-{types}"
