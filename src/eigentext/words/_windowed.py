"""The base of models that may learn from two windows, and from text whose phrases are joined."""

import os
from typing import TYPE_CHECKING, Any

from eigentext.errors import MomentsError, ParameterError
from eigentext.matrices import budget
from eigentext.words._cooccurrences import CooccurrenceModel

if TYPE_CHECKING:  # counting is loaded when a model learns
    from eigentext.moments import CooccurrenceMoments
    from eigentext.words.phrases import Phrases
    from eigentext.words.purposes import Plan, Purpose
    from eigentext.words.template import Scaling


class WindowedModel(CooccurrenceModel):
    """A model of co-occurrences with a purpose, narrow dimensions and phrases."""

    purpose: "Purpose | None"
    scaling: "Scaling"
    alpha: float
    beta: float | None
    method: str
    keep_moments: str
    narrow: int | None
    narrow_weight: float | None
    phrases: bool
    phrases_: "Phrases | None"

    def collect(
        self,
        corpus: Any,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Any:
        """The statistics of a corpus that `fit` needs.

        They are CooccurrenceMoments, or TwoWindowMoments if some dimensions are narrow.
        """
        self._table.checked(self.get_params(deep=False))
        self._check_together()
        corpus, _ = self._phrased(corpus, cache=cache)
        return self._counted(corpus, memory=memory, cache=cache, **self._limits())

    # Private steps.

    def _plan(self) -> "Plan":
        from eigentext.words.purposes import plan

        return plan(
            self.purpose,
            self.n_components,
            window=self.window,
            beta=self.beta,
            narrow=self.narrow,
            narrow_weight=self.narrow_weight,
        )

    def _windows(self) -> dict[str, Any]:
        return super()._windows() | {"window": self._plan().window}

    def _check_together(self) -> None:
        super()._check_together()
        if (narrow := self._plan().narrow) >= self.n_components:
            raise ParameterError(
                f"narrow is {narrow}, but there are {self.n_components} dimensions in all "
                "(n_components, --dim); use a smaller number of narrow ones"
            )
        is_plain = self.scaling == "cca" and self.alpha == 1 and self._plan().window > 1
        if self.method == "two-step" and not (self.context == "list" and is_plain):
            raise ParameterError(
                "method='two-step' needs context='list' (--context list), a window of 2 or more, "
                "scaling='cca' and alpha=1"
            )

    def _needs_forward(self) -> bool:
        return not (
            self.keep_moments == "none" and self.context == "bag" and self.scaling != "ppmi"
        )

    def _phrased(self, corpus: Any, *, cache: Any) -> tuple[Any, "Phrases | None"]:
        """The corpus with its phrases joined, and these phrases, if they are asked for."""
        if not self.phrases:
            return corpus, None
        from eigentext.corpus import encode
        from eigentext.words.phrases import Phrases

        encoded = encode(corpus, cache=cache, memory=budget.current().memory)
        found = getattr(self, "phrases_", None) or Phrases().fit(encoded)
        return found.join(encoded), found

    def _prepared(self, corpus: Any, cache: Any) -> Any:
        corpus, self.phrases_ = self._phrased(corpus, cache=cache)
        return corpus

    def _collected(self, corpus: Any, cache: Any) -> Any:
        from eigentext import engine
        from eigentext.corpus import encode
        from eigentext.moments import CooccurrenceMoments, TwoWindowMoments
        from eigentext.moments.two_windows import NARROW

        if not self._plan().narrow:
            return super()._collected(corpus, cache)
        if engine.distributed() or self._needs_forward():
            return self._counted(corpus, cache=cache, **self._limits())
        encoded = encode(corpus, cache=cache, memory=budget.current().memory)
        narrow = CooccurrenceMoments.from_corpus(encoded, **NARROW, **self._limits())
        return TwoWindowMoments(super()._collected(encoded, cache), narrow)

    def _counted(self, corpus: Any, **settings: Any) -> Any:
        if not self._plan().narrow:
            return super()._counted(corpus, **settings)
        from eigentext.moments import TwoWindowMoments

        return TwoWindowMoments.from_corpus(corpus, **self._windows(), **settings)

    def _cut(self, moments: Any) -> Any:
        from eigentext.moments import TwoWindowMoments

        has_two, wants_two = isinstance(moments, TwoWindowMoments), self._plan().narrow > 0
        if has_two != wants_two:
            raise MomentsError(
                "narrow dimensions need counts of two windows (TwoWindowMoments), which collect "
                "returns; for counts of one window use narrow=0"
                if wants_two
                else "the moments are of two windows, but no dimension is narrow; set narrow"
            )
        if not has_two:
            return super()._cut(moments)
        return TwoWindowMoments(super()._cut(moments.wide), self._narrow_cut(moments.narrow))

    def _narrow_cut(self, narrow: "CooccurrenceMoments") -> "CooccurrenceMoments":
        if not narrow.whole:
            return narrow
        return narrow.restrict(min_count=self.min_count, max_size=self.max_size)
