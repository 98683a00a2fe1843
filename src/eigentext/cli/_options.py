"""How a command gets its options: from the table of an estimator, and from bundles.

A command is decorated with :func:`with_options`. Two kinds of arguments are then replaced by
options:

* ``parameters`` becomes one option for each parameter of the estimator's table. The command gets
  a dictionary of checked values: ``HMM(**parameters)``. So Python and the command line cannot
  differ.
* An argument whose annotation is a :class:`Bundle` becomes one option for each field of the
  bundle. The command gets an instance of it. Options that several commands share are written once.

Old names of options keep working, and the help does not show them. They come from the table
(``Table.renamed``) and from ``_OLD_NAMES``.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from eigentext.cli._panels import arrange, arrange_help
from eigentext.errors import ParameterError
from eigentext.parameters import Choice, Count, Flag, Given, Number, Parameter, Seed, Table

_NONE = "none"  # how the command line writes None
_NO_FILE = "no-file"  # stands for the arguments of a command, where only its options matter
_OLD_NAMES = {
    "--cluster": "--workers",
    "--dev": "--validation",
    "--dev-gold": "--validation-gold",
    "--heldout": "--validation",
    "--held-out": "--validation",
}
SHOWN: dict[str, list[str]] = {}  # estimators with a command: their parameters that are options
Parameters = dict[str, Any]  # the annotation of the argument that a table's options replace
_Function = Callable[..., Any]


@dataclass(kw_only=True)
class Bundle:
    """Options that belong together. Each field is annotated as an argument of a command is."""


class Command(TyperCommand):
    """A command with groups of options in its help, which also takes old names of options."""

    def __init__(self, *arguments: Any, **settings: Any):
        super().__init__(*arguments, **settings)
        self.params = arrange(self.params)

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option --help, in the last group."""
        return arrange_help(super().get_help_option(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace old names by new ones, then parse."""
        known = {flag for one in self.params for flag in (*one.opts, *one.secondary_opts)}
        old_names = {
            old: new
            for old, new in (_OLD_NAMES | getattr(self.callback, "old_names", {})).items()
            if old not in known and new in known
        }
        lists = {flag for one in self.params for flag in one.opts if one.metavar == "COUNTS"}
        return super().parse_args(ctx, [*_repeated(_renamed(args, old_names), lists)])


class Group(TyperGroup):
    """A group of commands whose help shows no types of flags."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option --help."""
        return arrange_help(super().get_help_option(ctx), None)


def _renamed(arguments: list[str], new_names: Mapping[str, str]) -> Iterable[str]:
    """Yield the arguments, with new names of options; what follows "--" is not an option."""
    for place, argument in enumerate(arguments):
        if argument == "--":
            yield from arguments[place:]
            return
        name, equals, value = argument.partition("=")
        yield f"{new_names.get(name, name)}{equals}{value}"


def _repeated(arguments: Iterable[str], flags: set[str]) -> Iterable[str]:
    """Yield the arguments, with an option of several numbers before each: --prune 0 0 1."""
    flag, n_values = "", 0
    for argument in arguments:
        if flag and n_values and argument.isdecimal():
            yield flag
        elif n_values or not flag:
            flag, n_values = (argument if argument in flags else ""), 0
            yield argument
            continue
        n_values += 1
        yield argument


def command_group(help: str, *commands: _Function, **named: _Function) -> typer.Typer:
    """Make a group of commands. A command has the name of its function, or of its keyword."""
    app = typer.Typer(cls=Group, help=help, no_args_is_help=True, add_completion=False)
    for command in commands:
        app.command(cls=Command)(command)
    for name, command in named.items():
        app.command(name, cls=Command)(command)
    return app


def with_options(
    table: Table | None = None, *, checked: bool = True
) -> Callable[[_Function], _Function]:
    """Give a command one option for each parameter of a table, and for each field of its bundles.

    With ``checked=False`` the values of the table are passed on unchecked. A command needs this if
    it chooses between several estimators.
    """
    table = Table("") if table is None else table
    names = [name for name, kind in table.items() if kind.flags != ""]
    if table.owner:
        SHOWN[table.owner] = names

    def decorate(command: _Function) -> _Function:
        signature = inspect.signature(command)
        bundles = {
            one.name: one.annotation
            for one in signature.parameters.values()
            if isinstance(one.annotation, type) and issubclass(one.annotation, Bundle)
        }

        @wraps(command)
        def run(**arguments: Any) -> Any:
            for name, bundle in bundles.items():
                values = {field.name: arguments.pop(field.name) for field in fields(bundle)}
                arguments[name] = bundle(**values)
            if not names:
                return command(**arguments)
            given = {name: _value(table[name], arguments.pop(name)) for name in names}
            if checked:
                table.checked(table.defaults | given)
            return command(**arguments, parameters=given)

        shown: list[inspect.Parameter] = []
        for argument in signature.parameters.values():
            if argument.name in bundles:
                shown += _bundle_options(bundles[argument.name])
            elif argument.name == "parameters":
                shown += [_table_option(table, name) for name in names]
            else:
                shown.append(argument.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        vars(run)["__signature__"] = signature.replace(parameters=shown)
        vars(run)["old_names"] = _old_names(table)
        run.__annotations__ = {one.name: one.annotation for one in shown}
        return run

    return decorate


def given_on_command_line(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Return those of the options that the user wrote."""
    source = context.get_parameter_source
    return [name for name in names if getattr(source(name), "name", "") == "COMMANDLINE"]


def changes(context: typer.Context, text: str, table: Table) -> dict[str, Any]:
    """Return the values that a text gives to options of a table: "method=em,states=8".

    Names and values are those of the options of the same command, and are read in the same way.
    """
    pairs = text.replace(",", " ").split()
    if not pairs or not all("=" in pair for pair in pairs):
        raise ParameterError(f"{text!r}: write changes of options, as in method=em,states=8")
    options = [f"--{pair.lstrip('-')}" for pair in pairs]
    made: Any = context.command.make_context("", [*options, "--", _NO_FILE])
    with made as inner:
        given = [one.name or "" for one in inner.command.params if one.param_type_name == "option"]
        values = {name: inner.params[name] for name in given_on_command_line(inner, given)}
    if wrong := [name for name in values if name not in table]:
        raise ParameterError(f"{text!r}: {wrong[0]} does not describe a model; leave it out")
    return {name: _value(table[name], value) for name, value in values.items()}


def _old_names(table: Table) -> dict[str, str]:
    """Return the options of parameters that were renamed, each with its new name."""
    return {
        f"--{old.replace('_', '-')}": next(f for f in table.flags(new) if f.startswith("--"))
        for old, new in table.renamed.items()
        if new in table and table[new].flags != ""
    }


def _bundle_options(bundle: type[Bundle]) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=field.type,
        )
        for field in fields(bundle)
    ]


def _table_option(table: Table, name: str) -> inspect.Parameter:
    kind, old_names = table[name], _old_names(table)
    option = typer.Option(
        *(flag for flag in table.flags(name) if flag not in old_names),
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
    """Return the parameter's value: "none" is None, and an empty list is the default."""
    if isinstance(kind, Choice) and kind.none and value == _NONE:
        return None
    return kind.default if _is_many(kind) and not value else value


def _help(kind: Parameter) -> str:
    limits = kind.wording.partition(", ")[2] if isinstance(kind, (Count, Number)) else ""
    return f"{kind.help} ({limits})" if limits else kind.help


def _reading(kind: Parameter) -> dict[str, Any]:
    if isinstance(kind, Given) and not kind.many:
        parse = kind.parse or str

        def read(text: Any) -> Any:  # Typer also calls it with the default
            return parse(text) if isinstance(text, str) else text

        return {"parser": read, "metavar": kind.metavar or "VALUE"}
    return {"metavar": kind.metavar} if isinstance(kind, Given) and kind.metavar else {}


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
