"""Which words to keep: by the number of documents that have them, by count, and by a list.

What is left out is counted, so that a model can say it (:data:`LEFT_OUT`).
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.stop_words import among, guess_language, language_named
from eigentext.errors import CorpusError, ParameterError
from eigentext.parameters import Flag, Number
from eigentext.storage.facts import COUNT, TEXT, facts

_SMALL = 500  # fewer documents than this lose few words by default
_FEWEST, _MOST = 5, 0.5  # documents that have a word, and their share, in larger collections

Limit = float | Literal["auto"]
LEFT_OUT = facts(
    "the numbers of words that were left out: stop_words, signs, frequent, rare, beyond",
    needs=("stop_words", "signs", "frequent", "rare", "beyond"),
    **dict.fromkeys(("stop_words", "signs", "frequent", "rare", "beyond"), COUNT),
    language=TEXT,  # of the stop words, if they were not listed
    recognized=Flag(True),  # of a guess: otherwise, the language is English for want of another
    share=Number(0.0, least=0),  # of the stop words of a guessed language
    other=TEXT,  # another language that is nearly as likely
)


class Kept(NamedTuple):
    """The words that stay, and what is left out."""

    words: list[str] | None  # in their order; None if all of them stay
    left_out: dict[str, Any]  # see LEFT_OUT


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
) -> Kept:
    """The words within the limits.

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
    listed, signs, about = _stopped(vocabulary, totals, stop_words)
    is_frequent = frequencies > high
    # Without limits, words that never occur stay, because they are columns of a matrix.
    is_rare = np.zeros(len(listed), bool)
    if low > 1:
        is_rare |= frequencies < low
    if min_count > 1:
        is_rare |= totals < min_count
    kept = ~(listed | signs | is_frequent | is_rare)
    places = np.flatnonzero(kept)
    left_out = {
        "stop_words": int(listed.sum()),
        "signs": int((signs & ~listed).sum()),
        "frequent": int((is_frequent & ~listed & ~signs).sum()),
        "rare": int((is_rare & ~is_frequent & ~listed & ~signs).sum()),
        "beyond": max(len(places) - (max_size or len(places)), 0),
        **about,
    }
    if len(places) == 0:
        told = left_out_words(left_out, {"min_df": min_df, "max_df": max_df}, min_count)
        raise CorpusError(
            f"none of {len(kept):,} words is left; left out: {told}; lower min_df or min_count, "
            "raise max_df, use fewer stop words, or give more text"
        )
    if max_size is not None:
        places = np.sort(places[np.argsort(-totals[places], kind="stable")[:max_size]])
    if len(places) == len(kept):
        return Kept(None, left_out)
    return Kept([vocabulary.words[place] for place in places.tolist()], left_out)


def _stopped(
    vocabulary: Vocabulary, totals: np.ndarray, given: str | Iterable[str] | None
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """The stop words among the words, the signs among them, and the language."""
    none = np.zeros(len(vocabulary), bool)
    if not isinstance(given, str):  # a list is taken as it is
        listed = none.copy()
        places = vocabulary.ids_of(list(given or ()))
        listed[places[places >= 0]] = True
        return listed, none, {}
    if given == "none":
        return none, none, {}
    language, about = given, dict[str, Any]()
    if given == "auto":
        guess = guess_language(vocabulary.words, totals)
        about = {"share": round(guess.share, 4), "recognized": guess.language is not None}
        language = guess.language or "english"
        if guess.other:
            about["other"] = guess.other
    found = among(vocabulary.words, language)
    return found.words, found.signs, {**about, "language": language_named(language)}


def signs_and_stop_words(vocabulary: Vocabulary) -> np.ndarray:
    """Whether each word is a sign, or a stop word of the language of these words."""
    listed, signs, _ = _stopped(vocabulary, vocabulary.counts, "auto")
    return listed | signs


def left_out_words(
    left_out: dict[str, Any], limits: dict[str, float] | None = None, min_count: int = 1
) -> str:
    """Return which words were left out, in plain words. `limits` are min_df and max_df.

    Examples
    --------
    >>> left_out_words({"stop_words": 74, "language": "english"})
    '74 English stop words'
    >>> left_out_words({"signs": 1})
    '1 token without letters and digits'
    >>> left_out_words({"frequent": 2, "rare": 310}, {"min_df": 5, "max_df": 0.5})
    '2 words in more than 50 % of the documents, 310 words in fewer than 5 documents'
    """
    language = (left_out.get("language") or "").title()
    recognized = left_out.get("recognized")  # None if nothing was guessed
    how = " (a guessed language)" if recognized else " (no language was recognized)"
    told = {name: _told(limit) for name, limit in (limits or {}).items()}
    kinds = {
        "stop_words": f"{language} stop words".lstrip() + ("" if recognized is None else how),
        "signs": "tokens without letters and digits",
        "frequent": f"words in more than {told.get('max_df', 'max_df of the documents')}",
        "rare": f"words in fewer than {told.get('min_df', 'min_df of the documents')}"
        + (f" or that occur fewer than {min_count:,} times" if min_count > 1 else ""),
        "beyond": "rarer words beyond max_size",
    }
    return ", ".join(_counted(left_out[k], what) for k, what in kinds.items() if left_out.get(k))


def _counted(number: int, what: str) -> str:
    """A number of "words …" or "tokens …"."""
    if number == 1:
        what = what.replace("words", "word", 1).replace("tokens", "token", 1)
    return f"{number:,} {what}"


def _told(limit: float) -> str:
    if isinstance(limit, float):
        return f"{100 * limit:.3g} % of the documents"
    return "1 document" if limit == 1 else f"{limit:,} documents"


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
