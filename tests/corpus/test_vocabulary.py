"""The order of a vocabulary depends on words and counts alone; unknown words get a hint."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import TextCorpus, Vocabulary
from eigentext.errors import CorpusError, EigentextError, ParameterError, UnknownWordError

COUNTS = st.dictionaries(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1),
    st.integers(1, 4),
    min_size=1,
)


@given(COUNTS, st.integers(1, 4), st.none() | st.integers(1, 5), st.randoms())
def test_order_is_by_count_then_code_point(counts, min_count, max_size, random):
    kept = [(word, n) for word, n in counts.items() if n >= min_count]
    expected = sorted(kept, key=lambda item: (-item[1], item[0]))[:max_size]
    shuffled = list(counts.items())
    random.shuffle(shuffled)
    arguments = [word for word, _ in shuffled], [n for _, n in shuffled]
    if not kept:
        with pytest.raises(CorpusError):
            Vocabulary.from_counts(*arguments, min_count=min_count, max_size=max_size)
        return
    vocabulary = Vocabulary.from_counts(*arguments, min_count=min_count, max_size=max_size)
    assert list(zip(vocabulary.words, vocabulary.counts.tolist())) == expected
    assert [vocabulary[word] for word in vocabulary] == list(range(len(vocabulary)))
    assert all((word in vocabulary) == (word in dict(expected)) for word in counts)


def test_from_a_corpus_or_what_it_takes(zipf_lines):
    lines = zipf_lines(200)
    counter = Counter(word for line in lines for word in line.split())
    vocabulary = Vocabulary.from_corpus(TextCorpus(lines), min_count=3, max_size=20)
    assert vocabulary == Vocabulary.from_counts(
        list(counter), list(counter.values()), min_count=3, max_size=20
    )
    assert vocabulary == Vocabulary.from_corpus(lines[::-1], min_count=3, max_size=20)
    assert len(vocabulary) == 20


def test_counts_of_any_iterable():
    counter = Counter("abracadabra")
    for build in (Vocabulary, Vocabulary.from_counts):
        vocabulary = build(counter.keys(), counter.values())
        assert dict(zip(vocabulary.words, vocabulary.counts.tolist())) == counter
        assert vocabulary.counts.dtype == np.int64


def test_equality():
    vocabulary = Vocabulary(["a", "b"], [2, 1])
    assert vocabulary == Vocabulary(("a", "b"), np.array([2, 1], np.int32))
    assert vocabulary != Vocabulary(["a", "b"], [2, 2])
    assert vocabulary != Vocabulary(["b", "a"], [2, 1])
    assert vocabulary != Vocabulary(["a"], [2])
    assert vocabulary != ["a", "b"]
    with pytest.raises(TypeError, match="unhashable"):
        hash(vocabulary)


def test_ids_of_words_in_and_out():
    vocabulary = Vocabulary(["a", "b"], [2, 1])
    ids = vocabulary.ids_of(["b", "x", "a", "a"])
    assert ids.tolist() == [1, -1, 0, 0]
    assert ids.dtype == np.int32


def test_repr_is_short():
    vocabulary = Vocabulary([f"w{number}" for number in range(1000)], range(1000))
    assert "1000 words: 'w0'" in repr(vocabulary)
    assert len(repr(vocabulary)) < 80


# Mistakes.


def test_no_word_is_frequent_enough():
    with pytest.raises(CorpusError, match=r"5 times or more \(.*: 2 times\); lower min_count"):
        Vocabulary.from_corpus(["a b a"], min_count=5)


def test_no_words_at_all():
    with pytest.raises(CorpusError, match="no words: is the file empty"):
        Vocabulary.from_counts([], [])


def test_lengths_that_differ():
    for build in (Vocabulary, Vocabulary.from_counts):
        with pytest.raises(CorpusError, match="1 words but 2 counts"):
            build(["a"], [1, 2])
        with pytest.raises(CorpusError, match="2 words but 1 counts"):
            build(["a", "b"], [1])


@pytest.mark.parametrize("max_size", [0, -1])
def test_no_place_for_a_word(max_size):
    with pytest.raises(ParameterError, match=f"max_size must be 1 or more, not {max_size}"):
        Vocabulary.from_counts(["a"], [1], max_size=max_size)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("chese", "did you mean cheese, chess?"),
        ("Cheese", "did you mean cheese"),
        ("CHEESE", "did you mean cheese"),
        ("zzz", "rarer than min_count"),
        ("", "rarer than min_count"),
        (7, "'7' is not in the vocabulary"),
    ],
)
def test_unknown_words_get_a_hint(word, hint):
    vocabulary = Vocabulary(["ham", "cheese", "chess"], [3, 2, 1])
    with pytest.raises(UnknownWordError) as caught:
        vocabulary[word]
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, EigentextError)
    assert hint in str(caught.value)
    assert "of 3 words" in str(caught.value)
