"""Checks of the sentences that users give. Tokens are tuples of strings, and the tag is last."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from eigentext.corpus.tokenizers import check_unicode
from eigentext.errors import CorpusError
from eigentext.tagging.features import Sentence

Tagged = tuple[list[Sentence], list[list[str]]]  # sentences without tags, and their tags
PlainSentence = str | Sequence[str | tuple[str, ...]]  # words, or tokens without their tags
TaggedSentence = Sequence[tuple[str, ...]]  # tokens with their tags: (word, …, tag)


def tagged_sentences(tagged: Iterable[TaggedSentence]) -> Tagged:
    """Split tagged sentences into tokens without tags, as tuples, and tags."""
    if isinstance(tagged, str) or not isinstance(tagged, Iterable):
        raise CorpusError("give a list of tagged sentences: lists of (word, …, tag)")
    sentences, tags, width = [], [], 0
    for number, sentence in enumerate(tagged, 1):
        tokens = list(sentence) if isinstance(sentence, Iterable) else [sentence]
        if not tokens:
            raise CorpusError(
                f"sentence {number} is empty and has no tags to learn or to score; leave it out"
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
    """Return the tokens of a sentence without tags as tuples."""
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
