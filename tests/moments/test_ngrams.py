"""Counts of n-grams: against a slow twin, and the laws of their addition."""

import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext import NgramMoments, TextCorpus
from eigentext.errors import ModelFileError, MomentsError, ParameterError
from eigentext.matrices.lazy import waiting
from eigentext.storage import read_saved, write_saved

UNITS = st.lists(st.text("abcde", max_size=7).map(list), min_size=1, max_size=6)
NUMBERS = st.lists(st.lists(st.integers(0, 9), max_size=7), min_size=1, max_size=6)
ORDERS = st.integers(1, 5)
EDGE, RARE = "<edge>", "<rare>"


def moments(units, **settings):
    return NgramMoments.from_corpus([*units, ["a", "b"]], **settings)


def by_hand(units, order, known=None):
    """All windows of a unit and its edges, from the definition."""
    counts = Counter()
    for unit in filter(None, units):
        unit = [w if known is None or w in known else RARE for w in map(str, unit)]
        unit = [EDGE, *unit, EDGE]
        for length in range(1, order + 1):
            for i in range(len(unit) - length + 1):
                counts[tuple(unit[i : i + length])] += 1
    counts[EDGE,] //= 2  # both edges of a unit are one
    return counts


def counts_of(m):
    """The same, as counted."""
    names = np.array([*m.vocabulary.words, RARE, EDGE], object)
    counts = Counter({(w,): c for w, c in zip(names.tolist(), m.unigrams.tolist()) if c})
    rows = [(name,) for name in names.tolist()]
    for level in m.levels:
        assert level.shape == (len(rows), len(names))
        entries = sp.coo_array(level)
        rows = [(*rows[r], names[c]) for r, c in zip(*entries.coords)]
        counts.update(dict(zip(rows, entries.data.tolist())))
        assert rows == sorted(rows, key=lambda row: [names.tolist().index(w) for w in row])
    return counts


def test_a_rose():
    units = [["a", "rose", "is", "a", "rose"], ["a"]]
    m = NgramMoments.from_corpus(units)
    assert m.vocabulary.words == ["a", "rose", "is"]
    a, rose, is_, rare, edge = range(5)
    assert (m.rare, m.edge) == (rare, edge)
    assert m.unigrams.tolist() == [3, 2, 1, 0, 2]
    bigrams = np.zeros((5, 5), int)
    bigrams[a, rose] = bigrams[edge, a] = 2
    bigrams[rose, is_] = bigrams[is_, a] = bigrams[rose, edge] = bigrams[a, edge] = 1
    assert m.levels[0].toarray().tolist() == bigrams.tolist()
    places = {tuple(p): e for e, p in enumerate(np.argwhere(bigrams).tolist())}
    assert m.levels[1].shape == (len(places), 5)
    assert m.levels[1].toarray()[places[a, rose]].tolist() == [0, 0, 1, 0, 1]
    assert m.levels[1].toarray()[places[edge, a]].tolist() == [0, 1, 0, 0, 1]
    assert m.levels[1].toarray()[places[a, edge]].tolist() == [0] * 5
    assert (m.order, m.n_tokens, m.n_units, m.rare_count, m.whole) == (3, 6, 2, 0, True)
    assert m.count([a, rose, is_]) == 1
    assert m.count([edge, a]) == 2
    assert m.count([a]) == 3
    assert m.count([a, a, a]) == 0
    assert m.count([edge, is_]) == 0


@given(UNITS, ORDERS, st.integers(1, 3))
def test_counts_equal_their_definition(units, order, min_count):
    units = [*units, ["a", "b", "a", "a"]]
    m = moments(units, order=order, min_count=min_count)
    assert counts_of(m) == by_hand([*units, ["a", "b"]], order, set(m.vocabulary))
    assert m.order == order
    assert len(m.levels) == order - 1
    assert m.levels == [] or m.levels[0].dtype == np.int64


@given(NUMBERS, ORDERS)
def test_integers_are_counted_under_their_numbers(units, order):
    m = NgramMoments.from_corpus([*units, [3]], order=order)
    assert m.vocabulary.words == list(map(str, range(len(m.vocabulary))))
    assert counts_of(m) == by_hand([*units, [3]], order)


@given(UNITS, ORDERS)
def test_a_stream_is_one_unit(units, order):
    words = [*(word for unit in units for word in unit), "a", "b"]
    m = NgramMoments.from_corpus(words, order=order)
    assert m.options["unit"] == "stream"
    assert counts_of(m) == by_hand([words], order)
    lines = TextCorpus([" ".join(u) for u in units] + ["a b"], kind="texts", unit="stream")
    assert counts_of(NgramMoments.from_corpus(lines, order=order)) == counts_of(m)


@given(UNITS, UNITS, ORDERS)
def test_moments_add_up(a, b, order):
    both = moments(a, order=order) + moments(b, order=order)
    assert both == moments([*a, ["a", "b"], *b], order=order)
    assert both == moments(b, order=order) + moments(a, order=order)
    assert len(both.sources) == 2


@given(NUMBERS, NUMBERS, ORDERS)
def test_moments_of_integers_add_up(a, b, order):
    a, b = [*a, [1]], [*b, [2]]
    both = NgramMoments.from_corpus(a, order=order) + NgramMoments.from_corpus(b, order=order)
    assert both == NgramMoments.from_corpus(a + b, order=order)


@given(UNITS, ORDERS, st.integers(1, 4), st.integers(1, 4))
def test_cutting_later_equals_cutting_at_once(units, order, min_count, max_size):
    units = [*units, ["a"] * 4]
    cut = {"min_count": min_count, "max_size": max_size}
    assert moments(units, order=order).restrict(**cut) == moments(units, order=order, **cut)


@given(UNITS, UNITS)
def test_cut_moments_of_one_vocabulary_add_up(a, b):
    words = ["b", "a", "d"]
    whole = moments([*a, ["a", "b"], *b])
    parts = moments(a).restrict(words) + moments(b).restrict(words)
    assert parts.restrict(words) == whole.restrict(words)
    mixed = moments(a).restrict(words) + moments(b)
    assert mixed == parts
    assert moments(b) + moments(a).restrict(words) == parts


def test_long_rows_are_in_order():
    # More than 40 distinct symbols after one: they are put in order in another way.
    rng = np.random.default_rng(0)
    stream = rng.integers(0, 300, 20_000).tolist()
    assert counts_of(NgramMoments.from_corpus(stream)) == by_hand([stream], 3)
    half = NgramMoments.from_corpus([str(i) for i in stream]).restrict(map(str, range(150)))
    assert counts_of(half) == by_hand([stream], 3, set(map(str, range(150))))


@pytest.mark.parametrize("settings", [{}, {"min_count": 3}, {"order": 1}, {"order": 5}])
def test_saved_moments_are_the_same_moments(tmp_path, zipf_lines, settings):
    m = NgramMoments.from_corpus(TextCorpus(zipf_lines(50), kind="texts"), **settings)
    m.save(tmp_path / "moments")
    loaded = et.load(tmp_path / "moments")
    assert loaded.order == m.order
    assert waiting(loaded, "levels")  # unpacked when asked for
    assert loaded == m
    assert loaded.sources == m.sources
    assert loaded + m == m + m
    assert pickle.loads(pickle.dumps(et.load(tmp_path / "moments"))) == m


def test_threads_may_unpack_at_once(tmp_path, zipf_lines):
    m = NgramMoments.from_corpus(TextCorpus(zipf_lines(50), kind="texts"))
    m.save(tmp_path / "m")
    for _ in range(20):
        loaded = et.load(tmp_path / "m")
        with ThreadPoolExecutor(8) as pool:
            orders = pool.map(lambda _, m=loaded: (m.order, len(m.levels), m.order), range(16))
            assert set(orders) == {(3, 2, 3)}


def test_short_units_have_no_long_windows(tmp_path):
    m = NgramMoments.from_corpus([["a"], ["b"], ["a"]], order=6)
    assert [level.nnz for level in m.levels] == [4, 2, 0, 0, 0]
    assert m.levels[-1].shape == (0, 4)
    m.save(tmp_path / "m")
    assert et.load(tmp_path / "m") == m
    assert m + m == NgramMoments.from_corpus([["a"], ["b"], ["a"]] * 2, order=6)


def test_damaged_moments_are_refused(tmp_path, zipf_lines):
    m = NgramMoments.from_corpus(TextCorpus(zipf_lines(50), kind="texts"))
    m.save(tmp_path / "m")
    arrays, about = read_saved(tmp_path / "m")
    for name in ("packed.1", "blocks.0", "unigrams"):
        damaged = {**arrays, name: np.asarray(arrays[name])[:-1].copy()}
        write_saved(tmp_path / "damaged", NgramMoments._format, damaged, about)
        with pytest.raises(ModelFileError, match="damaged"):
            et.load(tmp_path / "damaged")


def test_moments_say_what_they_are_and_cannot_do(zipf_lines):
    lines = TextCorpus(zipf_lines(50), kind="texts")
    whole, cut = NgramMoments.from_corpus(lines), NgramMoments.from_corpus(lines, min_count=5)
    assert whole.limits is None
    assert "no word can join" in cut.limits
    assert repr(cut).endswith("order=3, cut)")
    with pytest.raises(MomentsError, match="cut to"):
        cut.restrict(["never-seen"])
    with pytest.raises(MomentsError, match="different vocabularies"):
        cut + NgramMoments.from_corpus(lines, min_count=8)
    with pytest.raises(MomentsError, match="order 3 and 2"):
        whole + NgramMoments.from_corpus(lines, order=2)
    with pytest.raises(MomentsError, match="text read with tokenizer 'whitespace' and 'none'"):
        whole + NgramMoments.from_corpus([["a"]])
    assert whole.restrict(whole.vocabulary.words).whole is False
    assert whole.restrict(min_count=1) is whole
    assert whole.__add__(3) is NotImplemented
    with pytest.raises(ParameterError, match="order 3; count with a higher order"):
        whole.count([0, 0, 0, 0])


def test_bad_parameters():
    for order in (0, 1.5, "3", True, None):
        with pytest.raises(ParameterError, match="order must be a whole number, 1 or more, not"):
            moments([], order=order)
    numbers = NgramMoments.from_corpus([0, 1, 1])
    with pytest.raises(ParameterError, match="never cut"):
        NgramMoments.from_corpus([0, 1, 1], min_count=2)
    with pytest.raises(ParameterError, match="never cut"):
        numbers.restrict(max_size=1)
    assert numbers.restrict(max_size=2) is numbers


def test_moments_of_a_distribution_are_not_saved_or_joined(tmp_path):
    m = NgramMoments.from_corpus([0, 1, 1])
    for level in m.levels:
        level.data = level.data / 3
    with pytest.raises(MomentsError, match="saved"):
        m.save(tmp_path / "m")
    with pytest.raises(MomentsError, match="joined"):
        m + m
