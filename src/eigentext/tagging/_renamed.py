"""Old names of arguments, which still work with a DeprecationWarning."""

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from eigentext.errors import ParameterError

_Method = TypeVar("_Method", bound=Callable[..., Any])


def takes_old_names(**new_names: str) -> Callable[[_Method], _Method]:
    """Let a method take old names of its arguments too: ``takes_old_names(old="new")``."""

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def renaming(self: Any, *arguments: Any, **given: Any) -> Any:
            return method(self, *arguments, **current_names(new_names, given))

        return renaming  # type: ignore[return-value]

    return decorate


def current_names(new_names: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given arguments by their present names, and warn of each old name."""
    current: dict[str, Any] = {}
    for name, value in given.items():
        new = new_names.get(name, name)
        if new != name:
            message = f"the argument {name!r} is called {new!r} now; give {new}=…"
            warnings.warn(message, DeprecationWarning, stacklevel=3)
        if new in current:
            raise ParameterError(f"{new} is given twice, once as {name!r}; give it once")
        current[new] = value
    return current
