"""Numbers of states by label: known ranks, limits, and a search that never gets worse."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from eigentext import LatentPCFG
from eigentext.corpus.toy_treebank import sampled_trees
from eigentext.errors import CorpusError
from eigentext.estimators import learned_with
from eigentext.grammars.learning import allocation
from eigentext.grammars.learning.allocation import (
    LADDER,
    _groups,
    _moved,
    allocated,
    bracket_score,
    searched,
    supported,
)
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import pruning_level
from eigentext.grammars.learning.protocol import Task
from eigentext.grammars.treebank.reading import normalized

TREES = sampled_trees(120, seed=3)
METHODS = ("spectral", "spectral+em", "pivot", "pivot+em", "em")


def task_of(trees, **parameters):
    settings = learned_with(LatentPCFG, {"allocation": "spectrum", **parameters}).parameters_
    return Task.of(CountedTrees.by(settings, trees), settings)


def ordered(n_trees, agree, seed=0):
    """Trees with an A below S or T. It is X Y or Y X, which agrees with S or T so often."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(n_trees):
        above = int(rng.integers(2))
        below = above if rng.random() < agree else int(rng.integers(2))
        inner = ("(X x) (Y y)", "(Y y) (X x)")[below]
        trees.append(f"({'ST'[above]} (A {inner}) (B (Z z) (U u)))")
    return trees


# the spectrum -------------------------------------------------------------------------------------


def test_labels_with_states_get_them_and_labels_without_mostly_get_one():
    found = {0.8: [], 0.0: []}
    for agree, numbers in found.items():
        for seed in range(10):
            task = task_of(ordered(300, agree, seed))
            symbols = map(str, task.counted.treebank.symbols)
            numbers.append(dict(zip(symbols, supported(task).tolist())))
    assert all(one["A"] == 2 and one["B"] == 1 for one in found[0.8])
    # By chance, what was not shuffled is as often above what was shuffled as below.
    assert sum(one["A"] == 1 for one in found[0.0]) >= 3
    assert all(one["B"] == 1 for one in found[0.0])


def test_a_label_never_gets_more_than_its_limit():
    wide = supported(task_of(TREES, n_states=16, nodes_per_state=5))
    for most in (1, 2, 3):
        task = task_of(TREES, n_states=most, nodes_per_state=5)
        assert (supported(task) <= task.room).all()
        assert (supported(task) == np.minimum(wide, most)).all()


@pytest.mark.parametrize("whitening", ["diagonal", "exact"])
def test_the_same_seed_gives_the_same_numbers(whitening):
    one, two = (supported(task_of(TREES, whitening=whitening)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


# the search ---------------------------------------------------------------------------------------


def test_steps_on_the_ladder():
    room = np.full(4, 20)
    start = np.array([1, 5, 8, 20])
    every = np.arange(4)
    np.testing.assert_array_equal(_moved(start, every, 1, room), [2, 6, 12, 20])
    np.testing.assert_array_equal(_moved(start, every, -1, room), [1, 4, 6, 16])
    np.testing.assert_array_equal(_moved(start, every[2:3], 1, room), [1, 5, 12, 20])
    np.testing.assert_array_equal(_moved(start, every, 1, np.full(4, 3)), [2, 3, 3, 3])
    assert all(a < b for a, b in pairwise(LADDER))


def test_every_label_is_in_one_group():
    task = task_of(TREES)
    found = np.concatenate(_groups(task))
    np.testing.assert_array_equal(np.sort(found), np.arange(len(task.counted.treebank.symbols)))


@pytest.mark.parametrize("method", ["spectral", "spectral+em"])
def test_the_search_never_ends_below_its_start(method):
    others = normalized(sampled_trees(30, seed=4))
    task = task_of(TREES, method=method, n_states=4, nodes_per_state=5, allocation="held-out")
    middle = pruning_level(task)
    found = searched(task, others, middle)
    score = bracket_score(task.counted, others, middle, task.settings)
    trial = allocation._trials(task)
    assert score(trial(found)) >= score(trial(supported(task)))
    assert (found <= task.room).all() and found.min() >= 1


def test_the_score_of_a_certain_grammar_is_zero():
    trees = normalized(["(S (A (X x) (Y y)) (B z))"] * 20)
    task = task_of(trees)
    middle = pruning_level(task)
    score = bracket_score(task.counted, trees[:2], middle, task.settings)
    assert score(middle) == pytest.approx(0, abs=1e-3)


def test_trees_that_cannot_be_parsed():
    task = task_of(TREES)
    other = normalized(["(NN cat)"])
    middle = pruning_level(task)
    with pytest.raises(CorpusError, match="no validation tree has brackets"):
        bracket_score(task.counted, other, middle, task.settings)


def test_few_trees_say_what_to_do():
    model = LatentPCFG(2, allocation="held-out", nodes_per_state=1)
    with pytest.raises(CorpusError, match="5 trees are too few to keep some back"):
        model.fit(TREES[:5])


# models -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["spectrum", "held-out"])
@pytest.mark.parametrize("method", METHODS)
def test_all_methods_take_the_numbers(method, kind):
    options = {"method": method, "nodes_per_state": 3, "n_iter": None}
    plain = LatentPCFG(6, **options).fit(TREES)
    model = LatentPCFG(6, allocation=kind, **options).fit(TREES)
    again = LatentPCFG(6, allocation=kind, **options, n_jobs=2).fit(TREES)
    assert (model.n_states_ <= 6).all()
    assert model.n_states_.sum() < plain.n_states_.sum()
    np.testing.assert_array_equal(model.n_states_, again.n_states_)
    assert model.score(TREES[:10]) > 0.5


def test_uniform_changes_nothing_and_split_merge_has_its_own_way():
    task = task_of(TREES, allocation="uniform")
    middle = pruning_level(task)
    assert allocated(task, None, lambda: TREES, middle) is task
    settings = learned_with(
        LatentPCFG, {"allocation": "spectrum", "method": "split-merge"}
    ).parameters_
    task = replace(task, settings=settings)
    assert allocated(task, None, lambda: TREES, middle) is task
