"""Spans of raw text: the chunks of `tag`, at the right places, with their true probabilities."""

import itertools

import numpy as np
import pytest

from eigentext import Tagger, load
from eigentext.corpus import schemes
from eigentext.errors import CorpusError
from eigentext.tagging import _loops
from eigentext.tagging.decoding import local_scores

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

NAMES = [
    [("Ann", "B-PER"), ("Lee", "I-PER"), ("saw", "O"), ("Paris", "B-LOC"), (".", "O")],
    [("Lee", "B-PER"), ("Ann", "B-PER"), ("left", "O"), ("-LRB-", "O"), ("Rome", "B-LOC"),
     ("-RRB-", "O")],
    [("In", "O"), ("New", "B-LOC"), ("York", "I-LOC"), (",", "O"), ("Bo", "B-PER"), (".", "O")],
    [("Bo", "O"), ("New", "B-PER"), ("saw", "O"), ("New", "B-LOC"), ("York", "I-LOC")],
]  # fmt: skip


def rewritten(scheme):
    """The same chunks in another scheme."""
    found = []
    for sentence in NAMES:
        tags = schemes.in_scheme(
            [[tag for _, tag in sentence]], None if scheme == "iob1" else scheme
        )[0]
        if scheme == "iob1":
            tags = [
                f"I{tag[1:]}" if tag[0] == "B" and before[1:] != tag[1:] else tag
                for before, tag in zip(["O", *tags], tags)
            ]
        found.append([(word, tag) for (word, _), tag in zip(sentence, tags)])
    return found * 4


WAYS = {
    "bio": lambda: Tagger(n_epochs=2, scheme="bio").fit(rewritten("bio")),
    "bilou": lambda: Tagger(n_epochs=2).fit(rewritten("bilou")),
    "iobes": lambda: Tagger(n_epochs=2).fit(rewritten("iobes")),
    "learned as bilou": lambda: Tagger(n_epochs=2, scheme="bilou").fit(rewritten("bio")),
    "no scheme": lambda: Tagger(n_epochs=2, scheme=None).fit(rewritten("bio")),
}


@pytest.fixture(scope="module", params=WAYS)
def tagger(request):
    found = WAYS[request.param]()
    found.temperature_ = 3.0  # far from certain
    return found


def taggings(tagger, words):
    """All taggings of a sentence, in learned tags, with their probabilities."""
    data = tagger._features.encode([[(word,) for word in words]])
    weights, n = tagger._weights, len(words)
    scores = local_scores(data, tagger._features, weights).astype(float)
    m = scores.shape[1]
    found, logs = [], []
    for tags in itertools.product(range(m), repeat=n):
        before = (m, *tags[:-1])
        score = sum(weights.T[a, y] + scores[t, y] for t, (a, y) in enumerate(zip(before, tags)))
        found.append([tagger._tagset.learned[y] for y in tags])
        logs.append((score + weights.end[tags[-1]]) / tagger.temperature_)
    p = np.exp(np.array(logs) - max(logs))
    return list(zip(found, p / p.sum()))


@pytest.mark.parametrize("text", ["Ann Lee left", "Bo saw York", "New York Ann"])
def test_the_confidence_is_the_probability_of_the_chunk(tagger, text):
    words, found = text.split(), tagger.spans(text)
    every = taggings(tagger, words)
    (tags,) = [[tag for _, tag in one] for one in tagger.tag([text])]
    assert len(found) == len(schemes.spans(tags))
    best = max(every, key=lambda one: one[1])[0]
    for span, (label, i, j) in zip(found, schemes.spans(tags)):
        assert (span.label, text[span.start : span.end].split()) == (label, words[i:j])
        with_it = sum(
            p
            for tags, p in every
            if (label, i, j) in schemes.spans(tags) and tags[i:j] == best[i:j]
        )
        assert span.confidence == pytest.approx(with_it, rel=1e-5)


def test_iob1_is_read_as_bio():
    first = Tagger(n_epochs=2).fit(rewritten("bio"))
    with pytest.warns(UserWarning, match="IOB1"):
        second = Tagger(n_epochs=2).fit(rewritten("iob1"))
    text = "Ann Lee saw New York."
    assert second.spans(text) == first.spans(text) != []


def test_places_are_those_of_the_raw_text():
    tagger = Tagger().fit(rewritten("bio"))
    text = "  Ann Lee\tsaw (Paris).\n\nIn  New York, Bo left."
    found = tagger.spans(text)
    assert [(text[a:b], label) for a, b, label, _ in found] == [
        ("Ann Lee", "PER"), ("Paris", "LOC"), ("New York", "LOC"), ("Bo", "PER"),
    ]  # fmt: skip
    assert all(0 < span.confidence <= 1 for span in found)
    lines = text.split("\n")
    alone = [[span.label for span in tagger.spans(line)] for line in lines]
    assert [*itertools.chain(*alone)] == [span.label for span in found]
    assert tagger.spans_many([text, "", lines[0]]) == [found, [], found[:2]]
    assert tagger.spans_many(iter([])) == []


def test_tags_of_tokens_are_spans_of_tokens(tmp_path):
    tagged = [[("The", "D"), ("dog", "N"), ("barks", "V"), ("(", "("), (")", ")"), (".", ".")]] * 3
    tagger = Tagger().fit(tagged)
    text = "The dog (barks)."
    found = tagger.spans(text)
    assert [text[a:b] for a, b, *_ in found] == ["The", "dog", "(", "barks", ")", "."]
    assert [span.label for span in found] == [tag for _, tag in tagger.tag([text])[0]]
    np.testing.assert_allclose([span.confidence for span in found], tagger.confidences([text])[0])
    tagger.save(tmp_path / "tagger")
    assert load(tmp_path / "tagger").spans(text) == found


def test_many_texts_on_threads(monkeypatch):
    monkeypatch.setattr("eigentext.tagging.decoding._TOKENS", 5)
    tagger = Tagger(scheme="bilou").fit(rewritten("bio"))
    texts = ["Ann Lee saw Paris.", "x", "", "In New York, Bo saw Lee."] * 3
    assert tagger.spans_many(texts) == [tagger.spans(text) for text in texts]


def test_mistakes():
    tagger = Tagger().fit(rewritten("bio"))
    with pytest.raises(CorpusError, match="text 1: spans are places in raw text; give a string"):
        tagger.spans(["Ann", "Lee"])
    with pytest.raises(CorpusError, match="that is for `spans`"):
        tagger.spans_many("Ann Lee")
    two = Tagger().fit([[("Ann", "NNP", "B-PER"), ("left", "VBD", "O")]] * 3)
    with pytest.raises(CorpusError, match="needs word, pos for each token"):
        two.spans("Ann left")


def test_backward_sums_over_all_tags_that_follow():
    rng = np.random.default_rng(0)
    scores, T, end = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), np.array([0, -np.inf, 0])
    T[0, 1] = -np.inf
    out = np.empty_like(scores)
    _loops.backward(scores, np.array([0, 3, 5]), T, end, out)
    for begin, last in ((0, 3), (3, 5)):
        for t, y in itertools.product(range(begin, last), range(3)):
            sums = []
            for rest in itertools.product(range(3), repeat=last - t - 1):
                path = (y, *rest)
                steps = (T[a, b] + scores[t + k + 1, b] for k, (a, b) in
                         enumerate(itertools.pairwise(path)))  # fmt: skip
                sums.append(sum(steps) + end[path[-1]])
            assert out[t, y] == pytest.approx(np.logaddexp.reduce(sums))
