"""Exact statistics of a corpus that can be added: co-occurrences, documents, n-grams."""

from eigentext.moments.cooccurrence import CooccurrenceMoments
from eigentext.moments.document_rows import document_counts
from eigentext.moments.documents import DocumentMoments
from eigentext.moments.ngrams import NgramMoments

__all__ = ["CooccurrenceMoments", "DocumentMoments", "NgramMoments", "document_counts"]
