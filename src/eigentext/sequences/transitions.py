r"""The transitions p(w|u, v) of a tagger from two tags to the next: deleted interpolation.

.. math:: p(w \mid u, v) = \lambda_1 \hat p(w) + \lambda_2 \hat p(w|v) + \lambda_3 \hat p(w|u, v)

The weights are those of Brants (2000, figure 1). Each occurrence of a trigram votes for the order
that predicts it best when this occurrence is removed from the counts. Each weight begins with one
vote, so that nothing is impossible with little data. The tag S, one past the last, stands twice
before each sentence and once after it.
"""

import numpy as np


def deleted_interpolation(grams: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the weight of each order, the lowest first, from distinct n-grams and their counts.

    Examples
    --------
    >>> deleted_interpolation(np.array([[0, 1], [1, 0], [1, 1]]), np.array([5, 4, 1])).round(2)
    array([0.17, 0.83])
    """
    order = grams.shape[1]
    total = counts.sum()
    share = np.empty((len(grams), order))
    for n in range(order):  # the share of the last tag, given the n tags before it
        context = _sums(grams[:, order - 1 - n : -1], counts) if n else np.full(len(grams), total)
        seen = _sums(grams[:, order - 1 - n :], counts)
        share[:, n] = np.where(context > 1, (seen - 1) / np.maximum(context - 1, 1), 0.0)
    best = share.argmax(axis=1)  # among equals, the lower order
    votes = 1.0 + np.bincount(best, counts, order)
    return votes / votes.sum()


def transition_scores(
    grams: np.ndarray, counts: np.ndarray, weights: np.ndarray, forbidden: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return `pair` and `rows`, with log p(w|u, v) in ``rows[pair[u, v], w]``.

    Row v < S + 1 belongs to v alone. Pairs that never occurred use it. The other rows belong to
    pairs. If ``forbidden[v, w]``, w never follows v.
    """
    m, order = len(forbidden), grams.shape[1]
    last, before = grams[:, -1], grams[:, -2]
    unigrams = np.bincount(last, counts, m)
    bigrams = np.zeros((m, m))
    np.add.at(bigrams, (before, last), counts)
    lower = weights[0] * unigrams / unigrams.sum() + weights[1] * _shares(bigrams)
    pair = np.broadcast_to(np.arange(m), (m, m)).copy()
    rows, ends_in = [lower], [np.arange(m)]
    if order == 3:
        seen, which = np.unique(grams[:, 0] * m + before, return_inverse=True)
        trigrams = np.zeros((len(seen), m))
        np.add.at(trigrams, (which, last), counts)
        rows.append(lower[seen % m] + weights[2] * _shares(trigrams))
        ends_in.append(seen % m)
        pair[seen // m, seen % m] = m + np.arange(len(seen))
    table = np.concatenate(rows)
    table[forbidden[np.concatenate(ends_in)]] = 0.0
    # The search goes on after the end: the end follows itself. See `second_order_paths`.
    pair[:-1, -1] = len(table)
    table = np.concatenate([_shares(table), np.eye(m)[-1:]])
    with np.errstate(divide="ignore"):
        return pair.astype(np.int32), np.log(table)


def _sums(grams: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """For each row, the sum of the counts of all rows that are equal to it."""
    which = np.unique(grams, axis=0, return_inverse=True)[1].ravel()
    return np.bincount(which, counts)[which]


def _shares(rows: np.ndarray) -> np.ndarray:
    """The rows divided by their sums. A row of zeros stays as it is."""
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
