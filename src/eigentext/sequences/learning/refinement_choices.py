"""What goes into learning a refinement HMM: numbers of states, and words in features."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eigentext.errors import ParameterError
from eigentext.sequences.emissions import Classes, class_function
from eigentext.sequences.learning.refinement import Projections
from eigentext.sequences.tagged import TaggedText

OTHERS = "*"  # in a mapping of tags to numbers of states
_FREQUENT = 5  # words that occur less often are seen by their endings, in features
_ENDING = 2  # letters of such an ending
_SHOWN = 5  # labels whose singular values are in the diagnostics


def wanted_states(given: int | Mapping[str, int], tags: list[str]) -> np.ndarray:
    """The number of states that is wanted for each tag.

    Examples
    --------
    >>> wanted_states({"N": 4, "*": 2}, ["D", "N"]).tolist()
    [2, 4]
    """
    if not isinstance(given, Mapping):
        return np.full(len(tags), given)
    if unknown := [tag for tag in given if tag not in tags and tag != OTHERS]:
        raise ParameterError(
            f"n_states has the tag {unknown[0]!r:.80}, which no training sentence has; "
            f"the tags are {', '.join(sorted(set(tags)))}"
        )
    others = given.get(OTHERS, 1)
    return np.array([given.get(tag, others) for tag in tags])


def feature_codes(text: TaggedText, classes: Classes) -> np.ndarray:
    """What stands for each word in features: the word, or its class and ending if it is rare."""
    class_of, has_endings = class_function(classes), classes == "shape"
    counts = np.bincount(text.words, minlength=len(text.vocabulary))
    groups: dict[str, int] = {}
    codes = np.arange(len(counts))
    for x in np.flatnonzero(counts < _FREQUENT).tolist():
        word = text.vocabulary[x]
        name = f"{class_of(word)}+{word.lower()[-_ENDING:] if has_endings else ''}"
        codes[x] = len(counts) + groups.setdefault(name, len(groups))
    return np.unique(codes, return_inverse=True)[1]


def spectra(text: TaggedText, found: Projections) -> dict[str, Any]:
    """For diagnostics: the singular values of the most frequent labels."""
    counts = np.bincount(text.labels, minlength=len(text.names))
    shown = np.argsort(-counts, kind="stable")[:_SHOWN].tolist()
    return {
        "singular_values": {
            "|".join(filter(None, text.names[a])): found.singular_values[a].round(4).tolist()
            for a in shown
        }
    }
