"""Matrices of features: against a slow twin, with the columns of other sets, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.errors import ParameterError
from eigentext.kernels.features import FeatureMatrix

names = st.one_of(st.sampled_from("abcdef"), st.tuples(st.sampled_from("ab"), st.integers(0, 2)))
rows = st.lists(st.dictionaries(names, st.integers(-3, 3), max_size=5), max_size=8)


def naive(rows, columns):
    dense = np.zeros((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for name, value in row.items():
            if name in columns:
                dense[i, columns[name]] += value
    return dense


@given(rows)
def test_names_are_numbered_as_first_seen(rows):
    features = FeatureMatrix.of(rows)
    assert list(features.columns) == list(dict.fromkeys(name for row in rows for name in row))
    assert list(features.columns.values()) == list(range(len(features.columns)))
    assert (features.matrix.toarray() == naive(rows, features.columns)).all()
    assert (features.matrix.data != 0).all()
    assert features.matrix.has_canonical_format


@given(rows, rows)
def test_unknown_features_are_dropped_within_another_set(first, second):
    known = FeatureMatrix.of(first)
    inside = FeatureMatrix.of(second).within(known)
    assert (inside.matrix.toarray() == naive(second, known.columns)).all()
    assert inside.columns is known.columns
    assert inside.within(known) is inside


@given(rows)
def test_identity_is_that_of_the_features(rows):
    identity = FeatureMatrix.of(rows).identity
    plain = [{name: value for name, value in row.items() if value} for row in rows]
    for i, one in enumerate(plain):
        assert [identity[i] == number for number in identity] == [one == other for other in plain]


def test_pairs_may_have_large_places_in_any_order_and_twice():
    pairs = [([1 << 40, 3], [2.0, 1.0]), (np.array([3, 3, 5]), [1, 1, 0]), ([], [])]
    features = FeatureMatrix.of(pairs)
    assert features.columns == {3: 0, 5: 1, 1 << 40: 2}
    assert features.matrix.toarray().tolist() == [[1, 0, 2], [2, 0, 0], [0, 0, 0]]


def test_vectors_keep_their_width():
    features = FeatureMatrix.of(np.array([[0, 1.5, 0], [0, 0, 0]]))
    assert features.matrix.toarray().tolist() == [[0, 1.5, 0], [0, 0, 0]]
    assert FeatureMatrix.of([(1, 2), [True, False]]).matrix.toarray().tolist() == [[1, 2], [1, 0]]


def test_subsets_share_columns():
    features = FeatureMatrix.of([{"a": 1}, {"b": 2}, {"a": 3}])
    for which in ([2, 0], np.array([2, 0]), slice(None, None, -2)):
        assert features[which].matrix.toarray().tolist() == [[3, 0], [1, 0]]
        assert features[which].columns is features.columns
    assert len(features[[]]) == 0
    assert len(features[np.array([True, False, True])]) == 2


def test_no_structures():
    none = FeatureMatrix.of([])
    assert none.matrix.shape == (0, 0)
    assert len(none.identity) == 0
    assert FeatureMatrix.of([[1.0, 2.0]]).within(none).matrix.shape == (1, 0)
    assert none.within(FeatureMatrix.of([[1.0, 2.0]])).matrix.shape == (0, 2)


@pytest.mark.parametrize(
    ("representations", "message"),
    [
        ([{"a": 1}, [1.0]], "structure 1 has a vector for .* have a dictionary; give one kind"),
        ([[1.0], ([0], [1.0])], "structure 1 has a pair .* a vector; give one kind"),
        ([[1.0, 2.0], [1.0]], "structure 1 has a vector of length 1 .* have 2; give"),
        ([{"a": 1}, {"b": 2, "c": np.nan}], "feature 'c' of structure 1 is nan; give finite"),
        ([[0.0], [-np.inf]], "feature 0 of structure 1 is -inf; give finite"),
        ([([7], [np.inf])], "feature 7 of structure 0 is inf"),
        ([{"a": 1, "b": "x"}], "feature 'b' of structure 0 is 'x'; give finite"),
        ([{"a": None}], "feature 'a' of structure 0 is None"),
        ([{"a": 10**400}], "feature 'a' of structure 0 is 1000"),
        ([([0], [1]), ([0, -2], [1, 1])], "structure 1 has the place -2; places begin at 0"),
        (
            [([0, 1], [1])],
            "structure 0 has 2 places of features but 1 values; give",
        ),
        ([([0.5], [1])], "places of structure 0 are float64, not integers"),
        ([["the", "dog"]], "the features of structure 0 cannot be .*; features are a dictionary"),
        ([[[1, 2], [3]]], "the features of structure 0 cannot"),
        (["(S (NP x))"], "phi is a function from a structure"),
        ([3.0], "the features of structure 0 cannot be 3.0"),
        ([None], "the features of structure 0 cannot be None"),
    ],
)
def test_features_that_are_refused(representations, message):
    with pytest.raises(ParameterError, match=message):
        FeatureMatrix.of(representations)


def test_sets_that_do_not_fit_each_other():
    vectors = FeatureMatrix.of([[1.0, 2.0]])
    with pytest.raises(ParameterError, match="a dictionary for features, the other a vector"):
        FeatureMatrix.of([{"a": 1}]).within(vectors)
    with pytest.raises(ParameterError, match="vectors of length 3 meet others of length 2"):
        FeatureMatrix.of([[1.0, 2.0, 3.0]]).within(vectors)
