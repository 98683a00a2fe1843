"""Scores of fitted models, on the data that other tools are scored on."""

from eigentext.evaluate.analogies import Accuracy, AnalogyResult, analogies
from eigentext.evaluate.brackets import BracketResult, brackets
from eigentext.evaluate.calibration import (
    Bin,
    Calibration,
    Pairs,
    calibration,
    next_word_pairs,
    span_pairs,
    tag_pairs,
)
from eigentext.evaluate.chunks import Chunks, chunk_spans, chunks
from eigentext.evaluate.classes import average_mutual_information
from eigentext.evaluate.coherence import CoherenceResult, coherence, distinct_words
from eigentext.evaluate.compare import Comparison, compare, compare_results, compare_taggings
from eigentext.evaluate.completion import CompletionResult, completion_perplexity
from eigentext.evaluate.cross_validation import CrossValidation, Fold, cross_validate, folds
from eigentext.evaluate.hubs import HubnessResult, hubness
from eigentext.evaluate.induced import InducedTags, induced_tags, many_to_one, v_measure
from eigentext.evaluate.readers import (
    Pair,
    Question,
    half,
    kind_of,
    read_pairs,
    read_questions,
)
from eigentext.evaluate.similarity import SimilarityResult, similarity
from eigentext.evaluate.tags import Tags, tags

__all__ = [
    "Accuracy",
    "AnalogyResult",
    "Bin",
    "BracketResult",
    "Calibration",
    "Chunks",
    "CoherenceResult",
    "Comparison",
    "CompletionResult",
    "CrossValidation",
    "Fold",
    "HubnessResult",
    "InducedTags",
    "Pair",
    "Pairs",
    "Question",
    "SimilarityResult",
    "Tags",
    "analogies",
    "average_mutual_information",
    "brackets",
    "calibration",
    "chunk_spans",
    "chunks",
    "coherence",
    "compare",
    "compare_results",
    "compare_taggings",
    "completion_perplexity",
    "cross_validate",
    "distinct_words",
    "folds",
    "half",
    "hubness",
    "induced_tags",
    "kind_of",
    "many_to_one",
    "next_word_pairs",
    "read_pairs",
    "read_questions",
    "similarity",
    "span_pairs",
    "tag_pairs",
    "tags",
    "v_measure",
]
