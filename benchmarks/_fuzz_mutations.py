"""Changed copies of a model file. The container stays valid, unless the change is to the container.

Every change has a name (``array places: [0] = 1000000``), which is enough to make it again.
`Mutations` numbers all changes: first each single change, in an order drawn from the seed; then,
without end, two or three changes together and random bits.
"""

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any
from zlib import crc32

import numpy as np

from _fuzz_arrays import noise, of_arrays
from _fuzz_file import KEY, ModelFile, Mutation, packed

_LONG_LIST = 6  # in longer lists only the first, the middle and the last entry are changed

# Values that replace any value of the document.
_DEEP: Any = []
for _ in range(200):
    _DEEP = [_DEEP]
CONSTANTS: dict[str, Any] = {
    repr(value): value
    for value in (
        None, True, False, -1, 0, 1, 2, 3, 7, 255, 10**6, 2**31, 2**40, 2**63 - 1, 2**63, 2**64,
        -(2**63), 10**30, 0.5, 1.5, -1.0, 3.0, 1e-300, 1e308, -1e308, float("nan"), float("inf"),
        float("-inf"), "", "x", "0", "a b", "None", "a\0b", "\ud800", [], [None], [0], [-1],
        [1, 2, 3], ["a"], [[]], {}, {"a": 1},
    )
} | {"a long string": "ab" * 5000, "a deep list": _DEEP, "a long list": [0] * 10_000}  # fmt: skip
# Names that have a meaning somewhere in a format.
CHOICES = (
    "spectral", "em", "spectral+em", "pivot", "tensor", "gradient", "anchors", "operators",
    "parameters", "bag", "list", "flat", "distance", "both", "first", "second", "left", "right",
    "stream", "line", "document", "whitespace", "simple", "matrix", "mean", "vote", "shape",
    "factor", "bio", "bilou", "crf", "perceptron", "viterbi", "mbr", "max-rule", "tree", "sequence",
    "linear", "polynomial", "sum", "normalized", "baseline", "agglomerative", "kmeans", "whole",
    "cut", "characters", "vector", "state", "eigentokens", "os.system",
)  # fmt: skip
STRINGS = {
    repr(text): text
    for text in ("", " ", "a b", "\n", "\0", "é", "<rare>", "<s>", "null", "[]", "{}", "NaN", "1")
} | {"a long string": "x" * 100_000}


class Mutations:
    """All changes to one file, by number or by name."""

    def __init__(self, file: ModelFile, formats: list[str], seed: int = 0):
        self.file, self.seed = file, seed
        singles = [
            *_of_document(file, formats), *of_arrays(file), *_of_tables(file), *_of_container(file)
        ]  # fmt: skip
        self.by_name = {one.name: one for one in singles}
        self.singles = list(self.by_name.values())
        self._order = np.random.default_rng(seed).permutation(len(self.singles))

    def __getitem__(self, number: int) -> list[Mutation]:
        """One change, or several if the number is beyond those of single changes."""
        if number < len(self.singles):
            return [self.singles[self._order[number]]]
        rng = np.random.default_rng([self.seed, number])
        some = rng.integers(len(self.singles), size=rng.integers(2, 4))
        found = [self.singles[place] for place in some]
        if rng.random() < 0.5:  # noise in one array, and perhaps one change
            names = [name for name, array in self.file.arrays.items() if array.size]
            name = names[rng.integers(len(names))]
            more = noise(name, f"noise {number}", int(2 ** rng.integers(0, 6)))
            found = [*found[: rng.integers(0, 2)], more]
        return found

    def named(self, name: str) -> list[Mutation]:
        """The changes that :func:`described` names, except noise."""
        return [self.by_name[one] for one in name.split(" & ")]

    def bytes_of(self, mutations: list[Mutation]) -> bytes:
        """The changed file; a change is skipped if an earlier one removed its place."""
        file = self.file.copy()
        for mutation in mutations:
            rng = np.random.default_rng([self.seed, crc32(mutation.name.encode())])
            try:
                data = mutation.apply(file, rng)
            except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
                if len(mutations) == 1:
                    raise
                continue
            if data is not None:
                return data
        return file.to_bytes()


def described(mutations: list[Mutation]) -> str:
    """The names of changes."""
    return " & ".join(one.name for one in mutations)


# The document.


def _paths(value: Any, path: tuple = ()) -> Iterator[tuple]:
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*path, key))
    elif isinstance(value, list):
        n = len(value)
        for place in range(n) if n <= _LONG_LIST else (0, n // 2, n - 1):
            yield from _paths(value[place], (*path, place))


def _at(document: Any, path: tuple) -> Any:
    for key in path:
        document = document[key]
    return document


def _changes_of(value: Any, key: Any, formats: list[str]) -> dict[str, Any]:
    """Values that replace this one, by name."""
    others = dict(CONSTANTS)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        others |= {repr(x): x for x in (value + 1, value - 1, 2 * value, -value, float(value))}
    if isinstance(value, str):
        others |= {repr(x): x for x in (value + "x", value[:-1], value.upper(), *CHOICES)}
    if key == "format":
        others |= {repr(x): x for x in formats}
    if isinstance(value, list):
        others |= {
            "without the last": value[:-1],
            "without the first": value[1:],
            "the last twice": value + value[-1:],
            "reversed": value[::-1],
            "10,000 times": value * 10_000 if len(value) < 100 else [],
        }
    if isinstance(value, dict):
        others |= {"an extra key": {**value, "extra": 1, "self": 2, "__class__": "x"}}
    others |= {"in a list": [value], "in a dict": {"a": value}}
    if not isinstance(value, str):
        others["as a string"] = json.dumps(value)
    return {name: one for name, one in others.items() if repr(one) != repr(value)}


def _of_document(file: ModelFile, formats: list[str]) -> Iterator[Mutation]:
    for path in _paths(file.document):
        target = "about " + ".".join(map(str, path))
        for name, value in _changes_of(_at(file.document, path), path[-1], formats).items():

            def put(file: ModelFile, rng: Any, path: tuple = path, value: Any = value) -> None:
                _at(file.document, path[:-1])[path[-1]] = value

            yield Mutation(target, f"= {name}", put)

        def drop(file: ModelFile, rng: Any, path: tuple = path) -> None:
            del _at(file.document, path[:-1])[path[-1]]

        yield Mutation(target, "missing", drop)


# Tables of strings.


def _of_tables(file: ModelFile) -> Iterator[Mutation]:
    tables = file.tables()
    for name in tables:
        target = f"table {name}"

        def change(text: str, make: Callable, name: str = name, target: str = target) -> Mutation:
            def put(file: ModelFile, rng: Any) -> None:
                file.set_table(name, make(file.table(name), rng))

            return Mutation(target, text, put)

        yield change("empty", lambda t, rng: [])
        yield change("one more", lambda t, rng: [*t, "more"])
        if not (strings := file.table(name)):
            continue
        yield change("without the last", lambda t, rng: t[:-1])
        yield change("without the first", lambda t, rng: t[1:])
        yield change("only the first", lambda t, rng: t[:1])
        yield change("the first twice", lambda t, rng: [t[0], t[0], *t[2:]])
        yield change("all the first", lambda t, rng: t[:1] * len(t))
        yield change("reversed", lambda t, rng: t[::-1])
        yield change("sorted", lambda t, rng: sorted(t))
        yield change("upper case", lambda t, rng: [text.upper() for text in t])
        yield change("all empty", lambda t, rng: [""] * len(t))
        yield change("twice", lambda t, rng: t + t)
        for text, string in STRINGS.items():
            yield change(f"the first = {text}", lambda t, rng, s=string: [s, *t[1:]])
            yield change(f"the last = {text}", lambda t, rng, s=string: [*t[:-1], s])
        for other in tables:
            if other != name:

                def take(file: ModelFile, rng: Any, a: str = name, b: str = other) -> None:
                    file.set_table(a, file.table(b))

                yield Mutation(target, f"replaced by {other}", take)
        yield from _of_json(name, strings)


def _of_json(name: str, strings: list[str]) -> Iterator[Mutation]:
    """Changes inside the first and the last string of a table, if they are JSON."""
    for place in sorted({0, len(strings) - 1}):
        try:
            data = json.loads(strings[place])
        except ValueError:
            return
        for path in _paths([data]):
            for text, value in _changes_of(_at([data], path), None, []).items():

                def put(
                    file: ModelFile,
                    rng: Any,
                    place: int = place,
                    path: tuple = path,
                    x: Any = value,
                ) -> None:
                    strings = file.table(name)
                    data = [json.loads(strings[place])]
                    _at(data, path[:-1])[path[-1]] = x
                    strings[place] = json.dumps(data[0])
                    file.set_table(name, strings)

                target = ".".join(map(str, (f"table {name}", place, *path[1:])))
                yield Mutation(target, f"= {text}", put)


# The container.


def _of_container(file: ModelFile) -> Iterator[Mutation]:
    def raw(text: str, make: Callable[[bytes, Any], bytes]) -> Mutation:
        return Mutation("container", text, lambda file, rng: make(file.to_bytes(), rng))

    for n in (0, 1, 7, 8, 9, 100):
        yield raw(f"the first {n} bytes", lambda b, rng, n=n: b[:n])
    for n in (1, 8, 100):
        yield raw(f"without the last {n} bytes", lambda b, rng, n=n: b[:-n])
    for n in (0, 1, 2**31, 2**40, 2**63, 2**64 - 1, 100 << 20):
        yield raw(f"header of {n} bytes", lambda b, rng, n=n: struct.pack("<Q", n) + b[8:])
    yield raw("a trailing byte", lambda b, rng: b + b"\0")
    yield raw("header of other text", lambda b, rng: b[:8] + b"{" * (len(b) - 8))
    yield raw("a deep header", lambda b, rng: struct.pack("<Q", 10**5) + b'{"a":' * 20_000)
    for k in range(20):

        def byte(b: bytes, rng: Any) -> bytes:
            size = struct.unpack("<Q", b[:8])[0]
            place = 8 + int(rng.integers(size))
            return b[:place] + bytes([int(rng.integers(32, 127))]) + b[place + 1 :]

        yield raw(f"a byte of the header, {k}", byte)
        yield raw(f"cut at random, {k}", lambda b, rng: b[: rng.integers(len(b))])

    for value in CONSTANTS:

        def whole(file: ModelFile, rng: Any, value: Any = CONSTANTS[value]) -> bytes:
            header, parts = file.header()
            header["__metadata__"] = {KEY: json.dumps(value)}
            return packed(header, parts)

        yield Mutation("container document", f"= {value}", whole)
    for name in list(file.arrays)[:3]:
        entry = file.header()[0][name]
        for path in _paths(entry):
            for text, value in _changes_of(_at(entry, path), None, []).items():
                if "\\ud800" in text:  # a header is UTF-8
                    continue

                def put(
                    file: ModelFile, rng: Any, name: str = name, path: tuple = path, x: Any = value
                ) -> bytes:
                    header, parts = file.header()
                    _at(header[name], path[:-1])[path[-1]] = x
                    return packed(header, parts)

                target = ".".join(map(str, (f"container {name}", *path)))
                yield Mutation(target, f"= {text}", put)
