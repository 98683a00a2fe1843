"""Word vectors from counts: the spectral template of seed 002, and what is made of its vectors."""

from importlib import import_module
from typing import TYPE_CHECKING

from eigentext.words.eigenwords import Eigenwords
from eigentext.words.template import factored_counts, scaled_counts

if TYPE_CHECKING:
    from eigentext.words.clusters import WordClusters
    from eigentext.words.eigentokens import Eigentokens

__all__ = ["Eigentokens", "Eigenwords", "WordClusters", "factored_counts", "scaled_counts"]

_LATER = {"Eigentokens": "eigentokens", "WordClusters": "clusters"}  # or scikit-learn comes along


def __getattr__(name: str):
    if name in _LATER:
        return getattr(import_module(f"eigentext.words.{_LATER[name]}"), name)
    raise AttributeError(f"module 'eigentext.words' has no attribute {name!r}")
