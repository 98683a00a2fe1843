"""Grammars: trees, marginals of spans, and the hidden states of a node."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigentext.corpus.trees import Tree, normalize_tree
from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Told
from eigentext.explorer.nodes import spanned
from eigentext.explorer.tokens import penn_tokens

_LEAST = 0.001  # a less probable span is not worth its place on the screen
_MOST_SPANS = 2000


class ExploredGrammar(Explored):
    """A PCFG, or one with hidden states."""

    kind = "grammar"

    def __init__(self, model: Any, name: str):
        super().__init__(model, name)
        self._last: tuple[list[str], Any] = ([], None)
        self._read = model._read
        # A parse, its k best and its marginals are of one sentence: one reading will do for all.
        vars(model)["_read"] = self._reading

    @property
    def heavy(self) -> tuple[str, ...]:  # type: ignore[override] - not all have states
        """All; states, if there are any hidden ones."""
        return ("parse", "marginals", *(("states",) if self._has_states else ()))

    def title(self) -> str:
        """As in "68 labels with up to 16 states, 3,914 trees"."""
        found = self.found
        states = f" with up to {found['most_states']} states" if self._has_states else ""
        return f"{found['n_labels']:,} labels{states}, from {self.source['n_trees']:,} trees"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the treebank and the rules."""
        yield "trees", self.source["n_trees"]
        yield "tokens", self.source["n_tokens"]
        yield "words", self.source["n_words"]
        yield "labels, binarised", self.found["n_labels"]
        yield "rules", self.found["n_rules"]
        yield "parameters", self.found["n_parameters"]
        if self._has_states:
            yield "states of all labels", self.found["n_states"]
            yield "method", self.model.parameters_.method
            yield "grammars that vote", len(self.model._cascade.levels)
        yield "decoding", self.model.parameters_.decoding

    def told(self) -> Iterator[Told]:
        """Of rules seen once, rare words, and what spectral estimation leaves."""
        found = self.found
        once = found["rules_seen_once"] / max(found["n_rules"], 1)
        yield (
            "good" if once < 0.5 else "note",
            f"{once:.0%} of the rules were seen once only: how usual those are is a guess.",
        )
        rare = found.get("rare_tokens", 0.0)  # a share already
        yield (
            "good" if rare < 0.2 else "note",
            f"{rare:.1%} of the text are rare words, which are parsed by their shape.",
        )
        if "negative_sentences" in found:
            share, spans = found["negative_sentences"], found["negative_marginals"]
            yield (
                "good" if share == 0 else "warning" if share > 0.25 else "note",
                f"{share:.0%} of the sentences looked at have a probability below zero, and "
                f"{spans:.1%} of the spans: sampling error, which fewer states make smaller.",
            )
        if self.source["n_trees"] < 500:
            yield "warning", "A few hundred trees are few: expect many words without a usual tag."

    def warm(self) -> None:
        """Parse something, for kernels to be compiled."""
        words = self.model._empty.words[:1] or ["a"]
        arguments = {"text": " ".join(words * 3), "k": 2}
        self.parse(arguments)
        self.marginals(arguments)

    # Queries.

    def parse(self, arguments: Arguments) -> dict[str, Any]:
        """The tree, and then the k best that are others."""
        words = self._words(arguments)
        k = asking.whole(arguments, "k", 1, most=asking.MOST_TREES)
        (found,) = self.model.parses([words], n_jobs=1)
        trees = [found.tree]
        if k > 1 and found.fallback is None:
            trees += [one.tree for one in self.model.k_best(words, k) if one.tree != found.tree]
        mu = {(one.label, one.start, one.end): one.probability for one in self._spans(words)}
        return {
            "tokens": words,
            "trees": [
                {
                    "brackets": str(tree),
                    "log_probability": _finite(self.model.log_probability(tree)),
                    "tree": spanned(tree, mu),
                }
                for tree in trees[:k]
            ],
            "fallback": found.fallback,
            "decoding": self.model.parameters_.decoding,
            "log_probability": _finite(found.log_probability),
        }

    def marginals(self, arguments: Arguments) -> dict[str, Any]:
        """How probably each label spans each stretch."""
        words = self._words(arguments)
        spans = [one for one in self._spans(words) if one.probability >= _LEAST]
        return {
            "tokens": words,
            "spans": [
                {**one._asdict(), "probability": min(1.0, one.probability)}
                for one in spans[:_MOST_SPANS]
            ],
        }

    def states(self, arguments: Arguments) -> dict[str, Any]:
        """p(state | tree) at one node of the best tree."""
        words = self._words(arguments)
        label = asking.word(arguments, "label")
        start = asking.whole(arguments, "start", -1, least=0, most=len(words) - 1)
        end = asking.whole(arguments, "end", -1, least=start + 1, most=len(words))
        (found,) = self.model.parses([words], n_jobs=1)
        if found.fallback is not None:
            raise RefusedError(404, f"no states: {found.fallback}")
        posterior = node_states(self.model, found.tree, label, start, end)
        if posterior is None:
            raise RefusedError(
                404, f"the best tree has no {label} over words {start + 1} to {end}; parse it first"
            )
        symbol, states = posterior
        return {
            "label": label,
            "states": states.round(6).tolist(),
            "symbol": symbol,
            # A spectral grammar has projections in their place, which may be negative.
            "states_are": "coordinates" if self._is_spectral else "probabilities",
        }

    # Steps.

    @property
    def _has_states(self) -> bool:
        return self.found["most_states"] > 1

    @property
    def _is_spectral(self) -> bool:
        return self.model.parameters_.method == "spectral"

    def _words(self, arguments: Arguments) -> list[str]:
        words = penn_tokens(asking.text(arguments))
        return asking.check_length(words, asking.MOST_WORDS, "sentence")

    def _spans(self, words: list[str]) -> list[Any]:
        return self.model.marginals(words)

    def _reading(self, words: list[str]) -> Any:
        if self._last[0] != words:
            self._last = list(words), self._read(words)
        return self._last[1]


def node_states(
    model: Any, tree: Tree, label: str, start: int, end: int
) -> tuple[str, np.ndarray] | None:
    """The symbol of a node of a tree, and the posterior of its states given the tree.

    Inside times outside of the node, in the forest that is the one tree; by the first grammar of
    several. None if there is no such node, or the grammar has no such tree.
    """
    from eigentext.grammars.chart._forest_loops import outside_forest
    from eigentext.grammars.chart.forest import tree_forest
    from eigentext.grammars.chart.passes import inside_pass

    encoded = model._empty.encode([normalize_tree(tree)])
    if encoded.label.min() < 0 or (encoded.rule[encoded.left >= 0] < 0).any():
        return None
    forest, level = tree_forest(encoded), model._cascade.levels[0]
    above = inside_pass(forest, level.grammar, level.leaf_scores(forest, encoded.tokens))
    if above is None:
        return None
    place, inside, scale, outside, *_ = above
    grammar = level.grammar
    outside_forest(
        forest.label, forest.groups, forest.rule, forest.edges, forest.left, forest.right,
        grammar.n_states, grammar.sizes, grammar.tensor_offsets, grammar.tensor, place, inside,
        scale, outside, np.empty(len(forest.left)),
    )  # fmt: skip
    for item in np.flatnonzero((forest.start == start) & (forest.end == end))[::-1].tolist():
        symbol = model.symbols_[forest.label[item]]
        if symbol.siblings is None and label in symbol.chain:
            at = slice(place[item], place[item + 1])
            return str(symbol), inside[at] * outside[at]
    return None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
