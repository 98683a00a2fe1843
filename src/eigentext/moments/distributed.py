"""Counting on a Dask cluster: each worker counts the shards that it has read.

The rows of a matrix are divided into ranges. Each worker cuts the counts of a shard at their
borders. The workers then add each range over all shards, in a tree. No worker ever holds the whole
matrix, and the parts of the sum stay on the workers until they are needed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import getitem
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.encoded import END
from eigentext.corpus.shards import EncodedShard, ShardedCorpus, encode_on
from eigentext.corpus.symbols import UNKNOWN
from eigentext.corpus.tokenizers import UNIT_END
from eigentext.matrices import budget
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.matrices.lazy import Later
from eigentext.matrices.ranges import RowRanges
from eigentext.matrices.runs import CSR, csr, merge, rows_of, transposed
from eigentext.moments import multisets, tries
from eigentext.moments.additive import Counted
from eigentext.moments.pairs import check_pairs, check_sums, counted_shard
from eigentext.moments.states import KeptCounts

_RANGE_BYTES = 64 << 20  # of a range of rows if all its pairs are different
_MOST_RANGES = 128  # every range exchanges a part of its transpose with every other
_ENTRY = 12
_MOST_PARTS = 4096  # shards times ranges; if there are more, whole shards are added first,
_TOGETHER = 8  # this many together
_WAVE = 64  # shards between two checkpoints


def cooccurrences(
    corpus: Any,
    weights: np.ndarray,
    shape_of: Callable[[int], tuple[int, int]],
    *,
    min_count: int,
    max_size: int | None,
) -> Counted:
    """Forward counts of a corpus: in this process if the memory budget has room, else on workers.

    `weights` are the weights of the distances 0 to the window. `shape_of` gives the shape of the
    counts for a number of words.
    """
    window = len(weights) - 1
    text = encode_on(corpus, reach=window)
    check_pairs(text.n_tokens)
    words, found = _vocabulary(text, min_count, max_size)
    check_sums(found.vocabulary, found.rare_count, weights)
    n = len(found.vocabulary) + (not found.whole)
    shape = shape_of(n)
    borders = _borders(found, n, window)
    spec = PairCounts(weights, shape, borders, len(found.vocabulary) if not found.whole else n)
    counts = RowRanges(
        _summed(text, words, spec, found, window), borders, shape, np.dtype(np.int64)
    )
    most = budget.current().left / 3 if budget.current().is_stated else DEFAULT_MEMORY
    found.counts = gathered(counts) if counts.nbytes <= most else OnWorkers(counts)
    return found


def ngrams(corpus: Any, order: int, *, min_count: int, max_size: int | None) -> tuple[Counted, int]:
    """Bring the trie of n-grams of a corpus here; also return the number of its units."""
    cluster = _cluster()
    reach = max(1, order - 1)
    text = encode_on(corpus, reach=reach)
    words, found = _vocabulary(text, min_count, max_size)
    spec = NgramCounts(order, len(found.vocabulary))
    key = {"text": text.fingerprint, "order": order, "shards": len(text.shards)}
    kept = KeptCounts(key, found.vocabulary.counts)
    items = _with_halo(text, reach, found)
    sums: list[tuple[int, tries.Trie]] = []
    with engine.phase("count", len(items), "shards") as advance:
        for name, wave in _waves(items, kept):
            if state := kept.read(name):
                sums.append((state[1]["units"], state[0]))
                advance(len(wave))
                continue
            shards = cluster.keep(count_ngrams, wave, words, spec)
            for _ in cluster.finished(shards):
                advance(1)
            n_units, trie = cluster.fetch(cluster.combine(_add_tries, shards))
            kept.write(name, trie, units=n_units)
            sums.append((n_units, trie))
    n_units, found.counts = engine.combined(_add_tries, sums)
    return found, n_units


def documents(corpus: Any) -> Counted:
    """Bring documents by words here: distinct rows, how often each occurs, and empty documents."""
    cluster = _cluster()
    text = encode_on(corpus, whole_units=True)
    words, found = _vocabulary(text, 1, None)
    drop_empty = text.options["unit"] == "line" and text.options["tokenizer"] != "none"
    shards = cluster.keep(count_documents, text.shards, words, drop_empty)
    with engine.phase("count", len(shards), "shards") as advance:
        for _ in cluster.finished(shards):
            advance(1)
        found.counts = cluster.fetch(cluster.combine(_add_documents, shards))
    return found


class OnWorkers(Later[CSR]):
    """Counts that stay on the Dask workers until somebody needs them in this process."""

    def __init__(self, counts: RowRanges):
        super().__init__(gathered, counts)
        self.counts = counts

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return self.counts.nnz


def gathered(counts: RowRanges) -> CSR:
    """The matrix in this process."""
    indptr, indices, data = counts.gathered()
    return csr(data, indices, indptr, counts.shape)


def mirrored(F: RowRanges, function: Callable[[np.ndarray], np.ndarray], dtype: Any) -> RowRanges:
    """A function of each entry of F + F', on the workers: see :func:`runs.mirrored`."""
    cluster = _cluster()
    pieces = list(pairwise(F.borders))
    places = [(part, start) for part, (start, _) in zip(F.ranges, pieces)]
    turned = cluster.keep(_turned, places, F.borders)
    items = [[part, *cluster.keep(getitem, turned, number)] for number, part in enumerate(F.ranges)]
    ranges = cluster.keep(_mirrored, items, function, dtype)
    with engine.phase("mirror", len(ranges), "ranges") as advance:
        for _ in cluster.finished(ranges):
            advance(1)
    return RowRanges(ranges, F.borders, F.shape, np.dtype(dtype))


# These objects go to the workers with each shard.


@dataclass
class PairCounts:
    """How to count pairs.

    These are the weights of the distances, the shape of the counts, the borders of the ranges of
    rows, and the row of words outside the vocabulary.
    """

    weights: np.ndarray
    shape: tuple[int, int]
    borders: list[int]
    rare: int


@dataclass
class NgramCounts:
    """How to count n-grams: their order, and the number of words."""

    order: int
    n_words: int


# A shard, the ids that follow it, and whether it is the first.
Haloed = tuple[EncodedShard, np.ndarray, bool]


def count_pairs(item: Haloed, words: Any, spec: PairCounts) -> list[CSR]:
    """The forward counts of a shard, by ranges of rows."""
    shard, halo, _ = item
    tokens = np.concatenate([shard.ids_in(words, outside=spec.rare)[shard.tokens], halo])
    F = counted_shard(tokens, len(shard.tokens), spec.weights, spec.shape)
    return [_rows(F, start, stop) for start, stop in pairwise(spec.borders)]


def count_ngrams(item: Haloed, words: Any, spec: NgramCounts) -> tuple[int, tries.Trie]:
    """The number of units and the trie of a shard."""
    shard, halo, is_first = item
    lookup = shard.ids_in(words, outside=spec.n_words)
    lookup[END] = spec.n_words + 1
    halo = np.where(halo == END, spec.n_words + 1, halo)
    symbols = np.concatenate([lookup[shard.tokens], halo]).astype(np.int32)
    edge = spec.n_words + 1
    windows, n_positions = tries.windows(symbols, len(shard.tokens), edge, is_first=is_first)
    return tries.count_shard(windows, n_positions, edge + 1, spec.order, lambda amount: None)


def count_documents(
    shard: EncodedShard, words: Any, drop_empty: bool
) -> tuple[CSR, np.ndarray, int]:
    """The distinct documents of a shard, how often each occurs, and how many are empty."""
    ids = shard.ids_in(words, outside=UNKNOWN)[shard.tokens]
    if drop_empty:  # lines without tokens
        ids = ids[(ids != END) | (np.append(END, ids[:-1]) != END)]
    X = multisets.counted(ids, len(words))
    return _distinct(X, np.ones(X.shape[0], np.int64), 0)


# Private steps.


def _cluster() -> Any:
    cluster = engine.distributed()
    assert cluster is not None
    return cluster


def _vocabulary(text: ShardedCorpus, min_count: int, max_size: int | None) -> tuple[Any, Counted]:
    """The vocabulary on the workers, and what is known about the corpus so far."""
    with engine.phase("vocabulary"):
        words, table = text.vocabulary(min_count, max_size)
        vocabulary = Vocabulary(table["word"].to_pylist(), table["count"].to_numpy())
    whole = len(vocabulary) == text.n_words
    return words, Counted(vocabulary, whole, text.n_tokens, dict(text.options), text.fingerprint)


def _borders(found: Counted, n: int, window: int) -> list[int]:
    """The borders of ranges of rows of about equal size, each small enough for a task at worst."""
    counts = np.full(n, found.n_tokens)
    counts[: len(found.vocabulary)] = found.vocabulary.counts
    work = np.zeros(n + 1, np.int64)
    np.cumsum(np.minimum(counts * window, n * window), out=work[1:])
    size = max(_RANGE_BYTES // _ENTRY, work[-1] // _MOST_RANGES)
    return [0, *(stop for _, stop in engine.even_blocks(work, int(size)))]


def _with_halo(text: ShardedCorpus, reach: int, found: Counted) -> list[Haloed]:
    """Each shard with the ids of the tokens after it. The corpus ends with the end of a unit."""
    last = len(text.shards) - 1
    rare = len(found.vocabulary)
    items = []
    for number, shard in enumerate(text.shards):
        words = text.following(number, reach)
        if len(words) < reach or number == last:
            words = [*words, UNIT_END]
        ids = found.vocabulary.ids_of(words)
        ids[ids < 0] = rare
        ids[[word == UNIT_END for word in words]] = END
        items.append((shard, ids, number == 0))
    return items


def _summed(
    text: ShardedCorpus, words: Any, spec: PairCounts, found: Counted, window: int
) -> list[Any]:
    """The sums of all shards by ranges of rows, on the workers.

    With a checkpoint, they are brought here and saved wave by wave.
    """
    cluster = _cluster()
    ranges = range(len(spec.borders) - 1)
    kept = KeptCounts(
        {
            "text": text.fingerprint,
            "weights": spec.weights.tolist(),
            "shape": list(spec.shape),
            "borders": spec.borders,
            "shards": len(text.shards),
        },
        found.vocabulary.counts,
    )
    items = _with_halo(text, window, found)
    waves: list[list[Any]] = []
    with engine.phase("count", len(items), "shards") as advance:
        for name, wave in _waves(items, kept):
            state = [part for r in ranges if (part := kept.read(f"{name}.{r}"))]
            if len(state) == len(ranges):
                waves.append([cluster.share(matrices[0]) for matrices, _ in state])
                advance(len(wave))
                continue
            shards = cluster.keep(count_pairs, wave, words, spec)
            for _ in cluster.finished(shards):
                advance(1)
            waves.append(_added(shards, ranges))
            for r, total in zip(ranges, waves[-1]) if kept.in_use else ():
                kept.write(f"{name}.{r}", [cluster.fetch(total)])
    with engine.phase("add up", len(ranges), "ranges") as advance:
        sums = [cluster.combine(_add, [wave[r] for wave in waves]) for r in ranges]
        for _ in cluster.finished(sums):
            advance(1)
    return sums


def _waves(items: list[Haloed], kept: KeptCounts) -> Iterator[tuple[str, list[Haloed]]]:
    """The shards between two saved states, and the name of their counts there."""
    size = _WAVE if kept.in_use else len(items)
    for first in range(0, len(items), size):
        yield f"wave-{first}", items[first : first + size]


def _added(shards: Sequence[Any], ranges: Sequence[int]) -> list[Any]:
    """The sums of the ranges into which shards were cut."""
    cluster = _cluster()
    groups = list(shards)
    if len(shards) * len(ranges) > _MOST_PARTS:  # else there would be many small tasks
        starts = range(0, len(shards), _TOGETHER)
        groups = [cluster.combine(_add_all, shards[first : first + _TOGETHER]) for first in starts]
    return [cluster.combine(_add, cluster.keep(getitem, groups, r)) for r in ranges]


def _rows(F: CSR, start: int, stop: int) -> CSR:
    if (start, stop) == (0, F.shape[0]):
        return F
    indptr, indices, data = rows_of(F, start, stop)
    return csr(data.copy(), indices.copy(), indptr, (stop - start, F.shape[1]))


def _turned(item: tuple[CSR, int], borders: list[int]) -> list[CSR]:
    """The transpose of a range of rows, cut into ranges of its rows; `item` has the first row."""
    part, first = item
    back = transposed(part)
    found = []
    for start, stop in pairwise(borders):
        indptr, indices, data = rows_of(back, start, stop)
        columns = (indices + np.int32(first)).astype(np.int32)
        found.append(csr(data.copy(), columns, indptr, (stop - start, borders[-1])))
    return found


def _mirrored(parts: list[CSR], function: Callable[[np.ndarray], np.ndarray], dtype: Any) -> CSR:
    total = merge(parts)
    data = function(total.data).astype(dtype, copy=False)
    return csr(data, total.indices, total.indptr, total.shape)


def _add(a: CSR, b: CSR) -> CSR:
    return merge([a, b])


def _add_all(a: list[CSR], b: list[CSR]) -> list[CSR]:
    return [merge([part, other]) for part, other in zip(a, b)]


def _add_tries(a: tuple[int, tries.Trie], b: tuple[int, tries.Trie]) -> tuple[int, tries.Trie]:
    return a[0] + b[0], tries.merged([a[1], b[1]])


def _add_documents(a: Any, b: Any) -> tuple[CSR, np.ndarray, int]:
    X = sp.vstack([a[0], b[0]], format="csr")
    return _distinct(X, np.concatenate([a[1], b[1]]), a[2] + b[2])


def _distinct(X: CSR, times: np.ndarray, n_empty: int) -> tuple[CSR, np.ndarray, int]:
    filled = np.diff(X.indptr) > 0
    n_empty += int(times[~filled].sum())
    if not filled.all():
        X, times = X[filled], times[filled]
    if X.shape[0]:
        X, times = multisets.distinct(X, times)
    return X, times, n_empty
