"""The top of the command line: its groups of commands, and how it prints errors."""

import io
import sys
import traceback
import warnings
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.markup import escape

import eigentext
from eigentext.cli import demo, explore, grammar, rerank, sequences, tagger, topics, words
from eigentext.cli._bundles import JsonFlag
from eigentext.cli._console import print_json, print_plain, print_warning, printer
from eigentext.cli._fitting import finding_lines
from eigentext.errors import EigentextError

app = typer.Typer(
    name="eigentext",
    help="Latent-variable models of language from counts and linear algebra.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(words.app, name="words")
app.add_typer(sequences.kneser_ney_app, name="kneser-ney")
app.add_typer(sequences.bigram_app, name="bigram")
app.add_typer(sequences.hmm_app, name="hmm")
app.add_typer(topics.app, name="topics")
app.add_typer(grammar.app, name="grammar")
app.add_typer(rerank.app, name="rerank")
app.add_typer(tagger.app, name="tagger")
app.command("demo")(demo.demo)
app.command("explore")(explore.explore)

_UsageError: Any = typer.BadParameter.__base__  # of click, or of typer's copy of it
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


@app.command()
def info(
    model: Annotated[Path, typer.Argument(help="A file written by `fit` or `save`.")],
    json: JsonFlag = False,
) -> None:
    """Print what a saved model is, how it was made, its diagnostics and its findings."""
    from eigentext.storage import read_saved

    arrays, about = read_saved(model)
    sizes = {
        name: [len(part)] if isinstance(part, list) else list(part.shape)
        for name, part in arrays.items()
    }
    if json:
        print_json({"file": str(model), **about, "arrays": sizes})
        return
    name, form, version = (escape(str(x)) for x in (model, about["format"], about.get("eigentext")))
    printer.print(f"[bold]{name}[/]  {form}, written by eigentext {version}")
    for title, part in about.items():
        if title not in ("format", "eigentext"):
            _print_part(title, part)
    _print_part("arrays", {name: " x ".join(map(str, size or [1])) for name, size in sizes.items()})
    if lines := _findings(model):
        printer.print("[bold]findings[/]")
        for line in lines:
            print_plain(f"  {line}")


def _findings(path: Path) -> list[str]:
    """Return what the model says about itself; nothing if it cannot be loaded."""
    from eigentext.storage import load

    try:
        return finding_lines(load(path))
    except EigentextError:  # info also prints what files of newer versions hold
        return []


def _print_part(title: str, part: object) -> None:
    if not isinstance(part, dict):
        printer.print(f"[bold]{escape(title)}[/]  {escape(_short(part))}")
        return
    printer.print(f"[bold]{escape(title)}[/]")
    for name, value in part.items():
        print_plain(f"  {name:24} {_short(value)}")


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_short(part)}" for name, part in value.items())
    if isinstance(value, list) and len(value) > 6:
        return f"{', '.join(map(_short, value[:3]))}, … {_short(value[-1])} ({len(value)} values)"
    return ", ".join(map(_short, value)) if isinstance(value, list) else str(value)
