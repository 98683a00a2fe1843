"""Models of sequences: what may come next after each word of a sentence, and the state there."""

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from eigentext.corpus.symbols import INTEGERS, RARE, is_stream, special_names
from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Told, spectrum_told
from eigentext.explorer.tokens import as_learned

_NEXT = 10  # words of a distribution that are shown
_END = "<end>"


class ExploredSequences(Explored):
    """What the three kinds share."""

    light = ()
    heavy = ("next",)

    @property
    def options(self) -> dict[str, Any]:
        """How the text was read."""
        return self.source["options"]

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the text."""
        yield "words", len(self.model.vocabulary_)
        yield "tokens", self.source.get("n_tokens", 0)

    def warm(self) -> None:
        """Predict something."""
        vocabulary = self.model.vocabulary_
        self.next({"text": vocabulary.words[0]} if len(vocabulary) else {"text": "a"})

    def next(self, arguments: Arguments) -> dict[str, Any]:
        """The most probable next words after each beginning of a sentence."""
        topn = asking.whole(arguments, "topn", _NEXT, most=asking.MOST_FOUND)
        words = as_learned(asking.text(arguments), self.options)
        asking.check_length(words, asking.MOST_WORDS, "sentence")
        tokens: list[Any] = words
        if self.options.get("tokenizer") == INTEGERS:
            if not all(word.isascii() and word.isdecimal() and len(word) < 9 for word in words):
                raise RefusedError(400, "this model's symbols are whole numbers; type such")
            tokens = list(map(int, words))
        known = [True, *(word in self.model.vocabulary_ for word in words)]
        steps = []
        for word, is_known, (p, state) in zip([None, *words], known, self._steps(tokens)):
            p = np.nan_to_num(np.asarray(p, np.float64))
            best = np.argsort(-p, kind="stable")[:topn] if len(p) <= 4 * topn else _largest(p, topn)
            steps.append(
                {
                    "word": word,
                    "known": is_known,
                    "next": [
                        {"word": self._symbols[x], "probability": float(p[x])}
                        for x in best.tolist()
                        if p[x] > 0
                    ],
                    "state": None if state is None else _numbers(state),
                }
            )
        return {"steps": steps, "states": self._state_is()}

    def _steps(self, tokens: list[Any]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """The distribution and the state after none of the tokens, one, two, …"""
        raise NotImplementedError

    def _state_is(self) -> str | None:
        return None

    @cached_property
    def _symbols(self) -> list[str]:
        vocabulary = self.model.vocabulary_
        return [*vocabulary.words, *special_names(vocabulary, RARE, _END)]

    def _rare_told(self) -> Iterator[Told]:
        rare = self.found.get("rare_tokens", 0) / max(self.source.get("n_tokens", 0), 1)
        if rare:
            yield (
                "good" if rare < 0.1 else "note",
                f"{rare:.1%} of the text are rare words, which the model does not tell apart.",
            )


class ExploredHMM(ExploredSequences):
    """Hidden states, filtered along the sentence."""

    kind = "hmm"

    @property
    def light(self) -> tuple[str, ...]:  # type: ignore[override] - EM alone has no spectrum
        """Its spectrum, where it has one."""
        return ("spectrum",) if self._spectrum()[0] else ()

    @property
    def views(self) -> list[str]:
        """In the order of the page."""
        return ["next", *self.light]

    def title(self) -> str:
        """As in "10 states, 5,000 symbols, spectral"."""
        symbols = f"{len(self.model.symbols_):,} symbols"
        return f"{len(self.model.start_)} states, {symbols}, {self.model.parameters_.method}"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the text and the states."""
        yield from super().facts()
        yield "states", len(self.model.start_)
        yield "method", self.model.parameters_.method
        if "passes" in self.found:
            yield "passes over the text", float(self.found["passes"])

    def told(self) -> Iterator[Told]:
        """Of the rank, of negative probabilities, and of EM."""
        found, m = self.found, self.model.parameters_.n_states
        if "rank" in found:
            if found["rank"] < m:
                yield (
                    "warning" if self.model.parameters_.method == "spectral" else "note",
                    f"Of {m} states asked for, the text shows only {found['rank']} above the "
                    "noise; give more text, or ask for fewer states.",
                )
            else:
                yield "good", f"All {m} directions rise above the noise of the counts."
        if found.get("negative_mass", 0) > 0.05:
            yield (
                "note",
                f"{found['negative_mass']:.0%} of what the operators give is below zero and "
                "is repaired when sequences are scored: too little text for so many states.",
            )
        if "converged" in found:
            yield (
                ("good", "EM ended where it gains nothing more.")
                if found["converged"]
                else ("note", "EM was stopped before it ended; more passes would fit better.")
            )

    def spectrum(self, arguments: Arguments) -> dict[str, Any]:
        """Singular values used, and the others."""
        kept, dropped = self._spectrum()
        return {"kept": kept, "dropped": dropped}

    def _spectrum(self) -> tuple[list[float], list[float]]:
        values = [float(value) for value in self.found.get("singular_values", [])]
        rank = int(self.found.get("rank", len(values)))
        return values[:rank], values[rank:]

    @cached_property
    def _symbols(self) -> list[str]:
        return self.model.symbols_

    def _steps(self, tokens: list[Any]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        yield self.model.predict_next(), None
        states = self.model.filter(tokens)
        for t, state in enumerate(states, 1):
            yield self.model.predict_next(tokens[:t]), state

    def _state_is(self) -> str:
        # G times the states' probabilities, for a G that nobody knows.
        return "coordinates" if self.model.parameters_.method == "spectral" else "probabilities"


class ExploredBigrams(ExploredSequences):
    """Hidden states between two words."""

    kind = "bigram"

    @property
    def light(self) -> tuple[str, ...]:  # type: ignore[override] - EM alone has no spectrum
        """Its spectrum, where it has one."""
        return ("spectrum",) if self.found.get("singular_values") else ()

    @property
    def views(self) -> list[str]:
        """In the order of the page."""
        return ["next", *self.light]

    def title(self) -> str:
        """As in "32 states between 5,000 words"."""
        return f"{len(self.model.prior_)} states between {len(self.model.vocabulary_):,} words"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the text, the states and the fit."""
        yield from super().facts()
        yield "states", len(self.model.prior_)
        yield "method", self.model.parameters_.method
        yield "steps of EM", self.model.n_iter_
        for name, told in (("perplexity", "perplexity"), ("heldout_perplexity", "held out")):
            if name in self.found:
                yield told, float(self.found[name])

    def told(self) -> Iterator[Told]:
        """Of held-out text, and of the pivots."""
        found = self.found
        if {"perplexity", "heldout_perplexity"} <= found.keys():
            ratio = found["heldout_perplexity"] / found["perplexity"]
            yield (
                "good" if ratio < 1.5 else "note",
                f"A next word is as uncertain as a choice among {found['heldout_perplexity']:,.0f} "
                f"in text held out, among {found['perplexity']:,.0f} in the text learned from.",
            )
        if found.get("separations") and min(found["separations"]) < 0.01:
            yield "note", "Some pivot words are nearly mixtures of others: fewer states may do."
        yield from spectrum_told(found.get("singular_values", []), [], "states")
        yield from self._rare_told()

    def spectrum(self, arguments: Arguments) -> dict[str, Any]:
        """Singular values of the pairs."""
        return {"kept": list(self.found["singular_values"]), "dropped": []}

    def _steps(self, tokens: list[Any]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        model = self.model
        first = model.prior_ if is_stream(self.options) else model.r_[-1]  # the edge's
        for state in chain([first], map(model.states, tokens)):
            yield model.s_ @ state, state

    def _state_is(self) -> str:
        return "probabilities"


class ExploredKneserNey(ExploredSequences):
    """N-grams: no states."""

    kind = "kneser-ney"

    def title(self) -> str:
        """As in "3-grams of 5,000 words"."""
        return f"{self.model.moments_.order}-grams of {len(self.model.vocabulary_):,} words"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the text and the n-grams."""
        yield from super().facts()
        for order, n in enumerate(self.found["ngrams"], 1):
            yield f"different {order}-grams", n

    def told(self) -> Iterator[Told]:
        """Of the discounts."""
        rules = self.found["discount_rules"]
        fixed = [order for order, rule in enumerate(rules, 1) if rule == "fixed"]
        if fixed:
            yield (
                "warning",
                f"Too little text to estimate the discounts of {fixed[0]}-grams: usual ones are "
                "taken; give more text, or lower the order.",
            )
        else:
            yield "good", "The discounts of all orders could be estimated from the text."
        yield from self._rare_told()

    def _steps(self, tokens: list[Any]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        start, n = not is_stream(self.options), self.model.moments_.order - 1
        for t in range(len(tokens) + 1):
            given = tokens[max(0, t - n) : t]
            yield self.model.distribution(given, start=start and t < n), None


def _largest(p: np.ndarray, n: int) -> np.ndarray:
    """The places of the n largest, the largest first; equal ones as they come."""
    some = np.sort(np.argpartition(-p, n)[:n])
    return some[np.argsort(-p[some], kind="stable")]


def _numbers(state: Any) -> list[float]:
    return np.nan_to_num(np.asarray(state, np.float64)).round(6).tolist()
