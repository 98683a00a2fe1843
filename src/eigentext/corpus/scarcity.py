"""Too little text: findings that models of words, of sequences and of tags share.

The share of tokens whose word occurs once estimates the share of unknown words in other text of the
same kind (Good 1953). It is 0.02 in the Brown corpus, 0.05 in CoNLL-2000, 0.07 in the sample of the
Penn Treebank, and 0.17 in the tweets of WNUT-17. It exceeds `MANY_ONCE` in texts of less than about
5,000 tokens, and in texts that are lists of names.
"""

from collections.abc import Iterator

import numpy as np

from eigentext.estimators import Finding

MANY_ONCE = 0.2  # of the tokens; see above


def once_findings(
    counts: np.ndarray, n_tokens: int, remedy: str = "Give more text."
) -> Iterator[Finding]:
    """Say so if most words of a text occur once.

    Parameters
    ----------
    counts
        How often each word occurs. Without the rare words, nothing is known about them.
    n_tokens
        The tokens of the text.
    remedy
        What to do.

    Examples
    --------
    >>> next(once_findings(np.array([2, 1, 1]), 4)).sentence  # doctest: +NORMALIZE_WHITESPACE
    'Most words of the training text (2 of 3) occur only once, so about 50% of the tokens of other
    text will be unknown.'
    """
    n_once = int((counts == 1).sum())
    yield from once_findings_of(n_once, len(counts), n_tokens, remedy)


def once_findings_of(
    n_once: int, n_words: int, n_tokens: int, remedy: str = "Give more text."
) -> Iterator[Finding]:
    """Do the same as :func:`once_findings`, by the number of words that occur once."""
    if n_tokens and 2 * n_once > n_words and n_once > MANY_ONCE * n_tokens:
        yield Finding(
            "warning",
            f"Most words of the training text ({n_once:,} of {n_words:,}) occur only once, so "
            f"about {n_once / n_tokens:.0%} of the tokens of other text will be unknown.",
            remedy,
        )


def state_findings(n_states: int, n_symbols: int) -> Iterator[Finding]:
    """Say so if a model has more hidden states than its text has different symbols."""
    if n_states > n_symbols:
        noun = "word" if n_symbols == 1 else "words"
        yield Finding(
            "warning",
            f"The model has {n_states:,} states for {n_symbols:,} different {noun}, more than the "
            "words can tell apart.",
            f"Lower n_states (--states) to {n_symbols:,} or less, or give more text.",
        )
