"""The commands of `eigentext`, loaded when they are used: `--version` needs none of them."""

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

# The module and the name of each group of commands, and of each single command.
_HOMES = {
    "words": ("words", "app"),
    "kneser-ney": ("sequences", "kneser_ney_app"),
    "bigram": ("sequences", "bigram_app"),
    "class-bigram": ("sequences", "class_bigram_app"),
    "hmm": ("sequences", "hmm_app"),
    "automaton": ("sequences", "automaton_app"),
    "topics": ("topics", "app"),
    "grammar": ("grammar", "app"),
    "rerank": ("rerank", "app"),
    "tagger": ("tagger", "app"),
    "info": ("info", "info"),
    "demo": ("demo", "demo"),
    "explore": ("explore", "explore"),
    "warm-up": ("warm_up", "warm_up"),
    "cache": ("cache", "cache"),
}


def load_all() -> None:
    """Import every command, for pages that list their options."""
    for name in _HOMES:
        _command(name)


class Commands(TyperGroup):
    """A group whose commands are imported by name."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return list(_HOMES)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options. None of them has a type, because all are flags."""
        params = super().get_params(ctx)
        for one in params:
            one.metavar = ""
        return params

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command with this name, or None."""
        return _command(cmd_name) if cmd_name in _HOMES else None


@cache
def _command(name: str) -> Any:
    module, attribute = _HOMES[name]
    found = getattr(import_module(f"eigentext.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        from eigentext.cli._options import Command

        function, found = found, typer.Typer(add_completion=False)
        found.command(name, cls=Command)(function)
    command = typer.main.get_command(found)
    command.name = name
    return command
