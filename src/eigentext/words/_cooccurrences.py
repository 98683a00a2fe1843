"""The base of models that learn from co-occurrence counts: from a corpus to these counts."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from eigentext.corpus import Vocabulary
from eigentext.errors import MomentsError
from eigentext.estimators import Estimator, Finding, learning
from eigentext.matrices import budget
from eigentext.storage import Saved
from eigentext.words._findings import findings_of_vectors, size_findings

if TYPE_CHECKING:  # counting is loaded when a model learns
    from eigentext.moments import CooccurrenceMoments, NgramMoments
    from eigentext.moments.cooccurrence import Context, Weighting

Facts = dict[str, Any]


class CooccurrenceModel(Saved, Estimator):
    """An estimator whose statistics are co-occurrence counts: ``fit = fit_moments(collect)``.

    Subclasses have ``_learn(moments)``.
    """

    n_components: int
    window: int | None
    context: "Context"
    weighting: "Weighting" = "flat"
    min_count: int
    max_size: int | None
    provenance_: Facts
    diagnostics_: Facts
    vocabulary_: Vocabulary

    @learning
    def fit(
        self,
        corpus: Any,
        y: None = None,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from a :class:`TextCorpus` or anything it takes; same as collect + fit_moments.

        `memory` is the number of bytes that the whole process may take: what does not fit is in
        files of the temporary folder. `cache` is a folder for encoded text. Neither changes the
        answer.
        """
        with budget.within(memory):
            return self._learn(self._collected(self._prepared(corpus, cache), cache))

    def collect(
        self,
        corpus: Any,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> "CooccurrenceMoments":
        """The statistics of a corpus that `fit` needs."""
        self._table.checked(self.get_params(deep=False))
        self._check_together()
        return self._counted(corpus, memory=memory, cache=cache, **self._limits())

    def _prepared(self, corpus: Any, cache: str | os.PathLike[str] | bool | None) -> Any:
        """The corpus to learn from. A model may change it, and note how."""
        return corpus

    def _collected(
        self, corpus: Any, cache: str | os.PathLike[str] | bool | None
    ) -> "CooccurrenceMoments":
        """What `collect` returns, but not counted yet if `_learn` needs no forward counts."""
        if self._needs_forward():
            return self._counted(corpus, cache=cache, **self._limits())
        from eigentext.moments.uncounted import read_moments

        how = {name: value for name, value in self._windows().items() if name != "context"}
        return read_moments(corpus, **how, **self._limits(), cache=cache)

    def _needs_forward(self) -> bool:
        """Whether `_learn` needs more than the symmetric counts F + F'."""
        return True

    def _counted(self, corpus: Any, **settings: Any) -> "CooccurrenceMoments":
        from eigentext.moments import CooccurrenceMoments

        return CooccurrenceMoments.from_corpus(corpus, **self._windows(), **settings)

    @learning
    def fit_moments(
        self,
        moments: "CooccurrenceMoments | NgramMoments | Callable[[], CooccurrenceMoments]",
        *,
        memory: int | None = None,
    ) -> Self:
        """Learn from statistics alone; `memory` as for `fit`.

        Large moments may be given by a function that returns them. Then they take no memory while
        the model factors them. N-gram counts are enough if they are longer than the window.
        """
        from eigentext.moments import NgramMoments

        with budget.within(memory):
            if isinstance(moments, NgramMoments):
                moments = self._pairs_of(moments)
            return self._learn(moments() if callable(moments) else moments)

    def _pairs_of(self, ngrams: "NgramMoments") -> "CooccurrenceMoments":
        from eigentext.moments import CooccurrenceMoments

        return CooccurrenceMoments.from_ngrams(ngrams, **self._windows())

    def _learn(self, moments: "CooccurrenceMoments") -> Self:
        raise NotImplementedError

    def _findings(self) -> Iterator[Finding]:
        n_tokens = self.provenance_.get("n_tokens", 0)
        yield from findings_of_vectors(self.diagnostics_, n_tokens, self.parameters_.min_count)

    def _size_findings(self) -> Iterator[Finding]:
        return size_findings(
            self.vocabulary_.counts,
            self.provenance_.get("n_tokens", 0),
            self.parameters_.n_components,
        )

    def _check_together(self) -> None:
        from eigentext.moments.pairs import check_window

        check_window(**self._windows())

    def _windows(self) -> dict[str, Any]:
        """The definition of a context."""
        return {"window": self.window, "context": self.context, "weighting": self.weighting}

    def _limits(self) -> dict[str, Any]:
        """The limits of the vocabulary of the moments."""
        return {"min_count": self.min_count, "max_size": self.max_size}

    def _cut(self, moments: "CooccurrenceMoments") -> "CooccurrenceMoments":
        """The moments cut to the vocabulary. Raises if they were counted in another way."""
        from eigentext.moments import CooccurrenceMoments

        if not isinstance(moments, CooccurrenceMoments):
            raise MomentsError(
                f"{type(self).__name__} learns from CooccurrenceMoments, not from "
                f"{type(moments).__name__}; give text to fit"
            )
        for name, mine in self._windows().items():
            if mine != (theirs := getattr(moments, name)):
                raise MomentsError(f"{name}={mine!r}, but the moments were counted with {theirs!r}")
        if not moments.whole:
            return moments
        return moments.restrict(min_count=self.min_count, max_size=self.max_size)

    def _describe(self, cut: "CooccurrenceMoments", n_pairs: int) -> None:
        """Note the vocabulary, where the counts come from, and how many there are."""
        self.vocabulary_ = cut.vocabulary
        self.provenance_ = {
            "n_tokens": cut.n_tokens,
            "options": cut.options,
            "sources": cut.sources,
        }
        self.diagnostics_ = {
            "n_words": len(cut.vocabulary),
            "rare_tokens": cut.rare_count,
            "pairs": n_pairs,
        }
