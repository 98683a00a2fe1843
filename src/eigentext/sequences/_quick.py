"""Ids of words in lists, without the way through a corpus that other text takes.

A program that scores one sentence after the other makes a call for each. Reading a corpus takes a
few hundred microseconds, however short it is. This takes a few.
"""

from itertools import chain
from typing import Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import INTEGERS, UNKNOWN
from eigentext.corpus.vocabulary import as_asked


def sentence_ids(tokens: Any, vocabulary: Vocabulary, options: dict[str, Any]) -> np.ndarray | None:
    """Return the ids of one list of words and `END`, or None if `tokens` is something else.

    The same as :func:`eigentext.corpus.symbols.sequence_ids`, which also takes everything else and
    says what is wrong with it.
    """
    if type(tokens) is not list or not tokens or options.get("tokenizer") == INTEGERS:
        return None
    if set(map(type, tokens)) != {str} or any(map(str.isspace, tokens[0])):
        return None
    ids = np.empty(len(tokens) + 1, np.int32)
    ids[-1] = END
    found = _ids(tokens, vocabulary, options)
    if found is None:
        return None
    ids[:-1] = found
    return ids


def sentences_ids(
    tokens: Any, vocabulary: Vocabulary, options: dict[str, Any]
) -> np.ndarray | None:
    """Return the ids of lists of words, each with `END` after it, or None for something else."""
    if type(tokens) is not list or not tokens or options.get("tokenizer") == INTEGERS:
        return None
    if set(map(type, tokens)) != {list}:
        return None
    words = list(chain.from_iterable(tokens))
    if set(map(type, words)) != {str}:
        return None
    found = _ids(words, vocabulary, options)
    if found is None:
        return None
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    ids = np.full(len(words) + len(tokens), END, np.int32)
    ends = np.cumsum(lengths + 1) - 1
    is_word = np.ones(len(ids), bool)
    is_word[ends] = False
    ids[is_word] = found
    return ids


def _ids(words: list[str], vocabulary: Vocabulary, options: dict[str, Any]) -> np.ndarray | None:
    if options.get("lowercase"):
        words = as_asked(words, options)
    found = vocabulary.ids_of(words, UNKNOWN)
    if UNKNOWN in found:  # perhaps it is no valid Unicode, which others tell
        try:
            "".join(words).encode()
        except UnicodeEncodeError:
            return None
    return found
