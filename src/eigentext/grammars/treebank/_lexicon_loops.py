"""Compiled loops of the lexicon: the scores of words in some states."""

import numpy as np

from eigentext.engine.compiled import njit


@njit(nogil=True, cache=True)
def word_scores(
    word, kind, position, state, offsets, states, values, classes, unseen, beta, totals,
    row, by_text, weight,
):  # fmt: skip
    """The q of token ``position[e]`` in ``state[e]``, for each e.

    Equivalent to ``WordStates(tokens)[position, state]``. `word` is the number of each token, -1
    for an unseen word, and `kind` its class. ``by_text[row[i]]`` takes the place of the row of its
    class, with its own weight, unless ``row[i]`` is -1. It is fastest if the entries of a token are
    contiguous.
    """
    seen = np.zeros(len(totals))
    result = np.empty(len(position))
    last = -1
    for e in range(len(position)):
        i, s = position[e], state[e]
        x, k = word[i], kind[i]
        if i != last:
            if last >= 0 and word[last] >= 0:
                for at in range(offsets[word[last]], offsets[word[last] + 1]):
                    seen[states[at]] = 0.0
            if x >= 0:
                for at in range(offsets[x], offsets[x + 1]):
                    seen[states[at]] = values[at]
            last = i
        if row[i] >= 0:
            other, times = by_text[row[i], s], weight
        else:
            other, times = classes[k, s], beta
        smoothed = seen[s] + times * other if x >= 0 else unseen[k] * other
        result[e] = smoothed / totals[s]
    return result
