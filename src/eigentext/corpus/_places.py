"""Where data sets are searched for: ``EIGENTEXT_DATA``, folders of NLTK, the cache."""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigentext.corpus.encoded import default_cache
from eigentext.errors import CorpusError

NLTK = "nltk_data/"
_SYSTEM = ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")  # as in NLTK


@dataclass(frozen=True)
class Dataset:
    """The places of a data set, and how to read it."""

    name: str
    places: tuple[str, ...]  # in EIGENTEXT_DATA; the first one is preferred; () if it is made
    read: Callable[..., Any]
    tagged: bool = False  # can be read with tags
    always_tagged: bool = False
    options: tuple[str, ...] = ()  # arguments of load_dataset that `read` takes
    splits: tuple[str, ...] = ("train", "test", "all")
    download: str = ""  # path below DOWNLOADS; "" if it cannot be downloaded


def candidates(dataset: Dataset) -> Iterator[Path]:
    """All possible paths of the data set, in the order of the search."""
    for folder, is_nltk in _folders(dataset):
        for place in dataset.places:
            yield Path(folder, place.removeprefix(NLTK) if is_nltk else place)


def _folders(dataset: Dataset) -> Iterator[tuple[Path, bool]]:
    """Folders to search, and whether they have the layout of NLTK."""
    if data := os.environ.get("EIGENTEXT_DATA"):
        yield Path(data).expanduser(), False
    if dataset.places[0].startswith(NLTK):
        named = os.environ.get("NLTK_DATA", "").split(os.pathsep)
        parents = ("~", *(Path(sys.prefix, part) for part in ("", "share", "lib")), *_SYSTEM)
        usual = (Path(parent, "nltk_data") for parent in parents)
        for folder in (*filter(None, named), *usual):
            yield Path(folder).expanduser(), True
    yield own_folder(), False


def own_folder() -> Path:
    """The folder for downloads."""
    return default_cache() / "data"


def not_found(dataset: Dataset, failed: str = "") -> CorpusError:
    """The error that lists all places searched and the remedies; `failed` tells of a download."""
    of_nltk = dataset.places[0].startswith(NLTK)
    variables = ("EIGENTEXT_DATA", "NLTK_DATA") if of_nltk else ("EIGENTEXT_DATA",)
    looked = [f"{variable} (not set)" for variable in variables if not os.environ.get(variable)]
    looked += [str(folder) for folder, _ in _folders(dataset)]
    remedies = [f"set EIGENTEXT_DATA to a folder that contains {' or '.join(dataset.places)}"]
    if of_nltk:
        remedies.append(f"run `python -m nltk.downloader {Path(dataset.places[0]).name}`")
    if dataset.download and not failed:
        remedies.append(f"call load_dataset({dataset.name!r}, download=True)")
    return CorpusError(
        f"{dataset.name}: not found{failed and f', and {failed}'}; "
        f"searched {', '.join(looked)}; {', or '.join(remedies)}"
    )
