"""Tries of n-grams as lists of sparse matrices: counted, merged and relabelled level by level.

See :mod:`eigentext.moments.ngrams` for their layout. Nodes of one depth are in lexicographic order.
"""

import tempfile
from collections.abc import Callable

import numpy as np

from eigentext import engine
from eigentext.corpus import EncodedCorpus
from eigentext.moments.runs import CSR, assembled, csr, merge, spilled

Trie = list[CSR]
_BLOCK = 1 << 19  # entries to look up that make a task


def counted(
    encoded: EncodedCorpus, lookup: np.ndarray, order: int, memory: int, n_shards: int | None
) -> tuple[int, Trie]:
    """Units and trie of a corpus: shards that fit in memory, each counted, then merged.

    `lookup` gives the symbol of each word, and the edge, the largest symbol, last.
    """
    n_tokens = len(encoded.tokens)
    if n_shards is None:
        # A token needs its id and its position. If all do not fit, also the counts of a shard need
        # room besides the answer: at worst a new entry on each level, and a row of the next.
        affordable = max(1, memory // 2 // (8 + 20 * (order - 1)))
        n_shards = 1 if 8 * n_tokens <= memory // 2 else -(-n_tokens // affordable)
    tries: list[Trie] = []
    n_units = held = 0
    with (
        tempfile.TemporaryDirectory(prefix="eigentext-") as folder,
        engine.phase("count", n_tokens * (order - 1), "tokens") as advance,
    ):
        for start, stop in encoded.shards(n_shards):
            tokens, n_positions = _windows(encoded.tokens, lookup, start, stop, order)
            units, trie = _count_shard(tokens, n_positions, int(lookup[-1]) + 1, order, advance)
            n_units += units
            size = sum(12 * level.nnz for level in trie)
            if held + size > memory // 2:
                trie = [
                    spilled(level, folder, order * len(tries) + k) for k, level in enumerate(trie)
                ]
            else:
                held += size
            tries.append(trie)
        return n_units, merged(tries)


def _windows(
    tokens: np.ndarray, lookup: np.ndarray, start: int, stop: int, order: int
) -> tuple[np.ndarray, int]:
    """The symbols of a shard and those its last windows reach, and how many windows begin in it.

    The first shard has the edge that the corpus begins with, and each has an edge to spare. Of
    several edges in a row only the last is one: -1 instead means that no window begins there.
    """
    edge, before = lookup[-1], int(start == 0)
    tokens = tokens[start : stop + max(1, order - 1)]
    symbols = np.full(before + len(tokens) + 1, edge, np.int32)
    np.take(lookup, tokens, out=symbols[before:-1], mode="wrap")  # -1 is the last place
    edges = symbols == edge
    symbols[:-1][edges[:-1] & edges[1:]] = -1
    return symbols, stop - start + before


def _count_shard(
    tokens: np.ndarray, n_positions: int, n: int, order: int, advance: Callable[[int], None]
) -> tuple[int, Trie]:
    """Units and trie of a shard, level by level."""
    from eigentext.moments import _kernels, _ngram_kernels

    def count_level(starts: np.ndarray, lengths: np.ndarray, ends_in: np.ndarray) -> CSR:
        depth = len(trie) + 1
        keep = depth < order - 1

        def count_rows(rows: tuple[int, int]):
            return _ngram_kernels.count_next(
                tokens, positions, starts, lengths, ends_in, depth, n, keep, rows[0], rows[1]
            )

        return assembled(count_rows, _offsets(lengths), (len(lengths), n), advance)

    starts, positions = _kernels.sort_positions(tokens, n_positions, n)
    starts, lengths, ends_in = starts[:-1], np.diff(starts), np.arange(n, dtype=np.int32)
    n_units = int(lengths[-1])
    trie: Trie = []
    while len(trie) < order - 1:
        if trie:
            # A child's positions follow those of its elder sisters, from where the parent's began.
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

    Nodes are in lexicographic order in each trie and in the sum. So a part has the rows of the sum,
    in the same order but for those it lacks: with empty rows put in, it is a matrix to be added.
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
    from eigentext.moments import _ngram_kernels

    present = np.zeros(level.nnz, np.bool_)
    indptr, part_indptr = (matrix.indptr.astype(np.int64) for matrix in (level, part))
    indices = np.asarray(part.indices)

    def mark(rows: tuple[int, int]) -> None:
        _ngram_kernels.mark_present(indptr, level.indices, part_indptr, indices, *rows, present)

    list(engine.current().map(mark, engine.even_blocks(indptr, _BLOCK)))
    return present


def _spread(part: CSR, present: np.ndarray) -> CSR:
    """The matrix with empty rows put in where there is none."""
    lengths = np.zeros(len(present), np.int64)
    lengths[present] = np.diff(part.indptr)
    return csr(part.data, part.indices, _offsets(lengths), (len(present), part.shape[1]))


def relabelled(trie: Trie, places: np.ndarray, n: int) -> Trie:
    """The trie with symbol w moved to ``places[w]`` of n; what meets there is added up."""
    answer: Trie = []
    rows, n_rows = places, n
    for level in trie:
        if answer:
            rows, n_rows = _moved(trie[len(answer) - 1], answer[-1], rows, places), answer[-1].nnz
        answer.append(_relabelled_level(level, rows, places, (n_rows, n)))
    return answer


def _relabelled_level(
    level: CSR, rows: np.ndarray, places: np.ndarray, shape: tuple[int, int]
) -> CSR:
    from eigentext.moments import _kernels, _ngram_kernels

    starts, sources = _kernels.sort_positions(rows, len(rows), shape[0])
    indptr, n = level.indptr.astype(np.int64), shape[1]

    def relabel(block: tuple[int, int]):
        return _ngram_kernels.relabel_nodes(
            indptr, level.indices, level.data, starts, sources, places, n, block[0], block[1]
        )

    return assembled(relabel, _offsets(np.diff(indptr)[sources])[starts], shape)


def _moved(old: CSR, new: CSR, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Where in the new level each entry of the old one went."""
    from eigentext.moments import _ngram_kernels

    indptr, new_indptr = old.indptr.astype(np.int64), new.indptr.astype(np.int64)
    found = np.empty(old.nnz, np.int32)

    def find(block: tuple[int, int]) -> None:
        _ngram_kernels.find_entries(
            indptr, old.indices, rows, places, new_indptr, new.indices, block[0], block[1], found
        )

    list(engine.current().map(find, engine.even_blocks(indptr, _BLOCK)))
    return found
