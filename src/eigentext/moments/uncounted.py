"""Text whose pairs are counted later, straight into the form in which they are factored.

Where only the symmetric counts F + F' are needed, their upper half is counted row by row and packed
(:mod:`eigentext.matrices.tiles`). Neither F nor the whole of F + F' is ever in memory. Whoever
reads the forward counts instead gets them: they are counted then.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.matrices import budget
from eigentext.matrices.budget import give_back
from eigentext.matrices.lazy import Later, waiting
from eigentext.matrices.runs import CSR
from eigentext.matrices.tiles import Packed, SymmetricTiles, pack_run, runs_of, strips_of
from eigentext.moments.cooccurrence import CooccurrenceMoments
from eigentext.moments.pairs import (
    check_sums,
    check_window,
    counted_shard,
    fits_at_once,
    nothing_to_count,
    pair_shape,
    pair_weights,
    read_rows,
    rows_of_words,
)
from eigentext.storage import checkpoint
from eigentext.storage.maps import is_mapped

_POSITIONS = 1 << 21  # to be sorted at a time
_MOST_PASSES = 8  # over the text, to find the positions of some words


class Uncounted(Later[CSR]):
    """The forward counts of a text, as long as nobody has counted them.

    Parameters
    ----------
    tokens : int32 array
        The row of each token; -1 ends a unit, and the array.
    weights : int64 array
        Those of the distances 0 to window.
    n_rows : int
        The number of words, with the shared row if there is one.
    """

    def __init__(self, tokens: np.ndarray, weights: np.ndarray, n_rows: int):
        super().__init__(_forward, tokens, weights, n_rows)
        self.tokens, self.weights, self.n_rows = tokens, weights, n_rows

    @property
    def has_pairs(self) -> bool:
        """Whether any two words share a unit."""
        for start in range(0, len(self.tokens), _POSITIONS):
            part = self.tokens[start : start + _POSITIONS + 1] >= 0
            if (part[1:] & part[:-1]).any():
                return True
        return False

    def symmetric(
        self, function: Callable[[np.ndarray], np.ndarray], dtype: Any = np.float32
    ) -> tuple[SymmetricTiles, np.ndarray]:
        """A function of each entry of F + F', and the sums of the rows of F + F' itself."""
        from eigentext.moments import _upper_loops

        tokens, weights, n = self.tokens, self.weights, self.n_rows
        counts = _upper_loops.word_counts(tokens, n)
        starts = np.append(0, np.cumsum(counts))
        # At most so many columns; half of them are on either side of the diagonal, about.
        most = np.minimum(2 * (len(weights) - 1) * counts, n)
        work = np.append(0, np.cumsum(most))
        borders = strips_of(work)
        totals = np.zeros(n, np.int64)

        def packed() -> Iterator[Packed]:
            with engine.phase("count", int(starts[-1]), "tokens") as advance:
                for begin, runs in _passes(runs_of(borders, work), starts):
                    positions = _upper_loops.positions_of(tokens, starts, begin, runs[-1][1])
                    give_back()

                    def count(rows: tuple[int, int], begin=begin, positions=positions):
                        upper = _upper_loops.count_upper(
                            tokens, starts, positions, begin, weights, n, *rows, totals
                        )
                        return pack_run(rows, upper, borders)

                    for (first, last), found in zip(runs, engine.current().map(count, runs)):
                        yield from found
                        advance(int(starts[last] - starts[first]))

        return SymmetricTiles(borders, packed(), function, dtype), totals


def _passes(
    runs: list[tuple[int, int]], starts: np.ndarray
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Groups of runs whose words have so many positions as may be sorted at a time."""
    most = max(_POSITIONS, int(starts[-1]) // _MOST_PASSES)
    group: list[tuple[int, int]] = []
    for rows in runs:
        if group and starts[rows[1]] - starts[group[0][0]] > most:
            yield group[0][0], group
            group = []
        group.append(rows)
    if group:
        yield group[0][0], group


def _forward(tokens: np.ndarray, weights: np.ndarray, n_rows: int) -> CSR:
    with engine.phase("count", len(tokens), "tokens") as advance:
        return counted_shard(tokens, len(tokens), weights, (n_rows, n_rows), advance)


def uncounted(moments: CooccurrenceMoments) -> Uncounted | None:
    """The text of moments that nobody has counted yet."""
    later = waiting(moments, "forward")
    return later if isinstance(later, Uncounted) else None


def read_moments(
    corpus: Any,
    *,
    window: int,
    weighting: Any,
    min_count: int = 1,
    max_size: int | None = None,
    cache: str | os.PathLike[str] | bool | None = None,
) -> CooccurrenceMoments:
    """The moments of bags of contexts, uncounted if the text fits in memory.

    With a memory budget, a checkpoint or a Dask cluster they are counted at once, by
    :meth:`CooccurrenceMoments.from_corpus`.
    """
    how: dict[str, Any] = {"window": window, "weighting": weighting}
    limits: dict[str, Any] = {"min_count": min_count, "max_size": max_size}
    if engine.distributed() or budget.current().is_stated or checkpoint() is not None:
        return CooccurrenceMoments.from_corpus(corpus, **how, **limits, cache=cache)
    check_window(window, weighting)
    weights = pair_weights(window, weighting)
    encoded, found, lookup = read_rows(corpus, limits, cache)
    check_sums(found.vocabulary, found.rare_count, weights)
    n = pair_shape(len(found.vocabulary) + (not found.whole), window, "bag")[0]
    is_ours = encoded is not corpus and not is_mapped(encoded.tokens)
    if not fits_at_once(len(encoded.tokens)):
        return CooccurrenceMoments.from_corpus(encoded, **how, **limits)
    tokens = rows_of_words(encoded.tokens, lookup, in_place=is_ours)
    later = Uncounted(tokens, weights, n)
    if not later.has_pairs:
        raise nothing_to_count(found.options)
    return CooccurrenceMoments._made(
        vocabulary=found.vocabulary,
        rare_count=found.rare_count,
        forward=later,
        context="bag",
        whole=found.whole,
        options=found.options,
        sources=[found.fingerprint],
        **how,
    )
