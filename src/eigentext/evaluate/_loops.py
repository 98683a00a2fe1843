"""The best answer to each analogy among a block of words, given cosines.

C[r, j] is the cosine of the r-th question word and the j-th word of the block. A question is three
rows (a, b, c), and `places` has the place of the word of each row. A word of the question cannot be
its answer.

Few scores are higher than the best one so far. The loops take the scores in runs of 128. They first
ask whether any score of a run is higher, because the compiler can use vector instructions for that
question (but not for a maximum). Only if one is higher do they look at the scores one by one.
"""

from eigentext.engine.compiled import njit

_RUN = 128


@njit(cache=True, nogil=True)
def best_by_mul(P, R, questions, places, start, scores, answers):
    """Equivalent to argmax over j of ``P[b, j] * P[c, j] * R[a, j]``, without a, b and c.

    The loop updates `scores` and `answers` (start + j) if the new score is higher.
    """
    width = P.shape[1]
    for q in range(questions.shape[0]):
        a, b, c = questions[q, 0], questions[q, 1], questions[q, 2]
        best = scores[q]
        for first in range(0, width, _RUN):
            end = min(first + _RUN, width)
            better = 0
            for j in range(first, end):
                better |= P[b, j] * P[c, j] * R[a, j] > best
            if not better:
                continue
            for j in range(first, end):
                score = P[b, j] * P[c, j] * R[a, j]
                x = start + j
                if score > best and x != places[a] and x != places[b] and x != places[c]:
                    best = score
                    answers[q] = x
        scores[q] = best


@njit(cache=True, nogil=True)
def best_by_add(C, questions, places, start, scores, answers):
    """Equivalent to argmax over j of ``C[b, j] - C[a, j] + C[c, j]``; see `best_by_mul`."""
    width = C.shape[1]
    for q in range(questions.shape[0]):
        a, b, c = questions[q, 0], questions[q, 1], questions[q, 2]
        best = scores[q]
        for first in range(0, width, _RUN):
            end = min(first + _RUN, width)
            better = 0
            for j in range(first, end):
                better |= C[b, j] - C[a, j] + C[c, j] > best
            if not better:
                continue
            for j in range(first, end):
                score = C[b, j] - C[a, j] + C[c, j]
                x = start + j
                if score > best and x != places[a] and x != places[b] and x != places[c]:
                    best = score
                    answers[q] = x
        scores[q] = best
