r"""How large an automaton is, and its floor: by the noise of the counts, or by held-out text.

*Noise.* The rank is the number of singular values above the noise. The floor is the fraction of a
symbol's frequency with which the last symbols of windows of the text have the highest likelihood,
after the symbols before them in the window.

*Validation.* The text is split. Automata of the first part, of many ranks and of several sizes of
the basis, give probabilities to the second. The best one says which rank, basis and floor the
automaton of the whole text has. Bases are nested, and so are ranks: one Hankel matrix serves all
bases, and one SVD for each basis serves all ranks.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eigentext.corpus.encoded import END
from eigentext.moments.hankel import Trie
from eigentext.sequences.forms import Operators
from eigentext.sequences.inference import filtered_states, operator_states
from eigentext.sequences.learning.automaton import Projected

FLOORS = (0.02, 0.05, 0.1, 0.2, 0.3)  # fractions of the frequency that are tried
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
    model.floors = FLOORS[len(FLOORS) // 2] * usual
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
    """Return the floor with which the last symbols of windows have the highest likelihood."""
    windows = _windows(trie, rng)
    if not len(windows):
        return FLOORS[-1]
    ends = np.full(len(windows), END, np.int32)
    ids = np.column_stack([windows[:, :-1], ends]).ravel()
    follow = found.hankel.follow @ found.V[:, : len(model.start)]
    mean = follow.sum(axis=0)
    anywhere = replace(model, start=mean / (mean @ model.end), floors=FLOORS[0] * found.usual)
    if not np.isfinite(anywhere.start).all():
        return FLOORS[-1]
    states = filtered_states(anywhere, ids)[windows.shape[1] - 2 :: windows.shape[1]]
    gains = _log_likelihoods(states @ model.rows.T, windows[:, -1], found.usual)
    return FLOORS[int(np.argmax(gains))]


def _windows(trie: Trie, rng: np.random.Generator) -> np.ndarray:
    """Some windows of the longest length in the text, drawn by frequency.

    An edge may be their last symbol, and then stands for the end. No window begins with one.
    """
    for depth in range(len(trie.levels) - 2, 1, -1):  # sequences may be shorter than windows
        nodes = np.arange(trie.levels[depth], trie.levels[depth + 1])
        sums = np.cumsum(trie.counts[nodes])
        if not len(sums) or not sums[-1] > 0:
            continue
        drawn = nodes[np.searchsorted(sums, rng.integers(sums[-1], size=_WINDOWS), side="right")]
        windows = np.empty((len(drawn), depth), np.int32)
        for place in range(depth - 1, -1, -1):
            windows[:, place] = trie.symbols[drawn]
            drawn = np.searchsorted(trie.begins, drawn, side="right") - 1
        windows = windows[windows[:, 0] != trie.edge]
        windows[windows == trie.edge] = trie.n
        if len(windows):
            return windows
    return np.zeros((0, 2), np.int32)
