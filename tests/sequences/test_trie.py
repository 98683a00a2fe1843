"""The trie and its tables, compared with a dictionary of n-grams."""

from dataclasses import replace

import numpy as np
import pytest

from eigentext import NgramMoments
from eigentext.sequences._trie import Tables, Trie


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    moments = NgramMoments.from_corpus(rng.integers(0, 5, (40, 6)), order=4)
    trie = Trie.of(7, moments.levels)
    return Tables(trie, rng.random(len(trie.words)), rng.random(len(trie.first) - 1))


def ngrams(trie):
    found = [(s,) for s in range(trie.n_symbols)]
    for node in range(len(trie.first) - 1):
        children = range(trie.first[node], trie.first[node + 1])
        found += [(*found[node], int(trie.words[child])) for child in children]
    return found


def test_nodes_and_their_symbols(tables):
    trie = tables.trie
    found = ngrams(trie)
    assert (trie.order, trie.n_symbols, len(found)) == (4, 7, trie.borders[-1])
    assert [trie.find(list(ngram)) for ngram in found] == list(range(len(found)))
    assert trie.find([5, 0]) == trie.find([0, 5, 1]) == -1
    for k, (begin, end) in enumerate(zip(trie.borders, trie.borders[1:]), 1):
        rows = trie.symbols(np.arange(begin, end), k)
        assert list(map(tuple, rows.tolist())) == found[begin:end]


def test_blocks_hold_all_parents(tables, monkeypatch):
    monkeypatch.setattr("eigentext.sequences._trie.BLOCK", 10)
    blocks = tables.trie.blocks(7, 30)
    assert len(blocks) > 1
    assert [node for block in blocks for node in range(*block)] == list(range(7, 30))


def test_back_off(tables):
    places = {ngram: node for node, ngram in enumerate(ngrams(tables.trie))}

    def p(symbol, context):
        if (node := places.get((*context, symbol))) is not None:
            return tables.probabilities[node]
        weight = tables.backoffs[places[context]] if context in places else 1.0
        return weight * p(symbol, context[1:])

    for context in ((), (3,), (6, 1), (5, 2), (0, 1, 2), (4, 4, 4), (1, 1, 2, 3)):
        expected = [p(symbol, context[-3:]) for symbol in range(7)]
        assert np.allclose(tables.distribution(list(context)), expected)
        ids = np.array([*(-2 if s > 4 else s for s in context), 3], np.int32)
        if 6 not in context:
            context = tuple(5 if s > 4 else s for s in context)
            found = tables.scores(ids, starts=False, edges=True, rare=True)[-1]
            assert found == pytest.approx(np.log(p(3, context[-3:])))


def test_unknown_words_are_told_or_counted(tables):
    ids = np.array([0, -2, 1, -1], np.int32)
    counted, known = (
        tables.scores(ids, starts=True, edges=True, rare=rare) for rare in (True, False)
    )
    assert np.isfinite(counted).all()
    assert np.isnan(known).tolist() == [False, True, False, False]
    assert np.array_equal(known[[0, 2, 3]], counted[[0, 2, 3]])


def test_no_probability_is_minus_infinity(tables):
    nothing = replace(tables, probabilities=np.zeros(len(tables.probabilities)))
    ids = np.array([0, 1, -1], np.int32)
    assert np.isneginf(nothing.scores(ids, starts=True, edges=True, rare=False)).all()
