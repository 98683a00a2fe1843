"""Writes docs/parameters.md from the tables of all estimators: ``python docs/_parameters.py``."""

from importlib import import_module
from pathlib import Path
from typing import Any

from eigentext.cli._groups import load_all
from eigentext.cli._options import SHOWN
from eigentext.parameters import Given, Parameter, Seed, Table

PAGE = Path(__file__).with_name("parameters.md")
_ROOMS = (
    "words",
    "sequences",
    "topics",
    "grammars",
    "kernels",
    "linear",
    "reranking",
    "tagging",
    "factor",
)
_HEAD = """# Parameters

This page lists the parameters of every estimator. Python and the command line read the same
tables, so they have the same defaults. A parameter without an option exists only in Python.

*Used with* says which values of other parameters a parameter needs. If you set it without them,
it has no effect, and there is an `UnusedParameterWarning`. A value that is not allowed is a
`ParameterError` when `fit` begins. `True` is not a number. `random_state=None` draws a fresh
seed, and the model keeps the seed that was used.

After `fit`, `model.parameters_` has the parameters that the model was learned with. `set_params`
changes the next fit, never a fitted model.

`python docs/_parameters.py` writes this page, and a test compares it with the tables.
"""


def tables() -> list[Table]:
    """Return the tables of all rooms, in the order of the pages."""
    found: list[Table] = []
    for room in _ROOMS:
        module = import_module(f"eigentext.{room}.parameters")
        found += [one for one in vars(module).values() if isinstance(one, Table)]
    return found


def page() -> str:
    """Return the whole page."""
    load_all()  # commands say which parameters they show
    return "\n".join([_HEAD, *map(_section, tables())])


def _section(table: Table) -> str:
    rows = [_row(table, name, kind) for name, kind in table.items()]
    head = "| parameter | option | may be | default | used with |\n|---|---|---|---|---|"
    return "\n".join([f"## {table.owner}", "", head, *rows, ""])


def _row(table: Table, name: str, kind: Parameter) -> str:
    has_option = name in SHOWN.get(table.owner, ())
    options = " ".join(f"`{flag}`" for flag in table.flags(name)) if has_option else " "
    used = "; ".join(
        f"{other} {', '.join(f'`{value}`' for value in values)}"
        for other, values in kind.only.items()
    )
    wording = kind.wording if isinstance(kind, (Given, Seed)) else kind.wording.replace("'", "`")
    none = ", or None" if kind.takes_none and "None" not in wording else ""
    cells = (f"`{name}`", options, wording + none, _default(kind), used or " ")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(kind: Parameter) -> str:
    value: Any = kind.default
    if isinstance(value, type):
        return "required"
    return (
        f"{kind.shown} (`None`)" if value is None and kind.shown else f"`{kind.shown or value!r}`"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
