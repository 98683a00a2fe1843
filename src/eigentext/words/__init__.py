"""Word vectors from counts: the spectral template (Stratos, Collins and Hsu 2015), and its uses."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.words.clusters import WordClusters
    from eigentext.words.eigentokens import Eigentokens
    from eigentext.words.eigenwords import Eigenwords
    from eigentext.words.template import factored_counts, scaled_counts
    from eigentext.words.text_vectors import TextVectors

__all__ = [
    "Eigentokens",
    "Eigenwords",
    "TextVectors",
    "WordClusters",
    "factored_counts",
    "scaled_counts",
]

_HOMES = {
    "Eigentokens": "eigentokens",
    "Eigenwords": "eigenwords",
    "TextVectors": "text_vectors",
    "WordClusters": "clusters",
    "factored_counts": "template",
    "scaled_counts": "template",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.words.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.words' has no attribute {name!r}")
