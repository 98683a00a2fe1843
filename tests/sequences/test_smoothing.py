"""Discounts by hand, and the sums of smoothed probabilities."""

import numpy as np
import pytest

from eigentext import NgramMoments
from eigentext.errors import MomentsError
from eigentext.sequences._smoothing import discounts_of, suffixes, tables_of, trie_of


@pytest.mark.parametrize(
    ("counts", "expected", "rule"),
    [
        ([1] * 4 + [2] * 2 + [3, 4], (0.5, 1.25, 1.0), "modified"),
        ([1] * 4 + [2] * 2 + [3, 9], (0.5, 0.5, 0.5), "single"),
        ([1, 1, 2, 3, 3, 3, 4], (0.5, 0.5, 0.5), "single"),  # D(2) would be negative
        ([1, 1, 5, 0], (0.5, 1.0, 1.5), "fixed"),
        ([7, 8, 9], (0.5, 1.0, 1.5), "fixed"),
    ],
)
def test_discounts(counts, expected, rule):
    found, name, _ = discounts_of(np.array(counts))
    assert found == pytest.approx(expected)
    assert name == rule


@pytest.mark.parametrize("stream", [False, True])
def test_the_children_of_a_context_and_its_weight_add_up_to_one(stream):
    rng = np.random.default_rng(0)
    moments = NgramMoments.from_corpus(rng.integers(0, 9, 400 if stream else (80, 5)), order=3)
    trie, p, b = tables_of(moments, np.full((3, 3), 0.4))
    assert p[: trie.n_symbols].sum() == pytest.approx(1)
    suffix = suffixes(trie)
    for node in range(len(b)):
        children = slice(trie.first[node], trie.first[node + 1])
        if p[children].any():
            assert p[children].sum() + b[node] * (1 - p[suffix[children]].sum()) == pytest.approx(1)
        else:
            assert b[node] == 1


def test_windows_of_no_text():
    moments = NgramMoments.from_corpus([[0, 1, 2]], order=3)
    moments.levels[0].indices[:] = 0
    with pytest.raises(MomentsError, match="these are the counts of no text"):
        suffixes(trie_of(moments))
