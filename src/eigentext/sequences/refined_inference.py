"""Inference in refinement HMMs: marginals, the best tags, probabilities, and states.

The words of a sentence say which labels each position may have (:mod:`~eigentext.sequences.refined`
and :mod:`~eigentext.sequences.emissions`). The forward-backward algorithm sums over labels and
states. Operators of the spectral method are not quite probabilities: sampling noise can make sums
negative. Such marginals are *repaired*: values below zero count as zero. If the probability of a
whole sentence is not above zero, its states are left out, and the model is that without states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eigentext.errors import CorpusError
from eigentext.sequences.refined import Averages, RefinedEmissions, Scores, Transitions
from eigentext.trellis import first_order_paths

_BREADTHS = (0, 1, 2)  # see `Emissions.scores`


class Local(NamedTuple):
    """The labels that each position may have: those of border[t]:border[t + 1] at position t."""

    active: np.ndarray
    border: np.ndarray
    weight: np.ndarray  # p(x|a), divided by the largest of its position
    emitted: np.ndarray
    log_scale: float


class Inferred(NamedTuple):
    """What a model says about one sentence."""

    log_probability: float  # of the words, or of words and tags; NaN if it is negative
    local: Local
    marginals: np.ndarray  # of labels
    pairs: np.ndarray  # of each label and each one after it
    alpha: np.ndarray  # what the past and the word say about the states of each label
    beta: np.ndarray  # what the future says about them


@dataclass
class Inference:
    """A refinement HMM that is ready for questions.

    Parameters
    ----------
    averages, transitions, emissions
        The model.
    tag_of
        The tag of each label.
    allowed
        Whether a label may follow another. The last row is the start, and the last column the end.
    """

    averages: Averages
    transitions: Transitions
    emissions: RefinedEmissions
    tag_of: np.ndarray
    allowed: np.ndarray

    def best(self, words: Sequence[str], decoding: str) -> np.ndarray:
        """Return the best labels of a sentence of one word or more."""
        for breadth in _BREADTHS:
            local = self.local(words, breadth)
            labels = self._viterbi(local) if decoding == "viterbi" else self._by(local, decoding)
            if labels is not None:
                return labels
        raise _impossible(words)

    def infer(self, words: Sequence[str]) -> Inferred:
        """Return the repaired marginals of a sentence of one word or more."""
        for breadth in _BREADTHS:
            found = self._repaired(self.local(words, breadth))
            if found is not None:
                return found
        raise _impossible(words)

    def log_probability(self, words: Sequence[str], tags: Sequence[int] | None = None) -> float:
        """Return log p(words), or log p(words, tags)."""
        if not words:
            return 0.0
        local = self.local(words, 0, tags)
        if (np.diff(local.border) == 0).any():
            return -np.inf
        return self._sums(local).log_probability

    def states(self, words: Sequence[str], tags: Sequence[int]) -> np.ndarray | None:
        """Return a row about the states of each token. It is None if the tagging is impossible."""
        for breadth in _BREADTHS:
            local = self.local(words, breadth, tags)
            if (np.diff(local.border) == 0).any():
                continue
            found = self._sums(local)
            if found.log_probability == -np.inf:
                continue
            if not self.averages.is_diagonal:
                first = found.alpha[local.border[:-1]]
                lengths = np.where(first[:, :1] != 0, first[:, :1], 1.0)
                return first / lengths
            both = np.maximum(found.alpha * found.beta, 0.0)
            rows = np.add.reduceat(both, local.border[:-1], axis=0)
            return rows / rows.sum(axis=1, keepdims=True)
        return None

    def local(self, words: Sequence[str], breadth: int, tags: Sequence[int] | None = None) -> Local:
        """Find the labels that each word may have; with `tags`, only those of its tag."""
        scores = self.emissions.scores
        parts = [scores(word, i == 0, breadth) for i, word in enumerate(words)]
        if tags is not None:
            parts = [_of_tag(part, self.tag_of[part[0]] == t) for part, t in zip(parts, tags)]
        active, weight, emitted, logs = zip(*parts)
        border = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(one) for one in active], out=border[1:])
        columns = (np.concatenate(column) for column in (active, weight, emitted))
        active, weight, emitted = columns
        return Local(active, border, weight, emitted, sum(logs))

    def _sums(self, local: Local, plain: bool = False) -> Inferred:
        """Sum over labels and states; with `plain`, as if all labels had one state."""
        from eigentext.sequences._refinement_loops import infer

        model, moves = self.averages, self.transitions
        sizes = np.ones_like(model.sizes) if plain else model.sizes
        lengths = np.diff(local.border)
        alpha, beta = np.zeros((2, len(local.active), model.one.shape[1]))
        marginals, pairs = np.zeros(len(local.active)), np.zeros(lengths[1:] @ lengths[:-1])
        log_total, sign = infer(
            local.active, local.border, local.weight, local.emitted, sizes, model.one, model.mean,
            moves.flat, moves.seen, moves.place, model.blocks, alpha, beta, marginals, pairs,
        )  # fmt: skip
        log_probability = log_total + local.log_scale if sign >= 0 else np.nan
        return Inferred(log_probability, local, marginals, pairs, alpha, beta)

    def _repaired(self, local: Local) -> Inferred | None:
        found = self._sums(local)
        if self.averages.is_diagonal:
            return None if found.log_probability == -np.inf else found
        if not np.isfinite(found.log_probability) or not np.isfinite(found.marginals).all():
            found = self._sums(local, plain=True)
            if found.log_probability == -np.inf:
                return None
        marginals = np.maximum(found.marginals, 0.0)
        sums = np.add.reduceat(marginals, local.border[:-1])
        marginals /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(local.border))
        return found._replace(marginals=marginals, pairs=np.maximum(found.pairs, 0.0))

    def _by(self, local: Local, decoding: str) -> np.ndarray | None:
        """The best labels by marginals, or by those of pairs."""
        from eigentext.sequences._refinement_loops import best_pairs

        found = self._repaired(local)
        if found is None:
            return None
        n = len(local.border) - 1
        path = np.zeros(n, np.int64)
        if decoding == "pairs":
            best = best_pairs(
                local.active, local.border, found.marginals, found.pairs, self.allowed, path
            )
            return path if best > -np.inf else None
        if self.allowed.all():
            for t, (a, z) in enumerate(zip(local.border[:-1].tolist(), local.border[1:].tolist())):
                path[t] = local.active[a + int(found.marginals[a:z].argmax())]
            return path
        scores = np.where(self.allowed, 0.0, -np.inf)
        gains = found.marginals.copy()
        last = local.border[-2]
        gains[last:] += scores[local.active[last:], -1]
        paths, _ = first_order_paths(
            scores[-1, :-1], scores[:-1, :-1], local.active, local.border, gains, 1
        )
        return paths[0] if len(paths) else None

    def _viterbi(self, local: Local) -> np.ndarray | None:
        from eigentext.sequences._refinement_loops import best_states

        model, moves = self.averages, self.transitions
        labels, states = np.zeros((2, len(local.border) - 1), np.int64)
        best = best_states(
            local.active, local.border, local.weight, local.emitted, model.sizes, model.one,
            model.mean, moves.flat, moves.seen, moves.place, model.blocks, labels, states,
        )  # fmt: skip
        return labels if best > -np.inf else None


def _of_tag(part: Scores, its: np.ndarray) -> Scores:
    active, weight, emitted, log_scale = part
    return active[its], weight[its], emitted[its], log_scale


def _impossible(words: Sequence[str]) -> CorpusError:
    # Every word may have every tag at last, so the tags never follow each other.
    return CorpusError(
        f"no tagging of {len(words)} words is possible: the tags of this model never fit "
        "together; fit it again, with other tags or scheme=None"
    )
