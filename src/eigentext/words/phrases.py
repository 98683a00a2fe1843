r"""Phrases: pairs of words that occur together more often than by chance ("new york").

With the counts c(a), c(b) of two words, c(ab) of the pair, and N tokens, the scores of a pair are

.. math::

    \text{npmi} = \frac{\log \frac{c(ab)\,N}{c(a)\,c(b)}}{-\log (c(ab) / N)}
    \qquad\text{and}\qquad
    \text{count} = \frac{(c(ab) - \text{min\_count})\,V}{c(a)\,c(b)} .

The first is at most 1, for words that occur only together (Bouma 2009). The second is that of
Mikolov et al. (2013) with the factor V of gensim, the number of distinct words and pairs. A pair is
a phrase if it is counted `min_count` times or more, and its score is above the threshold. Text is
scanned from left to right, and each phrase becomes one token. With several passes, phrases join
again: "new_york", then "new_york_times". Tokens without a letter or a digit join nothing.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from eigentext.corpus import EncodedCorpus, encode
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import INTEGERS
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted, learned_with, learning
from eigentext.matrices import budget
from eigentext.moments import NgramMoments
from eigentext.storage import Saved, facts
from eigentext.storage.schema import Array, Schema, Strings
from eigentext.words import parameters

_THRESHOLDS = {"npmi": 0.5, "count": 10.0}


class Phrases(Saved, Estimator):
    """Finds phrases of two words or more by counts, and joins them in text.

    Parameters
    ----------
    min_count : int
        The least number of occurrences of a phrase.
    scoring : "npmi" or "count"
        The score of a pair; see the module. "count" gives the phrases of gensim's `Phrases`,
        without those of punctuation.
    threshold : float, optional
        A phrase has a higher score. The default is 0.5 for "npmi" and 10 for "count".
    delimiter : str
        What stands between the words of a phrase.
    n_passes : int
        How often the text is scanned. Phrases have at most ``2 ** n_passes`` words.

    Attributes
    ----------
    phrases_ : dict
        The score of each phrase, the highest first.
    counts_ : dict
        How often each phrase was counted.
    provenance_ : dict
        What the phrases were learned from.

    Examples
    --------
    >>> from eigentext import Phrases
    >>> text = ["she left new york", "new york is big", "a new car", "york is old"] * 5
    >>> phrases = Phrases(min_count=5).fit(text)
    >>> phrases.transform([["he", "saw", "new", "york", "today"]])
    [['he', 'saw', 'new_york', 'today']]
    """

    _format = "eigentext.phrases.v1"
    _table = parameters.Phrases

    def __init__(
        self,
        min_count: int = 5,
        *,
        scoring: Literal["npmi", "count"] = "npmi",
        threshold: float | None = None,
        delimiter: str = "_",
        n_passes: int = 1,
    ):
        self.min_count = min_count
        self.scoring: Literal["npmi", "count"] = scoring
        self.threshold = threshold
        self.delimiter = delimiter
        self.n_passes = n_passes

    @learning
    def fit(
        self,
        corpus: Any,
        y: None = None,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Find the phrases of a corpus, of anything that :class:`TextCorpus` takes.

        `memory` (the bytes that the process may take) and `cache` (a folder for encoded text) do
        not change the result.
        """
        with budget.within(memory):
            encoded = encode(corpus, cache=cache, memory=budget.current().memory)
            self._begin(encoded.options, [encoded.fingerprint], encoded.n_tokens)
            for number in range(self.n_passes):
                found = self._find(NgramMoments.from_corpus(encoded, order=2))
                if not found:
                    break
                if number + 1 < self.n_passes:
                    encoded = _joined(encoded, found, self.delimiter)
        return self._finish()

    @learning
    def fit_moments(self, moments: NgramMoments) -> Self:
        """Find phrases from counts of pairs alone. This is for a single pass."""
        if not isinstance(moments, NgramMoments):
            raise MomentsError(f"phrases need NgramMoments, not {type(moments).__name__}")
        if moments.order < 2:
            raise MomentsError("phrases need counts of pairs; count n-grams of order 2 or more")
        if self.n_passes > 1:
            raise MomentsError("several passes need the text; call fit, or use n_passes=1")
        self._begin(moments.options, moments.sources, moments.n_tokens)
        self._find(moments)
        return self._finish()

    def transform(self, sentences: Iterable[Sequence[str]]) -> list[list[str]]:
        """Return sentences, which are lists of tokens, with their phrases joined."""
        check_is_fitted(self)
        if isinstance(sentences, str):
            raise CorpusError("give a list of sentences, each a list of tokens")
        answer = []
        for sentence in sentences:
            if isinstance(sentence, str):
                raise CorpusError(f"{sentence!r:.60} is a string; give each sentence as a list")
            tokens = list(sentence)
            for pairs in self._passes:
                tokens = _scanned(tokens, pairs, self.parameters_.delimiter)
            answer.append(tokens)
        return answer

    def join(
        self, corpus: Any, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> EncodedCorpus:
        """Return a corpus with its phrases joined, encoded: every `fit` of this library takes it.

        The text is read in this process. The result is in memory, or in a temporary file if the
        encoded text is in a file.
        """
        check_is_fitted(self)
        encoded = encode(corpus, cache=cache)
        for pairs in self._passes:
            encoded = _joined(encoded, pairs, self.parameters_.delimiter)
        digest = hashlib.sha256("\n".join(self.phrases_).encode("utf-8", "surrogatepass"))
        mark = digest.hexdigest()[:16]
        return replace(
            encoded,
            fingerprint=hashlib.sha256(f"{encoded.fingerprint} {mark}".encode()).hexdigest(),
            options=encoded.options | {"phrases": mark},
        )

    def joined_tokens(self, tokens: np.ndarray, words: list[str]) -> tuple[np.ndarray, list[str]]:
        """Return encoded tokens with their phrases joined, and the words with these phrases."""
        for pairs in self._passes:
            tokens, words = _joined_tokens(tokens, words, pairs, self.parameters_.delimiter)
        return tokens, words

    # Private steps.

    def _check_together(self) -> None:
        if self.scoring == "npmi" and self.threshold is not None and self.threshold >= 1:
            raise ParameterError(
                f"threshold is {self.threshold:g}, but the score npmi is at most 1, so none is "
                "a phrase; lower the threshold, or use scoring='count' (--scoring count)"
            )

    def _begin(self, options: dict[str, Any], sources: list[str], n_tokens: int) -> None:
        if options.get("tokenizer") == INTEGERS:
            raise CorpusError("phrases are made of words, not of integers; give words")
        self._passes: list[dict[tuple[str, str], tuple[int, float]]] = []
        self.provenance_ = {"n_tokens": n_tokens, "options": dict(options), "sources": sources}

    def _find(self, moments: NgramMoments) -> dict[tuple[str, str], tuple[int, float]]:
        """The phrases of one pass: their counts and scores."""
        words, unigrams = moments.vocabulary.words, moments.unigrams
        pairs = moments.levels[0].tocoo()
        inside = (pairs.row < len(words)) & (pairs.col < len(words))
        a, b, together = pairs.row[inside], pairs.col[inside], pairs.data[inside]
        n_entries = len(words) + len(together)
        spoken = np.array([any(map(str.isalnum, word)) for word in words], bool)
        chosen = (together >= self.min_count) & spoken[a] & spoken[b]
        a, b, together = a[chosen], b[chosen], together[chosen]
        scores = self._scores(unigrams[a], unigrams[b], together, moments.n_tokens, n_entries)
        least = _THRESHOLDS[self.scoring] if self.threshold is None else self.threshold
        found = {
            (words[a[i]], words[b[i]]): (int(together[i]), float(scores[i]))
            for i in np.flatnonzero(scores > least).tolist()
        }
        if found:
            self._passes.append(found)
        return found

    def _scores(
        self, a: np.ndarray, b: np.ndarray, together: np.ndarray, N: int, V: int
    ) -> np.ndarray:
        a, b, together = (x.astype(np.float64) for x in (a, b, together))
        if self.scoring == "count":
            return (together - self.min_count) / a / b * V
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.log(together / N / (a / N * (b / N))) / -np.log(together / N)
        return np.where(together < N, scores, 1.0)

    def _finish(self) -> Self:
        rows = [
            (a + self.delimiter + b, count, score)
            for pairs in self._passes
            for (a, b), (count, score) in pairs.items()
        ]
        rows.sort(key=lambda row: (-row[2], row[0]))
        self.phrases_ = {name: score for name, _, score in rows}
        self.counts_ = {name: count for name, count, _ in rows}
        return self

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        rows = [
            (number, a, b, count, score)
            for number, pairs in enumerate(self._passes)
            for (a, b), (count, score) in pairs.items()
        ]
        arrays = {
            "passes": np.array([row[0] for row in rows], np.int32),
            "first": [row[1] for row in rows],
            "second": [row[2] for row in rows],
            "counts": np.array([row[3] for row in rows], np.int64),
            "scores": np.array([row[4] for row in rows], np.float64),
        }
        return arrays, {"parameters": dict(self.parameters_), "provenance": self.provenance_}

    @classmethod
    def _schema(cls, about):
        return Schema(
            {
                "passes": Array("int32", ("phrases",), least=0, below=64),
                "first": Strings("phrases"),
                "second": Strings("phrases"),
                "counts": Array("int64", ("phrases",), least=0, below=2**53),
                "scores": Array("float64", ("phrases",), least=-1e300, below=1e300),
            },
            {"provenance": facts.PROVENANCE},
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        self.provenance_ = about["provenance"]
        passes = np.asarray(arrays["passes"])
        self._passes = [{} for _ in range(int(passes.max(initial=-1)) + 1)]
        columns = (arrays["first"], arrays["second"], arrays["counts"], arrays["scores"])
        for number, a, b, count, score in zip(passes.tolist(), *columns):
            self._passes[number][a, b] = int(count), float(score)
        return self._finish()


def _scanned(tokens: list[str], pairs: Any, delimiter: str) -> list[str]:
    """One pass over a sentence."""
    joined, i = [], 0
    while i < len(tokens):
        if i + 1 < len(tokens) and (tokens[i], tokens[i + 1]) in pairs:
            joined.append(tokens[i] + delimiter + tokens[i + 1])
            i += 2
        else:
            joined.append(tokens[i])
            i += 1
    return joined


def _joined_tokens(
    tokens: np.ndarray, words: list[str], pairs: Any, delimiter: str
) -> tuple[np.ndarray, list[str]]:
    """One pass over encoded text: its tokens, and its words followed by the new phrases."""
    from eigentext.words._phrase_loops import join_pairs

    places = {word: place for place, word in enumerate(words)}
    names = list(words)
    rows = []
    for a, b in pairs:
        if a in places and b in places:
            name = a + delimiter + b
            if name not in places:
                places[name] = len(names)
                names.append(name)
            rows.append((places[a], places[b], places[name]))
    table = np.array(sorted(rows), np.int64).reshape(-1, 3)
    starts = np.searchsorted(table[:, 0], np.arange(len(names) + 1))
    columns = np.ascontiguousarray(table.T)
    if isinstance(tokens, np.memmap):
        with tempfile.TemporaryFile() as file:  # its map stays valid
            out: np.ndarray = np.memmap(file, np.int32, "w+", shape=tokens.shape)
    else:
        out = np.empty(len(tokens), np.int32)
    n = join_pairs(tokens, starts, columns[1], columns[2], out)
    return out[:n], names


def _joined(encoded: EncodedCorpus, pairs: Any, delimiter: str) -> EncodedCorpus:
    """Encoded text after one pass. Words have the order of their first occurrence again."""
    tokens, names = _joined_tokens(encoded.tokens, encoded.words, pairs, delimiter)
    counts = np.bincount(tokens[tokens != END], minlength=len(names))
    first = np.full(len(names), len(tokens), np.int64)
    np.minimum.at(first, tokens[tokens != END], np.flatnonzero(tokens != END))
    order = np.argsort(first, kind="stable")[: int((counts > 0).sum())]
    lookup = np.full(len(names) + 1, END, np.int32)  # its last place maps END to itself
    lookup[order] = np.arange(len(order), dtype=np.int32)
    tokens[:] = lookup[tokens]
    return replace(
        encoded,
        tokens=tokens,
        words=[names[place] for place in order.tolist()],
        counts=counts[order].astype(np.int64),
    )
