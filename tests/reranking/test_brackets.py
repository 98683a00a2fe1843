"""Brackets of lists: marginals, expected scores, and which candidates contain them."""

import numpy as np
import pytest

from eigentext.corpus.trees import Tree
from eigentext.errors import ParameterError
from eigentext.kernels.candidate import WeighedCandidate
from eigentext.reranking.brackets import TAU, BracketLists
from eigentext.reranking.extraction import Extractor

FLAT = Tree.parse("(S (NN a) (NN b))")
DEEP = Tree.parse("(S (NP (NN a)) (NN b))")


def weighed():
    """The flat tree is more expected, although it comes second."""
    return [
        WeighedCandidate(DEEP, -2.0, 0.1, (0.9, 0.3)),
        WeighedCandidate(FLAT, -1.0, 0.4, (0.9,)),
    ]


def test_brackets_of_a_parser_have_its_marginals():
    lists = BracketLists.of([weighed(), []])
    assert [one[:3] for one in lists.pieces] == [("S", 0, 2), ("NP", 0, 1)]
    assert lists.marginals.tolist() == [0.9, 0.3]
    assert lists.expected.tolist() == [0.1, 0.4]
    assert lists.contains.toarray().tolist() == [[1, 1], [1, 0]]
    assert lists.pieces[0].labels == ("NN", "NN")  # as the most expected candidate has it
    assert lists.sentences[1] is None


def test_lists_of_other_models_share_their_probability():
    lists = BracketLists.of([[(DEEP, np.log(0.25)), (FLAT, np.log(0.75))]])
    by_label = dict(zip((one.label for one in lists.pieces), lists.marginals))
    assert by_label["NP"] == pytest.approx(0.25)
    assert by_label["S"] == pytest.approx(0.999)  # 1, kept away from infinite odds
    np.testing.assert_allclose(lists.expected, [1.25 - 2 * TAU, 1 - TAU])


def test_other_probabilities_change_the_scores_by_the_difference():
    lists = BracketLists.of([weighed()])
    assert (lists.scores(lists.marginals) == lists.expected).all()
    np.testing.assert_allclose(lists.scores(np.array([0.9, 0.8])), [0.6, 0.4])


def test_right_brackets():
    lists = BracketLists.of([weighed(), weighed()])
    assert lists.right([DEEP, FLAT]).tolist() == [1, 1, 1, 0]


def test_the_index_grows_only_while_learning():
    lists, index = BracketLists.of([weighed()]), {}
    X = lists.features(Extractor(["rules"], index=index, grows=True))
    assert X.shape == (2, len(index))
    assert {"r S>NN NN", "r NP>NN", "odds", "odds NP", "label S"} <= set(index)
    row = X[[1]].toarray()[0]
    assert row[index["odds NP"]] == pytest.approx(np.log(0.3 / 0.7))
    some = lists.features(Extractor(["rules"], index={"r NP>NN": 0}))
    assert some.toarray().tolist() == [[0.0], [1.0]]


def test_bad_lists():
    with pytest.raises(ParameterError, match="2 brackets but 1 marginals"):
        BracketLists.of([[WeighedCandidate(DEEP, -1.0, 0.1, (0.5,))]])
    with pytest.raises(ParameterError, match="no tree"):
        BracketLists.of([[([("a", "N")], -1.0)]])
    with pytest.raises(ParameterError, match="not a list of candidates"):
        BracketLists.of([3])
