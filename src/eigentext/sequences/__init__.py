"""Models of sequences: n-grams, hidden states, and mixtures of them."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.sequences.bigram import BigramModel
    from eigentext.sequences.hmm import HMM
    from eigentext.sequences.hmm_tagger import HMMTagger
    from eigentext.sequences.interpolation import Interpolation
    from eigentext.sequences.kneser_ney import KneserNey
    from eigentext.sequences.weighted_automaton import WeightedAutomaton

__all__ = [
    "HMM",
    "BigramModel",
    "HMMTagger",
    "Interpolation",
    "KneserNey",
    "WeightedAutomaton",
]

__getattr__ = lazily(
    __name__,
    {
        "BigramModel": "bigram",
        "Interpolation": "interpolation",
        "HMM": "hmm",
        "HMMTagger": "hmm_tagger",
        "KneserNey": "kneser_ney",
        "WeightedAutomaton": "weighted_automaton",
    },
)
