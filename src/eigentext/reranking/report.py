"""How much a reranker gains over its base model, and how much was possible."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eigentext import notebook
from eigentext.reranking._examples import LabeledLists


@dataclass(frozen=True)
class Report:
    """The quality of the base model's choices, of the reranker's, and of the best possible ones.

    Attributes
    ----------
    first, reranked, oracle
        The measure (F1 of brackets or chunks, or accuracy of tags) of the base model's choice from
        each list (the most probable candidate, or the most expected one of ``parser.candidates``),
        of the chosen candidate, and of the best candidate.
    n_inputs, n_candidates, n_empty
        The numbers of lists, of candidates, and of empty lists. The gold structure of an empty list
        counts as missed.
    n_changed, n_better, n_worse
        For how many inputs the reranker chooses another candidate than the base model, and for how
        many of them the measure rises or falls.
    measure
        The name of the measure.
    """

    first: float
    reranked: float
    oracle: float
    n_inputs: int
    n_candidates: int
    n_empty: int
    n_changed: int
    n_better: int
    n_worse: int
    measure: str

    def __str__(self) -> str:
        shares = ("1-best", self.first), ("reranked", self.reranked), ("oracle", self.oracle)
        return "\n".join(
            [
                f"{self.measure} of {self.n_inputs:,} inputs, {self.n_candidates:,} candidates",
                *(f"{name:<8}  {100 * value:6.2f}" for name, value in shares),
                f"changed {self.n_changed:,}: {self.n_better:,} better, {self.n_worse:,} worse",
            ]
        )

    def _repr_html_(self) -> str:
        shares = ("first", self.first), ("reranked", self.reranked), ("best possible", self.oracle)
        rows = [(name, notebook.share(value)) for name, value in shares]
        changed = f"changed {self.n_changed:,}: {self.n_better:,} better, {self.n_worse:,} worse"
        title = f"{self.measure} of {self.n_inputs:,} inputs"
        return notebook.result(title, notebook.table(("choice", "score"), rows, last=changed))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def compare(examples: LabeledLists, chosen: np.ndarray, first: np.ndarray | None = None) -> Report:
    """Compare first choices, those at the chosen places, and the best ones.

    `first` are the places of the base model's choices; by default, the most probable candidates.
    """
    lists, measure = examples.lists, examples.measure
    if first is None:
        first = lists.best(lists.logs)
    counts = [examples.counts_at(places) for places in (first, chosen, examples.oracle())]
    change = measure.value(counts[1]) - measure.value(counts[0])
    return Report(
        *(measure.value(one.sum(axis=0)) for one in counts),
        n_inputs=len(lists),
        n_candidates=len(lists.logs),
        n_empty=int((lists.sizes == 0).sum()),
        n_changed=int((first != chosen).sum()),
        n_better=int((change > 0).sum()),
        n_worse=int((change < 0).sum()),
        measure=measure.name,
    )
