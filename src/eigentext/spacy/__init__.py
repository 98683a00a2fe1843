"""Models in spaCy: vectors of a vocabulary, and components of a pipeline."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.spacy.parser import ParserComponent
    from eigentext.spacy.tagger import TaggerComponent
    from eigentext.spacy.vectors import add_vectors

__all__ = ["ParserComponent", "TaggerComponent", "add_vectors"]

__getattr__ = lazily(
    __name__,
    {"ParserComponent": "parser", "TaggerComponent": "tagger", "add_vectors": "vectors"},
)
