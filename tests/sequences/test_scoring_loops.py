"""The loops that score text, compared with a recursion over a dictionary of n-grams."""

import numpy as np
import pytest

from eigentext import NgramMoments
from eigentext.sequences import _scoring_loops as loops
from eigentext.sequences._smoothing import trie_of
from eigentext.sequences._trie import Books, Index, Tables

N = 13  # the numbers 0 to 10, the rare word, and the edge


@pytest.fixture(scope="module")
def trie():
    rng = np.random.default_rng(0)
    return trie_of(NgramMoments.from_corpus(rng.integers(0, 12, (40, 6)) // 2 * 2, order=4))


@pytest.fixture(scope="module")
def ids():
    return np.random.default_rng(2).choice([-2, -1, 0, 2, 4, 6, 8, 10, 3], 300).astype(np.int32)


def grams_of(trie):
    grams = [(s,) for s in range(trie.n_symbols)]
    for node in range(len(trie.first) - 1):
        below = range(int(trie.first[node]), int(trie.first[node + 1]))
        grams += [(*grams[node], int(trie.words[child])) for child in below]
    return grams


def slow_scores(ids, n, p, b, order, *, starts, edges, unknown):
    """The docstring of `score` in plain Python; p and b are dictionaries of n-grams."""

    def probability(context, symbol):
        if (*context, symbol) in p:
            return p[*context, symbol]
        return b.get(context, 1.0) * probability(context[1:], symbol)

    expected = np.full(len(ids), 7.0)
    context = (n - 1,) if starts else ()
    for i, s in enumerate(ids.tolist()):
        symbol = {-1: n - 1, -2: n - 2}.get(s, s)
        if s != -1 or (edges and i > 0 and ids[i - 1] != -1):
            expected[i] = np.log(probability(context[-order + 1 :], symbol))
            if s == -2 and not unknown:
                expected[i] = np.nan
        context = (*context, symbol)
        if s == -1:
            context = (n - 1,) if edges else ()
    return expected


def test_hashes_are_numbers_of_63_bits():
    numbers = [0, 1, 2, 1000, 2**31 - 1]
    found = [int(loops.hash_of(r, s)) for r in numbers for s in numbers]
    assert min(found) >= 0
    assert max(found) < 2**63
    assert len(set(found)) > len(found) - 3


def test_every_bigram_is_in_the_index_once(trie):
    index = Index.of(trie)
    places = (index.slots & ((1 << index.bits) - 1)).astype(int)
    begin, end = trie.borders[1:3]
    assert sorted(places[places > 0] - 1 + begin) == list(range(begin, end))
    assert len(index.slots) >= 2 * (end - begin)
    assert 1 < index.probes <= len(index.slots)


@pytest.mark.parametrize("form", ["searched", "indexed", "codes"])
@pytest.mark.parametrize(("starts", "edges"), [(True, True), (False, False), (False, True)])
@pytest.mark.parametrize("unknown", [True, False])
def test_scores(trie, ids, form, starts, edges, unknown, monkeypatch):
    rng = np.random.default_rng(3)
    grams, n_contexts = grams_of(trie), len(trie.first) - 1
    p, b, books = rng.random(len(grams)), rng.random(n_contexts), None
    index = Index(np.zeros(0, np.uint32), 0, 0) if form == "searched" else None
    tables = Tables(trie, p, b, None, index)
    if form == "codes":
        books = Books(p[:N], b[:N], rng.random((4, 8)), rng.random((4, 8)))
        codes = [rng.integers(0, 8, size - N).astype(np.uint8) for size in (len(p), len(b))]
        tables = Tables(trie, *codes, books)
    depths = [range(trie.borders[k], trie.borders[k + 1]) for k in range(4)]
    p = np.concatenate([tables.p_of(np.array(d), k) for k, d in enumerate(depths, 1)])
    b = np.concatenate([tables.b_of(np.array(d), k) for k, d in enumerate(depths[:3], 1)])
    slow = slow_scores(
        ids,
        N,
        dict(zip(grams, p.tolist())),
        dict(zip(grams, b.tolist())),
        4,
        starts=starts,
        edges=edges,
        unknown=unknown,
    )
    scores = np.full(len(ids), 7.0)
    for begin, end in ((0, 20), (20, 22), (22, 300)):
        assert loops.score(ids, *tables._parts, starts, edges, unknown, begin, end, scores)
    assert np.allclose(scores, slow, rtol=1e-13, equal_nan=True)
    whole = tables.scores(ids, starts=starts, edges=edges, rare=unknown)
    events = ~np.isclose(slow, 7.0)
    assert np.array_equal(whole[events], scores[events], equal_nan=True)


def test_one_symbol_and_order_one():
    moments = NgramMoments.from_corpus([[0], [0]], order=1)
    trie = trie_of(moments)
    tables = Tables(trie, np.array([0.5, 0.25, 0.25]), np.zeros(0))
    found = tables.scores(np.array([0, -1], np.int32), starts=True, edges=True, rare=True)
    assert np.allclose(found, np.log([0.5, 0.25]))
    assert len(tables.scores(np.zeros(0, np.int32), starts=True, edges=True, rare=True)) == 0


@pytest.mark.parametrize("value", [np.nan, -0.1, 1e300, np.inf])
def test_wrong_numbers_are_noticed(trie, ids, value):
    p, b = np.full(len(trie.words), 0.5), np.full(len(trie.first) - 1, 0.5)
    scores = np.zeros(len(ids))
    for wrong in (p, b):
        kept = wrong.copy()
        wrong[:] = value
        parts = Tables(trie, p, b)._parts
        assert not loops.score(ids, *parts, True, True, True, 0, len(ids), scores)
        wrong[:] = kept
    parts = Tables(trie, p, b)._parts
    assert loops.score(ids, *parts, True, True, True, 0, len(ids), scores)


def test_wrong_places_are_never_followed(trie, ids):
    rng = np.random.default_rng(5)
    p, b = np.full(len(trie.words), 0.5), np.full(len(trie.first) - 1, 0.5)
    index, scores = Index.of(trie), np.zeros(len(ids))
    for trial in range(30):
        first, words, slots = trie.first.copy(), trie.words.copy(), index.slots.copy()
        for part in (first, words, slots)[trial % 3 :]:
            where = rng.integers(0, len(part), 5)
            part[where] = rng.integers(0, 2**31, 5)
        wrong = Index(slots, index.bits, index.probes)
        parts = Tables(trie._replace(first=first, words=words), p, b, None, wrong)._parts
        loops.score(ids, *parts, True, True, True, 0, len(ids), scores)  # no index out of bounds
        assert np.isfinite(scores).all()
