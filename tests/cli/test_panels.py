"""The help of every command: groups of options, readable types, -h, and tab completion."""

import os
import re
import subprocess
import sys

import pytest

from eigentext.cli._groups import _HOMES, _command
from eigentext.cli._panels import panel

GROUPS = ("Input", "Model", "Output", "Server", "Run")


def commands():
    for name in _HOMES:
        yield from inside((name,), _command(name))


def inside(name, command):
    """A command, or the commands of a group, and of the groups in it."""
    if not getattr(command, "commands", None):
        yield name, command
        return
    for one, each in command.commands.items():
        yield from inside((*name, one), each)


COMMANDS = dict(commands())
every = pytest.mark.parametrize("name", COMMANDS, ids=" ".join)


@every
def test_options_are_in_groups(name):
    params = COMMANDS[name].params
    options = [one for one in params if one.param_type_name == "option"]
    assert all(one.rich_help_panel in GROUPS for one in options)
    places = [GROUPS.index(one.rich_help_panel) for one in options]
    assert places == sorted(places)
    kinds = [one.param_type_name for one in params]
    assert kinds == sorted(kinds)  # arguments come first


@every
def test_types_are_words_that_people_read(cli, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    shown = cli(*name, "--help").out
    assert not re.search(r"<\w|list\[|range>|x>=|\{", shown)
    assert "Options" not in shown  # every option has a group
    assert "template" not in shown.replace("--template", "").replace("this template", "")
    assert cli(*name, "-h").out == shown
    for one in COMMANDS[name].params:
        assert one.metavar is not None
        if one.param_type_name == "argument":
            assert one.metavar == one.metavar.upper()


@pytest.mark.parametrize(
    ("option", "group"),
    [("encoding", "Input"), ("dim", "Model"), ("json", "Output"), ("threads", "Run")],
)
def test_groups_by_name(option, group):
    assert panel(option) == group


def test_long_lists_of_choices_are_in_the_help(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = " ".join(cli("grammar", "fit", "-h").out.replace("│", " ").split())
    assert "--method METHOD" in shown
    assert "spectral+em, pivot, pivot+em, em, split-merge" in shown


def test_limits_are_words(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = cli("explore", "-h").out
    assert "(0 to 65535)" in shown
    assert "(1 or more)" in cli("words", "neighbors", "-h").out


def test_values_that_are_refused_are_named_in_plain_words(cli):
    for wrong, told in (
        (("--dim", "many"), "'--dim': give a whole number"),
        (("--beta", "x"), "'--beta': give a number"),
        (("--threads", "0"), "'--threads': the least is 1"),
        (("--scaling", "x"), "'--scaling': 'x' is not one of 'cca'"),
    ):
        assert told in cli("words", "fit", "a", "-o", "b", *wrong).mistake


# Tab completion.


def completed(line: str) -> list[str]:
    words = line.split(" ")
    environment = {
        "_EIGENTEXT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    command = [sys.executable, "-c", "from eigentext.cli import main; main()"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_tab_completes_commands_options_and_choices():
    assert completed("eigentext wo") == ["words"]
    assert "neighbors" in completed("eigentext words ")
    assert completed("eigentext words fit --wei") == ["--weighting"]
    assert completed("eigentext words fit --scaling pp") == ["ppmi"]


def test_completion_can_be_installed(cli):
    assert "--install-completion" in cli("--help").out
    assert "--install-completion" not in cli("words", "--help").out
