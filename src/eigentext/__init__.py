"""Latent-variable models of language, learned from counts and linear algebra.

Corpus -> moments -> factors -> model. Names load on first use, so that importing is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "BigramModel": "eigentext.sequences",
    "ClassBigram": "eigentext.sequences",
    "CooccurrenceMoments": "eigentext.moments",
    "DocumentMoments": "eigentext.moments",
    "EigentextError": "eigentext.errors",
    "Eigentokens": "eigentext.words",
    "Eigenwords": "eigentext.words",
    "HMM": "eigentext.sequences",
    "HMMTagger": "eigentext.sequences",
    "KernelPerceptron": "eigentext.linear",
    "KneserNey": "eigentext.sequences",
    "LatentPCFG": "eigentext.grammars",
    "NgramMoments": "eigentext.moments",
    "PCFG": "eigentext.grammars",
    "Perceptron": "eigentext.linear",
    "Phrases": "eigentext.words",
    "PolynomialKernel": "eigentext.kernels",
    "RefinementHMM": "eigentext.sequences",
    "Reranker": "eigentext.reranking",
    "SequenceKernel": "eigentext.kernels",
    "Tagger": "eigentext.tagging",
    "TextCorpus": "eigentext.corpus",
    "TextVectors": "eigentext.words",
    "TopicModel": "eigentext.topics",
    "Tree": "eigentext.corpus",
    "TreeKernel": "eigentext.kernels",
    "TreeReranker": "eigentext.reranking",
    "TwoViewClassifier": "eigentext.tagging",
    "TwoViewRegressor": "eigentext.tagging",
    "TwoViewTopics": "eigentext.topics",
    "Vocabulary": "eigentext.corpus",
    "WeightedAutomaton": "eigentext.sequences",
    "WordClusters": "eigentext.words",
    "checkpointing": "eigentext.storage",
    "load": "eigentext.storage",
    "load_dataset": "eigentext.corpus",
    "normalize_tree": "eigentext.corpus",
    "progress": "eigentext.engine",
    "read_conll": "eigentext.corpus",
    "read_trees": "eigentext.corpus",
    "use": "eigentext.engine",
    "write_conll": "eigentext.corpus",
    "write_trees": "eigentext.corpus",
}
_ROOMS = (
    "corpus",
    "engine",
    "errors",
    "evaluate",
    "factor",
    "grammars",
    "hub",
    "kernels",
    "linear",
    "matrices",
    "moments",
    "plots",
    "reranking",
    "sequences",
    "storage",
    "tagging",
    "topics",
    "trellis",
    "words",
)

__all__ = [
    "HMM",
    "PCFG",
    "BigramModel",
    "ClassBigram",
    "CooccurrenceMoments",
    "DocumentMoments",
    "EigentextError",
    "Eigentokens",
    "Eigenwords",
    "HMMTagger",
    "KernelPerceptron",
    "KneserNey",
    "LatentPCFG",
    "NgramMoments",
    "Perceptron",
    "Phrases",
    "PolynomialKernel",
    "RefinementHMM",
    "Reranker",
    "SequenceKernel",
    "Tagger",
    "TextCorpus",
    "TextVectors",
    "TopicModel",
    "Tree",
    "TreeKernel",
    "TreeReranker",
    "TwoViewClassifier",
    "TwoViewRegressor",
    "TwoViewTopics",
    "Vocabulary",
    "WeightedAutomaton",
    "WordClusters",
    "checkpointing",
    "corpus",
    "engine",
    "errors",
    "evaluate",
    "factor",
    "grammars",
    "hub",
    "kernels",
    "linear",
    "load",
    "load_dataset",
    "matrices",
    "moments",
    "normalize_tree",
    "plots",
    "progress",
    "read_conll",
    "read_trees",
    "reranking",
    "sequences",
    "storage",
    "tagging",
    "topics",
    "trellis",
    "use",
    "words",
    "write_conll",
    "write_trees",
]

if TYPE_CHECKING:
    from eigentext import (
        corpus,
        engine,
        errors,
        evaluate,
        factor,
        grammars,
        hub,
        kernels,
        linear,
        matrices,
        moments,
        plots,
        reranking,
        sequences,
        storage,
        tagging,
        topics,
        trellis,
        words,
    )
    from eigentext.corpus import (
        TextCorpus,
        Tree,
        Vocabulary,
        load_dataset,
        normalize_tree,
        read_conll,
        read_trees,
        write_conll,
        write_trees,
    )
    from eigentext.engine import progress, use
    from eigentext.errors import EigentextError
    from eigentext.grammars import PCFG, LatentPCFG
    from eigentext.kernels import PolynomialKernel, SequenceKernel, TreeKernel
    from eigentext.linear import KernelPerceptron, Perceptron
    from eigentext.moments import CooccurrenceMoments, DocumentMoments, NgramMoments
    from eigentext.reranking import Reranker, TreeReranker
    from eigentext.sequences import (
        HMM,
        BigramModel,
        ClassBigram,
        HMMTagger,
        KneserNey,
        RefinementHMM,
        WeightedAutomaton,
    )
    from eigentext.storage import checkpointing, load
    from eigentext.tagging import Tagger, TwoViewClassifier, TwoViewRegressor
    from eigentext.topics import TopicModel, TwoViewTopics
    from eigentext.words import Eigentokens, Eigenwords, Phrases, TextVectors, WordClusters


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"eigentext.{name}")
    raise AttributeError(f"module 'eigentext' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
