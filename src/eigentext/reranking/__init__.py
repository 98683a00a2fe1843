"""Reranking: n-best lists of structures, and the model that chooses the best one of each list."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.reranking.candidates import read_candidates, write_candidates
    from eigentext.reranking.folds import jackknife
    from eigentext.reranking.reranker import Reranker
    from eigentext.reranking.tree_reranker import TreeReranker

__all__ = ["Reranker", "TreeReranker", "jackknife", "read_candidates", "write_candidates"]

__getattr__ = lazily(
    __name__,
    {
        "Reranker": "reranker",
        "TreeReranker": "tree_reranker",
        "jackknife": "folds",
        "read_candidates": "candidates",
        "write_candidates": "candidates",
    },
)
