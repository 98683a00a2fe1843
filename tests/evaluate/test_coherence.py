"""Coherence: computed by hand and by gensim, and equal for moments and for a matrix."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eigentext import DocumentMoments
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import coherence, distinct_words

WORDS = ["a", "b", "c", "d", "e"]
# D(a) = 4, D(b) = 3, D(c) = 2, D(d) = 8, D(e) = 0; D(a, b) = 2, D(a, c) = 0, D(b, c) = 1.
COUNTS = np.array(
    [
        [1, 5, 0, 1, 0],
        [2, 1, 0, 1, 0],
        [9, 0, 0, 1, 0],
        [1, 0, 0, 3, 0],
        [0, 1, 1, 1, 0],
        [0, 0, 7, 1, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0],
    ]
)


def test_npmi_by_hand():
    topics = [["a", "b"], ["a", "c"], ["c", "b"], ["a", "b", "c"]]
    result = coherence(topics, COUNTS, words=WORDS)
    ab = math.log((2 / 8) / (4 / 8 * 3 / 8)) / -math.log(2 / 8)
    bc = math.log((1 / 8) / (3 / 8 * 2 / 8)) / -math.log(1 / 8)
    assert result.topics == pytest.approx([ab, -1, bc, (ab - 1 + bc) / 3])
    assert result.mean == pytest.approx(np.mean(result.topics))
    assert (result.n_pairs, result.n_documents, result.missing) == (6, 8, [])
    assert str(result).endswith(" over 4 topics (6 pairs, 8 documents)")
    assert repr(result) == f"CoherenceResult({result})"


def test_umass_by_hand():
    """It is the mean of log (D(a, b) + 1) / D(a), where a is the earlier word of the list."""
    topics = [["a", "b"], ["b", "a"], ["a", "b", "c"]]
    result = coherence(topics, COUNTS, words=WORDS, measure="umass")
    pairs = math.log(3 / 4), math.log(1 / 4), math.log(2 / 3)  # ab, ac, bc
    assert result.topics == pytest.approx([pairs[0], math.log(3 / 3), sum(pairs) / 3])
    assert str(result).startswith("UMass ")


def test_ends_of_the_scale():
    """It is 1 for words that are always together, also in all documents, and 0 if independent."""
    together = [[1, 1, 1, 1], [2, 3, 1, 1], [0, 0, 1, 1]]
    topics = [["a", "b"], ["c", "d"], ["a", "c"]]
    assert coherence(topics, together, words=WORDS[:4]).topics == pytest.approx([1, 1, 0])


def test_missing_words_are_left_out_and_reported():
    result = coherence([["a", "ghost", "b"], ["e", "a"], ["spook"]], COUNTS, words=WORDS)
    assert result.missing == ["e", "ghost", "spook"]  # e is a column, but in no document
    assert result.topics[0] == coherence([["a", "b"]], COUNTS, words=WORDS).mean == result.mean
    assert math.isnan(result.topics[1])
    assert result.n_pairs == 1
    assert str(result).endswith("; missing words: 3")
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["topics"][1:] == [None, None]
    assert data["mean"] == result.mean
    nothing = coherence([["spook"]], COUNTS, words=WORDS)
    assert math.isnan(nothing.mean)
    assert nothing.to_dict()["mean"] is None


@given(arrays(np.int64, (12, 5), elements=st.integers(0, 2)), st.sampled_from(["npmi", "umass"]))
def test_moments_equal_the_matrix(counts, measure):
    """This holds also for documents that occur twice and for empty documents."""
    if not counts.any():
        return
    counts = np.vstack([counts, counts[:4], 0 * counts[:1]])
    topics = [["a", "b", "c"], ["e", "d", "b"]]
    direct = coherence(topics, sp.coo_array(counts), words=WORDS, measure=measure)
    moments = DocumentMoments.from_matrix(counts, words=WORDS)
    again = coherence(topics, moments, measure=measure)
    assert again.to_dict() == direct.to_dict()
    if measure == "npmi":
        assert all(math.isnan(x) or -1 <= x <= 1 + 1e-12 for x in direct.topics)
        backwards = coherence([topic[::-1] for topic in topics], moments).topics
        assert backwards == pytest.approx(direct.topics, nan_ok=True)


def test_gensim_computes_the_same():
    """Its sliding windows are whole documents if they are long enough."""
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(12)]
    texts = [[words[w] for w in np.flatnonzero(rng.random(12) < 0.4)] for _ in range(300)]
    texts = [text for text in texts if text]
    topics = [words[:6], words[6:], words[::2]]
    options = {"texts": texts, "dictionary": Dictionary(texts), "coherence": "c_npmi"}
    peer = CoherenceModel(topics=topics, **options, window_size=1000, processes=1)
    result = coherence(topics, DocumentMoments.from_corpus(texts))
    assert result.topics == pytest.approx(peer.get_coherence_per_topic(), abs=1e-6)
    assert abs(result.mean) > 1e-4


def test_distinct_words():
    assert distinct_words([["a", "b"], ["c", "d"]]) == 1
    assert distinct_words([["a", "b"], ["b", "a"], ["a"]]) == 2 / 5
    with pytest.raises(ParameterError, match="there are no top words"):
        distinct_words([[], []])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([["a"]], COUNTS), {"words": WORDS, "measure": "c_v"}, "'npmi' or 'umass', not 'c_v'"),
        (([["a"]], COUNTS), {}, "5 columns with no names; give the names as words"),
        (([["a"]], COUNTS), {"words": ["a"]}, "5 columns with 1 names; give the names as words"),
        ((["abc"], COUNTS), {"words": WORDS}, "topic 0 is a string"),
        (([["a", "b"], ["c", "b", "c"]], COUNTS), {"words": WORDS}, "topic 1 has 'c' twice"),
    ],
)
def test_bad_parameters(arguments, options, message):
    with pytest.raises(ParameterError, match=message):
        coherence(*arguments, **options)


def test_bad_counts():
    with pytest.raises(CorpusError, match="row 0, column 1: -5 is not a count"):
        coherence([["a"]], COUNTS * [1, -1, 1, 1, 1], words=WORDS)
