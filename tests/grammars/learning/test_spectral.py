"""Spectral learning: exact with the moments of a population, near with those of a sample."""

import importlib.util
from collections import Counter, defaultdict
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentext import engine
from eigentext.grammars.chart.forest import inside_outside, tree_forest
from eigentext.grammars.learning import spectral as spectral_module
from eigentext.grammars.learning.spectral import one_hot, project, scaled, spectral
from eigentext.grammars.treebank.features import Coded, TreebankNodes, code_features

_spec = importlib.util.spec_from_file_location("_worlds", Path(__file__).parents[1] / "_worlds.py")
worlds = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(worlds)
World, BRACKETS, ATTACHMENT = worlds.World, worlds.BRACKETS, worlds.ATTACHMENT
probabilities = worlds.probabilities

# With this many trees, the token that the lexicon keeps for unseen words of each label, and
# kappa = 5, make no difference.
MANY = 1e12
STATES = {"X": 4, "Y": 3, "A": 2, "B": 3, "C": 3}
MANY_STATES = {"S": 2, "VP": 3, "VQ": 2, "NP": 2, "PP": 2, "N": 3, "V": 2, "P": 2}


@cache
def everything(*trees):
    """Counted trees, and their nodes."""
    learner = worlds.learner(trees)
    return learner, TreebankNodes(learner.treebank, learner.lexicon.terminals())


def moments(world, features="full", max_states=6, *, counts=None, **options):
    """Counted trees, and projections by the moments of a population or of a sample."""
    counts = MANY * world.p if counts is None else counts
    seen = np.flatnonzero(counts)
    learner, nodes = everything(*(world.trees[k] for k in seen))
    weights = np.repeat(counts[seen].astype(float), np.diff(learner.treebank.offsets))
    coded = code_features(features, nodes)
    return learner, project(nodes, coded, max_states, weights=weights, **options)


def learned(world, *args, n_states=None, smoothing=0, **options):
    """Counted trees, and what was learned with as many directions as the moments have."""
    learner, projections = moments(world, *args, **options)
    if n_states is None:
        n_states = projections.n_states(6, 1e-9, 0)
    return learner, spectral(learner, projections, n_states, smoothing=smoothing)


def whole_trees(nodes):
    """The richest features: the whole inside tree and the whole outside tree."""
    treebank, kind, number = nodes.treebank, nodes.kind.tolist(), defaultdict(count().__next__)
    left, right = treebank.left.tolist(), treebank.right.tolist()
    inside, outside = [], [number["root"]] * len(kind)
    for i, k in enumerate(kind):
        inside.append(number[k, *([] if left[i] < 0 else [inside[left[i]], inside[right[i]]])])
    for i, k in reversed(list(enumerate(kind))):
        if left[i] >= 0:
            outside[left[i]] = number["left", k, outside[i], inside[right[i]]]
            outside[right[i]] = number["right", k, outside[i], inside[left[i]]]
    return {"tree": inside}, {"tree": outside}


def assert_exact(world, level, learner):
    np.testing.assert_allclose(probabilities(level, learner.treebank), world.p, rtol=1e-8)


def distance(world, level, learner):
    found = probabilities(level, learner.treebank.encode(world.trees))
    return np.abs(found - world.p).sum()


# the population -----------------------------------------------------------------------------------


def test_a_world_is_a_distribution_over_trees():
    world = World({"S": ["A B", "B A"], "A": ["x", "y"], "B": ["y"]}, "S A", {"S": 2, "A": 2})
    assert world.p.sum() == pytest.approx(1, rel=1e-14)
    assert len(world.trees) == 6
    k = world.trees.index("(S (B y) (A x))")
    t, q, pi = world.parameters["S", "B", "A"], world.parameters["A", "x"], world.pi["S"]
    q2 = world.parameters["B", "y"]
    by_hand = sum(pi[h] * t[h, 0, j] * q2[0] * q[j] for h in range(2) for j in range(2))
    assert world.p[k] == pytest.approx(by_hand, rel=1e-14)


@pytest.mark.parametrize(
    ("kappa", "seed", "whitening"),
    [
        *((0.0, 0, "diagonal"), (5.0, 1, "diagonal")),
        *((0.02 * MANY, 2, "diagonal"), (np.inf, 3, "diagonal")),
        *((0.02 * MANY, 2, "exact"), (np.inf, 3, "exact")),
    ],
)
@pytest.mark.parametrize("features", ["simple", "full"])
def test_the_population_gives_exact_probabilities_of_all_trees(features, kappa, seed, whitening):
    world = World(BRACKETS, "S X Y", STATES, seed)
    learner, projections = moments(world, features, kappa=kappa, whitening=whitening)
    # The condition of the theorem: each Omega has as high a rank as its label has states.
    n_states = world.states(learner.treebank)
    for m, s in zip(n_states, projections.singular_values):
        assert s[m - 1] > 1e-5 * s[0]
        assert (s[m:] < 1e-12 * s[0]).all()
    np.testing.assert_array_equal(projections.n_states(6, 1e-9, 0), n_states)
    level = spectral(learner, projections, n_states, smoothing=0)
    assert level.grammar.tensor.min() < 0  # not the parameters themselves
    assert_exact(world, level, learner)


@pytest.mark.parametrize("seed", range(4))
def test_the_population_of_attachments(seed):
    # Contexts distinguish the states of words and of PP. The other labels have one state.
    world = World(ATTACHMENT, "S", {"N": 3, "V": 2, "PP": 2, "P": 2}, seed)
    learner, level = learned(world)
    np.testing.assert_array_equal(level.grammar.n_states, world.states(learner.treebank))
    assert_exact(world, level, learner)


def by_sentence(world, nodes):
    """p(sentence), p(sentence, label a spans words i to j), and the number of trees."""
    treebank, p, items, n_trees = nodes.treebank, Counter(), defaultdict(Counter), Counter()
    end, start = nodes.end, nodes.end - nodes.width
    tokens = iter(treebank.tokens)
    for t, p_tree in enumerate(world.p):
        span = range(*treebank.offsets[t : t + 2])
        sentence = tuple(next(tokens) for i in span if treebank.left[i] < 0)
        p[sentence] += p_tree
        n_trees[sentence] += 1
        for i in span:
            items[sentence][int(treebank.label[i]), int(start[i]), int(end[i])] += p_tree
    return p, items, n_trees


@pytest.mark.parametrize(
    ("skeleton", "roots", "n_states", "most"),
    [(BRACKETS, "S X Y", STATES, 24), (ATTACHMENT, "S", {"N": 3, "V": 2, "PP": 2, "P": 2}, 2)],
)
def test_the_population_gives_exact_sentences_and_marginals(
    whole_forest, skeleton, roots, n_states, most
):
    world = World(skeleton, roots, n_states, 1)
    learner, level = learned(world)
    nodes = everything(*world.trees)[1]
    p, items, n_trees = by_sentence(world, nodes)
    assert max(n_trees.values()) == most
    symbols = [str(symbol) for symbol in learner.treebank.symbols]
    for words in p:
        labels = [[a for a, s in enumerate(symbols) if x in skeleton[s]] for x in words]
        forest = whole_forest(learner.treebank.rules(), labels)
        found = level.posteriors(forest, list(words))
        assert found.sign == 1
        assert np.exp(found.log_probability) == pytest.approx(p[words], rel=1e-8)
        spans = zip(forest.label.tolist(), forest.start.tolist(), forest.end.tolist())
        marginals = dict(zip(spans, found.items))
        assert set(items[words]) <= set(marginals)
        for item, marginal in marginals.items():
            assert marginal == pytest.approx(items[words][item] / p[words], abs=1e-8)


def test_how_often_a_label_is_a_word_is_exact_too():
    """p(x | a) is c_(a -> x) times E[Y | a]: the states of all nodes of the label."""
    world = World(BRACKETS, "S X Y", STATES, 2)
    learner, projections = moments(world)
    level = spectral(learner, projections, world.states(learner.treebank), smoothing=0)
    treebank, grammar = learner.treebank, level.grammar
    weights = projections.weights
    mean = [
        weights[nodes] @ y[:, :m] / weights[nodes].sum()
        for nodes, y, m in zip(projections.nodes, projections.inside, grammar.n_states)
    ]
    at_label = np.bincount(treebank.label, weights)
    leaves = np.flatnonzero(treebank.left < 0)
    for x in "uvw":
        with_x = leaves[np.array(treebank.tokens) == x]
        expected = np.bincount(treebank.label[with_x], weights[with_x], len(mean)) / at_label
        row = np.split(level.words([x])[0], grammar.state_offsets[1:-1])
        for a, symbol in enumerate(treebank.symbols):
            if symbol.preterminal:
                assert row[a] @ mean[a] == pytest.approx(expected[a], rel=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_any_features_of_enough_rank_will_do(noise, seed):
    """Noise and features change the grammar, but not its probabilities."""
    world = World(ATTACHMENT, "S", MANY_STATES, seed)
    options = {"kappa": 5.0, "noise": noise, "random_state": seed}
    learner, level = learned(world, whole_trees, **options)
    assert_exact(world, level, learner)


@settings(max_examples=8)
@given(st.lists(st.integers(1, 4), min_size=9, max_size=9), st.integers(0, 1000))
def test_worlds_of_any_states_are_exact_by_whole_trees(n_states, seed):
    # There may be fewer directions than states, if no outside tree distinguishes two states.
    world = World(ATTACHMENT, "S", dict(zip(ATTACHMENT, n_states)), seed, shape=1.0)
    learner, projections = moments(world, whole_trees, kappa=np.inf)
    found = projections.n_states(6, 1e-10, 0)
    assert (found <= world.states(learner.treebank)).all()
    least = min(s[m - 1] / s[0] for m, s in zip(found, projections.singular_values))
    level = spectral(learner, projections, found, smoothing=0)
    np.testing.assert_allclose(
        probabilities(level, learner.treebank), world.p, rtol=1e-12 / least + 1e-10, atol=1e-12
    )


def test_poor_features_are_not_exact():
    # Nothing in the sets distinguished the states of NP and VP: no word is outside of them.
    world = World(ATTACHMENT, "S", MANY_STATES, 0)
    found = {
        features: learned(world, features)[::-1] for features in ("simple", "full", whole_trees)
    }
    distances = [distance(world, *pair) for pair in found.values()]
    assert distances[0] > distances[1] > 0.01
    assert distances[2] < 1e-10


def test_fewer_directions_than_states_are_not_exact():
    world = World(BRACKETS, "S X Y", STATES, 0)
    learner, projections = moments(world)
    n_states = world.states(learner.treebank)
    distances = []
    for most in (1, 2, 3, 4):
        level = spectral(learner, projections, np.minimum(n_states, most), smoothing=0)
        distances.append(distance(world, level, learner))
    assert distances[0] > distances[1] > distances[2] > 1e-4
    assert distances[3] < 1e-10


def test_a_world_of_lower_rank_is_exact_at_its_rank():
    # X has four states that are mixtures of two. Those of S, the root, cannot be distinguished.
    world = World(BRACKETS, "S", {**STATES, "S": 3}, 0, rank={"X": 2})
    learner, projections = moments(world)
    found = projections.n_states(6, 1e-9, 0)
    expected = {**world.m, "S": 1, "X": 2}
    np.testing.assert_array_equal(found, [expected[str(s)] for s in learner.treebank.symbols])
    assert_exact(world, spectral(learner, projections, found, smoothing=0), learner)
    # A tolerance of 0 still leaves zeros out. One that cuts true directions causes an error.
    np.testing.assert_array_equal(projections.n_states(6, 0.0, 0), found)
    cut = projections.n_states(6, 0.05, 0)
    assert (cut <= found).all()
    assert (cut < found).any()
    assert distance(world, spectral(learner, projections, cut, smoothing=0), learner) > 1e-4


def test_as_many_states_as_nodes_allow():
    world = World(ATTACHMENT, "S", MANY_STATES, 0)
    learner, projections = moments(world, whole_trees, counts=1000 * world.p)
    nodes = np.bincount(learner.treebank.label, projections.weights)
    every, few = projections.n_states(6, 0.0, 0), projections.n_states(6, 0.0, 490)
    np.testing.assert_array_equal(few, np.clip(nodes // 490, 1, every))
    assert few.max() > 1
    assert (few < every).any()
    assert projections.n_states(1, 0.0, 0).tolist() == [1] * len(nodes)


def test_smoothing_is_not_exact_but_fades():
    """With many trees, no rule has few nodes."""
    world = World(ATTACHMENT, "S", {"N": 3, "V": 2, "PP": 2, "P": 2}, 0)
    distances = []
    for size in (1e3, 1e6, 1e9):
        learner, level = learned(world, counts=size * world.p, smoothing=1.0)
        distances.append(distance(world, level, learner))
    assert distances[0] > 10 * distances[1] > 100 * distances[2] > 0


def test_negative_probabilities_have_a_sign():
    world = World(ATTACHMENT, "S", {"N": 3, "V": 2}, 0)
    learner, level = learned(world)
    tree = learner.treebank.encode(world.trees[:1])
    forest = tree_forest(tree)
    words = level.leaf_scores(forest, tree.tokens)
    one = inside_outside(forest, level.grammar, words)
    level.grammar.root *= -1
    two = inside_outside(forest, level.grammar, words)
    assert (one.sign, two.sign) == (1, -1)
    assert one.log_probability == two.log_probability == pytest.approx(np.log(world.p[0]))
    np.testing.assert_allclose(two.items, one.items)  # shares of the whole, whatever its sign


# projections --------------------------------------------------------------------------------------


def test_projections_are_the_svd_of_what_the_two_sides_share():
    world = World(BRACKETS, "S X Y", STATES, 3)
    learner, projections = moments(world, kappa=7.0)
    _, nodes = everything(*world.trees)
    inside, outside = code_features("full", nodes)

    def features(side, members, w):
        columns = [
            (row[members] == value) / np.sqrt(w @ (row[members] == value) + 7.0)
            for row, size in zip(side.values, side.sizes)
            for value in range(size)
        ]
        return np.sqrt(w.sum()) * np.stack(columns, axis=1)

    for a, members in enumerate(projections.nodes):
        np.testing.assert_array_equal(members, np.flatnonzero(learner.treebank.label == a))
        w = projections.weights[members]
        phi, psi = features(inside, members, w), features(outside, members, w)
        s = projections.singular_values[a]
        Y, Z = projections.inside[a], projections.outside[a]
        expected = np.linalg.svd(phi.T @ (w[:, None] * psi) / w.sum(), compute_uv=False)
        np.testing.assert_allclose(s, expected[: len(s)], atol=1e-12 * s[0])
        # In the new directions, the cross-moments are the singular values on the diagonal.
        np.testing.assert_allclose(Y.T @ (w[:, None] * Z) / w.sum(), np.diag(s), atol=1e-12 * s[0])


def test_features_by_hand():
    side = Coded(["a", "b"], np.array([[0, 1, 0, 2], [-1, 0, 0, -1]]), np.array([3, 1]))
    np.testing.assert_array_equal(
        one_hot(side, np.array([0, 1, 2])).toarray(), [[1, 0, 0], [0, 1, 1], [1, 0, 1]]
    )
    np.testing.assert_array_equal(one_hot(side, np.array([3, 0])).toarray(), [[0, 1], [1, 0]])
    none = Coded(["a"], np.array([[-1, -1]]), np.array([0]))
    np.testing.assert_array_equal(one_hot(none, np.arange(2)).toarray(), [[1], [1]])
    w = np.array([1.0, 2.0, 1.0])
    found = scaled(one_hot(side, np.array([0, 1, 2])), w, 2.0).toarray()
    expected = np.sqrt(4 / (np.array([2, 2, 3]) + 2.0)) * [[1, 0, 0], [0, 1, 1], [1, 0, 1]]
    np.testing.assert_allclose(found, expected)
    plain = scaled(one_hot(side, np.array([0, 1, 2])), w, np.inf).toarray()
    assert set(plain.ravel()) == {0.0, 1.0}


def test_noise_is_of_the_seed():
    world = World(ATTACHMENT, "S", MANY_STATES, 0)
    found = [
        moments(world, counts=1000 * world.p, noise=noise, random_state=seed)[1].inside[6]
        for noise, seed in ((0.0, 0), (0.0, 1), (0.3, 0), (0.3, 0), (0.3, 1))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])
    assert not np.allclose(found[0], found[2])
    assert not np.allclose(found[2], found[4])


# samples ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_a_weight_is_so_many_trees(smoothing):
    world = World(ATTACHMENT, "S", {"N": 2, "V": 2, "PP": 2, "P": 2}, 0)
    counts = np.random.default_rng(0).multinomial(400, world.p)
    _, one = learned(world, counts=counts, n_states=world_states(world), smoothing=smoothing)
    learner, nodes = everything(*np.repeat(world.trees, counts).tolist())
    projections = project(nodes, code_features("full", nodes), 6)
    two = spectral(learner, projections, world_states(world), smoothing=smoothing)
    np.testing.assert_allclose(one.grammar.tensor, two.grammar.tensor, atol=1e-11)
    np.testing.assert_allclose(one.grammar.root, two.grammar.root, atol=1e-11)
    # The lexicon ignores weights, so it keeps slightly more or less for unseen words.
    for x in sorted(set(learner.treebank.tokens)):
        rows = [level.words([x]) * level.words.totals for level in (one, two)]
        np.testing.assert_allclose(*rows, atol=1e-9)
    np.testing.assert_allclose(one.words.totals, two.words.totals, rtol=0.001)


def world_states(world):
    return world.states(everything(*world.trees)[0].treebank)


def test_the_error_falls_as_the_root_of_the_sample():
    """Sixteen times as many trees give a fourth of the error, less than that of counting trees."""
    errors, tables = [], []
    for size in (1000, 16_000):
        runs, counting = [], []
        for seed in range(4):
            world = World(ATTACHMENT, "S", {"N": 2, "V": 2, "PP": 2}, seed)
            counts = np.random.default_rng(seed).multinomial(size, world.p)
            learner, level = learned(world, counts=counts, n_states=world_states(world))
            runs.append(distance(world, level, learner))
            counting.append(np.abs(counts / size - world.p).sum())
        errors.append(np.mean(runs))
        tables.append(np.mean(counting))
    assert 2.5 < errors[0] / errors[1] < 6.5
    assert errors[0] < 0.6 * tables[0]
    assert errors[1] < 0.6 * tables[1]


def test_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(spectral_module, "_WORK", 5000)  # several blocks
    world = World(ATTACHMENT, "S", MANY_STATES, 0)
    counts = np.random.default_rng(0).multinomial(2000, world.p)
    found = []
    for n_threads in (1, 2):
        with engine.use(engine.ThreadEngine(n_threads)):
            _, level = learned(world, counts=counts, smoothing=1.0, noise=0.1)
        words = level.words(["dogs", "see", "parks"])
        found.append([x.tobytes() for x in (level.grammar.tensor, level.grammar.root, words)])
    assert found[0] == found[1]
