r"""Spelling as a source of knowledge about rare words.

The contexts of a word that occurs once say little about it. Its capitals, digits and last letters
say more. :func:`spelling_features` lists them. :func:`with_spelling` predicts the vector of a word
from them by ridge regression over all words, and mixes both:

.. math:: v_x \leftarrow \frac{n_x v_x + k\,u_x}{n_x + k}, \qquad u_x = W^\top f_x,

where :math:`n_x` is the number of tokens of x. So spelling counts like k tokens.
"""

import numpy as np
import scipy.sparse as sp

from eigentext.matrices.runs import CSR

_ENDINGS = (1, 2, 3)  # the numbers of last letters
_LEAST = 5  # the words that a feature needs
_MOST = 4000  # features
_HEAVIEST = 50  # a word with more tokens counts like one with so many in the regression
_RIDGE = 5.0


def traits(word: str) -> list[str]:
    """Return the features of the spelling of a word.

    Examples
    --------
    >>> traits("Re-opened")
    ['capital', 'hyphen', '-d', '-ed', '-ned']
    >>> traits("1990"), traits("%")
    (['digit', '-0', '-90'], ['punctuation'])
    """
    found = []
    if word[:1].isupper():
        found.append("capital")
    if len(word) > 1 and word.isupper():
        found.append("capitals")
    if any(letter.isdigit() for letter in word):
        found.append("digit")
    if "-" in word:
        found.append("hyphen")
    if not any(letter.isalnum() for letter in word):
        found.append("punctuation")
    small = word.lower()
    return found + [f"-{small[-k:]}" for k in _ENDINGS if len(small) > k + 1]


def spelling_features(words: list[str], n: int | None = None) -> CSR:
    """Return a row of zeros and ones for each word, and rows of zeros up to the row n.

    Features of fewer than five words are left out.
    """
    names: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, word in enumerate(words):
        for name in traits(word):
            rows.append(row)
            columns.append(names.setdefault(name, len(names)))
    shape = (len(words) if n is None else n, len(names))
    F = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape)
    size = np.asarray(F.sum(axis=0))
    kept = np.argsort(-size, kind="stable")[:_MOST]
    return sp.csr_array(F[:, np.sort(kept[size[kept] >= _LEAST])])


def with_spelling(
    points: np.ndarray, counts: np.ndarray, features: CSR, strength: float
) -> np.ndarray:
    """Mix the vectors of words with those that their spelling predicts, which count as tokens."""
    if strength == 0:
        return points
    n = len(points)
    F = sp.csr_array(sp.hstack([np.ones((n, 1)), features]))
    weights = np.minimum(counts, _HEAVIEST).astype(np.float64)
    A = (F.T @ sp.diags_array(weights) @ F).toarray()
    A[np.diag_indices(len(A))] += _RIDGE
    predicted = F @ np.linalg.solve(A, F.T @ (weights[:, None] * points))
    share = (counts / (counts + strength))[:, None]
    return share * points + (1 - share) * predicted
