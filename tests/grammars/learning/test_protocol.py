"""Every method keeps the protocol: it needs a task, gives a level, and tells a history."""

from dataclasses import replace

import numpy as np
import pytest

from eigentext import LatentPCFG
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.counts import learn as learn_pcfg
from eigentext.grammars.learning.protocol import WITHOUT_FEATURES, LevelScore, Task, method
from eigentext.grammars.parameters import METHODS
from eigentext.parameters import Settings

TELLS = {
    "spectral": {"singular_values", "condition_number"},
    "spectral+em": {"em", "smoothed"},
    "pivot": {"separations", "em", "smoothed"},
    "pivot+em": {"separations", "em", "smoothed"},
    "em": {"em", "smoothed"},
    "split-merge": {"split 1", "merge 1"},
}


@pytest.fixture(scope="module")
def task_of(hand_trees):
    def make(name):
        given = {"n_states": 2, "method": name, "nodes_per_state": 1, "rare": 1}
        settings = Settings(LatentPCFG._table.taken(LatentPCFG._table.defaults | given))
        return Task.of(CountedTrees.by(settings, hand_trees), settings)

    return make


@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_gives_and_tells(task_of, name):
    task = task_of(name)
    assert (task.evidence is None) == (name in WITHOUT_FEATURES)
    level, history = method(name)(task, 0)
    assert set(history) == TELLS[name]
    rules = task.counted.treebank.rules()
    assert np.array_equal(level.grammar.rules.parent, rules.parent)
    assert 1 <= level.grammar.n_states.min() <= level.grammar.n_states.max() <= 2
    assert level.words.lexicon is task.counted.lexicon


@pytest.mark.parametrize("name", [name for name in METHODS if "pivot" not in name])
def test_equal_numbers_give_equal_grammars_and_others_differ(task_of, name):
    task = task_of(name)
    learn = method(name)
    one, same, other = (learn(task, k).level.grammar.tensor for k in (1, 1, 2))
    assert np.array_equal(one, same)
    assert one.shape != other.shape or not np.array_equal(one, other)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "pivot"])
def test_with_validation_trees_the_scores_are_told(task_of, name):
    """The score here is the number of states, which is largest for the first of "spectral"."""
    score = LevelScore(lambda level: float(level.grammar.n_states.sum()), "states")
    learned = method(name)(replace(task_of(name), score=score), 0)
    scores = learned.history["validation"]
    assert max(scores) == learned.level.grammar.n_states.sum()


def test_the_pcfg_is_a_method_too(task_of):
    task = task_of("em")
    level, history = learn_pcfg(task)
    assert history == {}
    assert level.grammar.n_states.max() == 1
