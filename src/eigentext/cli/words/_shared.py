"""What the commands on word vectors share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigentext.cli._files import load_kind
from eigentext.cli._fitting import Fitting

if TYPE_CHECKING:
    from eigentext import Eigentokens, Eigenwords

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `words fit`.")]


def load_words(path: Path) -> "Eigenwords":
    """Load word vectors."""
    from eigentext import Eigenwords

    return load_kind(path, Eigenwords, "word vectors")


def report_vectors(fit: Fitting, model: "Eigenwords | Eigentokens") -> None:
    """Print what was learned, and what it took."""
    n_words, dim = model.vectors_.shape
    n_tokens = model.provenance_["n_tokens"]
    facts = {
        "n_tokens": n_tokens,
        "n_words": n_words,
        "dim": dim,
        "pairs": model.diagnostics_["pairs"],
    }
    fit.report(facts, f"{n_words:,} words in {dim} dimensions from {n_tokens:,} tokens")
