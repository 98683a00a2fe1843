"""Tries of n-grams as lists of sparse matrices: counted, merged and relabeled level by level.

See :mod:`eigentext.moments.ngrams` for their layout. Nodes of one depth are in lexicographic order.
"""

import math
import tempfile
from collections.abc import Callable

import numpy as np

from eigentext import engine
from eigentext.corpus import EncodedCorpus
from eigentext.matrices import budget
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.matrices.runs import CSR, assembled, csr, is_on_disk, merge, spilled
from eigentext.moments.states import SHARD, KeptCounts

Trie = list[CSR]
_FEWEST_BYTES = 1 << 25  # to count with, however small the budget is
_BLOCK = 1 << 19  # entries to look up in one task


def counted(
    encoded: EncodedCorpus, lookup: np.ndarray, order: int, n_shards: int | None
) -> tuple[int, Trie]:
    """The units and the trie of a corpus: shards that fit in memory are counted, then merged.

    `lookup` gives the symbol of each word, and the edge, the largest symbol, last.
    """
    n_tokens = len(encoded.tokens)
    memory = _memory()
    kept = KeptCounts({"text": encoded.fingerprint, "order": order}, lookup)
    if n_shards is None:
        # A token needs its id and its position. If there are several shards, their counts need
        # memory too: at worst a new entry on each level, and a row of the next level.
        affordable = memory // 2 // (8 + 20 * (order - 1))
        n_shards = 1 if 8 * n_tokens <= memory // 2 else -(-n_tokens // affordable)
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
                units, trie = count_shard(tokens, n_positions, int(lookup[-1]) + 1, order, advance)
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
        total = merged(tries)
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
    tokens: np.ndarray, n_positions: int, n: int, order: int, advance: Callable[[int], None]
) -> tuple[int, Trie]:
    """The number of units and the trie of a shard, level by level."""
    from eigentext.matrices import row_loops
    from eigentext.moments import _ngram_loops

    def count_level(starts: np.ndarray, lengths: np.ndarray, ends_in: np.ndarray) -> CSR:
        depth = len(trie) + 1
        keep = depth < order - 1

        def count_rows(rows: tuple[int, int]):
            return _ngram_loops.count_next(
                tokens, positions, starts, lengths, ends_in, depth, n, keep, rows[0], rows[1]
            )

        return assembled(count_rows, _offsets(lengths), (len(lengths), n), advance)

    starts, positions = row_loops.sort_positions(tokens, n_positions, n)
    starts, lengths, ends_in = starts[:-1], np.diff(starts), np.arange(n, dtype=np.int32)
    n_units = int(lengths[-1])
    trie: Trie = []
    while len(trie) < order - 1:
        if trie:
            # The positions of a child follow those of the children before it, within the parent's.
            offsets, indptr = _offsets(trie[-1].data), trie[-1].indptr
            starts = offsets[:-1] + np.repeat(starts - offsets[indptr[:-1]], np.diff(indptr))
            lengths, ends_in = trie[-1].data, trie[-1].indices
        trie.append(count_level(starts, lengths, ends_in))
    return n_units, trie


def _offsets(lengths: np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def merged(tries: list[Trie]) -> Trie:
    """The sum of tries over the same symbols, in memory or on disk.

    Nodes are in lexicographic order in each trie and in the sum. So a part has some of the rows of
    the sum, in the same order. With empty rows in place of the others, it can be added.
    """
    if len(tries) == 1:
        return tries[0]
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
