"""Features of sentences, against strings that are put together one by one; vectors; files."""

import numpy as np
import pytest

from eigentext import engine
from eigentext.tagging.attributes import attribute
from eigentext.tagging.features import FeatureExtractor, numbered, restore_features, saved_features
from eigentext.tagging.sources import ClusterSource, TokenVectorSource, WordVectorSource
from eigentext.tagging.templates import VECTORS, parse_templates, written

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

TEMPLATES = [
    "word[-2..2]",
    "pos[0]",
    "word[-1]|pos[0]",
    "pos[-1]|word[0]|suffix2[1]",
    "short_shape[0]",
    "cluster[0]",
    "cluster2[-1]|word[0]",
]
PATHS = {"aa": "0010", "Ab": "011", "b1": "1"}


class Lengths:
    """A model of tokens: the length of a token and its place in the sentence."""

    def transform(self, sentences):
        return [np.array([(len(w), t) for t, w in enumerate(one)], float) for one in sentences]


def random_sentences(seed, n=30):
    rng = np.random.default_rng(seed)
    words = ["aa", "Ab", "b1", "cc", "C", "dd-d"]
    return [
        [(words[rng.integers(6)], "XYZ"[rng.integers(3)]) for _ in range(rng.integers(1, 6))]
        for _ in range(n)
    ]


def features(templates=TEMPLATES, sources=None, paths=PATHS):
    clusters = ClusterSource(list(paths), list(paths.values())) if paths else None
    return FeatureExtractor(parse_templates(templates), ("word", "pos"), clusters, sources or {})


def slow_names(sentences, templates=TEMPLATES):
    """The feature of every template at every token as a string, or None."""

    def value(token, name):
        if name in ("word", "pos"):
            return token[("word", "pos").index(name)]
        if name.startswith("cluster"):
            path = PATHS.get(token[0])
            return path and path[: int(name[7:] or 99)]
        return attribute(name)(token[0])

    rows = []
    for sentence in sentences:
        for t in range(len(sentence)):
            row = []
            for template in parse_templates(templates):
                parts = [
                    "<s>"
                    if t + offset < 0
                    else "</s>"
                    if t + offset >= len(sentence)
                    else value(sentence[t + offset], name)
                    for name, offset in template
                ]
                row.append(None if None in parts else f"{written(template)}={'|'.join(parts)}")
            rows.append(row)
    return rows


def names_of(made, encoded):
    return [[None if f < 0 else made.name(f) for f in row] for row in encoded.features.tolist()]


def test_borders_of_sentences_by_hand():
    made = features(["word[-1]|word[1]", "pos[-2]"], paths=None)
    encoded = made.learn([[("a", "X"), ("b", "Y")], [("c", "Z")]], 1, 1.0)
    assert encoded.borders.tolist() == [0, 2, 3]
    assert encoded.lengths.tolist() == [2, 1]
    assert names_of(made, encoded) == [
        ["word[-1]|word[1]=<s>|b", "pos[-2]=<s>"],
        ["word[-1]|word[1]=a|</s>", "pos[-2]=<s>"],
        ["word[-1]|word[1]=<s>|</s>", "pos[-2]=<s>"],
    ]
    # b is known only after <s>, and <s> only two positions before, where Y never occurred.
    new = made.encode([[("b", "Q"), ("b", "X"), ("z", "X")]])
    assert names_of(made, new) == [
        ["word[-1]|word[1]=<s>|b", "pos[-2]=<s>"],
        [None, "pos[-2]=<s>"],
        [None, None],
    ]


@pytest.mark.parametrize("seed", range(5))
def test_features_are_the_strings(seed):
    made, sentences = features(), random_sentences(seed)
    learned = made.learn(sentences, 1, 1.0)
    expected = slow_names(sentences)
    assert learned.features.dtype == np.int32
    assert names_of(made, learned) == expected
    distinct = {name for row in expected for name in row if name}
    assert len(made.keys) == len(made.parts) == len(distinct)
    assert {made.name(f) for f in range(len(made.keys))} == distinct
    for part, again in zip(learned, made.encode(sentences)):
        np.testing.assert_array_equal(part, again)
    other = random_sentences(seed + 100)
    known = [[name if name in distinct else None for name in row] for row in slow_names(other)]
    assert names_of(made, made.encode(other)) == known


def test_rare_features_are_left_out():
    made, sentences = features(), random_sentences(0)
    encoded = made.learn(sentences, 4, 1.0)
    strings = slow_names(sentences)
    counts = {}
    for name in (name for row in strings for name in row if name):
        counts[name] = counts.get(name, 0) + 1
    expected = [[n if n and counts[n] >= 4 else None for n in row] for row in strings]
    assert names_of(made, encoded) == expected
    np.testing.assert_array_equal(made.encode(sentences).features, encoded.features)


def test_features_that_are_forgotten():
    made, sentences = features(), random_sentences(0)
    before = names_of(made, made.learn(sentences, 1, 1.0))
    kept = np.arange(0, len(made.keys), 3)
    names = [made.name(f) for f in kept.tolist()]
    made.keep(kept)
    assert [made.name(f) for f in range(len(kept))] == names
    expected = [[name if name in set(names) else None for name in row] for row in before]
    assert names_of(made, made.encode(sentences)) == expected


def test_restored_features_are_the_same():
    made, sentences = features(), random_sentences(0)
    made.learn(sentences, 1, 1.0)
    again = features()
    restore_features(again, saved_features(made))
    other = random_sentences(7)
    np.testing.assert_array_equal(again.encode(other).features, made.encode(other).features)
    assert [again.name(f) for f in range(9)] == [made.name(f) for f in range(9)]


def test_same_bits_on_any_number_of_threads():
    found = []
    for n in (1, 2):
        with engine.use(engine.ThreadEngine(n)):
            made = features()
            found.append((*made.learn(random_sentences(0), 1, 1.0), made.keys, made.parts))
    for one, two in zip(*found):
        np.testing.assert_array_equal(one, two)


def test_vectors_stand_where_the_tokens_are():
    vectors = WordVectorSource(["aa", "cc"], np.array([[3.0, 4.0], [0.0, 5.0]]))
    sources = {"vector": vectors, "token": TokenVectorSource(Lengths())}
    templates = ["token[0]", "vector[-1..0]", "word[0]"]
    made = features(templates, sources, paths=None)
    assert made.dense == [("token", 0), ("vector", -1), ("vector", 0)]
    assert [written(one) for one in made.sparse] == ["word[0]"]
    assert made.places.tolist() == [[1, 0, 0], [0, -1, 2], [0, 0, 4]]
    assert made.widths.tolist() == [2, 2]
    assert made.n_dense == 6
    sentences = [[("aa", "X"), ("zz", "X")], [("CC", "X")]]
    encoded = made.learn(sentences, 1, 2.0)
    # The mean square of aa and cc is (9 + 16 + 0 + 25) / 4; that of lengths and places is 13 / 6.
    assert vectors.scale == pytest.approx(2 / np.sqrt(12.5))
    assert sources["token"].scale == pytest.approx(2 / np.sqrt(13 / 6))
    assert (encoded.starts[:, 0] < 0).tolist() == [False, True, False]
    assert encoded.values.dtype == np.float32

    def vector(t, source):
        start = encoded.starts[t, source]
        return encoded.values[start : start + 2] / list(sources.values())[source].scale

    np.testing.assert_allclose(vector(0, 0), [3, 4], rtol=1e-6)
    np.testing.assert_allclose(vector(2, 0), [0, 5], rtol=1e-6)
    np.testing.assert_allclose([vector(t, 1) for t in range(3)], [[2, 0], [2, 1], [2, 0]])
    assert made.coverage(sentences) == {"vector": 2 / 3, "token": 1.0}
    np.testing.assert_array_equal(made.encode(sentences).values, encoded.values)


def test_vectors_alone():
    made = features(
        ["vector[0]"], {"vector": WordVectorSource(["aa"], np.ones((1, 3)))}, paths=None
    )
    encoded = made.learn([[("aa", "X"), ("b", "X")]], 1, 1.0)
    assert encoded.features.shape == (2, 0)
    assert encoded.starts.tolist() == [[0], [-1]]
    assert made.encode([[("b", "X")]]).features.shape == (1, 0)
    again = features(["vector[0]"], made.sources, paths=None)
    restore_features(again, saved_features(made))
    assert len(again.keys) == 0


def test_coverage_of_clusters():
    sentences = [[("aa", "X"), ("AB", "X")], [("ab", "X"), ("q", "X")]]
    # AB is looked up as ab, which is unknown, and as AB. ab is found as Ab.
    assert features().coverage(sentences) == {"cluster": 2 / 4}
    assert features(["word[0]"], paths=None).coverage(sentences) == {}


def test_strings_are_numbered_in_order_of_appearance():
    codes, distinct = numbered(["b", "a", "b", "c"])
    assert codes.tolist() == [0, 1, 0, 2]
    assert distinct == ["b", "a", "c"]
    assert "vector" in VECTORS
