"""What the commands on word vectors share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.errors import EigentextError

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `words fit`.")]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="Where to write.")]


def load_words(path: Path) -> Any:
    """The word vectors in a file."""
    from eigentext import Eigenwords
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, Eigenwords):
        raise EigentextError(f"{path}: holds {model!r}, not word vectors")
    return model
