"""Kneser-Ney: compared with the formulas in plain Python, and with KenLM on the Brown corpus."""

import pickle
import warnings
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext import KneserNey, NgramMoments, TextCorpus, engine
from eigentext.errors import (
    CorpusError,
    ModelFileError,
    MomentsError,
    ParameterError,
    UnknownWordError,
)
from eigentext.sequences._smoothing import discounts_of
from eigentext.storage import read_saved, write_saved

UNITS = st.lists(st.text("abcde", max_size=12).map(list), min_size=1, max_size=8)
ORDERS = st.integers(1, 4)
EDGE, RARE = "<edge>", "<rare>"


def fitted(tokens, order, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "too little text")
        return KneserNey(order, **settings).fit(tokens)


def twin(units, order, words, stream=False):
    """The formulas of the module in plain Python: a function p(word, context)."""
    counts, before = Counter(), defaultdict(set)
    for unit in filter(None, units):
        unit = (EDGE, *(w if w in words else RARE for w in unit), EDGE)
        for n in range(1, order + 1):
            for i in range(len(unit) - n + 1):
                counts[unit[i : i + n]] += 1
                if i > 0:
                    before[unit[i : i + n]].add(unit[i - 1])
    counts[EDGE,] //= 2

    def adjusted(gram):
        if stream and gram[-1] == EDGE:
            return 0
        if len(gram) == order or (gram[0] == EDGE and len(gram) > 1):
            return counts[gram]
        return len(before[gram])

    a = {gram: adjusted(gram) for gram in counts}
    D = {
        n: dict(enumerate(discounts_of(np.array([c for g, c in a.items() if len(g) == n]))[0], 1))
        for n in range(1, order + 1)
    }
    events = [*words, RARE, *([] if stream else [EDGE])]

    @cache
    def p(word, context):
        context = context[max(0, len(context) - order + 1) :]
        lower = p(word, context[1:]) if context else Fraction(1, len(events))
        followers = {x: a.get((*context, x), 0) for x in events}
        total = sum(followers.values())
        if total == 0:
            return lower
        discount = {x: D[len(context) + 1][min(c, 3)] if c else 0 for x, c in followers.items()}
        b = sum(discount.values()) / total
        return (followers[word] - discount[word]) / total + b * lower

    return p


def events_of(units, words, stream):
    """Return each event and its context."""
    for unit in filter(None, units):
        context = () if stream else (EDGE,)
        for word in unit:
            word = word if word in words else RARE
            yield word, context
            context = (*context, word)
        if not stream:
            yield EDGE, context


# Known answers.


def test_one_line_by_hand():
    with pytest.warns(UserWarning, match="Too little text .* of 1-grams, 2-grams"):
        model = KneserNey(2).fit([["a", "b"]])
    # a, b and the end each follow one word, so half of each remains. Four events share the rest.
    p = Fraction(1, 2) / 3 + Fraction(3, 2) / 3 / 4
    assert p == Fraction(7, 24)
    assert np.allclose(model.distribution(), [7 / 24, 7 / 24, 3 / 24, 7 / 24])
    # Only b follows a, once.
    assert model.probability("b", given="a") == pytest.approx(1 / 2 + 1 / 2 * 7 / 24)
    assert model.probability("a", given="a") == pytest.approx(1 / 2 * 7 / 24)
    assert model.probability("a", start=True) == pytest.approx(1 / 2 + 1 / 2 * 7 / 24)
    scores = model.log_probabilities([["a", "b"], [], ["b"]])
    seen, unseen = 1 / 2 + 7 / 48, 7 / 48
    assert np.allclose(np.exp(scores), [seen, seen, seen, unseen, seen])
    assert model.perplexity([["a", "b"]]) == pytest.approx(1 / seen)


def test_one_stream_by_hand():
    model = fitted(["a", "b"], 2)
    # A stream has no end, so there are three events, and nothing follows b.
    assert np.allclose(model.distribution(), [5 / 12, 5 / 12, 2 / 12, 0])
    assert np.allclose(model.distribution("b"), model.distribution())
    scores = model.log_probabilities(["a", "b", "a"])
    assert np.allclose(np.exp(scores), [5 / 12, 1 / 2 + 1 / 2 * 5 / 12, 5 / 12])


def test_brown_has_the_perplexities_of_kenlm(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    words = [word for sentence in et.load_dataset("brown") for word in sentence]
    train, dev2, test = words[:800_000], words[900_000:1_000_000], words[1_000_000:]
    moments = KneserNey(3, min_count=2).collect(train)
    for order, figures in ((2, (334, 334)), (3, (317, 317))):
        model = KneserNey(order, min_count=2).fit_moments(moments)
        found = [model.perplexity(part) for part in (dev2, test)]
        assert found == pytest.approx(figures, rel=0.003)
        assert model.diagnostics_["discount_rules"] == ["modified"] * order
        rows = [model.distribution(given) for given in ((), "the", ["of", "the"], ["zzz", "the"])]
        assert np.allclose(np.sum(rows, axis=1), 1)


# Laws.


@given(UNITS, ORDERS, st.integers(1, 3), st.booleans(), UNITS)
def test_model_equals_its_definition(units, order, min_count, stream, others):
    units = [*units, list("abaab")]
    if stream:
        units, others = [[w for u in units for w in u]], [[w for u in others for w in u] + ["a"]]
    others = [*others, list("abf")]
    model = fitted(units[0] if stream else units, order, min_count=min_count)
    words = model.vocabulary_.words
    p = twin(units, order, words, stream)
    if stream:
        others = others[:1]
    scores = model.log_probabilities(others[0] if stream else others)
    events = list(events_of(others, words, stream))
    expected = [np.nan if word == RARE else np.log(float(p(word, h))) for word, h in events]
    assert np.allclose(scores, expected, equal_nan=True, rtol=1e-10)
    assert np.isnan(scores).tolist() == np.isnan(expected).tolist()
    names = [*words, RARE, EDGE]
    for _, h in events[:10]:
        found = model.distribution([w for w in h if w != EDGE], start=h[:1] == (EDGE,))
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert (found[: len(words) + 1] > 0).all()
        assert (found[-1] > 0) == (not stream)
        assert np.allclose(found, [0 if stream and w == EDGE else float(p(w, h)) for w in names])


def test_probability_is_one_number_of_the_distribution(zipf_lines):
    model = fitted(TextCorpus(zipf_lines(200), kind="texts"), 3, min_count=2)
    for given_words in ((), "w0", ["w0", "w1"], ["w3", "w0", "w1"], ["never", "w0"], ["never"]):
        for start in (False, True):
            row = model.distribution(given_words, start=start)
            for word in ("w0", "w5"):
                found = model.probability(word, given_words, start=start)
                assert found == pytest.approx(row[model.vocabulary_[word]])


def test_tokens_are_scored_in_blocks(zipf_lines, monkeypatch):
    lines = [line.split() for line in zipf_lines(300)]
    model = fitted(lines[:200], 4, min_count=2)
    expected = model.log_probabilities(lines)
    monkeypatch.setattr("eigentext.sequences._trie.BLOCK", 7)
    assert np.array_equal(model.log_probabilities(lines), expected, equal_nan=True)
    for threads in (1, 4):
        with engine.use(engine.ThreadEngine(threads)):
            again = fitted(lines[:200], 4, min_count=2)
            assert np.array_equal(again.log_probabilities(lines), expected, equal_nan=True)


def test_integers_are_symbols():
    rng = np.random.default_rng(0)
    sequences = rng.integers(0, 6, (100, 8))
    sequences[:, 1::2] = (sequences[:, ::2] + 1) % 6  # x_2 is x_1 + 1
    model = fitted(sequences[:80], 2)
    assert model.probability(4, given=3) > 0.5
    assert model.perplexity(sequences[80:]) < 5
    assert model.distribution(np.array([2])).shape == (8,)
    assert np.isnan(model.log_probabilities([[9]])[0])


def test_fit_is_fit_moments_of_what_was_collected(zipf_lines):
    corpus = TextCorpus(zipf_lines(300), kind="texts")
    model = KneserNey(2, min_count=3)
    first = model.fit(corpus).perplexity(corpus)
    longer = NgramMoments.from_corpus(corpus, order=4)
    assert model.fit_moments(longer).perplexity(corpus) == first
    assert model.fit_moments(model.collect(corpus)).perplexity(corpus) == first
    assert model.moments_ == model.collect(corpus)


# Files, input, engines.


def test_saved_models_are_the_same_models(tmp_path, zipf_lines):
    corpus = TextCorpus(zipf_lines(300), kind="texts")
    for order in (1, 3):
        model = fitted(corpus, order, min_count=2)
        model.save(tmp_path / "model")
        for loaded in (et.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            assert loaded.get_params() == {"order": order, "min_count": 2, "prune": ()}
            assert loaded.diagnostics_ == model.diagnostics_
            assert loaded.provenance_ == model.provenance_
            assert np.array_equal(
                loaded.log_probabilities(corpus), model.log_probabilities(corpus), equal_nan=True
            )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("discounts", lambda a: np.zeros((3, 3))),
        ("discounts", lambda a: a - 9),
        ("discounts", lambda a: a + 9),
        ("discounts", lambda a: a * np.nan),
        ("discounts", lambda a: a.astype(np.float32)),
        ("moments.unigrams", lambda a: -a),
        ("moments.unigrams", lambda a: a[:-1]),
        ("moments.unigrams", lambda a: 0 * a),
        ("moments.packed.0", lambda a: a[:-1]),
        ("moments.packed.0", lambda a: a + 1),
        ("moments.blocks.0", lambda a: a[:0]),
        ("moments", lambda a: None),
        ("moments", lambda a: a | {"order": 3.0}),
        ("moments", lambda a: a | {"order": 1}),
        ("moments", lambda a: a | {"options": {"unit": []}}),
        ("provenance", lambda a: a | {"options": None}),
        ("diagnostics", lambda a: {}),
        ("diagnostics", lambda a: a | {"ngrams": 7}),
        ("parameters", lambda a: a | {"order": -1}),
        ("parameters", lambda a: a | {"new": 1}),
    ],
)
def test_damaged_models_are_refused(tmp_path, zipf_lines, name, change):
    fitted(TextCorpus(zipf_lines(100), kind="texts"), 2).save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    if name in about:
        about[name] = change(about[name])
    else:
        arrays[name] = change(np.array(arrays[name]))
    write_saved(tmp_path / "model", KneserNey._format, arrays, about)
    with pytest.raises(ModelFileError, match="damaged"):
        et.load(tmp_path / "model")


def test_the_order_set_after_a_fit_waits_for_the_next(zipf_lines):
    lines = [line.split() for line in zipf_lines(100)]
    model = fitted(lines, 2)
    answers = model.log_probabilities(lines)
    for order in (4, 1, 0):
        assert np.array_equal(model.set_params(order=order).log_probabilities(lines), answers)


def test_bad_input(zipf_lines):
    model = fitted([["a", "b", "b"], ["c"]], 3)
    for parameters in ({"order": 0}, {"order": 2.5}, {"min_count": 0}):
        with pytest.raises(ParameterError, match="must be a whole number, 1 or more, not"):
            KneserNey().set_params(**parameters).fit([["a"]])
    with pytest.raises(MomentsError, match="order=4, but the moments have windows of 3"):
        KneserNey(4).fit_moments(model.moments_)
    with pytest.raises(UnknownWordError, match="'zzz' is not in the vocabulary"):
        model.probability("zzz", given="a")
    with pytest.raises(CorpusError, match="no word of this text is in the vocabulary"):
        fitted(["a", "b"], 2).perplexity(["zzz"])
    with pytest.raises(CorpusError, match="the list is empty"):
        model.log_probabilities([])
    with pytest.raises(CorpusError, match="the input has integers"):
        model.log_probabilities([1, 2])
    with pytest.raises(CorpusError, match=r"symbol 1 is 0\.5"):
        model.probability(0.5)
    with pytest.raises(ParameterError, match="no starts"):
        fitted(["a", "b"], 2).distribution(start=True)
    with pytest.raises(Exception, match="not fitted yet"):
        KneserNey().perplexity(["a"])
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        model.nothing  # noqa: B018


def test_findings():
    with pytest.warns(UserWarning, match="Too little text"):
        model = KneserNey(2).fit([["a", "b"], ["c", "d"]])
    (finding, *_) = model.findings()
    assert finding.severity == "warning"
    assert "2-grams" in finding.sentence
    assert finding.remedy == "Give more text, or lower the order."
    model.diagnostics_["discount_rules"] = ["modified", "single"]
    warning, note = model.findings()
    assert "(4 of 4) occur only once" in warning.sentence
    assert note.severity == "note"
