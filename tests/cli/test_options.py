"""Options that are made of an estimator's table."""

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from eigentext.cli._options import Parameters, with_options
from eigentext.errors import ParameterError
from eigentext.parameters import Choice, Count, Flag, Given, Number, Seed, Table

TABLE = Table(
    "Model",
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


@app.command()
@with_options(TABLE)
def fit(
    files: Annotated[list[str], typer.Argument()],
    parameters: Parameters,
    quiet: Annotated[bool, typer.Option("--quiet")] = False,
):
    """Fit it."""
    seen.append((files, parameters, quiet))


@app.command()
def other():
    """Another command."""


def run(*arguments):
    return CliRunner().invoke(app, ["fit", *arguments], catch_exceptions=False)


def test_defaults_are_those_of_the_table():
    run("a", "b")
    files, given, quiet = seen.pop()
    assert files == ["a", "b"]
    assert given == {n: v for n, v in TABLE.defaults.items() if n != "secret"}
    assert not quiet


def test_options_are_read_and_checked():
    run("a", "-m", "3", "--method", "pivot", "--rank", "2", "--tol", "1", "--joint", "--quiet",
        "--limit", "auto", "--decay", ".2", "--decay", ".4", "--seed", "7")  # fmt: skip
    _, given, quiet = seen.pop()
    assert given == {
        "n_states": 3, "method": "pivot", "rank": 2, "tol": 1.0, "joint": True, "limit": "auto",
        "decay": [0.2, 0.4], "random_state": 7,
    }  # fmt: skip
    assert quiet
    with pytest.raises(ParameterError, match=r"n_states \(--states\) must be a whole number, 1"):
        run("a", "--states", "0")
    assert run("a", "--method", "magic").exit_code == 2


def test_help_tells_what_the_table_tells():
    shown = " ".join(run("--help").output.split())
    for part in ("--states", "-m", "Hidden states. (1 or more)", "10", "em|pivot", "all", "--seed"):
        assert part in shown
    assert "--secret" not in shown
