"""Rerankers: what they were chosen to be; kernels of trees are asked without any model."""

from collections.abc import Iterator
from typing import Any

from eigentext.explorer.models.base import Explored, Told


class ExploredReranker(Explored):
    """A kernel perceptron over candidates."""

    kind = "reranker"

    @property
    def views(self) -> list[str]:
        """The kernel, which is asked for under a path of its own."""
        return ["kernel"]

    def title(self) -> str:
        """As in "3,210 support structures, decay 0.4"."""
        decay = f", decay {self.model.decay_:g}" if self.model.decay_ else ""
        return f"{self.found['n_support']:,} support structures{decay}"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the lists, and what was chosen."""
        found = self.found
        yield "lists", found["n_inputs"]
        yield "candidates", found["n_candidates"]
        yield "supports", found["n_support"]
        yield "kernel", repr(self.model.perceptron_.kernel_)
        yield "weight of the base model", float(found["beta"])
        if found.get("dev") is not None:
            yield f"{found['measure']}, held out", float(found["dev"])

    def told(self) -> Iterator[Told]:
        """Of mistakes, and of lists that teach nothing."""
        found = self.found
        mistakes = found.get("n_mistakes") or []
        if mistakes:
            share = mistakes[-1] / max(found["n_inputs"], 1)
            yield (
                "good" if share < 0.3 else "note",
                f"In its last pass it was wrong about {share:.0%} of the lists it learned from.",
            )
        if found["n_replaced"]:
            share = found["n_replaced"] / max(found["n_inputs"], 1)
            yield (
                "note" if share < 0.7 else "warning",
                f"In {share:.0%} of the lists the right structure was missing, and the nearest "
                "took its place; longer lists would hold it more often.",
            )
        if teach_nothing := found["n_empty"] + found["n_single"]:
            yield "note", f"{teach_nothing:,} lists had no choice in them, and taught nothing."
