import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext.corpus import Vocabulary
from eigentext.errors import ParameterError
from eigentext.moments.bags import BagMoments
from eigentext.parameters import UnusedParameterWarning
from eigentext.topics.background import (
    Background,
    KeptVectors,
    Neighbors,
    SmoothedBags,
    neighbors_of,
)
from eigentext.topics.tensor import tensor_topics

WORDS = [f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(120)]


class Population:
    """The exact moments of a model, with the attributes that `SmoothedBags` copies."""

    def __init__(self, truth):
        self.truth, self.mean = truth, truth.mean

    def pairs_times(self, B):
        return self.truth.pairs_times(B)

    def triples(self, W):
        return self.truth.triples(W)


def random_neighbors(d, seed=0, known=0.8):
    rng = np.random.default_rng(seed)
    is_known = rng.random(d) < known
    N = rng.dirichlet(np.full(d, 0.1), d) * is_known[:, None]
    return Neighbors(sp.csr_array(N), is_known, float(is_known.mean()), 1.0)


def groups_of_words(n_topics=4, n_groups=24, size=5, seed=0):
    """Topics in which the words of a group are equally likely, and vectors that show the groups."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    topics = rng.dirichlet(np.full(n_groups, 0.15), n_topics)[:, groups] / size
    vectors = np.eye(n_groups)[groups] + 0.05 * rng.standard_normal((len(groups), n_groups))
    return topics, vectors


def sample(topics, n_documents, length, alpha0=0.3, seed=0):
    rng = np.random.default_rng(seed)
    h = rng.dirichlet(np.full(len(topics), alpha0 / len(topics)), n_documents)
    return [
        " ".join(rng.choice(WORDS[: topics.shape[1]], length, p=p / p.sum())) for p in h @ topics
    ]


def texts_and_vectors(n_documents=150, length=20, alpha0=0.3):
    topics, vectors = groups_of_words()
    return topics, sample(topics, n_documents, length, alpha0), (WORDS, vectors)


def fitted(texts, **options):
    settings = {"min_df": 1, "stop_words": None, "alpha0": 0.3} | options
    return et.TopicModel(4, **settings).fit(texts)


def error(model, topics, matched):
    found = np.zeros_like(topics)
    found[:, [WORDS.index(word) for word in model.vocabulary_.words]] = model.components_
    return matched(topics, found)[1].mean()


# The moments.


@pytest.mark.parametrize("alpha0", [0.0, 0.7])
def test_smoothed_population_moments_are_those_of_moved_topics(random_topics, matched, alpha0):
    truth = random_topics(4, 30, alpha0)
    S = Background(random_neighbors(30), 5.0, 100 * truth.mean).moved()
    assert np.abs(S.sum(axis=1) - 1).max() < 1e-12
    found = tensor_topics(SmoothedBags(Population(truth), S), 4, alpha0=alpha0)
    moved = truth.topics @ S
    columns, distances = matched(moved, found.components)
    assert distances.max() < 1e-8
    assert np.abs(found.weights[columns] - truth.weights).max() < 1e-8
    assert np.abs(moved - truth.topics).sum(axis=1).min() > 0.1  # S did something


def test_smoothed_moments_equal_dense_products():
    rng = np.random.default_rng(1)
    bags = BagMoments(rng.poisson(0.5, (40, 12)))
    S = Background(random_neighbors(12), 2.0, np.full(12, 20.0)).moved()
    smoothed = SmoothedBags(bags, S).reweighted(rng.random(40))
    plain, D = bags.reweighted(smoothed.weights), S.toarray()
    eye = np.eye(12)
    P, T = plain.pairs_times(eye), plain.triples(eye)
    assert np.allclose(smoothed.mean, D.T @ plain.mean)
    assert np.allclose(smoothed.pairs_times(eye), D.T @ P @ D)
    assert np.allclose(smoothed.triples(eye), np.einsum("abc,ai,bj,ck->ijk", T, D, D, D))
    W = rng.standard_normal((12, 3))
    assert np.isclose(smoothed.pair_shares(W).sum(), np.trace(W.T @ D.T @ P @ D @ W))
    rows = np.array([3, 5])
    assert np.allclose(smoothed.projections(rows, W), plain.counts[rows].toarray() @ D @ W)


def test_words_that_are_their_own_neighbors_change_nothing():
    eye = Neighbors(sp.csr_array(sp.eye_array(9)), np.ones(9, bool), 1.0, 1.0)
    assert np.allclose(Background(eye, 7.0, np.arange(9.0)).moved().toarray(), np.eye(9))


def test_frequent_words_and_words_without_vectors_keep_their_counts():
    neighbors = random_neighbors(10)
    many = Background(neighbors, 5.0, np.full(10, 1e9)).moved().toarray()
    assert np.allclose(many, np.eye(10), atol=1e-6)
    few = Background(neighbors, 5.0, np.ones(10)).moved().toarray()
    own = neighbors.kernel.diagonal()[neighbors.is_known]
    unknown = ~neighbors.is_known
    assert (few[unknown] == np.eye(10)[unknown]).all()
    assert np.allclose(np.diag(few)[neighbors.is_known], (1 + 50 * own) / 51)


# The M step.


def test_smoothed_counts_equal_the_formula():
    rng = np.random.default_rng(2)
    E = rng.gamma(0.3, size=(3, 8)) * 5
    neighbors, tau = random_neighbors(8), 4.0
    N, shares = neighbors.kernel.toarray(), E.sum(axis=1) / E.sum()
    expected = np.empty_like(E)
    for w in range(8):
        n = E[:, w].sum()
        R = sum(N[w, u] * (E[:, u] + 0.5 * shares) / (E[:, u].sum() + 0.5) for u in range(8))
        expected[:, w] = (n + 0.5) * (E[:, w] + tau * R) / (n + tau)
        if not neighbors.is_known[w]:
            expected[:, w] = E[:, w] + 0.1
    found = Background(neighbors, tau, E.sum(axis=0)).smoothed(E, 0.1)
    assert np.allclose(found, expected, rtol=1e-12)
    known = neighbors.is_known
    assert np.allclose(found.sum(axis=0)[known], E.sum(axis=0)[known] + 0.5)


# The neighbors.


def test_neighbors_are_the_nearest_of_the_most_frequent_words(monkeypatch):
    monkeypatch.setattr("eigentext.topics.background._SOURCES", 60)
    monkeypatch.setattr("eigentext.topics.background._NEIGHBORS", 7)
    rng = np.random.default_rng(3)
    V, counts = rng.standard_normal((100, 10)), rng.permutation(100).astype(float)
    vocabulary = Vocabulary(WORDS, np.ones(120, np.int64))
    counts = np.concatenate([counts, np.full(20, 50.0)])
    found = neighbors_of(vocabulary, counts, (WORDS[:100], V))
    U = V / np.linalg.norm(V, axis=1, keepdims=True)
    sources = np.argsort(-counts[:100], kind="stable")[:60]
    for w in range(100):
        others = [u for u in sources if u != w]
        nearest = sorted(others, key=lambda u: -U[w] @ U[u])[:7]
        weights = np.exp(U[nearest] @ U[w] / 0.1)
        row = np.zeros(120)
        row[nearest] = weights / weights.sum()
        assert np.allclose(found.kernel[[w]].toarray()[0], row, atol=1e-5)
    assert (np.diff(found.kernel.indptr)[100:] == 0).all()
    assert found.is_known.tolist() == [True] * 100 + [False] * 20
    assert found.words == pytest.approx(100 / 120)
    assert found.tokens == pytest.approx(counts[:100].sum() / counts.sum())


def test_a_single_known_word_has_no_neighbors():
    vocabulary = Vocabulary(WORDS[:3], np.ones(3, np.int64))
    found = neighbors_of(vocabulary, np.ones(3), (["wab"], np.ones((1, 4))))
    assert found.kernel.nnz == 0
    assert found.words == found.tokens == 0


# Learning.


@pytest.mark.parametrize("alpha0", [0.0, 0.3])
def test_true_neighbors_lower_the_error_of_few_documents(matched, alpha0):
    topics, texts, vectors = texts_and_vectors(100, 12, max(alpha0, 1e-3))
    without = error(fitted(texts, alpha0=alpha0), topics, matched)
    used = fitted(texts, alpha0=alpha0, vectors=vectors)
    assert used.diagnostics_["background"]["strength"] > 0
    assert error(used, topics, matched) < 0.8 * without


def test_true_neighbors_lower_the_error_of_moments(matched):
    topics, texts, vectors = texts_and_vectors(n_documents=200, length=20)
    without = error(fitted(texts, refine=0), topics, matched)
    used = fitted(texts, refine=0, vectors=vectors, background=30)
    assert error(used, topics, matched) < 0.8 * without


@pytest.mark.parametrize("method", ["tensor", "gradient", "anchors"])
def test_with_strength_zero_the_bits_are_those_without_vectors(method):
    _, texts, vectors = texts_and_vectors()
    plain = fitted(texts, method=method)
    other = fitted(texts, method=method, vectors=vectors, background=0)
    assert (plain.components_ == other.components_).all()
    assert (plain.weights_ == other.weights_).all()
    used = fitted(texts, method=method, vectors=vectors, background=10)
    assert (plain.components_ != used.components_).any()


def test_the_order_of_documents_leaves_no_trace():
    _, texts, vectors = texts_and_vectors()
    a, b = (fitted(order, vectors=vectors) for order in (texts, texts[::-1]))
    assert (a.components_ == b.components_).all()


def test_the_strength_has_the_least_perplexity():
    _, texts, vectors = texts_and_vectors()
    used = fitted(texts, vectors=vectors).diagnostics_["background"]
    tried = used["perplexities"]
    assert list(tried) == ["0", "1", "3", "10", "30"]
    assert f"{used['strength']:g}" == min(tried, key=tried.get)


def test_rare_words_stay_with_vectors():
    _, texts, vectors = texts_and_vectors(n_documents=600)
    texts += ["waa wab twice wac", "wad wae twice waf once"]
    plain, used = (
        et.TopicModel(4, refine=2, vectors=given).fit(texts) for given in (None, vectors)
    )
    assert "twice" not in plain.vocabulary_
    assert "twice" in used.vocabulary_
    assert "once" not in used.vocabulary_
    assert used.diagnostics_["limits"]["min_df"] == 2
    same = et.TopicModel(4, refine=2, vectors=vectors)
    same.fit_moments(et.DocumentMoments.from_corpus(texts))
    assert (same.components_ == used.components_).all()


def test_documents_are_added_with_the_vectors(tmp_path):
    _, texts, vectors = texts_and_vectors()
    first = fitted(texts[:100], vectors=vectors, background=5, keep_moments="whole")
    first.save(tmp_path / "first")
    whole = fitted(texts, vectors=vectors, background=5)
    first.partial_fit(texts[100:])
    assert first.diagnostics_["background"] == whole.diagnostics_["background"]
    with pytest.raises(ParameterError, match="give them again"):
        et.load(tmp_path / "first").partial_fit(texts[100:])


def test_columns_of_a_data_frame_are_words():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    counts = pd.DataFrame(rng.poisson(1.0, (80, 6)), columns=WORDS[:6])
    moments = et.DocumentMoments.from_matrix(counts.to_numpy(), words=list(counts.columns))
    model = et.TopicModel(2, vectors=(WORDS[:6], rng.standard_normal((6, 3))), refine=2)
    model.fit_moments(moments)
    assert model.components_.shape == (2, 6)
    assert model.diagnostics_["background"]["words"] == 1


# What it says, and files.


def test_a_file_names_the_vectors(tmp_path):
    _, texts, vectors = texts_and_vectors()
    model = fitted(texts, vectors=vectors)
    model.save(tmp_path / "topics")
    loaded = et.load(tmp_path / "topics")
    assert (loaded.transform(texts) == model.transform(texts)).all()
    assert loaded.diagnostics_ == model.diagnostics_
    assert loaded.parameters_.vectors == KeptVectors("tuple")
    with pytest.raises(ParameterError, match="give them again"):
        loaded.fit(texts)
    loaded.save(tmp_path / "again")
    assert et.load(tmp_path / "again").parameters_.vectors == KeptVectors("tuple")
    again = loaded.set_params(vectors=vectors).fit(texts)
    assert (again.components_ == model.components_).all()


def test_few_words_with_vectors_are_a_finding():
    _, texts, (_, vectors) = texts_and_vectors()
    model = fitted(texts, vectors=(WORDS[:10], vectors[:10]))
    told = [one for one in model.findings() if "have a vector" in one.sentence]
    assert [one.severity for one in told] == ["warning"]
    assert "same language" in told[0].remedy


def test_vectors_that_do_not_help_are_a_finding(monkeypatch):
    monkeypatch.setattr("eigentext.topics.background._GAIN", np.inf)
    _, texts, vectors = texts_and_vectors()
    model = fitted(texts, vectors=vectors)
    assert model.diagnostics_["background"]["strength"] == 0
    assert any("were not used" in one.sentence for one in model.findings())


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        (([word.upper() + "x" for word in WORDS], np.ones((120, 3))), "same language"),
        ((WORDS, np.full((120, 3), np.nan)), "not finite"),
        ((WORDS, np.ones((120, 1))), "one dimension"),
        ((WORDS, np.ones((119, 3))), "one row for each word"),
        ((WORDS, np.full((120, 2), "a")), "must be numbers"),
        ((WORDS, np.zeros((120, 3))), "has a vector"),
    ],
)
def test_bad_vectors_have_a_clear_error(vectors, told):
    _, texts, _ = texts_and_vectors(n_documents=40)
    with pytest.raises(ParameterError, match=told):
        fitted(texts, vectors=vectors)


@pytest.mark.parametrize("strength", [-1, "much", None, np.nan])
def test_a_bad_strength_is_an_error(strength):
    _, texts, vectors = texts_and_vectors(n_documents=40)
    with pytest.raises(ParameterError, match="background"):
        fitted(texts, vectors=vectors, background=strength)


def test_a_strength_without_vectors_has_no_effect():
    _, texts, _ = texts_and_vectors(n_documents=40)
    with pytest.warns(UnusedParameterWarning, match="without vectors"):
        fitted(texts, background=3)


def test_one_document_needs_a_number():
    vectors = (["ham", "eggs", "cheese"], np.eye(3))
    with pytest.raises(et.EigentextError, match="a number for background"):
        et.TopicModel(1, vectors=vectors, min_df=1).fit(["ham eggs cheese ham eggs cheese"])


def test_a_strength_is_chosen_without_em_if_words_are_only_held_out():
    rng = np.random.default_rng(0)
    words = ["ham", "eggs", "cheese", "goal", "team", "match"]
    texts = [" ".join(rng.choice(words[:3] if i % 2 else words[3:], 6)) for i in range(40)]
    texts += [f"only{i} rare{i} words{i}" for i in range(40)]  # some of them are held out
    vectors = sorted({word for text in texts for word in text.split()})
    vectors = vectors, rng.normal(size=(len(vectors), 4))
    model = et.TopicModel(2, vectors=vectors, refine=0, min_df=1).fit(texts)
    tried = model.diagnostics_["background"]["perplexities"]
    assert np.isfinite(list(tried.values())).all()
