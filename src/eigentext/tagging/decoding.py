"""What a fitted tagger says about sentences: scores, tags, probabilities, and its temperature."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext import engine
from eigentext.corpus import schemes
from eigentext.errors import ParameterError
from eigentext.tagging import _loops
from eigentext.tagging.features import EncodedSentences, FeatureExtractor, Sentence
from eigentext.tagging.spans import ChunkLattice, Span, token_spans
from eigentext.tagging.tagset import TagSet
from eigentext.tagging.weights import Weights
from eigentext.trellis import ScoredTagging, k_best_paths

if TYPE_CHECKING:
    from eigentext.evaluate import Chunks, Tags

_CALIBRATED = 5000  # tokens that are enough to choose one number
_LOG_TEMPERATURES = (-5.0, 5.0)
_TOKENS = 1 << 13  # tokens in the task of a thread


@dataclass(frozen=True)
class Decoder:
    """Everything that a tagger needs for tagging: features, weights, tags and temperature."""

    features: FeatureExtractor
    weights: Weights
    tagset: TagSet
    temperature: float = 1.0

    def tags(self, sentences: list[Sentence]) -> list[list[tuple[str, ...]]]:
        """Return each sentence with its best tags: (word, …, tag)."""
        return self._answers("tags", list, sentences)

    def confidences(self, sentences: list[Sentence]) -> list[np.ndarray]:
        """Return for each token the probability of its best tag."""
        return self._answers("confidences", lambda: np.zeros(0), sentences)

    def k_best(self, sentences: list[Sentence], k: int) -> list[list[ScoredTagging]]:
        """Return the k best taggings of each sentence, best first."""
        return self._answers("k_best", lambda: [ScoredTagging([], 0.0)], sentences, k)

    def spans(self, sentences: list[Sentence]) -> list[list[Span]]:
        """Return the chunks of each sentence, or its tokens, as spans of tokens."""
        return self._answers("spans", list, sentences)

    def marginals(self, sentence: Sentence) -> np.ndarray:
        """Return p(tag | sentence), a row for each token and a column for each shown tag."""
        if not sentence:
            return np.zeros((0, len(self.tagset.names)))
        return self._marginals(self.features.encode([sentence]))

    def _answers(
        self,
        question: str,
        nothing: Callable[[], Any],
        sentences: list[Sentence],
        *known: int,
    ) -> list[Any]:
        """Answer a question about each sentence, in blocks, on the workers of the engine.

        A sentence without tokens has the answer of `nothing`.
        """
        full = [one for one in sentences if one]
        work = np.cumsum([0, *map(len, full)])
        found: list[Any] = []
        with engine.phase("tag", int(work[-1]), "tokens") as advance:
            blocks = engine.even_blocks(work, _TOKENS) if full else []
            # For one block, sending the decoder to a Dask worker would take longer than the work.
            workers = engine.workers() if len(blocks) > 1 else engine.current()
            some = (full[slice(*block)] for block in blocks)
            for block, results in zip(blocks, workers.map(_answer, some, self, question, *known)):
                found += results
                advance(int(work[block[1]] - work[block[0]]))
        answers = iter(found)
        return [next(answers) if one else nothing() for one in sentences]

    # The questions, for one block of sentences.

    def _tags(self, block: list[Sentence], data: EncodedSentences) -> list[list[tuple[str, ...]]]:
        tags = iter(np.array(self.tagset.names, object)[self._best(data)].tolist())
        return [[(*token, next(tags)) for token in sentence] for sentence in block]

    def _confidences(self, block: list[Sentence], data: EncodedSentences) -> list[np.ndarray]:
        p = self._marginals(data)
        return np.split(p[np.arange(len(p)), self._best(data)], data.borders[1:-1])

    def _k_best(
        self, block: list[Sentence], data: EncodedSentences, k: int
    ) -> list[list[ScoredTagging]]:
        weights, meaning = self.weights, self.tagset.meaning
        scores = local_scores(data, self.features, weights).astype(np.float64)
        _, totals = posteriors(data, scores, weights, self.temperature)
        T, names = weights.T.astype(np.float64), np.array(self.tagset.names, object)[meaning]
        found = []
        for s, (first, last) in enumerate(pairwise(data.borders.tolist())):
            scores[last - 1] += weights.end
            paths, values = k_best_paths(T[-1], T[:-1], scores[first:last], k)
            words = ["|".join(token) for token in block[s]]
            logs = np.minimum(values / self.temperature - totals[s], 0)  # above 0 only by rounding
            found.append(
                [
                    ScoredTagging(list(zip(words, tags)), log)
                    for tags, log in zip(names[paths].tolist(), logs.tolist())
                ]
            )
        return found

    def _spans(self, block: list[Sentence], data: EncodedSentences) -> list[list[Span]]:
        if not schemes.is_chunk_tags(self.tagset.names):
            tagged, sure = self._tags(block, data), self._confidences(block, data)
            return [token_spans([t[-1] for t in one], p) for one, p in zip(tagged, sure)]
        scores = local_scores(data, self.features, self.weights)
        tags = np.empty(len(scores), np.int32)
        _loops.best_tags(scores, data.borders, self.weights.T, self.weights.end, tags)
        p, _ = posteriors(data, scores, self.weights, self.temperature)
        scaled = scores.astype(np.float64) / self.temperature
        lattice = ChunkLattice(data, scaled, p, self.weights, self.tagset, self.temperature)
        return list(lattice.spans(tags))

    def _best(self, data: EncodedSentences) -> np.ndarray:
        """Return the place of each token's best tag among the shown tags."""
        return self.tagset.meaning[best_tags(data, self.features, self.weights)]

    def _marginals(self, data: EncodedSentences) -> np.ndarray:
        scores = local_scores(data, self.features, self.weights)
        p, _ = posteriors(data, scores, self.weights, self.temperature)
        shown = p @ (self.tagset.meaning[:, None] == np.arange(len(self.tagset.names)))
        return np.minimum(shown, 1.0)  # above 1 only by rounding


def _answer(block: list[Sentence], decoder: Decoder, question: str, *known: int) -> list[Any]:
    return getattr(decoder, f"_{question}")(block, decoder.features.encode(block), *known)


def local_scores(
    data: EncodedSentences, features: FeatureExtractor, weights: Weights
) -> np.ndarray:
    """Return the scores of all tags at all tokens, without those of transitions."""
    scores = np.empty((int(data.borders[-1]), weights.W.shape[1]), np.float32)
    _loops.all_scores(*data, features.places, features.widths, weights.W, weights.D, scores)
    return scores


def best_tags(data: EncodedSentences, features: FeatureExtractor, weights: Weights) -> np.ndarray:
    """Return the best tagging of each sentence, one after the other."""
    scores = local_scores(data, features, weights)
    tags = np.empty(len(scores), np.int32)
    _loops.best_tags(scores, data.borders, weights.T, weights.end, tags)
    return tags


def posteriors(
    data: EncodedSentences, scores: np.ndarray, weights: Weights, temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return p(tag) at each token, and the logarithm of the normalizing sum of each sentence."""
    scores = scores.astype(np.float64) / temperature
    out, totals = np.empty_like(scores), np.empty(len(data.borders) - 1)
    T = weights.T.astype(np.float64) / temperature
    _loops.posteriors(scores, data.borders, T, weights.end, out, totals)
    return out, totals


def best_temperature(
    data: EncodedSentences, features: FeatureExtractor, weights: Weights, gold: np.ndarray
) -> float:
    """Return the temperature that makes the gold tags of the first sentences most probable.

    A gold tag of -1 is one that was not learned. It is ignored.
    """
    from scipy.optimize import minimize_scalar

    n = max(1, int(np.searchsorted(data.borders, _CALIBRATED)))
    some = data._replace(borders=data.borders[: n + 1])
    known = np.flatnonzero(gold[: some.borders[-1]] >= 0)
    if len(known) == 0:
        raise ParameterError(
            "none of the tags of these sentences was learned; calibrate on tags like those of fit"
        )
    scores = local_scores(some, features, weights)

    def loss(log_temperature: float) -> float:
        p, _ = posteriors(some, scores, weights, float(np.exp(log_temperature)))
        return -float(np.log(np.maximum(p[known, gold[known]], 1e-300)).sum())

    best: Any = minimize_scalar(
        loss, bounds=_LOG_TEMPERATURES, method="bounded", options={"xatol": 0.02}
    )
    return float(np.exp(best.x))


def evaluated(
    decoder: Decoder, sentences: list[Sentence], tags: list[list[str]]
) -> "Chunks | Tags":
    """Compare the best tags of sentences with the right ones."""
    from eigentext import evaluate

    found = [[token[-1] for token in one] for one in decoder.tags(sentences)]
    tags = decoder.tagset.read(tags)
    of_chunks = schemes.is_chunk_tags(chain(decoder.tagset.names, *tags))
    return (evaluate.chunks if of_chunks else evaluate.tags)(tags, found)
