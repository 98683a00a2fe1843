"""Completion: known perplexities, exact halves, and the true topics are the best ones."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eigentext import engine, load_dataset
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import completion_perplexity
from eigentext.evaluate.completion import _halves


def sample(K=4, d=30, n=200, length=40, alpha=0.2, seed=0):
    """Draw topics, proportions and documents."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(d, 0.2), K)
    theta = rng.dirichlet(np.full(K, alpha), n)
    return phi, theta, sp.csr_array(rng.multinomial(length, theta @ phi))


def test_uniform_topics():
    """The perplexity is the number of words, for any documents."""
    result = completion_perplexity(np.ones((3, 7)), [[5, 1, 0, 0, 2, 0, 1], [0, 0, 0, 2, 0, 0, 0]])
    assert result.perplexity == float(result) == pytest.approx(7)
    assert (result.n_tokens, result.n_documents, result.n_short) == (4 + 1, 2, 0)


def test_one_topic_by_hand():
    """Each document has one distinct word, so the halves and their probabilities are known."""
    result = completion_perplexity([[0.75, 0.25]], [[4, 0], [0, 2], [0, 1]], smoothing=0.2)
    p, q = 0.8 * 0.75 + 0.1, 0.8 * 0.25 + 0.1
    assert result.perplexity == pytest.approx(math.exp(-(2 * math.log(p) + math.log(q)) / 3))
    assert str(result) == "perplexity 1.9 over 3 tokens of 2 documents; too short: 1"
    assert repr(result) == f"CompletionResult({result})"
    assert result.to_dict() == {
        "perplexity": result.perplexity,
        "n_tokens": 3,
        "n_documents": 2,
        "n_short": 1,
    }


def test_two_topics_by_hand():
    """Each topic has its own word. After m such words theta is (m + alpha) / (m + 2 alpha)."""
    result = completion_perplexity(np.eye(2), [[7, 0]], alpha=0.5, smoothing=0)
    assert result.perplexity == pytest.approx(1 / (4.5 / 5))
    one_topic = completion_perplexity(np.eye(2), [[7, 0]], alpha=0, weights=[0.5, 0.5], smoothing=0)
    assert one_topic.perplexity == pytest.approx(1)


@given(arrays(np.int64, (6, 5), elements=st.integers(0, 9)), st.integers(0, 5))
def test_halves_make_the_whole(counts, seed):
    X = sp.csr_array(counts)
    first, second = _halves(X, np.random.default_rng(seed))
    assert np.array_equal((first + second).toarray(), counts)
    lengths = counts.sum(axis=1)
    assert np.array_equal(first.sum(axis=1), (lengths + 1) // 2)
    assert first.data.all()
    assert second.data.all()


def test_halves_are_hypergeometric():
    """The first half is 3 of 5 tokens. A chi-square test compares it with the urn model."""
    n = 20_000
    X = sp.csr_array(np.tile([2, 2, 1], (n, 1)))
    first, _ = _halves(X, np.random.default_rng(0))
    kinds, seen = np.unique(first.toarray(), axis=0, return_counts=True)
    ways = [math.comb(2, a) * math.comb(2, b) * math.comb(1, c) / 10 for a, b, c in kinds]
    assert sum(ways) == pytest.approx(1)
    expected = n * np.array(ways)
    # With 4 degrees of freedom, chance exceeds 20 once in 2,000 times.
    assert ((seen - expected) ** 2 / expected).sum() < 20


def test_the_truth_is_best():
    phi, _, X = sample(n=2000)
    truth = completion_perplexity(phi, X, alpha=0.2).perplexity
    rng = np.random.default_rng(1)
    near = completion_perplexity(phi * rng.gamma(5, size=phi.shape), X, alpha=0.2).perplexity
    merged = completion_perplexity([phi[0] + phi[1], *phi[2:]], X, alpha=0.2).perplexity
    unigram = completion_perplexity(phi.mean(axis=0)[None], X).perplexity
    assert truth < near < unigram
    assert truth < merged < unigram


def test_the_truth_is_best_where_documents_have_one_topic():
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(30, 0.5), 4)
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    X = rng.multinomial(12, phi[rng.choice(4, 2000, p=weights)])
    one = completion_perplexity(phi, X, alpha=0, weights=weights)
    some = completion_perplexity(phi, X)
    assert one.perplexity < some.perplexity
    # Weights matter only if alpha is 0.
    assert completion_perplexity(phi, X, alpha=0.25, weights=weights) == some


def test_same_bits():
    phi, _, X = sample(K=6, n=500)
    found = []
    for n_threads in (1, 2, 8):
        with engine.use(engine.ThreadEngine(n_threads)):
            found.append(completion_perplexity(phi, X).perplexity)
    assert found[0] == found[1] == found[2]
    again = completion_perplexity(8.0 * phi, X.toarray().astype(float)).perplexity
    assert again == found[0]
    assert completion_perplexity(phi, X, random_state=1).perplexity != found[0]
    backwards = completion_perplexity(phi[::-1], X).perplexity
    assert backwards == pytest.approx(found[0])


def test_a_word_that_is_in_no_topic():
    X = [[3, 0, 1], [4, 0, 4]]
    topics = [[1, 1, 0], [2, 1, 0]]
    for prior in ({}, {"alpha": 0}, {"alpha": 0, "weights": [1, 1]}):
        impossible = completion_perplexity(topics, X, smoothing=0, **prior)
        assert impossible.perplexity == math.inf
        assert json.loads(json.dumps(impossible.to_dict(), allow_nan=False))["perplexity"] is None
        assert completion_perplexity(topics, X, **prior).perplexity < math.inf


TOPICS = np.ones((2, 3))


@pytest.mark.parametrize(
    ("components", "X", "options", "message"),
    [
        (TOPICS, [[2, 1]], {}, "X has 2 columns, but the topics have 3 words"),
        (TOPICS, [[2, 1, 0.5]], {}, "only whole tokens can be held out"),
        (-TOPICS, [[2, 1, 1]], {}, "components must be .* not below 0"),
        (TOPICS * np.nan, [[2, 1, 1]], {}, "components must be .* finite"),
        (TOPICS[0], [[2, 1, 1]], {}, "components must be a matrix"),
        (TOPICS * [[1], [0]], [[2, 1, 1]], {}, "topic 1 is all zero"),
        (TOPICS, [[2, 1, 1]], {"alpha": [1, 1, 1]}, r"alpha has shape \(3,\); give one number"),
        (TOPICS, [[2, 1, 1]], {"alpha": -1}, "alpha must be finite and not below 0"),
        (TOPICS, [[2, 1, 1]], {"alpha": 0, "weights": [-1, 2]}, "weights must be finite"),
        (TOPICS, [[2, 1, 1]], {"alpha": 0, "weights": 0}, "weights are all zero"),
        (TOPICS, [[2, 1, 1]], {"smoothing": 2}, "smoothing must be from 0 to 1, not 2"),
    ],
)
def test_bad_parameters(components, X, options, message):
    with pytest.raises(ParameterError, match=message):
        completion_perplexity(components, X, **options)


def test_bad_documents():
    with pytest.raises(CorpusError, match="no document has two known words or more"):
        completion_perplexity(TOPICS, [[1, 0, 0], [0, 0, 0]])
    with pytest.raises(CorpusError, match="row 0, column 1: -1 is not a count"):
        completion_perplexity(TOPICS, [[1, -1, 0]])


def test_reuters(data_folder, monkeypatch):
    """Word frequencies by the topics of the editors predict better than those of all stories."""
    from sklearn.feature_extraction.text import CountVectorizer

    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    stories = load_dataset("reuters", split="test")
    names = ["earn", "acq", "crude", "grain", "money-fx"]
    chosen = [(t, x[0]) for t, x in zip(stories.texts, stories.labels) if x and x[0] in names]
    X = CountVectorizer(max_features=2000, stop_words="english").fit_transform(
        text for text, _ in chosen
    )
    X = sp.csr_array(X)
    labels = np.array([label for _, label in chosen])
    topics = np.array([X[labels == name][::2].sum(axis=0) for name in names])
    held_out = sp.vstack([X[labels == name][1::2] for name in names])
    edited = completion_perplexity(topics, held_out)
    unigram = completion_perplexity(topics.sum(axis=0)[None], held_out)
    assert edited.perplexity < 0.8 * unigram.perplexity
    assert edited.n_tokens == unigram.n_tokens > 10_000


def test_very_long_documents_take_no_more_memory():
    X = np.array([[4 * 10**9, 10**9, 0], [3, 4, 5]])
    first, second = (half.toarray() for half in _halves(sp.csr_array(X), np.random.default_rng(0)))
    assert np.array_equal(first + second, X)
    assert first[1].sum() == 6
    assert np.allclose(first[0], X[0] / 2, rtol=1e-3)
