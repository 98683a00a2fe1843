r"""Refinement HMMs in one form for all ways to learn them: averages over tokens.

A label a has m states. The probability of words and labels is a product of matrices,

.. math:: p(a_1 x_1 \dots a_n x_n) = T^{\circ a_1} D^{a_1 x_1} T^{a_1 a_2} D^{a_2 x_2} \cdots
          D^{a_n x_n} T^{a_n \circ},

where the label :math:`\circ` stands before and after the sentence, and has one state. Both kinds of
matrices are averages over the tokens j of the training data, times relative frequencies:

.. math:: D^{a x} = p(x | a)\, E[z_j\, y_j'^\top \mid a_j = a, x_j = x],\qquad
          T^{a b} = p(b | a)\, E[z_j'\, y_{j+1}^\top \mid a_j = a, a_{j+1} = b].

The vectors y and z say what the future and the past of a token tell about its state, before its
word is emitted; y' and z' say the same after it. If states are known, :math:`y = y' = e_h` and
:math:`z = z' = e_h / p(h|a)`. So the averages are t(b, h'|a, h) and the diagonal matrix of o(x|a,
h). EM puts expectations in place of known states. The spectral method projects features of the
future and the past (:mod:`eigentext.sequences.learning.refinement`).

The frequencies are smoothed as those of :class:`~eigentext.HMMTagger` are. With one state to each
label, the averages are 1 and the models are the same. In particular a share :math:`\lambda_1` of
each transition does not depend on the label before. It has the matrix
:math:`p(b)\, E[z_j' | a]\, E[y_j | b]^\top`.
"""

from typing import Any, NamedTuple

import numpy as np

from eigentext.sequences.emissions import Emissions

_CACHED = 1 << 14  # how many words have their matrices kept
_CACHED_BYTES = 1 << 26  # of the averages of groups
_PART = 1 << 12  # pairs that are added together: the products need memory
_RARELY = 1e-12  # a smaller weight is none
# The labels of a word, p(word | label) over the largest of them, averages, and log of the largest.
Scores = tuple[np.ndarray, np.ndarray, np.ndarray, float]


class Averages(NamedTuple):
    """What is learned from tagged sentences, beside relative frequencies.

    There is room for M states in each label. `shares` is a vector for each pair if the matrices
    are diagonal (the last side is 1), and else a matrix.
    """

    sizes: np.ndarray  # the number of states of each label, (S + 1,)
    one: np.ndarray  # E[z' | a], (S + 1, M)
    mean: np.ndarray  # E[y | a], (S + 1, M)
    blocks: np.ndarray  # E[z' y^T | a, b] of each bigram that occurred, (g, M, M)
    shares: np.ndarray  # E[z y'^T | a, x] of each pair that occurred, (e, M, M) or (e, M, 1)

    @property
    def is_diagonal(self) -> bool:
        """Whether states are known or estimated, so that D is a diagonal matrix."""
        return self.shares.shape[2] == 1


def edged(n_states: np.ndarray) -> np.ndarray:
    """The numbers of states of all labels, with the one of the label before and after sentences."""
    return np.append(n_states, 1).astype(np.int64)


class Transitions(NamedTuple):
    """The matrices from label to label: flat one mean^T + seen blocks. See `_refinement_loops`."""

    flat: np.ndarray
    seen: np.ndarray
    place: np.ndarray

    @classmethod
    def of(
        cls, grams: np.ndarray, times: np.ndarray, weights: np.ndarray, forbidden: np.ndarray
    ) -> "Transitions":
        """Smooth the frequencies of bigrams as :func:`transitions.transition_scores` does."""
        m = len(forbidden)
        unigrams = np.bincount(grams[:, 1], times, m)
        seen, place = np.zeros((m, m)), np.full((m, m), -1, np.int32)
        seen[grams[:, 0], grams[:, 1]] = times
        place[grams[:, 0], grams[:, 1]] = np.arange(len(grams))
        seen *= weights[1] / np.maximum(seen.sum(axis=1, keepdims=True), 1)
        flat = np.where(forbidden, 0.0, weights[0] * unigrams / unigrams.sum())
        seen[forbidden] = 0.0
        total = (flat + seen).sum(axis=1, keepdims=True)
        total[total == 0] = 1.0
        return cls(flat / total, seen / total, place)


class RefinedEmissions:
    """The matrices D of every word, also of rare and unknown ones.

    The probability p(x|a) is that of `Emissions`. The average of a word with a label is smoothed by
    that of its groups, the smallest last, with the weight of `smoothing` tokens each time. The
    largest group are all words of the label. A word that is not rare has no other groups.
    """

    def __init__(self, plain: Emissions, shares: np.ndarray, smoothing: float):
        self.plain, self.shares, self.smoothing = plain, shares, max(float(smoothing), _RARELY)
        counts = plain.counts
        totals = np.bincount(counts.indices, counts.data, counts.shape[1])
        self.mean = np.zeros((counts.shape[1], *shares.shape[1:]))
        for start in range(0, len(shares), _PART):
            part = slice(start, start + _PART)
            weighted = shares[part] * counts.data[part, None, None]
            np.add.at(self.mean, counts.indices[part], weighted)
        self.mean /= np.maximum(totals, 1)[:, None, None]
        self._groups: dict[str, np.ndarray] = {}
        self._found: dict[tuple[str, bool, int], Scores] = {}

    def scores(self, word: str, first: bool, breadth: int = 0) -> Scores:
        """Return the labels that a word may have, with p(word | label) and the averages."""
        found = self._found.get((word, first, breadth))
        if found is None:
            if len(self._found) >= _CACHED:
                self._found.clear()
            active, scores = self.plain.scores(word, first, breadth)
            most = float(scores.max(initial=-np.inf))
            found = active, np.exp(scores - most), self._averages(word, first, active), most
            self._found[word, first, breadth] = found
        return found

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_groups": {}, "_found": {}}

    def _averages(self, word: str, first: bool, active: np.ndarray) -> np.ndarray:
        """The averages of the active labels of a word."""
        plain = self.plain
        x = plain.numbers.get(word, -1)
        if x < 0 and first and plain.endings:
            x = plain.numbers.get(word.lower(), -1)
        averages = self.mean
        if x < 0 or plain.is_rare[x]:
            for group in plain._groups(word if x < 0 else plain.words[x]):
                if group in plain.groups:
                    averages = self._group(group, averages)
        averages = averages[active]
        if x < 0:
            return averages
        begin, end = plain.counts.indptr[x : x + 2].tolist()
        place = {label: e for e, label in enumerate(plain.counts.indices[begin:end].tolist())}
        kappa = self.smoothing
        for i, label in enumerate(active.tolist()):
            if (e := place.get(label)) is not None:
                c = plain.counts.data[begin + e]
                averages[i] = (c * self.shares[begin + e] + kappa * averages[i]) / (c + kappa)
        return averages

    def _group(self, name: str, larger: np.ndarray) -> np.ndarray:
        """(S + kappa G) / (c + kappa) of each label, where G is that of the larger group.

        S is the sum over the tokens of the group, and c their number.
        """
        if name not in self._groups:
            if len(self._groups) * larger.nbytes >= _CACHED_BYTES:
                self._groups.clear()
            plain, g = self.plain, self.plain.groups[name]
            its = slice(*plain.members.indptr[g : g + 2].tolist())
            words, weights = plain.members.indices[its], plain.members.data[its]
            begins, ends = plain.counts.indptr[words], plain.counts.indptr[words + 1]
            sizes = ends - begins
            pairs = np.repeat(ends - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
            labels = plain.counts.indices[pairs]
            c = np.repeat(weights, sizes) * plain.counts.data[pairs]
            found = self.smoothing * larger
            for start in range(0, len(pairs), _PART):
                part = slice(start, start + _PART)
                np.add.at(found, labels[part], c[part, None, None] * self.shares[pairs[part]])
            c = np.bincount(labels, c, len(larger)) + self.smoothing
            self._groups[name] = found / c[:, None, None]
        return self._groups[name]
