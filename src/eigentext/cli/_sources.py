"""Options for what was learned from plain text: word vectors, clusters, and models of tokens."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._options import Bundle
from eigentext.cli._text import utf8_or
from eigentext.errors import EigentextError

# What was learned without tags: the classes of models that hold it, and its name in errors.
SOURCES = {
    "vectors": ("Eigenwords", "word vectors (`words fit`)"),
    "clusters": ("WordClusters", "clusters (`words cluster`)"),
    "eigentokens": ("Eigentokens", "eigentokens of `words tokens`"),
    "states": ("HMM", "a hidden Markov model (`hmm fit`)"),
    "parser": ("PCFG LatentPCFG", "a grammar (`grammar fit`)"),
}


@dataclass(kw_only=True)
class PlainTextOptions(Bundle):
    """Word vectors and clusters of plain text."""

    vectors: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Word vectors, of `words fit`.")
    ] = None
    clusters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Clusters: a model or the paths of `words cluster`."),
    ] = None

    def given(self) -> dict[str, Path]:
        """Return the files that the user named."""
        return {name: path for name, path in asdict(self).items() if path}


def load_sources(files: dict[str, Path], encoding: str = "utf-8") -> dict[str, Any]:
    """Load what was learned without labels, by the names of options."""
    return {name: _load_source(name, path, encoding) for name, path in files.items()}


def _load_source(name: str, path: Path, encoding: str) -> Any:
    """Load what was learned without labels."""
    import eigentext
    from eigentext import WordClusters, engine
    from eigentext.storage import load

    wanted, what = SOURCES[name]
    with engine.phase(f"load {name}"):
        if name == "clusters" and not _is_model(path):
            return WordClusters.read_paths(path, encoding=utf8_or(encoding, path))
        model = load(path)
    if not isinstance(model, tuple(getattr(eigentext, one) for one in wanted.split())):
        raise EigentextError(f"{path}: holds {model!r}, but --{name} wants {what}")
    return model


def _is_model(path: Path) -> bool:
    """Return whether a file may be a model, and is not a text, plain or compressed."""
    from eigentext.corpus.readers import compression

    if compression(path):
        return False
    with path.open("rb") as file:
        return b"\0" in file.read(8)  # the length of a model's header
