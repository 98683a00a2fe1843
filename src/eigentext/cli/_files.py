"""Files and standard streams: what a command reads, and what it must not overwrite."""

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from eigentext.cli._console import printer
from eigentext.corpus.remote import is_url
from eigentext.errors import EigentextError, ParameterError

_Kind = TypeVar("_Kind")


@contextmanager
def inputs(*groups: Sequence[str]) -> Iterator[list[list[Path]]]:
    """Yield the files to read, for each group of names.

    The name "-" is standard input. It is kept in a temporary file while the work inside runs.
    """
    names = [name for group in groups for name in group]
    if "-" not in names:
        yield [[_path(name) for name in group] for group in groups]
        return
    if names.count("-") > 1:
        raise ParameterError("standard input (-) can be read only once; name a file for the other")
    with tempfile.TemporaryDirectory(prefix="eigentext-") as folder:
        kept = Path(folder, "standard-input")
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield [[kept if name == "-" else _path(name) for name in group] for group in groups]
        except EigentextError as error:
            if str(kept) not in str(error):
                raise
            raise type(error)(str(error).replace(str(kept), "standard input")) from error


def _path(name: str) -> Path:
    # A URL stays a string, because a path would make one slash of two. Readers take both.
    return name if is_url(name) else Path(name)  # type: ignore[return-value]


@contextmanager
def destination(output: Path) -> Iterator[Path]:
    """Yield the path to write to. "-" is standard output, which gets everything or nothing."""
    if str(output) != "-":
        yield output
        return
    with tempfile.TemporaryDirectory(prefix="eigentext-") as folder:
        kept = Path(folder, "standard-output")
        yield kept
        try:
            with kept.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.flush()
        except BrokenPipeError:
            printer.on_broken_pipe()


def check_model_path(output: Path) -> None:
    """Raise an error, before the work begins, if no model can be written to this path."""
    from eigentext.storage import check_writable

    if str(output) == "-":
        raise ParameterError("a model is a file, not a stream; name one with -o")
    check_writable(output)


def check_not_read(output: Path, files: Iterable[object]) -> None:
    """Raise ParameterError if the output is one of the files that are read."""
    here = [file for file in files if isinstance(file, Path)]  # the others are URLs
    if output.exists() and any(output.samefile(file) for file in here):
        raise ParameterError(f"{output}: would be written over what is read; choose another -o")


def load_kind(path: Path, kinds: type[_Kind] | tuple[type[_Kind], ...], what: str) -> _Kind:
    """Load a model, and raise EigentextError if it is not of these classes.

    `what` is the name of such models in the error: "word vectors".
    """
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, kinds):
        raise EigentextError(f"{path}: holds {model!r}, not {what}")
    return model
