"""Relative frequencies: the PCFG, the coarse grammar, and the words of states."""

import numpy as np
import pytest

from eigentext.grammars.learning.counts import CountedTrees, state_tags
from eigentext.grammars.treebank.normal_form import Symbol, coarse

SMOOTHING = {"rare": 5, "beta": 1.0, "gamma": 3.0}


def rules_of(level, symbols):
    """{parent, left, right: t} and {label: pi}, by name."""
    rules, grammar = level.grammar.rules, level.grammar
    names = [str(symbol) for symbol in symbols]
    t = {
        (names[a], names[b], names[c]): p
        for a, b, c, p in zip(rules.parent, rules.left, rules.right, grammar.tensor)
    }
    return t, {name: p for name, p in zip(names, grammar.root) if p > 0}


@pytest.mark.parametrize("how", [{"horizontal": 1}, {"horizontal": None, "vertical": 3}])
def test_the_coarse_grammar_is_that_of_labels_without_memory(hand_trees, how):
    learner, plain = (
        CountedTrees(hand_trees, **SMOOTHING, **x) for x in (how, {"horizontal": 0, "vertical": 1})
    )
    _, symbols = coarse(learner.treebank.symbols)
    assert symbols == plain.treebank.symbols
    t, pi = rules_of(learner.coarse(), symbols)
    expected, roots = rules_of(plain.level(plain.pcfg), symbols)
    assert t == pytest.approx(expected)
    assert pi == pytest.approx(roots)
    words = ["she", "sees", "Otters", "."]
    ours, theirs = learner.coarse().words(words), plain.level(plain.pcfg).words(words)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_rules_are_relative_frequencies():
    trees = ["(S (A a) (B b))"] * 3 + ["(S (A b) (A a))", "(A (B b) (B b))"]
    learner = CountedTrees(trees, **SMOOTHING, horizontal=0)
    t, pi = rules_of(learner.level(learner.pcfg), learner.treebank.symbols)
    assert t == {("S", "A", "B"): 3 / 4, ("S", "A", "A"): 1 / 4, ("A", "B", "B"): 1}
    assert pi == pytest.approx({"S": 4 / 5, "A": 1 / 5})


@pytest.mark.parametrize("rare", [0, 1, 5])
def test_what_a_label_may_become_sums_to_one(hand_trees, rare):
    learner = CountedTrees(hand_trees, rare=rare, beta=1.0, gamma=3.0, horizontal=1)
    for level, symbols in (
        (learner.level(learner.pcfg), learner.treebank.symbols),
        (learner.coarse(), coarse(learner.treebank.symbols)[1]),
    ):
        grammar = level.grammar
        sums = np.bincount(grammar.rules.parent, grammar.tensor, len(symbols))
        preterminal = np.array([symbol.preterminal for symbol in symbols])
        np.testing.assert_allclose(sums, ~preterminal, rtol=1e-12)
        assert grammar.root.sum() == pytest.approx(1)
        # All words, and the unseen words of each class.
        known = level.words(["", *learner.lexicon.words])[1:].sum(axis=0)
        unseen = (level.words.unseen @ level.words.classes) / level.words.totals
        np.testing.assert_allclose((known + unseen)[preterminal], 1.0, rtol=1e-12)
        np.testing.assert_allclose((known + unseen)[~preterminal], 0.0, atol=1e-15)


def test_only_the_first_word_of_a_sentence_is_first():
    trees = ["(S (A Abc) (B Abd))", "(S (B Abe) (A Abf) (A Abg))", "(A Abh)"]
    lexicon = CountedTrees(trees, **SMOOTHING).lexicon
    kind = {word: lexicon.classes[k] for word, k in zip(lexicon.words, lexicon.class_of)}
    first = {word for word, name in kind.items() if name.startswith("F")}
    assert first == {"Abc", "Abe", "Abh"}
    assert {name for word, name in kind.items() if word not in first} == {"C"}


def test_the_share_of_rare_tokens():
    trees = ["(S (A a) (B b))"] * 3 + ["(S (A c) (B a))"]  # a four times, b three, c once
    shares = [CountedTrees(trees, rare=n, beta=1.0, gamma=3.0).rare_tokens for n in range(5)]
    assert shares == [0, 1 / 8, 1 / 8, 1 / 2, 1]


def test_states_bear_the_tags_of_their_labels():
    symbols = [
        Symbol(("S",)),
        Symbol(("N",)),
        Symbol(("N",), preterminal=True),
        Symbol(("NP", "N"), preterminal=True),
        Symbol(("NP", "V"), preterminal=True),
    ]
    tags = state_tags(symbols, np.array([1, 2, 1, 3, 2])).tolist()
    assert tags == [0, 0, 0, 1, 1, 1, 1, 2, 2]
