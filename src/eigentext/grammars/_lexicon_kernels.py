"""Scores of words in the few states that are asked for."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def word_scores(
    word, kind, position, state, offsets, states, values, counts, classes, unseen, tags, in_tag,
    beta, gamma, totals,
):  # fmt: skip
    """The q of token ``position[e]`` in ``state[e]``, for each e.

    Equivalent to ``WordStates(tokens)[position, state]``; `word` is the number of each token, -1
    for an unseen one, and `kind` its class. The entries of a token should lie side by side.
    """
    seen, by_tag = np.zeros(len(tags)), np.zeros(tags.max() + 1)
    result = np.empty(len(position))
    last = -1
    for e in range(len(position)):
        i, s = position[e], state[e]
        x, k = word[i], kind[i]
        if i != last:
            if last >= 0 and word[last] >= 0:
                for at in range(offsets[word[last]], offsets[word[last] + 1]):
                    seen[states[at]] = 0.0
                    by_tag[tags[states[at]]] = 0.0
            if x >= 0:
                for at in range(offsets[x], offsets[x + 1]):
                    seen[states[at]] = values[at]
                    by_tag[tags[states[at]]] += values[at] / counts[x]
            last = i
        if x >= 0:
            smoothed = seen[s] + gamma * by_tag[tags[s]] * in_tag[s] + beta * classes[k, s]
        else:
            smoothed = unseen[k] * classes[k, s]
        result[e] = smoothed / totals[s]
    return result
