r"""How probable a tag is after the two before it: deleted interpolation.

.. math:: p(w \mid u, v) = \lambda_1 \hat p(w) + \lambda_2 \hat p(w|v) + \lambda_3 \hat p(w|u, v)

The weights are those of Brants (2000, figure 1): every trigram, taken out of the counts, votes as
often as it was seen for the order that predicts it best. (Each weight begins with one vote, so
that nothing is impossible on little data.) The tag past the last, S, stands for the start of a
sentence, twice, and for its end.
"""

import numpy as np


def deleted_interpolation(grams: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The weights of each order, the lowest first, from distinct n-grams and their counts.

    Examples
    --------
    >>> deleted_interpolation(np.array([[0, 1], [1, 0], [1, 1]]), np.array([5, 4, 1])).round(2)
    array([0.17, 0.83])
    """
    order = grams.shape[1]
    total = counts.sum()
    share = np.empty((len(grams), order))
    for n in range(order):  # of the last tag, after the n before it
        context = _sums(grams[:, order - 1 - n : -1], counts) if n else np.full(len(grams), total)
        seen = _sums(grams[:, order - 1 - n :], counts)
        share[:, n] = np.where(context > 1, (seen - 1) / np.maximum(context - 1, 1), 0.0)
    best = share.argmax(axis=1)  # of equals the lower order
    votes = 1.0 + np.bincount(best, counts, order)
    return votes / votes.sum()


def transition_scores(
    grams: np.ndarray, counts: np.ndarray, weights: np.ndarray, forbidden: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of transitions, as ``rows[pair[u, v], w]``.

    Row v < S + 1 is that of v alone, also for pairs never seen; more rows are those of pairs.
    ``forbidden[v, w]`` never follow each other.
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
    # After the end comes the end, where the search wants one: see `second_order`.
    pair[:-1, -1] = len(table)
    table = np.concatenate([_shares(table), np.eye(m)[-1:]])
    with np.errstate(divide="ignore"):
        return pair.astype(np.int32), np.log(table)


def _sums(grams: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The count of each row among all rows that are equal to it."""
    which = np.unique(grams, axis=0, return_inverse=True)[1].ravel()
    return np.bincount(which, counts)[which]


def _shares(rows: np.ndarray) -> np.ndarray:
    """Rows over their sums; of nothing, nothing."""
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
