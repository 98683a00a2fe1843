"""The tagged-sequence kernel: the example of [Collins 2003], all fragments, classes of words."""

import numpy as np
import pytest

import structures
from eigentext import SequenceKernel
from eigentext.errors import EigentextError

FIRST = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")]
SECOND = [("a", "A"), ("b", "B"), ("e", "C"), ("e", "E")]


def exact(word):
    return {"": 1.0, word: 1.0}


def capitals(word):
    return {"": 1.0, ("capital", word.isupper()): 0.5, word: 0.5}


def test_the_example_of_collins_2003():
    kernel = SequenceKernel()
    assert kernel(FIRST[2:], SECOND[2:]) == 1  # delta(C, C)
    assert kernel(FIRST[1:], SECOND[1:]) - 1 == 4  # delta(B, B)
    assert kernel(FIRST, SECOND) - 4 - 1 == 10  # delta(A, A)


@pytest.mark.parametrize("decay", [1.0, 0.3])
@pytest.mark.parametrize(("match", "features"), [("exact", exact), ("capitalization", capitals)])
def test_it_equals_fragments_written_out(decay, match, features):
    rng = np.random.default_rng(1)
    taggings = [structures.random_tagging(rng) for _ in range(10)]
    kernel = SequenceKernel(decay, match=match)
    expected = [
        [structures.sequence_kernel(a, b, decay, features) for b in taggings] for a in taggings
    ]
    expected = np.array(expected)
    np.testing.assert_allclose(kernel.gram(taggings), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.gram(taggings[4:], taggings), expected[4:], rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(taggings), expected.diagonal(), rtol=1e-12)
    alpha = rng.normal(size=10)
    scores = kernel.scores(taggings, alpha, taggings)
    np.testing.assert_allclose(scores, alpha @ expected, rtol=1e-9, atol=1e-9)
    assert np.linalg.eigvalsh(kernel.gram(taggings)).min() > -1e-9


def test_long_fragments_weigh_decay_to_their_length():
    one, two = [("a", "A")], [("a", "A"), ("b", "B")]
    assert SequenceKernel(0.5)(one, one) == 0.5 * 2
    # One state: A, A-a, B, B-b; two: four ways to have words or not.
    assert SequenceKernel(0.5)(two, two) == 0.5 * 4 + 0.5**2 * 4


@pytest.mark.parametrize(
    ("match", "value"),
    [
        ("exact", 1.0),
        ("factor", 1.5),
        ({"dog|NN": "pet", "cat|NN": "pet"}, 1.5),
        ({"dog|NN": "pet"}, 1.0),
        ({"dog|NN": "cat|NN"}, 1.0),  # a class with the name of a word
        (len, 1.5),
    ],
)
def test_words_of_a_class_count_half(match, value):
    kernel = SequenceKernel(match=match)
    assert kernel([("dog|NN", "N")], [("cat|NN", "N")]) == value
    assert kernel([("dog|NN", "N")], [("dog|NN", "N")]) == 2.0
    assert kernel([("dog|NN", "N")], [("dog|NN", "O")]) == 0.0


def test_joint_states_are_tags_with_classes():
    tagged = [("dog|NN", "B"), ("barks|VB", "I")], [("cat|NN", "B"), ("barks|NN", "I")]
    apart = [[(word, f"{tag}|{word[-2:]}") for word, tag in one] for one in tagged]
    kernel, expected = SequenceKernel(0.5, match="factor", joint=True), SequenceKernel(0.5)
    assert np.array_equal(kernel.gram(tagged), expected.gram(apart))
    assert kernel(*tagged) == 0.5  # only a B with a noun


def test_capitalization_is_that_of_the_first_letter():
    kernel = SequenceKernel(match="capitalization")
    values = [kernel([("Elba", "S")], [(word, "S")]) for word in ("Elba", "IBM", "to", "1815", "")]
    assert values == [2.0, 1.5, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "structure 1: it is empty"),
        ("a/A b/B", "structure 1: .*not a list of"),
        ([("a", "A"), "b"], "structure 1: 'b' is no"),
        ([("a", "A", "B")], "structure 1: .*not \\(word, tag\\)"),
        (None, "structure 1: .*not a list of"),
    ],
)
def test_structures_that_are_not_tagged_sequences(bad, message):
    with pytest.raises(EigentextError, match=message):
        SequenceKernel().encode([FIRST, bad])


@pytest.mark.parametrize("decay", [0, 2, -1])
def test_a_decay_out_of_range(decay):
    with pytest.raises(EigentextError, match="decay must be"):
        SequenceKernel(decay).encode([FIRST])


@pytest.mark.parametrize("match", ["case", None, 3])
def test_an_unknown_match(match):
    with pytest.raises(EigentextError, match="match must be 'exact', 'capitalization', 'factor'"):
        SequenceKernel(match=match).encode([FIRST])
