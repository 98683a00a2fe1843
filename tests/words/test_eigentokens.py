"""Eigentokens: CCA by hand and by other means, hidden states distinguished by context, Brown."""

import importlib.util
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import CooccurrenceMoments, Eigentokens, Eigenwords, TextCorpus, Vocabulary, engine
from eigentext.corpus import encode
from eigentext.errors import CorpusError, ModelFileError, MomentsError, ParameterError
from eigentext.factor import CCA
from eigentext.storage import write_saved
from eigentext.words import eigentokens as module
from eigentext.words._eigentoken_loops import sum_contexts

_spec = importlib.util.spec_from_file_location(
    "brown_model", Path(__file__).with_name("brown_model.py")
)
brown_model = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brown_model)
BrownModel = brown_model.BrownModel

SMALL = {"n_components": 6, "min_count": 8, "window": 2}
POWERS = {"none": 1, "two-thirds": 2 / 3, "sqrt": 1 / 2}


@pytest.fixture
def sentences(zipf_lines):
    return [line.split() for line in zipf_lines(300, n_words=60)]


@pytest.fixture
def fitted(sentences):
    return Eigentokens(**SMALL).fit(sentences)


# Known answers.


def test_two_words_and_two_contexts_by_hand():
    # P = [[3, 1], [1, 3]] / 8 between (a, b) and the next word (c, d): Omega = [[.75, .25], ...],
    # sigma = (1, 1/2), V = [[1, 1], [1, -1]] / sqrt 2 and B = V / sqrt(1/2).
    text = [["a", "c"]] * 3 + [["a", "d"], ["b", "c"]] + [["b", "d"]] * 3
    tokens = Eigentokens(2, window=1, side="right", min_count=1, count_transform="none").fit(text)
    assert np.allclose(tokens.singular_values_, [1, 0.5], atol=1e-6)
    ac, ad, cd = tokens.transform([["a", "c"], ["a", "d"], ["c", "d", "c"]])
    assert np.allclose(np.abs(ac), [[1, 1], [0, 0]], atol=1e-6)  # nothing follows the last word
    assert np.allclose(ad, ac * [1, -1], atol=1e-6)
    assert np.allclose(cd, [ad[0], ac[0], [0, 0]], atol=1e-6)  # its own word does not matter
    a, b = tokens.vectors_[[tokens.vocabulary_["a"], tokens.vocabulary_["b"]]]
    assert np.allclose(a, np.abs(ac[0]) / 2**0.5 * np.sign(ac[0]), atol=1e-6)  # with c, as P says
    assert np.allclose(b, np.abs(ad[0]) / 2**0.5 * np.sign(ad[0]), atol=1e-6)


def one_hot(ids, n):
    return sp.csr_array((np.ones(len(ids)), ids, np.arange(len(ids) + 1)), shape=(len(ids), n))


@pytest.mark.parametrize("side", ["left", "right"])
def test_one_context_word_is_exactly_the_cca_of_one_hot_pairs(sentences, side):
    tokens = Eigentokens(6, window=1, side=side, min_count=3, count_transform="none")
    tokens.fit(sentences)
    n = len(tokens.vocabulary_)
    ids = [np.where((i := tokens.vocabulary_.ids_of(s)) < 0, n, i) for s in sentences]
    first = np.concatenate([i[:-1] for i in ids])
    second = np.concatenate([i[1:] for i in ids])
    x, z = (first, second) if side == "right" else (second, first)
    X, Z = one_hot(x, n + 1), one_hot(z, n + 1)

    plain = CCA(6, center=False).fit(X, Z)
    assert np.allclose(tokens.singular_values_, plain.correlations_, atol=1e-5)
    signs = np.sign((tokens.context_vectors_[0] * plain.y_weights_).sum(axis=0))
    assert np.allclose(tokens.context_vectors_[0] * signs, plain.y_weights_, atol=2e-3)

    # Centering takes away the trivial pair, which is the first, and nothing else.
    centered = CCA(5).fit(X, Z)
    assert np.allclose(tokens.singular_values_[1:], centered.correlations_, atol=1e-5)
    _, expected = centered.transform(X, Z)
    projected = tokens.context_vectors_[0][z, 1:]
    signs = np.sign((projected * expected).sum(axis=0))
    assert np.allclose(projected * signs, expected, atol=2e-3)


def design(sentences, vocabulary, window, side, context):
    """X and Z of Cohen et al. (2013), one row for each token, by brute force."""
    n = len(vocabulary) + 1
    offsets = [d for d in range(-window, window + 1) if d]
    offsets = [d for d in offsets if side == "both" or (d < 0) == (side == "left")]
    blocks = offsets if context == "list" else sorted({np.sign(d) for d in offsets})
    words, contexts = [], []
    for sentence in sentences:
        ids = [vocabulary[w] if w in vocabulary else n - 1 for w in sentence]
        for p, w in enumerate(ids):
            z = np.zeros((len(blocks), n))
            for d in offsets:
                if 0 <= p + d < len(ids):
                    z[blocks.index(d if context == "list" else np.sign(d)), ids[p + d]] += 1
            words.append(w)
            contexts.append(z.ravel())
    return np.eye(n)[words], np.array(contexts)


@pytest.mark.parametrize("side", ["left", "right", "both"])
@pytest.mark.parametrize("context", ["list", "bag"])
@pytest.mark.parametrize("count_transform", ["none", "sqrt"])
def test_an_eigentoken_is_b_transposed_z(sentences, side, context, count_transform):
    tokens = Eigentokens(**SMALL, side=side, context=context, count_transform=count_transform).fit(
        sentences
    )
    X, Z = design(sentences, tokens.vocabulary_, 2, side, context)
    a = POWERS[count_transform]
    P = X.T @ Z / Z.sum()
    x, z = P.sum(axis=1) ** a, P.sum(axis=0) ** a
    z[z == 0] = np.inf  # a word that never stood there
    U, s, Vt = np.linalg.svd(P**a / np.sqrt(np.outer(x, z)), full_matrices=False)
    A, B = U[:, :6] / np.sqrt(x)[:, None], Vt[:6].T / np.sqrt(z)[:, None]

    found = np.concatenate(tokens.transform(sentences))
    expected = Z @ B
    signs = np.sign((found * expected).sum(axis=0))
    assert np.allclose(tokens.singular_values_, s[:6], rtol=1e-4)
    assert np.allclose(tokens.diagnostics_["dropped_singular_values"], s[6:11], rtol=1e-4)
    assert np.allclose(found * signs, expected, atol=5e-3)
    # Sigma B_c = E[A' x | c], the law that the module states (a = 1), or its power.
    given_c = np.divide(P, P.sum(axis=0), out=np.zeros_like(P), where=np.isfinite(z)) ** a
    flat = tokens.context_vectors_.reshape(-1, 6)
    assert np.allclose(flat * signs * s[:6], given_c.T @ A, atol=5e-3)
    if count_transform == "none":  # the trivial pair: A = B = 1
        assert np.allclose(found[:, 0], Z.sum(axis=1), atol=1e-4)


def test_words_are_the_eigenwords_of_the_same_statistics(sentences):
    tokens = Eigentokens(**SMALL).fit(sentences)
    words = Eigenwords(**SMALL, context="list", weighting="flat", beta=0).fit(sentences)
    assert np.array_equal(tokens.vectors_, words.vectors_)
    assert tokens.vocabulary_ == words.vocabulary_


# Laws.


@pytest.mark.parametrize("count_transform", POWERS)
def test_contexts_with_the_same_posterior_have_the_same_vector(count_transform):
    """However often they occur: "one" stands before x twice and y once, "ten" tenfold."""
    pairs = {"one": (2, 1), "ten": (20, 10), "other": (1, 5)}
    text = [[c, w] for c, counts in pairs.items() for w, k in zip("xy", counts) for _ in range(k)]
    tokens = Eigentokens(
        2, window=1, side="left", min_count=1, count_transform=count_transform
    ).fit(text)
    one, ten, other = (v[1] for v in tokens.transform([[c, "x"] for c in pairs]))
    assert np.allclose(one, ten, atol=1e-5)
    assert np.linalg.norm(one - other) > 0.5


@pytest.mark.parametrize("count_transform", POWERS)
@pytest.mark.parametrize("seed", range(3))
def test_population_moments_of_a_brown_model(seed, count_transform):
    """P(w | c) depends on the state of c alone: one row of B for each state and place."""
    model = BrownModel(m=4, n=40, seed=seed)
    ahead = [np.linalg.matrix_power(model.T, d) for d in (1, 2)]
    forward = np.hstack([model.O @ np.diag(model.pi) @ T.T @ model.O.T for T in ahead])
    counts = sp.csr_array(np.rint(forward * 1e14).astype(np.int64))
    words = [f"w{w}" for w in range(40)]
    vocabulary = Vocabulary(words, np.rint(model.O @ model.pi * 1e14).astype(np.int64))
    moments = CooccurrenceMoments(vocabulary, 0, counts, window=2, context="list")
    tokens = Eigentokens(4, window=2, min_count=1, count_transform=count_transform)
    tokens.fit_moments(moments)
    assert tokens.diagnostics_["dropped_singular_values"][0] < 1e-5  # the rank is that of the model
    for block in tokens.context_vectors_[:, :40]:
        distances = np.linalg.norm(block[:, None] - block, axis=2)
        same_state = model.states[:, None] == model.states
        assert distances[same_state].max() < 1e-3 < distances[~same_state].min()
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, 5)
    alike = [[rng.choice(np.flatnonzero(model.states == h)) for h in hidden] for _ in range(2)]
    a, b = tokens.transform([[words[w] for w in sentence] for sentence in alike])
    assert np.allclose(a, b, atol=5e-3)


def ambiguous_text(n_tokens, seed):
    """States go round 0 1 2 3 0 …; "x" is a word of 0 and of 2, and half of what they say."""
    rng = np.random.default_rng(seed)
    steps = rng.choice(4, n_tokens, p=[0.02, 0.94, 0.02, 0.02])
    states = np.cumsum(steps) % 4
    words = [f"s{h}w{k}" for h, k in zip(states, rng.integers(0, 20, n_tokens))]
    ambiguous = np.isin(states, (0, 2)) & (rng.random(n_tokens) < 0.5)
    return ["x" if odd else word for odd, word in zip(ambiguous, words)], states


@pytest.mark.parametrize("count_transform", ["none", "sqrt"])
@pytest.mark.parametrize("seed", range(3))
def test_recovery_of_the_state_of_an_ambiguous_word(seed, count_transform):
    text, states = ambiguous_text(40_000, seed)
    tokens = Eigentokens(4, window=2, count_transform=count_transform).fit([text])
    places = np.flatnonzero(np.array(text) == "x")
    vectors = tokens.transform([text])[0][places]
    second = states[places] == 2
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(vectors)
    agreement = np.mean(labels == second)
    assert max(agreement, 1 - agreement) > 0.95
    # The eigenword is one and the same; seen on one side only, the context says less.
    left = Eigentokens(4, window=1, side="left", count_transform=count_transform).fit([text])
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(left.transform([text])[0][places])
    one_sided = np.mean(labels == second)
    assert max(one_sided, 1 - one_sided) < max(agreement, 1 - agreement)


# The compiled loop and its twin.


def slow_sum_contexts(ids, places, B):
    rows = []
    for p in range(len(ids)):
        if ids[p] < 0:
            continue
        row = np.zeros(B.shape[2], np.float32)
        for offset, block in places:
            between = ids[min(p, p + offset) : max(p, p + offset) + 1]
            inside = 0 <= p + offset < len(ids) and (between >= 0).all()
            if inside:
                row += B[block, ids[p + offset]]
        rows.append(row)
    return np.array(rows, np.float32).reshape(-1, B.shape[2])


@given(
    ids=st.lists(st.integers(-1, 4), max_size=40),
    offsets=st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=6, unique=True),
    cut=st.integers(0, 40),
    seed=st.integers(0, 99),
)
def test_the_loop_equals_its_twin(ids, offsets, cut, seed):
    rng = np.random.default_rng(seed)
    ids = np.array(ids, np.int32)
    B = rng.normal(size=(2, 5, 3)).astype(np.float32)
    places = np.array([(d, rng.integers(2)) for d in sorted(offsets)], np.int32)
    expected = slow_sum_contexts(ids, places, B)
    out = np.full_like(expected, np.nan)
    cut = min(cut, len(ids))
    sum_contexts(ids, 0, cut, places, B, out, 0)
    sum_contexts(ids, cut, len(ids), places, B, out, np.count_nonzero(ids[:cut] >= 0))
    assert np.array_equal(out, expected)


# The estimator.


def test_fit_is_fit_moments_of_collect(sentences, fitted):
    estimator = Eigentokens(**SMALL)
    cut = clone(estimator).fit_moments(estimator.collect(sentences))
    whole = CooccurrenceMoments.from_corpus(sentences, window=2, context="list", weighting="flat")
    for again in (cut, clone(estimator).fit_moments(whole)):
        assert np.array_equal(again.context_vectors_, fitted.context_vectors_)
        assert np.array_equal(again.vectors_, fitted.vectors_)


@pytest.mark.parametrize("combine", [False, True])
def test_lists_and_a_corpus_give_the_same_rows(sentences, combine):
    tokens = Eigentokens(**SMALL, combine=combine).fit(sentences)
    flat = np.concatenate(tokens.transform(sentences))
    assert flat.dtype == np.float32
    assert flat.shape == (sum(map(len, sentences)), 12 if combine else 6)
    for corpus in (sentences, TextCorpus(sentences), encode(sentences)):
        assert np.array_equal(tokens.transform_corpus(corpus), flat)
    assert np.array_equal(np.concatenate(tokens.transform(TextCorpus(sentences))), flat)


def test_combined_with_the_words_own_vector(sentences, fitted):
    both = Eigentokens(**SMALL, combine=True).fit(sentences)
    sentence = ["w1", "w2", "never-seen"]
    vectors = both.transform([sentence])[0]
    assert np.array_equal(vectors[:, :6], fitted.transform([sentence])[0])
    own = [both.vectors_[both.vocabulary_[w]] for w in sentence[:2]]
    assert np.array_equal(vectors[:, 6:], [*own, both.rare_vector_])
    assert np.isclose(np.linalg.norm(both.rare_vector_), 1, atol=1e-5)


def test_unknown_words_act_as_the_rare_symbol(sentences, fitted):
    rare = {w for s in sentences for w in s} - set(fitted.vocabulary_)
    assert rare
    seen, unseen = fitted.transform([["w1", min(rare), "w2"], ["w1", "never-seen", "w2"]])
    assert np.array_equal(seen, unseen)
    assert not np.array_equal(seen, fitted.transform([["w1", "w1", "w2"]])[0])


def test_without_rare_words_an_unknown_word_says_nothing(sentences):
    tokens = Eigentokens(**{**SMALL, "min_count": 1}).fit(sentences)
    alone, beside = tokens.transform([["w1"], ["w1", "never-seen"]])
    assert not alone.any()
    assert np.array_equal(beside[0], alone[0])
    assert beside[1].any()


def test_a_sentence_is_never_left(sentences, fitted):
    apart = fitted.transform([["w1", "w2"], [], ["w3", "w0", "w4"], []])
    assert [len(v) for v in apart] == [2, 0, 3, 0]
    assert apart[1].shape == (0, 6)
    assert np.array_equal(apart[0], fitted.transform([["w1", "w2"]])[0])
    assert np.array_equal(apart[2], fitted.transform([["w3", "w0", "w4"]])[0])
    assert fitted.transform([]) == []
    assert [v.shape for v in fitted.transform([[], []])] == [(0, 6), (0, 6)]


def test_same_bits_for_any_number_of_threads_and_blocks(sentences, monkeypatch):
    reference = None
    for threads in (1, 2, 8):
        for block in (5, 64, 1 << 16):
            monkeypatch.setattr(module, "_TOKENS", block)
            with engine.use(engine.ThreadEngine(threads)):
                tokens = Eigentokens(**SMALL, combine=True).fit(sentences)
                flat = tokens.transform_corpus(sentences)
            reference = flat if reference is None else reference
            assert np.array_equal(flat, reference)


def test_a_saved_model_is_the_same_model(tmp_path, sentences):
    for options in ({}, {"side": "left", "context": "bag", "combine": True, "min_count": 1}):
        tokens = Eigentokens(**{**SMALL, **options}).fit(sentences)
        tokens.save(tmp_path / "model")
        loaded = et.load(tmp_path / "model")
        assert isinstance(loaded, Eigentokens)
        assert loaded.get_params() == tokens.get_params()
        assert loaded.vocabulary_ == tokens.vocabulary_
        assert loaded.diagnostics_ == tokens.diagnostics_
        assert loaded.provenance_ == tokens.provenance_
        for name in ("context_vectors_", "vectors_", "rare_vector_", "places_", "singular_values_"):
            assert np.array_equal(getattr(loaded, name), getattr(tokens, name))
        for a, b in zip(loaded.transform(sentences), tokens.transform(sentences), strict=True):
            assert np.array_equal(a, b)


def test_frames_of_a_corpus_have_the_names_of_the_dimensions(fitted):
    names = [f"eigentokens{k}" for k in range(6)]
    assert list(fitted.get_feature_names_out()) == names
    plain = fitted.transform_corpus(["w1 w2", "w3"])
    frame = fitted.set_output(transform="pandas").transform_corpus(["w1 w2", "w3"])
    assert list(frame.columns) == names
    assert np.array_equal(frame, plain)


@pytest.mark.parametrize("name", ["context_vectors", "vectors"])
def test_vectors_that_are_none_are_found_when_they_are_used(fitted, tmp_path, name):
    arrays, about = fitted._to_saved()
    arrays[name] = arrays[name].copy()
    arrays[name][1, 2] = np.nan
    write_saved(tmp_path / "model", fitted._format, arrays, about)
    loaded = et.load(tmp_path / "model")
    with pytest.raises(ModelFileError, match=f"model: damaged .*: {name} has numbers that are not"):
        loaded.transform([["w1"]])


def test_a_file_with_arrays_of_wrong_shapes_is_refused(tmp_path, fitted):
    fitted.context_vectors_ = fitted.context_vectors_[:-1]
    fitted.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="damaged or made by something else: places"):
        et.load(tmp_path / "model")
    fitted.vectors_ = fitted.vectors_[:-1]
    fitted.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"something else: vectors has shape"):
        et.load(tmp_path / "model")


def test_sklearn_contract_and_later_changes_of_parameters(fitted, sentences):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    for question in (lambda: copy.transform([["w1"]]), lambda: copy.transform_corpus(sentences)):
        with pytest.raises(NotFittedError):
            question()
    with pytest.raises(NotFittedError):
        copy.save("nowhere")
    before = np.concatenate(fitted.transform(sentences))
    fitted.set_params(window=9, side="left", n_components=99)  # for the next fit
    assert np.array_equal(np.concatenate(fitted.transform(sentences)), before)


def test_diagnostics(fitted, sentences):
    found = fitted.diagnostics_
    assert found["singular_values"] == fitted.singular_values_.tolist()
    assert len(found["dropped_singular_values"]) == 5
    assert found["n_words"] == len(fitted.vocabulary_)
    counts = Counter(w for s in sentences for w in s)
    assert found["rare_tokens"] == sum(k for k in counts.values() if k < 8)
    assert fitted.provenance_["n_tokens"] == sum(counts.values())
    lonely = Eigentokens(2, min_count=1).fit(["a b", "b c", "c a", "lonely"])
    assert lonely.diagnostics_["words_without_context"] == 1


# Bad input.


@pytest.mark.parametrize(
    "bad",
    [
        {"n_components": 0},
        {"n_components": 2.5},
        {"min_count": 0},
        {"window": 0},
        {"side": "above"},
        {"context": "tree"},
        {"count_transform": "cube"},
        {"max_size": 0},
    ],
)
def test_bad_parameters(sentences, bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        Eigentokens(**{**SMALL, **bad}).fit(sentences)


def test_more_components_than_rank():
    too_many = Eigentokens(300, min_count=1)
    with pytest.raises(ParameterError, match="only 3 words; use 3 or less"):
        too_many.fit(["a b c"] * 9)
    with pytest.raises(NotFittedError):
        too_many.transform([["a"]])
    # b and c are used alike: three words, two directions.
    with pytest.raises(ParameterError, match="rank 2"):
        Eigentokens(3, min_count=1, window=1).fit(["a b", "a c"] * 9)


def test_moments_of_other_settings_are_refused(sentences):
    for other in ({"window": 3}, {"context": "bag"}, {"weighting": "distance"}):
        settings = {"window": 2, "context": "list", **other}
        with pytest.raises(MomentsError, match=next(iter(other))):
            Eigentokens(**SMALL).fit_moments(CooccurrenceMoments.from_corpus(sentences, **settings))


def test_what_is_no_list_of_tokens(fitted):
    with pytest.raises(CorpusError, match="sentence 2 is the string 'w2 w3'"):
        fitted.transform([["w1"], "w2 w3"])
    with pytest.raises(CorpusError, match="transform_corpus"):
        fitted.transform("text.txt")
    with pytest.raises(CorpusError, match="sentence 1: tokens must be strings"):
        fitted.transform([["w1", 7]])


# Real data.


def test_brown_corpus_tags_by_context(data_folder):
    with zipfile.ZipFile(data_folder / "nltk_data/corpora/brown.zip") as archive:
        names = sorted(n for n in archive.namelist() if n[-4:-2].isalpha() and n[-2:].isdigit())
        text = [archive.read(name).decode() for name in names]
    lines = [line for file in text for line in file.splitlines() if line.strip()][::3]
    pairs = [[token.rpartition("/") for token in line.split()] for line in lines]
    sentences = [[word.lower() for word, _, _ in line] for line in pairs]
    words = np.array([word for sentence in sentences for word in sentence])
    tags = np.array([tag.partition("-")[0] for line in pairs for _, _, tag in line])
    corpus = encode(sentences)
    vectors = Eigentokens().fit(corpus).transform_corpus(corpus)
    # Seen: 0.90 against 0.57 (infinitive or preposition), 0.85 against 0.64 (possessive or
    # object), 0.93 against 0.79 (noun or verb), 0.77 against 0.49.
    for word, margin in (("to", 0.3), ("her", 0.17), ("work", 0.08), ("so", 0.2)):
        places = np.flatnonzero(words == word)
        accuracy, majority = by_nearest_centroid(vectors[places], tags[places])
        assert accuracy > majority + margin


def by_nearest_centroid(vectors, tags):
    """Even tokens teach, odd ones are asked; and what the most frequent tag would answer."""
    frequent = [tag for tag, k in Counter(tags[::2]).most_common() if k >= 10]
    centroids = np.array([vectors[::2][tags[::2] == tag].mean(axis=0) for tag in frequent])
    distances = ((vectors[1::2, None] - centroids) ** 2).sum(axis=2)
    answers = np.array(frequent)[distances.argmin(axis=1)]
    return np.mean(answers == tags[1::2]), np.mean(tags[1::2] == frequent[0])
