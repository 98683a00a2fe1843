"""Changes to the arrays of a model file: other types, shapes, values and orders."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from _fuzz_file import DTYPES, ModelFile, Mutation

NUMBERS = (
    -1, 0, 1, 2, 100, 255, 10**6, 2**31 - 1, 2**31, 2**32, 2**40, 2**40 + 10**6, -(2**40),
    2**63 - 1, -(2**63), 0.5, -0.5, 1.5, 1e30, -1e30, 1e308, -1e308, 5e-324, float("nan"),
    float("inf"), float("-inf"),
)  # fmt: skip


def _fits(number: float, dtype: np.dtype) -> bool:
    if dtype.kind == "f":
        return True
    if dtype.kind == "b":
        return number in (0, 1)
    return number == number and number % 1 == 0 and _in_range(number, np.iinfo(dtype))


def _in_range(number: float, info: Any) -> bool:
    return info.min <= number <= info.max


def _filled(array: np.ndarray, place: str, number: Any, rng: Any) -> np.ndarray:
    array = array.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        match place:
            case "all":
                array[...] = number
            case "first":
                array.flat[0] = number
            case "last":
                array.flat[array.size - 1] = number
            case _:
                array.flat[rng.integers(array.size)] = number
    return array


def _cast(array: np.ndarray, dtype: Any) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype)


def _shapes(array: np.ndarray) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Functions that give a nonempty array another shape, by name."""
    found: dict[str, Callable] = {
        "0-d": lambda a: a.reshape(-1)[0].reshape(()),
        "ravelled": lambda a: a.reshape(-1),
        "in one row": lambda a: a[None],
        "with a last axis": lambda a: a[..., None],
        "one entry": lambda a: a.reshape(-1)[:1],
        "no entry": lambda a: a.reshape(-1)[:0],
    }
    if array.ndim:
        found |= {
            "one row": lambda a: a[:1],
            "no row": lambda a: a[:0],
            "without the last row": lambda a: a[:-1],
            "without the first row": lambda a: a[1:],
            "the last row twice": lambda a: np.concatenate([a, a[-1:]]),
            "twice": lambda a: np.concatenate([a, a]),
            "1000 times": lambda a: np.concatenate([a] * 1000) if a.size < 10_000 else a,
        }
    if array.ndim > 1:
        found |= {
            "transposed": lambda a: a.T,
            "the shape transposed": lambda a: a.reshape(a.shape[::-1]),
            "without the last column": lambda a: a[..., :-1],
            "the last column twice": lambda a: np.concatenate([a, a[..., -1:]], -1),
            "no column": lambda a: a[..., :0],
        }
    return found


def _values(array: np.ndarray) -> dict[str, Callable[[np.ndarray, Any], np.ndarray]]:
    """Functions that give a nonempty array other values, by name."""
    dtype, found = array.dtype, {}
    top = array.max() if dtype.kind in "iu" else 0
    numbers = [*NUMBERS, *((int(top) + 1, array.size) if dtype.kind in "iu" else ())]
    for place in ("all", "first", "last", "one"):
        for number in numbers:
            if _fits(number, dtype):
                name = f"{place} = {number}"
                found[name] = lambda a, rng, p=place, x=number: _filled(a, p, x, rng)
            if dtype.kind in "iu" and number in (2**40, -(2**40)) and dtype.itemsize < 8:
                found[f"as int64, {place} = {number}"] = lambda a, rng, p=place, x=number: _filled(
                    a.astype("<i8"), p, x, rng
                )
    if dtype.kind != "b":
        by_one = dtype.type(1)
        found |= {
            "negated": lambda a, rng: -a if a.dtype.kind != "u" else ~a,
            "all + 1": lambda a, rng: a + by_one,
            "all - 1": lambda a, rng: a - by_one,
            "doubled": lambda a, rng: a + a,
        }
        if dtype.kind == "f":
            found["times 1e10"] = lambda a, rng: _cast(a * 1e10, a.dtype)
    found |= {
        "reversed": lambda a, rng: a.reshape(-1)[::-1].reshape(a.shape),
        "sorted": lambda a, rng: np.sort(a.reshape(-1)).reshape(a.shape),
        "shuffled": lambda a, rng: rng.permutation(a.reshape(-1)).reshape(a.shape),
        "rolled": lambda a, rng: np.roll(a.reshape(-1), 1).reshape(a.shape),
    }
    return found


def of_arrays(file: ModelFile) -> Iterator[Mutation]:
    names = list(file.arrays)
    for place, name in enumerate(names):
        array, target = file.arrays[name], f"array {name}"

        def change(text: str, make: Callable, name: str = name, target: str = target) -> Mutation:
            def put(file: ModelFile, rng: Any) -> None:
                with np.errstate(all="ignore"):
                    file.arrays[name] = make(file.arrays[name], rng)

            return Mutation(target, text, put)

        for dtype in DTYPES.values():
            if array.dtype != dtype:
                yield change(f"as {np.dtype(dtype)}", lambda a, rng, d=dtype: _cast(a, d))
                if array.nbytes and array.nbytes % np.dtype(dtype).itemsize == 0 and dtype != "?":
                    yield change(
                        f"the bytes as {np.dtype(dtype)}",
                        lambda a, rng, d=dtype: np.frombuffer(a.tobytes(), d),
                    )
        if array.size:
            for text, shaped in _shapes(array).items():
                yield change(text, lambda a, rng, make=shaped: make(a))
            for text, valued in _values(array).items():
                yield change(text, valued)
            for n in (1, 2, 8, 64):
                yield noise(name, f"{n} bits flipped", n)
        else:
            yield change("one zero", lambda a, rng: np.zeros(1, a.dtype))
        for step in {1, 2, len(names) // 2, len(names) - 1} - {0, len(names)}:
            other = names[(place + step) % len(names)]

            def swap(file: ModelFile, rng: Any, a: str = name, b: str = other) -> None:
                file.arrays[a], file.arrays[b] = file.arrays[b], file.arrays[a]

            def replace(file: ModelFile, rng: Any, a: str = name, b: str = other) -> None:
                file.arrays[a] = file.arrays[b]

            if other != name:
                yield Mutation(target, f"swapped with {other}", swap)
                yield Mutation(target, f"replaced by {other}", replace)

        def drop(file: ModelFile, rng: Any, name: str = name) -> None:
            del file.arrays[name]

        def rename(file: ModelFile, rng: Any, name: str = name) -> None:
            file.arrays[f"{name}x"] = file.arrays.pop(name)

        yield Mutation(target, "missing", drop)
        yield Mutation(target, "renamed", rename)


def noise(name: str, change: str, n: int) -> Mutation:
    def flip(file: ModelFile, rng: Any) -> None:
        array = file.arrays[name]
        data = np.frombuffer(bytearray(array.tobytes()), np.uint8)
        places = rng.integers(0, len(data), n)
        np.bitwise_xor.at(data, places, (1 << rng.integers(0, 8, n)).astype(np.uint8))
        if array.dtype.kind == "b":
            data = data & 1
        file.arrays[name] = np.frombuffer(data.tobytes(), array.dtype).reshape(array.shape)

    return Mutation(f"array {name}", change, flip)
