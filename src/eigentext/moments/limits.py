"""Which words to keep: by the number of documents that have them, by count, and by a list."""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.errors import CorpusError, ParameterError

_SMALL = 500  # fewer documents than this lose few words by default
_FEWEST, _MOST = 5, 0.5  # documents that have a word, and their share, in larger collections

Limit = float | Literal["auto"]


def adapted(
    min_df: Limit, max_df: Limit, n_documents: int, *, columns: bool = False
) -> tuple[float, float]:
    """The limits with numbers in place of "auto".

    With 500 documents or more, a word stays if it is in at least 5 of them and at most in half of
    them. With fewer documents, it stays if it is in one of a hundred (or in one at all). The
    `columns` of a matrix all stay.

    Examples
    --------
    >>> [adapted("auto", "auto", n) for n in (10, 300, 5000)]
    [(1, 1.0), (3, 1.0), (5, 0.5)]
    """
    is_small = n_documents < _SMALL
    if min_df == "auto":
        min_df = 1 if columns else max(n_documents * _FEWEST // _SMALL, 1) if is_small else _FEWEST
    if max_df == "auto":
        max_df = 1.0 if columns or is_small else _MOST
    return min_df, max_df


def words_within(
    vocabulary: Vocabulary,
    frequencies: np.ndarray,
    totals: np.ndarray,
    n_documents: int,
    *,
    min_df: float,
    max_df: float,
    min_count: int,
    max_size: int | None,
    stop_words: str | Iterable[str] | None,
) -> list[str] | None:
    """The words within the limits, in their order; None if all words are.

    `frequencies` are the numbers of documents that have each word, `totals` the counts of words.
    The limits are those of :meth:`eigentext.DocumentMoments.from_corpus`.
    """
    if max_size is not None and max_size < 1:
        raise ParameterError(f"max_size must be 1 or more, not {max_size}")
    low, high = _documents("min_df", min_df, n_documents), _documents("max_df", max_df, n_documents)
    if low > high:
        raise ParameterError(
            f"min_df={min_df} asks for {low:g} of the {n_documents} documents and max_df={max_df} "
            f"for at most {high:g}; lower min_df or raise max_df"
        )
    kept = frequencies <= high
    # Without limits, words that never occur stay, because they are columns of a matrix.
    if low > 1:
        kept &= frequencies >= low
    if min_count > 1:
        kept &= totals >= min_count
    stopped = vocabulary.ids_of(_stop_list(stop_words))
    kept[stopped[stopped >= 0]] = False
    places = np.flatnonzero(kept)
    if len(places) == 0:
        raise CorpusError(
            f"none of {len(kept)} words is left: no word is in {low:g} to {high:g} of "
            f"{n_documents} documents, occurs {min_count} times or more, and is not a stop word; "
            "lower min_df or min_count, raise max_df, use fewer stop words, or give more text"
        )
    if max_size is not None:
        places = np.sort(places[np.argsort(-totals[places], kind="stable")[:max_size]])
    if len(places) == len(kept):
        return None
    return [vocabulary.words[place] for place in places.tolist()]


def _documents(name: str, limit: float, n_documents: int) -> float:
    """A limit as a number of documents."""
    is_count = isinstance(limit, (int, np.integer)) and not isinstance(limit, bool)
    if is_count and limit >= 0:
        return limit
    if isinstance(limit, (float, np.floating)) and 0 <= limit <= 1:
        return limit * n_documents
    raise ParameterError(
        f"{name} must be a number of documents (an int, 0 or more) or their share (a float from "
        f"0 to 1), not {limit!r}"
    )


_AUXILIARIES = ("ai", "ca", "did", "do", "does", "let", "sha", "wo")  # of ain't, can't, won't, …
_ENDS = (("n", "t"), ("", "s"), ("", "m"), ("", "re"), ("", "ve"), ("", "ll"), ("", "d"))


def _stop_list(stop_words: str | Iterable[str] | None) -> list[str]:
    if not isinstance(stop_words, str):
        return list(stop_words or ())
    if stop_words != "english":
        raise ParameterError(f"stop_words must be 'english' or a list of words, not {stop_words!r}")
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    # Its words come from a tokenizer that cuts at apostrophes. Ours keeps "don't" and "it's" whole.
    stems = {*ENGLISH_STOP_WORDS, *_AUXILIARIES}
    ends = [mark.join(end) for mark in "'’" for end in _ENDS]
    return sorted(ENGLISH_STOP_WORDS) + sorted(stem + end for stem in stems for end in ends)
