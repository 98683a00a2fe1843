"""Names of a package that load when somebody first uses them."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, which imports a name from its home.

    Parameters
    ----------
    package : str
        The package.
    homes : mapping of str
        The module of each name, relative to the package.

    Examples
    --------
    >>> lazily("eigentext", {"EigentextError": "errors"})("EigentextError").__name__
    'EigentextError'
    """

    def load(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
