"""The scores on validation trees."""

import numpy as np
import pytest

from eigentext import PCFG
from eigentext.errors import CorpusError
from eigentext.evaluate import brackets
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import random_start
from eigentext.grammars.learning.training import GrammarParameters
from eigentext.grammars.learning.validation import held_out_f1, held_out_likelihood


@pytest.fixture(scope="module")
def learner(hand_trees):
    return CountedTrees(hand_trees, rare=1, beta=1.0, gamma=3.0)


def by_hand(learner, tree):
    """log p(tree, words) by the PCFG: a product over nodes."""
    encoded = learner.treebank.encode([tree])
    grammar, q = learner.pcfg.grammar, learner.level(learner.pcfg).words(encoded.tokens)
    words = q[np.arange(len(q)), encoded.label[encoded.left < 0]]
    rules = grammar.tensor[encoded.rule[encoded.left >= 0]]
    return np.log(grammar.root[encoded.label[-1]]) + np.log(rules).sum() + np.log(words).sum()


def test_likelihood(learner, hand_trees):
    score = held_out_likelihood(learner, hand_trees)
    expected = np.mean([by_hand(learner, tree) for tree in hand_trees])
    assert score(learner.level(learner.pcfg)) == pytest.approx(expected, rel=1e-12)


def test_trees_that_are_not_possible_are_left_out(learner, hand_trees):
    others = [
        "(S (VP (VB wait) (RB here)))",  # an unknown tag
        "(S (NP (DT the)) (NP (DT the)))",  # an unknown rule
        "(VP (VBZ sees) (NP (DT the) (NN fern)))",  # an unknown root
    ]
    score = held_out_likelihood(learner, [*others, hand_trees[0], *others])
    assert score(learner.level(learner.pcfg)) == pytest.approx(
        by_hand(learner, hand_trees[0]), rel=1e-12
    )
    assert held_out_likelihood(learner, others)(learner.level(learner.pcfg)) == -np.inf
    with pytest.raises(CorpusError, match="no trees to learn from"):
        held_out_likelihood(learner, [])


def test_unseen_words_are_no_reason_to_leave_a_tree_out(learner):
    tree = "(S (NP (DT the) (NN gerbil)) (VP (VBZ waters) (NP (DT the) (JJ tall) (NN fern))) (. .))"
    value = held_out_likelihood(learner, [tree])(learner.level(learner.pcfg))
    assert value == pytest.approx(by_hand(learner, tree))


def test_zeros_gain_nothing(learner, hand_trees):
    """A grammar that cannot generate one of the trees is not better than one that can."""
    score = held_out_likelihood(learner, hand_trees)
    start = random_start(learner.trees, learner.pcfg, 2, 1, 0.01, np.random.default_rng(0))
    grammar = start.grammar
    whole = score(learner.level(start))
    assert whole == pytest.approx(score(learner.level(learner.pcfg)), abs=0.5)
    rule = learner.treebank.encode([hand_trees[3]]).rule[-1]
    less = Grammar(grammar.rules, grammar.n_states, grammar.tensor.copy(), grammar.root)
    less.tensor_of(rule)[:] = 0
    found = score(learner.level(GrammarParameters(less, start.lexical)))
    assert np.isfinite(found)
    assert found < whole - 1


def test_f1(learner, hand_trees):
    """The score equals the F1 of the parser itself."""
    parser = PCFG(horizontal=0, vertical=1, rare=1, prune=0).fit(hand_trees)
    middle = learner.level(learner.pcfg)
    held_out = [*hand_trees[:4], "(S (NP (PRP she)) (VP (VBZ waters) (NP (DT a) (NN lens))) (. .))"]
    score = held_out_f1(learner, held_out, middle, parser.parameters_)
    parsed = parser.parse_many([tree.leaves() for tree in hand_trees[:4]])
    parsed.append(parser.parse("she waters a lens ."))
    expected = brackets(held_out, parsed).f1
    assert score(learner.level(learner.pcfg)) == pytest.approx(expected)
    assert 0 < expected <= 1
    start = random_start(learner.trees, learner.pcfg, 3, 1, 0.01, np.random.default_rng(0))
    assert score(learner.level(start)) == pytest.approx(expected, abs=0.3)
