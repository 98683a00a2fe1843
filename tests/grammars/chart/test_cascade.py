"""Passes from coarse to fine: what each leaves out, and that there is always an answer."""

from itertools import pairwise

import numpy as np
import pytest

from eigentext.grammars.chart.cascade import Cascade, Level, Reading
from eigentext.grammars.chart.decoding import count_derivations
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import em, random_start
from eigentext.grammars.learning.training import Smoothing
from eigentext.grammars.treebank.normal_form import coarse

SENTENCE = ["dogs", "watch", "the", "park", "bark"]
LONGER = ["watch", "dogs", "near", "the", "park", "near", "dogs", "and", "dogs", "bark"]


def learn(trees, n_states=1, seed=0, **how):
    """The counted trees, and a level with this many states."""
    learner = CountedTrees(trees, rare=5, beta=1.0, gamma=3.0, **how)
    start = random_start(learner.trees, learner.pcfg, n_states, 1, 0.1, np.random.default_rng(seed))
    parameters, _ = em(learner.trees, start, 5, smoothing=Smoothing())
    return learner, learner.level(parameters)


def cascade_of(trees, n_states=1, middle=None, seeds=(0,), **how):
    levels = []
    for seed in seeds:
        learner, level = learn(trees, n_states, seed, **how)
        levels.append(level)
    second = None if middle is None else learn(trees, middle, 9, **how)[1]
    return Cascade(learner.treebank.symbols, learner.coarse(), second, levels)


def items_of(reading):
    """The marginal of each item, by symbol and span."""
    forest = reading.forest
    symbols = [reading.symbols[a] for a in forest.label]
    keys = zip(symbols, forest.start.tolist(), forest.end.tolist())
    return dict(zip(keys, reading.items.tolist()))


def without(level, labels):
    """A level that gives rules with these parents no probability."""
    grammar = level.grammar
    tensor = grammar.tensor.copy()
    for r, (a, b) in enumerate(pairwise(grammar.tensor_offsets)):
        if grammar.rules.parent[r] in labels:
            tensor[a:b] = 0
    return Level(Grammar(grammar.rules, grammar.n_states, tensor, grammar.root), level.words)


@pytest.mark.parametrize("n_states", [1, 2])
@pytest.mark.parametrize("how", [{}, {"horizontal": 1}, {"vertical": 2, "binarize": "right"}])
def test_items_and_edges_without_pruning(ambiguous_trees, every_tree, n_states, how):
    cascade = cascade_of(ambiguous_trees, n_states, **how)
    trees = every_tree(cascade.levels[0], cascade.symbols, SENTENCE)
    total = sum(one.probability for one in trees)
    items, edges = {}, {}
    for one in trees:
        for item in one.items:
            items[item] = items.get(item, 0) + one.probability / total
        for edge in one.edges:
            edges[edge] = edges.get(edge, 0) + one.probability / total
    reading = cascade.read(SENTENCE, 0.0)
    assert reading.problem is None
    assert reading.log_probability == pytest.approx(np.log(total), rel=1e-12)
    assert count_derivations(reading.forest) == len(trees)
    assert items_of(reading) == pytest.approx(items, rel=1e-9)
    forest = reading.forest
    rules = np.repeat(forest.rule, np.diff(forest.edges))
    keys = zip(
        rules.tolist(),
        forest.start[forest.left].tolist(),
        forest.end[forest.left].tolist(),
        forest.end[forest.right].tolist(),
    )
    assert dict(zip(keys, reading.edges.tolist())) == pytest.approx(edges, rel=1e-9)


@pytest.mark.parametrize("n_states", [1, 3])
def test_inside_is_outside_at_every_word(ambiguous_trees, n_states):
    """Each word has one preterminal, and n words have n - 1 inner nodes, whatever the tree."""
    reading = cascade_of(ambiguous_trees, n_states, middle=2, horizontal=0).read(LONGER, 1e-6, 1e-5)
    forest = reading.forest
    leaves = np.diff(forest.groups) == 0
    np.testing.assert_allclose(np.bincount(forest.start[leaves], reading.items[leaves]), 1.0)
    assert reading.items[~leaves].sum() == pytest.approx(len(LONGER) - 1)
    assert reading.edges.sum() == pytest.approx(len(LONGER) - 1)
    assert reading.items[forest.roots].sum() == pytest.approx(1.0)


def test_leaf_scores_are_those_of_the_words(ambiguous_trees):
    cascade = cascade_of(ambiguous_trees, 2)
    level, forest = cascade.levels[0], cascade.read(SENTENCE, 0.0).forest
    scores, rows = level.leaf_scores(forest, SENTENCE), level.words(SENTENCE)
    at = 0
    for item in np.flatnonzero(forest.end - forest.start == 1):
        first, last = level.grammar.state_offsets[forest.label[item] :][:2]
        row = rows[forest.start[item], first:last]
        np.testing.assert_allclose(scores[at : at + len(row)], row, rtol=1e-13)
        at += len(row)
    assert at == len(scores)


def test_a_lower_threshold_leaves_more(ambiguous_trees):
    cascade = cascade_of(ambiguous_trees, 2, middle=2)
    readings = [cascade.read(LONGER, x) for x in (0.0, 1e-5, 1e-3, 1e-2)]
    kept = [set(items_of(reading)) for reading in readings]
    logs = [reading.log_probability for reading in readings]
    for (more, fewer), (high, low) in zip(pairwise(kept), pairwise(logs)):
        assert more > fewer
        assert high > low
    fewer = cascade.read(LONGER, 1e-5, 1e-2)
    assert set(items_of(fewer)) < kept[1]
    assert fewer.log_probability < logs[1]


def test_the_middle_grammar_prunes_by_its_own_marginals(ambiguous_trees):
    cascade = cascade_of(ambiguous_trees, 3, middle=2)
    alone = Cascade(cascade.symbols, cascade.coarse, None, [cascade.middle])
    marginals = items_of(alone.read(LONGER, 1e-5))
    kept = items_of(cascade.read(LONGER, 1e-5, 0.01))
    assert kept
    assert set(kept) <= {item for item, mu in marginals.items() if mu >= 0.01}


def test_several_grammars_vote(ambiguous_trees):
    both = cascade_of(ambiguous_trees, 2, seeds=(0, 1))
    readings = [
        Cascade(both.symbols, both.coarse, None, [level]).read(SENTENCE, 0.0)
        for level in both.levels
    ]
    reading = both.read(SENTENCE, 0.0)
    np.testing.assert_allclose(reading.items, (readings[0].items + readings[1].items) / 2)
    np.testing.assert_allclose(reading.edges, (readings[0].edges + readings[1].edges) / 2)
    assert not np.allclose(readings[0].items, readings[1].items)
    p = np.exp([one.log_probability for one in readings])
    assert np.exp(reading.log_probability) == pytest.approx(p.mean())


def test_a_grammar_without_a_parse_has_no_vote(ambiguous_trees):
    cascade = cascade_of(ambiguous_trees, 2)
    level = cascade.levels[0]
    everything = range(len(cascade.symbols))
    both = Cascade(cascade.symbols, cascade.coarse, None, [level, without(level, everything)])
    one, two = cascade.read(SENTENCE, 0.0), both.read(SENTENCE, 0.0)
    np.testing.assert_array_equal(one.items, two.items)
    assert two.log_probability == pytest.approx(one.log_probability - np.log(2))
    assert two.problem is None


def test_without_any_vote_the_coarse_grammar_reads(ambiguous_trees, every_tree):
    cascade = cascade_of(ambiguous_trees, 2, horizontal=1)
    nothing = without(cascade.levels[0], range(len(cascade.symbols)))
    cascade = Cascade(cascade.symbols, cascade.coarse, None, [nothing])
    reading = cascade.read(SENTENCE, 0.0)
    assert reading.problem.startswith("no parse by the grammar, only by the plain PCFG")
    _, symbols = coarse(cascade.symbols)
    assert reading.symbols == symbols
    trees = every_tree(cascade.coarse, symbols, SENTENCE)
    total = sum(one.probability for one in trees)
    assert reading.log_probability == pytest.approx(np.log(total))
    items = {}
    for one in trees:
        for item in one.items:
            items[item] = items.get(item, 0) + one.probability / total
    assert items_of(reading) == pytest.approx(items)


def test_pieces_cover_what_has_no_parse(ambiguous_trees):
    learner = CountedTrees(ambiguous_trees, rare=5, beta=0.0, gamma=0.0)
    level = learner.level(learner.pcfg)
    cascade = Cascade(learner.treebank.symbols, learner.coarse(), None, [level])
    words = ["the", "dogs", "the", "dogs", "the"]
    for threshold in (0.0, 5e-5, 0.5, 0.99):
        reading = cascade.read(words, threshold)
        assert reading.problem == "no parse of the whole sentence"
        assert reading.log_probability == -np.inf
        forest = reading.forest
        assert forest.start[forest.roots].tolist() == [0, 2, 4]
        assert forest.end[forest.roots].tolist() == [2, 4, 5]
        labels = [str(reading.symbols[a]) for a in forest.label[forest.roots]]
        assert labels == ["NP", "NP", "D"]
        np.testing.assert_allclose(reading.items[forest.roots], 1.0)


def test_a_threshold_that_leaves_no_tree_is_lowered(ambiguous_trees):
    cascade = cascade_of(ambiguous_trees, 2, middle=2)
    readings = [cascade.read(LONGER, threshold) for threshold in (0.9, 0.009)]
    for reading in readings:
        assert isinstance(reading, Reading)
        assert reading.problem is None
        assert len(reading.forest.roots)
    np.testing.assert_array_equal(readings[0].items, readings[1].items)


def test_a_middle_grammar_that_leaves_no_tree_is_not_heard(ambiguous_trees):
    cascade = cascade_of(ambiguous_trees, 2, middle=2)
    usual, strict = (cascade.read(LONGER, 1e-5, threshold) for threshold in (0.0, 0.999))
    np.testing.assert_array_equal(usual.items, strict.items)
    impossible = without(cascade.middle, range(len(cascade.symbols)))
    other = Cascade(cascade.symbols, cascade.coarse, impossible, cascade.levels)
    np.testing.assert_array_equal(other.read(LONGER, 1e-5, 1e-3).items, usual.items)


def test_long_and_ambiguous_sentences_neither_underflow_nor_lose_their_trees():
    # Any binary tree is possible: the more words, the less probable is each span.
    trees = ["(S (S (X a) (X a)) (X a))", "(S (X a) (S (X a) (X a)))"]
    cascade = cascade_of(trees, 1, middle=2)
    logs = []
    for n in (30, 60, 120):
        reading = cascade.read(["a"] * n, 1e-3, 1e-3)
        assert reading.problem is None
        assert len(reading.forest.roots)
        exact = cascade.read(["a"] * n, 0.0)
        assert np.isfinite(exact.log_probability)
        assert reading.log_probability <= exact.log_probability + 1e-9
        logs.append(exact.log_probability)
    assert logs[0] > logs[1] > logs[2]


def test_log_probability_of_a_forest_is_that_of_the_two_passes(ambiguous_trees):
    cascade = cascade_of(ambiguous_trees, 2)
    level, reading = cascade.levels[0], cascade.read(SENTENCE, 0.0)
    assert level.log_probability(reading.forest, SENTENCE) == reading.log_probability
    nothing = without(level, range(len(cascade.symbols)))
    assert nothing.log_probability(reading.forest, SENTENCE) == -np.inf
    assert nothing.posteriors(reading.forest, SENTENCE) is None
