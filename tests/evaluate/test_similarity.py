"""Spearman's rho: it equals scipy's, uses only covered pairs, and gives a reason if undefined."""

import json
import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import read_pairs, similarity
from eigentext.evaluate.similarity import _ranks

WORDS = [f"w{i}" for i in range(12)]
VECTORS = np.random.default_rng(0).standard_normal((12, 4))
PAIRS = st.lists(st.tuples(st.sampled_from(list(permutations(WORDS, 2))), st.integers(0, 5)))


def cosine(a, b):
    x, y = VECTORS[WORDS.index(a)], VECTORS[WORDS.index(b)]
    # Rounding makes the cosines of (a, b) and (b, a) equal.
    return round(float(x @ y) / math.sqrt(float(x @ x) * float(y @ y)), 12)


def test_by_hand():
    """Cosines 1, 0.8, 0.6, 0 have the ranks 4 3 2 1, and scores 9 5 7 5 have 4 1.5 3 1.5."""
    model = ["a", "b", "c", "d"], [[1, 0], [8, 6], [3, 4], [0, 2]]
    pairs = [("a", "a", 9), ("a", "b", 5), ("a", "c", 7), ("a", "d", 5)]
    # The deviations are 1.5 .5 -.5 -1.5 and 1.5 -1 .5 -1, so rho is 3 / sqrt(5 * 4.5).
    result = similarity(model, pairs)
    assert result.rho == pytest.approx(3 / math.sqrt(22.5))
    assert (result.n_covered, result.n_pairs, result.missing) == (4, 4, [])
    assert str(result) == "rho 0.632 over 4 of 4 pairs"


@given(PAIRS)
def test_rho_equals_that_of_scipy(pairs):
    cosines = [cosine(*pair) for pair, _ in pairs]
    scores = [score for _, score in pairs]
    result = similarity((WORDS, VECTORS), [(*pair, score) for pair, score in pairs])
    if len(set(cosines)) > 1 and len(set(scores)) > 1:
        assert result.rho == pytest.approx(spearmanr(cosines, scores).statistic)
    else:
        assert math.isnan(result.rho)


@given(st.lists(st.integers(-3, 3)))
def test_ranks_equal_those_of_scipy(values):
    x = np.array(values, float)
    assert np.array_equal(_ranks(x), rankdata(x))


def test_missing_words_are_left_out_and_reported():
    pairs = [("w0", "w1", 1), ("w2", "w3", 2), ("w4", "w5", 3)]
    more = [("w0", "ghost", 9), ("spook", "ghost", 9), *pairs]
    result = similarity((WORDS, VECTORS), more)
    assert result.rho == similarity((WORDS, VECTORS), pairs).rho
    assert (result.n_covered, result.n_pairs) == (3, 5)
    assert result.missing == ["ghost", "spook"]
    assert str(result).endswith(" over 3 of 5 pairs; missing words: 2")
    assert repr(result) == f"SimilarityResult({result})"
    assert similarity(([*WORDS, "ghost"], np.vstack([VECTORS, 0 * VECTORS[:1]])), more) == result


def test_case():
    pairs = [("W0", "w1", 1), ("W2", "W3", 2), ("w4", "w5", 3)]
    result = similarity((WORDS, VECTORS), pairs)
    assert (result.n_covered, result.folded) == (3, 3)
    result = similarity((WORDS, VECTORS), pairs, case="exact")
    assert (result.n_covered, result.folded, result.missing) == (1, 0, ["W0", "W2", "W3"])


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([], "no pair is covered"),
        ([("x", "y", 1), ("w1", "y", 2)], "no pair is covered"),
        ([("w1", "w2", 1), ("w1", "y", 2)], "only one pair is covered"),
        ([("w1", "w2", 1), ("w1", "w3", 1)], "all covered pairs have the same score"),
        ([("w1", "w2", 1), ("w2", "w1", 5)], "all covered pairs have the same cosine"),
    ],
)
def test_undefined_rho_has_a_reason(pairs, reason):
    result = similarity((WORDS, VECTORS), pairs)
    assert math.isnan(result.rho)
    assert result.reason == reason
    assert f"no rho ({reason}) over {result.n_covered} of {len(pairs)} pairs" in str(result)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["rho"] is None
    assert data["reason"] == reason


def test_scores_that_are_not_finite():
    with pytest.raises(ParameterError, match="a score is not finite"):
        similarity((WORDS, VECTORS), [("w1", "w2", math.nan), ("w1", "w3", 1)])


def test_a_file(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("w0 w1 1\nw2 w3 2\nw4 w5 3\n")
    expected = similarity((WORDS, VECTORS), read_pairs(path))
    assert similarity((WORDS, VECTORS), path) == similarity((WORDS, VECTORS), str(path)) == expected
    path.write_text("w0 w1\n")
    with pytest.raises(CorpusError, match="line 1"):
        similarity((WORDS, VECTORS), path)


def test_real_pairs(data_folder):
    """gensim computes the same for random vectors of the words of MEN."""
    from gensim.models import KeyedVectors

    path = data_folder / "words" / "men3000.txt"
    words = sorted({word for pair in read_pairs(path) for word in pair[:2]})[::2]
    vectors = np.random.default_rng(1).standard_normal((len(words), 10)).astype(np.float32)
    peer = KeyedVectors(10)
    peer.add_vectors(words, vectors)
    _, expected, unknown = peer.evaluate_word_pairs(path, case_insensitive=False)
    result = similarity(peer, path)
    assert result.rho == pytest.approx(expected.statistic, abs=1e-5)
    assert result.n_covered / result.n_pairs == pytest.approx(1 - unknown / 100)
