"""Sentences as they come in and go out: tokens are tuples of strings, the tag is the last."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from eigentext.corpus.tokenizers import check_unicode
from eigentext.errors import CorpusError
from eigentext.tagging.features import Sentence

Tagged = tuple[list[Sentence], list[list[str]]]


def tagged_sentences(tagged: Any) -> Tagged:
    """The tokens of tagged sentences, as tuples without tags, and the tags."""
    if isinstance(tagged, str) or not isinstance(tagged, Iterable):
        raise CorpusError("give a list of tagged sentences: lists of (word, …, tag)")
    sentences, tags, width = [], [], 0
    for number, sentence in enumerate(tagged, 1):
        tokens = list(sentence) if isinstance(sentence, Iterable) else [sentence]
        if not tokens:
            raise CorpusError(
                f"sentence {number} is empty: it has no tags to learn or to score; leave it out"
            )
        width = width or (len(tokens[0]) if isinstance(tokens[0], (tuple, list)) else 2)
        for i, token in enumerate(tokens, 1):
            if not (isinstance(token, (tuple, list)) and len(token) == width >= 2
                    and all(isinstance(part, str) and part for part in token)):  # fmt: skip
                raise CorpusError(
                    f"sentence {number}, token {i}: {token!r:.80} is not a tuple of "
                    f"{max(width, 2)} strings, the word first and the tag last"
                )
        check_unicode(chain.from_iterable(tokens), f"sentence {number}")
        sentences.append([tuple(token[:-1]) for token in tokens])
        tags.append([token[-1] for token in tokens])
    if not sentences:
        raise CorpusError("no tagged sentences; give lists of (word, …, tag)")
    return sentences, tags


def plain_sentence(sentence: Any, columns: Sequence[str], number: int) -> Sentence:
    """The tokens of a sentence without tags, as tuples."""
    width = len(columns)
    if isinstance(sentence, str):
        sentence = sentence.split()
    tokens = list(sentence) if isinstance(sentence, Iterable) else [sentence]
    if width == 1:
        tokens = [(token,) if isinstance(token, str) else token for token in tokens]
    for i, token in enumerate(tokens, 1):
        if not (isinstance(token, (tuple, list)) and len(token) == width
                and all(isinstance(part, str) and part for part in token)):  # fmt: skip
            what = "a word" if width == 1 else f"a tuple of {', '.join(columns)}"
            raise CorpusError(
                f"sentence {number}, token {i}: {token!r:.80} is not {what}, as this tagger needs"
            )
    return [tuple(token) for token in tokens]


def joined(sentences: list[Sentence], tags: list[list[str]]) -> list[list[tuple[str, ...]]]:
    """Tagged sentences again."""
    return [[(*t, y) for t, y in zip(one, labels)] for one, labels in zip(sentences, tags)]


def numbered_tags(tags: list[str], also: Iterable[str] = ()) -> tuple[list[str], np.ndarray]:
    """The distinct ones, and those besides, in order; and the place of each among them."""
    names = sorted({*tags, *also})
    place = {name: i for i, name in enumerate(names)}
    return names, np.fromiter(map(place.__getitem__, tags), np.int32, len(tags))
