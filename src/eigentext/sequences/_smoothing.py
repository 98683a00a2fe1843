"""Modified Kneser-Ney smoothing: from counts to probabilities. `kneser_ney` has the formulas.

With a memory budget, all arrays with a number for each n-gram are in files (`matrices.disk`). They
are worked through in order, and what they take of the memory is given back when the budget is
nearly used up.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.corpus.symbols import is_stream
from eigentext.errors import MomentsError, ParameterError
from eigentext.matrices import budget
from eigentext.matrices.disk import room_on_disk, scratch_file
from eigentext.moments import NgramMoments
from eigentext.sequences._trie import BLOCK, Tables, Trie, places_type
from eigentext.storage.maps import forget

FIXED = (0.5, 1.0, 1.5)  # the discounts of texts that are too short to estimate them
_SMALL = 1 << 20  # bytes: smaller arrays are never in files
_FULL = 0.7  # the share of the budget at which memory of files is given back


class Adjusted(NamedTuple):
    """All counted windows as a trie, with what smoothing needs to know of each."""

    trie: Trie
    suffix: np.ndarray  # the node without its first symbol; a symbol has itself
    counts: np.ndarray  # the adjusted count of each node


def trie_of(moments: NgramMoments) -> Trie:
    """Return the trie of all counted windows."""
    levels, n = moments.levels, len(moments.vocabulary) + 2
    borders = np.cumsum([0, n, *(level.nnz for level in levels)]).tolist()
    first = empty(borders[-2] + 1, places_type(borders[-1]))
    words = empty(borders[-1], np.int32)
    words[:n] = np.arange(n)
    for level, begin, border in zip(levels, borders, borders[1:]):
        _copy(level.indptr[:-1], first[begin:border], border)
        _copy(level.indices, words[border : border + level.nnz])
        trim(first, words, level.indptr, level.indices)
    first[-1] = borders[-1]
    return Trie(first, words, borders)


def suffixes(trie: Trie) -> np.ndarray:
    """Return for each node the one without its first symbol; a single symbol has itself."""
    from eigentext.sequences import _kneser_ney_loops as loops

    suffix = empty(trie.borders[-1], places_type(trie.borders[-1]))
    end = trie.borders[min(2, trie.order)]
    _copy(trie.words[:end], suffix[:end])  # the node of a symbol s is s

    def link(block: tuple[int, int]) -> bool:
        found = loops.link_suffixes(trie.first, trie.words, suffix, *block)
        trim(trie.first, trie.words, suffix)
        return found

    for begin, end in zip(trie.borders[1:-2], trie.borders[2:-1]):
        if not all(list(engine.current().map(link, trie.blocks(begin, end)))):
            raise MomentsError(
                "a window is counted, and the same without its first symbol is not: these are "
                "the counts of no text; count it again"
            )
    return suffix


def adjusted(moments: NgramMoments) -> Adjusted:
    """Return the trie and the adjusted counts a(·). In a stream, the end of a unit has 0."""
    from eigentext.sequences import _kneser_ney_loops as loops

    trie = trie_of(moments)
    suffix = suffixes(trie)
    borders, order = trie.borders, trie.order
    raw = _raw(moments)
    most = max(map(_largest, raw))
    counts = empty(borders[-1], np.uint32 if most < 1 << 32 else np.int64)
    stream = is_stream(moments.options)
    from_edge = moments.edge  # the first node that begins with the edge, which is the last symbol
    for k, occurrences in enumerate(raw):
        begin, end = borders[k : k + 2]
        own = counts[begin:end]
        if k == order - 1:
            _copy(occurrences, own)
        else:
            own[:] = 0
            for start in range(end, borders[k + 2], BLOCK):
                stop = min(start + BLOCK, borders[k + 2])
                loops.count_suffixes(suffix, counts, start, stop)
                trim(suffix, counts)
            if k:
                _copy(occurrences[from_edge - begin :], own[from_edge - begin :])
            from_edge = int(trie.first[from_edge])
        if stream:
            own[trie.words[begin:end] == moments.edge] = 0
        trim(suffix, counts, trie.words, occurrences)
    return Adjusted(trie, suffix, counts)


def discounts_of(counts: np.ndarray) -> tuple[tuple[float, ...], str, np.ndarray]:
    """Return the discounts D(1), D(2) and D(3+), the rule that gave them, and t_1 to t_4."""
    t = np.zeros(6, np.int64)
    for start in range(0, len(counts), BLOCK):
        t += np.bincount(np.minimum(counts[start : start + BLOCK], 5).astype(np.int8), minlength=6)
    forget(counts)
    t = t[1:5]
    if t[0] and t[1]:
        Y = t[0] / (t[0] + 2 * t[1])
        if t.all():
            D = tuple(float(k - (k + 1) * Y * t[k] / t[k - 1]) for k in (1, 2, 3))
            if all(0 < d < k for k, d in enumerate(D, 1)):
                return D, "modified", t
        return (float(Y),) * 3, "single", t
    return FIXED, "fixed", t


def smoothed(
    found: Adjusted, discounts: np.ndarray, stream: bool, raw: Sequence[np.ndarray], prune: Any
) -> Tables:
    """Return the interpolated probabilities and the back-off weights, order by order.

    `raw` are the counts of each order. N-grams whose count is not above the threshold of their
    order (`prune`) are left out of the tables.
    """
    from eigentext.sequences import _kneser_ney_loops as loops

    trie, suffix, counts = found
    limits = limits_of(prune, trie.order)
    D = np.column_stack([np.zeros(len(discounts)), discounts])
    probabilities, backoffs = empty(len(trie.words)), empty(len(trie.first) - 1)
    n = trie.n_symbols
    probabilities[:n] = unigrams_of(np.asarray(counts[:n], np.int64), D[0], stream)

    def interpolate(task: tuple[int, tuple[int, int]]) -> None:
        k, block = task
        loops.interpolate(
            trie.first, counts, suffix, D[k], raw[k], trie.borders[k], limits[k], probabilities,
            backoffs, *block,
        )  # fmt: skip
        trim(trie.first, counts, suffix, probabilities, backoffs, raw[k])

    for k, (begin, end) in enumerate(zip(trie.borders[:-2], trie.borders[1:-1]), start=1):
        list(engine.current().map(interpolate, [(k, b) for b in trie.blocks(begin, end)]))
    forget(*raw, counts, suffix, trie.first)
    tables = Tables(trie, probabilities, backoffs)
    return pruned(tables, raw, limits) if any(limits) else tables


def pruned(tables: Tables, raw: Sequence[np.ndarray], limits: list[int]) -> Tables:
    """Return the tables without the n-grams whose counts are not above the limits."""
    from eigentext.sequences import _kneser_ney_loops as loops

    trie, n = tables.trie, tables.trie.n_symbols
    kept = [n]
    for k in range(1, trie.order):
        kept.append(sum(map(int, _blocks_above(raw[k], limits[k]))))
        if not kept[-1]:
            raise ParameterError(
                f"prune: no {k + 1}-gram occurs more than {limits[k]} times; "
                "lower the threshold of this order, or the order"
            )
    borders = np.cumsum([0, *kept]).tolist()
    first = empty(borders[-2] + 1, places_type(borders[-1]))
    words = empty(borders[-1], np.int32)
    p, b = empty(borders[-1]), empty(borders[-2])
    words[:n], p[:n] = trie.words[:n], tables.probabilities[:n]
    for k in range(1, trie.order):
        row, place = borders[k - 1], borders[k]
        for block in trie.blocks(*trie.borders[k - 1 : k + 1]):
            row, place = loops.prune_level(
                trie.first, trie.words, tables.probabilities, tables.backoffs, raw[k - 1], raw[k],
                limits[k - 1] if k > 1 else -1, limits[k], trie.borders[k - 1], trie.borders[k],
                first, words, p, b, row, place, *block,
            )  # fmt: skip
            trim(trie.first, trie.words, tables.probabilities, tables.backoffs, words, p, b, *raw)
        if place != borders[k + 1]:
            raise MomentsError(
                "a window is counted more often than its beginning: these are the counts of no "
                "text; count it again"
            )
    first[-1] = borders[-1]
    return Tables(Trie(first, words, borders), p, b)


def tables_of(moments: NgramMoments, discounts: np.ndarray, prune: Any = ()) -> Tables:
    """Return the probabilities that counts and discounts give."""
    return tables_from(moments, adjusted(moments), discounts, prune)


def tables_from(
    moments: NgramMoments, found: Adjusted, discounts: np.ndarray, prune: Any
) -> Tables:
    """The same, from adjusted counts that are there already."""
    return smoothed(found, discounts, is_stream(moments.options), _raw(moments), prune)


def limits_of(prune: Sequence[int], order: int) -> list[int]:
    """Return a threshold for each order: the last one given also holds for longer n-grams."""
    found = list(prune) or [0]
    return found + [found[-1]] * (order - len(found))


def unigrams_of(counts: np.ndarray, D: np.ndarray, stream: bool) -> np.ndarray:
    """p(w): discounted counts, mixed with a uniform distribution over words, rare word and end."""
    events = np.ones(len(counts))
    events[-1] = not stream
    check_any(counts)
    removed = D[np.minimum(counts, 3)]
    return (counts - removed) / counts.sum() + removed.sum() / counts.sum() * events / events.sum()


def check_any(counts: np.ndarray) -> None:
    """Raise MomentsError if no symbol has an adjusted count."""
    if not counts.any():
        raise MomentsError("no symbol is counted after another: give more text")


# Arrays in memory or in files.


def empty(n: int, dtype: Any = np.float64) -> np.ndarray:
    """Return an array to be filled: in a file if a budget is stated, unless it is small."""
    size = n * np.dtype(dtype).itemsize
    if size < _SMALL or not budget.current().is_stated:
        return np.empty(n, dtype)
    with scratch_file() as file, room_on_disk():
        file.truncate(size)
        return np.memmap(file, dtype, "r+", shape=(n,))


def trim(*arrays: Any) -> None:
    """Give back the memory of maps if most of the budget is used up."""
    memory = budget.current().memory
    if memory is not None and budget.resident() > _FULL * memory:
        forget(*(array for array in arrays if isinstance(array, np.ndarray)))


def release(found: Adjusted) -> None:
    """Give back the memory of adjusted counts in files: perhaps nobody needs them any more."""
    forget(found.trie.first, found.trie.words, found.suffix, found.counts)


def _copy(source: np.ndarray, target: np.ndarray, plus: int = 0) -> None:
    """Equivalent to ``target[:] = source + plus``, block by block."""
    for start in range(0, len(target), BLOCK):
        part = slice(start, start + BLOCK)
        np.add(source[part], plus, out=target[part], casting="unsafe")
        trim(source, target)


def _raw(moments: NgramMoments) -> list[np.ndarray]:
    """The counts of each order, as plain arrays of one type."""
    found = [moments.unigrams, *(level.data for level in moments.levels)]
    return [np.asarray(part).astype(np.int64, copy=False) for part in found]


def _largest(counts: np.ndarray) -> int:
    found = 0
    for start in range(0, len(counts), BLOCK):
        found = max(found, int(counts[start : start + BLOCK].max()))
        trim(counts)
    return found


def _blocks_above(counts: np.ndarray, limit: int) -> Any:
    for start in range(0, len(counts), BLOCK):
        yield np.count_nonzero(counts[start : start + BLOCK] > limit)
        trim(counts)
