"""The mutual information of adjacent classes: known answers, and clusters from anywhere."""

from itertools import pairwise

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import average_mutual_information
from eigentext.evaluate.classes import class_of_words, labels_of, mutual_information

TEXT = ["the", "cat", "sat", "the", "dog", "sat", "a", "cat", "ran", "a", "dog", "ran"]
CLASSES = {"the": "0", "a": "0", "cat": "10", "dog": "10", "sat": "11", "ran": "11"}


def test_known_answers():
    ones = np.ones(4, np.int64)
    assert np.isclose(mutual_information(np.arange(4), np.arange(4)[::-1], ones), np.log(4))
    assert mutual_information(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), ones) == 0
    assert mutual_information(np.zeros(0, int), np.zeros(0, int), np.zeros(0, int)) == 0
    rounded = mutual_information(np.zeros(2, int), np.arange(2), np.array([3, 4]))
    assert str(rounded) == "0.0"  # not -0.0, nor a little below


def test_of_a_text_by_the_definition():
    labels = [CLASSES[word] for word in TEXT]
    pairs = list(pairwise(labels))
    expected = 0.0
    for pair in set(pairs):
        p = pairs.count(pair) / len(pairs)
        one = sum(a == pair[0] for a, _ in pairs) / len(pairs)
        two = sum(b == pair[1] for _, b in pairs) / len(pairs)
        expected += p * np.log(p / (one * two))
    assert np.isclose(average_mutual_information(CLASSES, TEXT), expected)
    moments = et.NgramMoments.from_corpus(TEXT, order=2)
    assert np.isclose(average_mutual_information(CLASSES, moments), expected)


def test_merging_classes_never_gains():
    rng = np.random.default_rng(0)
    text = [str(x) for x in rng.zipf(1.5, 500) % 30]
    classes = {str(x): int(x % 7) for x in range(30)}
    merged = {word: min(one, 4) for word, one in classes.items()}
    alone = {str(x): x for x in range(30)}
    values = [average_mutual_information(c, text) for c in (merged, classes, alone)]
    assert values == sorted(values)


def test_pairs_do_not_cross_units():
    assert average_mutual_information({"a": 0, "b": 1}, [["a"], ["b"], ["a", "a"]]) == 0


def test_clusters_from_anywhere_are_the_same(tmp_path):
    lines = [line.split() for line in ("the cat sat", "the dog sat", "a cat ran", "a dog ran")] * 5
    clusters = et.WordClusters(3).fit(et.Eigenwords(2, window=1, min_count=1).fit(lines))
    clusters.to_tsv(tmp_path / "paths")
    given = dict(zip(clusters.vocabulary_.words, clusters.bit_strings_))
    model = et.ClassBigram(clusters).fit(lines)
    ways = (clusters, tmp_path / "paths", str(tmp_path / "paths"), given, model)
    values = [average_mutual_information(one, lines) for one in ways]
    assert np.allclose(values, values[0])
    assert np.isclose(values[0], model.average_mutual_information_)


def test_words_without_a_class_share_one():
    some = {"the": 0, "a": 0, "cat": 1, "dog": 1}
    every = some | {"sat": 2, "ran": 2}
    assert np.isclose(
        average_mutual_information(some, TEXT), average_mutual_information(every, TEXT)
    )
    assert labels_of(["x", "cat", "the"], some).tolist() == [-1, 0, 1]
    assert class_of_words({"x": "", "y": -1, "z": 0}) == {"z": 0}


@pytest.mark.parametrize(
    ("clusters", "error", "why"),
    [
        ({"zebra": 1}, ParameterError, "no word of the text is in the clusters"),
        ({}, ParameterError, "no word of the text"),
        ({"cat": 1.5}, ParameterError, "not a word with its class"),
        ({3: 1}, ParameterError, "not a word with its class"),
        (object(), ParameterError, "object has no clusters; give fitted WordClusters"),
        ("no/such/file", CorpusError, "no/such/file"),
    ],
)
def test_refusals(clusters, error, why):
    with pytest.raises(error, match=why):
        average_mutual_information(clusters, TEXT)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("0\tcat\t3\n1\tcat\t2\n", "line 2: 'cat' occurs a second time"),
        ("cat 3\n", "line 1: not a class, a word and a count"),
        ("\n", "no words"),
    ],
)
def test_bad_paths_files(tmp_path, content, why):
    path = tmp_path / "paths"
    path.write_text(content)
    with pytest.raises(CorpusError, match=why):
        average_mutual_information(path, TEXT)


def test_moments_without_pairs():
    with pytest.raises(ParameterError, match="order=2"):
        average_mutual_information(CLASSES, et.NgramMoments.from_corpus(TEXT, order=1))
