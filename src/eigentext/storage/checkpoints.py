"""The state of a long fit in a folder, so that a killed fit can continue.

``with checkpointing(folder, about): model.fit(corpus)``. In the block, long steps look for their
state in the :func:`checkpoint` in use, continue from it, and save their state from time to time.
Every file is written completely or not at all, so the last state stays good whatever happens to the
process, the disk or the workers. The state is exact: a fit that continues gives the same bits.
"""

import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

import eigentext
from eigentext.errors import CheckpointError, ModelFileError
from eigentext.storage.files import Arrays, read_saved, replacing, write_saved
from eigentext.storage.valid_json import json_text, json_value

_ABOUT = "checkpoint.json"
_NAME = re.compile(r"[a-z0-9.-]+")
_SUFFIX = ".state"
EVERY = 10.0  # seconds between two saves of a loop


class Checkpoint:
    """A folder with the state of one fit.

    Parameters
    ----------
    folder
        Created if it does not exist.
    about
        A description of the fit: parameters, fingerprints of the text. A folder with another
        description, or of another version of the library, is refused.
    """

    def __init__(self, folder: str | Path, about: dict[str, Any]):
        self.folder = Path(folder)
        self._times: Counter[str] = Counter()
        about = {"eigentext": eigentext.__version__, **about}
        about = json_value(json_text(about, keep=True, default=str))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            kept = self.folder / _ABOUT
            if kept.exists():
                self._check(json_value(kept.read_text()), about)
                return
            if any(self.folder.iterdir()):
                raise CheckpointError(
                    f"{self.folder}: contains other files; name a new folder for checkpoints"
                )
            with replacing(kept) as temporary:
                temporary.write_text(json_text(about, keep=True, indent=1))
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"{self.folder}: cannot save checkpoints there ({error}); name another folder"
            ) from error

    def name(self, step: str) -> str:
        """The name of the state of a step, the same in every run: the first "svd" is "svd-0"."""
        self._times[step] += 1
        return f"{step}-{self._times[step] - 1}"

    def path(self, name: str) -> Path:
        """The file of a state."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a valid name of a state")
        return self.folder / f"{name}{_SUFFIX}"

    def read(self, name: str) -> tuple[Arrays, dict[str, Any]] | None:
        """The arrays (mapped) and the document of a state; None if it is missing or damaged.

        The step then starts again.
        """
        if not self.path(name).exists():
            return None
        try:
            return read_saved(self.path(name))
        except ModelFileError:
            return None

    def write(self, name: str, arrays: Arrays, about: dict[str, Any] | None = None) -> None:
        """Save a state and replace the old one of that name, completely or not at all."""
        write_saved(self.path(name), "eigentext.state.v1", arrays, about or {})

    def drop(self, name: str) -> None:
        """Delete a state that later ones replace."""
        self.path(name).unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete all states at the end of the fit, and the folder if it is empty then."""
        for path in self.folder.glob(f"*{_SUFFIX}"):
            path.unlink(missing_ok=True)
        (self.folder / _ABOUT).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _check(self, kept: Any, about: dict[str, Any]) -> None:
        for name in [*about, *kept]:
            mine, theirs = about.get(name), kept.get(name)
            if mine != theirs:
                raise CheckpointError(
                    f"{self.folder}: contains the checkpoint of another fit, with {name} "
                    f"{theirs!r:.80}, not {mine!r:.80}; name another folder, or delete this one"
                )


State = tuple[dict[str, Any], dict[str, Any]]  # arrays or lists of strings, and a document


class Iteration:
    """The state of one loop. The checkpoint in use, if there is one, saves it every few seconds.

    A loop creates an `Iteration`, continues from the state in `kept`, and calls `keep` after each
    step. The last state of a finished loop stays, so that a restarted fit skips the loop.

    Parameters
    ----------
    step
        The name of the loop.
    problem
        Everything that the result depends on: arrays, numbers, names, or functions that return
        them, which are called only if there is a checkpoint. The state of another problem, for
        example of other data, is not used.
    """

    def __init__(self, step: str, *problem: Any):
        self._point = checkpoint()
        self._last = time.monotonic()
        if self._point is not None:
            self._name = self._point.name(step)
            self._problem = fingerprint(*(one() if callable(one) else one for one in problem))

    def kept(self) -> State | None:
        """The state to continue from, or None."""
        found = self._point.read(self._name) if self._point is not None else None
        if found is None or found[1].get("problem") != self._problem:
            return None
        # Copied, not mapped: Numba would compile loops again for read-only arrays.
        parts = found[0].items()
        return {name: a if isinstance(a, list) else np.array(a) for name, a in parts}, found[1]

    def keep(self, state: Callable[[], State], *, is_last: bool = False) -> None:
        """Save the result of `state()` if the last save is long ago; sooner for the last state."""
        now = time.monotonic()
        if self._point is None or now - self._last < (EVERY / 10 if is_last else EVERY):
            return
        arrays, about = state()
        self._point.write(self._name, arrays, about | {"problem": self._problem})
        self._last = time.monotonic()


def fingerprint(*things: Any) -> str:
    """A hash of arrays (by their bytes) and of other values (by their repr)."""
    found = hashlib.blake2b(digest_size=16)
    for thing in things:
        if isinstance(thing, np.ndarray):
            found.update(f"{thing.dtype.str}{thing.shape}".encode())
            found.update(np.ascontiguousarray(thing).data.cast("B") if thing.size else b"")
        else:
            found.update(repr(thing).encode())
        found.update(b"\0")
    return found.hexdigest()


_checkpoint: ContextVar[Checkpoint | None] = ContextVar("eigentext_checkpoint", default=None)


def checkpoint() -> Checkpoint | None:
    """The checkpoint in use. It is None in the threads of the engine, whose tasks are short."""
    return _checkpoint.get()


@contextmanager
def checkpointing(
    folder: str | Path | None, about: dict[str, Any] | None = None
) -> Iterator[Checkpoint | None]:
    """Let the fit inside the block save its state in `folder` and continue from there.

    With None nothing is saved. When the block succeeds, the folder is cleared.

    Examples
    --------
    >>> import eigentext as et
    >>> with et.checkpointing("/tmp/my-fit", {"model": "words"}):
    ...     words = et.Eigenwords(2, window=1, min_count=1).fit(["a cat sat", "a dog sat"])
    """
    if folder is None:
        yield None
        return
    point = Checkpoint(folder, about or {})
    token = _checkpoint.set(point)
    try:
        yield point
    finally:
        _checkpoint.reset(token)
    point.clear()
