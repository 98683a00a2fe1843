"""The tagger: known answers, exactness, samples, plain text, real sentences, and bad input."""

import contextlib
import itertools
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import HMM, PCFG, Eigentokens, Eigenwords, Tagger, WordClusters, engine
from eigentext.corpus.schemes import find_misfit, to_bilou
from eigentext.errors import CorpusError, EigentextError, LittleDataWarning, ParameterError
from eigentext.tagging.weights import Weights

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off
slow = pytest.mark.skipif(config.DISABLE_JIT, reason="slow")

PETS = [
    [("the", "D"), ("dog", "N"), ("barks", "V")],
    [("the", "D"), ("cat", "N"), ("sleeps", "V")],
    [("dogs", "N"), ("bark", "V")],
    [("the", "D"), ("bark", "N"), ("of", "P"), ("the", "D"), ("tree", "N")],
]
NAMES = [
    [("new", "B-LOC"), ("york", "I-LOC"), ("is", "O"), ("big", "O")],
    [("mr", "B-PER"), ("x", "I-PER"), ("york", "I-PER"), ("sleeps", "O")],
    [("york", "B-LOC"), ("bonn", "B-LOC"), ("x", "B-PER")],
]


def words_of(tagged):
    return [[word for word, *_ in sentence] for sentence in tagged]


def tags_of(tagged):
    return [[token[-1] for token in sentence] for sentence in tagged]


def random_tagged(seed=0, n=60, tags="ABC", n_words=6):
    """Sentences of words that may have several tags."""
    rng = np.random.default_rng(seed)
    return [
        [
            (f"w{(t + rng.integers(2)) % n_words}", tags[t])
            for t in rng.integers(len(tags), size=rng.integers(1, 6))
        ]
        for _ in range(n)
    ]


def random_chunks(seed=0, n=40):
    """Sentences in BIO, of few words."""
    rng, sentences = np.random.default_rng(seed), []
    for _ in range(n):
        sentence = []
        for _ in range(rng.integers(1, 4)):
            kind, length = "OXY"[rng.integers(3)], int(rng.integers(1, 4))
            tags = ["O"] if kind == "O" else [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
            sentence += [(f"{kind.lower()}{rng.integers(3)}", tag) for tag in tags]
        sentences.append(sentence)
    return sentences


# Known answers.


def test_words_and_neighbors_decide():
    tagger = Tagger(features=["word[-1..0]"]).fit(PETS)
    assert tags_of(tagger.tag(["the bark", ["the", "cat", "barks"]])) == [
        ["D", "N"],
        ["D", "N", "V"],
    ]
    assert tagger.tags_ == ["D", "N", "P", "V"]
    assert tagger.columns_ == ["word"]
    assert tagger.diagnostics_["n_sentences"] == 4
    assert tagger.diagnostics_["n_tokens"] == 13
    assert tagger.diagnostics_["n_tags"] == 4
    assert tagger.diagnostics_["coverage"] == {}
    assert tagger.diagnostics_["wrong_sentences"][-1] == 0
    assert tagger.diagnostics_["n_weighted"] <= tagger.diagnostics_["n_features"]


def test_weights_by_hand():
    # One sentence, x y, with tags A B. Step 0: A A is the first of equal ones; y-B and A-B get 1,
    # y-A and A-A get -1. Step 1: right, the end. These weights are there after every step.
    tagger = Tagger(features=["word[0]"]).fit([[("x", "A"), ("y", "B")]])
    assert tagger.top_features("B") == [("word[0]=y", 1.0)]
    assert tagger.top_features("A") == [("word[0]=y", -1.0)]
    assert tagger.diagnostics_["wrong_tags"] == [1, 0]
    assert tagger.diagnostics_["n_features"] == 2
    assert tagger.diagnostics_["n_weighted"] == 1  # x has no weights, and is dropped
    # The scores are A A -2, A B 2, B A -1, B B 1, divided by the temperature.
    e = np.exp(np.array([-2, 2, -1, 1]) / tagger.temperature_)
    p = e / e.sum()
    np.testing.assert_allclose(
        tagger.marginals("x y"), [[p[0] + p[1], p[2] + p[3]], [p[0] + p[2], p[1] + p[3]]]
    )
    best = tagger.k_best("x y", 9)
    assert [[tag for _, tag in one.tagging] for one in best] == [
        ["A", "B"], ["B", "B"], ["B", "A"], ["A", "A"],
    ]  # fmt: skip
    np.testing.assert_allclose(
        [one.log_probability for one in best], np.log(p[[1, 3, 2, 0]]), atol=1e-12
    )


def test_bilou_by_hand():
    tagger = Tagger(scheme="bilou", features=["word[0]"]).fit(NAMES)
    assert to_bilou([tag for _, tag in NAMES[1]]) == ["B-PER", "I-PER", "L-PER", "O"]
    assert tagger.tags_ == ["B-LOC", "B-PER", "I-LOC", "I-PER", "O"]
    # york after mr x is the last word of a name, L-PER, which is shown as I-PER.
    assert tagger.tag(["mr x york"]) == [[("mr", "B-PER"), ("x", "I-PER"), ("york", "I-PER")]]
    assert tagger.evaluate(NAMES).f1 == 1
    # p(B-LOC) is the sum for B-LOC and U-LOC, and rows sum to 1.
    p = tagger.marginals("york bonn")
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p.shape == (2, 5)
    # A single token has three valid tags: O and two U's.
    assert len(tagger.k_best("bonn", 99)) == 3
    shown = [tuple(tag for _, tag in one.tagging) for one in tagger.k_best("x york bonn", 999)]
    assert len(set(shown)) == len(shown)


def in_other_tags(tagged, rewrite):
    return [
        [(*token[:-1], tag) for token, tag in zip(one, rewrite([token[-1] for token in one]))]
        for one in tagged
    ]


def to_iob1(tags):
    before = ["O", *tags]
    return [
        f"I{tag[1:]}" if tag[0] == "B" and last[1:] != tag[1:] else tag
        for last, tag in zip(before, tags)
    ]


@pytest.mark.parametrize("scheme", ["auto", "bilou"])
def test_iob1_gives_the_tagger_of_bio(scheme):
    iob1 = in_other_tags(NAMES, to_iob1)
    assert iob1[2] == [("york", "I-LOC"), ("bonn", "B-LOC"), ("x", "I-PER")]
    bio = Tagger(scheme=scheme, n_epochs=3).fit(NAMES, validation=NAMES)
    with pytest.warns(UserWarning, match="^read 4 tags of the scheme IOB1 as BIO") as told:
        tagger = Tagger(scheme=scheme, n_epochs=3).fit(iob1, validation=iob1)
    assert {Path(one.filename).name for one in told} == {"test_tagger.py"}
    assert tagger.diagnostics_ == bio.diagnostics_ | {"n_changed_tags": 4}
    assert (tagger.tags_, tagger.temperature_) == (bio.tags_, bio.temperature_)
    assert tagger.tag(words_of(NAMES)) == bio.tag(words_of(NAMES))
    for tagged in (NAMES, iob1, in_other_tags(NAMES, to_bilou)):  # the same chunks
        assert tagger.evaluate(tagged) == bio.evaluate(NAMES)
        assert tagger.calibrate(tagged).temperature_ == bio.temperature_


def test_one_stray_tag_is_no_other_scheme():
    stray = [*NAMES, [("bonn", "I-LOC")]]
    with pytest.warns(UserWarning, match=r"^read 1 tag that broke .* sentence 4, token 1$"):
        tagger = Tagger(n_epochs=3).fit(stray)
    assert tagger.tag(["bonn"]) == [[("bonn", "B-LOC")]]


def test_taggings_of_iobes_are_valid_and_saved(tmp_path):
    letters = {"L": "E", "U": "S"}
    iobes = in_other_tags(
        NAMES, lambda tags: [letters.get(tag[0], tag[0]) + tag[1:] for tag in to_bilou(tags)]
    )
    tagger = Tagger(n_epochs=1).fit(iobes)
    tagger.save(tmp_path / "iobes")
    for one in (tagger, et.load(tmp_path / "iobes")):
        assert set(one.tags_) == {tag for sentence in iobes for _, tag in sentence}
        for tagging, _ in one.k_best("york x mr", 100):
            assert find_misfit([tag for _, tag in tagging], "iobes") is None
    assert tagger.evaluate(NAMES) == tagger.evaluate(iobes)


def test_tags_of_bilou_come_back_as_they_are():
    bilou = [
        [(word, tag) for (word, _), tag in zip(one, to_bilou([tag for _, tag in one]))]
        for one in NAMES
    ]
    tagger = Tagger(features=["word[0]"]).fit(bilou)
    assert set(tagger.tags_) == {tag for one in bilou for _, tag in one}
    assert tagger.tag(words_of(bilou)) == bilou
    assert tagger.evaluate(bilou).f1 == 1


def test_several_columns():
    tagged = [
        [("the", "D", "B-NP"), ("dog", "N", "I-NP"), ("barks", "V", "B-VP")],
        [("dogs", "N", "B-NP"), ("bark", "V", "B-VP")],
    ]
    tagger = Tagger().fit(tagged)
    assert tagger.columns_ == ["word", "pos"]
    assert "pos[-2..2]" in tagger.templates_
    assert tagger.tag([[("cats", "N"), ("sleep", "V")]]) == [
        [("cats", "N", "B-NP"), ("sleep", "V", "B-VP")]
    ]
    best = tagger.k_best([("cats", "N"), ("sleep", "V")], 2)
    assert best[0].tagging == [("cats|N", "B-NP"), ("sleep|V", "B-VP")]
    columns = ["word", "pos", "country"]
    more = Tagger(columns=columns, features=["word[0]|country[0]"]).fit(
        [[("bank", "N", "no", "O")], [("bonn", "N", "yes", "B-LOC")]] * 2
    )
    assert more.tag([[("bonn", "N", "yes")]]) == [[("bonn", "N", "yes", "B-LOC")]]
    assert more.top_features("B-LOC", 1)[0][0] == "word[0]|country[0]=bonn|yes"


def test_only_one_tag():
    tagger = Tagger().fit([[("a", "X"), ("b", "X")]])
    assert tagger.tag(["c a"]) == [[("c", "X"), ("a", "X")]]
    assert tagger.top_features("X") == []
    np.testing.assert_allclose(tagger.marginals("c a"), 1)
    assert len(tagger.k_best("c a", 5)) == 1


# Exactness.


def all_taggings(tagger, words):
    """log p of every tagging with the learned tags, as a sum of weights."""
    features, (W, D, T, end) = tagger._features, tagger._weights
    assert not len(D)
    data = features.encode([[(word,) for word in words]])
    names, m = tagger._tagset.learned, len(tagger._tagset.learned)
    scores = {}
    for path in itertools.product(range(m), repeat=len(words)):
        score, before = float(end[path[-1]]), m
        for t, y in enumerate(path):
            score += float(T[before, y])
            score += sum(float(W[f, y]) for f in data.features[t] if f >= 0)
            before = y
        if score > -np.inf:
            scores[tuple(names[y] for y in path)] = score / tagger.temperature_
    total = np.logaddexp.reduce(list(scores.values()))
    return {tags: score - total for tags, score in scores.items()}


@pytest.mark.parametrize("scheme", [None, "bio", "bilou"])
def test_k_best_and_marginals_are_those_of_all_taggings(scheme):
    tagger = Tagger(scheme=scheme, n_epochs=3).fit(random_chunks())
    shown = dict(zip(tagger._tagset.learned, tagger._tagset.shown))
    for seed in range(3):
        words = words_of(random_chunks(seed + 10, 1))[0][:4]
        logs = all_taggings(tagger, words)
        ranked = sorted(logs.values(), reverse=True)
        found = tagger.k_best(words, 1000)
        np.testing.assert_allclose([one.log_probability for one in found], ranked[:1000], atol=1e-4)
        if len(ranked) <= 1000:
            assert np.exp([one.log_probability for one in found]).sum() == pytest.approx(1)
        assert len({tuple(one.tagging) for one in found}) == len(found)
        log_of = {tuple(shown[tag] for tag in tags): log for tags, log in logs.items()}
        for one in found[:30]:
            log = log_of[tuple(tag for _, tag in one.tagging)]
            assert one.log_probability == pytest.approx(log, abs=1e-4)
        assert tagger.k_best(words, 2) == found[:2]
        p = np.zeros((len(words), len(tagger.tags_)))
        for tags, log in logs.items():
            for t, tag in enumerate(tags):
                p[t, tagger.tags_.index(shown[tag])] += np.exp(log)
        np.testing.assert_allclose(tagger.marginals(words), p, atol=1e-4)
        best = tagger.tag([words])[0]
        assert log_of[tuple(tag for _, tag in best)] == pytest.approx(ranked[0], abs=1e-4)
        confidences = [p[t, tagger.tags_.index(tag)] for t, (_, tag) in enumerate(best)]
        np.testing.assert_allclose(tagger.confidences([words])[0], confidences, atol=1e-4)


def test_many_sentences_are_the_sentences_one_by_one():
    tagger, sentences = Tagger(n_epochs=2).fit(random_tagged()), words_of(random_tagged(5, 50))
    assert tagger.tag(iter(sentences)) == [tagger.tag([one])[0] for one in sentences]
    assert tagger.k_best_many(sentences, 3) == [tagger.k_best(one, 3) for one in sentences]
    confidences = tagger.confidences(sentences)
    for one, found in zip(sentences, confidences):
        assert len(one) == len(found)
        np.testing.assert_allclose(found, tagger.confidences([one])[0])
    assert tagger.tag([]) == tagger.k_best_many([], 2) == tagger.confidences([]) == []


def test_validation_chooses_the_passes_and_the_temperature():
    train, validation = random_tagged(0), random_tagged(1, 30)
    tagger = Tagger(features=["word[0]"], n_epochs=6).fit(train, validation=validation)
    scores = tagger.diagnostics_["validation"]
    assert len(scores) == len(tagger.diagnostics_["wrong_tags"])
    best = int(np.argmax(scores))
    assert tagger.evaluate(validation).accuracy == max(scores)
    short = Tagger(features=["word[0]"], n_epochs=best + 1).fit(train)
    np.testing.assert_array_equal(short._weights.T, tagger._weights.T)
    assert short.calibrate(validation).temperature_ == tagger.temperature_

    def likelihood(temperature):
        tagger.temperature_ = temperature
        return sum(
            np.log(tagger.marginals([w for w, _ in one])[t, tagger.tags_.index(tag)])
            for one in validation
            for t, (_, tag) in enumerate(one)
        )

    chosen = tagger.temperature_
    assert likelihood(chosen) > likelihood(1.1 * chosen)
    assert likelihood(chosen) > likelihood(chosen / 1.1)


def test_calibration_changes_no_tagging():
    tagger, sentences = Tagger(n_epochs=2).fit(random_tagged()), words_of(random_tagged(3))
    before, temperature = tagger.tag(sentences), tagger.temperature_
    assert tagger.calibrate(random_tagged(4)) is tagger
    assert tagger.temperature_ != temperature
    assert tagger.tag(sentences) == before


def test_calibration_with_tags_never_seen_leaves_them_out():
    tagger = Tagger(n_epochs=2).fit(random_tagged())
    known = random_tagged(4)
    temperature = tagger.calibrate(known).temperature_
    more = [[*one, ("odd", "ODD")] for one in known[:1]] + known[1:]
    tagger.calibrate([[("odd", "ODD")], *known])
    assert tagger.temperature_ == pytest.approx(temperature)
    tagger.calibrate(more)
    assert np.isfinite(tagger.temperature_)


def test_calibration_needs_tags_that_are_known():
    tagger = Tagger().fit(PETS)
    temperature = tagger.temperature_
    with contextlib.suppress(EigentextError):  # refused, or without an effect
        tagger.calibrate([[("the", "ODD")]])
    assert tagger.temperature_ == temperature


# No tagging breaks its scheme.


@pytest.mark.parametrize("scheme", ["bio", "bilou"])
@settings(max_examples=40)
@given(data=st.data())
def test_no_weights_break_a_scheme(scheme, data):
    tagger = Tagger(scheme=scheme, features=["word[-1..1]"], n_epochs=2).fit(random_chunks(n=8))
    seed = data.draw(st.integers(0, 1 << 32))
    scale = data.draw(st.sampled_from([0.0, 1.0, 1e3, 1e30]))
    rng = np.random.default_rng(seed)
    W, D, T, end = tagger._weights
    drawn = [(scale * rng.normal(size=part.shape)).astype(np.float32) for part in (W, D, T)]
    tagger._weights = Weights(drawn[0], drawn[1], np.where(np.isinf(T), T, drawn[2]), end)
    word = st.sampled_from(["x0", "x1", "y0", "o2", "new"])
    sentence = data.draw(st.lists(word, min_size=1, max_size=6))
    assert find_misfit(tags_of(tagger.tag([sentence]))[0], "bio") is None
    if scale < 1e30:
        for one in tagger.k_best(sentence, 20):
            assert find_misfit([tag for _, tag in one.tagging], "bio") is None


@pytest.mark.parametrize("scheme", ["auto", "bilou"])
def test_a_sentence_of_one_token_has_a_tagging(scheme):
    # All chunks have two tokens, and there is no O.
    tagger = Tagger(scheme=scheme).fit([[("a", "B-X"), ("b", "I-X")]] * 2)
    for sentence in ("b", "b b b", "a", "b a b"):
        found = tags_of(tagger.tag([sentence]))[0]
        assert find_misfit(found, "bio") is None
        assert tagger.k_best(sentence, 9)


# Same input and seed, same bits.


CRF = {"perceptron": {}, "crf": {"c2": 0.1}}
SHORT = {"perceptron": ("n_epochs", 3), "crf": ("n_iter", 10)}


@pytest.mark.parametrize("model", ["perceptron", "crf"])
def test_same_bits_on_any_number_of_threads(monkeypatch, model):
    if model == "crf":
        pytest.importorskip("pycrfsuite")
    monkeypatch.setattr("eigentext.tagging.decoding._TOKENS", 16)
    text = words_of(random_tagged(7, 200))
    tokens = Eigentokens(2, window=1, min_count=1).fit(text)
    states = HMM(2, method="em", n_init=1, n_iter=3).fit(text)
    words = [f"w{i}" for i in range(6)]
    vectors = (words, np.random.default_rng(0).normal(size=(6, 3)))
    sentences, found = words_of(random_tagged(5, 80)), []
    for n in (1, 2):
        with engine.use(engine.ThreadEngine(n)):
            tagger = Tagger(
                model=model, vectors=vectors, eigentokens=tokens, states=states,
                clusters=dict.fromkeys(words, "01"), **{SHORT[model][0]: SHORT[model][1]},
            ).fit(random_tagged(), validation=random_tagged(1, 30))  # fmt: skip
            confidences = np.concatenate(tagger.confidences(sentences))
            found.append((tagger, confidences, tagger.k_best_many(sentences, 3)))
    (one, p, best), (two, q, other) = found
    for a, b in zip(one._weights, two._weights):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(p, q)
    assert best == other
    assert one.tag(sentences) == two.tag(sentences)
    assert one.temperature_ == two.temperature_


def test_seeds():
    taggers = [Tagger(n_epochs=2, random_state=seed).fit(random_tagged()) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(taggers[0]._weights.T, taggers[1]._weights.T)
    assert not np.array_equal(taggers[0]._weights.T, taggers[2]._weights.T)
    again = taggers[0].fit(random_tagged())  # the same tagger once more
    np.testing.assert_array_equal(again._weights.W, taggers[1]._weights.W)


# Recovery.


@pytest.fixture(scope="module")
def tags_and_words():
    """Tags from a Markov chain and words from tags: a known hidden Markov model."""
    m, n = 3, 30
    rng = np.random.default_rng(0)
    transition = 0.5 * np.eye(m) + 0.5 * rng.dirichlet(np.ones(m), m)
    emission = rng.dirichlet(np.full(n, 0.2), m)
    truth = HMM.from_parameters(np.full(m, 1 / m), transition, emission)

    def draw(size, seed):
        rng = np.random.default_rng(seed)
        sentences = []
        for _ in range(size):
            tag, sentence = rng.integers(m), []
            for _ in range(8):
                sentence.append((f"w{rng.choice(n, p=emission[tag])}", "ABC"[tag]))
                tag = rng.choice(m, p=transition[tag])
            sentences.append(sentence)
        return sentences

    def posterior(words):
        """p(tag at t | sentence), forwards and backwards."""
        local = emission[:, [int(word[1:]) for word in words]].T
        ahead, back = np.empty(local.shape), np.ones(local.shape)
        ahead[0] = local[0] / m
        for t in range(1, len(words)):
            ahead[t] = ahead[t - 1] @ transition * local[t]
        for t in range(len(words) - 2, -1, -1):
            back[t] = transition @ (local[t + 1] * back[t + 1])
        p = ahead * back
        assert np.log(ahead[-1].sum()) == pytest.approx(
            truth.log_probability([int(word[1:]) for word in words])
        )
        return p / p.sum(axis=1, keepdims=True)

    return draw, posterior


@slow
@pytest.mark.parametrize("model", ["perceptron", "crf"])
def test_more_sentences_bring_the_tagger_closer_to_the_best_possible(tags_and_words, model):
    if model == "crf":
        pytest.importorskip("pycrfsuite")
    draw, posterior = tags_and_words
    train, test = draw(2000, 1), draw(300, 2)
    p = [posterior(words) for words in words_of(test)]
    best = np.mean(
        [
            tag == "ABC"[row.argmax()]
            for one, rows in zip(test, p)
            for (_, tag), row in zip(one, rows)
        ]
    )
    accuracies, errors = [], []
    for n in (5, 50, 2000):
        tagger = Tagger(model=model, features=["word[0]"], **CRF[model]).fit(
            train[:n], validation=test[:50]
        )
        accuracies.append(tagger.evaluate(test).accuracy)
        found = np.concatenate([tagger.marginals(words) for words in words_of(test)])
        errors.append(np.abs(found - np.concatenate(p)).mean())
    assert accuracies[0] < accuracies[1] - 0.02
    assert accuracies[1] < accuracies[2]
    assert accuracies[2] > best - 0.02
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < (0.02 if model == "crf" else 0.08)


@slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("source", "least"),
    [("vectors", 0.9), ("clusters", 0.9), ("eigentokens", 0.6), ("states", 0.85)],
)
def test_plain_text_tells_the_tags_of_unseen_words(class_world, unlabeled, source, least, seed):
    train, test = class_world(20, seed), class_world(200, 50 + seed)
    seen = {word for one in train for word, _ in one}

    def unseen(tagger):
        pairs = zip(itertools.chain(*test), itertools.chain(*tagger.tag(words_of(test))))
        return np.mean([a[1] == b[1] for a, b in pairs if a[0] not in seen])

    alone = unseen(Tagger(features=["word[0]"]).fit(train))
    tagger = Tagger(features=["word[0]"], **{source: unlabeled[source]}).fit(train)
    assert alone < 0.55
    assert unseen(tagger) > max(least, alone + 0.12)
    if source in ("vectors", "clusters"):
        name = "vector" if source == "vectors" else "cluster"
        assert tagger.diagnostics_["coverage"] == {name: 1.0}


# Real sentences.


@slow
def test_chunks_of_conll(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "nltk_data/corpora/conll2000.zip").exists():
        pytest.skip("no CoNLL-2000 in the data folder")
    tagged = et.load_dataset("conll2000")
    train, test = tagged[:500], et.load_dataset("conll2000", split="test")[:200]
    result = Tagger(n_epochs=5).fit(train).evaluate(test)
    assert result.f1 > 0.87
    bilou = Tagger(n_epochs=5, scheme="bilou").fit(train)
    assert bilou.evaluate(test).f1 > 0.87
    found = bilou.tag([[token[:2] for token in one] for one in test])
    assert all(find_misfit(tags, "bio") is None for tags in tags_of(found))
    # Tags with a high confidence are right more often.
    p = np.concatenate(bilou.calibrate(tagged[600:700]).confidences(
        [[token[:2] for token in one] for one in test]
    ))  # fmt: skip
    pairs = zip(itertools.chain(*tags_of(found)), itertools.chain(*tags_of(test)))
    right = np.array([a == b for a, b in pairs])
    order = np.argsort(p)
    assert right[order[: len(p) // 5]].mean() < 0.85 < 0.97 < right[order[len(p) // 2 :]].mean()
    assert p.mean() == pytest.approx(right.mean(), abs=0.03)


@slow
def test_names_of_wnut(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "ner/wnut17/train.conll").exists():
        pytest.skip("no WNUT17 in the data folder")
    tagged = et.load_dataset("wnut17", tagged=True)
    tagger = Tagger(n_epochs=5).fit(tagged[:1000])
    assert tagger.templates_[0] == "word[0]"
    result = tagger.evaluate(tagged[1000:1500])
    assert result.f1 > 0.15
    assert result.accuracy > 0.9
    assert tagger.evaluate(tagged[:300]).f1 > 0.9


# Parsers.


def test_a_parser_tells_tags_that_words_do_not():
    """The tagger knows no word of the test sentences. The parser knows what they are."""
    nouns, verbs = [f"n{k}" for k in range(9)], [f"v{k}" for k in range(9)]
    trees = [f"(S (NN {n}) (VP (VB {v}) (NN {m})))" for n, v, m in zip(nouns, verbs, nouns[::-1])]
    parser = PCFG().fit(trees * 2)
    train = [[(n, "N"), (v, "V")] for n, v in zip(nouns[:4], verbs[:4])] * 3
    test = [[(n, "N"), (v, "V")] for n, v in zip(nouns[5:], verbs[5:])]
    plain = Tagger(features=["word[0]"]).fit(train)
    assert plain.templates_ == ["word[0]"]
    tagger = Tagger(features=["word[0]"], parser=parser).fit(train)
    assert tagger.templates_ == ["word[0]", "node[-1..1]"]
    assert tagger.score(test) == 1.0
    assert tagger.diagnostics_["coverage"] == {"node": 1.0}
    assert tagger.provenance_["given"]["parser"]["n_trees"] == 18


# An estimator.


def test_it_is_an_estimator():
    tagger = Tagger(model="crf", scheme="bilou", c2=0.5)
    assert repr(tagger) == "Tagger(model='crf', scheme='bilou', c2=0.5)"
    assert clone(tagger).get_params() == tagger.get_params()
    assert tagger.set_params(n_iter=7).n_iter == 7
    with pytest.raises(ParameterError, match="Tagger has no parameter 'order'"):
        tagger.set_params(order=2)
    for use in (tagger.tag, tagger.confidences, tagger.evaluate, tagger.calibrate):
        with pytest.raises(NotFittedError):
            use([])
    with pytest.raises(NotFittedError):
        tagger.top_features("N")
    assert repr(Tagger()) == "Tagger()"


@pytest.mark.parametrize("source", ["vectors", "clusters", "eigentokens", "states", "parser"])
def test_a_clone_learns_with_the_same_sources(source):
    # scikit-learn clones a tagger for every fold. The clones must keep the sources.
    text = words_of(random_tagged(7, 200))
    vectors = Eigenwords(2, window=1, min_count=1).fit(text)
    models = {
        "vectors": vectors,
        "clusters": WordClusters(2).fit(vectors),
        "eigentokens": Eigentokens(2, window=1, min_count=1).fit(text),
        "states": HMM(2, method="em", n_init=1, n_iter=3).fit(text),
        "parser": PCFG().fit(f"(S {' '.join(f'(X{w} {w})' for w in one)})" for one in text),
    }
    tagger = Tagger(n_epochs=2, **{source: models[source]}).fit(random_tagged())
    again = clone(tagger).fit(random_tagged())
    sentences = words_of(random_tagged(5))
    assert again.k_best_many(sentences, 2) == tagger.k_best_many(sentences, 2)


@pytest.mark.parametrize("source", ["vectors", "clusters"])
def test_a_repr_is_short(source):
    words = [f"word{i}" for i in range(5000)]
    large = {"vectors": (words, np.ones((5000, 2))), "clusters": dict.fromkeys(words, "0101")}
    assert len(repr(Tagger(**{source: large[source]}))) < 500


def test_vectors_of_gensim():
    vectors = KeyedVectors(2)
    vectors.add_vectors([f"w{i}" for i in range(6)], np.eye(6, 2, dtype=np.float32))
    tagger = Tagger(vectors=vectors, n_epochs=2).fit(random_tagged())
    same = Tagger(vectors=(vectors.index_to_key, vectors.vectors), n_epochs=2).fit(random_tagged())
    assert tagger.tag(["w1 w2"]) == same.tag(["w1 w2"])
    assert len(repr(tagger)) < 300


# Evaluation.


def test_evaluation_of_tags_and_of_chunks():
    tags = Tagger(features=["word[-1..0]"]).fit(PETS).evaluate(PETS)
    assert (tags.accuracy, tags.n_gold) == (1, 13)
    chunks = Tagger().fit(NAMES).evaluate(NAMES)
    assert (chunks.f1, chunks.n_gold, chunks.n_tokens) == (1, 5, 11)


def test_labels_never_seen_count_as_wrong():
    tagger = Tagger(features=["word[-1..0]"]).fit(PETS)
    tags = tagger.evaluate([*PETS, [("the", "D"), ("dog", "ODD")]])
    assert (tags.n_right, tags.n_gold) == (14, 15)
    assert tags.by_tag["ODD"].n_right == 0
    chunks = Tagger().fit(NAMES).evaluate([*NAMES, [("bonn", "B-ODD"), ("x", "I-ODD")]])
    assert chunks.n_right == 5
    assert chunks.by_type["ODD"].recall == 0
    mixed = Tagger().fit(NAMES).evaluate([*NAMES, [("bonn", "ODD")]])  # scored as tags
    assert (mixed.n_right, mixed.n_gold) == (11, 12)
    assert (
        Tagger()
        .fit(PETS, validation=[[("the", "D"), ("dog", "ODD")]])
        .diagnostics_["validation"][0]
        <= 0.5
    )
    with pytest.raises(ParameterError, match="none of the tags of these sentences was learned"):
        Tagger(scheme="bilou").fit(NAMES, validation=[[("bonn", "B-ODD")]])


# Bad input.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "svm"}, "model must be 'perceptron' or 'crf', not 'svm'"),
        ({"scheme": "iob1"}, "scheme must be 'auto', 'bio', 'bilou' or None, not 'iob1'"),
        ({"features": "words"}, "features must be 'auto', 'chunk', 'ner', 'pos' or a list"),
        ({"features": ["wrod[0]"]}, "no attribute 'wrod'"),
        ({"features": ["word[0]|vector[0]"]}, "a vector cannot be joined with other parts"),
        ({"features": ["vector[0]"]}, "a template looks at 'vector'; give vectors=… too"),
        ({"features": ["cluster4[0]"]}, "a template looks at 'cluster4'; give clusters=… too"),
        ({"features": []}, "features must be .* or a list of templates"),
        ({"features": None}, "features must be"),
        ({"features": ["cluster0[0]"], "clusters": {"the": "01"}}, "cluster0"),
        ({"min_count": 0}, "min_count must be a whole number, 1 or more, not 0"),
        ({"n_epochs": 0}, r"n_epochs \(--epochs\) must be a whole number, 1 or more, not 0"),
        ({"n_epochs": 1.5}, "n_epochs .* must be a whole number, 1 or more, not 1.5"),
        ({"n_iter": 0}, "n_iter .* must be a whole number, 1 or more"),
        ({"scale": -1}, "scale must be a number, 0 or more, not -1"),
        ({"margin": np.nan}, "margin must be a number, 0 or more"),
        ({"c1": np.inf}, "c1 must be a number, 0 or more"),
        ({"c2": "1"}, "c2 must be a number, 0 or more, not '1'"),
        ({"columns": ["word", "pos"]}, "columns 'word', 'pos' for tokens with 1 parts"),
        ({"vectors": 3}, "vectors must be fitted Eigenwords, .*, not 3"),
        ({"vectors": (["the"], [[np.nan]])}, "vectors must be finite numbers"),
        (
            {"vectors": (["le", "chien"], np.eye(2))},
            r"no word .* those of vectors, .*another vocab",
        ),
        (
            {"clusters": {"le": "00"}},
            "no word of the training sentences is among those of clusters",
        ),
        ({"clusters": ["00"]}, "clusters must be fitted WordClusters"),
        ({"eigentokens": 3}, "eigentokens must be a fitted model with transform"),
        ({"parser": 3}, "parser must be a fitted model with transform"),
        ({"states": (["the"], np.eye(1))}, "states must be a fitted model with transform"),
    ],
)
def test_settings_that_are_refused(settings, message):
    tagger = Tagger(**settings)
    with pytest.raises(ParameterError, match=message):
        tagger.fit(PETS)
    with pytest.raises(NotFittedError):  # a failed fit leaves nothing
        tagger.tag(["the dog"])


@pytest.mark.parametrize(
    "change",
    [
        {"features": ["wrod[0]"]},
        {"clusters": {"le": "00"}},
        {"vectors": (["le"], np.eye(1))},
        {"columns": ["word", "pos"]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_second_fit_that_fails_leaves_the_first(change):
    tagger, sentences = Tagger(scheme="bilou").fit(NAMES), words_of(NAMES)
    before = tagger.k_best_many(sentences, 3)
    with pytest.raises(ParameterError):
        tagger.set_params(scheme="auto", **change).fit(PETS)
    assert tagger.k_best_many(sentences, 3) == before


def test_a_fit_needs_crfsuite(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    tagger = Tagger(model="crf")
    with pytest.raises(EigentextError, match="model='crf' needs CRFsuite: pip install"):
        tagger.fit(PETS)
    with pytest.raises(NotFittedError):
        tagger.tag(["the dog"])


def test_few_words_with_vectors():
    with pytest.warns(UserWarning, match=r"only 31% of the training tokens are among the words"):
        Tagger(vectors=(["the", "chien"], np.eye(2))).fit(PETS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", LittleDataWarning)
        Tagger(vectors=(["the", "dog", "cat", "bark", "of", "tree"], np.eye(6))).fit(PETS)


class Wrong:
    """A model of tokens that returns something wrong."""

    def __init__(self, vectors):
        self.vectors = vectors

    def transform(self, sentences):
        return [self.vectors(len(one)) for one in sentences]


@pytest.mark.parametrize(
    "vectors",
    [
        lambda n: np.ones((n - 1 or 1, 2)),
        lambda n: np.ones((n + 1, 2)),
        lambda n: np.ones((n, min(n, 2))),
        lambda n: np.full((n, 2), np.nan),
    ],
    ids=["too few", "too many", "other widths", "nan"],
)
def test_models_of_tokens_that_answer_nonsense(vectors):
    # The compiled loops assume that there is a vector for each token.
    with pytest.raises(EigentextError):
        Tagger(features=["word[0]"], states=Wrong(vectors)).fit(PETS)


@pytest.mark.parametrize(
    ("tagged", "message"),
    [
        ([], "no tagged sentences"),
        ("dog N", "give a list of tagged sentences"),
        ([PETS[0], []], "sentence 2 is empty"),
        ([PETS[0], [("a", "D"), "dog"]], "sentence 2, token 2: 'dog' is not a tuple of 2 strings"),
        ([PETS[0], [("a", "D", "x")]], "sentence 2, token 1: .* is not a tuple of 2 strings"),
    ],
)
def test_training_data_that_is_refused(tagged, message):
    tagger = Tagger()
    with pytest.raises(CorpusError, match=message):
        tagger.fit(tagged)
    with pytest.raises(NotFittedError):
        tagger.tag(["a dog"])


def test_validation_data_that_is_refused():
    for validation, message in [
        ([], "no tagged sentences"),
        ([[]], "sentence 1 is empty"),
        ([[("a", "D", "N")]], "sentence 1, token 1: .* is not a word, as this tagger needs"),
    ]:
        for use in (
            lambda validation: Tagger().fit(PETS, validation=validation),
            lambda validation: Tagger().fit(PETS).calibrate(validation),
            lambda validation: Tagger().fit(PETS).evaluate(validation),
        ):
            with pytest.raises(CorpusError, match=message):
                use(validation)


def test_a_sentence_without_words_has_its_answer_in_its_place():
    tagger = Tagger().fit(PETS)
    (first, nothing, last), alone = tagger.tag(["the dog", [], "the cat"]), tagger.tag(["the cat"])
    assert (len(first), nothing, last) == (2, [], alone[0])
    assert [len(one) for one in tagger.confidences([[], "the dog"])] == [0, 2]
    assert tagger.marginals([]).shape == (0, len(tagger.tags_))
    assert tagger.k_best("", 3) == [([], 0.0)]
    assert tagger.tag([[]]) == [[]]


def test_sentences_that_are_refused():
    tagger = Tagger().fit(PETS)
    with pytest.raises(CorpusError, match="give a list of sentences, each a string of raw text or"):
        tagger.tag("the dog")
    with pytest.raises(CorpusError, match="give a list of sentences"):
        tagger.tag(7)
    with pytest.raises(CorpusError, match="sentence 2, token 1: 7 is not a word"):
        tagger.confidences([["a"], [7]])
    with pytest.raises(CorpusError, match=r"token 1: \('the', 'D'\) is not a word, as this tagger"):
        tagger.tag(PETS)
    for k in (0, 1.5, True):
        with pytest.raises(ParameterError, match="k must be a whole number"):
            tagger.k_best("the dog", k)
    with pytest.raises(ParameterError, match="unknown tag 'X'; the tags are D, N, P, V"):
        tagger.top_features("X")
    assert tagger.top_features("D", 0) == []
    chunker = Tagger().fit([[("a", "D", "B-X"), ("b", "N", "I-X")]])
    for sentence in (["a"], "a b", [("a", "D", "B-X")]):
        with pytest.raises(CorpusError, match=r"sentence 1, token 1: .* a tuple of word, pos"):
            chunker.tag([sentence])


def test_calibration_on_tags_of_another_kind():
    chunker = Tagger(scheme="bilou").fit(NAMES)
    with pytest.raises(CorpusError, match="sentence 2, token 1: 'ODD' is not a chunk tag"):
        chunker.calibrate([NAMES[0], [("bonn", "ODD")]])


# Several runs, confidences, and words that sources know in another case.


def noisy_sentences(n: int, seed: int = 0) -> list[list[tuple[str, str]]]:
    """Words of two kinds, where a fifth of the tags are wrong."""
    rng = np.random.default_rng(seed)
    words, flips = rng.integers(0, 20, (n, 6)), rng.random((n, 6)) < 0.2
    tags = np.where(flips, 1 - words % 2, words % 2)
    return [[(f"w{w}", "AB"[y]) for w, y in zip(*one)] for one in zip(words, tags)]


def test_runs_are_averaged_the_same_on_any_threads():
    data = noisy_sentences(100)
    with engine.use(engine.ThreadEngine(1)):
        one = Tagger(n_runs=3).fit(data)
    with engine.use(engine.ThreadEngine(2)):
        two = Tagger(n_runs=3).fit(data)
    single = Tagger().fit(data)
    words = [[word for word, _ in sentence] for sentence in noisy_sentences(20, seed=1)]
    for a, b in zip(one.confidences(words), two.confidences(words)):
        np.testing.assert_array_equal(a, b)
    pairs = zip(one.confidences(words), single.confidences(words))
    assert any((a != b).any() for a, b in pairs)


def test_confidences_are_honest_without_held_out_sentences():
    tagger = Tagger(features=["word[0]"]).fit(noisy_sentences(600))
    test = noisy_sentences(300, seed=1)
    sure = np.concatenate(tagger.confidences([[word for word, _ in one] for one in test]))
    assert abs(sure.mean() - tagger.evaluate(test).accuracy) < 0.06


def test_eigentokens_know_words_in_another_case():
    text = [one.split() for one in ["the cat sat", "a dog ran", "the dog sat", "a cat ran"] * 9]
    tokens = et.Eigentokens(2, window=1).fit(text)
    data = [[("The", "D"), ("cat", "N"), ("sat", "V")], [("A", "D"), ("dog", "N"), ("ran", "V")]]
    tagger = Tagger(features=["word[0]"], eigentokens=tokens).fit(data * 5)
    assert tagger.diagnostics_["coverage"] == {"token": 1.0}
    strange = [[(f"{word}zz", tag) for word, tag in one] for one in data]
    with pytest.raises(ParameterError, match="among those of eigentokens"):
        Tagger(eigentokens=tokens).fit(strange)


# Old names.


def test_the_old_name_of_validation_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match="'dev' is called 'validation' now"):
        old = Tagger(n_epochs=3).fit(PETS, dev=PETS)
    new = Tagger(n_epochs=3).fit(PETS, validation=PETS)
    assert old.diagnostics_ == new.diagnostics_


def test_files_with_the_old_name_are_read():
    tagger = Tagger(n_epochs=3).fit(PETS, validation=PETS)
    arrays, about = tagger._to_saved()
    old = {"dev" if name == "validation" else name: x for name, x in tagger.diagnostics_.items()}
    assert Tagger._from_saved(arrays, about | {"diagnostics": old}).diagnostics_ == (
        tagger.diagnostics_
    )


def test_what_it_was_learned_from(tmp_path):
    text = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 4
    words = et.Eigenwords(2, window=1, min_count=1).fit(text)
    tagged = [[("the", "D"), ("dog", "N")], [("a", "D"), ("cat", "N")]]
    tagger = Tagger(vectors=words).fit(tagged)
    found = tagger.provenance_
    assert [found[name] for name in ("n_sentences", "n_tokens", "n_words")] == [2, 4, 4]
    assert found["given"] == {"vectors": words.provenance_}
    assert Tagger().fit(iter(tagged)).provenance_["sources"] == found["sources"]
    assert Tagger().fit(tagged[::-1]).provenance_["sources"] != found["sources"]
    tagger.save(tmp_path / "tagger")
    assert et.load(tmp_path / "tagger").provenance_ == found
