"""Lists of candidates: their log-probabilities, and gold structures that are missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.errors import ParameterError
from eigentext.kernels.candidate import Candidate
from eigentext.reranking._examples import CandidateLists, LabeledLists

A, B, C = [("a", "X"), ("b", "X")], [("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]


def test_only_differences_of_log_probabilities_stay():
    lists = CandidateLists([[(A, -7.0), (B, -9.5)], [], [(-3.0, C)]])
    assert lists.logs.tolist() == [0.0, -2.5, 0.0]
    assert lists.lists == [[Candidate(A, 0.0), Candidate(B, -2.5)], [], [Candidate(C, 0.0)]]
    assert lists.sizes.tolist() == [2, 0, 1]
    assert lists.borders.tolist() == [0, 2, 2, 3]
    assert [part.tolist() for part in lists.split(lists.logs)] == [[0.0, -2.5], [], [0.0]]


def test_impossible_candidates_come_last_and_all_impossible_ones_are_alike():
    lists = CandidateLists([[(A, -np.inf), (B, -2.0), (C, -6.0)], [(A, -np.inf), (B, -np.inf)]])
    assert lists.logs.tolist() == [-5.0, 0.0, -4.0, 0.0, 0.0]


def test_structures_alone_have_no_log_probabilities():
    assert CandidateLists([[A, B], ["(S (NP (NN a)))"]]).logs.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([[A, B], [(A, -1.0), (B, np.nan)]], "candidate 1 of input 1 has log-probability nan"),
        ([[(A, -1.0), (B, np.inf)]], "candidate 1 of input 0 .* inf"),
        ([[(A, -1.0), B]], "candidate 1 of input 0 has no log-probability"),
        (["(S (NP (NN a)))"], "input 0 is '.S .NP .NN a...', not a list of candidates"),
        ([[A], 3], "input 1 is 3, not a list"),
    ],
)
def test_bad_lists(candidates, message):
    with pytest.raises(ParameterError, match=message):
        CandidateLists(candidates)


@given(st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=6))
def test_the_first_of_the_best(scores):
    lists = CandidateLists([[(A, -1.0)] * len(one) for one in scores])
    flat = np.array([score for one in scores for score in one], dtype=np.float64)
    expected = [int(np.argmax(one)) if one else -1 for one in scores]
    assert lists.best(flat).tolist() == expected


def test_gold_is_found_by_structure_by_place_or_by_the_measure():
    lists = CandidateLists([[A, B], [B, A], [C, B], []])
    examples = LabeledLists(lists, [1, [["a", "X"], ["b", "X"]], A, A])
    assert examples.right.tolist() == [1, 1, 1, -1]  # B shares one tag with A, C none
    assert examples.replaced.tolist() == [False, False, True, False]
    assert examples.gold == [B, [["a", "X"], ["b", "X"]], A, A]


def test_gold_trees_are_found_in_every_notation():
    tree = "(S (NP (NN a)) (VP (VB b)))"
    examples = LabeledLists(CandidateLists([["(S (NN a) (VB b))", f" {tree}\n"]]), [tree])
    assert examples.right.tolist() == [1]
    assert not examples.replaced.any()


def test_counts_and_oracle():
    examples = LabeledLists(CandidateLists([[C, B], [], [A]]), [A, A, A])
    assert examples.oracle().tolist() == [1, -1, 0]
    counts = examples.counts_at(examples.oracle())
    assert counts.tolist() == [[1, 2, 2], [0, 2, 2], [2, 2, 2]]  # an empty list has no right tag
    assert examples.measure.value(counts.sum(axis=0)) == 0.5


def test_an_empty_list_misses_the_brackets_of_its_tree():
    examples = LabeledLists(CandidateLists([[]]), ["(S (NP (NN a)) (VP (VB b)))"])
    assert examples.counts_at(np.array([-1])).tolist() == [[0, 3, 0]]


def test_some_examples_are_what_they_were():
    examples = LabeledLists(CandidateLists([[(C, -1.0), (B, -1.5)], [A, B], []]), [A, B, A])
    some = examples[np.array([2, 0])]
    assert some.right.tolist() == [-1, 1]
    assert some.gold == [A, A]
    assert some.lists.logs.tolist() == [0.0, -0.5]
    assert some.replaced.tolist() == [False, True]
    assert some.oracle().tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("lists", "gold", "message"),
    [
        ([[A], [B]], [A], "2 lists of candidates and 1 gold structures"),
        ([], [], "0 lists"),
        ([[A], [B]], [A, 1], "gold of input 1 is 1, but its 1 candidates are numbered from 0"),
        ([[A, B], []], [0, 0], "gold of input 1 is 0, but its 0 candidates"),
        ([[A, "(S (NP (NN a)))"]], [A], "input 0 has a candidate that is a tree"),
        ([[A], [B]], [A, "(S (NP (NN a)))"], "mixed"),
    ],
)
def test_gold_that_does_not_fit(lists, gold, message):
    with pytest.raises(ParameterError, match=message):
        LabeledLists(CandidateLists(lists), gold)


def test_gold_that_must_be_there():
    with pytest.raises(ParameterError, match="input 1 is not among its candidates; set closest"):
        LabeledLists(CandidateLists([[A], [B, C]]), [A, A], closest=False)
