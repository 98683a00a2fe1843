"""Rerankers: the choices of their fit. The page compares trees without any model."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eigentext.explorer.models.base import Explored, Fact

if TYPE_CHECKING:
    from eigentext.reranking import Reranker, TreeReranker


class ExploredReranker(Explored):
    """A kernel perceptron over lists of candidates."""

    kind = "reranker"
    model: "Reranker"

    @property
    def views(self) -> list[str]:
        """The kernel of two trees. Its queries name no model."""
        return ["kernel"]

    def title(self) -> str:
        """The size and the decay: "3,210 support structures, decay 0.4"."""
        decay = f", decay {self.model.decay_:g}" if self.model.decay_ else ""
        return f"{self.found['n_support']:,} support structures{decay}"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the lists, and the choices of the fit."""
        found = self.found
        yield "lists", found["n_inputs"]
        yield "candidates", found["n_candidates"]
        yield "support structures", found["n_support"]
        yield "kernel", repr(self.model.perceptron_.kernel_)
        yield "weight of the base model", float(found["beta"])
        if found.get("validation") is not None:
            yield f"{found['measure']}, held out", float(found["validation"])


class ExploredTreeReranker(Explored):
    """A log-linear model or a perceptron over candidates of a parser."""

    kind = "reranker"
    model: "TreeReranker"

    def title(self) -> str:
        """The size: "74,598 features of brackets"."""
        return f"{self.found['n_features']:,} features of brackets"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the lists, and the choices of the fit."""
        found = self.found
        yield "lists", found["n_inputs"]
        yield "candidates", found["n_candidates"]
        yield "brackets", found["n_brackets"]
        yield "features", found["n_features"]
        if found.get("validation") is not None:
            yield f"{found['measure']}, held out", float(found["validation"])
