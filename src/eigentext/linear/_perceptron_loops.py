"""One pass of the perceptron over lists of sparse candidates."""

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def perceptron_epoch(
    indptr, indices, data, borders, gold, identity, W, S, step, examples, predicted
):
    """Equivalent, with ``X = csr(data, indices, indptr)``, to

    ``for i: z = borders[i] + argmax((X @ W)[borders[i]:borders[i + 1]])``,
    ``if identity[z] != identity[gold[i]]: W += X[gold[i]] - X[z]``,
    ``S += (step + i) * (X[gold[i]] - X[z])``.

    Write i and z of each mistake to `examples` and `predicted`; return the number of mistakes.
    """
    n_mistakes = 0
    for i in range(len(gold)):
        best, z = 0.0, -1
        for candidate in range(borders[i], borders[i + 1]):
            score = 0.0
            for e in range(indptr[candidate], indptr[candidate + 1]):
                score += data[e] * W[indices[e]]
            if z < 0 or score > best:  # of equal scores, the first wins
                best, z = score, candidate
        y = gold[i]
        if identity[z] == identity[y]:
            continue
        for e in range(indptr[y], indptr[y + 1]):
            W[indices[e]] += data[e]
            S[indices[e]] += (step + i) * data[e]
        for e in range(indptr[z], indptr[z + 1]):
            W[indices[e]] -= data[e]
            S[indices[e]] -= (step + i) * data[e]
        examples[n_mistakes] = i
        predicted[n_mistakes] = z
        n_mistakes += 1
    return n_mistakes
