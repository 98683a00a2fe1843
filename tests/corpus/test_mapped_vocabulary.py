"""A vocabulary in arrays of a file behaves as one in memory."""

import pickle

import numpy as np
import pytest

from eigentext import Vocabulary
from eigentext.corpus.mapped_vocabulary import MappedVocabulary, vocabulary_to_saved
from eigentext.errors import ModelFileError, UnknownWordError

WORDS = ["the", "café", "a\0b", "", "日本", "c d", *(f"w{i}" for i in range(300))]


@pytest.fixture
def plain():
    return Vocabulary(WORDS, range(len(WORDS), 0, -1))


@pytest.fixture
def mapped(plain):
    return MappedVocabulary.of(*vocabulary_to_saved(plain))


def test_the_same_answers(plain, mapped):
    asked = [*WORDS[::-1], "them", "cafe", "w300", "a\0", "\ud800", "日"]
    for some in (asked, WORDS, ["the"], ["a\0b"], ["x\0y", "the"], ["the", "a\0b"], [""], []):
        assert np.array_equal(mapped.ids_of(some), plain.ids_of(some))
        assert np.array_equal(mapped.ids_of(some, -2), plain.ids_of(some, -2))
    assert "words" not in vars(mapped)
    assert len(mapped) == len(plain)
    assert mapped["日本"] == 4
    assert "the" in mapped
    assert "them" not in mapped
    assert 3 not in mapped
    with pytest.raises(UnknownWordError, match="did you mean"):
        mapped["w3000"]
    assert mapped.words == WORDS
    assert list(mapped) == WORDS
    assert mapped == plain
    assert plain == mapped
    assert pickle.loads(pickle.dumps(mapped)) == plain


def test_it_is_saved_as_it_is(plain, mapped):
    for (a, about), (b, other) in [(vocabulary_to_saved(plain), vocabulary_to_saved(mapped))]:
        assert about == other
        assert all(np.array_equal(a[name], b[name]) for name in a)


def test_damage_is_told(plain):
    arrays, about = vocabulary_to_saved(plain)
    utf8 = arrays["names.bytes"].copy()
    utf8[3] = 255
    with pytest.raises(ModelFileError, match="UTF-8"):
        MappedVocabulary.of(arrays | {"names.bytes": utf8}, about).words  # noqa: B018
    offsets = arrays["names.offsets"] * 99
    with pytest.raises(ModelFileError, match="UTF-8"):
        MappedVocabulary.of(arrays | {"names.offsets": offsets}, about).words  # noqa: B018
    with pytest.raises(ModelFileError, match="power of two"):
        MappedVocabulary.of(arrays | {"names.slots": np.zeros(3, np.uint32)}, about)
    twice, _ = vocabulary_to_saved(Vocabulary(["a", "a"], [1, 1]))
    with pytest.raises(ModelFileError, match="twice"):
        MappedVocabulary.of(twice, about).words  # noqa: B018
