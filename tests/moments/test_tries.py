"""Tries are the same however they were counted, and their sums and cuts are those of matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import NgramMoments, TextCorpus, engine
from eigentext.corpus import encode
from eigentext.moments import tries
from eigentext.moments.tries import Plan, merged, relabeled
from eigentext.storage.maps import is_mapped

N = 9


def random_trie(rng, depth=3):
    """Any counts will do: the trie need not come from a text."""
    trie, n_rows = [], N
    for _ in range(depth):
        level = sp.csr_array(rng.integers(0, 5, (n_rows, N)) * (rng.random((n_rows, N)) < 0.3))
        level.sort_indices()
        trie.append(level)
        n_rows = level.nnz
    return trie


def dense(trie):
    """The counts of the longest n-grams as a dense array, and those of all shorter ones."""
    rows, answer = np.arange(N)[:, None], []
    for level in trie:
        entries = sp.coo_array(level)
        rows = np.column_stack([rows[entries.coords[0]], entries.coords[1]])
        counts = np.zeros((N,) * rows.shape[1], int)
        counts[tuple(rows.T)] = entries.data
        answer.append(counts)
        assert np.array_equal(rows, np.argwhere(counts))  # in lexicographic order
    return answer


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_merging_adds(n_parts):
    rng = np.random.default_rng(n_parts)
    tries = [random_trie(rng) for _ in range(n_parts)]
    total = dense(merged(tries))
    for k, parts in enumerate(zip(*map(dense, tries))):
        assert np.array_equal(total[k], sum(parts))


@pytest.mark.parametrize("positions", [1, 5, 1000])
def test_merging_by_ranges_of_first_symbols_adds_the_same(positions):
    rng = np.random.default_rng(3)
    parts = [random_trie(rng) for _ in range(3)]
    whole, found = merged(parts), merged(parts, Plan(3, positions, on_disk=True))
    for a, b in zip(whole, found):
        assert a.shape == b.shape
        assert (a != b).nnz == 0
        assert is_mapped(b.data)


def test_plans_keep_to_their_memory():
    # Twenty million tokens of order 5 in half a gigabyte: one shard, by ranges, in files.
    plan = Plan.of(20_000_000, 5, 1 << 29)
    assert (plan.n_shards, plan.on_disk) == (1, True)
    assert plan.positions * (80 + 16) <= (1 << 29) // 4
    # Text that does not fit is divided into shards, each of which does.
    plan = Plan.of(2_000_000_000, 5, 1 << 29)
    assert plan.on_disk
    assert -(-2_000_000_000 // plan.n_shards) * (8 + 20 * 4) <= (1 << 29) // 2
    # Small text is counted at once, and so is all text if nobody states a budget.
    assert Plan.of(1000, 5, 1 << 29) == (1, 1001, False)
    assert Plan.of(20_000_000, 5, 2_000_000_000, is_stated=False) == (1, 20_000_001, False)
    for n_tokens in (0, 1, 10**6):
        for order in (1, 2, 9):
            assert min(Plan.of(n_tokens, order, 1 << 25)[:2]) >= 1


def test_a_stated_budget_puts_counts_in_files(zipf_lines, monkeypatch):
    corpus = encode(TextCorpus(zipf_lines(300), kind="texts"))
    whole = NgramMoments.from_corpus(corpus, order=4)
    monkeypatch.setattr(tries, "_FEWEST_BYTES", 150_000)
    few = NgramMoments.from_corpus(corpus, order=4, memory=1)
    assert few == whole
    assert all(is_mapped(level.data) and is_mapped(level.indices) for level in few.levels)
    assert not any(is_mapped(level.data) for level in whole.levels)
    assert few + few == whole + whole
    assert few.restrict(min_count=3) == whole.restrict(min_count=3)


@pytest.mark.parametrize("places", [[8, 7, 6, 5, 4, 3, 2, 1, 0], [2, 2, 0, 1, 2, 0, 0, 1, 1]])
def test_relabeling_moves_and_adds(places):
    places = np.array(places, np.int32)
    trie = random_trie(np.random.default_rng(7))
    found = dense(relabeled(trie, places, N))
    for k, counts in enumerate(dense(trie)):
        expected = np.zeros_like(counts)
        np.add.at(expected, np.ix_(*[places] * (k + 2)), counts)
        assert np.array_equal(found[k], expected)


@pytest.mark.parametrize("unit", ["line", "stream"])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_same_bits_for_any_shards_threads_and_memory(zipf_lines, monkeypatch, unit, order):
    lines = ["", "", *zipf_lines(300), "", ""]
    corpus = encode(TextCorpus(lines, kind="texts", unit=unit))
    reference = NgramMoments.from_corpus(corpus, order=order, n_shards=1)
    for n_shards in (2, 3, 100):
        for threads in (1, 4):
            with engine.use(engine.ThreadEngine(threads)):
                found = NgramMoments.from_corpus(corpus, order=order, n_shards=n_shards)
            assert found == reference
    # Hardly any memory: many shards, all of them waiting on disk.
    monkeypatch.setattr(tries, "_FEWEST_BYTES", 20_000)
    assert NgramMoments.from_corpus(corpus, order=order, memory=1) == reference
