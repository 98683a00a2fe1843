"""Sequences of words and of integers as arrays, and what is no such sequence."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus import TextCorpus, Vocabulary, encode, encode_sequences
from eigentext.corpus.symbols import (
    END,
    UNKNOWN,
    are_events,
    is_stream,
    sequence_ids,
    special_names,
    symbol_ids,
)
from eigentext.errors import CorpusError

NUMBERS = st.lists(st.lists(st.integers(0, 30), max_size=6), min_size=1, max_size=6)


def units_of(encoded):
    """Back to lists of symbols, as strings."""
    units = [[]]
    for token in encoded.tokens.tolist():
        if token == END:
            units.append([])
        else:
            units[-1].append(encoded.words[token])
    return [unit for unit in units if unit]


@given(NUMBERS)
def test_integers_keep_their_numbers(sequences):
    sequences = [*sequences, [3]]
    encoded = encode_sequences(sequences)
    largest = max(map(max, filter(None, sequences)))
    assert encoded.words == [str(i) for i in range(largest + 1)]
    assert units_of(encoded) == [list(map(str, s)) for s in sequences if s]
    assert encoded.counts.tolist() == [
        sum(s.count(i) for s in sequences) for i in range(largest + 1)
    ]
    assert encoded.options == {"tokenizer": "integers", "lowercase": False, "unit": "line"}
    assert encoded.tokens.dtype == np.int32


@given(NUMBERS)
def test_all_forms_of_the_same_sequences_are_the_same(sequences):
    sequences = [*sequences, [3]]
    expected = encode_sequences(sequences)
    for form in (
        tuple(map(tuple, sequences)),
        iter(sequences),
        [np.array(s, np.uint8) for s in sequences],
        [np.array(s, np.int64) if i % 2 else s for i, s in enumerate(sequences)],
    ):
        encoded = encode_sequences(form)
        assert np.array_equal(encoded.tokens, expected.tokens)
        assert encoded.fingerprint == expected.fingerprint


def test_rows_of_a_matrix_are_sequences():
    A = np.array([[1, 0, 2], [2, 2, 1]], np.uint16)
    assert np.array_equal(encode_sequences(A).tokens, encode_sequences(A.tolist()).tokens)
    assert encode_sequences(A).fingerprint != encode_sequences(A.ravel()).fingerprint


def test_flat_input_is_one_stream():
    for numbers in ([3, 0, 3], np.array([3, 0, 3]), range(0, 9, 3)):
        encoded = encode_sequences(numbers)
        assert is_stream(encoded.options)
        assert len(units_of(encoded)) == 1
    words = encode_sequences(np.array(["to", "be"]))
    assert is_stream(words.options)
    assert units_of(words) == [["to", "be"]]
    assert words.options["tokenizer"] == "none"


def test_lists_of_words_are_units():
    encoded = encode_sequences([["New York", "is"], [], ("far",)])
    assert units_of(encoded) == [["New York", "is"], ["far"]]
    assert not is_stream(encoded.options)


def test_text_is_encoded_as_ever(tmp_path):
    corpus = TextCorpus(["a b", "c"], kind="texts")
    encoded = encode_sequences(corpus)
    assert encoded.fingerprint == encode(corpus).fingerprint
    assert encode_sequences(encoded) is encoded
    (tmp_path / "a.txt").write_text("a b\nc\n")
    assert units_of(encode_sequences(tmp_path / "a.txt")) == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ([0, 0.5], "symbol 2 is 0.5: symbols must be integers or strings; give .* astype"),
        ([[1], [0, 2.0]], "symbol 2 of sequence 2 is 2.0: symbols must be"),
        (np.zeros((2, 2)), "symbol 1 of sequence 1 is 0.0: symbols must be integers"),
        (np.array([0.5]), "symbol 1 is 0.5: symbols must be integers"),
        ([1, -1], "symbol 2 is -1: integer symbols are numbered from 0 up"),
        (np.array([[1, 2], [3, -1]]), "symbol 2 of sequence 2 is -1: .* without padding"),
        ([[True]], "is True: symbols must be integers or strings"),
        (np.array([True]), "is True: symbols must be"),
        ([1, "a"], "symbol 2 is 'a': words and integers are mixed"),
        ([["a"], [1]], "symbol 1 of sequence 2 is 1: words and integers are mixed"),
        ([None], "is None: symbols must be"),
        ([[1], 2], "item 2 is 2, but others are sequences"),
        ([[[1, 2]]], r"symbol 1 of sequence 1 is \[1, 2\]: symbols must"),
        ([np.zeros((2, 2), int)], "item 1 is array"),
        (np.zeros((2, 2, 2), int), "the array has 3 dimensions"),
        ([], "the list is empty"),
        (np.zeros(0, int), "the list is empty"),
        ([[], []], "all sequences are empty"),
        (np.zeros((3, 0), int), "all sequences are empty"),
        ([2**24], "symbol 1 is 16777216: .* as strings"),
        ([[2**70]], "symbol 1 of sequence 1 is 1180591620717411303424"),
        (np.array([2**63], np.uint64), "symbol 1 is 9223372036854775808"),
        (5, "5 is not a sequence"),
        (["a line of text", "and another"], "every item contains blanks.* TextCorpus"),
        ([[10**7, 1, 2]], "largest, 10000000, .* only 3 .* without gaps, or"),
        (np.array([[20_000] * 1_000]), "largest, 20000, .* only 1000 symbols"),
        ([10_000], "largest, 10000,"),
    ],
)
def test_what_is_no_sequence_of_symbols(sequences, message):
    with pytest.raises(CorpusError, match=message):
        encode_sequences(sequences)


WORDS = Vocabulary(["ate", "ham"], [2, 1]), {"tokenizer": "none", "unit": "line"}
INTEGERS = Vocabulary(["0", "1", "2"], [1, 0, 5]), {"tokenizer": "integers", "unit": "stream"}


def test_ids_of_one_sequence():
    assert symbol_ids(["ham", "eggs", "ate"], *WORDS).tolist() == [1, -1, 0]
    for numbers in ([2, 7, 0], (2, 7, 0), np.array([2, 7, 0], np.uint8)):
        ids = symbol_ids(numbers, *INTEGERS)
        assert ids.tolist() == [2, -1, 0]
        assert ids.dtype == np.int32
    for nothing in ([], np.zeros(0)):
        assert symbol_ids(nothing, *WORDS).tolist() == []


@pytest.mark.parametrize(
    ("sequence", "fitted", "message"),
    [
        ([1], WORDS, "the input has integers, but the model was fitted to words"),
        (["1"], INTEGERS, "the input has words, but the model was fitted to integers"),
        ([1, 0.5], INTEGERS, "symbol 2 is 0.5: symbols must be"),
        ([1, -3], INTEGERS, "symbol 2 is -3"),
        ([[1]], INTEGERS, "symbol 1 is [1]: symbols"),
        (np.array([[1]]), INTEGERS, "several dimensions"),
        ("ate", WORDS, "'ate' is not a sequence of symbols; give a list"),
        (7, INTEGERS, "7 is not a sequence"),
    ],
)
def test_what_has_no_ids(sequence, fitted, message):
    with pytest.raises(CorpusError, match=message.replace("[1]", re.escape("[1]"))):
        symbol_ids(sequence, *fitted)


def test_ids_of_many_sequences():
    ids = sequence_ids([["ate", "eggs"], ["ham"]], *WORDS)
    assert ids.tolist() == [0, UNKNOWN, END, 1, END, END]
    assert sequence_ids(np.array([2, 0, 9]), *INTEGERS).tolist() == [2, 0, UNKNOWN, END]
    with pytest.raises(CorpusError, match="the input has words"):
        sequence_ids([["2"]], *INTEGERS)


def test_what_is_predicted():
    ids = np.array([END, 0, UNKNOWN, END, END, 1, END])
    assert np.flatnonzero(are_events(ids, {"unit": "stream"})).tolist() == [1, 2, 5]
    assert np.flatnonzero(are_events(ids, {"unit": "line"})).tolist() == [1, 2, 3, 5, 6]


def test_numbers_with_gaps():
    assert len(encode_sequences([9_999]).words) == 10_000
    assert len(encode_sequences(np.full(2_000, 30_000)).words) == 30_001
    # What is scored need not have every symbol: it is known how many there are.
    many = Vocabulary([str(i) for i in range(50_000)], [1] * 50_000), {"tokenizer": "integers"}
    ids = sequence_ids([[49_999, 3], [], [50_000, 10**7]], *many)
    assert ids.tolist() == [49_999, 3, END, END, UNKNOWN, UNKNOWN, END]
    assert ids.dtype == np.int32
    with pytest.raises(CorpusError, match="symbol 1 of sequence 2 is -1"):
        sequence_ids(np.array([[1], [-1]]), *many)


@given(st.lists(st.sampled_from(["<rare>", "<<rare>>", "<edge>", "ham"]), unique=True))
def test_no_word_is_called_as_a_special_symbol(words):
    found = special_names(words, "<rare>", "<edge>", "<rare>")
    assert len({*words, *found}) == len(words) + 3
    assert special_names(Vocabulary(words, [1] * len(words)), "<rare>") == found[:1]
    if "<rare>" not in words:
        assert found[0] == "<rare>"
