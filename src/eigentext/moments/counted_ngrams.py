r"""N-gram counts of others as :class:`NgramMoments`: a trie that is complete and consistent.

A trie needs what a list of n-grams may lack: every n-gram's beginning and end. Let
:math:`c_k(x)` be the given count of a k-gram, 0 if it is not given. The count that is used is

.. math:: C_k(x) = \max\Big(c_k(x),\; \sum_y C_{k+1}(xy),\; \sum_y C_{k+1}(yx)\Big) .

If the counts are those of a whole text with its edges, all three agree wherever a sum is not empty.
Then nothing changes, and the longest n-grams alone give all the others. Counts that were cut
(Google leaves out n-grams that are rarer than 40) keep what is known about shorter ones.
"""

import hashlib
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.corpus import Vocabulary
from eigentext.corpus.ngram_counts import ENDS, STARTS, UNKNOWNS, NgramCounts, added_up
from eigentext.errors import CorpusError
from eigentext.matrices.runs import CSR, csr

Table = tuple[np.ndarray, np.ndarray]  # rows of symbols, and their counts


def trie_of(counts: NgramCounts) -> dict[str, Any]:
    """The vocabulary, unigrams, levels and sources of moments."""
    words, tables, n_edges = _symbols(counts)
    rare, edge = len(words), len(words) + 1
    order = max(tables, default=1)
    total = np.zeros(edge + 1, np.int64)
    if 1 in tables:
        total[tables[1][0][:, 0]] = tables[1][1]
    total[edge] = n_edges
    complete: dict[int, Table] = {}
    for k in range(order, 1, -1):
        complete[k] = _joined(tables.get(k), complete.get(k + 1))
    if order > 1:
        ids, numbers = complete[2]
        for column in (0, 1):
            sums = np.zeros(len(total), np.int64)
            np.add.at(sums, ids[:, column], numbers)
            total = np.maximum(total, sums)
    if not total[:rare].any():
        raise CorpusError("the n-gram counts have no words; give counts of words")
    vocabulary = Vocabulary.from_counts(words, total[:rare])
    V = len(vocabulary)
    places = np.append(vocabulary.ids_of(words), np.array([V, V + 1], np.int32))
    unigrams = np.concatenate([vocabulary.counts, total[rare:]])
    return {
        "vocabulary": vocabulary,
        "unigrams": unigrams,
        "levels": _levels([complete[k] for k in range(2, order + 1)], places, V + 2),
        "whole": unigrams[V] == 0,
        "sources": [_fingerprint(counts)],
    }


def _symbols(counts: NgramCounts) -> tuple[list[str], dict[int, Table], int]:
    """Words, rare words and edges get their numbers; n-grams with edges inside are left out."""
    kinds = {name: k for k, names in enumerate((STARTS, ENDS, UNKNOWNS), 1) for name in names}
    kind = np.array([kinds.get(word, 0) for word in counts.words], np.int8)
    words = [word for word, is_special in zip(counts.words, kind.tolist()) if not is_special]
    places = np.empty(len(kind), np.int32)
    places[kind == 0] = np.arange(len(words))
    places[kind == 3] = len(words)
    places[(kind == 1) | (kind == 2)] = len(words) + 1
    tables: dict[int, Table] = {}
    n_edges = n_inside = 0
    for k, (ids, numbers) in counts.tables.items():
        starts, ends = kind[ids] == 1, kind[ids] == 2
        if k == 1:
            n_edges = int(max(numbers[starts[:, 0]].sum(), numbers[ends[:, 0]].sum()))
            wrong = (starts | ends)[:, 0]
        else:
            inside = starts[:, 1:].any(axis=1) | ends[:, :-1].any(axis=1)
            wrong = inside | (starts[:, 0] & ends[:, 1] if k == 2 else inside)
            n_inside += int(inside.sum())
        tables[k] = added_up(places[ids[~wrong]], numbers[~wrong])
    if n_inside:
        warnings.warn(
            f"left out {n_inside:,} n-grams with {STARTS[0]} after their first or {ENDS[0]} before "
            "their last word; count without such padding",
            stacklevel=6,
        )
    return words, {k: table for k, table in tables.items() if k == 1 or len(table[1])}, n_edges


def _joined(given: Table | None, longer: Table | None) -> Table:
    """The k-grams that are given or part of a longer n-gram, with their counts C."""
    parts = [] if given is None else [given]
    if longer is not None:
        ids, numbers = longer
        parts += [added_up(ids[:, :-1], numbers), added_up(ids[:, 1:], numbers)]
    ids, numbers = (np.concatenate(arrays) for arrays in zip(*parts))
    return added_up(ids, numbers, np.maximum)


def _levels(tables: list[Table], places: np.ndarray, n: int) -> list[CSR]:
    """The trie: each entry of a level is a row of the next one."""
    levels: list[CSR] = []
    keys: list[np.ndarray] = []  # of each level: the row and the symbol of an entry as one number
    for ids, numbers in tables:
        ids = places[ids]
        order = np.lexsort(ids.T[::-1])
        ids, numbers = ids[order], numbers[order]
        rows = ids[:, 0].astype(np.int64)
        for column, known in enumerate(keys, start=1):
            rows = np.searchsorted(known, rows * n + ids[:, column])
        n_rows = len(keys[-1]) if keys else n
        starts = np.searchsorted(rows, np.arange(n_rows + 1))
        levels.append(csr(numbers, ids[:, -1], starts, (n_rows, n)))
        keys.append(rows * n + ids[:, -1])
    return levels


def _fingerprint(counts: NgramCounts) -> str:
    digest = hashlib.sha256("\n".join(counts.words).encode())
    for k, (ids, numbers) in counts.tables.items():
        digest.update(b"%d" % k)
        digest.update(np.ascontiguousarray(ids).tobytes())
        digest.update(np.ascontiguousarray(numbers).tobytes())
    return digest.hexdigest()


def forward_pairs(levels: list[CSR], edge: int, weights: np.ndarray, shape: tuple[int, int]) -> CSR:
    """F of a trie: w and c at distance d are the first and the last symbol of a (d + 1)-gram.

    `edge` is the symbol that is no word, and ``weights[d]`` the weight of a pair. If the shape has
    more columns than rows, there are as many columns for each distance.
    """
    n = shape[0]
    step = n if shape[1] > n else 0
    rows, columns, numbers = [], [], []
    firsts = np.arange(edge + 1, dtype=np.int64)
    for d, level in enumerate(levels[: len(weights) - 1], start=1):
        firsts = np.repeat(firsts, np.diff(level.indptr))
        lasts = level.indices.astype(np.int64)
        inside = (firsts != edge) & (lasts != edge)
        rows.append(firsts[inside])
        columns.append(lasts[inside] + (d - 1) * step)
        numbers.append(level.data[inside] * weights[d])
    places = np.concatenate(rows), np.concatenate(columns)
    forward = sp.coo_array((np.concatenate(numbers), places), shape=shape).tocsr()
    forward.sum_duplicates()
    return forward
