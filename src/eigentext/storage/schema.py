"""Declares what a model file must contain: every array and every value that a model uses.

Compiled loops do not check indices, offsets and sizes. A file may be damaged or malicious. So each
format declares a :class:`Schema`, and loading checks the whole file before any value is used. Sizes
have names: the first array with a side called "words" sets that size, and all others must agree.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eigentext.errors import ModelFileError
from eigentext.parameters import Parameter

Side = int | str  # a number, a name, or a sum such as "words+1"
Sizes = dict[str, int]
_KINDS = {"float": "f", "int": "iu", "number": "fiu", "bool": "b"}
_CHUNK = 1 << 20  # values that are checked together


class MismatchError(ValueError):
    """A part of a file is not as declared."""


@dataclass(frozen=True)
class Array:
    """An array of a file.

    Parameters
    ----------
    kind : str
        "float", "int", "number" (either of them), "bool", or the exact name of a dtype ("float32").
    shape : tuple
        For each side a number, the name of a size, or a sum of those ("words+1").
    least, below : number, or the name of a size
        Every value is at least `least` and less than `below`.
    rising_to : size, optional
        The array holds offsets: the first is 0, they never fall, and the last is this size.
    forbids : bool
        Whether values may be -inf, the score of forbidden choices.
    largest : float
        The largest absolute value of floats. No fit learns larger numbers, and their products
        might overflow.
    optional : bool
        Whether the file may lack the array.
    lazy : bool
        Whether to check only kind and shape when the file is opened, because the array is large.
        Its first user calls :meth:`check_values`.
    """

    kind: str
    shape: tuple[Side, ...]
    least: float | str | None = field(default=None, kw_only=True)
    below: float | str | None = field(default=None, kw_only=True)
    rising_to: Side | None = field(default=None, kw_only=True)
    forbids: bool = field(default=False, kw_only=True)
    largest: float = field(default=1e100, kw_only=True)
    optional: bool = field(default=False, kw_only=True)
    lazy: bool = field(default=False, kw_only=True)

    def check(self, array: Any, sizes: Sizes) -> None:
        """Raise MismatchError unless the array is as declared. New names of sizes are set."""
        if not isinstance(array, np.ndarray):
            raise MismatchError("is not an array of numbers")
        kinds = _KINDS.get(self.kind)
        if array.dtype.kind not in kinds if kinds else array.dtype != self.kind:
            raise MismatchError(f"holds {array.dtype}, not {self.kind}")
        _check_shape(array.shape, self.shape, sizes)
        if not self.lazy:
            self.check_values(array, sizes)

    def check_values(self, array: np.ndarray, sizes: Sizes) -> None:
        """Raise MismatchError unless all values are finite and within their limits."""
        flat = np.asarray(array).reshape(-1)
        least = None if self.least is None else _limit(self.least, sizes)
        below = None if self.below is None else _limit(self.below, sizes)
        for start in range(0, flat.size, _CHUNK):
            part = flat[start : start + _CHUNK]
            if part.dtype.kind == "f":
                numbers = part[part != -np.inf] if self.forbids else part
                most = min(self.largest, float(np.finfo(part.dtype).max))
                if not (np.abs(numbers) <= most).all():
                    raise MismatchError("has numbers that are not finite or far too large")
            if least is not None and part.min().item() < least:
                raise MismatchError(f"has {part.min()}, below {least}")
            if below is not None and part.max().item() >= below:
                raise MismatchError(f"has {part.max()}, not below {below}")
        if self.rising_to is not None:
            end = _limit(self.rising_to, sizes)
            if not len(flat) or flat[0] != 0 or flat[-1] != end:
                raise MismatchError(f"does not run from 0 to {end}")
            if (flat[1:] < flat[:-1]).any():
                raise MismatchError("has offsets that fall; they must rise")


@dataclass(frozen=True)
class Strings:
    """A list of strings. `unique` forbids repeated strings, `filled` forbids empty ones."""

    size: Side
    unique: bool = field(default=False, kw_only=True)
    filled: bool = field(default=False, kw_only=True)
    optional: bool = field(default=False, kw_only=True)

    def check(self, strings: Any, sizes: Sizes) -> None:
        """Raise MismatchError unless the list is as declared."""
        if not isinstance(strings, list):
            raise MismatchError("is not a list of strings")
        _check_shape((len(strings),), (self.size,), sizes)
        if self.unique and len(set(strings)) < len(strings):
            raise MismatchError("has a string twice")
        if self.filled and "" in strings:
            raise MismatchError("has an empty string")


@dataclass(frozen=True)
class Schema:
    """The arrays of a format by name, and the values of its document.

    Parameters
    ----------
    arrays
        All arrays that are read. A file may have others, which are ignored.
    about
        The kinds of the values of the document (:mod:`eigentext.parameters`). All are required.
    sizes
        Sizes that are known before the arrays are checked.
    """

    arrays: Mapping[str, Array | Strings] = field(default_factory=dict)
    about: Mapping[str, Parameter] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def check(self, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> Sizes:
        """Raise a ModelFileError that names the first mistake; return the sizes by name."""
        for name, kind in self.about.items():
            if name not in about:
                raise damage(name, "is missing")
            if not kind.accepts(about[name]):
                raise damage(name, f"must be {kind.wording}, not {about[name]!r:.60}")
        sizes = dict(self.sizes)
        for name, part in self.arrays.items():
            if name not in arrays:
                if part.optional:
                    continue
                raise damage(name, "is missing")
            try:
                part.check(arrays[name], sizes)
            except MismatchError as error:
                raise damage(name, str(error)) from error
        return sizes

    def within(self, prefix: str) -> "Schema":
        """The same arrays and sizes with a prefix, as a part of another format."""

        def named(side: Any) -> Any:
            if not isinstance(side, str):
                return side
            return "+".join(p if p.isdecimal() else prefix + p for p in side.split("+"))

        def renamed(part: Array | Strings) -> Array | Strings:
            if isinstance(part, Strings):
                return replace(part, size=named(part.size))
            limits = {key: named(getattr(part, key)) for key in ("least", "below", "rising_to")}
            return replace(part, shape=tuple(map(named, part.shape)), **limits)

        return Schema({prefix + name: renamed(part) for name, part in self.arrays.items()})


def csr(name: str, rows: Side, columns: Side, kind: str, **limits: Any) -> dict[str, Array]:
    """The three arrays of a CSR matrix: name.indptr, name.indices, name.data."""
    entries = f"{name}.entries"
    return {
        f"{name}.indices": Array("int", (entries,), least=0, below=columns),
        f"{name}.indptr": Array("int", (f"{rows}+1",), rising_to=entries),
        f"{name}.data": Array(kind, (entries,), **limits),
    }


def damage(name: str, why: str) -> ModelFileError:
    """The error for a part of a file that is not as it must be."""
    return ModelFileError(f"damaged or made by something else: {name} {why}")


def _check_shape(found: tuple[int, ...], declared: tuple[Side, ...], sizes: Sizes) -> None:
    if len(found) != len(declared):
        raise MismatchError(f"has {len(found)} dimensions, not {len(declared)}")
    for size, side in zip(found, declared):
        if isinstance(side, str) and "+" not in side:
            sizes.setdefault(side, size)
        if size != _limit(side, sizes):
            raise MismatchError(f"has shape {found}, where {side} is {_limit(side, sizes)}")


def _limit(side: Any, sizes: Sizes) -> Any:
    """The value of a number, of a name of a size, or of a sum of those."""
    if not isinstance(side, str):
        return side
    return sum(int(one) if one.isdecimal() else sizes[one] for one in side.split("+"))
