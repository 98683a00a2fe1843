"""Latent-variable models of language, learned from counts and linear algebra.

Corpus -> moments -> factors -> model. Names load on first use, so that importing is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "CooccurrenceMoments": "eigentext.moments",
    "EigentextError": "eigentext.errors",
    "Eigentokens": "eigentext.words",
    "Eigenwords": "eigentext.words",
    "TextCorpus": "eigentext.corpus",
    "Vocabulary": "eigentext.corpus",
    "WordClusters": "eigentext.words",
    "load": "eigentext.storage",
}
_ROOMS = ("corpus", "engine", "errors", "evaluate", "factor", "moments", "storage", "words")

__all__ = [
    "CooccurrenceMoments",
    "EigentextError",
    "Eigentokens",
    "Eigenwords",
    "TextCorpus",
    "Vocabulary",
    "WordClusters",
    "corpus",
    "engine",
    "errors",
    "evaluate",
    "factor",
    "load",
    "moments",
    "storage",
    "words",
]

if TYPE_CHECKING:
    from eigentext import corpus, engine, errors, evaluate, factor, moments, storage, words
    from eigentext.corpus import TextCorpus, Vocabulary
    from eigentext.errors import EigentextError
    from eigentext.moments import CooccurrenceMoments
    from eigentext.storage import load
    from eigentext.words import Eigentokens, Eigenwords, WordClusters


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"eigentext.{name}")
    raise AttributeError(f"module 'eigentext' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
