"""Two-step CCA: exact on population moments, against plain CCA of the same views, on samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import eigentext as et
from eigentext import CooccurrenceMoments, Eigenwords, engine
from eigentext.errors import ParameterError
from eigentext.words.two_step import _by_distance, factored, joint_counts, two_step
from words.brown_model import BrownModel

TOKENS = BrownModel(m=4, n=30, seed=1).sample(600, 1)
TEXT = [" ".join(TOKENS[start : start + 20]) for start in range(0, 600, 20)]


def ahead(model: BrownModel, d: int) -> sp.csr_array:
    """P(u, then v d places later)."""
    T = np.linalg.matrix_power(model.T, d)
    return sp.csr_array(model.O @ np.diag(model.pi) @ T.T @ model.O.T)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("transform", ["none", "two-thirds", "sqrt"])
def test_words_of_one_state_have_one_direction(seed, side, transform):
    model = BrownModel(m=5, n=100, seed=seed)
    by_distance = [ahead(model, d) for d in range(1, 2 * side + 1)]
    C, G = joint_counts(by_distance, [1.0] * side)
    U, s, found = factored(C, G, 5, transform=transform, dtype=np.float64)
    assert found["dropped_singular_values"][0] < 1e-7 * s[-1]  # the rank is exactly m
    rows = U / np.linalg.norm(U, axis=1, keepdims=True)
    same_state = model.states[:, None] == model.states
    assert np.allclose(rows @ rows.T, same_state, atol=1e-8)


def inverse_root(C):
    values, Q = np.linalg.eigh(C)
    kept = values > 1e-10
    return Q[:, kept] / np.sqrt(values[kept]) @ Q[:, kept].T


def test_population_correlations_are_those_of_plain_cca():
    """CCA by its definition, of views built token by token: one word on each side."""
    rng = np.random.default_rng(0)
    m, n = 3, 12
    P = rng.dirichlet(np.ones(n**3)).reshape(n, n, n)  # left, word, right
    P = (P + P.transpose(1, 2, 0) + P.transpose(2, 0, 1)) / 3  # the same margins at all places
    C, D = P.sum(axis=0), np.diag(P.sum(axis=(1, 2)))
    C = (C + P.sum(axis=2)) / 2
    G = P.sum(axis=1)
    U, s, found = factored(sp.csr_array(C), sp.csr_array(G), m, transform="none", dtype=np.float64)
    root = inverse_root(D)
    U1, s1, Vt1 = np.linalg.svd(root @ G @ root)
    L, R = root @ U1[:, :m], root @ Vt1[:m].T  # Phi
    S_S = np.block([[L.T @ D @ L, L.T @ G @ R], [R.T @ G.T @ L, R.T @ D @ R]])
    S_W = np.vstack([L.T @ C, R.T @ C.T])
    expected = np.linalg.svd(inverse_root(S_S) @ S_W @ root, compute_uv=False)
    assert np.allclose(found["context_correlations"], s1[:m] / s1[0], atol=1e-8)
    assert np.allclose(s, expected[:m], atol=1e-8)
    assert np.allclose(U.T @ U, np.eye(m), atol=1e-8)


def test_counts_at_each_distance_by_hand():
    text = ["a b c a b", "b c"]
    moments = CooccurrenceMoments.from_corpus(text, window=4, context="list", weighting="distance")
    found = _by_distance(moments)
    ids = {word: place for place, word in enumerate(moments.vocabulary.words)}
    for d, F in enumerate(found, 1):
        expected = np.zeros((3, 3))
        for line in text:
            tokens = line.split()
            for i in range(len(tokens) - d):
                expected[ids[tokens[i]], ids[tokens[i + d]]] += 1
        assert np.allclose(F.toarray(), expected, atol=1e-12)
    C, G = joint_counts(found, [1.0, 0.5])
    assert np.allclose(C.toarray(), (found[0] + 0.5 * found[1]).toarray())
    assert np.allclose(G.toarray(), (found[1] + found[2] + 0.25 * found[3]).toarray())


def test_states_from_samples():
    model = BrownModel(m=4, n=80, seed=0)
    tokens = model.sample(100_000, 0)
    scores = []
    for n_tokens in (2_000, 100_000):
        words = Eigenwords(4, min_count=1, window=4, context="list", method="two-step")
        words.fit([tokens[:n_tokens]])
        truth = model.states[[int(word) for word in words.vocabulary_]]
        labels = KMeans(4, n_init=10, random_state=0).fit_predict(words.vectors_)
        scores.append(adjusted_rand_score(truth, labels))
    assert scores[0] < scores[1] == 1.0


def test_same_bits_on_any_number_of_threads_and_by_any_way(tmp_path):
    settings = {"window": 2, "min_count": 1, "context": "list", "method": "two-step"}
    words = Eigenwords(3, keep_moments="whole", **settings)
    with engine.use(engine.ThreadEngine(1)):
        one = words.fit(TEXT).vectors_
    with engine.use(engine.ThreadEngine(3)):
        assert np.array_equal(Eigenwords(3, **settings).fit(TEXT).vectors_, one)
    parts = Eigenwords(3, keep_moments="whole", **settings).fit(TEXT[:8]).partial_fit(TEXT[8:])
    assert np.array_equal(parts.vectors_, one)
    assert np.array_equal(Eigenwords(3, **settings).fit_moments(words.moments_).vectors_, one)
    words.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert loaded.parameters_.method == "two-step"
    assert np.array_equal(loaded.vectors_, one)


def test_other_contexts_are_refused():
    for settings in ({}, {"context": "list", "window": 1}, {"context": "list", "alpha": 0.5}):
        with pytest.raises(ParameterError, match="context='list'"):
            Eigenwords(2, min_count=1, method="two-step", **settings).fit(TEXT)


def test_more_dimensions_than_the_text_has():
    with pytest.raises(ParameterError, match="n_components"):
        Eigenwords(31, min_count=1, window=2, context="list", method="two-step").fit(TEXT)


def test_rare_words_have_a_row_of_their_own():
    moments = CooccurrenceMoments.from_corpus(
        [*TEXT, "one two"], window=2, context="list", min_count=3
    )
    U, s, _ = two_step(moments, 2)
    assert U.shape == (len(moments.vocabulary) + 1, 2)
    assert (s > 0).all()
