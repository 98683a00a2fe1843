"""The tags that are learned, and the tags that are shown."""

import numpy as np
import pytest

from eigentext.errors import CorpusError
from eigentext.tagging.tagset import TagSet

BIO = [["B-X", "I-X", "I-X", "O"], ["B-X"]]


def test_plain_tags_are_learned_as_they_are():
    tagset = TagSet.of("auto", [["N", "D", "N"]])
    assert tagset == TagSet(["D", "N"], None, False)
    assert tagset.shown == tagset.names == ["D", "N"]
    numbers = tagset.numbers([["N", "D"], ["X", "N"]])
    assert numbers.tolist() == [1, 0, -1, 1]
    assert numbers.dtype == np.int32


def test_bio_is_learned_as_bilou_and_shown_as_bio():
    tagset = TagSet.of("bilou", BIO)
    assert tagset.learned == ["B-X", "I-X", "L-X", "O", "U-X"]
    assert tagset.shown == ["B-X", "I-X", "I-X", "O", "B-X"]
    assert tagset.names == ["B-X", "I-X", "O"]
    assert tagset.meaning.tolist() == [0, 1, 1, 2, 0]
    assert [tagset.learned[k] for k in tagset.numbers(BIO)] == ["B-X", "I-X", "L-X", "O", "U-X"]


def test_a_sentence_of_one_token_always_has_a_tag():
    assert TagSet.of("bilou", [["B-X", "I-X"]]).learned == ["B-X", "L-X", "U-X"]


def test_a_wrong_tagging_is_named_by_its_sentence():
    with pytest.raises(CorpusError, match="sentence 2, "):
        TagSet.of("bilou", BIO).numbers([["O"], ["ODD"]])
