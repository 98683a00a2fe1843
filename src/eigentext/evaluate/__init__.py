"""Scores of fitted models, on the data that other tools are scored on."""

from eigentext.evaluate.agreement import Agreement, label_agreement
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
from eigentext.evaluate.coherence import CoherenceResult, coherence, distinct_words, diversity
from eigentext.evaluate.compare import Comparison, compare, compare_results, compare_taggings
from eigentext.evaluate.completion import CompletionResult, completion_perplexity
from eigentext.evaluate.cross_validation import CrossValidation, Fold, cross_validate, folds
from eigentext.evaluate.hubs import HubnessResult, hubness
from eigentext.evaluate.induced import InducedTags, induced_tags, many_to_one, v_measure
from eigentext.evaluate.intrusion import IntrusionResult, word_intrusion
from eigentext.evaluate.readers import (
    Pair,
    Question,
    half,
    kind_of,
    read_pairs,
    read_questions,
)
from eigentext.evaluate.similarity import SimilarityResult, similarity
from eigentext.evaluate.stability import Stability, stability, topic_overlap
from eigentext.evaluate.tags import Tags, tags
from eigentext.evaluate.topic_scores import TopicScores, topics

__all__ = [
    "Accuracy",
    "Agreement",
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
    "IntrusionResult",
    "Pair",
    "Pairs",
    "Question",
    "SimilarityResult",
    "Stability",
    "Tags",
    "TopicScores",
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
    "diversity",
    "folds",
    "half",
    "hubness",
    "induced_tags",
    "kind_of",
    "label_agreement",
    "many_to_one",
    "next_word_pairs",
    "read_pairs",
    "read_questions",
    "similarity",
    "span_pairs",
    "stability",
    "tag_pairs",
    "tags",
    "topic_overlap",
    "topics",
    "v_measure",
    "word_intrusion",
]
