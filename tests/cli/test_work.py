"""Where the work runs: Ctrl-C, and the notes of the library."""

import logging
import signal
import time

import pytest

from eigentext.cli._bundles import RunOptions
from eigentext.cli._work import safe_interrupts, work

# Ctrl-C.


def test_interrupts_wait_for_a_loop_to_hand_over():
    handed_over = []

    def _numba_unpickle():  # stands in for Numba's
        signal.raise_signal(signal.SIGINT)
        handed_over.append("result")

    with pytest.raises(KeyboardInterrupt), safe_interrupts():
        _numba_unpickle()
        for _ in range(1000):
            time.sleep(0.01)
    assert handed_over == ["result"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_elsewhere_is_immediate():
    with pytest.raises(KeyboardInterrupt), safe_interrupts():
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not interrupted")


def test_ignored_interrupts_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as nohup does
    try:
        with safe_interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_numba_still_has_the_functions_that_interrupts_wait_for():
    from llvmlite.binding.executionengine import ExecutionEngine
    from numba.core.serialize import _numba_unpickle

    assert _numba_unpickle.__name__ == "_numba_unpickle"
    assert ExecutionEngine._raw_object_cache_notify.__name__ == "_raw_object_cache_notify"


# Notes of the library. (What it does without a folder for compiled loops is in tests/engine.)


def test_notes_are_printed_while_the_work_lasts(capfd):
    logger = logging.getLogger("eigentext")
    before = logger.level, list(logger.handlers)

    def say():
        logger.debug("a detail")
        logger.info("[a note] of :smile: the library")

    for run, settings, shown in (
        (RunOptions(), {}, True),
        (RunOptions(quiet=True), {}, False),
        (RunOptions(json=True), {}, False),
        (RunOptions(), {"bars": False}, False),
        (RunOptions(), {"bars": False, "show_notes": True}, True),
        (RunOptions(), {"show_notes": False}, False),
    ):
        with work(run, **settings):
            say()
        assert capfd.readouterr().err == "[a note] of :smile: the library\n" * shown
    with pytest.raises(ZeroDivisionError), work(RunOptions()):
        raise ZeroDivisionError
    assert (logger.level, logger.handlers) == before
    say()
    assert capfd.readouterr().err == ""


def test_a_program_that_hears_details_goes_on_to_hear_them(caplog):
    with caplog.at_level(logging.DEBUG, "eigentext"):
        with work(RunOptions()):
            logging.getLogger("eigentext").debug("a detail")
        assert caplog.messages == ["a detail"]
