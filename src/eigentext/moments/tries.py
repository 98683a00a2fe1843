"""Tries of n-grams as lists of sparse matrices: counted, merged and relabeled level by level.

See :mod:`eigentext.moments.ngrams` for their layout. Nodes of one depth are in lexicographic order.
"""

import math
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.corpus import EncodedCorpus
from eigentext.matrices import budget
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.matrices.disk import Growing
from eigentext.matrices.runs import CSR, assembled, csr, is_on_disk, merge, spilled
from eigentext.moments.states import SHARD, KeptCounts
from eigentext.storage.maps import forget

Trie = list[CSR]
_FEWEST_BYTES = 1 << 25  # to count with, however small the budget is
_BLOCK = 1 << 19  # entries to look up in one task
_ENTRY = 16  # bytes of an n-gram: a symbol, a count, and where its row begins
_WORK = 80  # bytes for each position of a range while it is counted


class Plan(NamedTuple):
    """How a corpus is counted within some memory. No answer depends on it."""

    n_shards: int  # pieces of the text that are counted separately, and then added
    positions: int  # of the text, that are counted together; those of the same first words
    on_disk: bool  # whether the answer is in files

    @classmethod
    def of(cls, n_tokens: int, order: int, memory: int, *, is_stated: bool = True) -> "Plan":
        """Return the plan for so many tokens and bytes.

        A token needs its id and its position. A position needs more while it is counted, so they
        are counted by ranges of first words, and what is counted goes to files. If not even the
        tokens fit, there are several shards, whose counts need memory too: at worst a new entry on
        each level, and a row of the next level.
        """
        whole = 8 * n_tokens <= memory // 2
        affordable = memory // 2 // (8 + 20 * (order - 1))
        n_shards = 1 if whole else -(-n_tokens // affordable)
        fits = n_tokens * (_WORK + _ENTRY * (order - 1)) <= memory // 2
        if not is_stated or fits:
            return cls(n_shards, max(1, n_tokens + 1), False)
        return cls(n_shards, max(1, memory // 4 // (_WORK + _ENTRY)), True)


def counted(
    encoded: EncodedCorpus, lookup: np.ndarray, order: int, n_shards: int | None
) -> tuple[int, Trie]:
    """The units and the trie of a corpus: shards that fit in memory are counted, then merged.

    `lookup` gives the symbol of each word, and the edge, the largest symbol, last.
    """
    n_tokens = len(encoded.tokens)
    memory = _memory()
    plan = Plan.of(n_tokens, order, memory, is_stated=budget.current().is_stated)
    kept = KeptCounts({"text": encoded.fingerprint, "order": order}, lookup)
    if n_shards is None:
        n_shards = plan.n_shards
        if kept.in_use:
            n_shards = max(n_shards, -(-n_tokens // SHARD))
    if found := kept.read("sum"):
        return found[1]["units"], found[0]
    tries: list[Trie] = []
    n_units = held = 0
    shards = encoded.shards(n_shards)
    with (
        tempfile.TemporaryDirectory(prefix="eigentext-") as folder,
        engine.phase("count", n_tokens * (order - 1), "tokens") as advance,
    ):
        for start, stop in shards:
            part = f"run-{start}-{stop}"
            if found := kept.read(part, keep=0):
                trie, units = found[0], found[1]["units"]
                advance((stop - start) * (order - 1))
            else:
                tokens, n_positions = _windows(encoded.tokens, lookup, start, stop, order)
                n = int(lookup[-1]) + 1
                units, trie = count_shard(tokens, n_positions, n, order, advance, plan)
                if len(shards) > 1:
                    kept.write(part, trie, units=units)
                    # It is on disk now and need not be written again.
                    trie = (kept.read(part, keep=0) or [trie])[0]
            n_units += units
            size = sum(12 * level.nnz for level in trie if not is_on_disk(level))
            if held + size > memory // 2:
                trie = [
                    spilled(level, folder, order * len(tries) + k) for k, level in enumerate(trie)
                ]
            else:
                held += size
            tries.append(trie)
        total = merged(tries, plan)
    kept.write("sum", total, units=n_units)
    for start, stop in shards:
        kept.drop(f"run-{start}-{stop}")
    return n_units, total


def _memory() -> int:
    """The bytes for a shard and for partial counts, which change no answer.

    They are a power of two if a budget is stated: what is left of it is never quite the same, and
    a checkpoint wants the same shards.
    """
    if not budget.current().is_stated:
        return DEFAULT_MEMORY
    return 1 << int(math.log2(max(budget.current().left, _FEWEST_BYTES)))


def _windows(
    tokens: np.ndarray, lookup: np.ndarray, start: int, stop: int, order: int
) -> tuple[np.ndarray, int]:
    """The symbols of a shard and of its last windows, and how many windows begin in it."""
    tokens = tokens[start : stop + max(1, order - 1)]
    symbols = np.take(lookup, tokens, mode="wrap")  # -1 is the last place
    return windows(symbols, stop - start, lookup[-1], is_first=start == 0)


def windows(
    symbols: np.ndarray, n_positions: int, edge: int, *, is_first: bool
) -> tuple[np.ndarray, int]:
    """The symbols with their edges, and how many windows begin in the shard.

    `symbols` are the `n_positions` of a shard and those after them that windows reach. The first
    shard gets the edge with which the corpus begins, and each shard one more at its end. Of several
    edges in a row only the last remains: -1 in place of the others means that no window begins
    there.
    """
    before = int(is_first)
    edged = np.full(before + len(symbols) + 1, edge, np.int32)
    edged[before:-1] = symbols
    edges = edged == edge
    edged[:-1][edges[:-1] & edges[1:]] = -1
    return edged, n_positions + before


def count_shard(
    tokens: np.ndarray,
    n_positions: int,
    n: int,
    order: int,
    advance: Callable[[int], None],
    plan: Plan | None = None,
) -> tuple[int, Trie]:
    """The number of units and the trie of a shard, level by level.

    With a plan, some first symbols after the other: their n-grams are together in each level.
    """
    from eigentext.matrices import row_loops

    starts, positions = row_loops.sort_positions(tokens, n_positions, n)
    n_units = int(starts[n] - starts[n - 1])
    ranges = [(0, n)]
    if plan is not None and plan.positions < n_positions:
        ranges = engine.even_blocks(starts.astype(np.int64), plan.positions)
    if len(ranges) == 1:
        return n_units, _count_range(tokens, positions, starts, (0, n), n, order, advance)
    answer = _Answer(order - 1, n, n_positions, on_disk=plan is not None and plan.on_disk)
    for some in ranges:
        answer.add(_count_range(tokens, positions, starts, some, n, order, advance))
    return n_units, answer.finish()


def _count_range(
    tokens: np.ndarray,
    positions: np.ndarray,
    first_of: np.ndarray,
    symbols: tuple[int, int],
    n: int,
    order: int,
    advance: Callable[[int], None],
) -> Trie:
    """The part of a trie whose n-grams begin with some symbols."""
    from eigentext.moments import _ngram_loops

    def count_level(starts: np.ndarray, lengths: np.ndarray, ends_in: np.ndarray) -> CSR:
        depth = len(trie) + 1
        keep = depth < order - 1

        def count_rows(rows: tuple[int, int]):
            return _ngram_loops.count_next(
                tokens, positions, starts, lengths, ends_in, depth, n, keep, rows[0], rows[1]
            )

        return assembled(count_rows, _offsets(lengths), (len(lengths), n), advance)

    begin, end = symbols
    starts, lengths = first_of[begin:end], np.diff(first_of[begin : end + 1])
    ends_in = np.arange(begin, end, dtype=np.int32)
    trie: Trie = []
    while len(trie) < order - 1:
        if trie:
            # The positions of a child follow those of the children before it, within the parent's.
            offsets, indptr = _offsets(trie[-1].data), trie[-1].indptr
            starts = offsets[:-1] + np.repeat(starts - offsets[indptr[:-1]], np.diff(indptr))
            lengths, ends_in = trie[-1].data, trie[-1].indices
        trie.append(count_level(starts, lengths, ends_in))
    return trie


class _Answer:
    """A trie that grows by ranges of first symbols, in memory or in files."""

    def __init__(self, n_levels: int, n: int, most: int, *, on_disk: bool):
        keep = 0 if on_disk else math.inf
        place = np.int32 if max(most, n) < 2**31 else np.int64
        self._n, self._sizes = n, [0] * n_levels
        self._levels = [
            (Growing(np.int64, keep), Growing(np.int32, keep), Growing(place, keep))
            for _ in range(n_levels)
        ]
        for _, _, indptr in self._levels:
            indptr.append(np.zeros(1, place))

    def add(self, trie: Trie) -> None:
        """Add the part of the next symbols."""
        for k, (level, (data, indices, indptr)) in enumerate(zip(trie, self._levels)):
            data.append(np.asarray(level.data))
            indices.append(np.asarray(level.indices))
            indptr.append(level.indptr[1:].astype(np.int64) + self._sizes[k])
            self._sizes[k] += level.nnz

    def finish(self) -> Trie:
        """Return the whole trie."""
        found: Trie = []
        n_rows = self._n
        for data, indices, indptr in self._levels:
            parts = data.finish(), indices.finish(), indptr.finish()
            found.append(csr(*parts, (n_rows, self._n)))
            n_rows = found[-1].nnz
        return found


def _offsets(lengths: np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def merged(tries: list[Trie], plan: Plan | None = None) -> Trie:
    """The sum of tries over the same symbols, in memory or on disk.

    Nodes are in lexicographic order in each trie and in the sum. So a part has some of the rows of
    the sum, in the same order. With empty rows in place of the others, it can be added. With a
    plan, some first symbols after the other.
    """
    if len(tries) == 1 or not tries[0]:
        return tries[0]
    n = tries[0][0].shape[0]
    if plan is None or not plan.on_disk:
        return _merged(tries)
    work = np.sum([_sizes_below(trie) for trie in tries], axis=0)
    answer = _Answer(len(tries[0]), n, int(work[-1]), on_disk=True)
    for some in engine.even_blocks(work, plan.positions):
        answer.add(_merged([_cut(trie, *some) for trie in tries]))
        for trie in tries:
            for level in trie:
                forget(level.data, level.indices)
    return answer.finish()


def _sizes_below(trie: Trie) -> np.ndarray:
    """How many n-grams of all lengths begin with the symbols before each symbol, at most."""
    rows = np.arange(trie[0].shape[0] + 1)
    total = np.zeros(len(rows), np.int64)
    for level in trie:
        rows = np.asarray(level.indptr)[rows].astype(np.int64)
        total = np.maximum(total, rows)
    return total


def _cut(trie: Trie, begin: int, end: int) -> Trie:
    """The part of a trie whose n-grams begin with the symbols `begin` to `end`."""
    found: Trie = []
    for level in trie:
        indptr = level.indptr[begin : end + 1].astype(np.int64)
        entries = slice(int(indptr[0]), int(indptr[-1]))
        parts = np.asarray(level.data[entries]), np.asarray(level.indices[entries])
        found.append(csr(*parts, indptr - indptr[0], (end - begin, level.shape[1])))
        begin, end = entries.start, entries.stop
    return found


def _merged(tries: list[Trie]) -> Trie:
    total: Trie = []
    present: list[np.ndarray] = []
    for k in range(len(tries[0])):
        parts = [trie[k] for trie in tries]
        if k > 0:
            parts = [_spread(part, rows) for part, rows in zip(parts, present)]
        level = merge(parts)
        present = [_present(level, part) for part in parts] if k + 1 < len(tries[0]) else []
        total.append(level)
    return total


def _present(level: CSR, part: CSR) -> np.ndarray:
    """Which entries of the sum a part has."""
    from eigentext.moments import _ngram_loops

    present = np.zeros(level.nnz, np.bool_)
    indptr, part_indptr = (matrix.indptr.astype(np.int64) for matrix in (level, part))
    indices = np.asarray(part.indices)

    def mark(rows: tuple[int, int]) -> None:
        _ngram_loops.mark_present(indptr, level.indices, part_indptr, indices, *rows, present)

    list(engine.current().map(mark, engine.even_blocks(indptr, _BLOCK)))
    return present


def _spread(part: CSR, present: np.ndarray) -> CSR:
    """The matrix with empty rows where `present` is False."""
    lengths = np.zeros(len(present), np.int64)
    lengths[present] = np.diff(part.indptr)
    return csr(part.data, part.indices, _offsets(lengths), (len(present), part.shape[1]))


def relabeled(trie: Trie, places: np.ndarray, n: int) -> Trie:
    """The trie with symbol w moved to ``places[w]`` of n; n-grams that become equal are added."""
    answer: Trie = []
    rows, n_rows = places, n
    for level in trie:
        if answer:
            rows, n_rows = _moved(trie[len(answer) - 1], answer[-1], rows, places), answer[-1].nnz
        answer.append(_relabeled_level(level, rows, places, (n_rows, n)))
    return answer


def _relabeled_level(
    level: CSR, rows: np.ndarray, places: np.ndarray, shape: tuple[int, int]
) -> CSR:
    from eigentext.matrices import row_loops
    from eigentext.moments import _ngram_loops

    starts, sources = row_loops.sort_positions(rows, len(rows), shape[0])
    indptr, n = level.indptr.astype(np.int64), shape[1]

    def relabel(block: tuple[int, int]):
        return _ngram_loops.relabel_nodes(
            indptr, level.indices, level.data, starts, sources, places, n, block[0], block[1]
        )

    return assembled(relabel, _offsets(np.diff(indptr)[sources])[starts], shape)


def _moved(old: CSR, new: CSR, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The place in the new level of each entry of the old one."""
    from eigentext.moments import _ngram_loops

    indptr, new_indptr = old.indptr.astype(np.int64), new.indptr.astype(np.int64)
    found = np.empty(old.nnz, np.int32)

    def find(block: tuple[int, int]) -> None:
        _ngram_loops.find_entries(
            indptr, old.indices, rows, places, new_indptr, new.indices, block[0], block[1], found
        )

    list(engine.current().map(find, engine.even_blocks(indptr, _BLOCK)))
    return found
