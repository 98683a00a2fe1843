"""Corpus -> additive statistics: the only rooms that ever see a whole corpus."""

from eigentext.moments.cooccurrence import CooccurrenceMoments
from eigentext.moments.documents import DocumentMoments, document_counts
from eigentext.moments.ngrams import NgramMoments

__all__ = ["CooccurrenceMoments", "DocumentMoments", "NgramMoments", "document_counts"]
