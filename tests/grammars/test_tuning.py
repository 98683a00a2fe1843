"""Choosing parameters: trials equal separate fits, and share work."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import eigentext as et
from eigentext import engine
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import brackets
from eigentext.grammars.chart.cascade import Cascade
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.tuning import tune
from eigentext.parameters import UnusedParameterWarning

# Words have only the tags that they were seen with, so that some sentences have no parse.
FEW = {"nodes_per_state": 1, "rare": 1, "beta": 0.0}
GRID = {
    "n_states": (2, 1, 4),
    "smoothing": (0.0, 1.0),
    "kappa": (0.5, 5.0),
    "markovization": ((0, 1), (1, 1), (None, 2)),
}
HELD_OUT = [
    "(S (NP (D the) (N park)) (VP (V watch) (NP (N dogs))))",
    "(S (NP (N dogs)) (VP (V watch) (NP (NP (N bark)) (PP (P near) (NP (N park))))))",
    "(S (VP (V park) (NP (N bark)) (PP (P near) (NP (N dogs) (N watch)))))",
    "(X (P near) (P near))",  # no parse
]


class Listener:
    """How often each phase ran, and how far it advanced."""

    def __init__(self):
        self.times, self.done = Counter(), Counter()

    def started(self, phase):
        self.times[phase.name] += 1

    def advanced(self, phase):
        pass

    def finished(self, phase):
        self.done[phase.name] += phase.done


def separately(trees, held_out, parameters):
    """F1 and fallbacks of a parser that was fitted separately."""
    model = et.LatentPCFG(**parameters).fit(trees)
    gold = [et.normalize_tree(et.Tree.parse(str(tree))) for tree in held_out]
    parses = list(model.parses([tree.leaves() for tree in gold]))
    return brackets(gold, [one.tree for one in parses]).f1, sum(bool(p.fallback) for p in parses)


def points(tuned):
    return [tuple(trial.parameters.values()) for trial in tuned.trials]


@pytest.fixture(scope="module")
def searches(ambiguous_trees):
    """Both kinds of search, and the phases of each."""
    found = {}
    for full in (False, True):
        listener = Listener()
        with engine.report_to(listener), engine.use(engine.ThreadEngine(2)):
            tuned = tune(ambiguous_trees, HELD_OUT, **GRID, full=full, **FEW)
        found[full] = tuned, listener
    return found


@pytest.fixture
def full(searches):
    return searches[True][0]


# Trials.


@pytest.mark.parametrize("place", range(0, 36, 8))
def test_a_trial_is_a_fit(full, ambiguous_trees, place):
    trial = full.trials[place]
    parameters = {"method": "spectral", **FEW, **trial.parameters}
    f1, n_fallbacks = separately(ambiguous_trees, HELD_OUT, parameters)
    assert trial.f1 == pytest.approx(f1, abs=1e-12)
    assert trial.n_fallbacks == n_fallbacks >= 1
    assert trial.seconds > 0


@pytest.mark.parametrize("method", ["em", "split-merge", "spectral+em", "pivot+em"])
def test_other_methods(ambiguous_trees, method):
    few = {**FEW, "n_iter": 2, "random_state": 3}
    if method != "split-merge":
        few["n_smooth"] = 2
    grid = {"n_states": [2, 3], "smoothing": [1.0], "markovization": [[0, 1]]}
    tuned = tune(ambiguous_trees, HELD_OUT, method=method, **grid, **few)
    # EM from a random start uses no features.
    assert len(tuned.trials) == (2 if method in ("em", "split-merge") else 3)
    for trial in tuned.trials:
        f1, _ = separately(ambiguous_trees, HELD_OUT, tuned.best | trial.parameters)
        assert trial.f1 == pytest.approx(f1, abs=1e-12)
    assert tuned.best["method"] == tuned.model.method == method


def test_several_grammars(ambiguous_trees):
    few = {**FEW, "n_grammars": 2, "noise": 0.5}
    tuned = tune(ambiguous_trees, HELD_OUT, n_states=[2], markovization=[(0, 1)], **few)
    f1, _ = separately(ambiguous_trees, HELD_OUT, tuned.best)
    assert tuned.trials[0].f1 == pytest.approx(f1, abs=1e-12)
    assert len(tuned.model.history_) == 2


# The search.


def test_every_combination(full):
    expected = [
        (*some, *remembered)
        for some in product(GRID["n_states"], GRID["smoothing"], GRID["kappa"])
        for remembered in GRID["markovization"]
    ]
    assert sorted(map(repr, points(full))) == sorted(map(repr, expected))
    scores = [trial.f1 for trial in full.trials]
    assert scores == sorted(scores, reverse=True)
    assert full.best == full.best | full.trials[0].parameters


def test_each_in_turn(full, searches):
    """No other value of a single parameter is better, and all were tried."""
    tuned, _ = searches[False]
    tried = dict(zip(points(tuned), tuned.trials, strict=True))
    assert len(tried) < len(full.trials)
    all_of = {point: trial.f1 for point, trial in zip(points(full), full.trials)}
    for point, trial in tried.items():
        assert trial.f1 == pytest.approx(all_of[point], abs=1e-12)
    n_states, smoothing, kappa, *remembered = points(tuned)[0]
    others = [
        *((n, smoothing, kappa, *remembered) for n in GRID["n_states"]),
        *((n_states, s, kappa, *remembered) for s in GRID["smoothing"]),
        *((n_states, smoothing, k, *remembered) for k in GRID["kappa"]),
        *((n_states, smoothing, kappa, *pair) for pair in GRID["markovization"]),
    ]
    for point in others:
        assert tried[point].f1 <= tuned.trials[0].f1


def test_of_equals_the_first(hand_trees):
    """A value that is given twice is tried once."""
    grid = {"n_states": [2, 2], "smoothing": [1.0], "kappa": [5.0, 5], "markovization": [(0, 1)]}
    assert len(tune(hand_trees, hand_trees, **grid, **FEW).trials) == 1
    tuned = tune(hand_trees, hand_trees[:1], **grid | {"n_states": [2, 1]}, **FEW)
    assert [trial.f1 for trial in tuned.trials] == [1.0, 1.0]
    assert tuned.best["n_states"] == 2


# What is shared.


@pytest.mark.parametrize("full", [False, True])
def test_nothing_is_done_twice(searches, full):
    tuned, listener = searches[full]
    assert listener.times["charts"] == 1
    assert listener.done["charts"] == 4
    for name in ("treebank", "features", "pruning em", "prune"):
        assert listener.times[name] == 3, name
    shared = {tuple(point[2:]) for point in points(tuned)}  # kappa and what is remembered
    assert listener.times["projections"] == len(shared)
    assert listener.done["trials"] == len(tuned.trials)
    assert "averages" not in listener.times  # trials are told as such


def test_cascades_share_coarse_charts(ambiguous_trees):
    """The coarse grammar is the same for all markovizations."""
    words = ["dogs", "watch", "the", "park", "near", "the", "bark"]
    cascades = []
    for horizontal, vertical in ((0, 1), (2, 1), (None, 3)):
        how = {"horizontal": horizontal, "vertical": vertical}
        learner = CountedTrees(ambiguous_trees, rare=5, beta=1.0, gamma=3.0, **how)
        level = learner.level(learner.pcfg)
        cascades.append(Cascade(learner.treebank.symbols, learner.coarse(), level, [level]))
    charted = cascades[0].charted(words, 1e-3)
    for cascade in cascades:
        shared, own = cascade.refined(charted, 0.01), cascade.pruned(words, 1e-3, 0.01)
        assert shared.problem is own.problem is None
        for one, other in zip(shared.forest, own.forest):
            np.testing.assert_array_equal(one, other)


# What comes out.


def test_the_winner_is_a_fitted_model(full, ambiguous_trees, tmp_path):
    expected = et.LatentPCFG(**full.best).fit(ambiguous_trees)
    model = full.model
    assert type(model) is et.LatentPCFG
    assert model.get_params() == expected.get_params()
    for name in expected.diagnostics_.keys() - {"history"}:  # which tells of more directions
        assert model.diagnostics_[name] == pytest.approx(expected.diagnostics_[name])
    assert model.history_[0].keys() == expected.history_[0].keys()
    told = {"tuned": {"n_trials": 36, "f1": full.trials[0].f1}}
    assert model.provenance_ == expected.provenance_ | told
    model.save(tmp_path / "model")
    for one in (model, et.load(tmp_path / "model")):
        for tree in ambiguous_trees:
            expected_log = expected.log_probability(tree)
            assert one.log_probability(tree) == pytest.approx(expected_log, rel=1e-9)


def test_a_table_of_trials(full, ambiguous_trees):
    first, *lines = str(full).splitlines()
    names = ["states", "smoothing", "kappa", "horizontal", "vertical"]
    assert first.split() == ["F1", *names, "fallbacks", "seconds"]
    assert len(lines) == 36
    best = full.trials[0]
    assert lines[0].split()[:2] == [f"{100 * best.f1:.2f}", str(best.parameters["n_states"])]
    assert lines[0].split()[-2] == str(best.n_fallbacks)
    assert any(line.split()[4:6] == ["all", "2"] for line in lines)
    assert len({len(line) for line in (first, *lines)}) == 1
    few = {"n_states": [1], "smoothing": [1.0], "markovization": [(0, 1)], "n_iter": 0}
    assert "kappa" not in str(tune(ambiguous_trees, HELD_OUT, method="em", n_smooth=0, **few))


def test_threads_change_no_bit(ambiguous_trees, tmp_path):
    found = []
    options = {**FEW, "n_states": [3], "kappa": [5.0], "markovization": [(0, 1), (1, 1)]}
    for n_jobs in (1, 2):
        with engine.use(engine.ThreadEngine(n_jobs)):
            tuned = tune(ambiguous_trees, HELD_OUT, **options)
        tuned.model.save(tmp_path / "model")
        scores = [trial[:3] for trial in tuned.trials]
        found.append((scores, (tmp_path / "model").read_bytes()))
    assert found[0] == found[1]


def test_the_penn_sample(penn):
    """The search finds out on real trees how many states are best."""
    train, held_out = penn("dev")[:150], penn("dev")[150:175]
    options = {"n_states": [1, 6], "smoothing": [1.0], "markovization": [(0, 1)]}
    tuned = tune(train, held_out, **options)
    f1, _ = separately(train, held_out, tuned.best)
    assert tuned.trials[0].f1 == pytest.approx(f1, abs=2e-3)  # rounding may tip a tie
    assert tuned.best["n_states"] == 6
    assert tuned.trials[0].f1 > tuned.trials[-1].f1 + 0.02


# Mistakes.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kappa": []}, "kappa has no values to try: give some"),
        ({"markovization": ()}, r"markovization has no values to try: give some, as \[\(0, 1\)"),
        ({"n_states": 8}, r"n_states must be values to try, as \[1, 2\], not 8"),
        ({"n_states": "many"}, "n_states must be values to try"),
        ({"markovization": [0, 1]}, "markovization must be pairs of horizontal and vertical"),
        ({"markovization": [(0, 1), (1, 0)]}, "vertical must be a whole number, 1 or more, not 0"),
        (
            {"n_states": [2, 0]},
            r"n_states \(--states\) must be a whole number, 1 or more, or a .*, not 0",
        ),
        (
            {"smoothing": [1.0, -1.0]},
            "smoothing must be a number, 0 or more, .*, not -1.0",
        ),
        ({"method": "magic"}, "method must be 'spectral'"),
        ({"horizontal": 1}, "horizontal is searched for: give pairs to try as markovization"),
        ({"states": [1]}, "LatentPCFG has no parameter 'states'; it has n_states, method"),
        ({"tau": -1}, "tau must be a number, 0 or more"),
        ({"n_jobs": 0}, "n_jobs must be a whole number, 1 or more"),
    ],
)
def test_parameters(hand_trees, options, message):
    listener = Listener()
    with pytest.raises(ParameterError, match=message), engine.report_to(listener):
        tune(hand_trees, hand_trees, **options)
    assert not listener.times  # no work was done


def test_what_has_no_effect_is_told(hand_trees):
    grid = {"n_states": [1], "smoothing": [1.0], "markovization": [(0, 1)]}
    with pytest.warns(UnusedParameterWarning, match="'spectral' does not use n_iter") as caught:
        tune(hand_trees, hand_trees, n_iter=3, **grid)
    assert caught[0].filename == __file__


def test_without_a_seed_one_is_drawn_for_all_trials(ambiguous_trees):
    few = {"n_states": [2], "smoothing": [1.0, 2.0], "markovization": [(0, 1)], "method": "em"}
    tuned = tune(ambiguous_trees, HELD_OUT, random_state=None, n_iter=2, n_smooth=1, **few)
    assert tuned.best["random_state"] == tuned.model.parameters_.random_state
    again = et.LatentPCFG(**tuned.best).fit(ambiguous_trees)
    np.testing.assert_array_equal(
        *(one._cascade.levels[0].grammar.tensor for one in (again, tuned.model))
    )


def test_trees(hand_trees):
    with pytest.raises(CorpusError, match="no validation trees to measure on: give some that are"):
        tune(hand_trees, [])
    with pytest.raises(CorpusError, match="the validation trees have no brackets to measure"):
        tune(hand_trees, ["(UH hello)"])
    with pytest.raises(CorpusError, match="tree 2: "):
        tune(hand_trees, [hand_trees[0], "(S"])
    with pytest.raises(CorpusError, match="give a list of trees"):
        tune(hand_trees, "dev.mrg")
    with pytest.raises(CorpusError, match="give a list of trees"):
        tune("train.mrg", hand_trees)
    with pytest.raises(CorpusError, match="no trees to learn from"):
        tune([], hand_trees)
