"""Automata with given weights: their form, and the exact statistics of what they generate."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from eigentext.errors import ParameterError
from eigentext.matrices.budget import check_room
from eigentext.matrices.runs import CSR
from eigentext.moments import NgramMoments
from eigentext.sequences._symbols import Symbols
from eigentext.sequences.forms import Operators
from eigentext.sequences.learning.automaton import normalized

_CLOSE = 1e-6


def form_of(start: ArrayLike, operators: ArrayLike, end: ArrayLike, *, ends: bool) -> Operators:
    """Return the operators of given weights. Raise ParameterError if they are no probabilities."""
    try:
        b, B, e = (np.array(part, np.float64) for part in (start, operators, end))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"weights must be arrays of numbers: {error}") from error
    r = len(np.atleast_1d(b))
    if b.shape != (r,) or e.shape != (r,) or B.shape[1:] != (r, r) or not len(B):
        raise ParameterError(
            "shapes must be (r,), (n, r, r) and (r,) for r states and n symbols, not "
            f"{b.shape}, {B.shape} and {e.shape}"
        )
    if not all(np.isfinite(part).all() for part in (b, B, e)):
        raise ParameterError("weights must be finite numbers")
    step, rows = B.sum(axis=0), []
    anywhere = b
    if ends:
        if not np.abs(np.linalg.eigvals(step)).max(initial=0) < 1:
            raise ParameterError(
                "the sum of all operators must have eigenvalues below 1, so that sequences end; "
                "for a model without ends, give ends=False"
            )
        rows, e = [e], np.linalg.solve((np.eye(r) - step).T, e)
        anywhere = np.linalg.solve(np.eye(r) - step, b)
    elif not np.allclose(e @ step, e, rtol=0, atol=_CLOSE * max(np.abs(e).max(initial=0), 1)):
        raise ParameterError("end: its products with all operators must add up to itself")
    if not abs(e @ b - 1) < _CLOSE:
        raise ParameterError(f"all probabilities must add up to 1, not {e @ b:.6g}")
    after = normalized(B @ anywhere, e, anywhere)
    after = np.vstack([after, np.zeros((len(rows), r))])
    places = np.append(np.arange(len(B)), [-1] * len(rows)).astype(np.int32)
    return Operators(b, e, np.vstack([e @ B, *rows]), after, places, B, np.zeros(len(places)))


def population(
    symbols: Symbols,
    start: np.ndarray,
    operators: np.ndarray,
    end: np.ndarray,
    stop: np.ndarray | None,
    order: int,
) -> NgramMoments:
    """Return the expected counts of all n-grams of a sequence, with its edges.

    Without a `stop`, they are the probabilities of the first `order` symbols of a stream.
    """
    n, r, _ = operators.shape
    edge = len(symbols.vocabulary) + 1
    check_room(
        24.0 * (r + 2) * float(n + 1) ** order,
        f"a table of all windows of {order} of {n:,} symbols",
        "take a model of fewer symbols, or a lower order",
    )
    anywhere, first = start, np.full(edge + 1, -1)  # the place of each node's state, or -1
    if stop is not None:
        anywhere = np.linalg.solve(np.eye(r) - operators.sum(axis=0), start)
    first[:n] = np.arange(n)
    states = operators @ anywhere
    unigrams = np.zeros(edge + 1)
    unigrams[:n], unigrams[edge] = states @ end, 1.0
    if stop is not None:
        first[edge], states = n, np.vstack([states, start])
    levels: list[CSR] = []
    for _ in range(order - 1):
        following = np.einsum("xij,kj->kxi", operators, states)
        counts, columns = following @ end, np.arange(n)
        if stop is not None:
            counts, columns = np.column_stack([counts, states @ stop]), np.append(columns, edge)
        width = len(columns)
        indptr = np.append(0, np.cumsum(np.where(first >= 0, width, 0)))
        here = first[first >= 0]
        indices = np.tile(columns, len(here)).astype(np.int32)
        levels.append(sp.csr_array((counts[here].ravel(), indices, indptr), (len(first), edge + 1)))
        places = np.arange(len(here) * n).reshape(-1, n)
        states = following[here].reshape(-1, r)
        dead = np.full((len(here), width - n), -1)
        first = np.hstack([places, dead]).ravel()
    return NgramMoments(symbols.vocabulary, unigrams, levels, False, dict(symbols.options), [])
