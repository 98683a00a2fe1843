"""What all language models share: perplexity, next words, text that is drawn, and findings."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.symbols import INTEGERS, RARE, special_names
from eigentext.errors import CorpusError, EigentextError
from eigentext.estimators import Finding
from eigentext.moments import NgramMoments
from eigentext.parameters import Choice, Count, Seed, argument
from eigentext.sequences._given import Text, Word, Words

Unknown = Literal["skip", "count"]
END = "<end>"  # the name of the end of a unit, unless a word has this name

_MANY_RARE = 0.1  # a larger share of rare words deserves a warning


class LanguageModel:
    """Gives a probability to each event of a text: to each token, and to the end of each unit."""

    vocabulary_: Vocabulary
    provenance_: dict[str, Any]

    def log_probabilities(self, tokens: Text, *, rare: bool = False) -> np.ndarray:
        """Return the natural logarithm of each event's probability.

        Unknown words have nan or, with `rare`, the log-probability of the rare word.
        """
        raise NotImplementedError

    def perplexity(self, tokens: Text, *, unknown: Unknown = "skip") -> float:
        """Return exp(-mean log-probability) of the events.

        Words that the model does not know are left out. With ``unknown="count"`` they count, each
        with the probability of the rare word. It is infinite if the model knows no rare words.
        """
        argument("unknown", Choice("skip", of=("skip", "count")), unknown)
        counted = {"rare": True} if unknown == "count" else {}
        with np.errstate(over="ignore"):  # the perplexity is infinite then
            return float(np.exp(-mean_of(self.log_probabilities(tokens, **counted))))

    def score(self, tokens: Text, y: None = None) -> float:
        """Return the mean log-probability of an event: minus the logarithm of the perplexity."""
        return mean_of(self.log_probabilities(tokens))

    def top_next(self, context: Word | Words = (), k: int = 10) -> list[tuple[Word, float]]:
        """Return the k most probable events after some words, with their probabilities.

        The words are the beginning of a unit; in a model of a stream, they may be anywhere. Among
        the answers may be ``"<rare>"``, which stands for all rare words, and ``"<end>"``, the end
        of the unit.
        """
        k = argument("k", Count(10), k)
        p, names = self._next(listed_words(context)), self._names()
        best = np.argsort(-p, kind="stable")[:k]
        return [(names[x], float(p[x])) for x in best.tolist() if p[x] > 0]

    def generate(
        self,
        n: int = 20,
        *,
        context: Word | Words = (),
        random_state: int | np.random.Generator | None = 0,
    ) -> list[Word]:
        """Draw the words that follow a context: n words, or fewer if the unit ends before.

        Each word is drawn from its probability after all words before it. The rare word is never
        drawn. The context is the beginning of a unit (see :meth:`top_next`), and the answer does
        not repeat it.
        """
        n = argument("n", Count(20, least=0), n)
        if not isinstance(random_state, np.random.Generator):
            random_state = np.random.default_rng(argument("random_state", Seed(0), random_state))
        words = listed_words(context)
        given = len(words)
        while len(words) < given + n:
            p = self._next(words)
            if len(p) > (rare := len(self.vocabulary_)):
                p[rare] = 0.0
            sums = np.cumsum(p)
            if not sums[-1] > 0:
                raise EigentextError(
                    "the model gives no known word a probability here; give another context"
                )
            x = int(np.searchsorted(sums, random_state.random() * sums[-1], side="right"))
            if x > rare:
                break
            words.append(self._names()[x])
        return words[given:]

    def _next(self, context: list[Word]) -> np.ndarray:
        """p(· | context) in a new array: of all words, and perhaps of the rare word and the end."""
        raise NotImplementedError

    def _names(self) -> list[Word]:
        """The names of the symbols of `_next`: words are strings or integers, as in the text."""
        vocabulary = self.vocabulary_
        words: list[Any] = vocabulary.words
        if self.provenance_["options"].get("tokenizer") == INTEGERS:
            words = list(range(len(words)))
        return [*words, *special_names(vocabulary, RARE, END)]


def mean_of(scores: np.ndarray) -> float:
    """Return the mean of the scores that are not nan."""
    total = scores.sum()
    if len(scores) and total == total:  # nothing is nan, as for most text
        return float(total / len(scores))
    if np.isnan(scores).all():
        raise CorpusError("no word of this text is in the vocabulary; is it in that language?")
    return float(np.nanmean(scores))


def listed_words(context: Word | Words) -> list[Word]:
    """Return a context as a new list. A single word is a context, too."""
    return [context] if isinstance(context, (str, int, np.integer)) else list(context)


def provenance_of(moments: NgramMoments) -> dict[str, Any]:
    """Return what a model writes down about the text that it was learned from."""
    return {
        "n_tokens": moments.n_tokens,
        "options": moments.options,
        "sources": moments.sources,
    }


def rare_word_findings(
    diagnostics: dict[str, Any], provenance: dict[str, Any]
) -> Iterator[Finding]:
    """Say how many tokens are rare words, if any are."""
    share = diagnostics.get("rare_tokens", 0) / max(provenance.get("n_tokens", 0), 1)
    if share:
        yield Finding(
            "note" if share < _MANY_RARE else "warning",
            f"{share:.1%} of the tokens are rare words, which the model treats as one word.",
            "" if share < _MANY_RARE else "Lower min_count (--min-count) or give more text.",
        )
