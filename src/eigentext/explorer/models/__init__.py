"""The queries that each kind of model answers: one module for each kind."""

from importlib import import_module

from eigentext.explorer.models.base import Explored

_HOMES = {
    "BigramModel": ("sequences", "ExploredBigrams"),
    "ClassBigram": ("sequences", "ExploredClassBigram"),
    "Eigentokens": ("words", "ExploredVectors"),
    "Eigenwords": ("words", "ExploredWords"),
    "HMM": ("sequences", "ExploredHMM"),
    "HMMTagger": ("taggers", "ExploredHMMTagger"),
    "KneserNey": ("sequences", "ExploredKneserNey"),
    "LatentPCFG": ("grammars", "ExploredGrammar"),
    "PCFG": ("grammars", "ExploredGrammar"),
    "RefinementHMM": ("taggers", "ExploredRefinementHMM"),
    "Reranker": ("rerankers", "ExploredReranker"),
    "Tagger": ("taggers", "ExploredTagger"),
    "TopicModel": ("topics", "ExploredTopics"),
    "TwoViewTopics": ("topics", "ExploredTopics"),
    "TreeReranker": ("rerankers", "ExploredTreeReranker"),
    "WeightedAutomaton": ("sequences", "ExploredAutomaton"),
    "WordClusters": ("clusters", "ExploredClusters"),
}

__all__ = ["Explored", "explored"]


def explored(model: object, name: str) -> Explored:
    """Return a loaded model with its queries. A model of an unknown kind has none."""
    home = _HOMES.get(type(model).__name__)
    if home is None:
        return Explored(model, name)
    module, kind = home
    return getattr(import_module(f"eigentext.explorer.models.{module}"), kind)(model, name)
