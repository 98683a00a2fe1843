"""Read the files that word vectors are scored on: pairs of words with scores, and analogies.

TABs, semicolons, commas or blanks separate the columns. Empty lines, lines that begin with ``#``
and one line of column titles are skipped. Files may be compressed (.gz, .xz, ...), and may begin
with a byte order mark.
"""

import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeVar

from eigentext.corpus.encodings import UTF8, checked_encoding, text_of
from eigentext.corpus.readers import expand_paths, read_lines
from eigentext.errors import CorpusError, ParameterError

Source = str | os.PathLike[str]
Half = Literal["dev", "test"]
_SEPARATORS = ("\t", ";", ",", None)  # None: any run of blanks
_MOST = 4  # the most cuts of a line
_PART_OF_SPEECH = re.compile("[A-Z]")  # stands before the score in SimLex and SimVerb
_TITLE = re.compile(r"[a-d]['*]?|(word|term|w)?[ _-]?[1-4]|query|target|expected|answer", re.I)


class Pair(NamedTuple):
    """Two words, and the score of their similarity (or relatedness) that people gave."""

    a: str
    b: str
    score: float


class Question(NamedTuple):
    """An analogy: a is to b as c is to d."""

    a: str
    b: str
    c: str
    d: str
    section: str = ""


Item = TypeVar("Item", bound=tuple)


def read_pairs(path: Source, *, encoding: str = UTF8) -> list[Pair]:
    """Return the pairs of a file such as WordSim-353, MEN, Rare Words or SimLex-999.

    A line is two words and their score. A part of speech (one capital letter) may stand before the
    score. Columns after the score are ignored.
    """
    pairs: list[Pair] = []
    for number, line in (lines := _lines(path, encoding)):
        columns = _columns(line, 3)
        place = f"{path}, line {number}"
        if len(columns) < 3 or not (columns[0] and columns[1]):
            raise CorpusError(
                f"{place}: {line[:80]!r} is not two words and a score; correct or delete it"
            )
        tagged = len(columns) > 3 and _PART_OF_SPEECH.fullmatch(columns[2])
        given = columns[3 if tagged else 2]
        try:
            score = float(given)
        except ValueError:
            if number == lines.first and not any(map(str.isdigit, columns[2])):
                continue  # the titles of the columns
            raise CorpusError(
                f"{place}: the score {given[:40]!r} is not a number; write one, such as 6.5"
            ) from None
        if not math.isfinite(score):
            raise CorpusError(
                f"{place}: the score is {given[:40]}; give a number or delete the line"
            )
        pairs.append(Pair(columns[0], columns[1], score))
    if not pairs:
        raise CorpusError(f"{path} has no pairs; each line should be two words and a score")
    return pairs


def read_questions(path: Source, *, encoding: str = UTF8) -> list[Question]:
    """Return the questions of a file such as Google's or MSR's analogies.

    A line is four words. A line that begins with a colon is the name of the section that follows.
    """
    questions: list[Question] = []
    section = ""
    for number, line in (lines := _lines(path, encoding)):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        columns = _columns(line, 4)
        if len(columns) != 4 or not all(columns):
            raise CorpusError(
                f"{path}, line {number}: {line[:80]!r} is not four words; correct or delete it "
                "(a section's name begins with ':', a comment with '#')"
            )
        if number == lines.first and all(map(_TITLE.fullmatch, columns)):
            continue
        a, b, c, d = columns
        questions.append(Question(a, b, c, d, section))
    if not questions:
        raise CorpusError(f"{path} has no questions; each line should be four words")
    return questions


def kind_of(path: Source, *, encoding: str = UTF8) -> Literal["pairs", "questions"]:
    """Return what a file contains. The first two lines decide; one of them may be titles."""
    top = [line for _, (_, line) in zip(range(2), _lines(path, encoding))]
    if top and top[0].startswith(":"):
        return "questions"
    four_words = [
        len(columns) == 4 and not any(map(_is_number, columns[2:]))
        for columns in (_columns(line, 4) for line in top if not line.startswith(":"))
    ]
    return "questions" if four_words and all(four_words) else "pairs"


def half(items: Iterable[Item], which: Half) -> list[Item]:
    """Return one of two halves of pairs or questions. Choose settings on "dev", report on "test".

    A hash of the words decides. The order of the file and the scores do not matter.

    Examples
    --------
    >>> from eigentext.evaluate import half
    >>> pairs = [("cat", "dog", 7.0), ("cup", "tea", 6.0), ("sun", "ham", 1.0), ("a", "b", 0.5)]
    >>> len(half(pairs, "dev")) + len(half(pairs, "test"))
    4
    """
    if which not in ("dev", "test"):
        raise ParameterError(f"half must be 'dev' or 'test', not {which!r}")
    return [item for item in items if _half_of(item) == which]


def _half_of(item: tuple) -> Half:
    words = "\t".join(item[:2] if len(item) == 3 else item[:4])
    # A checksum such as CRC would put words that differ in a letter or two into one half.
    digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()
    return "test" if digest[0] & 1 else "dev"


class _lines:  # noqa: N801 - used like a function
    """Iterate over the numbers and texts of lines that are not empty and not comments.

    `first` is the number of the first of these lines.
    """

    def __init__(self, path: Source, encoding: str):
        self.encoding = checked_encoding(encoding)
        paths = expand_paths([path])
        if len(paths) > 1:
            raise CorpusError(f"{path}: matches {len(paths)} files; name one")
        self.path = paths[0]
        self.first = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for number, data in read_lines(self.path, self.encoding):
            line = text_of(data, f"{self.path}, line {number}").strip()
            if line and not line.startswith("#"):
                self.first = self.first or number
                yield number, line


def _columns(line: str, least: int) -> list[str]:
    """Cut a line at the first kind of separator that gives enough columns, or else at blanks.

    There are at most five columns. The fifth is the rest of the line, and is not used.
    """
    columns: list[str] = []
    for separator in _SEPARATORS:
        columns = [column.strip() for column in line.split(separator, _MOST)]
        if len(columns) >= least:
            break
    return columns


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
