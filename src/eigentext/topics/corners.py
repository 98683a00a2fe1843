"""Pairs of words as points, and the corners among them: the first steps of topics from anchors.

:mod:`eigentext.topics.anchors` has the theory.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext.errors import CorpusError, ParameterError
from eigentext.factor.anchors import anchors
from eigentext.factor.rectify import rectify as rectified
from eigentext.factor.whiten import Whitening, whiten
from eigentext.matrices.products import Factorable, rows_times, transposed_times
from eigentext.matrices.runs import CSR
from eigentext.moments.bags import BagMoments

_SHARE = 0.004  # an anchor must occur in this share of the documents,
_CHOICE = 10  # unless fewer than this times K words would remain
_DOUBT = 400  # the distance of a word in this many documents counts half
_ROUGH = 1e-2  # the residual of eigenvectors, which are noisier than that


class PairMoment(NamedTuple):
    """The matrix Q: its products with thin matrices, and its rows on demand."""

    times: Callable[[np.ndarray], np.ndarray]  # Q B, for a thin B
    rows: Callable[[int, int], CSR]  # the rows from one to another
    work: np.ndarray  # the work for all rows before each row, (d + 1,)
    frequencies: np.ndarray  # the number of documents with each word, (d,)
    n_documents: float

    @classmethod
    def of_bags(cls, bags: BagMoments) -> "PairMoment":
        """Make the pair moment of a sample from its documents of two words or more."""
        n = bags.lengths
        kept = np.where(n >= 2, bags.weights, 0.0)
        if not kept.any():
            raise CorpusError("no document has two words or more, so no pairs can be counted")
        rho = kept / (np.where(n >= 2, n * (n - 1), 1) * kept.sum())
        diagonal = bags.transpose @ rho

        def rows(start: int, stop: int) -> CSR:
            shape = (stop - start, len(diagonal))
            tied = sp.diags_array(diagonal[start:stop], offsets=start, shape=shape)
            left = bags.transpose[start:stop] @ sp.diags_array(rho)
            Q = sp.csr_array(left @ bags.counts - tied)
            Q.data = np.maximum(Q.data, 0)  # rounding and counts below one can make it negative
            return Q

        seen = sp.csr_array(
            (np.ones(bags.transpose.nnz), bags.transpose.indices, bags.transpose.indptr),
            bags.transpose.shape,
        )
        work = np.append(0, np.cumsum(seen @ np.diff(bags.counts.indptr)))
        return cls(bags.pairs_times, rows, work, seen @ kept, float(kept.sum()))

    @classmethod
    def of_matrix(cls, Q: Any) -> "PairMoment":
        """Make a pair moment from a matrix. All words count as equally frequent."""
        Q = sp.csr_array(Q / Q.sum())
        return cls(Q.__matmul__, lambda i, j: Q[i:j], Q.indptr, np.ones(Q.shape[0]), 1.0)


class Space(NamedTuple):
    """The rows of Q as points in K dimensions."""

    points: np.ndarray  # v of all words, (d, K)
    sought: np.ndarray  # the same, but rectified: among these, anchors are sought
    directions: np.ndarray  # F, (d, K)
    chosen: np.ndarray  # the ids of the words that may be anchors
    whitening: Whitening
    negative: list[float]  # the share of negative entries before and after they were removed


def candidates_of(pairs: PairMoment, K: int, min_df: float | None) -> tuple[float, np.ndarray]:
    """The least document frequency of an anchor, and the words that reach it."""
    f, n = pairs.frequencies, pairs.n_documents
    if K < 1:
        raise ParameterError(f"n_topics must be 1 or more, not {K}")
    seen = np.sort(f[f > 0])[::-1]
    if min_df is None:
        least = min(_SHARE * n, seen[min(_CHOICE * K, len(seen)) - 1])
    else:
        least = min_df * n if isinstance(min_df, float) and min_df <= 1 else min_df
    least = max(float(least), seen[-1])
    chosen = np.flatnonzero(f >= least)
    if len(chosen) < K and min_df is not None:
        raise ParameterError(
            f"{K} topics, but only {len(chosen)} words are in {least:g} documents or more and may "
            "be anchors; lower min_df or n_topics"
        )
    return least, chosen


def represent(
    pairs: PairMoment, p: np.ndarray, chosen: np.ndarray, K: int, rectify: bool, random_state: int
) -> Space:
    """The points v, and the whitening from which they come."""
    scale = np.zeros((len(p), 1))
    scale[chosen, 0] = 1 / np.sqrt(p[chosen])

    def product(B: np.ndarray) -> np.ndarray:
        return scale * pairs.times(scale * B)

    A = Factorable((len(p), len(p)), np.dtype(np.float64), product, product)
    found = whiten(A, K, tol=_ROUGH, random_state=random_state)
    if not rectify:
        F = scale * (found.W * np.sqrt(found.eigenvalues))
        V = pairs.times(F) * inverse(p)[:, None]
        return Space(V, V, F, chosen, found, [])
    s = np.sqrt(p[chosen])
    B, negative = rectified(found.B[chosen], s, product(np.sqrt(p)[:, None])[chosen, 0])
    lengths = np.sqrt((B**2).sum(axis=0))
    F = np.zeros((len(p), B.shape[1]))
    F[chosen] = scale[chosen] * B / lengths
    V = pairs.times(F) * inverse(p)[:, None]
    sought = V.copy()
    sought[chosen] = B * lengths / s[:, None]
    return Space(V, sought, F, chosen, found, [negative[0], negative[-1]])


def corners_of(
    pairs: PairMoment,
    p: np.ndarray,
    space: Space,
    given: Sequence[Sequence[int]],
    excluded: Sequence[int],
) -> tuple[list[list[int]], np.ndarray]:
    """The words of each anchor, and the corners (K, l): the given ones, and those that are found.

    If the pairs have a rank below K, there are fewer.
    """
    V = space.sought
    if alone := [word for words in given for word in words if not p[word]]:
        raise ParameterError(
            f"the anchor with the number {alone[0]} shares no document with another word; leave it "
            "out"
        )
    found = [list(words) for words in given]
    corners = np.array([V[words[0]] for words in found]).reshape(len(found), V.shape[1])
    if several := [k for k, words in enumerate(found) if len(words) > 1]:
        rows = anchor_rows(pairs, p, [found[k] for k in several])
        corners[several] = transposed_times(rows, space.directions)
    kept = np.isin(space.chosen, [*excluded, *(word for words in found for word in words)])
    candidates = space.chosen[~kept]
    m = min(V.shape[1] - len(found), len(candidates))
    if m > 0:
        f = pairs.frequencies
        far = {"candidates": candidates, "weights": f / (f + _DOUBT), "fewer": bool(found)}
        more = anchors(V, m, after=corners, **far)
        found += [[int(word)] for word in more]
        corners = np.vstack([corners, V[more]])
    if not found:
        raise ParameterError("no word is left that may be an anchor; exclude fewer words")
    return found, corners


def in_span(pairs: PairMoment, p: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All rows of Q, and those of the anchors, projected on the span of the latter.

    The squared distance of a row from any mixture of anchors changes by a constant only.
    """
    B = pairs.times(rows) * inverse(p)[:, None]
    gram = transposed_times(rows, rows)
    values, U = np.linalg.eigh((gram + gram.T) / 2)
    roots = np.sqrt(np.maximum(values, np.finfo(np.float64).eps * values.max()))
    return rows_times(B, U / roots), gram @ (U / roots)


def anchor_rows(pairs: PairMoment, p: np.ndarray, found: Sequence[Sequence[int]]) -> np.ndarray:
    """The rows of Q of the anchors, each with the sum 1, as columns (d, K).

    Several words have the normalized harmonic means of their rows. If these are 0 everywhere,
    because nothing occurs with all of the words, they have the mean.
    """
    words = np.concatenate([np.asarray(one, np.int64) for one in found])
    chosen = np.zeros((len(p), len(words)))
    chosen[words, np.arange(len(words))] = 1 / p[words]
    rows = np.maximum(pairs.times(chosen), 0)
    if len(words) == len(found):
        return rows
    result = np.empty((len(p), len(found)))
    ends = np.cumsum([len(one) for one in found])
    for k, own in enumerate(np.split(rows, ends[:-1], axis=1)):
        shared = (own > 0).all(axis=1)
        mean = np.zeros(len(p)) if shared.any() else own.mean(axis=1)
        mean[shared] = own.shape[1] / (1 / own[shared]).sum(axis=1)
        result[:, k] = mean / mean.sum()
    return result


def inverse(p: np.ndarray) -> np.ndarray:
    """Return 1 / p, and 0 for words that never occur."""
    return np.divide(1.0, p, out=np.zeros(len(p)), where=p > 0)
