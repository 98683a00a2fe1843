"""Models of sequences: the next word after each word of a sentence, and the hidden state."""

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.corpus.symbols import INTEGERS, RARE, is_stream, special_names
from eigentext.estimators import Finding
from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Fact, findings_of_noise
from eigentext.explorer.tokens import as_learned

if TYPE_CHECKING:
    from eigentext.sequences import HMM, BigramModel, ClassBigram, KneserNey, WeightedAutomaton

_NEXT = 10  # the words of a distribution that are shown
_END = "<end>"


class ExploredSequences(Explored):
    """The common part of all kinds."""

    light = ()
    heavy = ("next",)
    model: "HMM | BigramModel | ClassBigram | KneserNey | WeightedAutomaton"

    @property
    def options(self) -> dict[str, Any]:
        """The options with which the text was read."""
        return self.source["options"]

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the text."""
        yield "words", len(self.model.vocabulary_)
        yield "tokens", self.source.get("n_tokens", 0)

    def warm(self) -> None:
        """Predict the word after a word."""
        vocabulary = self.model.vocabulary_
        self.next({"text": vocabulary.words[0]} if len(vocabulary) else {"text": "a"})

    def next(self, arguments: Arguments) -> dict[str, Any]:
        """Return the most probable next words after each beginning of a sentence."""
        topn = asking.whole(arguments, "topn", _NEXT, most=asking.MOST_FOUND)
        words = as_learned(asking.text(arguments), self.options)
        asking.check_length(words, asking.MOST_WORDS, "sentence")
        tokens: list[Any] = words
        if self.options.get("tokenizer") == INTEGERS:
            if not all(word.isascii() and word.isdecimal() and len(word) < 9 for word in words):
                raise RefusedError(400, "the symbols of this model are whole numbers; type numbers")
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
        """Yield the distribution and the state after the first t tokens, for t = 0, 1, 2, …"""
        raise NotImplementedError

    def _state_is(self) -> str | None:
        return None

    @cached_property
    def _symbols(self) -> list[str]:
        vocabulary = self.model.vocabulary_
        return [*vocabulary.words, *special_names(vocabulary, RARE, _END)]


class ExploredHMM(ExploredSequences):
    """A hidden Markov model. Its states are filtered along the sentence."""

    kind = "hmm"
    model: "HMM"  # type: ignore[assignment]

    @property
    def light(self) -> tuple[str, ...]:  # type: ignore[override] - EM alone has no spectrum
        """The spectrum, if the model has one."""
        return ("spectrum",) if self._spectrum()[0] else ()

    @property
    def views(self) -> list[str]:
        """The views in the order of the page."""
        return ["next", *self.light]

    def title(self) -> str:
        """The size and the method: "10 states, 5,000 symbols, spectral"."""
        symbols = f"{len(self.model.symbols_):,} symbols"
        return f"{len(self.model.start_)} states, {symbols}, {self.model.parameters_.method}"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the text and of the model."""
        yield from super().facts()
        yield "states", len(self.model.start_)
        yield "method", self.model.parameters_.method
        if "passes" in self.found:
            yield "passes over the text", float(self.found["passes"])

    def spectrum(self, arguments: Arguments) -> dict[str, Any]:
        """Return the singular values that were used, and the others."""
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
        # They are G times the probabilities of the states, and the matrix G is unknown.
        return "coordinates" if self.model.parameters_.method == "spectral" else "probabilities"


class ExploredAutomaton(ExploredHMM):
    """A weighted automaton. Its states are coordinates."""

    kind = "automaton"
    model: "WeightedAutomaton"  # type: ignore[assignment]

    def title(self) -> str:
        """The size and the statistics: "100 states, 28 symbols, substring statistics"."""
        symbols = f"{len(self.model.symbols_):,} symbols"
        statistics = self.model.parameters_.statistics
        return f"{len(self.model.start_)} states, {symbols}, {statistics} statistics"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the text and of the model."""
        yield from ExploredSequences.facts(self)
        yield "states", len(self.model.start_)
        for name in ("prefixes", "suffixes"):
            yield name, int(self.found.get(name, 0))
        yield "statistics", self.model.parameters_.statistics

    def _state_is(self) -> str:
        return "coordinates"


class ExploredBigrams(ExploredSequences):
    """A hidden state between each two words."""

    kind = "bigram"
    model: "BigramModel"  # type: ignore[assignment]

    @property
    def light(self) -> tuple[str, ...]:  # type: ignore[override] - EM alone has no spectrum
        """The spectrum, if the model has one."""
        return ("spectrum",) if self.found.get("singular_values") else ()

    @property
    def views(self) -> list[str]:
        """The views in the order of the page."""
        return ["next", *self.light]

    def title(self) -> str:
        """The numbers of states and words: "32 states between 5,000 words"."""
        return f"{len(self.model.prior_)} states between {len(self.model.vocabulary_):,} words"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the text and of the model, and its perplexities."""
        yield from super().facts()
        yield "states", len(self.model.prior_)
        yield "method", self.model.parameters_.method
        yield "steps of EM", self.model.n_iter_
        for name, shown in (
            ("perplexity", "perplexity"),
            ("heldout_perplexity", "perplexity of validation text"),
        ):
            if name in self.found:
                yield shown, float(self.found[name])

    def more_findings(self) -> Iterator[Finding]:
        """Yield a warning if the smallest singular value may be noise."""
        yield from findings_of_noise(self.found.get("singular_values", []), "states")

    def spectrum(self, arguments: Arguments) -> dict[str, Any]:
        """Return the singular values of the counts of pairs."""
        return {"kept": list(self.found["singular_values"]), "dropped": []}

    def _steps(self, tokens: list[Any]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        model = self.model
        first = model.prior_ if is_stream(self.options) else model.r_[-1]  # that of the edge
        for state in chain([first], map(model.states, tokens)):
            yield model.s_ @ state, state

    def _state_is(self) -> str:
        return "probabilities"


class ExploredClassBigram(ExploredSequences):
    """Bigrams of classes of words."""

    kind = "class-bigram"
    model: "ClassBigram"  # type: ignore[assignment]

    def title(self) -> str:
        """The numbers of classes and words: "1,000 classes of 50,000 words"."""
        return f"{self.found['n_classes']:,} classes of {len(self.model.vocabulary_):,} words"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the text and of the model, and how good the classes are."""
        yield from super().facts()
        yield "classes", self.found["n_classes"]
        if "average_mutual_information" in self.found:
            yield "sweeps", self.model.n_iter_
            yield "average mutual information", float(self.found["average_mutual_information"])

    def _steps(self, tokens: list[Any]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        yield self.model.distribution(start=not is_stream(self.options)), None
        for token in tokens:
            yield self.model.distribution(token), None


class ExploredKneserNey(ExploredSequences):
    """N-grams, which have no states."""

    kind = "kneser-ney"
    model: "KneserNey"  # type: ignore[assignment]

    def title(self) -> str:
        """The order and the number of words: "3-grams of 5,000 words"."""
        return f"{self.model.parameters_.order}-grams of {len(self.model.vocabulary_):,} words"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the text, and the numbers of n-grams."""
        yield from super().facts()
        for order, n in enumerate(self.found["ngrams"], 1):
            yield f"different {order}-grams", n

    def _steps(self, tokens: list[Any]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        start, n = not is_stream(self.options), self.model.parameters_.order - 1
        for t in range(len(tokens) + 1):
            given = tokens[max(0, t - n) : t]
            yield self.model.distribution(given, start=start and t < n), None


def _largest(p: np.ndarray, n: int) -> np.ndarray:
    """The places of the n largest numbers, the largest first. Equal ones keep their order."""
    some = np.sort(np.argpartition(-p, n)[:n])
    return some[np.argsort(-p[some], kind="stable")]


def _numbers(state: np.ndarray) -> list[float]:
    return np.nan_to_num(np.asarray(state, np.float64)).round(6).tolist()
