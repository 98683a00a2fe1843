"""Agreement with labels: by hand, by scikit-learn, and whatever the names of groups."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import label_agreement

lists = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), min_size=1, max_size=40)


def test_by_hand():
    # Group 0: a a b; group 1: b b c. Entropies: of groups log 2; of labels (1/3, 1/2, 1/6).
    found = label_agreement([0, 0, 0, 1, 1, 1], list("aabbbc"))
    assert found.purity == pytest.approx(4 / 6)
    labels = -sum(p * math.log(p) for p in (1 / 3, 1 / 2, 1 / 6))
    both = -sum(p * math.log(p) for p in (1 / 3, 1 / 6, 1 / 3, 1 / 6))
    shared = math.log(2) + labels - both
    assert found.nmi == pytest.approx(2 * shared / (math.log(2) + labels))
    # Pairs in one group: 6, with one label: 1 + 3 = 4, both: 1 + 1 = 2; of 15.
    assert found.ari == pytest.approx((2 - 6 * 4 / 15) / (5 - 6 * 4 / 15))


@given(lists)
def test_figures_are_those_of_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    groups, labels = map(list, zip(*pairs))
    found = label_agreement(groups, labels)
    nmi = metrics.normalized_mutual_info_score(labels, groups)
    assert found.nmi == pytest.approx(nmi, abs=1e-9)
    assert found.ari == pytest.approx(metrics.adjusted_rand_score(labels, groups), abs=1e-9)


@given(lists, st.permutations(range(5)), st.permutations("abc"))
def test_names_do_not_matter(pairs, numbers, letters):
    groups, labels = map(list, zip(*pairs))
    names = dict(zip("abc", letters))
    one = label_agreement(groups, labels)
    other = label_agreement([numbers[k] for k in groups], [names[x] for x in labels])
    assert (one.purity, one.nmi, one.ari) == pytest.approx((other.purity, other.nmi, other.ari))


def test_labels_that_are_the_groups_agree_fully():
    found = label_agreement([2, 2, 0, 1], ["x", "x", "y", "z"])
    assert (found.purity, found.nmi, found.ari) == pytest.approx((1, 1, 1))
    assert found.table.mapping == {"0": "y", "1": "z", "2": "x"}


def test_chance_has_no_adjusted_rand_index():
    rng = np.random.default_rng(0)
    found = label_agreement(rng.integers(0, 10, 20_000), rng.integers(0, 10, 20_000))
    assert abs(found.ari) < 0.002
    assert found.nmi < 0.01


def test_documents_without_one_label_are_left_out_and_counted():
    labels = ["a", None, float("nan"), "", ["a", "b"], ["b"], [], ("b", "b")]
    found = label_agreement([0, 1, 1, 1, 0, 1, 0, 1], labels)
    assert (found.n_documents, found.n_unlabeled, found.n_several) == (3, 4, 1)
    assert found.nmi == pytest.approx(1)
    assert "4 without a label left out; 1 with several labels left out" in str(found)
    assert found.to_dict()["n_several"] == 1
    assert "<table" in found._repr_html_()


def test_numbers_and_strings_are_equal_labels():
    found = label_agreement([0, 0, 1], [3, "3", 3.0])
    assert found.table.gold == ["3"]


@pytest.mark.parametrize(
    ("groups", "labels", "error", "told"),
    [
        ([0, 1], ["a"], ParameterError, "1 labels and 2 documents"),
        ([0, 1], "ab", ParameterError, "a list with a label for each document"),
        ([0, 1], None, ParameterError, "a list with a label for each document"),
        ([0, 1], [None, ["a", "b"]], CorpusError, "none of the 2 documents has exactly one label"),
        ([], [], CorpusError, "exactly one label"),
    ],
)
def test_bad_input_is_told(groups, labels, error, told):
    with pytest.raises(error, match=told):
        label_agreement(groups, labels)
