"""Documents apart: copies, shared words, and directions of their own."""

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext import DocumentMoments, TopicModel
from eigentext.errors import CorpusError
from eigentext.topics.apart import find_apart, set_apart

SIGNATURE = "zeta eta theta iota kappa lambda"


@pytest.fixture(scope="module")
def texts():
    """Documents of two topics, a signature under eight of them, copies, and an encoded file."""
    rng = np.random.default_rng(0)
    topics = [[f"{kind}{i}" for i in range(40)] for kind in "ab"]
    texts = [" ".join(rng.choice(topics[n % 2], 20)) for n in range(300)]
    for n in range(0, 16, 2):
        texts[n] += " " + SIGNATURE
    texts += [texts[100], texts[100] + " a1"]
    code = [f"x{i}" for i in range(40)]
    return [*texts, " ".join(rng.choice(code[:25], 3000)), " ".join(rng.choice(code[15:], 3000))]


@pytest.fixture(scope="module")
def fitted(texts):
    return TopicModel(2, min_df=1, stop_words=None, set_apart=True).fit(tokens(texts))


def tokens(texts):
    return [text.split() for text in texts]


def test_each_kind_is_found_and_named(fitted, texts):
    found = {tuple(group.names): group for group in fitted.apart(tokens(texts))}
    copies = found["document 100", "document 300", "document 301"]
    assert copies.why == "copies"
    signed = found[tuple(f"document {n}" for n in range(0, 16, 2))]
    assert signed.why == "words"
    assert set(signed.words[:6]) == set(SIGNATURE.split())
    encoded = [group for group in found.values() if group.words[0].startswith("x")]
    assert sum(group.n_documents for group in encoded) == 2
    assert sum(len(names) for names in found) == 3 + 8 + 2


def test_topics_are_those_without_them(fitted, texts):
    """They equal the topics of the other documents, but for the vocabulary."""
    phi = fitted.components_
    for kind, other in ("ab", "ba"):
        of_kind = [i for i, word in enumerate(fitted.vocabulary_.words) if word[0] == kind]
        best = phi[:, of_kind].sum(axis=1).max()
        assert best > 0.99, (kind, other)
    plain = TopicModel(3, min_df=1, stop_words=None).fit(tokens(texts))
    encoded = [i for i, word in enumerate(plain.vocabulary_.words) if word[0] == "x"]
    assert plain.components_[:, encoded].sum(axis=1).max() > 0.9  # one topic is the encoded files


def test_they_are_named_in_diagnostics_findings_and_files(fitted, texts, tmp_path):
    groups = fitted.diagnostics_["apart"]
    assert sum(group["n_documents"] for group in groups) == 13
    told = " ".join(finding.sentence for finding in fitted.findings())
    assert "set apart" in told
    assert "owners" not in fitted.diagnostics_
    fitted.save(tmp_path / "model")
    assert et.load(tmp_path / "model").diagnostics_ == fitted.diagnostics_


def test_owners_are_named_without_setting_them_apart(texts):
    plain = TopicModel(2, min_df=1, stop_words=None).fit(tokens(texts))
    owners = plain.diagnostics_["owners"]
    assert {word[0] for group in owners for word in group["words"]} == {"x"}
    remedies = " ".join(finding.remedy or "" for finding in plain.findings())
    assert "set_apart=True" in remedies


def test_nothing_changes_where_all_documents_are_alike():
    """Documents of a model have no outliers: same bits as without the option."""
    rng = np.random.default_rng(1)
    phi = rng.dirichlet(np.full(60, 0.3), 3)
    X = np.array([rng.multinomial(50, phi[n % 3]) for n in range(400)])
    plain, apart = (TopicModel(3, set_apart=value).fit(X) for value in (False, True))
    assert apart.diagnostics_["apart"] == []
    assert (plain.components_ == apart.components_).all()
    assert "owners" not in plain.diagnostics_


def test_copies_count_once():
    rng = np.random.default_rng(2)
    X = rng.poisson(0.5, (50, 40))
    X[0, :10] = 3
    moments = DocumentMoments.from_matrix(np.vstack([X, np.tile(X[:1], (30, 1))]))
    once = DocumentMoments.from_matrix(X)
    known = {"alpha0": 1.0, "robust": 0.0, "random_state": 0}
    left, found = set_apart(moments, 2, **known)
    assert [(group.why, group.n_documents) for group in found] == [("copies", 31)]
    assert (left.counts != once.counts).nnz == 0
    assert (left.times == once.times).all()


def test_the_order_of_documents_does_not_matter(texts):
    order = np.random.default_rng(3).permutation(len(texts))
    models = [
        TopicModel(2, min_df=1, stop_words=None, set_apart=True).fit(X)
        for X in (tokens(texts), tokens([texts[n] for n in order]))
    ]
    groups = [
        sorted((g["why"], g["n_documents"], g["n_tokens"]) for g in model.diagnostics_["apart"])
        for model in models
    ]
    assert groups[0] == groups[1]


def test_nothing_is_left():
    texts = [["ham", "eggs", "tea", "milk", "rye"]] * 20
    found = TopicModel(1, set_apart=True).fit(texts)  # one copy stays
    assert found.diagnostics_["apart"][0]["n_documents"] == 20
    shared = [[*"abcdef", *rest] for rest in ("gg", "hh", "ii", "jj", "kk", "ll")]
    two = [*shared, ["m"], ["n"]] + [["o"]] * 200
    with pytest.raises(CorpusError, match="set_apart=False"):
        TopicModel(1, set_apart=True, min_df=1, stop_words=None).fit(two)


@pytest.mark.parametrize("X", [np.zeros((0, 3), int), np.zeros((4, 3), int), np.eye(3, dtype=int)])
def test_no_documents_and_tiny_ones(X):
    assert find_apart(sp.csr_array(X), np.ones(len(X)), list("abc"), 2) == []
    assert str(find_apart(sp.csr_array(X), np.ones(len(X)), list("abc"), 2)).startswith("No ")
