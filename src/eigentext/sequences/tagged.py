"""Tagged sentences as numbers, for the taggers that are hidden Markov models.

A *label* is a tag, or a tag together with the class of its word. Labels have the numbers from 0 to
S - 1. The number S stands before and after each sentence.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus.origins import origin_of_tagged
from eigentext.corpus.schemes import check_tags
from eigentext.corpus.tokenizers import check_unicode
from eigentext.errors import CorpusError
from eigentext.matrices.runs import CSR
from eigentext.sequences.emissions import Classes, class_function

Label = tuple[str, str]  # a tag and a class, which is "" if labels are tags alone


class TaggedText(NamedTuple):
    """Tagged sentences as numbers. There is one entry for each token in `words` and `labels`."""

    vocabulary: list[str]
    names: list[Label]
    words: np.ndarray  # places in the vocabulary
    labels: np.ndarray
    lengths: np.ndarray  # of the sentences
    provenance: dict[str, Any]

    def counts(self) -> CSR:
        """How often each word (row) has each label (column)."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.words), np.int64)
        shape = len(self.vocabulary), len(self.names)
        counts = csr_array((ones, (self.words, self.labels)), shape)
        counts.sum_duplicates()
        return counts

    def grams(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        """The distinct windows of order + 1 labels, and how often each occurs."""
        return grams(self.labels, self.lengths, len(self.names), order)


def read_tagged(
    tagged: Any, scheme: str | None, classes: Classes, joint: bool | None
) -> TaggedText:
    """Read sentences, which are lists of (word, tag) pairs, and check them."""
    if isinstance(tagged, str) or not isinstance(tagged, Iterable):
        raise CorpusError("give a list of tagged sentences: lists of (word, tag) pairs")
    sentences = [columns(sentence, n) for n, sentence in enumerate(tagged, 1)]
    if not sentences:
        raise CorpusError("no tagged sentences to learn from; give lists of (word, tag) pairs")
    for n, (_, tags) in enumerate(sentences, 1):
        if not tags:
            raise CorpusError(
                f"sentence {n}, no tokens: an empty sentence has no tags; leave it out"
            )
        check_tags(tags, scheme, f"sentence {n}, ")
    tokens = list(chain.from_iterable(words for words, _ in sentences))
    tags = list(chain.from_iterable(tags for _, tags in sentences))
    vocabulary, x = numbered(tokens)
    joint = classes == "factor" if joint is None else joint
    class_of = class_function(classes if joint else None)
    kinds, kind = numbered(list(map(class_of, vocabulary)))
    names, tag = numbered(tags)
    check_unicode([*vocabulary, *names], "a word or tag")
    seen, h = np.unique(tag * len(kinds) + kind[x], return_inverse=True)
    labels = [(names[s // len(kinds)], kinds[s % len(kinds)]) for s in seen.tolist()]
    lengths = np.array([len(words) for words, _ in sentences])
    all_words, all_tags = zip(*sentences)
    return TaggedText(vocabulary, labels, x, h, lengths, origin_of_tagged(all_words, all_tags))


def numbered(items: list[str]) -> tuple[list[str], np.ndarray]:
    """The distinct items in order, and for each item its place among them."""
    names = sorted(set(items))
    place = {name: i for i, name in enumerate(names)}
    return names, np.fromiter(map(place.__getitem__, items), np.int64, len(items))


def grams(h: np.ndarray, lengths: np.ndarray, m: int, order: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct windows of order + 1 labels, and how often each occurs.

    The label m stands twice before every sentence and once after it.
    """
    stream = np.full(len(h) + 3 * len(lengths), m)
    is_token = np.ones(len(stream), bool)
    begins = np.cumsum(lengths + 3) - lengths - 3
    is_token[np.concatenate([begins, begins + 1, begins + lengths + 2])] = False
    stream[is_token] = h
    last = 2 + np.flatnonzero(is_token[1:-1] | is_token[2:])  # a token, or the end after one
    sizes = (m + 1,) * (order + 1)
    window = tuple(stream[last - back] for back in range(order, -1, -1))
    codes, times = np.unique(np.ravel_multi_index(window, sizes), return_counts=True)
    return np.stack(np.unravel_index(codes, sizes), axis=1), times


def columns(sentence: Any, number: int | None = None) -> tuple[list[str], list[str]]:
    """The words and the tags of a tagged sentence."""
    where = "" if number is None else f"sentence {number}, "
    tokens = list(sentence) if isinstance(sentence, Iterable) else [sentence]
    for i, token in enumerate(tokens, 1):
        if not (isinstance(token, tuple) and len(token) == 2 and token[0] and token[1]
                and isinstance(token[0], str) and isinstance(token[1], str)):  # fmt: skip
            raise CorpusError(f"{where}token {i}: {token!r} is not a (word, tag) pair of strings")
    return [word for word, _ in tokens], [tag for _, tag in tokens]


def checked_words(sentence: Any, number: int | None) -> list[str]:
    """The words of a sentence, as strings."""
    where = "" if number is None else f"sentence {number}: "
    if not isinstance(sentence, Iterable):
        raise CorpusError(f"{where}{sentence!r} is not a sentence: give a list of words")
    words = list(sentence)
    for i, word in enumerate(words, 1):
        if not isinstance(word, str) or not word:
            raise CorpusError(f"{where}token {i}: {word!r} is not a word: give strings")
    return words
