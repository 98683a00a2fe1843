"""Corpus -> additive statistics: the only rooms that ever see a whole corpus."""

from eigentext.moments.cooccurrence import CooccurrenceMoments

__all__ = ["CooccurrenceMoments"]
