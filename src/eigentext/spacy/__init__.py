"""Models in spaCy: vectors of a vocabulary, and components of a pipeline."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.spacy.parser import ParserComponent
    from eigentext.spacy.tagger import TaggerComponent
    from eigentext.spacy.vectors import add_vectors

__all__ = ["ParserComponent", "TaggerComponent", "add_vectors"]

_HOMES = {"ParserComponent": "parser", "TaggerComponent": "tagger", "add_vectors": "vectors"}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.spacy.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.spacy' has no attribute {name!r}")
