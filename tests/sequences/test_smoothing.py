"""Smoothing and pruning, compared with the formulas on dictionaries of n-grams."""

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest

import eigentext as et
from eigentext import KneserNey, NgramMoments, engine
from eigentext.errors import MomentsError, ParameterError
from eigentext.matrices import budget
from eigentext.sequences import _smoothing
from eigentext.storage.maps import is_mapped

EDGE = "#"


def drawn(n_lines=60, seed=0, words="abcdef"):
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, len(words) + 1)
    chances /= chances.sum()
    return [
        [str(w) for w in rng.choice(list(words), rng.integers(1, 7), p=chances)]
        for _ in range(n_lines)
    ]


class SlowKneserNey:
    """p(w | h) by the recursion of the module `kneser_ney`, with pruning as in KenLM."""

    def __init__(self, lines, order, discounts, limits, words):
        raw = Counter()
        for line in lines:
            text = [EDGE, *line, EDGE]
            for k in range(1, order + 1):
                raw.update(tuple(text[i : i + k]) for i in range(len(text) - k + 1))
        before = defaultdict(set)
        for gram in raw:
            before[gram[1:]].add(gram[0])
        self.a = {}
        for gram, count in raw.items():
            is_whole = len(gram) == order or (gram[0] == EDGE and len(gram) > 1)
            self.a[gram] = count if is_whole else len(before[gram])
        self.kept = {g for g, count in raw.items() if len(g) == 1 or count > limits[len(g) - 1]}
        self.D, self.events = discounts, [*words, "<rare>", EDGE]
        self.below = defaultdict(list)
        for gram in raw:
            self.below[gram[:-1]].append(gram)
        self.order = order

    def p(self, word, context):
        if not context:
            singles = {g: n for g, n in self.a.items() if len(g) == 1}
            total = sum(singles.values())
            removed = {g: self.discount(g) for g in singles}
            own = singles.get((word,), 0) - removed.get((word,), 0)
            return own / total + sum(removed.values()) / total / len(self.events)
        grams = self.below.get(context, []) if context in self.kept else []
        total = sum(self.a[g] for g in grams)
        if not total:
            return self.p(word, context[1:])
        gram = (*context, word)
        own = self.a[gram] - self.discount(gram) if gram in self.kept else 0.0
        weight = sum(self.discount(g) for g in grams) / total
        return own / total + weight * self.p(word, context[1:])

    def discount(self, gram):
        count = self.a[gram]
        if gram not in self.kept:
            return count
        return self.D[len(gram) - 1][min(count, 3) - 1] if count else 0.0


@pytest.mark.filterwarnings("ignore:.*Too little text")
@pytest.mark.parametrize(("order", "prune"), [(3, ()), (3, (0, 0, 1)), (3, (0, 1)), (4, (0, 0, 2))])
def test_pruned_models_follow_the_formulas_and_sum_to_one(order, prune):
    lines = drawn()
    model = KneserNey(order, prune=prune).fit(lines)
    words = model.vocabulary_.words
    limits = _smoothing.limits_of(prune, order)
    slow = SlowKneserNey(lines, order, model.discounts_.tolist(), limits, words)
    contexts = [(), *((w,) for w in words), *product(words[:4], repeat=2)]
    contexts += list(product(words[:2], repeat=3))
    for context in contexts:
        found = model.distribution(list(context))
        assert found.sum() == pytest.approx(1, abs=1e-12)
        expected = [slow.p(word, context[-order + 1 :]) for word in (*words, "<rare>", EDGE)]
        assert np.allclose(found, expected, rtol=1e-12, atol=0)
    start = model.distribution(words[:1], start=True)
    assert start.sum() == pytest.approx(1, abs=1e-12)
    assert start[0] == pytest.approx(slow.p(words[0], (EDGE, words[0])[-order + 1 :]), rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*Too little text")
def test_pruning_leaves_out_what_it_says():
    lines = drawn()
    full = KneserNey(3).fit(lines)
    model = KneserNey(3, prune=(0, 1, 2)).fit(lines)
    raw = [full.moments_.unigrams, *(level.data for level in full.moments_.levels)]
    kept = [len(raw[0]), int((raw[1] > 1).sum()), int((raw[2] > 2).sum())]
    assert np.diff(model._tables.trie.borders).tolist() == kept
    assert model.diagnostics_["pruned"] == [0, len(raw[1]) - kept[1], len(raw[2]) - kept[2]]
    assert model.diagnostics_["ngrams"][1:] == kept[1:]
    assert np.array_equal(model.discounts_, full.discounts_)  # estimated from all n-grams
    assert any("Pruning left out" in one.line for one in model.findings())
    # A threshold of 0 leaves out nothing, and the bits are the same.
    same = KneserNey(3, prune=[0, 0, 0]).fit(lines)
    text = drawn(20, seed=1)
    assert np.array_equal(same.log_probabilities(text), full.log_probabilities(text))


@pytest.mark.filterwarnings("ignore:.*Too little text")
def test_pruned_streams_and_rare_words():
    stream = [word for line in drawn(words="abcdefghijk") for word in line]
    model = KneserNey(3, min_count=4, prune=(0, 0, 1)).fit(stream)
    for context in ([], ["a"], ["a", "b"], ["zz", "a"]):
        found = model.distribution(context)
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert found[-1] == 0


@pytest.mark.filterwarnings("ignore:.*Too little text")
def test_pruned_models_are_saved_without_counts(tmp_path):
    lines, text = drawn(), drawn(20, seed=1)
    model = KneserNey(3, prune=(0, 0, 1)).fit(lines)
    for mapped in (None, True):
        model.save(tmp_path / "model", mapped=mapped)
        loaded = et.load(tmp_path / "model")
        assert np.array_equal(loaded.log_probabilities(text), model.log_probabilities(text))
        assert loaded.get_params() == model.get_params()
        assert loaded.diagnostics_ == model.diagnostics_
        assert list(map(str, loaded.findings()))
        with pytest.raises(AttributeError, match="pruned or mapped model, which has no counts"):
            loaded.moments_  # noqa: B018
    model.to_arpa(tmp_path / "model.arpa")
    again = KneserNey.from_arpa(tmp_path / "model.arpa")
    assert np.allclose(again.log_probabilities(text), model.log_probabilities(text), atol=1e-6)


@pytest.mark.parametrize(
    ("prune", "why"),
    [
        ((0, 0, 0, 1), "prune has 4 numbers, but order=3"),
        ((0, 2, 1), "never fall"),
        ((1, 1, 1), "the first is 0"),
        ((0, -1), "whole numbers"),
        ((0, 0.5), "whole numbers"),
        (1, "a list of whole numbers"),
        ((0, 0, 10**6), "no 3-gram occurs more than 1000000 times; lower the threshold"),
        ((0, 10**6), "no 2-gram occurs more than"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*Too little text")
def test_bad_thresholds(prune, why):
    with pytest.raises(ParameterError, match=why):
        KneserNey(3, prune=prune).fit(drawn())


def test_windows_that_are_counted_more_often_than_their_beginnings():
    moments = NgramMoments.from_corpus(drawn(), order=3)
    moments.levels[0].data[:] = 1
    moments.levels[0].data[0] = 9
    with pytest.raises(MomentsError, match="more often than its beginning"):
        KneserNey(3, prune=(0, 1, 1)).fit_moments(moments)


@pytest.mark.filterwarnings("ignore:.*Too little text")
@pytest.mark.parametrize("prune", [(), (0, 0, 1)])
def test_a_small_budget_gives_the_same_bits_from_files(tmp_path, monkeypatch, prune):
    lines, text = drawn(400, words="abcdefghijklmn"), drawn(30, seed=1, words="abcdefghijklmno")
    model = KneserNey(4, prune=prune).fit(lines)
    expected = model.log_probabilities(text, rare=True)
    monkeypatch.setattr(_smoothing, "_SMALL", 1)
    monkeypatch.setattr(_smoothing, "_FULL", 0.0)  # give memory back after every block
    monkeypatch.setattr("eigentext.sequences._trie.BLOCK", 100)
    monkeypatch.setattr(_smoothing, "BLOCK", 100)
    for threads in (1, 2):
        with engine.use(engine.ThreadEngine(threads)):
            small = KneserNey(4, prune=prune).fit(lines, memory=1)
            assert np.array_equal(small.log_probabilities(text, rare=True), expected)
        assert is_mapped(small._tables.probabilities)
        assert is_mapped(small._tables.trie.words)
    small.save(tmp_path / "small")
    model.save(tmp_path / "model")
    assert (tmp_path / "small").read_bytes() == (tmp_path / "model").read_bytes()


def test_arrays_are_in_files_only_if_a_budget_is_stated():
    assert not is_mapped(_smoothing.empty(1 << 20))
    with budget.within(1 << 30):
        assert is_mapped(_smoothing.empty(1 << 20))
        assert not is_mapped(_smoothing.empty(10))
        _smoothing.empty(1 << 20)[:] = 1.0
