"""What the cache folder of eigentext holds: encoded texts, and data sets that were downloaded.

The folder may be one that the user has named and uses for other things. So only names that
eigentext gives are looked at: those of encoded texts, and those of data sets.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from eigentext.corpus._places import NLTK, own_folder
from eigentext.corpus.encoded import default_cache, is_entry, is_unfinished

Kind = Literal["texts", "data"]
_OLD = 86_400  # seconds; after that, the process of an unfinished text was killed


def folder_of(kind: Kind) -> Path:
    """The folder of encoded texts, or that of data sets."""
    return default_cache() if kind == "texts" else own_folder()


def files(kind: Kind) -> list[Path]:
    """The files of one kind."""
    if kind == "data":
        return list(_downloads())
    return [file for entry in _texts() for file in sorted(entry.iterdir()) if file.is_file()]


def clear(kind: Kind) -> int:
    """Delete the files of one kind; return how many bytes they took.

    A process that reads an encoded text keeps it until it ends. Texts that are being encoded stay.
    """
    n_bytes = 0
    entries = list(_texts()) if kind == "texts" else []  # deleting files makes folders young
    for file in files(kind):
        with suppress(OSError):  # another process deletes it, too
            size = file.stat().st_size
            file.unlink()
            n_bytes += size
    for entry in entries:
        shutil.rmtree(entry, ignore_errors=True)
    return n_bytes


def _downloads() -> Iterator[Path]:
    from eigentext.corpus.datasets import _DATASETS

    for dataset in _DATASETS.values():
        path = own_folder() / NLTK / dataset.download
        if dataset.download and path.is_file():
            yield path


def _texts() -> Iterator[Path]:
    """The folders of encoded texts; a link is never followed."""
    with suppress(OSError):
        for entry in sorted(default_cache().iterdir()):
            if entry.is_symlink() or not entry.is_dir():
                continue
            age = time.time() - entry.stat().st_mtime
            if is_entry(entry.name) or (is_unfinished(entry.name) and age > _OLD):
                yield entry
