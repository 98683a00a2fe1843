"""Models of sequences: n-grams, hidden states, and mixtures of them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.sequences.bigram import BigramModel
    from eigentext.sequences.hmm import HMM
    from eigentext.sequences.hmm_tagger import HMMTagger
    from eigentext.sequences.interpolation import Interpolation
    from eigentext.sequences.kneser_ney import KneserNey

__all__ = ["HMM", "BigramModel", "HMMTagger", "Interpolation", "KneserNey"]

_HOMES = {
    "BigramModel": "bigram",
    "Interpolation": "interpolation",
    "HMM": "hmm",
    "HMMTagger": "hmm_tagger",
    "KneserNey": "kneser_ney",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.sequences.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.sequences' has no attribute {name!r}")
