"""The symbols of a hidden Markov model: words, and one symbol for all rare words."""

from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.symbols import (
    INTEGERS,
    RARE,
    UNKNOWN,
    sequence_ids,
    special_names,
    symbol_ids,
)
from eigentext.sequences._given import Text, Words


class Symbols(NamedTuple):
    """A vocabulary, how its text was read, and whether rare words are the last symbol."""

    vocabulary: Vocabulary
    options: dict[str, Any]
    has_rare: bool

    @property
    def names(self) -> list[str]:
        """The words, and the name of the rare word if it is a symbol."""
        words = self.vocabulary.words
        return words + (special_names(self.vocabulary, RARE) if self.has_rare else [])

    @property
    def are_integers(self) -> bool:
        """Whether the symbols are integers and not words."""
        return self.options.get("tokenizer") == INTEGERS

    def ids(self, sequence: Words) -> np.ndarray:
        """Return the ids of one sequence of symbols."""
        ids = symbol_ids(sequence, self.vocabulary, self.options)
        ids[ids < 0] = len(self.vocabulary) if self.has_rare else UNKNOWN
        return ids

    def all_ids(self, sequences: Text) -> np.ndarray:
        """Return the ids of all sequences, with END after each."""
        ids = sequence_ids(sequences, self.vocabulary, self.options)
        if self.has_rare:
            ids[ids == UNKNOWN] = len(self.vocabulary)
        return ids
