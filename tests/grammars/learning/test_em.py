"""EM: every step raises the likelihood, the truth is a fixed point, and samples lead to it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy.stats import chi2

from eigentext import engine
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning import shard
from eigentext.grammars.learning.em import em, random_start
from eigentext.grammars.learning.training import GrammarParameters, Smoothing, TrainingTrees
from eigentext.grammars.treebank.normal_form import Treebank
from eigentext.monitor import HeldOut

SMALL = [
    "(S (A a) (B b))",
    "(S (A b) (S (A a) (B b)))",
    "(S (S (A a) (B b)) (B a))",
    "(S (A a) (B b) (B a))",
    "(B a)",
]


def everything(parameters):
    return parameters.grammar.tensor, parameters.lexical, parameters.grammar.root


# steps --------------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_every_step_rises(latent, hand_trees, seed, n_states):
    model = latent(hand_trees, n_states, seed)
    found, history = em(model.trees, model.parameters, 5)
    history.append(model.trees.log_likelihood(found))
    assert (np.diff(history) >= -1e-10 * np.abs(history[1:])).all()
    pcfg = model.trees.maximum_likelihood(model.treebank)
    if max(n_states) == 1:  # one step is all there is to do
        assert np.allclose(history[1:], model.trees.log_likelihood(pcfg), rtol=1e-12)


def test_every_step_rises_on_penn(penn):
    treebank = Treebank.from_trees(penn("dev"))
    trees = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    pcfg = trees.maximum_likelihood(treebank)
    start = random_start(trees, pcfg, 4, 10, 0.01, np.random.default_rng(0))
    found, history = em(trees, start, 6)
    history.append(trees.log_likelihood(found))
    assert history[0] == pytest.approx(trees.log_likelihood(pcfg), rel=1e-4)
    assert (np.diff(history) > 0).all()


def test_history_is_of_before_each_step(latent):
    model = latent(SMALL)
    found, history = em(model.trees, model.parameters, 3)
    assert history[0] == model.trees.log_likelihood(model.parameters)
    second, first = em(model.trees, model.parameters, 1)
    assert first == history[:1]
    third, rest = em(model.trees, second, 2)
    assert rest == history[1:]
    for one, other in zip(everything(found), everything(third)):
        assert np.array_equal(one, other)
    same, nothing = em(model.trees, found, 0)
    assert same is found
    assert nothing == []


def test_it_stops_when_the_held_out_score_falls(latent):
    model = latent(SMALL)
    seen = []

    def score(parameters):
        seen.append(parameters)
        return -len(seen)

    held_out = HeldOut(
        score, pack=GrammarParameters.arrays, unpack=model.parameters.replaced, patience=2
    )
    found, history = em(model.trees, model.parameters, 10, smoothing=Smoothing(), held_out=held_out)
    assert len(history) == len(seen) == 3
    assert found is seen[-1]


def test_the_parameters_given_are_not_changed(latent):
    model = latent(SMALL)
    before = [values.copy() for values in everything(model.parameters)]
    for smoothing in (None, Smoothing()):
        em(model.trees, model.parameters, 2, smoothing=smoothing)
    for one, other in zip(before, everything(model.parameters)):
        assert np.array_equal(one, other)


def test_progress_is_told(latent):
    class Listener:
        def started(self, phase):
            self.told = []

        def advanced(self, phase):
            self.told.append((phase.name, phase.done, phase.total, phase.unit))

        def finished(self, phase):
            self.told.append("end")

    model, listener = latent(SMALL), Listener()
    with engine.report_to(listener):
        em(model.trees, model.parameters, 2, name="smoothed em")
    assert listener.told == [("smoothed em", n, 2, "steps") for n in (1, 2)] + ["end"]


# the start ----------------------------------------------------------------------------------------


def test_a_random_start_is_the_pcfg_but_for_noise(hand_trees):
    treebank = Treebank.from_trees(hand_trees)
    trees = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    pcfg = trees.maximum_likelihood(treebank)
    start = random_start(trees, pcfg, 3, 2, 0.01, np.random.default_rng(0))
    nodes = np.bincount(treebank.label)
    assert start.grammar.n_states.tolist() == [min(max(n // 2, 1), 3) for n in nodes]
    assert set(start.grammar.n_states) == {1, 2, 3}
    close = trees.log_likelihood(pcfg)
    assert trees.log_likelihood(start) == pytest.approx(close, rel=1e-3)
    for r, p in enumerate(pcfg.grammar.tensor):
        t = start.grammar.tensor_of(r)
        assert np.allclose(t, p / (t.shape[0] * t.shape[1]), rtol=0.04)
        assert t.size == 1 or t.std() > 0
    again = random_start(trees, pcfg, 3, 2, 0.01, np.random.default_rng(0))
    other = random_start(trees, pcfg, 3, 2, 0.01, np.random.default_rng(1))
    assert np.array_equal(start.grammar.tensor, again.grammar.tensor)
    assert np.array_equal(start.lexical, again.lexical)
    assert not np.array_equal(start.grammar.tensor, other.grammar.tensor)


def test_without_noise_em_finds_no_difference(hand_trees):
    treebank = Treebank.from_trees(hand_trees)
    trees = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    pcfg = trees.maximum_likelihood(treebank)
    start = random_start(trees, pcfg, 3, 1, 0.0, np.random.default_rng(0))
    _, history = em(trees, start, 4)
    assert np.allclose(history, trees.log_likelihood(pcfg), rtol=1e-12)


# the truth ----------------------------------------------------------------------------------------


def test_the_truth_is_a_fixed_point_on_its_population():
    """All twelve trees of a grammar, in proportion to their probabilities, as 8192 trees."""
    root = np.array([1, 3])  # quarters
    longer = np.array([[[2, 0], [1, 1]], [[0, 1], [1, 0]]])  # S -> NP B, eighths: (NP, B, S)
    shorter = np.array([[[1, 1], [0, 2]], [[1, 2], [2, 1]]])  # S -> A B
    phrase = np.array([[[2, 0], [1, 1]], [[1, 1], [0, 2]]])  # NP -> A B, quarters
    words = {"A": np.array([[3, 1], [1, 3]]), "B": np.array([[2, 1], [2, 3]])}  # (word, state)
    assert (longer + shorter).sum(axis=(0, 1)).tolist() == [8, 8]
    A, B = words.values()
    trees = []
    for x, y in product(range(2), repeat=2):
        n = 16 * np.einsum("s,abs,a,b", root, shorter, A[x], B[y])
        trees += [f"(S (A {x}) (B {y}))"] * n
        for z in range(2):
            n = np.einsum("s,nbs,acn,a,c,b", root, longer, phrase, A[x], B[y], B[z])
            trees += [f"(S (NP (A {x}) (B {y})) (B {z}))"] * n
    assert len(trees) == 8192
    treebank = Treebank.from_trees(trees)
    assert [str(symbol) for symbol in treebank.symbols] == ["NP", "S", "A", "B"]
    training = TrainingTrees(treebank, np.array([int(word) for word in treebank.tokens]))
    truth = Grammar(
        treebank.rules(), np.full(4, 2), np.empty(24), np.array([0, 0, *root, 0, 0, 0, 0]) / 4
    )
    rules = {(0, 2, 3): phrase / 4, (1, 0, 3): longer / 8, (1, 2, 3): shorter / 8}
    for r, rule in enumerate(zip(*(side.tolist() for side in truth.rules[:3]))):
        truth.tensor_of(r)[:] = rules[rule]
    start = GrammarParameters(truth, np.concatenate([A.ravel(), B.ravel()]) / 4)
    found, history = em(training, start, 5)
    assert np.ptp(history) < 1e-8
    for one, other in zip(everything(found), everything(start)):
        assert np.allclose(one, other, rtol=0, atol=1e-10)


class Sample:
    """Trees drawn from a grammar of the rules S -> A B | A S | S B with two states everywhere."""

    def __init__(self, latent, n_trees, seed):
        shape = ["(S (A a) (B a))", "(S (A b) (S (A b) (B b)))", "(S (S (A c) (B c)) (B c))"]
        model = latent(shape, 2, seed, shape=0.5)
        self.truth, rng = model.parameters, np.random.default_rng(seed)
        grammar, words = self.truth.grammar, model.treebank.words
        names = [str(symbol) for symbol in model.treebank.symbols]
        choices = {}
        for a, h in product(range(3), range(2)):
            made = [
                ((b, h2), (c, h3), grammar.tensor_of(r)[h2, h3, h])
                for r, (parent, b, c) in enumerate(zip(*grammar.rules[:3]))
                for h2, h3 in product(range(2), repeat=2)
                if parent == a
            ]
            for pair, label in enumerate(model.trees.pair_label):
                if label == a:
                    word = words[model.trees.pair_terminal[pair]]
                    made.append((word, None, self.truth.lexical[2 * pair + h]))
            choices[a, h] = made, np.cumsum([p for *_, p in made])

        def draw(a, h):
            made, sums = choices[a, h]
            left, right, _ = made[min(np.searchsorted(sums, rng.random()), len(made) - 1)]
            return f"({names[a]} {left if right is None else draw(*left) + draw(*right)})"

        states = rng.choice(2, n_trees, p=grammar.root[:2])
        self.treebank = Treebank.from_trees([draw(0, h) for h in states])
        numbers = [words.index(word) for word in self.treebank.tokens]
        self.trees = TrainingTrees(self.treebank, np.array(numbers))
        assert np.array_equal(self.trees.rules.left, grammar.rules.left)
        assert np.array_equal(self.trees.pair_terminal, model.trees.pair_terminal)


@pytest.mark.skipif(config.DISABLE_JIT, reason="slow")
@pytest.mark.parametrize("seed", range(2))
def test_on_a_sample_the_truth_moves_by_its_error_alone(latent, seed):
    sample = Sample(latent, 2000, seed)
    truth, trees = sample.truth, sample.trees
    counts = trees.expect(truth).states
    found, history = em(trees, truth, 25)
    once, _ = em(trees, truth, 1)
    # A count of posteriors varies no more than a count of observed states.
    parents = np.tile(np.arange(2), len(truth.grammar.tensor) // 2)  # all rules are of S, label 0
    words = trees.lexical_states(truth.grammar)
    for one, other, n in (
        (once.grammar.tensor, truth.grammar.tensor, counts[parents]),
        (once.lexical, truth.lexical, counts[words]),
        (once.grammar.root[:2], truth.grammar.root[:2], 2000),
    ):
        assert (np.abs(one - other) < 4.5 * np.sqrt(other * (1 - other) / n) + 5 / n).all()
        assert not np.array_equal(one, other)
    # Twice the gain of EM over the truth is at most chi-square, by the theorem of Wilks.
    freedom = 2 * (12 - 1) + 2 * 2 * (3 - 1) + 1
    gain = trees.log_likelihood(found) - history[0]
    assert 0 < 2 * gain < chi2.ppf(1 - 1e-4, freedom)


@pytest.mark.skipif(config.DISABLE_JIT, reason="slow")
@pytest.mark.parametrize("seed", range(2))
def test_random_starts_reach_the_truth(latent, seed):
    sample = Sample(latent, 500, seed)
    pcfg = sample.trees.maximum_likelihood(sample.treebank)
    best = -np.inf
    for start in range(2):
        rng = np.random.default_rng(start)
        parameters = random_start(sample.trees, pcfg, 2, 1, 0.9, rng)
        found, history = em(sample.trees, parameters, 40)
        assert (np.diff(history) > -1e-7).all()
        best = max(best, sample.trees.log_likelihood(found))
    truth, plain = (sample.trees.log_likelihood(p) for p in (sample.truth, pcfg))
    assert truth > plain + 20
    assert best > truth


# threads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [None, Smoothing()])
def test_same_bits_for_any_number_of_threads(hand_trees, monkeypatch, smoothing):
    monkeypatch.setattr(shard, "_WORK", 500)
    treebank = Treebank.from_trees(hand_trees * 3)
    trees = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    found = []
    for n_threads in (1, 2, 1):
        with engine.use(engine.ThreadEngine(n_threads)):
            rng = np.random.default_rng(0)
            start = random_start(trees, trees.maximum_likelihood(treebank), 16, 1, 0.01, rng)
            parameters, history = em(trees, start, 4, smoothing=smoothing)
        found.append([history, *(values.tobytes() for values in everything(parameters))])
    assert found[0] == found[1] == found[2]
