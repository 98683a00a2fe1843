"""Options of commands: from an estimator's table, from bundles, and their old names."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from eigentext.cli._options import (
    Bundle,
    Command,
    Parameters,
    changes,
    command_group,
    given_on_command_line,
    with_options,
)
from eigentext.errors import ParameterError
from eigentext.parameters import Choice, Count, Flag, Given, Number, Seed, Table

TABLE = Table(
    "Model",
    renamed={"start": "limit", "hidden": "secret"},
    n_states=Count(10, flags="--states -m", help="Hidden states."),
    method=Choice("em", of=("em", "pivot"), help="How."),
    rank=Count(None, shown="all", help="Directions."),
    tol=Number(0.5, least=0, help="When to stop."),
    joint=Flag(False, help="Both."),
    limit=Given(1, what="", test=lambda x: x in (1, "auto"), parse=str, metavar="N", help="Most."),
    decay=Given(None, what="", test=bool, parse=float, many=True, help="Which."),
    secret=Count(3, flags=""),
    random_state=Seed(0, flags="--seed", help="Seed."),
)
seen: list = []
app = typer.Typer()


@dataclass(kw_only=True)
class Printing(Bundle):
    """What is printed."""

    quiet: Annotated[bool, typer.Option("--quiet")] = False


@dataclass(kw_only=True)
class Running(Printing):
    """Where it runs, and on what."""

    workers: Annotated[str | None, typer.Option("--workers", help="Where.")] = None
    validation: Annotated[list[str] | None, typer.Option("--validation", help="Other.")] = None


@app.command(cls=Command)
@with_options(TABLE)
def fit(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument()],
    parameters: Parameters,
    run: Running,
):
    """Fit it."""
    seen.append((files, parameters, run))
    seen.append(given_on_command_line(context, [*parameters, "workers"]))


found: list = []


@app.command(cls=Command)
@with_options(TABLE)
def against(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument()],
    parameters: Parameters,
    run: Running,
    other: Annotated[str, typer.Option()] = "",
):
    """Read a text of changes."""
    found.append(changes(context, other, TABLE))


@app.command()
def other():
    """Another command."""


def run(*arguments):
    return CliRunner().invoke(app, ["fit", *arguments], catch_exceptions=False)


def test_defaults_are_those_of_the_table():
    run("a", "b")
    assert seen.pop() == []
    files, given, rest = seen.pop()
    assert files == ["a", "b"]
    assert given == {n: v for n, v in TABLE.defaults.items() if n != "secret"}
    assert rest == Running()


def test_options_are_read_and_checked():
    run("a", "-m", "3", "--method", "pivot", "--rank", "2", "--tol", "1", "--joint", "--quiet",
        "--limit", "auto", "--decay", ".2", "--decay", ".4", "--seed", "7")  # fmt: skip
    seen.pop()
    _, given, rest = seen.pop()
    assert given == {
        "n_states": 3, "method": "pivot", "rank": 2, "tol": 1.0, "joint": True, "limit": "auto",
        "decay": [0.2, 0.4], "random_state": 7,
    }  # fmt: skip
    assert rest == Running(quiet=True)
    with pytest.raises(ParameterError, match=r"n_states \(--states\) must be a whole number, 1"):
        run("a", "--states", "0")
    assert run("a", "--method", "magic").exit_code == 2


def read_changes(text):
    CliRunner().invoke(app, ["against", "file", "--other", text], catch_exceptions=False)
    return found.pop()


def test_changes_are_read_as_options_are():
    assert read_changes("method=pivot") == {"method": "pivot"}
    assert read_changes("states=3,tol=.1  rank=2") == {"n_states": 3, "tol": 0.1, "rank": 2}
    assert read_changes("--seed=7,decay=.2,decay=.4") == {"random_state": 7, "decay": [0.2, 0.4]}
    assert read_changes("start=auto") == {"limit": "auto"}  # an old name
    for wrong in ("", "pivot", "method=em states"):
        with pytest.raises(ParameterError, match="write changes of options, as in method=em"):
            read_changes(wrong)
    with pytest.raises(ParameterError, match="workers does not describe a model; leave it out"):
        read_changes("states=3,workers=x")


def test_help_tells_what_the_table_tells():
    shown = " ".join(run("--help").output.split())
    for part in ("--states", "-m", "Hidden states. (1 or more)", "10", "em|pivot", "all", "--seed"):
        assert part in shown
    assert "--secret" not in shown


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (("--cluster", "local:2"), ("workers", "local:2")),
        (("--cluster=tcp://a=b",), ("workers", "tcp://a=b")),
        (("--dev", "x", "--heldout=y"), ("validation", ["x", "y"])),
        (("--held-out", "x", "--validation", "y"), ("validation", ["x", "y"])),
    ],
)
def test_old_names_of_shared_options(recwarn, written, value):
    assert run("a", *written).exit_code == 0
    given = seen.pop()
    _, _, rest = seen.pop()
    assert getattr(rest, value[0]) == value[1]
    assert ("workers" in given) == (value[0] == "workers")
    assert not recwarn.list


def test_old_names_of_parameters():
    run("a", "--start", "auto")
    assert seen.pop() == ["limit"]
    assert seen.pop()[1]["limit"] == "auto"
    assert run("a", "--hidden", "1").exit_code == 2  # its parameter has no option


def test_old_names_are_not_in_the_help_and_not_among_arguments():
    shown = run("--help").output
    assert not any(name in shown for name in ("--cluster", "--dev", "--start"))
    run("--", "a", "--cluster")
    seen.pop()
    assert seen.pop()[0] == ["a", "--cluster"]


def test_a_command_without_the_new_option_does_not_take_the_old_name():
    group = command_group("Some.", other, another=other)
    assert CliRunner().invoke(group, ["other", "--cluster", "x"]).exit_code == 2
    assert CliRunner().invoke(group, ["another"]).exit_code == 0


@pytest.mark.parametrize("group", ["words", "hmm", "grammar", "tagger", "rerank", "topics"])
def test_the_help_of_every_fit_shows_the_new_name_only(cli, group):
    shown = cli(group, "fit", "--help").out
    assert "--workers" in shown
    assert "--cluster " not in shown
