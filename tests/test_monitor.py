"""The monitor of loops: when they end, what they remember, and how they continue."""

from functools import partial

import numpy as np
import pytest

from eigentext import engine
from eigentext.monitor import HeldOut, Monitor
from eigentext.storage import checkpointing
from eigentext.storage import checkpoints as module


def run(values, n_steps=100, **settings):
    """Record values until the loop is done."""
    monitor = Monitor("loop", n_steps, **settings)
    values = iter(values)
    with monitor:
        while not monitor.is_done:
            monitor.record(next(values))
    return monitor


def held_out(score=float, **settings):
    return HeldOut(
        score,
        pack=lambda model: {"x": np.array(model)},
        unpack=lambda arrays: float(arrays["x"]),
        **settings,
    )


# The end.


def test_a_loop_ends_after_its_steps():
    monitor = run(range(10), n_steps=4)
    assert monitor.history == [0, 1, 2, 3]
    assert not monitor.has_converged


def test_no_steps_are_done_before_they_begin():
    monitor = Monitor("loop", 0, tol=1.0)
    assert monitor.is_done
    assert monitor.history == []


@pytest.mark.parametrize(
    ("values", "settings", "n"),
    [
        ([1, 2, 2.5, 2.51, 9], {"tol": 0.1}, 4),
        ([1, 2, 2.5, 2.4], {"tol": 0.0}, 4),  # a step that loses ends the loop too
        ([1, 1, 1, 2], {"tol": 0.0, "n_steps": 4}, 4),  # nothing gained is not less than nothing
        ([-100, -90, -89], {"tol": 0.05, "relative": True}, 3),
        ([100, 90, 89], {"tol": 0.05, "relative": True, "falls": True}, 3),
        ([100, 90, 91], {"tol": 0.0, "falls": True}, 3),
    ],
)
def test_a_loop_ends_when_a_step_gains_little(values, settings, n):
    monitor = run(values, **settings)
    assert len(monitor.history) == n
    assert monitor.has_converged == (len(values) > n or values[-1] != 2)


def test_a_step_may_be_exempt_from_the_tolerance():
    monitor = Monitor("loop", 9, tol=1.0)
    monitor.record(1.0)
    monitor.record(1.1, may_converge=False)
    assert not monitor.is_done
    assert monitor.gains_less_than(1.0)
    monitor.record(1.2)
    assert monitor.is_done and monitor.has_converged


def test_a_first_step_gains_enough():
    monitor = Monitor("loop", 9, tol=np.inf)
    monitor.record(0.0)
    assert not monitor.is_done


def test_a_loop_that_was_stopped_stays_so():
    monitor = Monitor("loop", 9)
    monitor.stop()
    monitor.record(1.0)
    assert monitor.is_done
    assert not monitor.has_converged


# Validation.


def test_the_best_model_is_kept():
    judge = held_out()
    assert not any(judge.show(x) for x in (1.0, 3.0, 2.0, 3.0))
    assert judge.best == 3.0
    assert judge.scores == [1, 3, 2, 3]


@pytest.mark.parametrize(("latest", "best"), [(False, "b"), (True, "d")])
def test_of_equal_scores_the_first_or_the_latest(latest, best):
    scores = {"a": 1.0, "b": 2.0, "c": 1.0, "d": 2.0}
    judge = HeldOut(scores.get, pack=dict, unpack=str, latest=latest)
    for name in scores:
        judge.show(name)
    assert judge.best == best


def test_patience():
    judge = held_out(patience=2)
    shown = [judge.show(x) for x in (1.0, 3.0, 2.0, 4.0, 4.0, 3.0)]
    assert shown == [False, False, False, False, False, True]


def test_only_every_third_model_is_scored():
    judge = held_out(every=3)
    for x in range(10):
        judge.show(float(x))
    assert judge.scores == [2, 5, 8]


def test_validation_ends_a_loop():
    judge = held_out(lambda x: -abs(x - 3), patience=1)
    monitor = Monitor("loop", 100, held_out=judge)
    with monitor:
        while not monitor.is_done:
            monitor.record(0.0)
            monitor.show(float(len(monitor.history)))
    assert judge.best == 3
    assert len(monitor.history) == 4


# Progress.


class Reporter:
    def __init__(self):
        self.told = []

    def started(self, phase):
        self.told.append((phase.name, phase.total, phase.unit))

    def advanced(self, phase):
        self.told.append(phase.done)

    def finished(self, phase):
        self.told.append("finished")


def test_progress_by_records():
    reporter = Reporter()
    with engine.report_to(reporter):
        run(range(3), 3, amount=5, unit="tokens", title="EM")
    assert reporter.told == [("EM", 15, "tokens"), 5, 10, 15, "finished"]


def test_progress_by_the_loop_itself():
    reporter, amounts = Reporter(), []
    with engine.report_to(reporter):
        with Monitor("loop", 2, amount=0, total=7) as monitor:
            monitor.record(1.0)
            monitor.advance(4)
        with Monitor("inner", 2, progress=amounts.append) as monitor:
            monitor.record(1.0)
            monitor.advance(3)
    assert reporter.told == [("loop", 7, "steps"), 4, "finished"]
    assert amounts == [1, 3]


# Checkpoints.


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(module, "EVERY", 0.0)


def count(stop_at=None, data=3.0, **settings):
    """A loop that counts, and returns what it ended with and the steps of this run."""
    judge = held_out(lambda x: -abs(x - data), patience=4, problem=data)
    monitor = Monitor("count", 20, problem=(data,), held_out=judge, **settings)
    x, n_steps = 0.0, 0
    if kept := monitor.resume():
        x = float(kept.arrays["x"])
        assert kept.about["name"] == "count"
    with monitor:
        while not monitor.is_done:
            x, n_steps = x + 1, n_steps + 1
            if x == stop_at:
                raise KeyboardInterrupt
            monitor.record(x)
            monitor.show(x)
            monitor.keep(partial(dict, x=np.array(x)), {"name": "count"})
    return (x, monitor.history, judge.best, judge.scores), n_steps


@pytest.mark.parametrize("stop_at", [2, 3, 5, 7])
def test_an_interrupted_loop_ends_as_if_nothing_had_happened(tmp_path, always, stop_at):
    expected, n_steps = count()
    assert (expected[0], expected[2]) == (7, 3)
    with pytest.raises(KeyboardInterrupt), checkpointing(tmp_path / "a"):
        count(stop_at)
    amounts = []
    with checkpointing(tmp_path / "a"):
        found, n_more = count(progress=amounts.append)
    assert found == expected
    assert n_more == n_steps - stop_at + 1
    assert sum(amounts) == n_steps


def test_a_loop_that_is_done_is_not_run_again(tmp_path, always):
    with pytest.raises(KeyboardInterrupt), checkpointing(tmp_path / "a"):
        expected, _ = count()
        raise KeyboardInterrupt
    with checkpointing(tmp_path / "a"):
        assert count() == (expected, 0)


@pytest.mark.parametrize("changed", [{"data": 4.0}, {"tol": 1e-9}, {"relative": True}])
def test_the_state_of_another_problem_is_not_used(tmp_path, always, changed):
    with pytest.raises(KeyboardInterrupt), checkpointing(tmp_path / "a"):
        count(5)
    with checkpointing(tmp_path / "a"):
        _, n_steps = count(**changed)
    assert n_steps == count(**changed)[1]
