"""The command as a whole: exit status, one line for a mistake, pipes and Ctrl-C."""

import contextlib
import importlib.metadata
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import eigentext as et
from eigentext.errors import CorpusError

LONG_FIT = ("--dim", "400", "--no-cache")


@pytest.fixture
def fails_with(cli, monkeypatch, text, tmp_path):
    """Run a fit in which something goes wrong."""

    def run(error: BaseException):
        def fit(*arguments, **options):
            raise error

        monkeypatch.setattr(et.Eigenwords, "fit", fit)
        return cli("words", "fit", text, "-o", tmp_path / "model", "--quiet")

    return run


def test_version_and_help(cli, process):
    assert cli("--version").out == process("--version").out == f"eigentext {et.__version__}\n"
    for command in ((), ("words",), ("words", "fit")):
        shown = cli(*command, "--help")
        assert shown.status == 0
        assert shown.err == ""
    assert "--keep-moments" in shown.out


def test_no_command_shows_the_help(cli):
    for command in ((), ("words",)):
        shown = cli(*command)
        assert shown.status == 2
        assert "Commands" in shown.out


def test_the_installed_command_is_this_one():
    (command,) = importlib.metadata.entry_points(group="console_scripts", name="eigentext")
    assert command.load() is sys.modules["eigentext.cli"].main


@pytest.mark.parametrize(
    ("arguments", "about", "help_for"),
    [
        (["nonsense"], "nonsense", "eigentext"),
        (["words", "fit", "a", "-o", "b", "--nonsense"], "--nonsense", "eigentext words fit"),
        (["words", "fit"], "FILE", "eigentext words fit"),
        (["words", "fit", "a"], "--output", "eigentext words fit"),
        (["words", "fit", "a", "-o", "b", "--transform", "cube"], "cube", "eigentext words fit"),
        (["words", "neighbors", "a", "b", "-n", "0"], "-n", "eigentext words neighbors"),
        (["demo", "--threads", "two"], "--threads", "eigentext demo"),
    ],
)
def test_usage_errors_are_one_line_too(cli, arguments, about, help_for):
    line = cli(*arguments).mistake
    assert about in line
    assert line.endswith(f"; see {help_for} --help")


def test_a_mistake_is_one_line_even_if_its_message_is_not(fails_with):
    assert fails_with(CorpusError("bad\n  text;\tcorrect it")).mistake == "bad text; correct it"


def test_a_bug_says_so_with_a_traceback(fails_with):
    result = fails_with(ZeroDivisionError("by zero"))
    assert result.status == 1
    assert "Traceback" in result.err
    assert result.err.endswith(
        "eigentext: this is a bug in eigentext: ZeroDivisionError('by zero')\n"
    )


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(28, "No space left on device", "/tmp/x"), "No space left on device: '/tmp/x'"),
        (MemoryError(), "out of memory; lower --threads"),
    ],
)
def test_the_machine_gives_up(fails_with, error, line):
    result = fails_with(error)
    assert result.status == 1
    assert result.err.startswith("eigentext: ")
    assert result.err.count("\n") == 1
    assert line in result.err


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_closed_pipe_is_no_mistake(tmp_path, option):
    much = {"numbers": {str(number): number for number in range(50_000)}}
    et.storage.write_saved(tmp_path / "saved", "eigentext.much.v1", {}, much)
    command = [sys.executable, "-m", "eigentext", "info", tmp_path / "saved", *option]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(5) != b""
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_standard_output(model):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "eigentext", "info", model]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "eigentext: the system refused: [Errno 28] No space left on device\n"


# Ctrl-C.


@pytest.mark.parametrize(("threads", "phase"), [(1, "read and encode"), (2, "count")])
def test_ctrl_c_leaves_nothing_behind(interrupted, tmp_path, long_text, threads, phase):
    options = ("-o", tmp_path / "out" / "model", "--threads", threads, *LONG_FIT)
    with interrupted("words", "fit", long_text, *options) as process:
        assert any(line.startswith(phase) for line in process.stderr)


def test_ctrl_c_while_reading_standard_input(start, tmp_path):
    with start("words", "fit", "-", "-o", tmp_path / "model") as process:
        process.stdin.write("a b c\n" * 100_000)  # more than a pipe holds: it is reading
        process.stdin.flush()
        # A signal that comes just before the system call does not end it: people press again.
        for _ in range(10):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
                break
        assert process.stderr.read().startswith("eigentext: interrupted; nothing was written\n")
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []
