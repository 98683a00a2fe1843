r"""The emissions p(w|t) of a tagger, also for rare and unknown words.

A word w belongs to a chain of smaller and smaller groups :math:`g_1 \supset g_2 \supset \dots`: the
words of its class, those of them with the same ending, and the word itself. The distribution of
states in a group is smoothed by that in the larger group (Witten and Bell 1991),

.. math:: p(t \mid g_i) = \frac{c(g_i, t) + \mu_i\, p(t \mid g_{i-1})}{c(g_i) + \mu_i},

where :math:`\mu_i` is the number of states in :math:`g_i`. Then Bayes' rule gives
:math:`p(w|t) = p(t|w)\, p(w) / p(t)`, as in TnT (Brants 2000). With a class as the only group, this
is a mixture of :math:`p(w|t)` and :math:`p(class|t)\, p(w|class)`, both as counted.

An unknown word is treated like a rare one. So no word counts for more tokens in a group than a rare
word has. A word that is not rare has only the states that it occurred with. All unknown words
together have the probability of the words that occurred once.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from eigentext.matrices.runs import CSR

Classes = Literal["shape", "factor"] | Callable[[str], str] | None
_LONGEST = 3  # the letters of the longest ending
_LEAST = 1e-4  # states with a smaller share in a group are left out
_CACHED = 1 << 16  # how many words have their scores kept


def shape(word: str) -> str:
    """Return the class of a word by its capitals, digits and dashes.

    Examples
    --------
    >>> [shape(word) for word in ("dog", "Rome", "IBM", "iPod", "mid-1980s", "3,100.5", "--")]
    ['a', 'A', 'AA', 'aA', 'a-0', '0', '-']
    """
    letters = [c for c in word if c.isalpha()]
    capitals = sum(c.isupper() for c in letters)
    if not letters:
        form = ""
    elif capitals == len(letters) > 1:
        form = "AA"
    elif capitals:
        form = "A" if word[0].isupper() else "aA"
    else:
        form = "a"
    return form + "-" * ("-" in word) + "0" * any(c.isdigit() for c in word)


def factor(word: str) -> str:
    """Return the part of a token after its last bar: "dog|NN" has the class NN."""
    return word.rpartition("|")[2]


def alike(word: str) -> str:
    """Return the same class for all words."""
    return ""


def class_function(classes: Classes) -> Callable[[str], str]:
    """Return the function from a word to its class that `classes` names."""
    if callable(classes):
        return classes
    return {"shape": shape, "factor": factor, None: alike}[classes]


class Emissions:
    """The values log p(w|t) of every word w, for the states t that it may have.

    Parameters
    ----------
    words
        The known words.
    counts : sparse array (CSR), words by states
        How often each word occurred in each state.
    classes : "shape", "factor", None or callable
        The classes of words. With "shape", words are also grouped by their endings.
    rare : int
        Words that occurred at most this often are rare.
    """

    def __init__(self, words: list[str], counts: CSR, classes: Classes, rare: int):
        from scipy.sparse import csr_array

        self.words, self.counts, self.endings = words, counts, classes == "shape"
        self.class_of = class_function(classes)
        self.numbers = {word: x for x, word in enumerate(words)}
        self.totals = np.asarray(counts.sum(axis=1), np.float64)
        n_tokens = float(self.totals.sum())
        self.share = np.asarray(counts.sum(axis=0)) / n_tokens  # p(t)
        self.is_rare = self.totals <= rare
        once = max(1.0, float((self.totals == 1).sum()))
        # The last is the probability of an unknown word.
        self.p_word = np.append(self.totals, once) / (n_tokens + once)
        numbers: dict[str, int] = {}
        group, member = [], []
        for x, word in enumerate(words):
            for name in self._groups(word):
                group.append(numbers.setdefault(name, len(numbers)))
                member.append(x)
        weight = np.minimum(1.0, max(rare, 1) / self.totals)
        belongs = csr_array((weight[member], (group, member)), (len(numbers), len(words)))
        self.groups, self.members, self.group_counts = numbers, belongs, belongs @ counts
        # A word of an unknown class gets the class that most rare words have.
        of_class = np.array([numbers[self._class(word)] for word in words])
        usual = np.bincount(of_class, self.totals * self.is_rare + weight).argmax()
        self.usual = list(numbers)[usual]
        self._posteriors: dict[str, np.ndarray] = {}
        self._found: dict[tuple[str, bool, int], tuple[np.ndarray, np.ndarray]] = {}

    def scores(self, word: str, first: bool, breadth: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return the states that a word may have, and log p(word | state) for each of them.

        An unknown word that is the `first` of its sentence is looked up in lower case, too. With
        `breadth` 1, frequent words are smoothed like rare ones. With 2, every state is possible:
        half of the probability goes to all states by their frequencies.
        """
        found = self._found.get((word, first, breadth))
        if found is None:
            if len(self._found) >= _CACHED:
                self._found.clear()
            posterior, p_word = self._posterior(word, first, breadth > 0)
            if breadth > 1:
                posterior = (posterior + self.share) / 2
            found = self._found[word, first, breadth] = self._scores(posterior, p_word)
        return found

    def __getstate__(self) -> dict[str, Any]:
        # The kept scores are computed again where they are needed.
        return vars(self) | {"_posteriors": {}, "_found": {}}

    def _scores(self, posterior: np.ndarray, p_word: float) -> tuple[np.ndarray, np.ndarray]:
        where = np.flatnonzero(posterior).astype(np.int32)
        return where, np.log(posterior[where] * p_word / self.share[where])

    def _posterior(self, word: str, first: bool, smoothed: bool) -> tuple[np.ndarray, float]:
        """The values p(t | word) for each state t, and p(word)."""
        x = self.numbers.get(word, -1)
        if x < 0 and first and self.endings:
            x = self.numbers.get(word.lower(), -1)
        if x < 0:
            return self._group(word), self.p_word[-1]
        if self.is_rare[x] or smoothed:
            return _smoothed(self.counts, x, self._group(self.words[x])), self.p_word[x]
        return _dense(self.counts, x) / self.totals[x], self.p_word[x]

    def _group(self, word: str) -> np.ndarray:
        """The values p(t | g) for the smallest known group g of a word."""
        names = [name for name in self._groups(word) if name in self.groups] or [self.usual]
        posterior = None
        for name in names:
            if name not in self._posteriors:
                posterior = _smoothed(self.group_counts, self.groups[name], posterior)
                self._posteriors[name] = np.where(posterior < _LEAST, 0.0, posterior)
            posterior = self._posteriors[name]
        return self._posteriors[names[-1]]

    def _class(self, word: str) -> str:
        return f"{self.class_of(word)}+"

    def _groups(self, word: str) -> Iterator[str]:
        """The names of the groups of a word, the largest first."""
        name = self._class(word)
        yield name
        if self.endings:
            lower = word.lower()
            for length in range(1, min(_LONGEST, len(lower) - 1) + 1):
                yield name + lower[-length:]


def _smoothed(counts: CSR, row: int, larger: np.ndarray | None) -> np.ndarray:
    c = _dense(counts, row)
    if larger is None:
        return c / c.sum()
    mu = np.count_nonzero(c)
    return (c + mu * larger) / (c.sum() + mu)


def _dense(counts: CSR, row: int) -> np.ndarray:
    first, last = counts.indptr[row : row + 2]
    dense = np.zeros(counts.shape[1])
    dense[counts.indices[first:last]] = counts.data[first:last]
    return dense
