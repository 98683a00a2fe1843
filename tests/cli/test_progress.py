"""Progress: rates, times, and bars on a terminal."""

import os
import re
import subprocess
import sys
import time

import pytest

from eigentext.cli._progress import PhaseBars, rate
from eigentext.engine import Phase, phase, report_to

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")

SMALL = ("--dim", "4", "--no-cache")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


# Rates and times.


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
    assert rate(Phase("work", unit=unit, done=done, seconds=2.0)) == shown
    assert rate(Phase("work", unit=unit, done=done, seconds=0.0)) == ""


def test_times_of_phases_with_one_name_add_up():
    bars = PhaseBars(show=False)
    with report_to(bars):
        for name in ("count", "save", "count"):
            with phase(name, 2, "tokens") as advance:
                advance(2)
                time.sleep(0.002)
    assert list(bars.times()) == ["count", "save"]
    assert bars.times()["count"] >= 0.004


def test_the_speed_of_the_last_phase():
    bars = PhaseBars(show=False)
    bars.phases = [Phase("read", seconds=9.0), Phase("tag", done=3000, seconds=2.0)]
    assert bars.speed("token") == {"n_tokens": 3000, "seconds": 2.0, "tokens_per_second": 1500.0}
    assert bars.speed_in_words("token") == "3,000 tokens in 2.0 s (1,500/s)"
    bars.phases = [Phase("tag", done=1, seconds=0.0)]
    assert bars.speed_in_words("token") == "1 token in 0.0 s"
    assert bars.speed("token")["tokens_per_second"] is None


# Lines, where there is no terminal.


def test_there_is_one_line_for_each_phase(capsys):
    bars = PhaseBars(show=True)
    names = ["read", *["factor"] * 3, "refine", *["factor"] * 2, "refine", "save"]
    with bars, report_to(bars):
        for name in names:
            with phase(name, 2, "rows") as advance:
                advance(2)
    lines = capsys.readouterr().err.splitlines()
    told = ["read", "factor", "refine", "save", "and again"]
    assert [line.partition(":")[0] for line in lines] == told
    assert re.search(r"factor \d+\.\d\d s \(2 times\), refine \d+\.\d\d s \(1 time\)", lines[-1])


def test_lines_have_the_sum_of_phases_with_one_name(capsys):
    bars = PhaseBars(show=True)
    with bars:
        for seconds in (1.0, 3.0):
            part = Phase("factor", unit="rows", done=10, seconds=seconds)
            bars.started(part)
            bars.finished(part)
    assert capsys.readouterr().err == "factor: 4.00 s (5.0 rows/s)\n"


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
    for name, unit in (("read and encode", "B/s"), ("count", "tokens/s"), ("factor", "blocks/s")):
        (bar,) = [line for line in last.splitlines() if f"{name} " in line]
        assert re.search(rf"\d\.\d .?{unit}|\d\.\d . {unit}", bar)
    assert "save" in last


def test_the_bar_of_a_phase_starts_again():
    bars = PhaseBars(show=False)
    with report_to(bars):
        for name in ("factor", "factor", "refine", "factor"):
            with phase(name):
                pass
    assert [task.description for task in bars.bars.tasks] == ["factor", "refine"]


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
