"""What all moments over a vocabulary share; the classes' own tests show it at work."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import CooccurrenceMoments, NgramMoments
from eigentext.errors import ModelFileError, MomentsError, ParameterError
from eigentext.moments.additive import limited, read_counts
from eigentext.moments.packing import pack

WORDS, COUNTS = ["b", "a", "c"], np.array([5, 5, 1])
INTEGERS = {"tokenizer": "integers"}


def test_words_are_sorted_and_cut():
    assert limited(WORDS, COUNTS, {}, 1, None).words == ["a", "b", "c"]
    assert limited(WORDS, COUNTS, {}, 2, None).words == ["a", "b"]
    assert limited(WORDS, COUNTS, {}, 1, 1).words == ["a"]


def test_integers_keep_their_places():
    assert limited(["0", "1", "2"], COUNTS, INTEGERS, 1, 3).words == ["0", "1", "2"]
    for limits in ((2, None), (1, 2)):
        with pytest.raises(ParameterError, match="keep their numbers and are never cut"):
            limited(["0", "1", "2"], COUNTS, INTEGERS, *limits)


@pytest.mark.parametrize(
    ("moments", "shared"), [(CooccurrenceMoments, "row"), (NgramMoments, "symbol")]
)
def test_cut_moments_say_what_they_cannot_do(moments, shared):
    whole = moments.from_corpus([["a", "b", "a", "c"]])
    assert whole.limits is None
    cut = whole.restrict(min_count=2)
    assert cut.limits is not None
    assert cut.limits.startswith(f"cut to 1 words: the 2 other tokens share one {shared}, so")
    with pytest.raises(MomentsError, match="'c' is not in these moments, which are cut to 1 word"):
        cut.restrict(["a", "c"])
    with pytest.raises(MomentsError, match="different vocabularies"):
        cut + whole.restrict(["b"])


def test_damaged_counts_name_their_file():
    F = sp.csr_array(np.array([[0, 2], [1, 0]]))
    packed, blocks = pack(F)
    assert np.array_equal(read_counts(packed, blocks, F.shape).toarray(), F.toarray())
    with pytest.raises(ModelFileError, match=r"saved moments: damaged: .* fit the model again"):
        read_counts(packed[:-1], blocks, F.shape)
