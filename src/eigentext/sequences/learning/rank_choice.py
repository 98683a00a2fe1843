r"""How large an automaton is, and its floor: by the noise of the counts, or by held-out text.

*Noise.* The rank is the number of singular values above the noise. The floor is the fraction of a
symbol's frequency with which windows of the text have the highest likelihood.

*Validation.* The text is split. Automata of the first part, of many ranks and of several sizes of
the basis, give probabilities to the second. The best one says which rank, basis and floor the
automaton of the whole text has. Bases are nested, and so are ranks: one Hankel matrix serves all
bases, and one SVD for each basis serves all ranks.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eigentext.corpus.encoded import END
from eigentext.moments.hankel import Trie
from eigentext.sequences.forms import Operators
from eigentext.sequences.inference import operator_states
from eigentext.sequences.learning.automaton import Projected

FLOORS = (0.002, 0.01, 0.03, 0.1, 0.2, 0.3)  # fractions of the frequency that are tried
_WINDOWS = 5000  # windows that decide on the floor
_STEP = 1.4  # the ratio of two ranks that are tried
_SCORED = 50_000  # held-out symbols that decide
_BLOCK = 1 << 22  # the numbers in a block of predictions


class Trial(NamedTuple):
    """An automaton that was tried on held-out text."""

    log_probability: float  # the mean of all events
    basis: int  # how many prefixes and suffixes
    rank: int
    floor: float


def ranks_up_to(most: int) -> list[int]:
    """Return the ranks that are tried.

    Examples
    --------
    >>> ranks_up_to(20)
    [1, 2, 3, 4, 6, 8, 11, 15, 20]
    """
    ranks = [1]
    while ranks[-1] < most:
        ranks.append(min(most, max(ranks[-1] + 1, round(ranks[-1] * _STEP))))
    return ranks


def tried(found: Projected, held: np.ndarray, n_basis: int) -> list[Trial]:
    """Return a trial for each rank, with its best floor.

    `held` are ids, with END after sequences. Unknown symbols do not count.
    """
    held = held[:_SCORED]
    trials = []
    for rank in ranks_up_to(found.size):
        model, _ = found.operators(rank)
        scores = _scores(model, held, found.usual)
        best = int(np.argmax(scores))
        trials.append(Trial(float(scores[best]), n_basis, rank, FLOORS[best]))
    return trials


def _scores(model: Operators, ids: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """The mean log-probability of the known ids with each floor. The states are those of one."""
    model.floors = FLOORS[2] * usual
    before, _, _ = operator_states(model, ids)
    before, ids = before[ids >= 0], ids[ids >= 0]
    sums = np.zeros(len(FLOORS))
    size = max(1, _BLOCK // len(usual))
    for first in range(0, len(ids), size):
        some = ids[first : first + size]
        sums += _log_likelihoods(before[first : first + size] @ model.rows.T, some, usual)
    return sums / max(1, len(ids))


def _log_likelihoods(p: np.ndarray, ids: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """The log-likelihood of ids, of which p has the probabilities of all symbols, by floor."""
    found = []
    for floor in FLOORS:
        repaired = np.maximum(p, floor * usual)
        chances = repaired[np.arange(len(ids)), ids] / repaired.sum(axis=1)
        found.append(np.log(np.maximum(chances, 1e-300)).sum())
    return np.array(found)


def floor_of_windows(
    model: Operators, found: Projected, trie: Trie, rng: np.random.Generator
) -> float:
    """Return the floor with which some windows of the text have the highest likelihood.

    A window inside a sequence begins in the mean state, and only its last symbol counts. In one
    that begins with a sequence all count.
    """
    model = replace(model, floors=FLOORS[0] * found.usual)
    mean = (found.hankel.follow @ found.V[:, : len(model.start)]).sum(axis=0)
    scale = mean @ model.end
    anywhere = replace(model, start=mean / scale if scale > 0 else model.start)
    gains = np.zeros(len(FLOORS))
    for windows in _windows(trie, rng):
        at_start = bool(windows[0, 0] == trie.edge)
        ids = windows[:, 1:] if at_start else windows
        ids = np.where(ids == trie.edge, trie.n, ids)
        length = ids.shape[1]
        rows = np.column_stack([ids, np.full(len(ids), END)]).astype(np.int32)
        before, _, _ = operator_states(model if at_start else anywhere, rows.ravel())
        before = before.reshape(len(ids), length + 1, -1)[:, : -1 if at_start else length]
        counted = slice(0 if at_start else length - 1, length)
        states = before[:, counted].reshape(-1, len(model.start))
        gains += _log_likelihoods(states @ model.rows.T, ids[:, counted].ravel(), found.usual)
    return FLOORS[int(np.argmax(gains))]


def _windows(trie: Trie, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield some windows of the text, drawn by frequency, in groups.

    They have the longest length, or end with their sequence. All windows of a group have the same
    length, and all or none of them begin with an edge.
    """
    n_nodes = trie.levels[-1]
    leaves = np.flatnonzero(trie.begins[:n_nodes] == trie.begins[1:])
    leaves = leaves[leaves >= trie.levels[2]]
    sums = np.cumsum(trie.counts[leaves])
    if not len(sums) or not sums[-1] > 0:
        return
    n_drawn = max(500, min(_WINDOWS, _BLOCK // trie.n))
    drawn = leaves[np.searchsorted(sums, rng.integers(sums[-1], size=n_drawn), side="right")]
    depths = np.searchsorted(trie.levels, drawn, side="right") - 1
    for depth in np.unique(depths).tolist():
        nodes = drawn[depths == depth]
        windows = np.empty((len(nodes), depth), np.int64)
        for place in range(depth - 1, -1, -1):
            windows[:, place] = trie.symbols[nodes]
            nodes = np.searchsorted(trie.begins, nodes, side="right") - 1
        at_start = windows[:, 0] == trie.edge
        yield from (part for part in (windows[at_start], windows[~at_start]) if len(part))
