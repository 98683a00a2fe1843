"""Models of sequences: n-grams, hidden states, and mixtures of them."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.sequences.bigram import BigramModel
    from eigentext.sequences.class_bigram import ClassBigram
    from eigentext.sequences.hmm import HMM
    from eigentext.sequences.hmm_tagger import HMMTagger
    from eigentext.sequences.interpolation import Interpolation
    from eigentext.sequences.kneser_ney import KneserNey
    from eigentext.sequences.refinement_hmm import RefinementHMM
    from eigentext.sequences.weighted_automaton import WeightedAutomaton

__all__ = [
    "HMM",
    "BigramModel",
    "ClassBigram",
    "HMMTagger",
    "Interpolation",
    "KneserNey",
    "RefinementHMM",
    "WeightedAutomaton",
]

__getattr__ = lazily(
    __name__,
    {
        "BigramModel": "bigram",
        "ClassBigram": "class_bigram",
        "Interpolation": "interpolation",
        "HMM": "hmm",
        "HMMTagger": "hmm_tagger",
        "KneserNey": "kneser_ney",
        "RefinementHMM": "refinement_hmm",
        "WeightedAutomaton": "weighted_automaton",
    },
)
