"""The top of the command line: its groups of commands, and how it prints errors."""

import io
import sys
import traceback
import warnings
from typing import Annotated, Any, NoReturn

import typer

import eigentext
from eigentext.cli._console import print_warning
from eigentext.cli._groups import Commands
from eigentext.errors import EigentextError

app = typer.Typer(
    name="eigentext",
    cls=Commands,
    help="Latent-variable models of language from counts and linear algebra.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

_UsageError: Any = typer.BadParameter.__base__  # of click, or of typer's copy of it
# What Typer says of a value, and the same in plain words.
_PLAIN = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "give a whole number",
    "Input should be a valid number, unable to parse string as a number": "give a number",
    "Input should be greater than or equal to": "the least is",
    "Input should be less than or equal to": "the most is",
}
_INTERRUPTED = 130  # the status that typer returns after Ctrl-C


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command, and exit with status 0.

    The status is 2 after a user's mistake, which is reported in one line, and 1 after any other
    error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for words that it cannot encode
    warnings.showwarning = _warn
    try:
        status = app(arguments, prog_name="eigentext", standalone_mode=False)
    except EigentextError as error:
        _fail(str(error), 2)
    except _UsageError as error:
        if not (message := error.format_message()):  # no arguments: the help was printed
            sys.exit(2)
        for said, plain in _PLAIN.items():
            message = message.replace(said, plain)
        _fail(f"{message.rstrip('.')}; see {error.ctx.command_path} --help", 2)
    except MemoryError:
        _fail("out of memory; lower --threads, --memory or the model's --dim or --states", 1)
    except OSError as error:
        _fail(f"the system refused: {error}", 1)
    except Exception as error:
        traceback.print_exc()
        _fail(f"this is a bug in eigentext: {error!r}", 1)
    if status == _INTERRUPTED:
        _fail("interrupted; nothing was written", status)
    sys.exit(status)


def _warn(message: Warning | str, *where: object) -> None:
    print_warning(str(message))


def _fail(message: str, status: int) -> NoReturn:
    print(f"eigentext: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"eigentext {eigentext.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Latent-variable models of language from counts and linear algebra."""
