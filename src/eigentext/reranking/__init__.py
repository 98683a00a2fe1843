"""Reranking: n-best lists of structures, and the model that chooses the best one of each list."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.reranking.candidates import read_candidates, write_candidates
    from eigentext.reranking.folds import jackknife
    from eigentext.reranking.reranker import Reranker

__all__ = ["Reranker", "jackknife", "read_candidates", "write_candidates"]

_HOMES = {
    "Reranker": "reranker",
    "jackknife": "folds",
    "read_candidates": "candidates",
    "write_candidates": "candidates",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.reranking.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.reranking' has no attribute {name!r}")
