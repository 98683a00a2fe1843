"""Grammars on Dask workers, or after interruptions: bit for bit the same."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import eigentext as et
from eigentext import PCFG, LatentPCFG, engine
from eigentext.corpus.trees import Tree, normalize_tree
from eigentext.engine.dask import connected
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.learning import em, spectral, training
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.training import TrainingTrees
from eigentext.grammars.treebank import reading
from eigentext.grammars.treebank.normal_form import Treebank
from eigentext.grammars.treebank.reading import read_treebank
from eigentext.grammars.tuning import tune
from eigentext.reranking.folds import n_best

SMALL = {"n_states": 3, "nodes_per_state": 1, "rare": 1}
FEW = SMALL | {"n_iter": 4, "n_smooth": 4}


def few(method):
    """Few steps, for methods that have steps."""
    return {"spectral": SMALL, "split-merge": SMALL | {"n_iter": 4}}.get(method, FEW)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Cut a few dozen trees into several shards, blocks and batches."""
    monkeypatch.setattr(training, "NODES", 120)
    monkeypatch.setattr(TrainingTrees, "_workers", lambda *_: engine.workers())
    monkeypatch.setattr(em, "_PRUNING_STEPS", 2)
    monkeypatch.setattr(reading, "_BLOCK", 5)
    for module in ("spectral", "clusters", "pivot"):
        monkeypatch.setattr(f"eigentext.grammars.learning.{module}.BATCH", 30)
    monkeypatch.setattr("eigentext.grammars.parser._BATCH", 8)


@pytest.fixture
def trees(hand_trees, ambiguous_trees):
    return [*hand_trees, *ambiguous_trees] * 2


def saved(model):
    """All that was learned, as bytes."""
    arrays, about = model._to_saved()
    bits = {n: a if isinstance(a, list) else (a.dtype, a.tobytes()) for n, a in arrays.items()}
    return bits, about["diagnostics"]


@pytest.mark.parametrize(
    "how",
    [
        {"method": "em"},
        {"method": "split-merge"},
        {"method": "spectral", "n_grammars": 2},
        {"method": "spectral+em"},
        {"method": "pivot+em"},
    ],
    ids=lambda how: how["method"],
)
def test_the_same_bits(cluster, trees, how):
    sentences = [normalize_tree(tree).leaves() for tree in trees]
    found = []
    for where in (engine.ThreadEngine(2), cluster):
        with engine.use(where):
            model = LatentPCFG(**few(how["method"]) | how).fit(trees)
            parses = list(model.parses(sentences))
            best = n_best(model, sentences, 3)
        found.append((saved(model), parses, best))
    assert found[0] == found[1]
    assert best == [model.k_best(sentence, 3) for sentence in sentences]
    assert list(model.parses(sentences, n_jobs=1)) == parses


def test_pcfg(cluster, trees):
    with engine.use(cluster):
        there = PCFG().fit(trees)
    assert saved(there) == saved(PCFG().fit(trees))


def test_validation(cluster, trees):
    found = []
    for where in (engine.ThreadEngine(2), cluster):
        for measure in ("likelihood", "f1"):
            with engine.use(where):
                model = LatentPCFG(**FEW, method="em", early_stopping=measure)
                found.append(saved(model.fit(trees[4:], validation=trees[:4])))
    assert found[:2] == found[2:]


def test_tuning(cluster, trees):
    found = []
    for where in (engine.ThreadEngine(2), cluster):
        with engine.use(where):
            tuned = tune(
                trees[4:], trees[:4], n_states=[1, 2], kappa=[5.0], smoothing=[1.0],
                markovization=[(0, 1), (0, 2)], nodes_per_state=1,
            )  # fmt: skip
        told = [trial._replace(seconds=0) for trial in tuned.trials]
        found.append((tuned.best, told, saved(tuned.model)))
    assert found[0] == found[1]


def test_threads_that_are_asked_for_are_of_this_process(cluster, trees, monkeypatch):
    monkeypatch.setattr(cluster, "_submit", lambda *_: pytest.fail("to the cluster"))
    with engine.use(cluster):
        model = LatentPCFG(**FEW, method="em", n_jobs=2).fit(trees)
        assert len(model.parse_many(["they saw stars"] * 9, n_jobs=1)) == 9


# treebanks ----------------------------------------------------------------------------------------


def test_a_treebank_that_others_read(cluster, trees):
    nltk = pytest.importorskip("nltk")
    given = [*map(str, trees[:12]), *trees[12:20], *(tree.to_nltk() for tree in trees[20:])]
    given.append(Tree("S", [Tree("N(1)", ["a b"]), Tree("-LRB-", ["("])]))  # no brackets say this
    assert isinstance(given[-2], nltk.Tree)
    here = read_treebank(given, vertical=2, horizontal=1)
    with engine.use(cluster):
        there = read_treebank(iter(given), vertical=2, horizontal=1)
    for name, part in vars(here).items():
        other = getattr(there, name)
        same = np.array_equal(part, other) if isinstance(part, np.ndarray) else part == other
        assert same, name
        assert getattr(part, "dtype", None) == getattr(other, "dtype", None), name
    plain = Treebank.from_trees(reading.normalized(given), vertical=2, horizontal=1)
    assert plain.symbols == there.symbols
    assert np.array_equal(plain.rule, there.rule)
    assert np.array_equal(plain.height, there.height)


def test_trees_may_be_deep(cluster):
    """Deeper than pickle can handle."""
    deep = Tree("N", ["a"])
    for _ in range(5000):
        deep = Tree("S", [deep, Tree("V", ["b"])])
    with engine.use(cluster):
        assert read_treebank([deep] * 6).height.max() == 5000


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("(S (N a)", "^tree 8: .* is never closed"),
        (3, "^tree 8: '3' of type int is neither a tree nor a word"),
        ("(NP the (N dogs))", "^tree 8: .* has a word beside other children"),
    ],
)
def test_a_bad_tree_is_named(cluster, bad, message):
    with engine.use(cluster), pytest.raises((CorpusError, ParameterError), match=message):
        read_treebank(["(N a)"] * 7 + [bad, "(N b)"])


def test_no_trees(cluster):
    with engine.use(cluster):
        with pytest.raises(CorpusError, match="no trees to learn from"):
            read_treebank([])
        with pytest.raises(CorpusError, match="not a single one or a path"):
            read_treebank("(N a)")
        with pytest.raises(ParameterError, match="binarize must be"):
            read_treebank(["(N a)"], binarize="up")


# accidents ----------------------------------------------------------------------------------------


def bits(parameters):
    return [part.tobytes() for part in parameters.arrays().values()]


def test_a_dead_worker_changes_nothing(trees, monkeypatch):
    learner = CountedTrees(trees, rare=1, beta=1.0, gamma=3.0)
    rng = np.random.default_rng(0)
    start = em.random_start(learner.trees, learner.pcfg, 3, 1, 0.1, rng)
    expected, history = em.em(learner.trees, start, 12)
    assert len(learner.trees.pieces) > 2

    class Killer:
        def started(self, phase):
            self.steps = 0

        def advanced(self, phase):
            self.steps += 1
            if self.steps == 4:
                os.kill(workers[0], signal.SIGKILL)
            if self.steps == 8:  # in the middle of a step, more or less
                threading.Timer(0.01, os.kill, (workers[1], signal.SIGKILL)).start()

        def finished(self, phase):
            assert self.steps == 12

    with connected("local:2") as mine, engine.use(mine), engine.report_to(Killer()):
        workers = list(mine.each(os.getpid).values())
        found, again = em.em(learner.trees, start, 12)
        assert set(mine.each(os.getpid).values()).isdisjoint(workers)
    assert bits(found) == bits(expected)
    assert again == history


@pytest.mark.parametrize(
    ("how", "n"),
    [
        ({"method": "em"}, 4),  # the second step after those of the grammar that prunes
        ({"method": "em"}, 9),
        ({"method": "split-merge"}, 8),
        ({"method": "pivot+em"}, 5),
    ],
)
def test_a_fit_goes_on(trees, killed_at, how, n):
    def fit():
        return LatentPCFG(**few(how["method"]) | how).fit(trees)

    expected = saved(fit())
    found = killed_at(n, (TrainingTrees, "expect"), fit)
    assert saved(found) == expected


@pytest.mark.parametrize("n", [8, 11])
def test_a_watch_goes_on(trees, killed_at, n):
    def fit():
        model = LatentPCFG(**FEW | {"n_smooth": 8}, method="em")
        return model.fit(trees[4:], validation=trees[:4])

    expected = saved(fit())
    found = killed_at(n, (TrainingTrees, "expect"), fit)
    assert saved(found) == expected
    assert len(found.history_[0]["validation"]) > 1


def test_other_validation_trees_are_another_fit(trees, tmp_path, monkeypatch):
    """Its state is not used. The state of the steps before is."""
    monkeypatch.setattr("eigentext.storage.checkpoints.EVERY", 0.0)

    def fit(validation):
        model = LatentPCFG(**FEW, method="em", early_stopping="f1")
        return saved(model.fit(trees[4:], validation=validation))

    with pytest.raises(KeyboardInterrupt), et.checkpointing(tmp_path / "a"):
        fit(trees[:4])
        raise KeyboardInterrupt
    with et.checkpointing(tmp_path / "a"):
        assert fit(trees[2:5]) == fit(trees[2:5])
    assert not (tmp_path / "a").exists()


SCRIPT = """
import os, pickle, signal, sys
from eigentext import LatentPCFG, checkpointing, engine, read_trees
from eigentext.storage import checkpoints

checkpoints.EVERY = 0.0

class Killer:
    def started(self, phase):
        print(phase.name, flush=True)
    def advanced(self, phase):
        if sys.argv[3] == "kill" and phase.name == "em" and phase.done == 3:
            os.kill(os.getpid(), signal.SIGKILL)
    def finished(self, phase):
        pass

with checkpointing(sys.argv[2]), engine.report_to(Killer()):
    model = LatentPCFG(3, method="em", nodes_per_state=1, rare=1, n_iter=4, n_smooth=4)
    model.fit(read_trees(sys.argv[1]))
model.save(sys.argv[4])
"""


def test_a_killed_process_goes_on(trees, tmp_path):
    """SIGKILL in the middle of EM; then continue from the checkpoint."""
    et.write_trees(trees, tmp_path / "trees")
    found = []
    for name, how in (("whole", ["no"]), ("killed", ["kill", "no"])):
        for kill in how:
            given = [tmp_path / "trees", tmp_path / f"{name}.state", kill, tmp_path / name]
            done = subprocess.run(
                [sys.executable, "-c", SCRIPT, *map(str, given)], capture_output=True, text=True
            )
            assert done.returncode == (-signal.SIGKILL if kill == "kill" else 0), done.stderr
        assert not (tmp_path / f"{name}.state").exists()
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1]


def test_a_cluster_is_asked_where_it_is_faster(cluster, trees, monkeypatch):
    """Faster than the threads of this process, including the data that is sent."""
    monkeypatch.undo()
    learner = CountedTrees(trees, rare=1, beta=1.0, gamma=3.0)
    few, many = learner.trees, CountedTrees(trees, rare=1, beta=1.0, gamma=3.0).trees
    many.rules = many.rules._replace(counts=many.rules.counts * 10**7)
    for n_threads, n_workers, is_there in ((2, 2, False), (1, 2, True), (8, 2, False)):
        monkeypatch.setattr(cluster, "threads", engine.ThreadEngine(n_threads))
        monkeypatch.setattr(cluster, "n_workers", n_workers)
        with engine.use(cluster):
            assert few._workers(learner.pcfg) is cluster.threads
            assert (many._workers(learner.pcfg) is cluster) == is_there


def test_batches_of_labels(cluster, trees):
    """Projections are the same if labels go to workers one by one or together."""
    learner = CountedTrees(trees, rare=1, beta=1.0, gamma=3.0)
    found = []
    for where in (engine.ThreadEngine(1), cluster):
        with engine.use(where):
            evidence = spectral.Evidence(learner, "full")
            one = evidence.projections(3, noise=0.2, random_state=1)
        parts = [*one.singular_values, *one.inside, *one.outside]
        found.append([(part.shape, part.tobytes()) for part in parts])
    assert found[0] == found[1]
