"""A small, regular grammar, with sentences so long that numbers leave the range of doubles."""

import random
from functools import partial

import numpy as np
import pytest

from eigentext import PCFG, LatentPCFG
from eigentext.grammars.chart.decoding import count_derivations

LENGTHS = [60, 125, 250, 400]
NOUNS = ["cat", "dog", "horse", "river", "village"]


@pytest.fixture(scope="module")
def toy_trees():
    """Nouns and verbs with phrases behind them, whose attachment is ambiguous."""
    rng = random.Random(0)

    def phrase(depth):
        noun = f"(NP (DT the) (NN {rng.choice(NOUNS)}))"
        if depth < 2 and rng.random() < 0.4:
            return f"(NP {noun} (PP (IN {rng.choice(['near', 'with'])}) {phrase(depth + 1)}))"
        return noun

    def tree():
        more = f" (PP (IN with) {phrase(2)})" if rng.random() < 0.3 else ""
        return f"(S {phrase(0)} (VP (VBZ {rng.choice(['sees', 'hears'])}) {phrase(0)}{more}))"

    return [tree() for _ in range(300)]


KINDS = {
    "plain": PCFG,
    "spectral": partial(LatentPCFG, 2, method="spectral"),
    "em": partial(LatentPCFG, 2, method="em", n_iter=5, n_smooth=2),
}


@pytest.fixture(scope="module")
def models(toy_trees):
    """Each kind of grammar."""
    return {name: kind().fit(toy_trees) for name, kind in KINDS.items()}


def sentence(length):
    """A sentence of `n` words, or one or two fewer."""
    return ["the", "dog", "sees", "the", "cat", *["near", "the", "river"] * ((length - 5) // 3)]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_they_parse(models, kind, length):
    model, words = models[kind], sentence(length)
    (parsed,) = model.parses([words])
    assert parsed.fallback is None
    assert parsed.tree.leaves() == words
    assert -2 * length < parsed.log_probability < -length / 2
    spans = model.marginals(words)
    mu = np.array([span.probability for span in spans])
    assert np.isfinite(mu).all()
    assert (mu > 0).all()
    assert mu.max() == pytest.approx(1)
    tags = [span for span in spans if span.end == span.start + 1]
    assert np.allclose(np.bincount([t.start for t in tags], [t.probability for t in tags]), 1)

    best = model.k_best(words, 3)
    logs = [one.log_probability for one in best]
    assert len({str(one.tree) for one in best}) == 3
    assert logs == sorted(logs, reverse=True)
    assert logs[0] < parsed.log_probability
    assert logs == pytest.approx([model.log_probability(one.tree) for one in best])


@pytest.mark.parametrize("decoding", ["mbr", "max-rule", "viterbi"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_decoding_has_a_tree(toy_trees, kind, decoding):
    model = KINDS[kind](decoding=decoding).fit(toy_trees)
    (parsed,) = model.parses([sentence(400)])
    assert parsed.fallback is None
    assert np.isfinite(model.log_probability(parsed.tree))


@pytest.mark.parametrize("length", LENGTHS)
def test_the_probability_of_a_sentence_is_that_of_its_trees(models, length):
    """By the rules of the grammar alone: log-probabilities summed over all trees of a forest."""
    model, words = models["plain"], sentence(length)
    reading = model._cascade.read(words, 0.0)
    forest, level = reading.forest, model._cascade.levels[0]
    logs = np.zeros(len(forest.label))
    leaves = np.diff(forest.groups) == 0
    logs[leaves] = np.log(level.leaf_scores(forest, words))
    rules = np.log(level.grammar.tensor)
    for item in np.flatnonzero(~leaves):
        parts = []
        for g in range(forest.groups[item], forest.groups[item + 1]):
            at = slice(forest.edges[g], forest.edges[g + 1])
            parts.append(rules[forest.rule[g]] + logs[forest.left[at]] + logs[forest.right[at]])
        logs[item] = np.logaddexp.reduce(np.concatenate(parts))
    expected = np.logaddexp.reduce(logs[forest.roots] + np.log(level.grammar.root[
        forest.label[forest.roots]]))  # fmt: skip
    assert reading.log_probability == pytest.approx(expected, rel=1e-10)
    assert count_derivations(forest) > length


def test_the_end_may_decide_what_hundreds_of_words_did_not():
    """A sentence with two readings until its last word; see `two_chains` in test_wide."""
    low = "(S (A " + "(A " * 20 + "(X x) (X x))" + " (X x))" * 20 + " (Y y))"
    high = "(S (B " + "(B " * 200 + "(X x) (X x))" + " (X x))" * 200 + " (Z z))"
    model = PCFG(horizontal=None).fit([low] * 3 + [high] * 30)
    for last, label in (("y", "A"), ("z", "B")):
        tree = model.parse(["x"] * 700 + [last])
        assert tree.leaves()[-1] == last
        assert tree.label == "S"
        assert tree.children[0].label == label
