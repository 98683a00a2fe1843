"""Old names of parameters: they still work, with a warning that gives the new name."""

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from eigentext.errors import ParameterError
from eigentext.parameters import Table

_Init = TypeVar("_Init", bound=Callable[..., None])


def takes_old_names(table: Table) -> Callable[[_Init], _Init]:
    """Let an ``__init__`` also take old names. Its signature has only the new ones."""

    def decorate(init: _Init) -> _Init:
        @wraps(init)
        def renaming(self: Any, *arguments: Any, **given: Any) -> None:
            init(self, *arguments, **current_names(table, given))

        return renaming  # type: ignore[return-value]

    return decorate


def current_names(table: Table, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters by their new names, with a DeprecationWarning for each old one."""
    current: dict[str, Any] = {}
    for name, value in given.items():
        new = table.renamed.get(name, name)
        if new != name:
            warnings.warn(
                f"{table.owner}: the parameter {name!r} is called {new!r} now; "
                f"give {new}={value!r:.40}",
                DeprecationWarning,
                stacklevel=3,
            )
        if new in current:
            raise ParameterError(f"{new} is given twice, once as {name!r}; give it once")
        current[new] = value
    return current
