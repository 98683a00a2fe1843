"""Exact statistics of a corpus that can be added: co-occurrences, documents, n-grams."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.moments.cooccurrence import CooccurrenceMoments
    from eigentext.moments.document_rows import document_counts
    from eigentext.moments.documents import DocumentMoments
    from eigentext.moments.ngrams import NgramMoments
    from eigentext.moments.two_windows import TwoWindowMoments

__all__ = [
    "CooccurrenceMoments",
    "DocumentMoments",
    "NgramMoments",
    "TwoWindowMoments",
    "document_counts",
]

__getattr__ = lazily(
    __name__,
    {
        "CooccurrenceMoments": "cooccurrence",
        "DocumentMoments": "documents",
        "NgramMoments": "ngrams",
        "TwoWindowMoments": "two_windows",
        "document_counts": "document_rows",
    },
)
