"""How good is it? Scores of fitted models, on data that other tools are scored on too."""

from eigentext.evaluate.analogies import Accuracy, AnalogyResult, analogies
from eigentext.evaluate.readers import (
    Pair,
    Question,
    half,
    kind_of,
    read_pairs,
    read_questions,
)
from eigentext.evaluate.similarity import SimilarityResult, similarity

__all__ = [
    "Accuracy",
    "AnalogyResult",
    "Pair",
    "Question",
    "SimilarityResult",
    "analogies",
    "half",
    "kind_of",
    "read_pairs",
    "read_questions",
    "similarity",
]
