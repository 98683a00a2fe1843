"""What a long fit has worked out so far, in a folder: a killed one goes on from there.

``with checkpointing(folder, about): model.fit(corpus)``. Inside, the steps that take long ask for
the :func:`checkpoint` in use, look whether they find their state in it, and leave it there as they
go. Every file is written whole or not at all, so the last good state stays good, whatever happens
to the process, the disk or the cluster. State is exact, so a fit that goes on gives the same bits.
"""

import hashlib
import json
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

_ABOUT = "checkpoint.json"
_NAME = re.compile(r"[a-z0-9.-]+")
_SUFFIX = ".state"
EVERY = 10.0  # seconds of a loop between one state and the next


class Checkpoint:
    """A folder that keeps the state of one fit.

    Parameters
    ----------
    folder
        Made where there is none.
    about
        What the fit is of: parameters, fingerprints of the text. A folder that was begun with
        another `about`, or by another version of the library, is refused.
    """

    def __init__(self, folder: str | Path, about: dict[str, Any]):
        self.folder = Path(folder)
        self._times: Counter[str] = Counter()
        about = json.loads(json.dumps({"eigentext": eigentext.__version__, **about}, default=str))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            kept = self.folder / _ABOUT
            if kept.exists():
                self._check(json.loads(kept.read_text()), about)
                return
            if any(self.folder.iterdir()):
                raise CheckpointError(
                    f"{self.folder}: holds other files; name a new folder for checkpoints"
                )
            with replacing(kept) as temporary:
                temporary.write_text(json.dumps(about, indent=1))
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"{self.folder}: cannot keep checkpoints there ({error}); name another folder"
            ) from error

    def name(self, step: str) -> str:
        """A name for the state of a step, the same in every run: the first "svd" is "svd-0"."""
        self._times[step] += 1
        return f"{step}-{self._times[step] - 1}"

    def path(self, name: str) -> Path:
        """The file of a state."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} names no state")
        return self.folder / f"{name}{_SUFFIX}"

    def read(self, name: str) -> tuple[Arrays, dict[str, Any]] | None:
        """The arrays (mapped) and the document of a state; None if there is none, or a broken one.

        Only a broken disk breaks a file that was written: it is worked out again.
        """
        if not self.path(name).exists():
            return None
        try:
            return read_saved(self.path(name))
        except ModelFileError:
            return None

    def write(self, name: str, arrays: Arrays, about: dict[str, Any] | None = None) -> None:
        """Keep a state, in place of what had its name: all of it or nothing."""
        write_saved(self.path(name), "eigentext.state.v1", arrays, about or {})

    def drop(self, name: str) -> None:
        """Forget a state that later ones replace."""
        self.path(name).unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete what was kept, and the folder if nothing else is in it: the fit is done."""
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
                    f"{self.folder}: holds the checkpoint of another fit, with {name} "
                    f"{theirs!r:.80}, not {mine!r:.80}; name another folder, or delete this one"
                )


State = tuple[dict[str, Any], dict[str, Any]]  # arrays (or lists of strings), and a document


class Iteration:
    """The state of one loop, which the checkpoint in use keeps every few seconds; without one, no.

    A loop makes one before it begins, goes on from what was `kept`, and after each step hands over
    its state to `keep`. When it is done its last state stays, so that a fit that begins again does
    not begin with this loop.

    Parameters
    ----------
    step
        What the loop is called.
    problem
        All that its outcome depends on: arrays, numbers, names; or functions that give such, which
        are called if there is a checkpoint. State of another problem, with other data say, is not
        taken.
    """

    def __init__(self, step: str, *problem: Any):
        self._point = checkpoint()
        self._last = time.monotonic()
        if self._point is not None:
            self._name = self._point.name(step)
            self._problem = fingerprint(*(one() if callable(one) else one for one in problem))

    def kept(self) -> State | None:
        """The state to go on from, if there is one."""
        found = self._point.read(self._name) if self._point is not None else None
        if found is None or found[1].get("problem") != self._problem:
            return None
        # Read, not mapped: kernels would be compiled once more for arrays that may not be written.
        parts = found[0].items()
        return {name: a if isinstance(a, list) else np.array(a) for name, a in parts}, found[1]

    def keep(self, state: Callable[[], State], *, is_last: bool = False) -> None:
        """Keep what `state` gives, if the last time was long ago; the last is worth more."""
        now = time.monotonic()
        if self._point is None or now - self._last < (EVERY / 10 if is_last else EVERY):
            return
        arrays, about = state()
        self._point.write(self._name, arrays, about | {"problem": self._problem})
        self._last = time.monotonic()


def fingerprint(*things: Any) -> str:
    """A short string that differs where things do: arrays by their bytes, others by their repr."""
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
    """The checkpoint in use; None in the engine's threads, whose tasks are short."""
    return _checkpoint.get()


@contextmanager
def checkpointing(
    folder: str | Path | None, about: dict[str, Any] | None = None
) -> Iterator[Checkpoint | None]:
    """Let the fit inside keep its state in `folder` (nowhere, if None) and go on from there.

    When all inside has succeeded, the folder is cleared.

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
