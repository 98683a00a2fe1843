"""The parts of a class bigram: shares of words, information, and frequencies of classes by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.sequences import _class_parts
from eigentext.sequences._class_parts import emissions, information


@pytest.mark.parametrize("seed", range(5))
def test_shares_add_up_to_one_in_each_class(seed):
    rng = np.random.default_rng(seed)
    classes = np.append(np.arange(4), rng.integers(4, size=12))
    counts = rng.integers(4, size=16)
    shares = emissions(classes, counts, 4)
    assert np.allclose(np.bincount(classes, shares), 1)
    assert (shares > 0).all()  # also of words without tokens


def test_shares_by_hand():
    whole = emissions(np.array([0, 0, 1]), np.array([3, 1, 5]), 2)
    assert whole.tolist() == [0.75, 0.25, 1]
    # Half of the least count, 1/2, is taken from both words, and the sum divided among three.
    some = emissions(np.array([0, 0, 0]), np.array([3, 1, 0]), 1)
    assert np.allclose(some, np.array([3 - 0.5 + 1 / 3, 1 - 0.5 + 1 / 3, 1 / 3]) / 4)
    assert emissions(np.array([0, 0]), np.array([0, 0]), 1).tolist() == [0.5, 0.5]


def test_information_is_that_of_pairs_inside_units():
    # Words 0 and 1 alternate; 2 is the rare word, 3 the edge, which does not count.
    C = sp.csr_array(np.array([[0, 5, 0, 9], [5, 0, 0, 9], [0, 0, 0, 0], [9, 9, 0, 0]]))
    labels = np.array([0, 1, 2, 3])
    assert information(C, labels) == pytest.approx(np.log(2))
    assert information(C, np.array([0, 0, 1, 2])) == pytest.approx(0)


@pytest.mark.parametrize("stream", [True, False])
def test_frequencies_without_smoothing(stream):
    N = sp.csr_array(np.array([[1, 3, 0, 0], [2, 0, 0, 2], [0, 0, 0, 0], [2, 0, 0, 0]]))
    counts = np.array([5, 3, 0, 2])
    tables = _class_parts._unsmoothed(N, counts, stream)
    assert np.allclose(tables.distribution([0]), [0.25, 0.75, 0, 0])
    assert np.allclose(tables.distribution([1]), [0.5, 0, 0, 0.5])
    alone = np.array([5, 3, 0, 0 if stream else 2])
    assert np.allclose(tables.distribution([]), alone / alone.sum())
    assert np.allclose(tables.distribution([2]), alone / alone.sum())  # nothing followed it


def test_findings_say_what_is_unusual():
    def said(**found):
        found = {"average_mutual_information": 0.5, "n_classes": 9, **found}
        return [one.sentence for one in _class_parts.findings_of(found, {"n_tokens": 0})]

    assert len(said()) == 1
    assert "0.5000 nats" in said()[0]
    assert "only 20% of the tokens" in said(covered=0.2)[1]
    assert "3 of the given clusters have no word" in said(empty_classes=3)[1]
    assert "the last of 7 sweeps" in said(converged=False, n_iter=7)[1]
    [only] = _class_parts.findings_of({}, {})
    assert "read from files" in only.sentence
