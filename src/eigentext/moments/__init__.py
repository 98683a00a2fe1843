"""Exact statistics of a corpus that can be added: co-occurrences, documents, n-grams."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.moments.cooccurrence import CooccurrenceMoments
    from eigentext.moments.document_rows import document_counts
    from eigentext.moments.documents import DocumentMoments
    from eigentext.moments.ngrams import NgramMoments

__all__ = ["CooccurrenceMoments", "DocumentMoments", "NgramMoments", "document_counts"]

_HOMES = {
    "CooccurrenceMoments": "cooccurrence",
    "DocumentMoments": "documents",
    "NgramMoments": "ngrams",
    "document_counts": "document_rows",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.moments.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.moments' has no attribute {name!r}")
