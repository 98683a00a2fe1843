"""Checks of the arguments of this room, with the same words in every function."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.errors import ParameterError
from eigentext.parameters import Count, Number, Seed, argument
from eigentext.storage.maps import is_mapped

_ROWS = 4096
_LARGEST = 1e100  # sums of some thousand squares of it are still in the range of doubles
_SEED = Seed(0)
_GENERATORS = (np.random.Generator, np.random.SeedSequence, np.random.BitGenerator)


def matrix(A: Any, name: str = "A") -> Any:
    """A matrix of finite numbers. Lists become an array; operators stay as they are."""
    if sp.issparse(A):
        A = A.tocsr()
        numbers = A.data
    elif hasattr(A, "__array__") or not hasattr(A, "shape"):
        A = numbers = numeric(A, name)
    else:
        return A
    if A.ndim != 2:
        raise ParameterError(f"{name} must have rows and columns, not the shape {A.shape}")
    if 0 in A.shape:
        raise ParameterError(f"{name} must have some rows and columns, not the shape {A.shape}")
    if not is_mapped(numbers):  # matrices on disk were made here
        check_finite(numbers, name)
    return A


def numeric(A: Any, name: str) -> np.ndarray:
    """An array of real numbers."""
    try:
        array = np.asarray(A)
    except ValueError as error:
        raise ParameterError(f"{name} must be an array of numbers: {error}") from error
    if array.dtype.kind not in "biuf":
        raise ParameterError(
            f"{name} must be real numbers, not {array.dtype} of shape {array.shape}"
        )
    return array


def check_finite(numbers: np.ndarray, name: str) -> None:
    """Raise a ParameterError if a number is not finite."""
    if numbers.dtype.kind == "f":
        for start in range(0, len(numbers), _ROWS if numbers.ndim > 1 else _ROWS << 8):
            part = numbers[start : start + (_ROWS if numbers.ndim > 1 else _ROWS << 8)]
            if not np.isfinite(part).all():
                raise ParameterError(f"{name} has numbers that are not finite")


def check_scale(numbers: np.ndarray, name: str) -> None:
    """Raise a ParameterError if the squares of finite numbers leave the range of doubles.

    Then every rank would be wrong, without a sign of it.
    """
    largest = float(np.abs(numbers).max(initial=0))
    if largest and not 1 / _LARGEST <= largest <= _LARGEST:
        raise ParameterError(
            f"the largest number in {name} is {largest:.1g}, and sums of squares are beyond "
            f"floating point; divide {name} by it"
        )


def whole(name: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """A whole number within limits."""
    return argument(name, Count(least, least=least, most=most), value)


def number(name: str, value: Any, **limits: float) -> float:
    """A finite number within limits."""
    return argument(name, Number(0.0, **limits), value)  # type: ignore[arg-type]


def seed(random_state: Any) -> Any:
    """A seed or generator that NumPy accepts."""
    if random_state is None or isinstance(random_state, _GENERATORS):
        return random_state
    return argument("random_state", _SEED, random_state)
