"""Options made of an estimator's table, so that Python and the command line cannot differ.

A command that fits is decorated with :func:`with_options` and has an argument ``parameters``. In
its place the command line shows one option for each parameter of the table, and the function gets
a dictionary of them, checked, for the estimator: ``HMM(**parameters)``.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, Literal

import typer

from eigentext.parameters import Choice, Count, Flag, Given, Number, Parameter, Seed, Table

_NONE = "none"  # how None is written
SHOWN: dict[str, list[str]] = {}  # estimators that have commands, and parameters with an option
Parameters = dict[str, Any]  # the annotation of the argument that options take the place of


def with_options(
    table: Table, *, leave_out: tuple[str, ...] = (), checked: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command an option for each parameter of a table, but for those to leave out.

    With ``checked=False`` values are handed on as they are, for a command that has several
    estimators to choose from.
    """
    names = [n for n, kind in table.items() if kind.flags != "" and n not in leave_out]
    SHOWN[table.owner] = names

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(command)

        @wraps(command)
        def run(**arguments: Any) -> Any:
            given = {name: _value(table[name], arguments.pop(name)) for name in names}
            if checked:
                table.checked(table.defaults | given)
            return command(**arguments, parameters=given)

        shown = []
        for argument in signature.parameters.values():
            if argument.name == "parameters":
                shown += [_argument(table, name) for name in names]
            else:
                shown.append(argument.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        run.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in shown}
        return run

    return decorate


def given_on_command_line(context: typer.Context, names: Mapping[str, Any]) -> list[str]:
    """Those of the options that the user wrote."""
    source = context.get_parameter_source
    return [name for name in names if getattr(source(name), "name", "") == "COMMANDLINE"]


def _argument(table: Table, name: str) -> inspect.Parameter:
    kind = table[name]
    option = typer.Option(
        *table.flags(name),
        help=_help(kind),
        show_default=kind.shown if kind.shown is not None else kind.default is not None,
        **_reading(kind),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if _is_many(kind) else kind.default,
        annotation=Annotated[_type(kind), option],
    )


def _is_many(kind: Parameter) -> bool:
    return isinstance(kind, Given) and kind.many


def _value(kind: Parameter, value: Any) -> Any:
    """What an option says; one that may be given several times, and was not, its default."""
    if isinstance(kind, Choice) and kind.none and value == _NONE:
        return None
    return kind.default if _is_many(kind) and not value else value


def _help(kind: Parameter) -> str:
    limits = kind.wording.partition(", ")[2] if isinstance(kind, (Count, Number)) else ""
    return f"{kind.help} ({limits})" if limits else kind.help


def _reading(kind: Parameter) -> dict[str, Any]:
    if isinstance(kind, Given) and not kind.many:
        parse = kind.parse or str

        def read(text: Any) -> Any:  # Typer gives it defaults, too
            return parse(text) if isinstance(text, str) else text

        return {"parser": read, "metavar": kind.metavar or "VALUE"}
    return {}


def _type(kind: Parameter) -> Any:
    match kind:
        case Count() | Seed():
            plain: Any = int
        case Number():
            plain = float
        case Flag():
            plain = bool
        case Choice():
            if not all(isinstance(one, str) for one in kind.of):
                return int
            names = (*kind.of, _NONE) if kind.none else kind.of
            plain = Literal[names]
            return plain if kind.default is not None else plain | None
        case Given() if kind.many:
            return list[kind.parse] | None  # type: ignore[name-defined]
        case _:
            plain = Any
    return plain | None if kind.takes_none and plain is not Any else plain
