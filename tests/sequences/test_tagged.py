"""Tagged sentences as numbers."""

import pytest

from eigentext.errors import CorpusError
from eigentext.sequences.tagged import checked_words, columns, read_tagged

TAGGED = [[("a|D", "B-X"), ("dog|N", "I-X")], [("dog|N", "B-X")]]


def test_labels_are_tags_or_tags_with_classes():
    text = read_tagged(TAGGED, "bio", "factor", None)
    assert text.vocabulary == ["a|D", "dog|N"]
    assert text.names == [("B-X", "D"), ("B-X", "N"), ("I-X", "N")]
    assert text.labels.tolist() == [0, 2, 1]
    assert text.lengths.tolist() == [2, 1]
    assert text.counts().toarray().tolist() == [[1, 0, 0], [0, 1, 1]]
    plain = read_tagged(TAGGED, None, "factor", False)
    assert plain.names == [("B-X", ""), ("I-X", "")]


def test_bigrams_begin_and_end_with_the_border():
    text = read_tagged(TAGGED, None, None, None)
    bigrams, times = text.grams(1)
    found = {tuple(pair): n for pair, n in zip(bigrams.tolist(), times.tolist())}
    assert found == {(2, 0): 2, (0, 1): 1, (1, 2): 1, (0, 2): 1}
    trigrams, times = text.grams(2)
    assert len(trigrams) == len(times) == 4


def test_bad_sentences():
    with pytest.raises(CorpusError, match="lists of \\(word, tag\\) pairs"):
        read_tagged("a b", None, None, None)
    with pytest.raises(CorpusError, match=r"sentence 1, token 1: I-X after O"):
        read_tagged([[("a", "I-X")]], "bio", None, None)
    with pytest.raises(CorpusError, match="sentence 2, token 1: 'a' is not a"):
        columns(["a"], 2)
    with pytest.raises(CorpusError, match="3 is not a sentence"):
        checked_words(3, None)
    with pytest.raises(CorpusError, match="token 2: None is not a word"):
        checked_words(["a", None], None)
