"""Uncounted moments give what counting first gives: the same sums, products and forward counts."""

import numpy as np
import pytest

from eigentext import CooccurrenceMoments, TextCorpus, engine
from eigentext.corpus import encode
from eigentext.engine import ThreadEngine
from eigentext.errors import CorpusError
from eigentext.matrices import budget, tiles
from eigentext.matrices.products import sparse_times
from eigentext.moments import pairs, uncounted
from eigentext.moments.uncounted import read_moments
from eigentext.moments.uncounted import uncounted as text_of
from eigentext.storage import checkpointing

HOW = {"window": 3, "weighting": "distance"}


def text(n_words=200, n_tokens=6000, seed=0):
    drawn = np.random.default_rng(seed).zipf(1.3, n_tokens) % n_words
    return [" ".join(f"w{w}" for w in line) for line in drawn.reshape(-1, 15)]


def root(x):
    return np.sqrt(x.astype(np.float32))


@pytest.mark.parametrize("min_count", [1, 4])
@pytest.mark.parametrize("weighting", ["flat", "distance"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_symmetric_counts_equal_those_of_forward_counts(
    min_count, weighting, n_threads, monkeypatch
):
    monkeypatch.setattr(uncounted, "_POSITIONS", 500)  # several passes
    monkeypatch.setattr(tiles, "_RUN", 300)
    how = {"window": 3, "weighting": weighting, "min_count": min_count}
    expected = CooccurrenceMoments.from_corpus(text(), **how)
    T = expected.counts(root, np.float32)
    with engine.use(ThreadEngine(n_threads)):
        moments = read_moments(text(), **how)
        assert moments.whole == (min_count == 1)
        S, totals = text_of(moments).symmetric(root)
    assert np.array_equal(totals, expected.totals()[0])
    assert S.nnz == T.nnz
    assert S.shape == T.shape
    X = np.random.default_rng(1).standard_normal((T.shape[0], 40)).astype(np.float32)
    assert np.array_equal(S.times(X), sparse_times(T, X))


def test_whoever_reads_the_forward_counts_gets_them():
    moments = read_moments(text(), **HOW, min_count=2)
    expected = CooccurrenceMoments.from_corpus(text(), **HOW, min_count=2)
    assert text_of(moments) is not None
    assert text_of(expected) is None
    assert moments.n_tokens == expected.n_tokens
    assert moments == expected
    assert moments.sources == expected.sources
    assert text_of(moments) is None
    assert read_moments(text(), **HOW, min_count=2) + expected == expected + expected


def test_a_given_encoded_corpus_does_not_change():
    encoded = encode(TextCorpus(text()))
    before = encoded.tokens.copy()
    first = read_moments(encoded, **HOW, min_count=3)
    assert np.array_equal(encoded.tokens, before)
    assert first == read_moments(text(), **HOW, min_count=3)


def test_cached_text(tmp_path):
    expected = read_moments(text(), **HOW)
    for _ in range(2):  # written, then mapped
        assert read_moments(text(), **HOW, cache=tmp_path) == expected


def test_with_a_budget_or_a_checkpoint_it_is_counted_at_once(tmp_path, monkeypatch):
    expected = CooccurrenceMoments.from_corpus(text(), **HOW)
    with budget.within(10**12):
        moments = read_moments(text(), **HOW)
    assert text_of(moments) is None
    assert moments == expected
    with checkpointing(tmp_path / "state"):
        assert text_of(read_moments(text(), **HOW)) is None
    monkeypatch.setattr(pairs, "DEFAULT_MEMORY", 1000)  # the text is too long for one shard
    moments = read_moments(text(), **HOW)
    assert text_of(moments) is None
    assert moments == expected


def test_text_without_pairs():
    with pytest.raises(CorpusError, match="nothing to count"):
        read_moments(["a", "b", "c"], **HOW)
    with pytest.raises(CorpusError, match="one token only"):
        read_moments(["a"], **HOW)
    # The only pair is at the border of two parts of the search.
    assert read_moments(["a b", "c"], **HOW).forward.nnz == 1
