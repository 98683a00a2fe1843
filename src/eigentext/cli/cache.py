"""`eigentext cache`: where compiled loops, encoded texts and data sets are kept."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eigentext.cli._bundles import JsonFlag
from eigentext.cli._console import print_json, print_plain
from eigentext.errors import ParameterError

_KINDS = {
    "loops": "compiled loops",
    "texts": "encoded texts",
    "data": "downloaded data sets",
}
_UNITS = ("bytes", "kB", "MB", "GB")


class Kept(NamedTuple):
    """Files of one kind in one folder."""

    kind: str
    folder: str
    files: int
    bytes: int


def cache(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="loops, texts or data. By default all; --clear keeps data."),
    ] = None,
    clear: Annotated[
        bool,
        typer.Option(
            "--clear",
            help="Delete the files. Loops are compiled and texts are encoded again when they are "
            "needed. Data sets are deleted only if you name them: `eigentext cache data --clear`.",
        ),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Print where compiled loops, encoded texts and data sets are kept, and how large they are.

    Only files that eigentext wrote are counted and deleted. Running programs are not harmed.
    EIGENTEXT_CACHE sets the folder of texts and data, and NUMBA_CACHE_DIR that of loops.
    """
    if strange := [name for name in what or [] if name not in _KINDS]:
        raise ParameterError(f"{strange[0]!r} is no kind of cache; there are {', '.join(_KINDS)}")
    if clear:
        _clear(what or ["loops", "texts"], json=json)
        return
    rows = [row for kind in what or _KINDS for row in _kept(kind)]
    if json:
        print_json([row._asdict() for row in rows])
        return
    for row in rows:
        print_plain(f"{_KINDS[row.kind]:21} {_in_words(row.bytes):>9}  {row.folder}")


def _clear(kinds: Iterable[str], *, json: bool) -> None:
    from eigentext.corpus import cached
    from eigentext.engine import loop_files

    actions: dict[str, Callable[[], int]] = {
        "loops": loop_files.clear,
        "texts": lambda: cached.clear("texts"),
        "data": lambda: cached.clear("data"),
    }
    cleared = {kind: actions[kind]() for kind in kinds}
    if json:
        print_json({"cleared": cleared})
        return
    for kind, n_bytes in cleared.items():
        print_plain(f"{_KINDS[kind]:21} {_in_words(n_bytes):>9}  deleted")


def _kept(kind: Any) -> list[Kept]:
    from eigentext.corpus import cached
    from eigentext.engine import loop_files

    if kind != "loops":
        found = cached.files(kind)
        return [Kept(kind, str(cached.folder_of(kind)), len(found), _total(found))]
    folders = loop_files.shared_folders()
    files = loop_files.files()
    rows = []
    for folder in folders:
        inside = [file for file in files if folder in file.parents]
        rows.append(Kept(kind, str(folder), len(inside), _total(inside)))
    used = [row for row in rows if row.files]
    return used or rows[:1]


def _total(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.exists())


def _in_words(n_bytes: float) -> str:
    """A number of bytes with three digits: "1.23 MB"."""
    unit = min(int(math.log10(max(n_bytes, 1)) / 3), len(_UNITS) - 1)
    return f"{n_bytes / 1000**unit:.{3 if unit else 9}g} {_UNITS[unit]}"
