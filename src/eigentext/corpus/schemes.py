"""Schemes of chunk tags: spans of tokens, each with a type X, written as one tag per token.

========= ==================================================================================
scheme    tags
========= ==================================================================================
``bio``   B-X begins a chunk, I-X continues it, O is outside all chunks (also called IOB2)
``bilou`` like ``bio``, but L-X ends a chunk of several tokens and U-X is a chunk of one token
``iobes`` like ``bilou``, with E- for L- and S- for U-
IOB1      like ``bio``, but B-X is used only directly after a chunk of the same type
========= ==================================================================================

Sequences that break their scheme are read by the rules of conlleval, the program of the CoNLL
tasks: I-X after O, or after a chunk of another type, begins a chunk. These rules read all schemes
above, so the functions that rewrite tags accept any of them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from eigentext.errors import CorpusError, ParameterError

Span = tuple[str, int, int]
OUTSIDE = "O"
_TAGS = {
    "bio": re.compile(r"O|[BI]-.+"),
    "bilou": re.compile(r"O|[BILU]-.+"),
    "iobes": re.compile(r"O|[BIES]-.+"),
}
_ANY_TAG = re.compile(r"O|[BILUES]-.+")
_PREFIXES = frozenset("OBILUES")
_LETTERS = {
    "bio": "BBII",
    "bilou": "UBIL",
    "iobes": "SBIE",
}  # for a chunk of one token; for its first, middle and last token
_REMEDIES = {
    "bio": "begin every chunk with B- (corpus.iob1_to_bio does this)",
    "bilou": "write chunks as B- … L-, or as one U- (corpus.to_bilou does this)",
    "iobes": "write chunks as B- … E-, or as one S-",
}


# The rules of a scheme.


def is_chunk_tags(tags: Iterable[Any]) -> bool:
    """Whether all tags are chunk tags: O, or B-, I-, L-, U-, E- or S- with a type.

    Examples
    --------
    >>> is_chunk_tags(["B-NP", "I-NP", "O"]), is_chunk_tags(["DT", "NN", "O"])
    (True, False)
    """
    return all(isinstance(tag, str) and _ANY_TAG.fullmatch(tag) for tag in set(tags))


def scheme_of(tags: Iterable[Any]) -> str | None:
    """The scheme that different tags belong to. None if they are not tags of chunks.

    Tags of IOB1 look like those of "bio". Tags that mix L- or U- with E- or S-, and tags with E-
    but neither B- nor S- (the scheme IOE), have no scheme here.

    Examples
    --------
    >>> [scheme_of(tags) for tags in (["O", "I-X"], ["B-X", "L-X"], ["B-X", "E-X"], ["NN", "O"])]
    ['bio', 'bilou', 'iobes', None]
    """
    distinct = set(tags)
    if not is_chunk_tags(distinct) or distinct <= {OUTSIDE}:
        return None
    letters = {tag[0] for tag in distinct}
    if letters & set("ES"):
        return None if letters & set("LU") or not letters & set("BS") else "iobes"
    return "bilou" if letters & set("LU") else "bio"


def allowed(tags: Sequence[str], scheme: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tags that may begin a sentence, follow another tag, and end a sentence.

    Returns
    -------
    start : array of bool, shape (m,)
    transition : array of bool, shape (m, m)
        From one tag (row) to another (column).
    end : array of bool, shape (m,)

    Raises
    ------
    CorpusError
        If a tag does not belong to the scheme.

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
    edged = [OUTSIDE, *tags]  # before and after a sentence is no chunk
    fits = np.array([[_fits(before, tag, scheme) for tag in edged] for before in edged])
    return fits[0, 1:], fits[1:, 1:], fits[1:, 0]


def find_misfit(tags: Sequence[Any], scheme: str | None) -> tuple[int, str, Any] | None:
    """The first place where a sentence breaks the scheme, the tag before it, and its tag.

    The tags before and after a sentence count as O. The place after it is ``len(tags)``.

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
    """Raise CorpusError if a sentence breaks the scheme; `where` begins the message.

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
    """Raise ParameterError unless the scheme is known."""
    if scheme not in (*_TAGS, None):
        raise ParameterError(f"scheme must be 'bio', 'bilou', 'iobes' or None, not {scheme!r}")


@lru_cache(maxsize=1 << 16)
def _fits(before: str, tag: Any, scheme: str) -> bool:
    """Whether a tag may follow another one."""
    if not _is_known(tag, scheme):
        return False
    is_open = before[0] in "BI"
    if tag[0] in "ILE":
        return is_open and before[1:] == tag[1:]
    return scheme == "bio" or not is_open


def _is_known(tag: Any, scheme: str) -> bool:
    return isinstance(tag, str) and bool(_TAGS[scheme].fullmatch(tag))


def _unknown(tag: Any, scheme: str) -> str:
    letters = sorted({*_LETTERS[scheme]}, key="BILUES".index)
    known = f"{', '.join(f'{letter}-X' for letter in letters)} or O"
    return f"{tag!r} is not a tag of the scheme {scheme!r}; give {known}, or use scheme=None"


# From one scheme to another.


class Repaired(NamedTuple):
    """Tags that keep a scheme, and what was changed."""

    tags: list[list[str]]
    n_sentences: int  # that had to be changed
    n_tags: int  # that were changed
    first: tuple[int, int]  # the sentence and the token of the first change, from 1
    is_iob1: bool  # whether the tags were IOB1, and not BIO with a few mistakes


def repaired(tags: Sequence[Sequence[str]], scheme: str) -> Repaired:
    """The same chunks in tags that keep the scheme, sentence by sentence.

    Sentences that break the scheme are read by the rules of conlleval. Raise CorpusError if a tag
    does not belong to the scheme.

    Examples
    --------
    >>> repaired([["O", "I-X", "I-X"], ["O", "B-X"]], "bio")[:4]
    ([['O', 'B-X', 'I-X'], ['O', 'B-X']], 1, 1, (1, 2))
    """
    for tag in set(chain.from_iterable(tags)):
        if not _is_known(tag, scheme):
            place, token = next((i, one.index(tag)) for i, one in enumerate(tags) if tag in one)
            where = f"sentence {place + 1}, token {token + 1}"
            raise CorpusError(f"{where}: {_unknown(tag, scheme)}")
    found, n_sentences, n_tags, first = list(map(list, tags)), 0, 0, (0, 0)
    for i, one in enumerate(found):
        if find_misfit(one, scheme):
            found[i] = new = _rewritten(one, scheme)
            changed = [t for t, (a, b) in enumerate(zip(one, new), 1) if a != b]
            first = first if n_sentences else (i + 1, changed[0])
            n_sentences, n_tags = n_sentences + 1, n_tags + len(changed)
    is_iob1 = bool(n_tags) and scheme == "bio" and all(map(_is_iob1, tags))
    return Repaired(found, n_sentences, n_tags, first, is_iob1)


def in_scheme(tags: Iterable[list[str]], scheme: str | None) -> list[list[str]]:
    """The chunks of sentences in tags of the scheme; sentences of other tags stay as they are.

    Examples
    --------
    >>> in_scheme([["I-X", "I-X"], ["U-X"], ["NN"]], "bio")
    [['B-X', 'I-X'], ['B-X'], ['NN']]
    """
    found = list(tags)
    for i, one in enumerate(found):
        if find_misfit(one, scheme) and scheme and is_chunk_tags(one):
            found[i] = _rewritten(one, scheme)
    return found


def to_bilou(tags: Sequence[str]) -> list[str]:
    """The chunks of a sentence as B-, I-, L-, U- and O. The tags may have any scheme.

    Examples
    --------
    >>> to_bilou(["B-X", "B-Y", "I-Y", "I-Y", "O"])
    ['U-X', 'B-Y', 'I-Y', 'L-Y', 'O']
    """
    return _rewritten(tags, "bilou")


def from_bilou(tags: Sequence[str]) -> list[str]:
    """The chunks of a sentence as B-, I- and O. The tags may have any scheme.

    Examples
    --------
    >>> from_bilou(["U-X", "B-Y", "I-Y", "L-Y", "L-Y"])
    ['B-X', 'B-Y', 'I-Y', 'I-Y', 'B-Y']
    """
    return _rewritten(tags, "bio")


def iob1_to_bio(tags: Sequence[str]) -> list[str]:
    """The chunks of tags in IOB1 (the scheme of CoNLL-2003) as B-, I- and O.

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
    kind, start, is_over = None, 0, False  # the open chunk, and whether its last token ends it
    for i, tag in enumerate(tags):
        prefix, _, name = tag.partition("-") if isinstance(tag, str) else ("", "", "")
        if prefix not in _PREFIXES or (prefix == OUTSIDE and name):
            raise CorpusError(f"token {i + 1}: {tag!r} is not a chunk tag; give B-X, I-X or O")
        new = None if prefix == OUTSIDE else name
        if kind is not None and (is_over or new != kind or prefix in "BUS"):
            found.append((kind, start, i))
            kind = None
        if kind is None:
            kind, start = new, i
        is_over = prefix in "LUES"
    return found if kind is None else [*found, (kind, start, len(tags))]


def _is_iob1(tags: Sequence[str]) -> bool:
    """Whether B-X is only used directly after a chunk of type X."""
    before = [OUTSIDE, *tags]
    return all(tag[0] != "B" or last[1:] == tag[1:] for last, tag in zip(before, tags))


def _rewritten(tags: Sequence[str], scheme: str) -> list[str]:
    whole, first, middle, last = _LETTERS[scheme]
    written = [OUTSIDE] * len(tags)
    for kind, start, end in spans(tags):
        if not kind:
            raise CorpusError(f"token {start + 1}: {tags[start]!r} has no type; give B-X, I-X or O")
        written[start:end] = [f"{middle}-{kind}"] * (end - start)
        written[end - 1] = f"{last}-{kind}"
        written[start] = f"{whole if end == start + 1 else first}-{kind}"
    return written
