r"""Files of classes, as SRILM reads them: the class, p(w | c) and the word on each line.

With an ARPA file of n-grams of classes they are a class-based language model::

    CLASS-0 0.75 cat
    CLASS-0 0.25 dog
    CLASS-1 1 sat

The probability may be missing: then all words of the class have the same. A class stands for one
word here. SRILM also allows several words, and a word in several classes; such files are refused.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eigentext.corpus.compressed import compressed
from eigentext.corpus.encodings import checked_encoding, text_of
from eigentext.corpus.readers import expand_paths, read_lines
from eigentext.errors import CorpusError
from eigentext.sequences.arpa import check_words
from eigentext.storage.files import replacing

_OFF = 1e-3  # the probabilities of a class may miss 1 by so much, and are then divided by their sum


class ReadClasses(NamedTuple):
    """What a file of classes holds."""

    words: list[str]
    classes: np.ndarray
    probabilities: np.ndarray


def write_classes(
    path: str | os.PathLike[str], names: Sequence[str], rows: Iterable[tuple[int, float, str]]
) -> None:
    """Write the class, p(w | c) and the word of each row, sorted by class and probability."""
    rows = sorted(rows, key=lambda row: (row[0], -row[1]))
    check_words([word for _, _, word in rows])
    path = Path(path)
    with replacing(path) as temporary, compressed(temporary, path) as file:
        file.write("".join(f"{names[c]} {p!r} {word}\n" for c, p, word in rows).encode())


def read_classes(
    path: str | os.PathLike[str], names: Sequence[str], *, encoding: str = "utf-8"
) -> ReadClasses:
    """Read a file of classes for n-grams of these names. Errors name the file and the line.

    A name that is no class of the file is a word that stands for itself.
    """
    source, *more = expand_paths([path])
    if more:
        raise CorpusError(f"{path}: stands for several files; name one")
    numbers = {name: k for k, name in enumerate(names)}
    words: dict[str, tuple[int, float]] = {}
    for number, line in read_lines(source, checked_encoding(encoding)):
        place = f"{path}, line {number}"
        fields = text_of(line, place).split()
        if not fields:
            continue
        if fields[0] not in numbers:
            raise CorpusError(f"{place}: the class {fields[0][:40]!r} is not in the ARPA file")
        p = _number(fields[1]) if len(fields) == 3 else np.nan
        if len(fields) not in (2, 3) or (len(fields) == 3 and not 0 <= p <= 1 + _OFF):
            raise CorpusError(
                f"{place}: not a class, a probability and one word; classes of several words "
                "cannot be read"
            )
        if fields[-1] in words:
            raise CorpusError(
                f"{place}: {fields[-1][:40]!r} occurs a second time; a word has one class here"
            )
        words[fields[-1]] = numbers[fields[0]], p
    alone = set(numbers.values()) - {k for k, _ in words.values()}
    for name, k in numbers.items():
        if k in alone:
            if name in words:
                raise CorpusError(f"{path}: {name[:40]!r} is a word of a class, and an n-gram")
            words[name] = k, 1.0
    classes = np.array([k for k, _ in words.values()], np.int32)
    return ReadClasses(
        list(words), classes, _probabilities(path, names, classes, [p for _, p in words.values()])
    )


def _probabilities(
    path: str | os.PathLike[str], names: Sequence[str], classes: np.ndarray, given: list[float]
) -> np.ndarray:
    p = np.array(given)
    K = len(names)
    lacks = np.bincount(classes, np.isnan(p), K)
    size = np.bincount(classes, minlength=K)
    if (mixed := np.flatnonzero((lacks > 0) & (lacks < size))).size:
        raise CorpusError(f"{path}: some words of {names[mixed[0]]} have no probability")
    p = np.where(np.isnan(p), 1 / size[classes], p)
    sums = np.bincount(classes, p, K)
    if (wrong := np.flatnonzero(np.abs(sums - 1) > _OFF)).size:
        raise CorpusError(
            f"{path}: the probabilities of {names[wrong[0]]} add up to {sums[wrong[0]]:.4g}, not "
            "to 1; lines are missing, so write the file again"
        )
    exact = np.abs(sums - 1) < 1e-12  # nothing to repair, so the numbers stay as they are
    return np.where(exact[classes], p, p / sums[classes])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
