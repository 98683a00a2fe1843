"""What the commands on word vectors share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import Watch, peak_memory, print_json, printer
from eigentext.errors import EigentextError

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `words fit`.")]


def load_words(path: Path) -> Any:
    """The word vectors in a file."""
    from eigentext import Eigenwords
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, Eigenwords):
        raise EigentextError(f"{path}: holds {model!r}, not word vectors")
    return model


def report_fit(
    model: Any, output: Path, watch: Watch, seconds: float, *, json: bool, quiet: bool
) -> None:
    """Print what was learned, and what it took."""
    n_words, dim = model.vectors_.shape
    summary = {
        "model": str(output),
        "n_tokens": model.provenance_["n_tokens"],
        "n_words": n_words,
        "dim": dim,
        "pairs": model.diagnostics_["pairs"],
        "seconds": round(seconds, 3),
        "phases": watch.times(),
        "peak_memory": peak_memory(),
    }
    if json:
        print_json(summary)
    elif not quiet:
        printer.print(
            f"{output}: {n_words:,} words in {dim} dimensions from {summary['n_tokens']:,} tokens; "
            f"{seconds:.1f} s, {summary['peak_memory'] / 1e6:,.0f} MB at most",
            markup=False,
        )
