r"""Classes of words: how much does the class of a word say about the class of the next one?

Brown et al. (1992) choose classes that maximize the average mutual information of adjacent classes,

.. math:: I = \sum_{c_1, c_2} p(c_1, c_2) \log \frac{p(c_1, c_2)}{p(c_1)\, p(c_2)} .

The log-likelihood per token of a class bigram is I minus the entropy of single words. So for the
same text and the same number of classes, the classes with the higher I are the better ones, whoever
made them.
"""

import os
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from eigentext.corpus import encode_sequences
from eigentext.corpus.encoded import END
from eigentext.corpus.encodings import UTF8, text_of
from eigentext.corpus.readers import expand_paths, read_lines
from eigentext.errors import CorpusError, ParameterError
from eigentext.moments import NgramMoments

NOTHING_COVERED = (
    "no word of the text is in the clusters; are they of another language, or in lower case?"
)


def average_mutual_information(clusters: Any, tokens: Any) -> float:
    """Return the average mutual information of adjacent classes of a text, in nats.

    Parameters
    ----------
    clusters : WordClusters, ClassBigram, dictionary or path
        Fitted clusters of words, a dictionary from words to classes, or a `paths` file, as
        ``wcluster`` and :meth:`WordClusters.to_tsv` write it. Words in no cluster share one class.
    tokens : text or NgramMoments
        Text, a stream of words or sequences of them, or the counts of pairs in it. The ends of
        units are not counted.

    Examples
    --------
    >>> from eigentext.evaluate import average_mutual_information
    >>> text = "the cat sat the dog sat a cat ran a dog ran".split()
    >>> classes = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}
    >>> round(average_mutual_information(classes, text), 2)
    1.09
    """
    given = class_of_words(clusters)
    if isinstance(tokens, NgramMoments):
        if tokens.order < 2:
            raise ParameterError("moments of order 1 have no pairs; count with order=2 or more")
        words = tokens.vocabulary.words
        C = tokens.levels[0].tocoo()
        first, second, counts = *C.coords, C.data
        inside = (first != tokens.edge) & (second != tokens.edge)
        first, second, counts = first[inside], second[inside], counts[inside]
    else:
        encoded = encode_sequences(tokens)
        words, ids = encoded.words, np.asarray(encoded.tokens)
        inside = (ids[:-1] != END) & (ids[1:] != END)
        first, second = ids[:-1][inside], ids[1:][inside]
        counts = np.ones(len(first), np.int64)
    labels = labels_of(words, given)
    if not (labels >= 0).any():
        raise ParameterError(NOTHING_COVERED)
    rest = labels.max() + 1
    labels = np.append(np.where(labels < 0, rest, labels), rest)  # the last is the rare word
    return float(mutual_information(labels[first], labels[second], counts))


def mutual_information(first: np.ndarray, second: np.ndarray, counts: np.ndarray) -> float:
    """Return the mutual information of two variables, in nats, from counts of pairs of values.

    Examples
    --------
    >>> import numpy as np
    >>> round(mutual_information(np.array([0, 1]), np.array([1, 0]), np.array([5, 5])), 3)
    0.693
    """
    width = np.int64(second.max(initial=0)) + 1
    pairs, place = np.unique(first.astype(np.int64) * width + second, return_inverse=True)
    joint = np.bincount(place, counts)
    total = joint.sum()
    if not total:
        return 0.0
    one, two = np.bincount(first, counts), np.bincount(second, counts)
    a, b = pairs // width, pairs % width
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * (np.log(joint) + np.log(total) - np.log(one[a]) - np.log(two[b]))
    return max(0.0, float(terms[joint > 0].sum() / total))  # rounding may leave -1e-17


def class_of_words(clusters: Any) -> dict[str, Hashable]:
    """Return the class of each word that has one, from any kind of clusters.

    Examples
    --------
    >>> class_of_words({"cat": "01", "dog": "01", "once": ""})
    {'cat': '01', 'dog': '01'}
    """
    if isinstance(clusters, (str, os.PathLike)):
        return dict(_read_paths(clusters))
    if isinstance(clusters, Mapping):
        found = dict(clusters)
        for word, one in found.items():
            if not isinstance(word, str) or not isinstance(one, (str, int, np.integer)):
                raise ParameterError(
                    f"{word!r:.40}: {one!r:.40} is not a word with its class; give a dictionary "
                    "from words to numbers or strings"
                )
    elif hasattr(clusters, "vocabulary_") and hasattr(clusters, "bit_strings_"):
        found = dict(zip(clusters.vocabulary_.words, clusters.bit_strings_))
    elif hasattr(clusters, "vocabulary_") and hasattr(clusters, "classes_"):
        found = dict(zip(clusters.vocabulary_.words, np.asarray(clusters.classes_).tolist()))
    else:
        raise ParameterError(
            f"{type(clusters).__name__} has no clusters; give fitted WordClusters, a dictionary "
            "from words to classes, or a paths file"
        )
    return {word: one for word, one in found.items() if one != "" and one != -1}


def labels_of(words: list[str], given: Mapping[str, Hashable]) -> np.ndarray:
    """Return the number of each word's class, by first occurrence, or -1 if it has none."""
    numbers: dict[Hashable, int] = {}
    found = np.full(len(words), -1, np.int64)
    for place, word in enumerate(words):
        if (one := given.get(word)) is not None:
            found[place] = numbers.setdefault(one, len(numbers))
    return found


def _read_paths(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """The bit string of each word of a paths file: bit string, word and perhaps count."""
    source, *more = expand_paths([path])
    if more:
        raise CorpusError(f"{path}: stands for several files; name one")
    found: dict[str, str] = {}
    for number, line in read_lines(source, UTF8):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        fields = text_of(line, place).removesuffix("\r").split("\t")
        if len(fields) not in (2, 3) or not fields[0] or not fields[1]:
            raise CorpusError(
                f"{place}: not a class, a word and a count, parted by tabs; give a file that "
                "`words cluster` or wcluster wrote"
            )
        if fields[1] in found:
            raise CorpusError(f"{place}: {fields[1][:40]!r} occurs a second time")
        found[fields[1]] = fields[0]
    if not found:
        raise CorpusError(f"{path}: no words; give a file of bit string, word and count")
    return found
