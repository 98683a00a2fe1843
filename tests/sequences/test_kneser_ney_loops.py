"""The compiled loops on a small trie, compared with their docstrings."""

import numpy as np

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


def test_interpolation():
    _, trie, grams = small_trie()
    rng = np.random.default_rng(1)
    counts, D = rng.integers(0, 5, len(grams)), np.array([0.0, 0.4, 0.9, 1.3])
    p, b = rng.random(len(grams)), np.empty(len(trie.first) - 1)
    before = p.copy()
    begin, end = trie.borders[1:3]
    suffix = suffixes(trie)
    loops.interpolate(trie.first, counts, suffix, D, p, b, begin, end)
    for node in range(begin, end):
        total = sum(counts[c] for c in children(trie, node))
        removed = sum(D[min(counts[c], 3)] for c in children(trie, node))
        assert np.isclose(b[node], removed / total if total else 1)
        for c in children(trie, node):
            own = (counts[c] - D[min(counts[c], 3)]) / total if total else None
            expected = own + b[node] * before[suffix[c]] if total else before[c]
            assert np.isclose(p[c], expected)


def test_scores():
    _, trie, grams = small_trie()
    places = {gram: node for node, gram in enumerate(grams)}
    rng = np.random.default_rng(2)
    p, b = rng.random(len(grams)), rng.random(len(trie.first) - 1)
    rare, edge, order = 5, 6, 4
    ids = rng.integers(-2, 5, 300).astype(np.int32)

    def probability(context, symbol):
        if not context:
            return p[symbol]
        if (*context, symbol) in places:
            return p[places[*context, symbol]]
        return b[places.get(context, -1)] ** (context in places) * probability(context[1:], symbol)

    for starts, edges in ((True, True), (False, False), (False, True)):
        expected = np.full(len(ids), 7.0)
        context = (edge,) if starts else ()
        for i, s in enumerate(ids.tolist()):
            symbol = {-1: edge, -2: rare}.get(s, s)
            if s != -1 or (edges and i > 0 and ids[i - 1] != -1):
                expected[i] = np.log(probability(context[-order + 1 :], symbol))
            context = (*context, symbol)
            if s == -1:
                context = (edge,) if edges else ()
        scores = np.full(len(ids), 7.0)
        for begin, end in ((0, 100), (100, 102), (102, 300)):
            loops.score(
                ids, trie.first, trie.words, p, b, order, rare, starts, edges, begin, end, scores
            )
        assert np.allclose(scores, expected, equal_nan=True)
