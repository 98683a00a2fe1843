"""Word intrusion: by hand, by a slow loop, and on topics that are clear or mixed."""

import math

import numpy as np
import pytest

from eigentext import DocumentMoments
from eigentext.errors import ParameterError
from eigentext.evaluate import coherence, word_intrusion

WORDS = [f"w{i}" for i in range(12)]
CLEAR = [WORDS[:4], WORDS[4:8], WORDS[8:]]


@pytest.fixture(scope="module")
def counts():
    """Documents with words of one of three groups, and a few of all."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 300)
    own = rng.random((300, 12)) < 0.6
    own &= np.arange(12) // 4 == groups[:, None]
    return (own | (rng.random((300, 12)) < 0.05)).astype(int)


def slowly(top, counts, n):
    """The expected share of found intruders, pair by pair."""

    def npmi(a, b):
        return coherence([[a, b]], counts, words=WORDS).mean

    scores = []
    for k, topic in enumerate(top):
        others = {w for j, other in enumerate(top) if j != k for w in other[:n]} - set(topic)
        found = []
        for intruder in others:
            shown = [*topic[:n], intruder]
            totals = [sum(npmi(a, b) for b in shown if b != a) for a in shown]
            least = [a for a, x in zip(shown, totals) if x <= min(totals) + 1e-9]
            found.append((intruder in least) / len(least))
        scores.append(sum(found) / len(found) if found else math.nan)
    return scores


def test_words_of_other_groups_are_found(counts):
    result = word_intrusion(CLEAR, counts, words=WORDS, n_words=3)
    assert result.mean == 1
    assert result.n_tried == 3 * 6


def test_mixed_topics_hide_intruders(counts):
    mixed = [WORDS[k::3] for k in range(3)]
    assert word_intrusion(mixed, counts, words=WORDS, n_words=4).mean < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_the_slow_loop(counts, seed):
    rng = np.random.default_rng(seed)
    top = [[WORDS[i] for i in rng.permutation(12)[:5]] for _ in range(4)]
    result = word_intrusion(top, counts, words=WORDS, n_words=3)
    assert result.topics == pytest.approx(slowly(top, counts, 3), nan_ok=True)


def test_equally_bad_words_are_guessed():
    # No two words are ever together: each of three words is the intruder with probability 1/3.
    result = word_intrusion([WORDS[:2], WORDS[2:4]], np.eye(12), words=WORDS, n_words=2)
    assert result.topics == pytest.approx([1 / 3, 1 / 3])


def test_moments_and_matrices_give_the_same(counts):
    texts = [[WORDS[i] for i in np.flatnonzero(row)] for row in counts]
    moments = DocumentMoments.from_corpus(texts, min_df=1, max_df=1.0, stop_words=None)
    mixed = [WORDS[:3] + WORDS[6:8], WORDS[4:9]]
    one = word_intrusion(mixed, moments).topics
    assert one == pytest.approx(word_intrusion(mixed, counts, words=WORDS).topics)


def test_order_of_topics_does_not_matter(counts):
    one = word_intrusion(CLEAR, counts, words=WORDS).topics
    other = word_intrusion(CLEAR[::-1], counts, words=WORDS).topics
    assert one == other[::-1]


def test_a_word_further_down_the_list_is_no_intruder(counts):
    deep = [WORDS[:4] + WORDS[4:8], WORDS[4:8]]
    result = word_intrusion(deep, counts, words=WORDS, n_words=4)
    assert math.isnan(result.topics[0])
    assert result.to_dict()["topics"][0] is None
    assert result.mean == result.topics[1]


def test_unknown_words_are_left_out(counts):
    with_unknown = [["?", *WORDS[:4]], ["??", *WORDS[4:8]]]
    known = [WORDS[:4], WORDS[4:8]]
    results = [word_intrusion(x, counts, words=WORDS, n_words=3) for x in (with_unknown, known)]
    assert results[0].topics == results[1].topics
    nothing = word_intrusion([["?"], ["??"]], counts, words=WORDS)
    assert math.isnan(nothing.mean)
    assert nothing.to_dict()["mean"] is None
    assert "<table" in nothing._repr_html_()


@pytest.mark.parametrize(
    ("top", "n", "told"),
    [
        ([WORDS[:3]], 3, "two topics or more"),
        (["tea", "ox"], 3, "is a string"),
        ([["a", "a"], ["b"]], 3, "twice"),
        (CLEAR, 1, "n_words"),
    ],
)
def test_bad_input_is_told(counts, top, n, told):
    with pytest.raises(ParameterError, match=told):
        word_intrusion(top, counts, words=WORDS, n_words=n)
