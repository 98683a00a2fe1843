"""Words and their states: q(a -> x | a, h), for rare and unseen words too.

With a small treebank, one word in ten of new text is unseen, and one in four was seen five times or
less. So the *form* of a word matters. Every word belongs to a class by its capitals, digits, dashes
and ending, as in the Stanford and Berkeley parsers. Rare words of the same class share their
statistics.

Let c(x, s) be the expected number of tokens of word x in state s (a preterminal and its hidden
state), and P(s | k) the share of state s among the rare tokens of class k. A word then has

    c~(x, s) = c(x, s) + gamma P(tag of s | x) P(s | tag of s) + beta P(s | class of x)

tokens. The middle term is for joint labels: a noun seen as NN may also form a noun phrase by
itself, NP+NN, as often as other nouns do. A class is a terminal too. It stands for its unseen
words, and has as many tokens as it has words that were seen once. Then

    q(a -> x | a, h) = c~(x, s) / sum over words and classes x' of c~(x', s),

which sums to one over the known words and the classes.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eigentext.corpus.policy import BRACKETS, TokenPolicy

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ENDINGS = (  # the first that fits counts
    "ing", "ed", "ion", "ity", "est", "ly", "er", "al", "ous", "ive", "ble", "ment", "ness", "ist",
    "ic", "s", "y",
)  # fmt: skip
_NAMES = {name: sign for sign, name in BRACKETS.items()}
_BRACKET = re.compile(r"[()\[\]{}]")


def word_class(word: str, first: bool) -> str:
    """The class of a word by its form. A capital says little on the `first` word of a sentence.

    Examples
    --------
    >>> word_class("Walking", first=False), word_class("Walking", first=True)
    ('C+ing', 'F+ing')
    >>> word_class("1,234.5", first=False), word_class("mid-1980s", first=False)
    ('0.', '#-+s')
    """
    letters = [c for c in word if c.isalpha()]
    shape = ""
    if any(c.isdigit() for c in word):
        shape += "#" if letters else "0"
    if len(letters) > 1 and all(c.isupper() for c in letters):
        shape += "A"
    elif word[:1].isupper():
        shape += "F" if first else "C"
    elif any(c.isupper() for c in letters):
        shape += "m"
    shape += "-" * ("-" in word) + "." * ("." in word)
    lower = word.lower()
    for ending in _ENDINGS if letters else ():
        if lower.endswith(ending) and len(lower) > len(ending) + 1:
            if ending == "s" and lower[-2] in "sui":
                continue
            return f"{shape}+{ending}"
    return shape


def _other_bracket(word: str) -> str:
    """The word with -LRB- and the like for brackets, or a bracket for such a name."""
    return _NAMES[word] if word in _NAMES else _BRACKET.sub(lambda one: BRACKETS[one[0]], word)


class Lexicon:
    """The words of a treebank and their classes, from which it learns the states of words.

    Parameters
    ----------
    tokens
        The words of all sentences, one sentence after another.
    is_first
        Whether each begins its sentence.
    rare
        Words seen at most this often are rare.
    """

    def __init__(self, tokens: Sequence[str], is_first: np.ndarray, rare: int):
        counts = Counter(tokens)
        self.words = sorted(counts, key=lambda word: (-counts[word], word))
        self.counts = np.array([counts[word] for word in self.words], np.int64)
        self.numbers = {word: x for x, word in enumerate(self.words)}
        self.rare = rare
        places = list(zip(tokens, is_first.tolist()))
        class_of = {place: word_class(*place) for place in set(places)}
        token_class = [class_of[place] for place in places]
        self.classes = sorted({k for w, k in zip(tokens, token_class) if counts[w] <= rare} | {""})
        self._class_numbers = {name: k for k, name in enumerate(self.classes)}
        self._word = np.array([self.numbers[w] for w in tokens], np.int64)
        self._class = np.array([self.class_number(k) for k in token_class], np.int64)
        # The class of a word is that of most of its tokens; with equal counts, the first.
        pairs, times = np.unique(self._word * len(self.classes) + self._class, return_counts=True)
        order = np.lexsort((pairs, -times, pairs // len(self.classes)))
        pairs = pairs[order]
        firsts = np.flatnonzero(np.diff(pairs // len(self.classes), prepend=-1))
        self.class_of = pairs[firsts] % len(self.classes)

    @classmethod
    def from_saved(
        cls, words: list[str], counts: np.ndarray, class_of: np.ndarray, classes: list[str],
        rare: int,
    ) -> "Lexicon":  # fmt: skip
        """A lexicon that only looks words up, without the tokens that it was made from."""
        self = cls((), np.empty(0, bool), rare)
        self.words, self.counts, self.class_of, self.classes = words, counts, class_of, classes
        self.numbers = {word: x for x, word in enumerate(words)}
        self._class_numbers = {name: k for k, name in enumerate(classes)}
        return self

    def policy(self) -> TokenPolicy:
        """How raw text becomes tokens like these."""
        return TokenPolicy.of(dict(zip(self.words, self.counts.tolist())))

    def class_number(self, name: str) -> int:
        """The number of a class; if it has no rare words, that of a plainer class."""
        while name not in self._class_numbers:
            head, plus, _ = name.rpartition("+")
            name = head if plus else name[:-1]
        return self._class_numbers[name]

    def terminals(self) -> np.ndarray:
        """The terminal of each token for EM: a frequent word, or the class of a rare one.

        Classes are numbered after the words.
        """
        rare = self.counts[self._word] <= self.rare
        return np.where(rare, len(self.words) + self._class, self._word)

    def learn(
        self,
        posteriors: np.ndarray,
        states: np.ndarray,
        sizes: np.ndarray,
        tags: np.ndarray,
        *,
        beta: float = 1.0,
        gamma: float = 3.0,
        totals: np.ndarray | None = None,
    ) -> "WordStates":
        """Learn the states of words from the posteriors of the states of leaves.

        Parameters
        ----------
        posteriors, states, sizes
            `sizes` is the number of possible states of each token, in order. `states` and
            `posteriors` are these states and their probabilities, one token after another.
        tags
            The tag of each state, a number.
        beta, gamma
            The weight, in tokens, of the class and of the tags of a word.
        totals
            What c~ is divided by, for each state. The default is its sum. The Z(o) of spectral
            learning need not sum to one; for them it is the total of the label of the state.
        """
        from scipy.sparse import coo_array, csr_array

        n_states, n_words, n_tags = len(tags), len(self.words), int(tags.max()) + 1
        is_rare = self.counts[self._word] <= self.rare
        if not is_rare.any():  # then use all words
            is_rare[:] = True
        word, kind, rare = (np.repeat(a, sizes) for a in (self._word, self._class, is_rare))
        tag = tags[states[np.cumsum(sizes) - sizes]]
        classes = coo_array(
            (posteriors[rare], (kind[rare], states[rare])), (len(self.classes), n_states)
        ).toarray()
        everywhere = classes.sum(axis=0)
        of_class = np.bincount(self._class[is_rare], minlength=len(self.classes))
        classes[of_class == 0] = everywhere
        classes /= np.where(of_class, of_class, is_rare.sum())[:, None]
        of_tag = np.bincount(tag[is_rare], minlength=n_tags).clip(min=1)
        share = coo_array((1 / self.counts[self._word], (self._word, tag)), (n_words, n_tags))
        in_tag = csr_array((everywhere / of_tag[tags], (tags, np.arange(n_states))))
        counts = coo_array((posteriors, (word, states)), (n_words, n_states)).tocsr()
        if gamma:
            counts = (counts + gamma * (share.tocsr() @ in_tag)).tocsr()
        counts.sort_indices()
        once = self.class_of[self.counts == 1]
        unseen = np.maximum(np.bincount(once, minlength=len(self.classes)), 0.5)
        return WordStates(self, counts, classes, unseen, beta, totals)


class WordStates:
    """q(a -> x | a, h) for every word, in the states of one grammar.

    Parameters
    ----------
    lexicon
        The words.
    counts : sparse array, words by states
        The first two terms of c~(x, s).
    classes : array, classes by states
        P(s | class)
    unseen
        The number of tokens of each class as a terminal.
    beta
        The weight of the third term.
    totals
        What c~(x, s) is divided by; its sum over words and classes by default.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        counts: "csr_array",
        classes: np.ndarray,
        unseen: np.ndarray,
        beta: float,
        totals: np.ndarray | None = None,
    ):
        self.lexicon, self.counts, self.classes, self.unseen = lexicon, counts, classes, unseen
        self.beta = beta
        self.totals = self._totals() if totals is None else totals

    def __call__(self, tokens: Sequence[str]) -> np.ndarray:
        """The q of each token in each state: a row for each token, a column for each state.

        An unseen word at the beginning of a sentence is looked up in lower case first.
        """
        rows = np.empty((len(tokens), len(self.totals)))
        for i, (x, k) in enumerate(zip(*self._numbers(tokens))):
            rows[i] = self._smoothed(x) if x >= 0 else self.unseen[k] * self.classes[k]
        rows /= self.totals
        return rows

    def at(self, tokens: Sequence[str], position: np.ndarray, state: np.ndarray) -> np.ndarray:
        """``self(tokens)[position, state]``, without computing the rest."""
        from eigentext.grammars.treebank._lexicon_loops import word_scores

        return word_scores(
            *self._numbers(tokens), position, state, self.counts.indptr, self.counts.indices,
            self.counts.data, self.classes, self.unseen, self.beta, self.totals,
        )  # fmt: skip

    def _numbers(self, tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The number of each word, -1 for an unseen one, and the number of its class."""
        lexicon = self.lexicon
        words = [
            lexicon.numbers.get(token, lexicon.numbers.get(_other_bracket(token), -1))
            for token in tokens
        ]
        if words and words[0] < 0:
            words[0] = lexicon.numbers.get(tokens[0].lower(), -1)
        kinds = [
            lexicon.class_of[x] if x >= 0 else lexicon.class_number(word_class(token, i == 0))
            for i, (x, token) in enumerate(zip(words, tokens))
        ]
        return np.array(words, np.int64), np.array(kinds, np.int64)

    def _smoothed(self, x: int) -> np.ndarray:
        """c~(x, s)."""
        first, last = self.counts.indptr[x : x + 2]
        row = self.beta * self.classes[self.lexicon.class_of[x]]
        row[self.counts.indices[first:last]] += self.counts.data[first:last]
        return row

    def _totals(self) -> np.ndarray:
        """The sum of c~(x, s) over words and classes, for each state."""
        lexicon = self.lexicon
        of_class = np.bincount(lexicon.class_of, minlength=len(lexicon.classes))
        totals = self.counts.sum(axis=0) + (self.beta * of_class + self.unseen) @ self.classes
        return np.where(totals > 0, totals, 1.0)
