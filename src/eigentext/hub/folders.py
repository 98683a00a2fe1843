"""A model as a folder: the model file, its card, and a summary for programs."""

import os
from pathlib import Path
from typing import Any

import eigentext
from eigentext.errors import EigentextError
from eigentext.hub.cards import card
from eigentext.storage.files import MODEL_FILE, read_saved, replacing
from eigentext.storage.models import Saved
from eigentext.storage.valid_json import json_text

CARD, CONFIG = "README.md", "config.json"


def save(
    model: Any, folder: str | os.PathLike[str], *, overwrite: bool = False, **about: Any
) -> Path:
    """Write a fitted model as a folder, with a model card; ``et.load(folder)`` opens it.

    The folder has the layout of the Hugging Face Hub: ``model.safetensors`` (the file of
    ``model.save``), ``README.md`` (the card) and ``config.json`` (the format and the parameters).

    Parameters
    ----------
    model : fitted model
        Any model with a file format.
    folder : path
        It is made if it does not exist. Other files in it stay.
    overwrite : bool
        Whether the three files may replace those that are there: you may have edited the card.
    **about
        What the card says: see :func:`eigentext.hub.card`.

    Examples
    --------
    >>> import tempfile
    >>> import eigentext as et
    >>> words = et.Eigenwords(2, window=1).fit(["the cat sat", "the dog sat"] * 5)
    >>> folder = et.hub.save(words, tempfile.mkdtemp() + "/words", license="mit", language="en")
    >>> sorted(path.name for path in folder.iterdir())
    ['README.md', 'config.json', 'model.safetensors']
    >>> et.load(folder).most_similar("cat", topn=1)[0][0]
    'dog'
    """
    if not isinstance(model, Saved):
        raise EigentextError(
            f"{type(model).__name__} has no file format, so it cannot be saved; give a model of "
            "eigentext"
        )
    text = card(model, **about)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EigentextError(
            f"{place}: cannot be made a folder ({error.strerror or error}); name another one"
        ) from error
    there = [name for name in (MODEL_FILE, CARD, CONFIG) if (place / name).exists()]
    if there and not overwrite:
        raise EigentextError(
            f"{place}: has {' and '.join(there)} already; name another folder, or replace "
            "what is there with overwrite=True"
        )
    model.save(place / MODEL_FILE)
    _write(place / CARD, text)
    _write(place / CONFIG, json_text(_summary(place / MODEL_FILE), indent=2) + "\n")
    return place


def _summary(path: Path) -> dict[str, Any]:
    """What programs want to know without the file of the model."""
    _, about = read_saved(path)
    return {
        "library_name": "eigentext",
        "library_version": eigentext.__version__,
        "format": about["format"],
        "parameters": about.get("parameters", {}),
        "provenance": about.get("provenance", {}),
    }


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
