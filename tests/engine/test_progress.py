"""Phases: announced, advanced, finished, in that order, whatever happens inside."""

import logging
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from eigentext.engine import Phase, ThreadEngine, current, phase, report_to


class Listener:
    """Writes down what it hears, with the phase as it was at that moment."""

    def __init__(self):
        self.heard: list[tuple[str, Phase]] = []

    def started(self, phase):
        self.heard.append(("started", replace(phase)))

    def advanced(self, phase):
        self.heard.append(("advanced", replace(phase)))

    def finished(self, phase):
        self.heard.append(("finished", replace(phase)))

    @property
    def story(self):
        return [(what, phase.name, phase.done) for what, phase in self.heard]


def test_a_phase_from_beginning_to_end():
    listener = Listener()
    with report_to(listener), phase("count", total=10, unit="tokens") as advance:
        advance(3)
        time.sleep(0.02)
        advance(7)
    assert listener.story == [
        ("started", "count", 0),
        ("advanced", "count", 3),
        ("advanced", "count", 10),
        ("finished", "count", 10),
    ]
    assert {(p.total, p.unit) for _, p in listener.heard} == {(10, "tokens")}
    seconds = [p.seconds for _, p in listener.heard]
    assert seconds == sorted(seconds)
    assert seconds[0] == 0
    assert 0.02 <= seconds[-1] < 2
    assert seconds[1] < 0.02 <= seconds[2] or seconds[2] - seconds[1] >= 0.02


def test_phases_within_phases():
    listener = Listener()
    with report_to(listener), phase("outer") as outer:
        outer(1)
        with phase("inner", 5) as inner:
            inner(5)
        outer(1)
    assert listener.story == [
        ("started", "outer", 0),
        ("advanced", "outer", 1),
        ("started", "inner", 0),
        ("advanced", "inner", 5),
        ("finished", "inner", 5),
        ("advanced", "outer", 2),
        ("finished", "outer", 2),
    ]
    assert listener.heard[0][1].total is None


def test_an_error_ends_the_phase_unfinished_and_goes_on():
    listener = Listener()
    with report_to(listener), pytest.raises(ZeroDivisionError), phase("divide") as advance:
        advance(1)
        raise ZeroDivisionError
    assert listener.story[-1] == ("advanced", "divide", 1)


def test_the_nearest_listener_hears_it():
    far, near = Listener(), Listener()
    with report_to(far):
        with report_to(near), phase("here"):
            pass
        with phase("there"):
            pass
    with phase("nowhere"):
        pass
    assert [name for _, name, _ in near.story] == ["here", "here"]
    assert [name for _, name, _ in far.story] == ["there", "there"]


def test_a_listener_is_let_go_after_an_error():
    listener = Listener()
    with pytest.raises(ZeroDivisionError), report_to(listener):
        raise ZeroDivisionError
    with phase("after"):
        pass
    assert listener.story == []


def test_other_threads_are_not_heard():
    # Listeners are called from the thread that runs the fit: theirs need no locks.
    listener = Listener()

    def work(_):
        with phase("in a worker") as advance:
            advance(1)

    with report_to(listener), phase("fit") as advance:
        list(ThreadEngine(2).map(work, range(5)))
        thread = threading.Thread(target=work, args=(0,))
        thread.start()
        thread.join()
        advance(1)
    assert {name for _, name, _ in listener.story} == {"fit"}


def test_results_are_the_same_with_a_listener():
    def work():
        with phase("map", 5) as advance:
            results = []
            for result in current().map(abs, range(-5, 0)):
                results.append(result)
                advance(1)
        return results

    silent = work()
    with report_to(Listener()):
        assert work() == silent


# The logger.


def test_the_logger_hears_of_phases_with_a_listener_and_without(caplog):
    def work():
        with phase("count", 5, "tokens") as advance:
            advance(2)
            advance(3)
        with pytest.raises(ZeroDivisionError), phase("divide"):
            raise ZeroDivisionError

    work()
    assert caplog.messages == []  # nobody asked
    listener = Listener()
    for listens in (None, listener):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "eigentext"), report_to(listens):
            work()
        started, finished, divide = caplog.messages
        assert (started, divide) == ("count: started", "divide: started")
        assert re.fullmatch(r"count: finished in \d\.\d{3} s, 5 tokens", finished)
        assert {record.name for record in caplog.records} == {"eigentext"}
    assert len(listener.story) == 5
    caplog.clear()
    with caplog.at_level(logging.INFO, "eigentext"):
        work()
    assert caplog.messages == []  # phases are details


def test_importing_configures_no_logging():
    code = """
import logging
import eigentext.engine
logger = logging.getLogger("eigentext")
assert [type(one) for one in logger.handlers] == [logging.NullHandler]
assert logger.level == logging.NOTSET and logger.propagate
assert logging.root.handlers == []
logger.warning("silent unless the program wants to hear it")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
