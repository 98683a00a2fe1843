"""Values that are made when somebody first reads them: counts in a file, or on Dask workers."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
Class = TypeVar("Class", bound=type)


class Later(Generic[Value]):
    """A value to be made by ``make(*arguments)`` when it is needed.

    `make` is a function of a module, so that whatever holds this can be pickled.
    """

    def __init__(self, make: Callable[..., Value], *arguments: Any):
        self.make, self.arguments = make, arguments


def lazy(name: str) -> Callable[[Class], Class]:
    """Let an attribute of a class be set to a :class:`Later`.

    The first reading makes the value, which then replaces the `Later`. If two threads read at the
    same time, both may make it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @lazy("numbers")
    ... @dataclass
    ... class Holder:
    ...     numbers: list[int]
    >>> holder = Holder(Later(list, range(3)))
    >>> waiting(holder, "numbers") is None, holder.numbers, waiting(holder, "numbers") is None
    (False, [0, 1, 2], True)
    """

    def decorate(cls: Class) -> Class:
        setattr(cls, name, _Lazy(name))
        return cls

    return decorate


def waiting(holder: Any, name: str) -> Later[Any] | None:
    """What a lazy attribute will be made from, if nobody has read it yet."""
    found = vars(holder).get(name)
    return found if isinstance(found, Later) else None


class _Lazy:
    """The descriptor behind :func:`lazy`; the value or its `Later` is in the holder's ``vars``."""

    def __init__(self, name: str):
        self._name = name

    def __get__(self, holder: Any, owner: Any = None) -> Any:
        if holder is None:
            return self
        if self._name not in vars(holder):
            raise AttributeError(f"{type(holder).__name__!r} object has no {self._name!r} yet")
        found = vars(holder)[self._name]
        if isinstance(found, Later):
            found = vars(holder)[self._name] = found.make(*found.arguments)
        return found

    def __set__(self, holder: Any, value: Any) -> None:
        vars(holder)[self._name] = value
