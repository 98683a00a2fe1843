"""Grammars: trees, marginals of spans, and the hidden states of a node."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Fact
from eigentext.explorer.nodes import spanned

if TYPE_CHECKING:
    from eigentext.grammars import PCFG, Analysis, LatentPCFG, NodeStates

_LEAST = 0.001  # less probable spans are not shown
_MOST_SPANS = 2000


class ExploredGrammar(Explored):
    """A PCFG, with or without hidden states."""

    kind = "grammar"
    model: "PCFG | LatentPCFG"

    def __init__(self, model: "PCFG | LatentPCFG", name: str):
        super().__init__(model, name)
        self._last: tuple[list[str], int, Analysis] | None = None

    @property
    def heavy(self) -> tuple[str, ...]:  # type: ignore[override] - not all grammars have states
        """All queries; "states" only if there are hidden states."""
        return ("parse", "marginals", *(("states",) if self._has_states else ()))

    def title(self) -> str:
        """The size of the grammar: "68 labels with up to 16 states, from 3,914 trees"."""
        found = self.found
        states = f" with up to {found['most_states']} states" if self._has_states else ""
        return f"{found['n_labels']:,} labels{states}, from {self.source['n_trees']:,} trees"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the treebank and of the grammar."""
        yield "trees", self.source["n_trees"]
        yield "tokens", self.source["n_tokens"]
        yield "words", self.source["n_words"]
        yield "labels, binarized", self.found["n_labels"]
        yield "rules", self.found["n_rules"]
        yield "parameters", self.found["n_parameters"]
        if self._has_states:
            yield "states of all labels", self.found["n_states"]
            yield "method", self.model.parameters_.method
            yield "grammars that vote", self.model.parameters_.n_grammars
        yield "decoding", self.model.parameters_.decoding

    def warm(self) -> None:
        """Parse a sentence, so that loops are compiled."""
        self.parse({"text": "a a a", "k": 2})

    # Queries.

    def parse(self, arguments: Arguments) -> dict[str, Any]:
        """Return the parse, and after it those of the k best trees that differ from it."""
        words = self._words(arguments)
        k = asking.whole(arguments, "k", 1, most=asking.MOST_TREES)
        found, spans, best = self._analysis(words, k)
        trees = [found.tree]
        if found.fallback is None:
            trees += [one.tree for one in best if one.tree != found.tree]
        mu = {(one.label, one.start, one.end): one.probability for one in spans}
        return {
            "tokens": words,
            "trees": [
                {
                    "brackets": str(tree),
                    "log_probability": _finite(self.model.log_probability(tree)),
                    "tree": spanned(tree, mu),
                }
                for tree in trees[:k]
                if tree is not None
            ],
            "fallback": found.fallback,
            "decoding": self.model.parameters_.decoding,
            "gives_probabilities": self.model.gives_probabilities,
            "log_probability": _finite(found.log_probability),
        }

    def marginals(self, arguments: Arguments) -> dict[str, Any]:
        """Return the probability of each label over each span."""
        words = self._words(arguments)
        spans = [one for one in self._analysis(words).spans if one.probability >= _LEAST]
        return {"tokens": words, "spans": [one._asdict() for one in spans[:_MOST_SPANS]]}

    def states(self, arguments: Arguments) -> dict[str, Any]:
        """Return p(state | tree) at one node of the parse."""
        words = self._words(arguments)
        label = asking.word(arguments, "label")
        start = asking.whole(arguments, "start", -1, least=0, most=len(words) - 1)
        end = asking.whole(arguments, "end", -1, least=start + 1, most=len(words))
        node = self._node(words, label, start, end)
        return {
            "label": label,
            "states": node.states.round(6).tolist(),
            "symbol": node.label,
            # A spectral grammar has coordinates instead, which may be negative.
            "states_are": "coordinates" if self._is_spectral else "probabilities",
        }

    # Private steps.

    @property
    def _has_states(self) -> bool:
        return self.found["most_states"] > 1

    @property
    def _is_spectral(self) -> bool:
        return self.model.parameters_.method == "spectral"

    def _words(self, arguments: Arguments) -> list[str]:
        words = self.model.policy_.split(asking.text(arguments))
        return asking.check_length(words, asking.MOST_WORDS, "sentence")

    def _analysis(self, words: list[str], k: int | None = None) -> "Analysis":
        """The parse, the spans and the k best trees. Without `k`, the number of trees is free.

        The page asks several queries about one sentence, so the last analysis is kept.
        """
        if self._last is None or self._last[0] != words or k not in (None, self._last[1]):
            self._last = words, k or 1, self.model.analyze(words, k or 1)
        return self._last[2]

    def _node(self, words: list[str], label: str, start: int, end: int) -> "NodeStates":
        """The node of the parse that has this label over the words from `start` to `end` - 1."""
        found = self._analysis(words).parse
        if found.tree is None or found.fallback is not None:
            raise RefusedError(404, f"no states: {found.fallback}")
        for node in reversed(self.model.state_posteriors(found.tree)):
            if (node.start, node.end) == (start, end) and label in node.chain:
                return node
        raise RefusedError(
            404,
            f"the best tree has no {label} over words {start + 1} to {end}; parse the sentence and "
            "choose one of its nodes",
        )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
