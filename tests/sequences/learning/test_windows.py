"""Windows of three symbols inside sequences, from counts or from a model."""

from itertools import product

import numpy as np
import pytest

from eigentext import NgramMoments
from eigentext.errors import CorpusError
from eigentext.sequences.learning.windows import Windows, population


def test_windows_by_hand():
    moments = NgramMoments.from_corpus([[0, 1, 2, 1], [1, 1], [2]])
    windows = Windows.of(moments)
    assert windows.n == 3
    assert windows.sampled
    assert windows.start.tolist() == [1, 1, 1]
    assert windows.pairs.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert windows.follow.toarray().tolist() == [[0, 1, 0], [0, 1, 1], [0, 1, 0]]


def test_windows_are_all_inside_sequences(zipf_lines):
    units = [[int(word[1:]) for word in line.split()] for line in zipf_lines(60, 8)]
    windows = Windows.of(NgramMoments.from_corpus(units))
    expected = np.zeros((windows.n, windows.n))
    for unit in units:
        for first, second, _ in zip(unit, unit[1:], unit[2:]):
            expected[first, second] += 1
    assert np.array_equal(windows.pairs.toarray(), expected)


def test_a_stream_starts_anywhere():
    windows = Windows.of(NgramMoments.from_corpus([0, 1, 2, 1, 1, 0]))
    assert windows.start.tolist() == windows.pairs.sum(axis=1).tolist() == [1, 2, 1]


def test_rare_words_are_a_symbol():
    units = [["a", "b", "a", "x"], ["b", "y", "a", "b"]]
    assert Windows.of(NgramMoments.from_corpus(units)).n == 4
    cut = Windows.of(NgramMoments.from_corpus(units, min_count=2))
    assert cut.n == 3
    assert cut.follow[[2], :].sum() == 1  # y a; nothing follows x
    assert cut.follow[:, [2]].sum() == 2


def test_windows_need_three():
    with pytest.raises(CorpusError, match=r"no sequence has three symbols.*use method='em'"):
        Windows.of(NgramMoments.from_corpus([[0, 1], [1]]))
    with pytest.raises(CorpusError, match="count with order=3"):
        Windows.of(NgramMoments.from_corpus([[0, 1, 0]], order=2))


def test_population_by_enumeration(random_hmm):
    truth = random_hmm(3, 4, 0)
    operators = np.stack([truth.operator(x) for x in range(4)])
    unigrams, (bigrams, trigrams) = population(truth.start_, operators, truth.end_, edge=5)
    assert unigrams[5] == 1
    assert unigrams[:5].sum() == pytest.approx(3)
    assert bigrams.toarray()[5, :4] == pytest.approx(truth.predict_next([]))
    begins, seconds = bigrams.nonzero()
    rows = {(f, x): row for row, (f, x) in enumerate(zip(begins.tolist(), seconds.tolist()))}
    for f, x, w in product(range(4), repeat=3):
        assert trigrams[rows[f, x], w] == pytest.approx(truth.probability([f, x, w]))
