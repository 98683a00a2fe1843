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

With word vectors or clusters of plain text (``plain_text.py``), rare and unseen words have better
evidence than their class. The share P(s | class of x) then becomes

    P(s | x) = P(t | x) (c(mates of x, s) + nu P(s | t)) / (c(mates of x, t) + nu),

where t is the tag of s, P(t | x) comes from spelling and plain text, and the mates of x are the
words of the treebank in the same cluster. Its weight is 2 beta for a rare word. An unseen word
keeps the number of tokens of its class. So q sums to one over the known words and the classes if
plain text and classes agree on average.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eigentext.corpus.policy import BRACKETS, TokenPolicy
from eigentext.grammars.treebank.normal_form import Symbol

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from eigentext.grammars.treebank.plain_text import PlainText, TextTags
    from eigentext.grammars.treebank.text_states import TextStates

_ENDINGS = (  # the first that fits counts
    "ing", "ed", "ion", "ity", "est", "ly", "er", "al", "ous", "ive", "ble", "ment", "ness", "ist",
    "ic", "s", "y",
)  # fmt: skip
_FREQUENT = 30  # words seen more often need no plain text
_TEXT = 2.0  # the weight of plain text, as a multiple of beta
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


def tag_numbers(symbols: Sequence[Symbol]) -> dict[str, int]:
    """The numbers of the tags of some symbols. All inner labels have the tag "", number 0."""
    names = (symbol.chain[-1] for symbol in symbols if symbol.preterminal)
    return {name: k for k, name in enumerate(dict.fromkeys(["", *names]))}


def state_tags(symbols: Sequence[Symbol], n_states: np.ndarray) -> np.ndarray:
    """The tag of the label of each state, as a number. All inner labels have the same number."""
    numbers = tag_numbers(symbols)
    tags = [symbol.chain[-1] if symbol.preterminal else "" for symbol in symbols]
    return np.repeat([numbers[tag] for tag in tags], n_states)


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

    Attributes
    ----------
    text
        What plain text says about the tags of words, or None (:meth:`read_plain_text`).
    """

    text: "TextTags | None" = None

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
        self._is_first = is_first
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

    def read_plain_text(
        self, text: "PlainText", tags: np.ndarray, n_tags: int, gamma: float
    ) -> None:
        """Learn what plain text says about the tags of words, from the tag of each token."""
        from eigentext.grammars.treebank.plain_text import learn_text_tags

        tokens = [self.words[x] for x in self._word.tolist()]
        self.text = learn_text_tags(text, tokens, self._is_first, tags, n_tags, gamma)

    def is_helped(self, x: np.ndarray) -> np.ndarray:
        """Whether plain text may help words: those that are unseen (-1) or not frequent."""
        return (x < 0) | (self.counts[x] <= max(self.rare, _FREQUENT))

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
        of_tag = np.bincount(tag[is_rare], minlength=n_tags)
        share = coo_array((1 / self.counts[self._word], (self._word, tag)), (n_words, n_tags))
        share = share.tocsr()
        in_tag = everywhere / of_tag.clip(min=1)[tags]
        counts = coo_array((posteriors, (word, states)), (n_words, n_states)).tocsr()
        if gamma:
            by_tag = csr_array((in_tag, (tags, np.arange(n_states))))
            counts = (counts + gamma * (share @ by_tag)).tocsr()
        counts.sort_indices()
        once = self.class_of[self.counts == 1]
        unseen = np.maximum(np.bincount(once, minlength=len(self.classes)), 0.5)
        text = None
        if self.text is not None:
            from eigentext.grammars.treebank.text_states import TextStates

            of_all = np.bincount(tag, minlength=n_tags).clip(min=1)[tags]
            in_all = np.bincount(states, posteriors, n_states) / of_all
            in_tag = np.where(of_tag[tags] > 0, in_tag, in_all)  # some tags have no rare words
            text = TextStates.of(self, self.text, counts, tags, in_tag)
        return WordStates(self, counts, classes, unseen, beta, totals, text)


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
    text
        P(s | x) by plain text, which takes the place of P(s | class) for rare and unseen words.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        counts: "csr_array",
        classes: np.ndarray,
        unseen: np.ndarray,
        beta: float,
        totals: np.ndarray | None = None,
        text: "TextStates | None" = None,
    ):
        self.lexicon, self.counts, self.classes, self.unseen = lexicon, counts, classes, unseen
        self.beta, self.text = beta, text
        self.totals = self._totals() if totals is None else totals

    def __call__(self, tokens: Sequence[str]) -> np.ndarray:
        """The q of each token in each state: a row for each token, a column for each state.

        An unseen word at the beginning of a sentence is looked up in lower case first.
        """
        words, kinds = self._numbers(tokens)
        row, by_text = self._by_text(tokens, words)
        rows = np.empty((len(tokens), len(self.totals)))
        for i, (x, k) in enumerate(zip(words, kinds)):
            if row[i] >= 0:
                other, weight = by_text[row[i]], _TEXT * self.beta
            else:
                other, weight = self.classes[k], self.beta
            rows[i] = self.unseen[k] * other if x < 0 else self._smoothed(x, weight * other)
        rows /= self.totals
        return rows

    def at(self, tokens: Sequence[str], position: np.ndarray, state: np.ndarray) -> np.ndarray:
        """``self(tokens)[position, state]``, without computing the rest."""
        from eigentext.grammars.treebank._lexicon_loops import word_scores

        words, kinds = self._numbers(tokens)
        return word_scores(
            words, kinds, position, state, self.counts.indptr, self.counts.indices,
            self.counts.data, self.classes, self.unseen, self.beta, self.totals,
            *self._by_text(tokens, words), _TEXT * self.beta,
        )  # fmt: skip

    def _by_text(self, tokens: Sequence[str], words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of each token in a table of P(s | x) by plain text, or -1; and the table."""
        row = np.full(len(tokens), -1)
        if self.text is None:
            return row, np.empty((0, len(self.totals)))
        helped = np.flatnonzero(self.lexicon.is_helped(words))
        row[helped] = np.arange(len(helped))
        return row, self.text.rows([(tokens[i], i == 0) for i in helped.tolist()])

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

    def _smoothed(self, x: int, row: np.ndarray) -> np.ndarray:
        """c~(x, s): the counts of a word added to a row."""
        first, last = self.counts.indptr[x : x + 2]
        row[self.counts.indices[first:last]] += self.counts.data[first:last]
        return row

    def _totals(self) -> np.ndarray:
        """The sum of c~(x, s) over words and classes, for each state."""
        lexicon = self.lexicon
        weights = np.full(len(lexicon.words), self.beta)
        totals = self.counts.sum(axis=0)
        if self.text is not None:
            helped = np.flatnonzero(lexicon.is_helped(np.arange(len(weights))))
            weights[helped] = 0.0
            words = [lexicon.words[x] for x in helped.tolist()]
            totals = totals + _TEXT * self.beta * self.text.sums(words)
        of_class = np.bincount(lexicon.class_of, weights, len(lexicon.classes))
        totals = totals + (of_class + self.unseen) @ self.classes
        return np.where(totals > 0, totals, 1.0)
