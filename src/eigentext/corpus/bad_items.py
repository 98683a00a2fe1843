"""Bad items of a file: stop at the first one, or skip them, count them and name the first few.

Readers with ``errors="skip"`` (``--skip-bad``) use this. An item is a tree, a sentence or a line.
More than a tenth of bad items is not a few mistakes but another format, so that is an error.
"""

import warnings
from typing import Literal

from eigentext.errors import BadItemsWarning, CorpusError, ParameterError

Errors = Literal["raise", "skip"]
MOST = 0.1  # the share of bad items above which nothing is read
_NAMED = 3


def checked_errors(errors: str) -> bool:
    """Whether to skip bad items; raises ParameterError if it is neither "raise" nor "skip"."""
    if errors not in ("raise", "skip"):
        raise ParameterError(f"errors must be 'raise' or 'skip', not {errors!r}")
    return errors == "skip"


class BadItems:
    """The bad items that one reader meets.

    Parameters
    ----------
    errors : "raise" or "skip"
        "raise" raises the error of the first bad item.
    what : str
        What an item is called, in the plural: "trees".

    Attributes
    ----------
    skips : bool
        Whether bad items are skipped.
    n_bad : int

    Examples
    --------
    >>> bad = BadItems("skip", "trees")
    >>> bad.skip(CorpusError("a.mrg, line 3: brackets do not match"))
    >>> bad.n_bad
    1
    """

    def __init__(self, errors: str, what: str):
        self.skips = checked_errors(errors)
        self._what = what
        self._first: list[str] = []
        self.n_bad = 0

    def skip(self, error: CorpusError) -> None:
        """Count a bad item by the error that it causes, or raise this error."""
        if not self.skips:
            raise error
        self.n_bad += 1
        if len(self._first) < _NAMED:
            self._first.append(str(error))

    def report(self, n_good: int, *, stacklevel: int = 3) -> None:
        """Warn about what was skipped, once everything was read.

        Raises CorpusError if more than a tenth of all items was bad.
        """
        if not self.n_bad:
            return
        n_items = self.n_bad + n_good
        more = self.n_bad - len(self._first)
        named = "; ".join(self._first) + (f"; and {more} more" if more else "")
        if self.n_bad > MOST * n_items:
            raise CorpusError(
                f"{self.n_bad} of {n_items} {self._what} are bad, more than a tenth, so nothing "
                f"was read; is it another format? {named}"
            )
        warnings.warn(
            f"skipped {self.n_bad} of {n_items} {self._what}: {named}",
            BadItemsWarning,
            stacklevel=stacklevel,
        )
