"""What a model file must hold, declared: every array and every value that a model relies on.

Kernels trust indices, offsets and sizes. A file may be damaged, or made to do harm, so each format
declares a :class:`Schema`, and nothing of a file is used before it was checked. Sizes have names:
the first array with a side called "words" says how many there are, and all others must agree.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eigentext.errors import ModelFileError
from eigentext.parameters import Parameter

Side = int | str  # a number, a name, or a sum such as "words+1"
Sizes = dict[str, int]
_KINDS = {"float": "f", "int": "iu", "bool": "b"}
_CHUNK = 1 << 20  # values that are looked at together


class MismatchError(ValueError):
    """What is wrong with a part of a file."""


@dataclass(frozen=True)
class Array:
    """An array of a file.

    Parameters
    ----------
    kind : str
        "float", "int", "bool", or the exact name of a dtype ("float32").
    shape : tuple
        A size, a name of one, or a sum of those ("words+1"), for each side.
    least, below : number, or the name of a size
        Every value is at least `least`, and less than `below`.
    rising_to : size, optional
        Offsets: the first is 0, none is less than the one before, and the last is this size.
    forbids : bool
        Its numbers may be -inf: scores of what is forbidden.
    largest : float
        The greatest absolute value of floats. All are finite, and no fit learns larger ones;
        products of those would not be finite.
    optional : bool
        The file may lack it.
    lazy : bool
        Its values are too many to be looked at when a file is opened. Only kind and shape are
        checked then; who uses it first calls :meth:`check_values`.
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
        """Raise unless the array is as declared; names in its shape that are new get a size."""
        if not isinstance(array, np.ndarray):
            raise MismatchError("is no array of numbers")
        kinds = _KINDS.get(self.kind)
        if array.dtype.kind not in kinds if kinds else array.dtype != self.kind:
            raise MismatchError(f"holds {array.dtype}, not {self.kind}")
        _check_shape(array.shape, self.shape, sizes)
        if not self.lazy:
            self.check_values(array, sizes)

    def check_values(self, array: np.ndarray, sizes: Sizes) -> None:
        """Raise unless all values are finite and within their limits."""
        flat = np.asarray(array).reshape(-1)
        least = None if self.least is None else _limit(self.least, sizes)
        below = None if self.below is None else _limit(self.below, sizes)
        for start in range(0, flat.size, _CHUNK):
            part = flat[start : start + _CHUNK]
            if part.dtype.kind == "f":
                numbers = part[part != -np.inf] if self.forbids else part
                most = min(self.largest, float(np.finfo(part.dtype).max))
                if not (np.abs(numbers) <= most).all():
                    raise MismatchError("has numbers that are not finite, or far too large")
            if least is not None and part.min() < least:
                raise MismatchError(f"has {part.min()}, below {least}")
            if below is not None and part.max() >= below:
                raise MismatchError(f"has {part.max()}, not below {below}")
        if self.rising_to is not None:
            end = _limit(self.rising_to, sizes)
            if not len(flat) or flat[0] != 0 or flat[-1] != end:
                raise MismatchError(f"does not run from 0 to {end}")
            if (flat[1:] < flat[:-1]).any():
                raise MismatchError("falls, where offsets must rise")


@dataclass(frozen=True)
class Strings:
    """A list of strings of a file; without repeats if `unique`, without "" if `filled`."""

    size: Side
    unique: bool = field(default=False, kw_only=True)
    filled: bool = field(default=False, kw_only=True)
    optional: bool = field(default=False, kw_only=True)

    def check(self, strings: Any, sizes: Sizes) -> None:
        """Raise unless the list is as declared."""
        if not isinstance(strings, list):
            raise MismatchError("is no list of strings")
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
        All arrays that are read. A file may have others; nobody looks at them.
    about
        Kinds of the document's values (:mod:`eigentext.parameters`), which must all be there.
    sizes
        Names of sizes that are known before an array is seen: numbers, or names of values in the
        document, which must be whole numbers.
    """

    arrays: Mapping[str, Array | Strings] = field(default_factory=dict)
    about: Mapping[str, Parameter] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def check(self, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> Sizes:
        """Raise a ModelFileError that names what is wrong; return the sizes by name."""
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
        """The same arrays and sizes with a prefix, as part of another format; no document."""

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
    """The three arrays of a sparse matrix in rows: name.indptr, name.indices, name.data."""
    entries = f"{name}.entries"
    return {
        f"{name}.indices": Array("int", (entries,), least=0, below=columns),
        f"{name}.indptr": Array("int", (f"{rows}+1",), rising_to=entries),
        f"{name}.data": Array(kind, (entries,), **limits),
    }


def damage(name: str, why: str) -> ModelFileError:
    """What to raise where a part of a file is not as it must be."""
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
    """A number, or the sum that names of sizes stand for."""
    if not isinstance(side, str):
        return side
    return sum(int(one) if one.isdecimal() else sizes[one] for one in side.split("+"))
