"""Where data sets are looked for: ``EIGENTEXT_DATA``, NLTK's folders, eigentext's cache."""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigentext.corpus.encoded import default_cache
from eigentext.errors import CorpusError

NLTK = "nltk_data/"
_SYSTEM = ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")  # as NLTK has it


@dataclass(frozen=True)
class Dataset:
    """Where a data set is kept, and how it is read."""

    name: str
    places: tuple[str, ...]  # in EIGENTEXT_DATA, the preferred one first
    read: Callable[..., Any]
    tagged: bool = False  # if asked for
    always_tagged: bool = False
    options: tuple[str, ...] = ()  # of load_dataset, that reading takes
    splits: tuple[str, ...] = ("train", "test", "all")
    download: str = ""  # below DOWNLOADS; nothing where terms or form forbid it


def candidates(dataset: Dataset) -> Iterator[Path]:
    """Every path that may hold the data set, in the order of search."""
    for folder, is_nltk in _folders(dataset):
        for place in dataset.places:
            yield Path(folder, place.removeprefix(NLTK) if is_nltk else place)


def _folders(dataset: Dataset) -> Iterator[tuple[Path, bool]]:
    """Folders to look in, and whether they are laid out as NLTK's are."""
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
    """What is fetched is kept here."""
    return default_cache() / "data"


def not_found(dataset: Dataset, failed: str = "") -> CorpusError:
    """Where it was looked for, and what to do; `failed` says why it was not fetched either."""
    of_nltk = dataset.places[0].startswith(NLTK)
    variables = ("EIGENTEXT_DATA", "NLTK_DATA") if of_nltk else ("EIGENTEXT_DATA",)
    looked = [f"{variable} (not set)" for variable in variables if not os.environ.get(variable)]
    looked += [str(folder) for folder, _ in _folders(dataset)]
    remedies = [f"set EIGENTEXT_DATA to a folder that holds {' or '.join(dataset.places)}"]
    if of_nltk:
        remedies.append(f"run `python -m nltk.downloader {Path(dataset.places[0]).name}`")
    if dataset.download and not failed:
        remedies.append(f"call load_dataset({dataset.name!r}, download=True)")
    return CorpusError(
        f"{dataset.name}: not found{failed and f', and {failed}'}; "
        f"looked in {', '.join(looked)}; {', or '.join(remedies)}"
    )
