"""LatentPCFG: sums over states, learning, votes, validation (see also test_parser.py)."""

import re
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.base import clone

import eigentext as et
from eigentext import PCFG, LatentPCFG, engine
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import brackets
from eigentext.grammars import parameters as tables
from eigentext.grammars.chart.decoding import brackets as brackets_of
from eigentext.grammars.chart.decoding import minimum_bayes_risk, restored
from eigentext.grammars.parameters import METHODS
from eigentext.grammars.treebank.normal_form import Treebank
from eigentext.parameters import UnusedParameterWarning

SMALL = {"nodes_per_state": 1, "n_iter": 6, "n_smooth": 4}
FEW_CYCLES = {"nodes_per_state": 1, "n_iter": 6}


def few(method):
    """Few steps, for both methods with EM."""
    return FEW_CYCLES if method == "split-merge" else SMALL


def parameters_of(model):
    """All numbers of the grammars of a model, in order."""
    cascade = model._cascade
    levels = [cascade.coarse, cascade.middle, *cascade.levels]
    parts = [
        part
        for level in levels
        for part in (level.grammar.tensor, level.grammar.root, level.words.counts.data)
    ]
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def small(ambiguous_trees):
    return LatentPCFG(3, method="em", **SMALL).fit(ambiguous_trees)


# probabilities ------------------------------------------------------------------------------------


def by_all_assignments(level, treebank, words):
    """p(tree, words): the product of pi, t and q, summed over all states of all nodes."""
    grammar, q = level.grammar, level.words(words)
    first, label = grammar.state_offsets, treebank.label
    leaves = np.cumsum(treebank.left < 0) - 1
    total = 0.0
    for states in product(*(range(grammar.n_states[a]) for a in label)):
        p = grammar.root[first[label[-1]] + states[-1]]
        for node, (left, right) in enumerate(zip(treebank.left, treebank.right)):
            if left < 0:
                p *= q[leaves[node], first[label[node]] + states[node]]
            else:
                t = grammar.tensor_of(treebank.rule[node])
                p *= t[states[left], states[right], states[node]]
        total += p
    return total


@pytest.mark.parametrize("method", ["em", "split-merge"])
def test_a_tree_is_the_sum_over_all_its_states(ambiguous_trees, method):
    model = LatentPCFG(2, method=method, n_grammars=2, **few(method)).fit(ambiguous_trees)
    treebank = Treebank.from_trees(ambiguous_trees)
    for tree in ambiguous_trees[:6]:
        encoded, words = treebank.encode([tree]), tree.leaves()
        p = [by_all_assignments(level, encoded, words) for level in model._cascade.levels]
        assert p[0] != p[1]
        assert model.log_probability(tree) == pytest.approx(np.log(np.mean(p)), rel=1e-12)


def test_one_state_is_a_pcfg(hand_trees):
    plain = PCFG(horizontal=0, vertical=1, prune=0).fit(hand_trees)
    for method in ("em", "split-merge"):
        model = LatentPCFG(1, method=method, smoothing=0, prune=0).fit(hand_trees)
        for tree in hand_trees:
            assert model.log_probability(tree) == pytest.approx(plain.log_probability(tree))
            assert model.parse(tree.leaves()) == plain.parse(tree.leaves())


def test_each_state_is_a_distribution(small):
    for level in (small._cascade.middle, *small._cascade.levels):
        grammar = level.grammar
        sums = np.zeros(grammar.state_offsets[-1])
        for r, a in enumerate(grammar.rules.parent):
            m = grammar.n_states[a]
            sums[grammar.state_offsets[a] :][:m] += grammar.tensor_of(r).sum(axis=(0, 1))
        inner = np.repeat([not s.preterminal for s in small.symbols_], grammar.n_states)
        np.testing.assert_allclose(sums, inner, atol=1e-9)
        assert grammar.root.sum() == pytest.approx(1)
        assert (grammar.root >= 0).all()
        assert (grammar.tensor >= 0).all()


# learning -----------------------------------------------------------------------------------------


def rises(history):
    """No step lowers the likelihood, up to rounding, and some raise it."""
    tolerance = 1e-9 * abs(history[0])
    return all(b >= a - tolerance for a, b in pairwise(history)) and history[-1] > history[0]


@pytest.mark.parametrize("seed", range(3))
def test_em_never_falls(hand_trees, seed):
    model = LatentPCFG(4, method="em", nodes_per_state=1, n_iter=30, n_smooth=5, random_state=seed)
    (history,) = model.fit(hand_trees).history_
    assert list(history) == ["em", "smoothed"]
    assert len(history["em"]) == 30
    assert len(history["smoothed"]) == 5
    assert rises(history["em"])


def test_split_merge_rises_in_each_of_its_fits(hand_trees):
    model = LatentPCFG(4, method="split-merge", smoothing=0, n_iter=20).fit(hand_trees)
    (history,) = model.history_
    assert list(history) == ["split 1", "merge 1", "split 2", "merge 2"]
    for steps in history.values():
        assert len(steps) == 10
        assert rises(steps)
    assert history["split 2"][-1] > history["split 1"][-1]
    assert 1 < model.n_states_.max() <= 4
    assert model.n_states_.min() == 1  # of a label seen once


def test_merging_undoes_the_share_that_it_is_told(hand_trees):
    def n_states(share):
        options = {"method": "split-merge", "n_iter": 2, "merge": share}
        return LatentPCFG(2, **options).fit(hand_trees).n_states_

    none, half, most = n_states(0.0), n_states(0.5), n_states(0.9)
    n_split = (none == 2).sum()
    assert n_split > 10
    assert (half == 2).sum() == n_split - int(0.5 * n_split)
    assert (most == 2).sum() == n_split - int(0.9 * n_split)
    assert (half <= none).all()


def test_labels_have_as_many_states_as_their_nodes_allow(hand_trees):
    nodes = np.bincount(Treebank.from_trees(hand_trees).label)
    model = LatentPCFG(4, method="em", nodes_per_state=3, n_iter=1, n_smooth=0).fit(hand_trees)
    np.testing.assert_array_equal(model.n_states_, np.clip(nodes // 3, 1, 4))
    assert model.diagnostics_["n_states"] == model.n_states_.sum()
    assert model.diagnostics_["most_states"] == model.n_states_.max()
    assert model.diagnostics_["n_parameters"] == len(model._cascade.levels[0].grammar.tensor)
    assert model.diagnostics_["history"] == model.history_


def test_three_states_by_splitting_are_two(hand_trees):
    model = LatentPCFG(3, method="split-merge", n_iter=2, merge=0).fit(hand_trees)
    assert model.n_states_.max() == 2


def test_without_steps(hand_trees):
    for method in ("em", "split-merge"):
        none = dict.fromkeys(few(method), 0) | {"nodes_per_state": 1}
        model = LatentPCFG(2, method=method, **none)
        words = hand_trees[0].leaves()
        assert model.fit(hand_trees).parse(words) == hand_trees[0]
        assert not any(steps for steps in model.history_[0].values())


@pytest.mark.parametrize("method", ["em", "split-merge"])
@pytest.mark.parametrize("seed", range(3))
def test_states_tell_apart_what_the_label_does_not(method, seed):
    # Subjects and objects are different words. A grammar without states confuses them.
    right, wrong = "(S (P he) (VP (V sees) (P him)))", "(S (P him) (VP (V sees) (P he)))"
    trees = [right] * 20
    plain = PCFG().fit(trees)
    assert plain.log_probability(wrong) == pytest.approx(plain.log_probability(right))
    steps = {"n_iter": 60} if method == "split-merge" else {"n_iter": 60, "n_smooth": 0}
    model = LatentPCFG(2, method=method, smoothing=0, random_state=seed, **steps)
    assert model.fit(trees).log_probability(right) > model.log_probability(wrong) + 2
    steps = np.concatenate(list(model.history_[0].values()))
    assert steps[0] == pytest.approx(20 * np.log(1 / 4), rel=0.01)
    assert steps[-1] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("method", ["em", "split-merge"])
def test_bits_do_not_depend_on_threads_but_on_the_seed(hand_trees, ambiguous_trees, method):
    trees = hand_trees + ambiguous_trees
    options = {"method": method, "n_grammars": 2, **few(method)}
    one, two, other = (
        LatentPCFG(3, n_jobs=n_jobs, random_state=seed, **options).fit(trees)
        for n_jobs, seed in [(1, 5), (2, 5), (1, 6)]
    )
    np.testing.assert_array_equal(parameters_of(one), parameters_of(two))
    assert one.history_ == two.history_
    assert one.history_ != other.history_
    sentence = "she sees birds with a lens ."
    assert one.marginals(sentence) == two.marginals(sentence)
    assert one.marginals(sentence) != other.marginals(sentence)


def test_bits_of_real_trees_do_not_depend_on_threads(penn):
    trees, others = penn("train")[:150], [tree.leaves() for tree in penn("dev")[:8]]
    models = [LatentPCFG(8, method="em", n_iter=3, n_smooth=2, n_jobs=n).fit(trees) for n in (1, 2)]
    np.testing.assert_array_equal(*map(parameters_of, models))
    one, two = (list(model.parses(others, n_jobs=n)) for model, n in zip(models, (1, 2)))
    assert one == two


def test_the_engine_in_use_stays_in_use(hand_trees):
    with engine.use(engine.ThreadEngine(1)):
        before = engine.current()
        LatentPCFG(2, method="em", n_iter=1, n_smooth=1, n_jobs=2).fit(hand_trees)
        assert engine.current() is before


# several grammars ---------------------------------------------------------------------------------


def test_grammars_of_an_ensemble_are_different_ones(ambiguous_trees):
    alone = LatentPCFG(2, method="em", **SMALL).fit(ambiguous_trees)
    three = LatentPCFG(2, method="em", n_grammars=3, **SMALL).fit(ambiguous_trees)
    tensors = [level.grammar.tensor for level in three._cascade.levels]
    assert len(three.history_) == len(tensors) == 3
    np.testing.assert_array_equal(tensors[0], alone._cascade.levels[0].grammar.tensor)
    assert not np.array_equal(tensors[0], tensors[1])
    assert not np.array_equal(tensors[1], tensors[2])


# validation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["likelihood", "f1"])
@pytest.mark.parametrize("method", ["em", "split-merge"])
def test_the_best_on_validation_trees_is_kept(hand_trees, measure, method):
    steps = {"n_iter": 10, "nodes_per_state": 1}
    if method == "em":
        steps["n_smooth"] = 40
    model = LatentPCFG(4, method=method, early_stopping=measure, **steps)
    model.fit(hand_trees, validation=hand_trees[:3])
    (history,) = model.history_
    scores = history["validation"]
    assert np.isfinite(scores).all()
    patience = {"em": 2, "split-merge": 1}[method]
    assert len(scores) - 1 - int(np.argmax(scores)) <= patience
    if method == "em":
        assert len(history["smoothed"]) == 5 * len(scores) <= 40
    if measure == "likelihood":
        kept = np.mean([model.log_probability(tree) for tree in hand_trees[:3]])
        assert kept == pytest.approx(max(scores))
    else:
        parsed = model.parse_many([tree.leaves() for tree in hand_trees[:3]])
        assert brackets(hand_trees[:3], parsed).f1 == pytest.approx(max(scores))
    assert np.isfinite(model.log_probability(hand_trees[0]))


def test_validation_stops_what_goes_on_in_vain(ambiguous_trees):
    # Counts of rules differ between the two sets: a better fit is worse on the other trees.
    others = ["(S (VP (V watch) (NP (NP (N dogs)) (PP (P near) (NP (N bark))))))"]
    options = {"n_iter": 5, "n_smooth": 400, "nodes_per_state": 1, "smoothing": 0}
    model = LatentPCFG(4, method="em", **options).fit(ambiguous_trees, validation=others)
    (history,) = model.history_
    assert len(history["smoothed"]) < 400
    assert history["validation"][-1] <= max(history["validation"])


def test_validation_trees_may_have_unknown_rules(hand_trees):
    unknown = ["(S (XP (FW qua)))", "(S (NP (PRP she)) (. .))"]
    options = {"method": "em", "n_iter": 1, "n_smooth": 1}
    model = LatentPCFG(2, **options).fit(hand_trees, validation=[*unknown, hand_trees[0]])
    expected = model.log_probability(hand_trees[0])
    assert model.history_[0]["validation"] == [pytest.approx(expected)]
    model = LatentPCFG(2, **options).fit(hand_trees, validation=unknown)
    assert model.history_[0]["validation"] == [-np.inf]  # nothing to choose by
    assert model.parse(hand_trees[0].leaves()) == hand_trees[0]


def test_bad_validation_trees(hand_trees):
    model = LatentPCFG(2, method="em", n_iter=1, n_smooth=1)
    with pytest.raises(CorpusError, match="no trees"):
        model.fit(hand_trees, validation=[])
    with pytest.raises(CorpusError, match=r"tree 1: .* is never closed"):
        model.fit(hand_trees, validation=["(S (N a)"])
    with pytest.raises(CorpusError, match="not a single one or a path"):
        model.fit(hand_trees, validation="dev.mrg")


# parameters and odd treebanks ---------------------------------------------------------------------


def test_parameters_are_kept_copied_and_shown():
    model = LatentPCFG(8, method="em", random_state=3)
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "LatentPCFG(n_states=8, method='em', random_state=3)"
    assert model.set_params(n_grammars=4) is model
    with pytest.raises(ParameterError, match="LatentPCFG has no parameter 'states'"):
        model.set_params(states=2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_states": 0},
            r"n_states \(--states\) must be a whole number, 1 .*, not 0",
        ),
        (
            {"n_states": True},
            r"n_states \(--states\) must be a whole number, 1 .*, not True",
        ),
        ({"method": "spectrum"}, "method must be 'spectral', .* or 'split-merge', not 'spectrum'"),
        (
            {"n_iter": -1},
            r"n_iter \(--iterations\) must be a whole number, 0 or more, or None, not",
        ),
        ({"smoothing": np.inf}, "smoothing must be a number, 0 or more, or a .*, not inf"),
        ({"merge": 1.0}, "merge must be a number, 0 or more and less than 1, not 1.0"),
        ({"early_stopping": "auc"}, "early_stopping must be 'likelihood' or 'f1', not 'auc'"),
        (
            {"random_state": -1},
            "must be a whole number, 0 or more, or None for a new random seed, not",
        ),
        ({"nodes_per_state": 10**30}, "nodes_per_state must be 1,000,000,000 at most"),
        ({"n_jobs": 0}, "n_jobs must be a whole number, 1 or more, or -1 for one thread on each"),
        ({"n_jobs": "all"}, "n_jobs must be a whole number, 1 or more, or -1 .*, not 'all'"),
        ({"horizontal": 0.5}, "horizontal must be a whole number, 0 or more, or None, not 0.5"),
    ],
)
def test_wrong_parameters(hand_trees, parameters, message):
    with pytest.raises(ParameterError, match=message):
        LatentPCFG(**parameters).fit(hand_trees)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "em", "kappa": 1.0}, "with method='em' does not use kappa: 1.0 has no"),
        ({"method": "split-merge", "n_smooth": 3}, "n_smooth (--smooth-steps): 3 has no"),
        ({"decoding": "viterbi", "tau": 0.1}, "with decoding='viterbi' does not use tau"),
        ({"noise": 0.1}, "noise makes grammars differ: let several of them vote"),
        ({"method": "em", "early_stopping": "f1"}, "early_stopping needs trees to measure"),
    ],
)
def test_what_has_no_effect_is_told(hand_trees, parameters, message):
    with pytest.warns(UnusedParameterWarning, match=re.escape(message)) as caught:
        LatentPCFG(2, **parameters).fit(hand_trees)
    (told,) = (one for one in caught if one.category is UnusedParameterWarning)
    assert told.filename == __file__


def test_every_method_uses_the_seed_and_the_nodes_of_a_state(ambiguous_trees):
    """They always have an effect, at least on the grammar that prunes."""
    for method in METHODS:
        model = LatentPCFG(2, method=method, nodes_per_state=3).fit(ambiguous_trees)
        for other in ({"random_state": 1}, {"nodes_per_state": 1}):
            changed = clone(model).set_params(**other).fit(ambiguous_trees)
            tensors = [one._cascade.middle.grammar.tensor for one in (model, changed)]
            assert not np.array_equal(*tensors), (method, other)


@pytest.mark.parametrize("method", ["em", "split-merge"])
def test_one_tree(hand_trees, method):
    model = LatentPCFG(2, method=method, **few(method)).fit(hand_trees[:1])
    assert model.parse(hand_trees[0].leaves()) == hand_trees[0]


@pytest.mark.parametrize("method", ["em", "split-merge"])
def test_one_word_trees_only(method):
    model = LatentPCFG(2, method=method, **few(method)).fit(
        ["(UH hello)", "(UH hello)", "(X (Y a))"]
    )
    assert str(model.parse("hello")) == "(UH hello)"
    (parsed,) = model.parses(["hello a"])
    assert parsed.tree.leaves() == ["hello", "a"]
    assert parsed.fallback == "no parse of the whole sentence"


# real trees ---------------------------------------------------------------------------------------


def test_states_parse_better_than_memory_and_memory_than_none(penn):
    trees, others = penn("train")[:800], penn("dev")[:60]
    sentences = [tree.leaves() for tree in others]

    def f1(model):
        parses = list(model.fit(trees).parses(sentences))
        assert [parsed.tree.leaves() for parsed in parses] == sentences
        assert all(parsed.fallback is None for parsed in parses)
        return brackets(others, [parsed.tree for parsed in parses]).f1

    # Measured: 0.67, 0.76 and 0.82.
    none, memory, states = (
        f1(PCFG(horizontal=0, vertical=1)),
        f1(PCFG()),
        f1(LatentPCFG(4, method="em")),
    )
    assert memory > none + 0.04
    assert states > memory + 0.02
    assert states > 0.79


def test_other_english(gum):
    trees, others = gum("dev")[:400], gum("dev")[-20:]
    model = LatentPCFG(3, method="em", n_iter=5, n_smooth=5).fit(trees)
    sentences = [tree.leaves() for tree in others]
    found = [parsed.tree for parsed in model.parses(sentences)]
    assert [tree.leaves() for tree in found] == sentences
    assert brackets(others, found).f1 > 0.5


# states, smoothing and decoding by parameters -----------------------------------------------------


def test_states_by_label(hand_trees, tmp_path):
    numbers = {"NP": 3, "DT": 2, "*": 1}
    for method in ("spectral", "spectral+em", "em", "split-merge", "pivot"):
        model = LatentPCFG(numbers, method=method, nodes_per_state=1).fit(hand_trees * 4)
        found = dict(zip(map(str, model.symbols_), model.n_states_.tolist()))
        assert found.pop("NP") <= 3 and found.pop("DT") <= 2 and set(found.values()) == {1}, method
    model.save(tmp_path / "model")
    assert et.load(tmp_path / "model").parameters_.n_states == numbers


def test_labels_that_no_tree_has(hand_trees):
    with pytest.warns(UnusedParameterWarning, match="labels that no tree has: 'ZZ'"):
        LatentPCFG({"ZZ": 3, "*": 1}).fit(hand_trees)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_states": {"NP": 0}}, "n_states .* must be a whole number, 1 or more, or a mapping"),
        ({"n_states": {}}, "n_states .* must be a whole number, 1 or more, or a mapping"),
        ({"smoothing": {"four": 1}}, "smoothing must be a number, 0 or more, or a mapping of some"),
        ({"smoothing": {"three": -1}}, "smoothing must be a number, 0 or more, or a mapping"),
        ({"pivots": {"steps": "many"}}, "pivots must be a number, 0 or more, or a mapping of some"),
        ({"mbr": "span"}, "mbr must be 'bracket', 'node' or 'symbol', not 'span'"),
        ({"allocation": "best"}, "allocation must be 'uniform', 'spectrum' or 'held-out'"),
        ({"whitening": "block"}, "whitening must be 'diagonal' or 'exact', not 'block'"),
    ],
)
def test_wrong_mappings_and_choices(hand_trees, parameters, message):
    with pytest.raises(ParameterError, match=message):
        LatentPCFG(**parameters).fit(hand_trees)


@pytest.mark.parametrize(
    ("method", "name"), [("spectral", "three"), ("spectral+em", "dependent"), ("pivot", "words")]
)
def test_each_constant_of_smoothing_matters(ambiguous_trees, method, name):
    def tensor(smoothing):
        model = LatentPCFG(2, method=method, smoothing=smoothing, nodes_per_state=1)
        level = model.fit(ambiguous_trees * 5)._cascade.levels[0]
        return np.concatenate((level.grammar.tensor, level.words.counts.data))

    usual = tensor(1.0)
    np.testing.assert_array_equal(tensor({"factor": 1}), usual)
    np.testing.assert_array_equal(tensor({name: tables.SMOOTHING[name]}), usual)
    other = tensor({name: 3 * tables.SMOOTHING[name]})
    assert other.shape == usual.shape and not np.array_equal(other, usual)


def test_the_steps_of_pivots(ambiguous_trees):
    def tensor(pivots):
        model = LatentPCFG(2, method="pivot", pivots=pivots, nodes_per_state=1)
        return model.fit(ambiguous_trees * 5)._cascade.levels[0].grammar.tensor

    np.testing.assert_array_equal(tensor(5), tensor({"steps": 5, "least": 10}))
    assert not np.array_equal(tensor(0), tensor(50))


def test_minimum_risk_by_symbols(ambiguous_trees, tmp_path):
    model = LatentPCFG(2, nodes_per_state=1).fit(ambiguous_trees * 5)
    words = ["watch", "dogs", "near", "the", "park"]
    reading = model._read(words)
    for by in ("bracket", "node", "symbol"):
        turned = model.parsing_with(mbr=by)
        mu = turned._decoder.signed(reading.items, reading.sign)
        table = brackets_of(model.symbols_, by)
        found = minimum_bayes_risk(reading.forest, mu, table, tau=0.45)
        assert turned.parse(words) == restored(reading, found, words)
        turned.save(tmp_path / by)
        assert et.load(tmp_path / by).parsing_with().parameters_.mbr == by
