"""The best answer to each analogy among a block of words, given cosines.

C[r, j] is the cosine of the r-th question word with the j-th word of the block; a question is three
rows (a, b, c), and `places` says which word a row is. Words of the question are no answers.

Few scores beat the best so far. Whether any of a run of them does is a question that the compiler
turns into vector instructions (unlike a maximum); only where one does, the run is walked.
"""

from eigentext.engine.compiled import njit

_RUN = 128


@njit(cache=True, nogil=True)
def best_by_mul(P, R, questions, places, start, scores, answers):
    """Equivalent to argmax over j of ``P[b, j] * P[c, j] * R[a, j]``, but for a, b, c themselves.

    `scores` and `answers` (start + j) are updated where that is more than what they hold.
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
    """Equivalent to argmax over j of ``C[b, j] - C[a, j] + C[c, j]``, else as `best_by_mul`."""
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
