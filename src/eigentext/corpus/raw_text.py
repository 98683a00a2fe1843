"""Warns if sentences that are given as lists of tokens look like raw text."""

import warnings

from eigentext.corpus.policy import TokenPolicy


class RawTextWarning(UserWarning):
    """Sentences that are given as tokens look like raw text."""


class RawCheck:
    """Warns if most sentences that were given as lists of tokens end as raw text does.

    Examples
    --------
    >>> from eigentext.corpus.policy import TokenPolicy
    >>> check = RawCheck(TokenPolicy.of({"vendrá": 1, ".": 9}))
    >>> check.see(["Hoy", "vendrá", "."])
    ['Hoy', 'vendrá', '.']
    >>> check.warn()
    """

    def __init__(self, policy: TokenPolicy):
        self._policy = policy
        self._n = self._n_raw = 0
        self._example = ""

    def see(self, tokens: list[str]) -> list[str]:
        """Count a sentence, and return it."""
        if tokens:
            self._n += 1
            if self._policy.ends_raw(tokens):
                self._n_raw += 1
                self._example = self._example or tokens[-1]
        return tokens

    def warn(self, stacklevel: int = 2) -> None:
        """Warn, if more than half of the sentences look like raw text."""
        if 2 * self._n_raw <= self._n:
            return
        which = (
            "the sentence ends in a word with a sign attached to it"
            if self._n == 1  # the same words for every sentence, so that Python shows them once
            else f"{self._n_raw:,} of {self._n:,} sentences end in a word with a sign attached to "
            f"it, such as {self._example!r:.40}"
        )
        warnings.warn(
            f"{which}, but the model learned such signs as tokens of their own: for raw text give "
            "strings instead of lists of tokens (on the command line, leave out --tokenized)",
            RawTextWarning,
            stacklevel=stacklevel + 1,
        )
