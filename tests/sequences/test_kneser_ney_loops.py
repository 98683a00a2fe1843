"""The compiled loops on a small trie, compared with their docstrings."""

import numpy as np
import pytest

from eigentext import NgramMoments
from eigentext.sequences import _kneser_ney_loops as loops
from eigentext.sequences._smoothing import suffixes, trie_of


def small_trie():
    rng = np.random.default_rng(0)
    moments = NgramMoments.from_corpus(rng.integers(0, 5, (40, 6)), order=4)
    trie = trie_of(moments)
    grams = [(s,) for s in range(7)]
    for node in range(len(trie.first) - 1):
        grams += [(*grams[node], int(trie.words[p])) for p in children(trie, node)]
    assert len(grams) == len(trie.words) == trie.borders[-1]
    return moments, trie, grams


def children(trie, node):
    return range(trie.first[node], trie.first[node + 1])


def test_suffixes_and_nodes():
    moments, trie, grams = small_trie()
    suffix = suffixes(trie)
    places = {gram: node for node, gram in enumerate(grams)}
    for node, gram in enumerate(grams):
        assert trie.find(list(gram)) == node
        if len(gram) > 1:
            assert suffix[node] == places[gram[1:]]
    assert trie.find([moments.rare, 0]) == -1
    again = np.where(np.arange(len(grams)) < trie.borders[2], suffix, -1)
    for begin, end in zip(trie.borders[1:-2], trie.borders[2:-1]):
        assert loops.link_suffixes(trie.first, trie.words, again, begin, end)
    assert np.array_equal(again, suffix)


def test_a_window_without_its_suffix_is_told():
    _, trie, _ = small_trie()
    begin, end = trie.borders[1:3]
    suffix, words = suffixes(trie), trie.words.copy()
    words[trie.borders[2] :] = words.max()  # every third symbol is the same now
    assert not loops.link_suffixes(trie.first, words, suffix, begin, end)
    childless = trie.first.copy()
    childless[: begin + 1] = trie.first[begin]  # no pair is counted
    assert not loops.link_suffixes(childless, trie.words, suffix, begin, end)


@pytest.mark.parametrize("limit", [0, 2])
def test_interpolation(limit):
    _, trie, grams = small_trie()
    rng = np.random.default_rng(1)
    counts, D = rng.integers(0, 5, len(grams)), np.array([0.0, 0.4, 0.9, 1.3])
    p, b = rng.random(len(grams)), np.empty(len(trie.first) - 1)
    before = p.copy()
    begin, end = trie.borders[1:3]
    raw = rng.integers(1, 5, trie.borders[3] - end)
    suffix = suffixes(trie)
    loops.interpolate(trie.first, counts, suffix, D, raw, end, limit, p, b, begin, end)
    for node in range(begin, end):
        below = list(children(trie, node))
        total = sum(counts[c] for c in below)
        kept = {c: raw[c - end] > limit for c in below}
        discount = {c: D[min(counts[c], 3)] if kept[c] else counts[c] for c in below}
        assert np.isclose(b[node], sum(discount.values()) / total if total else 1)
        for c in below:
            own = (counts[c] - discount[c]) / total if total else None
            expected = own + b[node] * before[suffix[c]] if total else 0.0
            assert np.isclose(p[c], expected)


def test_counts_of_suffixes():
    _, trie, _ = small_trie()
    suffix, counts = suffixes(trie), np.zeros(trie.borders[-1], np.uint32)
    for begin, end in ((0, 9), (9, len(suffix))):
        loops.count_suffixes(suffix, counts, begin, end)
    assert np.array_equal(counts, np.bincount(suffix, minlength=len(counts)))


def test_pruning_one_level():
    _, trie, grams = small_trie()
    rng = np.random.default_rng(4)
    p, b = rng.random(len(grams)), rng.random(len(trie.first) - 1)
    begin, end, last = trie.borders[1:4]
    raw, below = rng.integers(1, 4, end - begin), rng.integers(1, 4, last - end)
    kept = [r for r in range(begin, end) if raw[r - begin] > 1]
    found = [[c for c in children(trie, r) if below[c - end] > 2] for r in kept]
    first, words = np.zeros(len(grams), np.uint32), np.zeros(len(grams), np.int32)
    new_p, new_b = np.zeros(len(grams)), np.zeros(len(grams))
    start = 3 + len(kept)
    row, stop = 3, start
    for block in ((begin, begin + 5), (begin + 5, end)):
        row, stop = loops.prune_level(
            trie.first, trie.words, p, b, raw, below, 1, 2, begin, end,
            first, words, new_p, new_b, row, stop, *block,
        )  # fmt: skip
    assert row == start
    flat = [c for some in found for c in some]
    assert stop == start + len(flat)
    assert np.array_equal(new_b[3:start], b[kept])
    assert np.array_equal(words[start:stop], trie.words[flat])
    assert np.array_equal(new_p[start:stop], p[flat])
    sizes = list(map(len, found))
    assert np.array_equal(first[3:start], start + np.cumsum([0, *sizes[:-1]]))
