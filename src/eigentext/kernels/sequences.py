r"""The tagged-sequence kernel: all fragments that two taggings share [Collins 2003].

A fragment is a run of tags, each with or without its word. N(n) is the state after n, and W(n) is
its word. Two states with equal tags share

.. math:: \Delta(n_1, n_2) = \lambda\, (1 + \pi[W(n_1), W(n_2)]) (1 + \Delta(N(n_1), N(n_2)))

fragments that begin there, where every state of a fragment multiplies its weight by
:math:`\lambda`. Two states with different tags share none. K is the sum over all pairs of states.
:math:`\pi` is 1 for equal words. It may be 1/2 for different words of one class, for example two
capitalized words; then fragments may have a class in place of a word.

So K is :math:`\sum_i \lambda^{SIZE_i} h_i(T_1) h_i(T_2)`, as [Collins 2003] defines it. The short
form of the recursion there has lambda inside the bracket, and equals this value divided by lambda.
"""

from collections.abc import Callable, Hashable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from eigentext.errors import ParameterError
from eigentext.kernels import parameters
from eigentext.kernels._nodes import How, NodeKernel
from eigentext.kernels._store import EncodedNodes, NodeForest, Rows, Store

_ROUNDING = 1e-14  # weights cancel if their sum is smaller than this share of the largest


class TaggingPairs(NamedTuple):
    """Pairs of two taggings of the same words: where they begin, their length, and their weight."""

    first: np.ndarray
    second: np.ndarray
    length: np.ndarray
    weight: np.ndarray


Match = str | Mapping[Any, Hashable] | Callable[[Any], Hashable]


def _capitalized(word: Any) -> bool:
    return str(word)[:1].isupper()


def _factor(word: Any) -> str:
    return str(word).rpartition("|")[2]


_CLASSES: dict[str, Callable[[Any], Hashable] | None] = {
    "exact": None,
    "capitalization": _capitalized,
    "factor": _factor,
}


class SequenceKernel(NodeKernel):
    """The number of tagged fragments that two sequences share. Long fragments weigh less.

    Sequences are lists of (word, tag).

    Parameters
    ----------
    decay : float
        Lambda, above 0 and at most 1. Each state of a common fragment multiplies its weight by it.
    match : "exact", "capitalization", "factor", mapping or function
        Which different words count half. "exact": none. "capitalization": both capitalized, or
        neither. "factor": both are equal after their last ``|``, like the parts of speech in
        ``dog|NN`` and ``cat|NN``. A mapping gives words their classes; a word that is not in it is
        a class of its own. A function returns the class of a word.
    joint : bool
        Whether a state is a tag together with the class of its word. Then words of different
        classes do not match at all, and words of one class match as tags, not half as words. This
        is better and faster if every word has a known class, such as its part of speech.

    Examples
    --------
    >>> from eigentext import SequenceKernel
    >>> first = [("exiled", "N"), ("to", "N"), ("Elba", "S")]
    >>> second = [("exiled", "N"), ("to", "N"), ("Corsica", "S")]
    >>> SequenceKernel()(first, second), SequenceKernel(match="capitalization")(first, second)
    (17.0, 21.5)
    """

    _table = parameters.SequenceKernel

    def __init__(self, decay: float = 1.0, *, match: Match = "exact", joint: bool = False):
        self.decay = decay
        self.match = match
        self.joint = joint

    def _coding(self) -> tuple[Any, ...]:
        return ("sequence", self.match, bool(self.joint))

    def _add(self, store: Store, known: dict[Any, int], structure: Any) -> int:
        if isinstance(structure, str) or not hasattr(structure, "__len__"):
            raise ParameterError(f"{str(structure)[:40]!r} is not a list of (word, tag)")
        if not len(structure):
            raise ParameterError("it is empty; leave out empty sequences")
        state = -1
        for pair in reversed(structure):
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise ParameterError(f"{str(pair)[:40]!r} is not (word, tag)")
            word, tag = pair
            key = (word, tag, state)
            if (number := known.get(key)) is None:
                name = self._class(word)
                label, name = ((tag, name), word) if self.joint else (tag, name)
                number = known[key] = store.add(
                    label,
                    [state],
                    store.words.setdefault(word, len(store.words)),
                    store.classes.setdefault(name, len(store.classes)),
                )
            state = number
        return state

    def _class(self, word: Any) -> Hashable:
        if isinstance(self.match, str):
            of = _CLASSES[self.match]
            return word if of is None else of(word)
        if isinstance(self.match, Mapping):
            # A word outside the mapping is its own class. A tuple differs from all words.
            return (self.match[word],) if word in self.match else word
        return self.match(word)

    def _fill(self, rows: np.ndarray, how: How, a: Rows, b: NodeForest, out: np.ndarray) -> None:
        from eigentext.kernels._loops import sequence_rows

        sequence_rows(rows, *how, float(self.decay), a, b, out)

    def _scores(self, a: EncodedNodes, alpha: np.ndarray, b: EncodedNodes) -> np.ndarray:
        # A perceptron adds a weight to one tagging of a sentence and takes it from another. The
        # difference of two taggings is cheap: only fragments count in which the two differ.
        from eigentext.kernels._loops import sequence_differences

        pairs, rest, left = _paired(a, alpha)
        out = super()._scores(a[rest], left, b)[None]
        if len(pairs.weight):
            tag, word, word_class = a.named(a.walked()[0], b.store)
            decay = float(self.decay)

            def fill(forest: tuple[int, NodeForest]) -> None:
                start, nodes = forest
                sequence_differences(pairs, start, decay, tag, word, word_class, nodes, out)

            self._over(fill, b, int(pairs.length.sum()))
        return out[0]


def _paired(a: EncodedNodes, alpha: np.ndarray) -> tuple[TaggingPairs, list[int], np.ndarray]:
    """Return taggings of the same words as differences from one of them, and the rest.

    If r is one of the taggings s of a sentence, the weighted sum of all s equals the weighted sum
    of the differences s - r, plus r times the sum of the weights, which may be zero.
    """
    walked, offsets = a.walked()
    words = a.store.nodes.word[walked]
    sentences: dict[bytes, list[int]] = {}
    for number, (start, end) in enumerate(pairwise(offsets.tolist())):
        sentences.setdefault(words[start:end].tobytes(), []).append(number)
    first, second, rest, left = [], [], [], []
    for numbers in sentences.values():
        weights = alpha[numbers]
        r = numbers[int(np.abs(weights).argmax())]
        others = [s for s in numbers if s != r]
        first += others
        second += [r] * len(others)
        total = weights.sum()
        if abs(total) > _ROUNDING * len(numbers) * np.abs(weights).max():
            rest.append(r)
            left.append(total)
    length = np.diff(offsets)[first]
    return TaggingPairs(offsets[first], offsets[second], length, alpha[first]), rest, np.array(left)
