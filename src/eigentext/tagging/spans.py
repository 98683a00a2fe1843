r"""Chunks as spans of the raw text, each with its probability.

The model is a chain, so the probability of a chunk from token i to token j - 1 with the tags y is

.. math:: p(y_i) \prod_{t=i+1}^{j-1} p(y_t \mid y_{t-1})
          \; p(\text{it begins at } i \mid y_i) \; p(\text{it ends at } j \mid y_{j-1}).

Both last factors look at one tag outside the chunk. In BIO, a chunk ends before j unless the tag at
j is I-X; in BILOU its last tag says that it ends. The forward-backward sums give all of them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from eigentext.corpus import schemes
from eigentext.corpus.items import without_columns
from eigentext.corpus.policy import TokenPolicy
from eigentext.errors import CorpusError
from eigentext.tagging import _loops
from eigentext.tagging.features import EncodedSentences
from eigentext.tagging.tagset import TagSet
from eigentext.tagging.weights import Weights

_LINE = re.compile(r"[^\n]+")


class Span(NamedTuple):
    """A part of a text, ``text[start:end]``, with its label and the probability of both."""

    start: int
    end: int
    label: str
    confidence: float


class Line(NamedTuple):
    """The tokens of one line of a text, and the place of each in the text."""

    tokens: list[tuple[str]]
    starts: list[int]
    ends: list[int]

    def placed(self, spans: Sequence[Span]) -> Iterator[Span]:
        """Yield spans of tokens as spans of the text."""
        for first, last, label, confidence in spans:
            yield Span(self.starts[first], self.ends[last - 1], label, confidence)


def list_of_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list; raise CorpusError for a single one."""
    texts = without_columns(texts)
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise CorpusError("give a list of texts, not a single one: that is for `spans`")
    return list(texts)


def lines_of(text: object, number: int, columns: Sequence[str], policy: TokenPolicy) -> list[Line]:
    """Return the lines of a text that have words, split as the policy says."""
    if not isinstance(text, str):
        raise CorpusError(
            f"text {number}: spans are places in raw text; give a string, not "
            f"{type(text).__name__}, or use `tag` for tokens"
        )
    if len(columns) > 1:
        raise CorpusError(
            f"this tagger needs {', '.join(columns)} for each token, but raw text has only words; "
            "use `tag`, or fit a tagger of words alone"
        )
    found = []
    for match in _LINE.finditer(text):
        if places := policy.places(match[0]):
            begin = match.start()
            found.append(
                Line(
                    [(token,) for token, _, _ in places],
                    [begin + start for _, start, _ in places],
                    [begin + end for _, _, end in places],
                )
            )
    return found


def token_spans(tags: Sequence[str], confidences: np.ndarray) -> list[Span]:
    """Return a span of one token for each tag."""
    return [Span(t, t + 1, tag, p) for t, (tag, p) in enumerate(zip(tags, confidences.tolist()))]


class ChunkLattice:
    """The probabilities of chunks in sentences.

    Parameters
    ----------
    data
        The sentences.
    scores
        The scores of all tags at all tokens, float64, divided by the temperature.
    marginals
        p(tag) at each token.
    weights, tagset, temperature
        Those of the tagger.
    """

    def __init__(
        self,
        data: EncodedSentences,
        scores: np.ndarray,
        marginals: np.ndarray,
        weights: Weights,
        tagset: TagSet,
        temperature: float,
    ):
        self._borders, self._scores, self._p = data.borders, scores, marginals
        self._T, self._names = weights.T.astype(np.float64) / temperature, tagset.learned
        self._after = np.empty_like(scores)
        _loops.backward(scores, data.borders, self._T, weights.end, self._after)
        self._goes_on = _continuations(tuple(tagset.learned))

    def spans(self, tags: np.ndarray) -> Iterator[list[Span]]:
        """Yield the chunks of each sentence, as spans of tokens; `tags` are those of all tokens."""
        for begin, end in pairwise(self._borders.tolist()):
            names = [self._names[y] for y in tags[begin:end].tolist()]
            yield [
                Span(i, j, label, self._probability(tags, begin, end, begin + i, begin + j))
                for label, i, j in schemes.spans(names)
            ]

    def _probability(self, tags: np.ndarray, begin: int, end: int, i: int, j: int) -> float:
        """The probability of the chunk of tokens i to j - 1, in the sentence begin to end - 1."""
        T, scores, after, p = self._T, self._scores, self._after, self._p
        y = tags[i:j]
        first, last = y[0], y[-1]
        steps = T[y[:-1], y[1:]].sum() + scores[np.arange(i + 1, j), y[1:]].sum()
        found = p[i, first] * np.exp(steps + after[j - 1, last] - after[i, first])
        if j < end:
            goes_on = T[last] + scores[j] + after[j] - after[j - 1, last]
            found *= 1 - np.exp(goes_on[self._goes_on[last]]).sum()
        before = np.flatnonzero(self._goes_on[:, first])
        if i > begin and len(before):
            ways = T[before, first] + scores[i, first] + after[i, first] - after[i - 1, before]
            comes = p[i - 1, before] * np.exp(np.where(p[i - 1, before] > 0, ways, -np.inf))
            found *= 1 - comes.sum() / max(p[i, first], 1e-300)
        return float(min(max(found, 0.0), 1.0))


@lru_cache(maxsize=16)
def _continuations(names: tuple[str, ...]) -> np.ndarray:
    """A table that says whether a tag (column) continues the chunk of the tag before it (row).

    Examples
    --------
    >>> _continuations(("B-X", "I-X", "O")).tolist()
    [[False, True, False], [False, True, False], [False, False, False]]
    """
    return np.array(
        [
            [schemes.OUTSIDE not in (a, b) and len(schemes.spans([a, b])) == 1 for b in names]
            for a in names
        ]
    )
