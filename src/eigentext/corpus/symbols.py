"""Sequences of symbols become integers, the input of language models and hidden Markov models.

Symbols are words or non-negative integers. They come as a text corpus, as one stream (a flat list
or array), or as separate sequences. An integer is its own id, so that row i of a matrix belongs to
symbol i. Words are numbered in the order of first occurrence, as in an :class:`EncodedCorpus`.
Every number up to the largest one counts as a symbol and takes memory and time. So large gaps are
an error: beyond 10,000, there may be at most 16 times as many numbers as given symbols.

Models also have symbols that are not words: the symbol for rare words, the edge of sequences.
`special_names` gives them names that no word has.
"""

import hashlib
import os
from collections.abc import Container, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from eigentext.corpus.encoded import END, EncodedCorpus, encode
from eigentext.corpus.items import kind_of_item, listed, without_columns
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.vocabulary import Vocabulary, as_asked
from eigentext.errors import CorpusError

INTEGERS = "integers"  # options["tokenizer"] if symbols are numbers
UNKNOWN = -2
RARE = "<rare>"  # the name of the symbol for rare words, unless a word has this name
_LARGEST = 1 << 24  # each number up to the largest takes memory
_FEW = 10_000  # so many symbols are always allowed,
_SPARSE = 16  # and so many per given symbol
_REMEDY = "give lists of words, or lists or arrays of integers from 0 up"


def encode_sequences(
    sequences: Any, *, cache: str | os.PathLike[str] | bool | None = None
) -> EncodedCorpus:
    """A corpus, a stream of symbols or several sequences of symbols, as integers.

    Parameters
    ----------
    sequences : TextCorpus, EncodedCorpus, path or list of paths
        Text. Its units are the sequences. A single string names a file.
    sequences : list of str, list of int, or 1-D array of integers
        One stream without borders (``options["unit"] == "stream"``). Strings of a list are words,
        never names of files (see :mod:`eigentext.corpus.given`).
    sequences : list of lists of str, list of lists or arrays of integers, or 2-D array of integers
        Separate sequences. Empty ones are skipped. A list may also be a tuple, a generator, an
        array or the column of a table. It is read once.
    cache
        For text: see :func:`encode`.

    Examples
    --------
    >>> from eigentext.corpus import encode_sequences
    >>> encode_sequences([[3, 0], [1]]).tokens.tolist()  # -1 ends a sequence
    [3, 0, -1, 1, -1]
    >>> encode_sequences(["to", "be", "or", "not", "to", "be"]).tokens.tolist()
    [0, 1, 2, 3, 0, 1, -1]
    """
    found = _read(sequences, cache)
    return found if isinstance(found, EncodedCorpus) else _encode_integers(*found)


Integers = tuple[
    np.ndarray, np.ndarray | None
]  # all symbols in a row; the lengths of the sequences


def _read(sequences: Any, cache: Any = None) -> EncodedCorpus | Integers:
    """Words as a corpus; integers as they are, with the lengths of sequences or None."""
    if isinstance(sequences, (TextCorpus, EncodedCorpus, str, os.PathLike)):
        return encode(sequences, cache=cache)
    is_array = hasattr(sequences, "__array__")
    if not (is_array and np.asarray(sequences).dtype.kind in "iu"):
        sequences = without_columns(sequences)
    if hasattr(sequences, "__array__"):
        array = np.asarray(sequences)
        if array.ndim not in (1, 2):
            raise CorpusError(f"the array has {array.ndim} dimensions; {_REMEDY}, 1-D or 2-D")
        if array.ndim == 2 and array.dtype.kind in "iu":
            return _checked(array.ravel(), np.full(len(array), array.shape[1]))
        items: Any = array if array.dtype.kind in "iu" else array.tolist()
    elif isinstance(sequences, Iterable):
        items = sequences if isinstance(sequences, (list, tuple)) else list(sequences)
    else:
        raise CorpusError(f"{sequences!r:.60} is not a sequence; {_REMEDY}")
    if len(items) == 0:
        raise CorpusError(f"the list is empty; {_REMEDY}")
    if not isinstance(items, np.ndarray):
        kinds = set(map(type, items))
        if any(map(_holds_symbols, kinds)):
            return _read_units(items)
        if any(kind_of_item(kind) == "files" for kind in kinds):
            return encode(items, cache=cache)
    symbols = _symbols([items], flat=True)
    if isinstance(symbols, np.ndarray):
        return _checked(symbols, None)
    if all(any(map(str.isspace, word)) for word in symbols):
        raise CorpusError(
            f"every item contains blanks, for example {symbols[0]!r:.60}; for lines of text give "
            "TextCorpus(lines, kind='texts'), for words a list of words"
        )
    return encode(TextCorpus([symbols], kind="tokens", unit="stream"))


def symbol_ids(sequence: Any, vocabulary: Vocabulary, options: dict[str, Any]) -> np.ndarray:
    """The ids of one sequence in a fitted vocabulary; -1 for unknown symbols.

    The vocabulary gives the ids of words. Integers are their own ids. `options` are those of the
    fitted corpus and say whether symbols are words or integers. The sequence may be empty.

    Examples
    --------
    >>> from eigentext.corpus import Vocabulary
    >>> symbol_ids(["ate", "eggs"], Vocabulary(["ate", "ham"], [2, 1]), {"tokenizer": "none"})
    array([ 0, -1], dtype=int32)
    """
    if not _holds_symbols(type(sequence)):
        raise CorpusError(f"{sequence!r:.60} is not a sequence of symbols; give a list of symbols")
    symbols = _symbols([_kept(sequence)], flat=True)
    if len(symbols) == 0:
        return np.zeros(0, np.int32)
    numbers = isinstance(symbols, np.ndarray)
    _check_kind(numbers, options)
    if not numbers:
        return vocabulary.ids_of(as_asked(symbols, options))
    return np.where(symbols < len(vocabulary), symbols, -1).astype(np.int32)


def sequence_ids(sequences: Any, vocabulary: Vocabulary, options: dict[str, Any]) -> np.ndarray:
    """All sequences as one array of ids in a fitted vocabulary, for a model to score.

    `END` (-1) follows each sequence, and `UNKNOWN` (-2) stands for unknown symbols. The input is
    that of :func:`encode_sequences`.
    """
    encoded = _read(sequences)
    if not isinstance(encoded, EncodedCorpus):
        _check_kind(True, options)
        numbers, lengths = encoded
        known = np.where(numbers < len(vocabulary), numbers, UNKNOWN)
        return np.insert(known.astype(np.int32), _ends(numbers, lengths), np.int32(END))
    _check_kind(encoded.options.get("tokenizer") == INTEGERS, options)
    places = vocabulary.ids_of(as_asked(encoded.words, options))
    places[places < 0] = UNKNOWN
    return np.append(places, np.int32(END))[encoded.tokens]


def is_stream(options: dict[str, Any]) -> bool:
    """Whether text was read as one stream, without borders between sequences."""
    return options.get("unit") == "stream"


def are_events(ids: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Which ids of :func:`sequence_ids` a model predicts; `options` are those of its fit.

    A model predicts every symbol. Unless it was fitted to a stream, it also predicts the end of
    each sequence that is not empty.
    """
    events = ids != END
    if not is_stream(options):
        events[1:] |= events[:-1]
    return events


def _check_kind(numbers: bool, options: dict[str, Any]) -> None:
    if numbers != (options.get("tokenizer") == INTEGERS):
        given, learned = ("integers", "words") if numbers else ("words", "integers")
        raise CorpusError(f"the input has {given}, but the model was fitted to {learned}")


def _holds_symbols(kind: type) -> bool:
    # The argument is a type: checking a million items would take seconds.
    return kind_of_item(kind) == "tokens"


def _kept(sequence: Any) -> Any:
    """A sequence that can be read twice: generators and columns of tables become lists."""
    return sequence if isinstance(sequence, (Sequence, np.ndarray)) else listed(sequence)


def _read_units(units: Sequence[Any]) -> EncodedCorpus | Integers:
    for number, unit in enumerate(units, start=1):
        if isinstance(unit, np.ndarray):
            good = unit.ndim == 1
        else:  # usually a list
            good = type(unit) is list or _holds_symbols(type(unit))
        if not good:
            raise CorpusError(f"item {number} is {unit!r:.60}, but others are sequences; {_REMEDY}")
    if not all(issubclass(kind, (Sequence, np.ndarray)) for kind in set(map(type, units))):
        units = list(map(_kept, units))
    lengths = np.fromiter(map(len, units), np.int64, len(units))
    if not lengths.any():
        raise CorpusError("all sequences are empty; give at least one symbol")
    symbols = _symbols(units, flat=False)
    if isinstance(symbols, np.ndarray):
        return _checked(symbols, lengths)
    return encode(TextCorpus([list(unit) for unit in units], kind="tokens"))


def _symbols(units: Sequence[Any], *, flat: bool) -> np.ndarray | list[str]:
    """All symbols in one list or int64 array; an error names the first wrong symbol."""
    if all(isinstance(unit, np.ndarray) and unit.dtype.kind in "iu" for unit in units):
        if any(unit.ndim != 1 for unit in units):
            raise CorpusError(f"one sequence is an array of several dimensions; {_REMEDY}")
        numbers = np.concatenate(units)
    else:
        symbols = list(chain.from_iterable(units))
        kinds = set(map(type, symbols))
        if all(issubclass(kind, str) for kind in kinds):
            return symbols
        if any(not issubclass(k, (int, np.integer)) or k is bool for k in kinds):
            _refuse(units, flat)
        try:
            numbers = np.array(symbols, np.int64)
        except OverflowError:
            numbers = np.array([_LARGEST])
    # Check before the conversion: an unsigned number of 64 bits may be too large for int64.
    if numbers.size and (numbers.min() < 0 or numbers.max() >= _LARGEST):
        _refuse(units, flat)
    return numbers.astype(np.int64, copy=False)


def _refuse(units: Sequence[Any], flat: bool) -> None:
    """Raise CorpusError for the first wrong symbol."""
    expected: type | None = None
    for number, unit in enumerate(units, start=1):
        for place, symbol in enumerate(unit, start=1):
            symbol = symbol.item() if isinstance(symbol, np.generic) else symbol
            if problem := _problem(symbol, expected):
                where = f"symbol {place}" + ("" if flat else f" of sequence {number}")
                raise CorpusError(f"{where} is {symbol!r:.60}: {problem}")
            expected = str if isinstance(symbol, str) else int


def _problem(symbol: Any, expected: type | None) -> str:
    """What is wrong with a symbol, or an empty string."""
    if isinstance(symbol, bool) or not isinstance(symbol, (str, int)):
        if isinstance(symbol, float):
            return (
                f"symbols must be integers or strings; {_REMEDY}; convert floats with astype(int)"
            )
        return f"symbols must be integers or strings; {_REMEDY}"
    if expected and isinstance(symbol, str) != (expected is str):
        return "words and integers are mixed; give only one kind"
    if isinstance(symbol, str):
        return ""
    if symbol < 0:
        return (
            "integer symbols are numbered from 0 up; give sequences of different lengths as a list "
            "of lists, without padding"
        )
    if symbol >= _LARGEST:
        return (
            f"each number up to the largest counts as a symbol: more than {_LARGEST} here; "
            "number them from 0 up, or give them as strings"
        )
    return ""


def _checked(numbers: np.ndarray, lengths: np.ndarray | None) -> Integers:
    """Integers of a list or a matrix; raises CorpusError if one is out of range."""
    if numbers.size == 0:
        raise CorpusError("all sequences are empty; give at least one symbol")
    if numbers.min() < 0 or numbers.max() >= _LARGEST:
        _refuse(np.split(numbers, _ends(numbers, lengths)[:-1]), flat=False)
    return numbers.astype(np.int64, copy=False), lengths


def _ends(numbers: np.ndarray, lengths: np.ndarray | None) -> np.ndarray:
    return np.array([len(numbers)]) if lengths is None else np.cumsum(lengths)


def _encode_integers(numbers: np.ndarray, lengths: np.ndarray | None) -> EncodedCorpus:
    n_symbols = int(numbers.max()) + 1
    if n_symbols > max(_FEW, _SPARSE * len(numbers)):
        raise CorpusError(
            f"every number up to the largest, {n_symbols - 1}, counts as a symbol, but only "
            f"{len(numbers)} symbols are given; number them from 0 up without gaps, or give them "
            "as strings (words)"
        )
    tokens = np.insert(numbers.astype(np.int32), _ends(numbers, lengths), END)
    counts = np.bincount(numbers)
    unit = "stream" if lengths is None else "line"
    options = {"tokenizer": INTEGERS, "lowercase": False, "unit": unit}
    digest = hashlib.sha256(repr(options).encode())
    digest.update(tokens.data)
    words = list(map(str, range(len(counts))))
    return EncodedCorpus(tokens, words, counts, digest.hexdigest(), options)


# Symbols that are not words.


def special_names(words: Container[str], *names: str) -> list[str]:
    """Names for symbols that are not words, such as "<rare>".

    If a word has the same name, the symbol gets one more bracket on each side.

    Examples
    --------
    >>> special_names(["ham", "eggs"], "<rare>", "<edge>")
    ['<rare>', '<edge>']
    >>> special_names(["ham", "<rare>", "<<rare>>"], "<rare>", "<edge>")
    ['<<<rare>>>', '<edge>']
    """
    found: list[str] = []
    for name in names:
        while name in words or name in found:
            name = f"<{name}>"
        found.append(name)
    return found
