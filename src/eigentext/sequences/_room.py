"""Whether large tables fit in memory, asked before they are made."""

import os

from eigentext.errors import ParameterError


def check_room(n_bytes: float, what: str, remedy: str) -> None:
    """Raise a ParameterError if `what` takes more memory than this machine has.

    Examples
    --------
    >>> check_room(1e18, "a table of all pairs", "take fewer states")
    Traceback (most recent call last):
    eigentext.errors.ParameterError: a table of all pairs needs about 1e+09 GB of memory, ...
    """
    total = _memory()
    if n_bytes > total:
        raise ParameterError(
            f"{what} needs about {n_bytes / 1e9:,.3g} GB of memory, and this machine has "
            f"{total / 1e9:,.3g} GB; {remedy}"
        )


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return float("inf")
