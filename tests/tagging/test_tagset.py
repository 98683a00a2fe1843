"""The tags that are learned, and the tags that are shown."""

import numpy as np
import pytest

from eigentext.errors import CorpusError
from eigentext.tagging.tagset import TagSet

BIO = [["B-X", "I-X", "I-X", "O"], ["B-X"]]


def test_plain_tags_are_learned_as_they_are():
    tagset, tags, n_changed = TagSet.of("auto", [["N", "D", "N"]])
    assert (tags, n_changed) == ([["N", "D", "N"]], 0)
    assert tagset == TagSet(["D", "N"], None, False)
    assert tagset.shown == tagset.names == ["D", "N"]
    numbers = tagset.numbers([["N", "D"], ["X", "N"]])
    assert numbers.tolist() == [1, 0, -1, 1]
    assert numbers.dtype == np.int32


def test_bio_is_learned_as_bilou_and_shown_as_bio():
    tagset = TagSet.of("bilou", BIO)[0]
    assert tagset.learned == ["B-X", "I-X", "L-X", "O", "U-X"]
    assert tagset.shown == ["B-X", "I-X", "I-X", "O", "B-X"]
    assert tagset.names == ["B-X", "I-X", "O"]
    assert tagset.meaning.tolist() == [0, 1, 1, 2, 0]
    assert [tagset.learned[k] for k in tagset.numbers(BIO)] == ["B-X", "I-X", "L-X", "O", "U-X"]


@pytest.mark.parametrize("scheme", ["auto", "bio", "bilou"])
def test_iob1_is_learned_and_read_as_bio(scheme):
    iob1 = [["I-X", "I-X", "I-X", "O"], ["I-X", "B-X"]]
    bio = [["B-X", "I-X", "I-X", "O"], ["B-X", "B-X"]]
    with pytest.warns(UserWarning, match="read 2 tags of the scheme IOB1 as BIO"):
        tagset, tags, n_changed = TagSet.of(scheme, iob1)
    assert (tags, n_changed) == (bio, 2)
    assert (tagset, bio, 0) == TagSet.of(scheme, bio)
    assert tagset.read(iob1) == bio
    np.testing.assert_array_equal(tagset.numbers(iob1), tagset.numbers(bio))
    assert tagset.read([["NN", "I-X"]]) == [["NN", "I-X"]]


def test_iobes_stays_iobes():
    tags = [["S-X", "B-X", "E-X"], ["B-X", "I-X", "E-X", "O"]]
    tagset, found, _ = TagSet.of("auto", tags)
    assert (tagset.scheme, tagset.converts, found) == ("iobes", False, tags)
    assert tagset.names == ["B-X", "E-X", "I-X", "O", "S-X"]
    assert tagset.read([["B-X", "O"], ["U-X", "B-X", "L-X"]]) == [["S-X", "O"], tags[0]]


def test_a_sentence_of_one_token_always_has_a_tag():
    assert TagSet.of("bilou", [["B-X", "I-X"]])[0].learned == ["B-X", "L-X", "U-X"]


def test_a_wrong_tagging_is_named_by_its_sentence():
    with pytest.raises(CorpusError, match="sentence 2, "):
        TagSet.of("bilou", BIO)[0].numbers([["O"], ["ODD"]])
