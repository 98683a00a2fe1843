"""Hankel matrices: counts by hand, sums of shards, streams, and bad bases."""

from itertools import product

import numpy as np
import pytest

from eigentext import NgramMoments, engine
from eigentext.errors import CorpusError, MomentsError
from eigentext.moments.hankel import Basis, Hankel, Trie, basis_trie, order_of

STATISTICS = ["string", "prefix", "substring"]
UNITS = [[0, 1], [0, 1, 1], [1], [0, 0, 1, 0]]


def random_units(seed=0, size=60, n=3):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, n, rng.integers(1, 9)).tolist() for _ in range(size)]


def all_strings(longest, n):
    return [string for k in range(longest + 1) for string in product(range(n), repeat=k)]


def count(units, string, statistics):
    """Count by the definition."""
    string, k = list(string), len(string)
    if statistics == "string":
        return sum(unit == string for unit in units)
    if statistics == "prefix":
        return sum(unit[:k] == string for unit in units)
    return sum(unit[t : t + k] == string for unit in units for t in range(len(unit) - k + 1))


def hankel(units, basis, statistics, order=None):
    longest = (max(map(len, strings)) for strings in basis)
    order = order or order_of(statistics, *longest)
    return Hankel.of(Trie.of(NgramMoments.from_corpus(units, order=order)), basis, statistics)


@pytest.mark.parametrize("statistics", STATISTICS)
def test_every_entry_by_its_definition(statistics):
    units = random_units()
    basis = Basis(all_strings(2, 3), [*all_strings(1, 3), (2, 1), (2, 2, 0)])
    found = hankel(units, basis, statistics)
    H, middles = found.H.toarray(), found.middles.toarray()
    free = "substring" if statistics == "substring" else "prefix"
    pairs = list(zip(found.pair_prefixes.tolist(), found.pair_symbols.tolist()))
    assert pairs == sorted(pairs, key=lambda pair: pair[1])
    for i, p in enumerate(basis.prefixes):
        assert found.totals[i] == count(units, p, free)
        ended = [unit for unit in units if tuple(unit) == p]
        if free == "substring":
            ended = [unit for unit in units if tuple(unit[len(unit) - len(p) :]) == p]
            ended = [unit for unit in ended if len(unit) >= len(p)]
        assert found.stops[i] == len(ended)
        for j, s in enumerate(basis.suffixes):
            assert H[i, j] == count(units, p + s, statistics)
            for x in range(3):
                expected = count(units, (*p, x, *s), statistics)
                row = middles[pairs.index((i, x)), j] if (i, x) in pairs else 0
                assert row == expected
        for x in range(3):
            if (i, x) in pairs:
                assert found.nexts[pairs.index((i, x))] == count(units, (*p, x), free)
    ends = statistics == "string"
    for j, s in enumerate(basis.suffixes):
        assert found.starts[j] == count(units, s, "string" if ends else "prefix")
        for x in range(3):
            after = [unit for unit in units if tuple(unit[len(unit) - len(s) - 1 :]) == (x, *s)]
            expected = len(after) if ends else count(units, (x, *s), "substring")
            assert found.follow[x, j] == expected
    assert found.n_units == len(units)
    assert found.frequencies.tolist() == np.bincount(np.concatenate(units)).tolist()


def test_by_hand():
    found = hankel(UNITS, Basis([(), (0,)], [(), (1,)]), "substring")
    assert found.H.toarray().tolist() == [[14, 5], [5, 3]]  # the empty string is at every place
    found = hankel(UNITS, Basis([(), (0,)], [(), (1,)]), "prefix")
    assert found.H.toarray().tolist() == [[4, 1], [3, 2]]
    found = hankel(UNITS, Basis([(), (0,)], [(), (1,)]), "string")
    assert found.H.toarray().tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("n_shards", [2, 5])
def test_shards_add_up_to_the_same_bits(statistics, n_shards):
    units = random_units(1, 80)
    basis = Basis(all_strings(2, 3), all_strings(2, 3))
    order = order_of(statistics, 2, 2)
    whole = NgramMoments.from_corpus(units, order=order)
    parts = [NgramMoments.from_corpus(units[k::n_shards], order=order) for k in range(n_shards)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    one, other = (Hankel.of(Trie.of(moments), basis, statistics) for moments in (whole, total))
    sums = sum(Hankel.of(Trie.of(part), basis, statistics).H.toarray() for part in parts)
    assert np.array_equal(one.H.toarray(), sums)
    assert one.H.dtype == np.int64
    for name, part in vars(one).items():
        if hasattr(part, "indptr"):
            for array in ("indptr", "indices", "data"):
                assert np.array_equal(getattr(part, array), getattr(getattr(other, name), array))
        else:
            assert np.array_equal(part, getattr(other, name))


def test_the_same_bits_on_any_number_of_threads():
    moments = NgramMoments.from_corpus(random_units(2, 500), order=5)
    basis = Basis(all_strings(2, 3), all_strings(2, 3))
    found = []
    for threads in (1, 3):
        with engine.use(engine.ThreadEngine(threads)):
            found.append(Hankel.of(Trie.of(moments), basis, "substring").middles)
    assert np.array_equal(found[0].data, found[1].data)
    assert np.array_equal(found[0].indices, found[1].indices)


def test_a_stream_is_counted_in_whole_windows():
    stream = random_units(3, 1)[0] * 5 + [0, 1, 2]
    basis = Basis(all_strings(1, 3), all_strings(1, 3))
    found = hankel(stream, basis, "substring")
    windows = [tuple(stream[t : t + 3]) for t in range(len(stream) - 2)]
    for i, p in enumerate(basis.prefixes):
        for j, s in enumerate(basis.suffixes):
            ps = p + s
            assert found.H[i, j] == sum(window[: len(ps)] == ps for window in windows)
    assert found.n_units == len(windows)
    assert not found.stops.any()
    # What follows a prefix adds up to the prefix.
    sums = np.bincount(found.pair_prefixes, found.nexts, 4)
    assert np.array_equal(sums, found.totals)


def test_the_most_frequent_strings():
    trie = Trie.of(NgramMoments.from_corpus(UNITS, order=4))
    assert trie.frequent(4, 2) == [(), (0,), (1,), (0, 1)]
    assert trie.frequent(99, 1) == [(), (0,), (1,)]
    edge = trie.node([trie.edge])
    assert trie.frequent(3, 2, after=edge) == [(), (0,), (0, 1)]
    assert trie.frequent(3, 2, anchored=True) == [(), (1,), (0,)]
    counts = [trie.counts[trie.node(string)] for string in trie.frequent(50, 3)]
    assert counts[1:] == sorted(counts[1:], reverse=True)
    assert trie.node([0, 1, 7]) == -1


def test_a_part_of_a_basis_is_a_part_of_the_matrix():
    units = random_units(4)
    strings = all_strings(2, 3)
    whole = hankel(units, Basis(strings, strings), "substring")
    part = whole.part(4, 5)
    alone = hankel(units, Basis(strings[:4], strings[:5]), "substring", order=5)
    for name, value in vars(alone).items():
        mine = getattr(part, name)
        if hasattr(value, "toarray"):
            value, mine = value.toarray(), mine.toarray()
        assert np.array_equal(value, mine), name


def test_strings_that_never_occur_are_zeros():
    found = hankel(UNITS, Basis([(0,), (1, 1, 1)], [(1,), (7,)]), "substring")
    assert found.H.toarray().tolist() == [[3, 0], [0, 0]]
    assert found.totals.tolist() == [5, 0]
    assert found.stops.tolist() == [1, 0]
    assert set(found.pair_prefixes.tolist()) == {0}


def test_what_the_counts_do_not_hold():
    trie = Trie.of(NgramMoments.from_corpus(UNITS, order=3))
    with pytest.raises(MomentsError, match="n-grams of 3 symbols, but this basis needs 5"):
        Hankel.of(trie, Basis([(0,)], [(1,)]), "string")
    stream = Trie.of(NgramMoments.from_corpus([0, 1, 0, 1], order=4))
    with pytest.raises(CorpusError, match=r"a stream has no starts.*statistics='substring'"):
        Hankel.of(stream, Basis([(0,)], [(1,)]), "prefix")
    with pytest.raises(CorpusError, match="no window of 6 symbols"):
        Trie.of(NgramMoments.from_corpus([0, 1, 0], order=6))


def test_the_trie_of_a_basis():
    begins, symbols, places = basis_trie([(1, 0), (), (2,)])
    assert symbols.tolist() == [0, 1, 2, 0]
    assert places.tolist() == [1, -1, 2, 0]
    assert begins.tolist() == [1, 3, 4, 4, 4]
