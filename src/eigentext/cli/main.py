"""The top of the command line: sub-commands, and what errors look like."""

import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

import eigentext
from eigentext.cli import demo, words
from eigentext.cli._console import JsonFlag, print_json, printer
from eigentext.errors import EigentextError

app = typer.Typer(
    name="eigentext",
    help="Latent-variable models of language from counts and linear algebra.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(words.app, name="words")
app.command("demo")(demo.demo)


def main(arguments: list[str] | None = None) -> None:
    """Run the command; exit with 0, 2 for a user's mistake (one line), 1 for anything else."""
    try:
        app(arguments)
    except EigentextError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("interrupted; nothing was written", 130)
    except BrokenPipeError:  # `eigentext ... | head` is no mistake
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        traceback.print_exc()
        _fail(f"this is a bug in eigentext: {error!r}", 1)


def _fail(message: str, status: int) -> None:
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


@app.command()
def info(
    model: Annotated[Path, typer.Argument(help="A file written by `fit` or `save`.")],
    json: JsonFlag = False,
) -> None:
    """What a saved model is, how it was made, and its diagnostics."""
    from eigentext.storage import read_saved

    arrays, about = read_saved(model)
    sizes = {name: list(getattr(part, "shape", [len(part)])) for name, part in arrays.items()}
    if json:
        print_json({"file": str(model), **about, "arrays": sizes})
        return
    printer.print(f"[bold]{model}[/]  {about['format']}, written by eigentext {about['eigentext']}")
    for title, part in about.items():
        if title not in ("format", "eigentext"):
            _print_part(title, part)
    _print_part("arrays", {name: " x ".join(map(str, size)) for name, size in sizes.items()})


def _print_part(title: str, part: Any) -> None:
    if not isinstance(part, dict):
        printer.print(f"[bold]{title}[/]  {_short(part)}")
        return
    printer.print(f"[bold]{title}[/]")
    for name, value in part.items():
        printer.print(f"  {name:24} {_short(value)}", highlight=False)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and len(value) > 6:
        return f"{', '.join(map(_short, value[:3]))}, … {_short(value[-1])} ({len(value)} values)"
    return ", ".join(map(_short, value)) if isinstance(value, list) else str(value)
