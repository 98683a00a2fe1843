"""Reports: known answers."""

import numpy as np

from eigentext.reranking._examples import CandidateLists, LabeledLists
from eigentext.reranking.report import Report, compare

A, B, C = [("a", "X"), ("b", "X")], [("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]


def test_by_hand():
    lists = CandidateLists(
        [[(B, -1.0), (A, -2.0)], [(C, -3.0), (B, -2.0)], [], [(A, 0.0), (C, 0.0)]]
    )
    examples = LabeledLists(lists, [A, A, A, A])
    # Right tags: the first candidates have 1, 1, 0, 2, the chosen 2, 0, 0, 2, the best 2, 1, 0, 2.
    assert compare(examples, np.array([1, 0, -1, 0])) == Report(
        4 / 8, 4 / 8, 5 / 8, 4, 6, 1, 2, 1, 1, "accuracy of tags"
    )


def test_readable():
    report = Report(0.5, 0.75, 1.0, 1200, 3000, 0, 7, 5, 1, "F1 of chunks")
    assert str(report).splitlines() == [
        "F1 of chunks of 1,200 inputs, 3,000 candidates",
        "1-best     50.00",
        "reranked   75.00",
        "oracle    100.00",
        "changed 7: 5 better, 1 worse",
    ]
    assert report.to_dict()["reranked"] == 0.75
