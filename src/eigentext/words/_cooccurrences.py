"""What models of words by what stands around them share: from a corpus to counts that suit them."""

import os
from typing import Any, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.errors import MomentsError, ParameterError
from eigentext.estimators import Estimator
from eigentext.moments import CooccurrenceMoments
from eigentext.moments.cooccurrence import Context, Weighting
from eigentext.storage import Saved

Facts = dict[str, Any]


class CooccurrenceModel(Saved, Estimator):
    """An estimator whose statistics are co-occurrence counts: ``fit = fit_moments(collect)``."""

    n_components: int
    window: int
    context: Context
    weighting: Weighting = "flat"
    min_count: int
    max_size: int | None

    def fit(
        self,
        corpus: Any,
        y: None = None,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from a :class:`TextCorpus` or what it takes; same as collect + fit_moments.

        `memory` (a budget of bytes for the whole process: what does not fit lies in files of the
        temporary folder) and `cache` (a folder for encoded text) change no answer.
        """
        return self.fit_moments(self.collect(corpus, memory=memory, cache=cache), memory=memory)

    def collect(
        self,
        corpus: Any,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> CooccurrenceMoments:
        """The statistics that `fit` needs of a corpus, and no more."""
        self._check_parameters()
        return CooccurrenceMoments.from_corpus(
            corpus,
            window=self.window,
            context=self.context,
            weighting=self.weighting,
            memory=memory,
            cache=cache,
            **self._limits(),
        )

    def fit_moments(self, moments: CooccurrenceMoments, *, memory: int | None = None) -> Self:
        """Learn from statistics alone."""
        raise NotImplementedError

    def _limits(self) -> dict[str, Any]:
        """Of the vocabulary of moments."""
        return {"min_count": self.min_count, "max_size": self.max_size}

    def _check_parameters(self) -> None:
        if not (isinstance(self.n_components, (int, np.integer)) and self.n_components >= 1):
            raise ParameterError(f"n_components must be 1 or more, not {self.n_components!r}")
        if self.min_count < 1:
            raise ParameterError(f"min_count must be 1 or more, not {self.min_count}")

    def _cut(self, moments: CooccurrenceMoments) -> CooccurrenceMoments:
        """Moments of the vocabulary, if they were counted as this model wants them."""
        self._check_parameters()
        for name in ("window", "context", "weighting"):
            mine, theirs = getattr(self, name), getattr(moments, name)
            if mine != theirs:
                raise MomentsError(f"{name}={mine!r}, but the moments were counted with {theirs!r}")
        if not moments.whole:
            return moments
        return moments.restrict(min_count=self.min_count, max_size=self.max_size)

    def _source(self, cut: CooccurrenceMoments, n_pairs: int) -> tuple[Vocabulary, Facts, Facts]:
        """The vocabulary, `provenance_`, and what diagnostics say about the text."""
        provenance = {"n_tokens": cut.n_tokens, "options": cut.options, "sources": cut.sources}
        diagnostics = {
            "n_words": len(cut.vocabulary),
            "rare_tokens": cut.rare_count,
            "pairs": n_pairs,
        }
        return cut.vocabulary, provenance, diagnostics
