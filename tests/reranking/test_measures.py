"""Counts that can be added: they equal those of the scorers, and known answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.evaluate import brackets
from eigentext.kernels.candidate import Candidate
from eigentext.reranking.measures import (
    MEASURES,
    chunk_f1,
    closest,
    measure_of,
    tag_accuracy,
    tagging_f1,
    tree_f1,
)

GOLD = "(S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars)) (PP (IN at) (NP (NN night)))) (. .))"
NEAR = "(S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars) (PP (IN at) (NN night)))) (. .))"
FAR = "(X (PRP she) (VBD saw) (NNS stars) (IN at) (NN night) (. .))"


def tagged(words: str, tags: str):
    return list(zip(words.split(), tags.split(), strict=True))


def test_brackets_as_they_are_scored():
    assert tree_f1.counts(GOLD, NEAR).tolist() == [4, 6, 5]
    assert tree_f1(GOLD, NEAR) == 8 / 11
    assert tree_f1(GOLD, Candidate(et.Tree.parse(GOLD), -1.0)) == 1.0
    assert tree_f1.counts(GOLD, FAR).tolist() == [0, 6, 1]
    assert tree_f1.counts(GOLD, GOLD.replace("she", "he")).tolist() == [0, 6, 0]
    # The score of a corpus is computed from summed counts. It is not a mean of scores.
    right, found = [GOLD, "(NP (NN a))", GOLD], [NEAR, "(VP (NN a))", FAR]
    total = sum(map(tree_f1.counts, right, found))
    assert tree_f1.value(total) == brackets(right, found).f1


def test_chunks():
    gold = tagged("she saw old stars", "B-NP B-VP B-NP I-NP")
    near = tagged("she saw old stars", "B-NP B-VP B-NP O")
    assert chunk_f1.counts(gold, near).tolist() == [2, 3, 3]
    assert chunk_f1.counts(gold, (gold, -1.0)).tolist() == [3, 3, 3]
    # I-NP after O begins a chunk too.
    assert chunk_f1.counts(gold, tagged("she saw old stars", "I-NP O O O")).tolist() == [1, 3, 1]
    assert chunk_f1.counts(gold, gold[1:]).tolist() == [0, 3, 0]
    assert chunk_f1(tagged("a b", "O O"), tagged("a b", "O O")) == 1.0
    assert chunk_f1(tagged("a b", "O O"), tagged("a b", "O B-X")) == 0.0


def test_single_tags():
    gold = tagged("she saw old stars", "P V A N")
    assert tag_accuracy.counts(gold, tagged("she saw old stars", "P N A N")).tolist() == [3, 4, 4]
    assert tag_accuracy.counts(gold, tagged("she saw new stars", "P V A N")).tolist() == [0, 4, 4]
    assert tag_accuracy.counts(gold, gold[:2]).tolist() == [0, 4, 4]
    assert tagging_f1(gold, tagged("she saw old stars", "P N A N")) == 0.75


def test_values_of_many():
    counts = np.array([[[1, 2, 2], [0, 0, 0]], [[0, 3, 0], [2, 2, 2]]])
    np.testing.assert_array_equal(tree_f1.value(counts), [[0.5, 1.0], [0.0, 1.0]])
    assert isinstance(tree_f1.value(counts[0, 0]), float)


def test_the_measure_of_a_corpus():
    chunks, tags = tagged("a b", "B-NP O"), tagged("a b", "B-NP NN")
    assert measure_of([GOLD, et.Tree.parse(GOLD)]) is tree_f1
    assert measure_of([chunks, chunks, tagged("a", "I-VP")]) is chunk_f1
    assert measure_of([chunks, tags]) is tag_accuracy
    assert measure_of([tagged("a", "B-"), chunks]) is tag_accuracy
    for name, measure in MEASURES.items():
        assert repr(measure) == measure.name == name
    with pytest.raises(ParameterError, match="mixed; make a reranker for each kind"):
        measure_of([GOLD, chunks])
    for bad in ([["a", "b"], 3], [[("a", "b", "c")]], [[("a",), ("b", "c")]]):
        with pytest.raises(ParameterError, match="is not a tagged sequence; give a list of"):
            measure_of(bad)


def test_the_closest():
    assert closest([FAR, NEAR, GOLD, GOLD], GOLD, tree_f1) == 2
    assert closest([(FAR, -1.0), (NEAR, -2.0), (NEAR, -3.0)], GOLD, tree_f1) == 1
    assert closest([5, 3, 4], 3.6, lambda gold, one: -abs(gold - one)) == 2
    with pytest.raises(ParameterError, match="no candidates, so that none is closest"):
        closest([], GOLD, tree_f1)


@given(st.lists(st.tuples(*[st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])] * 2), min_size=1))
def test_chunks_laws(pairs):
    """Exchanging two taggings exchanges their counts. A tagging has all parts of itself."""
    one, other = ([("w", tag) for tag in tags] for tags in zip(*pairs))
    right, gold, predicted = chunk_f1.counts(one, other)
    assert chunk_f1.counts(other, one).tolist() == [right, predicted, gold]
    assert right <= min(gold, predicted)
    assert chunk_f1(one, one) == 1.0
    assert 0.0 <= chunk_f1(one, other) <= 1.0
