"""How the help of a command looks: options in groups, and types in words that people read.

Options stand in the groups Input, Model, Output, Run and, for the explorer, Server. A value is
FILE, N (a whole number), X (a number), TEXT, or one of its choices. Flags show no type. Limits are
written out: "1 or more".
"""

from pathlib import Path
from typing import Any, get_args, get_origin

_NAMES = {
    "Input": (
        "column columns counts cv dialect documents encoding errors gold id input keep keep_case "
        "labelled lowercase max_length skip_bad tokenized tokenizer unit validation validation_gold"
    ),
    "Output": (
        "by_section confidence explore format html json k missing nbest open output quiet report "
        "spans top topn words zero_vectors"
    ),
    "Server": "access_log allow_host base_url host port timeout",
    "Run": "cache checkpoint clear help memory no_cache threads version workers",
}
_GROUPS = {name: group for group, names in _NAMES.items() for name in names.split()}
_ORDER = ("Input", "Model", "Output", "Server", "Run")
_WIDEST = 26  # characters of choices in the column of types; more would break in a word
_OF_TYPES = {int: "N", float: "X", str: "TEXT", Path: "FILE"}
_OF_NAMES = {"cache": "DIR", "encoding": "NAME", "column": "NAME", "id": "NAME", "host": "ADDRESS"}


def panel(name: str) -> str:
    """Return the group of an option, by the name of its parameter."""
    return _GROUPS.get(name, "Model")


def arrange(params: list[Any]) -> list[Any]:
    """Give each parameter of a command its group and a readable type; return them in order."""
    for one in params:
        if one.param_type_name == "argument":
            one.metavar = one.metavar or _argument(one)
            _replace(one, "display_type_rich", None)
            _replace(one, "_usage_display_name", _usage(one))
        else:
            one.rich_help_panel = panel(one.name)
            _describe(one)
    return sorted(params, key=_place)


def arrange_help(option: Any, group: str | None = "Run") -> Any:
    """Let the option --help look like the others."""
    if option is not None:
        option.rich_help_panel = group
        option.metavar = ""
    return option


def _place(param: Any) -> int:
    if param.param_type_name == "argument":
        return -1
    return _ORDER.index(param.rich_help_panel)


def _argument(param: Any) -> str:
    singular = {"files": "FILE", "models": "MODEL", "words": "WORD"}
    return singular.get(param.name) or str(param.name).upper()


def _describe(option: Any) -> None:
    """Set the type and the limits of an option, as the help shows them."""
    if option.metavar is None:
        option.metavar = _type_in_words(option)
    low, high = getattr(option, "min", None), getattr(option, "max", None)
    limits = _limits(low, high)
    if limits:
        option.help = f"{option.help or ''} ({limits})".strip()
        _replace(option, "_get_number_range_help_str", None)


def _type_in_words(option: Any) -> str | None:
    about = getattr(option, "type_descriptor", None)
    if option.is_flag:
        return ""
    if about is None:  # before Typer 0.29, which then writes the type in its own way
        return None
    if about.is_choice:
        choices = [str(getattr(one, "value", one)) for one in about.choices or ()]
        joined = "|".join(choices)
        if len(joined) <= _WIDEST:
            return joined
        if not all(one in option.help for one in choices):
            option.help = f"{option.help} One of {', '.join(choices)}."
        return option.name.upper().replace("_", "-")
    if option.name in _OF_NAMES:
        return _OF_NAMES[option.name]
    plain = about.annotation
    if get_origin(plain) is list:
        (plain,) = get_args(plain)
    return _OF_TYPES.get(plain, "VALUE")


def _limits(low: float | None, high: float | None) -> str:
    if low is None:
        return "" if high is None else f"{high:g} at most"
    return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"


def _usage(argument: Any) -> str:
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    return name if argument.nargs == 1 else f"{name}..."


def _replace(param: Any, method: str, text: str | None) -> None:
    """Let a method of Typer that writes a part of the help write this."""
    setattr(param, method, lambda *arguments, **settings: text)
