"""Cross-validation: folds by hand, and that no parser sees what it is asked for."""

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import PCFG, LatentPCFG, Tree, load_dataset, normalize_tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import brackets, compare, cross_validate, folds


def leaf_tree(number):
    return Tree("S", [Tree("N", [f"w{number}"])])


class Memory:
    """A parser that knows only the sentences that it has learned."""

    def fit(self, trees):
        self.known = {tuple(tree.leaves()): tree for tree in trees}
        return self

    def parse_many(self, sentences):
        return [self.known.get(tuple(words)) for words in sentences]


# Folds.


@pytest.mark.parametrize(
    ("n", "k", "groups", "expected"),
    [
        (6, 3, None, [0, 0, 1, 1, 2, 2]),
        (5, 2, None, [0, 0, 1, 1, 1]),
        (6, 3, list("aabbcc"), [0, 0, 1, 1, 2, 2]),
        (6, 2, list("aaaaab"), [0, 0, 0, 0, 0, 1]),  # every fold has a group
        (6, 2, list("abbbbb"), [0, 1, 1, 1, 1, 1]),
        (6, 3, list("aaaaaa"), [0, 0, 1, 1, 2, 2]),  # too few groups: runs of trees
        (6, 3, list("aaabbb"), [0, 0, 1, 1, 2, 2]),
        (5, 2, list("abcab"), [0, 1, 1, 0, 1]),  # a group that comes again stays in its fold
        (3, 3, None, [0, 1, 2]),
    ],
)
def test_folds_by_hand(n, k, groups, expected):
    assert folds(n, k, groups).tolist() == expected


@given(st.lists(st.integers(1, 30), min_size=2, max_size=40), st.integers(2, 10))
def test_folds_have_whole_groups_and_like_sizes(sizes, k):
    groups = [number for number, size in enumerate(sizes) for _ in range(size)]
    if len(groups) < k:
        return
    found = folds(len(groups), k, groups)
    assert sorted(set(found.tolist())) == list(range(k))
    assert (np.diff(found) >= 0).all()
    if len(sizes) >= k:
        assert all(len(set(found[np.array(groups) == group])) == 1 for group in set(groups))
    else:
        counts = Counter(found.tolist()).values()
        assert max(counts) - min(counts) <= 1


def test_folds_of_many_documents_are_even():
    groups = [number for number in range(199) for _ in range(1 + number * 7 % 40)]
    counts = Counter(folds(len(groups), 10, groups).tolist())
    assert max(counts.values()) - min(counts.values()) <= 2 * 40


# Trees.


def test_no_parser_has_seen_its_sentences():
    trees = [leaf_tree(number) for number in range(10)]
    found = cross_validate(Memory, trees, 5)
    assert found.trees == [None] * 10
    assert (found.f1, found.result.n_failed) == (0, 10)
    again = cross_validate(Memory, trees + trees, 2)  # each half knows the other
    assert again.trees == again.gold == trees + trees
    assert again.f1 == 1
    by_document = cross_validate(Memory, trees + trees, 2, groups=[*range(10)] * 2)
    assert by_document.trees == [None] * 20


def test_each_tree_is_that_of_a_fit_to_the_other_folds():
    trees = load_dataset("toy-treebank", split="test")[:60]
    found = cross_validate(PCFG(vertical=1), iter(trees), 3)
    gold = [normalize_tree(tree) for tree in trees]
    expected = []
    for k in range(3):
        test = slice(20 * k, 20 * (k + 1))
        model = PCFG(vertical=1).fit(gold[: test.start] + gold[test.stop :])
        expected += model.parse_many([tree.leaves() for tree in gold[test]])
        assert found.folds[k].f1 == brackets(gold[test], expected[test]).f1
    assert found.trees == expected
    assert found.result == brackets(gold, expected)
    assert [fold.n_learned for fold in found.folds] == [40] * 3
    assert all(fold.learning > 0 and fold.parsing > 0 for fold in found.folds)


def test_the_parser_itself_is_not_fitted():
    parser = LatentPCFG(2, nodes_per_state=1)
    cross_validate(parser, load_dataset("toy-treebank", split="test")[:30], 2)
    assert not hasattr(parser, "symbols_")


def test_two_parsers():
    trees = load_dataset("toy-treebank", split="test")[:80]
    a, b = (cross_validate(PCFG(vertical=v, horizontal=0), trees, 4) for v in (1, 2))
    found = a.compare(b)
    assert (found.a, found.b) == (a.f1, b.f1)
    assert found == compare(a.gold, a.trees, b.trees)
    with pytest.raises(ParameterError, match="other trees; give the same to both"):
        a.compare(cross_validate(Memory, trees[:40], 4))


def test_what_is_told():
    trees = load_dataset("toy-treebank", split="test")[:30]
    found = cross_validate(PCFG(), trees, 3)
    titles, *rows = str(found).splitlines()
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "all"]
    assert {len(row) for row in rows} == {len(titles)}
    assert rows[-1].split()[1:3] == ["20", "30"]
    assert repr(found).startswith(f"CrossValidation(F1 {found.f1:.2%} over 30 sentences, 3 folds")
    assert "Cross-validation" in found._repr_html_()
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["f1"] == found.f1
    assert [fold["n_parsed"] for fold in told["folds"]] == [10, 10, 10]
    assert told["learning"] == pytest.approx(sum(fold.learning for fold in found.folds))
    tags = cross_validate(Memory, ["(N x)", "(N y)"], 2)  # no brackets at all
    assert math.isnan(tags.folds[0].f1)
    assert tags.to_dict()["folds"][0]["f1"] is None


def test_mistakes():
    trees = [leaf_tree(number) for number in range(4)]
    for k in (1, 2.5, True, "10"):
        with pytest.raises(ParameterError, match="n_folds must be a whole number, 2 or more, not"):
            cross_validate(Memory, trees, k)
    with pytest.raises(ParameterError, match="4 trees cannot make 5 folds; lower n_folds"):
        cross_validate(Memory, trees, 5)
    with pytest.raises(ParameterError, match="4 trees and 2 groups; give the group of each tree"):
        cross_validate(Memory, trees, 2, groups=["a", "b"])
    with pytest.raises(ParameterError, match="7 is no parser; give an estimator such as PCFG"):
        cross_validate(7, trees, 2)
    with pytest.raises(CorpusError, match=r"tree 2: .*never closed"):
        cross_validate(Memory, [trees[0], "(S (N x)"], 2)

    class Short(Memory):
        def parse_many(self, sentences):
            return []

    with pytest.raises(CorpusError, match="returned 0 trees for 2 sentences; it must return one"):
        cross_validate(Short, trees, 2)
