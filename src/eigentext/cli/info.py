"""`eigentext info`: what a saved model is, and what it says about itself."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from eigentext.cli._bundles import JsonFlag
from eigentext.cli._console import print_json, print_plain, printer
from eigentext.cli._fitting import finding_lines
from eigentext.errors import EigentextError


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
