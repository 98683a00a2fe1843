"""What can be asked of each kind of model: one module to a kind."""

from importlib import import_module
from typing import Any

from eigentext.explorer.models.base import Explored

_HOMES = {
    "BigramModel": ("sequences", "ExploredBigrams"),
    "Eigentokens": ("words", "ExploredVectors"),
    "Eigenwords": ("words", "ExploredWords"),
    "HMM": ("sequences", "ExploredHMM"),
    "HMMTagger": ("taggers", "ExploredHMMTagger"),
    "KneserNey": ("sequences", "ExploredKneserNey"),
    "LatentPCFG": ("grammars", "ExploredGrammar"),
    "PCFG": ("grammars", "ExploredGrammar"),
    "Reranker": ("rerankers", "ExploredReranker"),
    "Tagger": ("taggers", "ExploredTagger"),
    "TopicModel": ("topics", "ExploredTopics"),
    "WordClusters": ("clusters", "ExploredClusters"),
}

__all__ = ["Explored", "explored"]


def explored(model: Any, name: str) -> Explored:
    """A loaded model, ready to be asked; of a kind not known here, only what it says of itself."""
    home = _HOMES.get(type(model).__name__)
    if home is None:
        return Explored(model, name)
    module, kind = home
    return getattr(import_module(f"eigentext.explorer.models.{module}"), kind)(model, name)
