"""What all commands share: sizes, rates, files and streams, progress on a terminal, kernels."""

import io
import logging
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from eigentext.cli import _console
from eigentext.cli._console import Watch, can_print, check_no_input, destination, inputs
from eigentext.engine import Phase, phase, report_to
from eigentext.errors import CorpusError, ParameterError

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")

SMALL = ("--dim", "4", "--no-cache")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


# Sizes and rates.


@pytest.mark.parametrize(
    ("written", "n_bytes"),
    [
        ("2GB", 2 * 10**9),
        ("500MB", 500 * 10**6),
        ("1.5GiB", 3 * 2**29),
        ("64 m", 64 * 10**6),
        ("1TB", 10**12),
        ("30000kb", 30_000_000),
        ("20000000", 20_000_000),
        (2_000_000_000, 2_000_000_000),  # the default is a number
    ],
)
def test_memory_as_people_write_it(written, n_bytes):
    assert _console.parse_memory(written) == n_bytes


@pytest.mark.parametrize("nonsense", ["", "GB", "-1GB", "2XB", "1.2.3GB", "nan", "٣GB", "two", "0"])
def test_memory_that_is_no_size(nonsense):
    with pytest.raises(typer.BadParameter, match=r"2GB or 500MB|the least is 10MB"):
        _console.parse_memory(nonsense)


@pytest.mark.parametrize(
    ("done", "unit", "shown"),
    [
        (5, "blocks", "2.5 blocks/s"),
        (6_200_000, "tokens", "3.1 M tokens/s"),
        (3_000, "B", "1.5 kB/s"),
        (100, "B", "50.0 B/s"),
        (108_000_000, "B", "54.0 MB/s"),
        (0, "B", ""),
        (5, "", ""),
    ],
)
def test_rates(done, unit, shown):
    assert _console._rate(Phase("work", unit=unit, done=done, seconds=2.0)) == shown
    assert _console._rate(Phase("work", unit=unit, done=done, seconds=0.0)) == ""


def test_can_print():
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert can_print("plain", ascii_only)
    assert not can_print("█", ascii_only)
    assert can_print("█", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))


def test_times_of_phases_with_one_name_add_up():
    watch = Watch(show=False)
    with report_to(watch):
        for name in ("count", "save", "count"):
            with phase(name, 2, "tokens") as advance:
                advance(2)
                time.sleep(0.002)
    assert list(watch.times()) == ["count", "save"]
    assert watch.times()["count"] >= 0.004


# Files and streams.


def test_files_are_passed_on_and_standard_input_is_kept(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a \xff b\n")))
    with inputs(["one.txt", "-"]) as (one, kept):
        assert one == Path("one.txt")
        assert kept.read_bytes() == b"a \xff b\n"
    assert not kept.parent.exists()


def test_errors_say_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(CorpusError, match=r"^standard input, line 3: bad$"), inputs(["-"]) as paths:
        raise CorpusError(f"{paths[0]}, line 3: bad")
    with pytest.raises(CorpusError, match=r"^other\.txt: bad$"), inputs(["-"]):
        raise CorpusError("other.txt: bad")


def test_standard_output_gets_all_or_nothing(capfdbinary):
    with destination(Path("-")) as path:
        path.write_bytes(b"all\xff\n")
    assert capfdbinary.readouterr().out == b"all\xff\n"
    with pytest.raises(CorpusError), destination(Path("-")) as path:
        path.write_bytes(b"half")
        raise CorpusError("bad")
    assert capfdbinary.readouterr().out == b""
    with destination(Path("file")) as path:
        assert path == Path("file")


def test_no_input_is_written_over(tmp_path):
    text = tmp_path / "text"
    text.write_text("precious")
    (tmp_path / "link").symlink_to(text)
    check_no_input(tmp_path / "new", [text])
    for output in (text, tmp_path / "link", tmp_path / "." / "text"):
        with pytest.raises(ParameterError, match="choose another -o"):
            check_no_input(output, [tmp_path / "link"])


# Ctrl-C.


def test_interrupts_wait_for_a_kernel_to_hand_over():
    handed_over = []

    def _numba_unpickle():  # stands in for Numba's
        signal.raise_signal(signal.SIGINT)
        handed_over.append("result")

    with pytest.raises(KeyboardInterrupt), _console._safe_interrupts():
        _numba_unpickle()
        for _ in range(1000):
            time.sleep(0.01)
    assert handed_over == ["result"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_elsewhere_is_immediate():
    with pytest.raises(KeyboardInterrupt), _console._safe_interrupts():
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not interrupted")


def test_ignored_interrupts_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as nohup does
    try:
        with _console._safe_interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_numba_still_has_the_functions_that_interrupts_wait_for():
    from llvmlite.binding.executionengine import ExecutionEngine
    from numba.core.serialize import _numba_unpickle

    assert _numba_unpickle.__name__ == "_numba_unpickle"
    assert ExecutionEngine._raw_object_cache_notify.__name__ == "_raw_object_cache_notify"


# A terminal.


def on_terminal(*arguments, **environment) -> tuple[int, str]:
    """Run the command with a pseudo-terminal for its messages; its status and what that shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "eigentext", *map(str, arguments)]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        with open(ours, "rb", buffering=0) as terminal:  # noqa: PTH123 - a descriptor
            try:
                while piece := terminal.read(65536):
                    shown += piece
            except OSError:  # Linux says so when the other side is closed
                pass
    return process.returncode, CODES.sub("", shown.decode())


def test_bars_name_the_phase_and_the_rate(long_text, tmp_path):
    output = tmp_path / "model"
    status, shown = on_terminal("words", "fit", long_text, "-o", output, *SMALL)
    assert status == 0
    assert "━" in shown
    last = shown[shown.rindex("read and encode") :]  # as the screen is left: all bars, once
    for name, unit in (("read and encode", "B/s"), ("count", "tokens/s"), ("mirror", "entries/s")):
        (bar,) = [line for line in last.splitlines() if f"{name} " in line]
        assert re.search(rf"\d\.\d .?{unit}|\d\.\d . {unit}", bar)
    assert "save" in last


def test_bars_in_ascii_and_the_note_on_compiling(text, tmp_path):
    fit = ("words", "fit", text, "-o", tmp_path / "model", *SMALL)
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "numba"), "PYTHONIOENCODING": "ascii"}
    status, first = on_terminal(*fit, **environment)
    assert status == 0
    assert first.count("compiling loops for this machine: only once") == 1
    assert first.isascii()
    assert "* count" in first
    status, second = on_terminal(*fit, **environment)
    assert status == 0
    assert "compiling" not in second


def test_without_compilation(process, tmp_path):
    (tmp_path / "text.txt").write_text("a b c\n" * 9)
    fit = ("words", "fit", tmp_path / "text.txt", "-o", tmp_path / "model", "--dim", 2)
    result = process(*fit, env={"NUMBA_DISABLE_JIT": "1"})
    assert result.status == 0, result.err
    assert "compiling" not in result.err


# Notes of the library. (What it does without a folder for kernels is in tests/engine.)


def test_notes_are_printed_while_the_work_lasts(capfd):
    logger = logging.getLogger("eigentext")
    before = logger.level, list(logger.handlers)

    def say():
        logger.debug("a detail")
        logger.info("[a note] of :smile: the library")

    for settings, shown in (
        ({"quiet": False}, True),
        ({"quiet": True}, False),
        ({"quiet": True, "tell": True}, True),
        ({"quiet": False, "tell": False}, False),
    ):
        with _console.work(**settings):
            say()
        assert capfd.readouterr().err == "[a note] of :smile: the library\n" * shown
    with pytest.raises(ZeroDivisionError), _console.work(quiet=False):
        raise ZeroDivisionError
    assert (logger.level, logger.handlers) == before
    say()
    assert capfd.readouterr().err == ""


def test_a_program_that_hears_details_goes_on_to_hear_them(caplog):
    with caplog.at_level(logging.DEBUG, "eigentext"):
        with _console.work(quiet=False):
            logging.getLogger("eigentext").debug("a detail")
        assert caplog.messages == ["a detail"]
