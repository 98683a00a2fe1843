"""The k best paths through a trellis. The search is exact and lazy (see `_k_best_loops`).

On a trellis, algorithm 3 of Huang and Chiang (2005) becomes this search: a derivation is a path,
and the scores of the Viterbi algorithm tell how each unfinished path ends.
"""

import numpy as np

from eigentext.errors import ParameterError


def k_best_paths(
    start: np.ndarray, transition: np.ndarray, local: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k best paths through a trellis, best first, and their scores.

    Parameters
    ----------
    start : array, shape (S,)
        The score of beginning in each state, such as a log-probability; -inf forbids the state.
    transition : array, shape (S, S)
        The score of going from a state (row) to a state (column).
    local : array, shape (T, S)
        The score of being in each state at each position.
    k : int
        The number of paths.

    Returns
    -------
    paths : array of int, shape (k', T)
        Here k' is k, or less if there are fewer paths. The order of paths with equal scores depends
        only on the scores.
    scores : array, shape (k',)

    Examples
    --------
    >>> paths, scores = k_best_paths(np.zeros(2), np.array([[0, -1], [-3, 0]]), np.zeros((2, 2)), 3)
    >>> paths.tolist(), scores.tolist()
    ([[0, 0], [1, 1], [0, 1]], [0.0, 0.0, -1.0])
    """
    check_k(k)
    start, transition, local = (np.asarray(x, np.float64) for x in (start, transition, local))
    m = len(start)
    if transition.shape != (m, m) or local.ndim != 2 or local.shape[1] != m:
        raise ParameterError(
            "shapes must be (S,), (S, S) and (T, S) for S states and T positions, not "
            f"{start.shape}, {transition.shape} and {local.shape}"
        )
    if len(local) == 0:
        return np.zeros((1, 0), np.int32), np.zeros(1)
    position, active = np.nonzero(local > -np.inf)
    border = np.searchsorted(position, np.arange(len(local) + 1))
    scores = local[position, active]
    return first_order_paths(start, transition, active.astype(np.int32), border, scores, k)


def first_order_paths(start, transition, active, border, local, k):
    """Do the same if only some states are possible at each position.

    At position t these are ``active[i]``, with the scores ``local[i]``, for i from ``border[t]`` to
    ``border[t + 1] - 1``.
    """
    from eigentext.trellis._k_best_loops import first_order

    k, paths = _room(border, 0, k)
    scores = first_order(start, transition, active, border, local, k, paths)
    return paths[: len(scores)], scores


def second_order_paths(pair, rows, active, border, local, k):
    """Do the same for transitions from two states u, v to w, with scores ``rows[pair[u, v], w]``.

    At the first two and the last two positions, only the state number S is possible, which marks
    the borders. These positions are not in the paths.
    """
    from eigentext.trellis._k_best_loops import second_order

    k, paths = _room(border, 4, k)
    scores = second_order(pair, rows, active, border, local, k, paths)
    return paths[: len(scores)], scores


def check_k(k: object) -> None:
    """Raise ParameterError if k is not a whole number, 1 or more."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ParameterError(f"k must be a whole number, 1 or more, not {k!r}")


def _room(border: np.ndarray, outside: int, k: int) -> tuple[int, np.ndarray]:
    """Return the number of paths, which is at most k, and an array for them."""
    n_paths = 1
    for n in np.diff(border).tolist():
        n_paths = min(k, n_paths * n)
    n_paths = max(n_paths, 1)
    return n_paths, np.empty((n_paths, len(border) - 1 - outside), np.int32)
