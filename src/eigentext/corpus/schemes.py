"""Schemes of chunk tags: how spans of tokens, each with a type X, are written as a tag a token.

========= ==================================================================================
scheme    tags
========= ==================================================================================
``bio``   B-X begins a chunk, I-X goes on with one, O is outside of all (also called IOB2)
``bilou`` so too, but L-X ends a chunk of several tokens, and U-X is a whole one
IOBES     the same as ``bilou`` with E- for L- and S- for U-
IOB1      as ``bio``, but B-X stands only where a chunk of the same type ends just before
========= ==================================================================================

What a sequence that breaks its scheme means is settled by the rules of conlleval, the program of
the CoNLL tasks: I-X after O, or after a chunk of another type, begins a chunk. They read all of the
above, so that whatever rewrites tags here takes any of them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from eigentext.errors import CorpusError, ParameterError

Span = tuple[str, int, int]
OUTSIDE = "O"
_TAGS = {"bio": re.compile(r"O|[BI]-.+"), "bilou": re.compile(r"O|[BILU]-.+")}
_ANY_TAG = re.compile(r"O|[BILUES]-.+")
_PREFIXES = frozenset("OBILUES")
_LETTERS = {"bio": "BBII", "bilou": "UBIL"}  # of a whole chunk, its first, middle and last token
_REMEDIES = {
    "bio": "begin every chunk with B- (corpus.iob1_to_bio does)",
    "bilou": "begin every chunk with B-, end it with L- or make it one U- (corpus.to_bilou does)",
}


# What a scheme allows.


def is_chunk_tags(tags: Iterable[Any]) -> bool:
    """Whether all are tags of chunks: O, or B-, I-, L-, U-, E- or S- and a type.

    Examples
    --------
    >>> is_chunk_tags(["B-NP", "I-NP", "O"]), is_chunk_tags(["DT", "NN", "O"])
    (True, False)
    """
    return all(isinstance(tag, str) and _ANY_TAG.fullmatch(tag) for tag in set(tags))


def allowed(tags: Sequence[str], scheme: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which tag may begin a sentence, which may follow which, and which may end one.

    Returns
    -------
    start : array of bool, shape (m,)
    transition : array of bool, shape (m, m)
        From a tag (row) to another.
    end : array of bool, shape (m,)

    Raises
    ------
    CorpusError
        If one is no tag of the scheme.

    Examples
    --------
    >>> start, transition, end = allowed(["O", "B-X", "I-X"], "bio")
    >>> start.tolist(), end.tolist()
    ([True, True, False], [True, True, True])
    >>> transition[0].tolist(), transition[1].tolist()
    ([True, True, False], [True, True, True])
    """
    check_name(scheme)
    m = len(tags)
    if scheme is None:
        return np.ones(m, bool), np.ones((m, m), bool), np.ones(m, bool)
    for i, tag in enumerate(tags, start=1):
        if not _is_known(tag, scheme):
            raise CorpusError(f"tag {i}: {_unknown(tag, scheme)}")
    edged = [OUTSIDE, *tags]  # what is before a sentence and after it is outside of all chunks
    fits = np.array([[_fits(before, tag, scheme) for tag in edged] for before in edged])
    return fits[0, 1:], fits[1:, 1:], fits[1:, 0]


def find_misfit(tags: Sequence[Any], scheme: str | None) -> tuple[int, str, Any] | None:
    """The first place where a sentence breaks the scheme, the tag before it, and the one there.

    The tags before a sentence and after it are O; the place of the latter is ``len(tags)``.

    Examples
    --------
    >>> find_misfit(["B-X", "I-X", "I-Y"], "bio")
    (2, 'I-X', 'I-Y')
    >>> find_misfit(["O", "B-X"], "bilou")
    (2, 'B-X', 'O')
    >>> find_misfit(["O", "B-X"], "bio") is None
    True
    """
    check_name(scheme)
    if scheme is None:
        return None
    for i, (before, tag) in enumerate(zip([OUTSIDE, *tags], [*tags, OUTSIDE])):
        if not _fits(before, tag, scheme):
            return i, before, tag
    return None


def check_tags(tags: Sequence[Any], scheme: str | None, where: str = "") -> None:
    """Raise if a sentence breaks the scheme; `where` begins the message, as in "sentence 3, ".

    Examples
    --------
    >>> check_tags(["B-X", "I-X", "O"], "bio")
    """
    misfit = find_misfit(tags, scheme)
    if misfit is None or scheme is None:
        return
    place, before, tag = misfit
    if not _is_known(tag, scheme):
        raise CorpusError(f"{where}token {place + 1}: {_unknown(tag, scheme)}")
    what = "the end" if place == len(tags) else tag
    raise CorpusError(
        f"{where}token {place + 1}: {what} after {before} breaks the scheme {scheme!r}; "
        f"{_REMEDIES[scheme]}, or use scheme=None"
    )


def check_name(scheme: Any) -> None:
    """Raise unless it is a scheme known here."""
    if scheme not in ("bio", "bilou", None):
        raise ParameterError(f"scheme must be 'bio', 'bilou' or None, not {scheme!r}")


@lru_cache(maxsize=1 << 16)
def _fits(before: str, tag: Any, scheme: str) -> bool:
    """Whether a tag may follow one that is known."""
    if not _is_known(tag, scheme):
        return False
    is_open = before[0] in "BI"
    if tag[0] in "IL":
        return is_open and before[1:] == tag[1:]
    return scheme == "bio" or not is_open


def _is_known(tag: Any, scheme: str) -> bool:
    return isinstance(tag, str) and bool(_TAGS[scheme].fullmatch(tag))


def _unknown(tag: Any, scheme: str) -> str:
    known = "B-X, I-X or O" if scheme == "bio" else "B-X, I-X, L-X, U-X or O"
    return f"{tag!r} is no tag of the scheme {scheme!r}: give {known}, or use scheme=None"


# From one to another.


def to_bilou(tags: Sequence[str]) -> list[str]:
    """The chunks of a sentence as B-, I-, L-, U- and O, whatever scheme its tags keep or break.

    Examples
    --------
    >>> to_bilou(["B-X", "B-Y", "I-Y", "I-Y", "O"])
    ['U-X', 'B-Y', 'I-Y', 'L-Y', 'O']
    """
    return _rewritten(tags, "bilou")


def from_bilou(tags: Sequence[str]) -> list[str]:
    """The chunks of a sentence as B-, I- and O, whatever scheme its tags keep or break.

    Examples
    --------
    >>> from_bilou(["U-X", "B-Y", "I-Y", "L-Y", "L-Y"])
    ['B-X', 'B-Y', 'I-Y', 'I-Y', 'B-Y']
    """
    return _rewritten(tags, "bio")


def iob1_to_bio(tags: Sequence[str]) -> list[str]:
    """The same from IOB1, which the files of CoNLL-2003 have; BIO stays as it is.

    Examples
    --------
    >>> iob1_to_bio(["I-X", "I-X", "B-X", "I-Y", "O", "I-Y"])
    ['B-X', 'I-X', 'B-X', 'B-Y', 'O', 'B-Y']
    """
    return _rewritten(tags, "bio")


def spans(tags: Sequence[str]) -> list[Span]:
    """The chunks of a sentence, as (type, start, end): tokens ``start`` to ``end - 1``.

    Examples
    --------
    >>> spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"])
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5)]
    """
    found: list[Span] = []
    kind, start, is_over = None, 0, False  # the open chunk, and whether its last token ended it
    for i, tag in enumerate(tags):
        prefix, _, name = tag.partition("-") if isinstance(tag, str) else ("", "", "")
        if prefix not in _PREFIXES or (prefix == OUTSIDE and name):
            raise CorpusError(f"token {i + 1}: {tag!r} is no tag of chunks: give B-X, I-X or O")
        new = None if prefix == OUTSIDE else name
        if kind is not None and (is_over or new != kind or prefix in "BUS"):
            found.append((kind, start, i))
            kind = None
        if kind is None:
            kind, start = new, i
        is_over = prefix in "LUES"
    return found if kind is None else [*found, (kind, start, len(tags))]


def _rewritten(tags: Sequence[str], scheme: str) -> list[str]:
    whole, first, middle, last = _LETTERS[scheme]
    written = [OUTSIDE] * len(tags)
    for kind, start, end in spans(tags):
        if not kind:
            raise CorpusError(f"token {start + 1}: {tags[start]!r} has no type: give B-X, I-X or O")
        written[start:end] = [f"{middle}-{kind}"] * (end - start)
        written[end - 1] = f"{last}-{kind}"
        written[start] = f"{whole if end == start + 1 else first}-{kind}"
    return written
