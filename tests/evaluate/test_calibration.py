"""Calibration: known answers, laws on random pairs, and the answers of small models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import calibration, next_word_pairs, span_pairs, tag_pairs
from eigentext.evaluate.calibration import gold_brackets

TREES = [
    "(S (NP (N dogs)) (VP (V bark)))",
    "(S (NP (D the) (N dogs)) (VP (V see) (NP (N cats))))",
    "(S (NP (D the) (N cats)) (VP (V bark)))",
]


def test_a_known_answer():
    """In the lower bin 0.2 and 0 right; in the upper one 0.8 and two of three right."""
    found = calibration([0.1, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 0, 1], n_bins=2)
    assert [one.n for one in found.bins] == [2, 3]
    assert [one.probability for one in found.bins] == pytest.approx([0.2, 0.8])
    assert [one.right for one in found.bins] == pytest.approx([0, 2 / 3])
    assert found.error == pytest.approx((2 * 0.2 + 3 * (0.8 - 2 / 3)) / 5)
    assert found.brier == pytest.approx((0.01 + 0.09 + 0.09 + 0.64 + 0.01) / 5)
    # Bins of equal mass: three answers and two.
    assert [one.n for one in found.equal_mass] == [3, 2]
    assert found.error_equal_mass == pytest.approx((abs(1.1 - 1) + abs(1.7 - 1)) / 5)
    assert (found.n, found.right) == (5, 0.4)
    assert found.probability == pytest.approx(0.56)


def test_borders_belong_to_the_bin_above_them_and_one_to_the_last():
    found = calibration([0.0, 0.5, 1.0], [0, 1, 1], n_bins=2)
    assert [one.n for one in found.bins] == [1, 2]
    assert found.bins[0][:2] == (0, 0.5)


def test_what_is_printed():
    found = calibration([0.2, 0.9], [False, True], n_bins=5)
    lines = str(found).splitlines()
    assert len(lines) == 4  # a title, two bins with answers, and the sum
    assert lines[-1].startswith("2 answers: calibration error 0.1500")
    assert repr(found) == "Calibration(error=0.1500, n=2)"
    plain = found.to_dict()
    assert plain["n"] == 2
    assert [one["n"] for one in plain["bins"]] == [1, 1]


pairs = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


@given(pairs, st.integers(1, 20))
def test_laws(answers, n_bins):
    p, right = map(np.array, zip(*answers, strict=True))
    found = calibration(p, right, n_bins=n_bins)
    for bins, error in ((found.bins, found.error), (found.equal_mass, found.error_equal_mass)):
        assert sum(one.n for one in bins) == len(p)
        full = [one for one in bins if one.n]
        assert sum(one.n * one.right for one in full) == pytest.approx(right.sum())
        assert all(one.least - 1e-12 <= one.probability <= one.most + 1e-12 for one in full)
        # Never less than for one bin of all, and never more than the mean distance.
        assert abs(p.mean() - right.mean()) - 1e-12 <= error <= np.abs(p - right).mean() + 1e-12
    sizes = [one.n for one in found.equal_mass]
    assert max(sizes) - min(sizes) <= 1


def test_true_probabilities_have_a_small_error():
    rng = np.random.default_rng(0)
    p = rng.random(40_000)
    right = rng.random(len(p)) < p
    assert calibration(p, right).error < 0.01
    assert calibration(p**3, right).error > 0.1


@pytest.mark.parametrize(
    ("p", "right", "options", "message"),
    [
        ([0.5], [True, False], {}, "a probability and a truth for each answer"),
        ([], [], {}, "a probability and a truth for each answer"),
        ([1.5], [True], {}, "must be from 0 to 1"),
        ([float("nan")], [True], {}, "must be from 0 to 1"),
        ([0.5], [2], {}, "true or false"),
        ([0.5], [1], {"n_bins": 0}, "n_bins must be a whole number, 1 or more, not 0"),
    ],
)
def test_wrong_answers(p, right, options, message):
    with pytest.raises(ParameterError, match=message):
        calibration(p, right, **options)


def test_brackets_have_no_tags_and_no_roots():
    tree = et.Tree.parse("(ROOT (S (NP (NP (N dogs))) (VP (V bark))))")
    assert gold_brackets(tree) == {("S", 0, 2), ("NP", 0, 1), ("VP", 1, 2)}


def test_pairs_of_a_parser():
    model = et.PCFG().fit(TREES)
    p, right = span_pairs(model, TREES, least=0.0)
    mu = {span[:3]: span.probability for span in model.marginals(["dogs", "bark"])}
    first = {key: value for key, value in mu.items() if key[0] in ("S", "NP", "VP")}
    assert p[: len(first)].tolist() == list(first.values())
    expected = [key in gold_brackets(et.Tree.parse(TREES[0])) for key in first]
    assert right[: len(first)].tolist() == expected
    assert right.sum() == 3 + 4 + 3  # all right brackets are among them
    assert (span_pairs(model, TREES, least=0.5).probability >= 0.5).all()
    with pytest.raises(CorpusError, match="no brackets"):
        span_pairs(model, [])


def test_pairs_of_a_tagger():
    tagged = [[("the", "D"), ("dog", "N")], [("a", "D"), ("cat", "N")], [("dogs", "N")]]
    tagger = et.Tagger(n_epochs=3).fit(tagged)
    wrong = [[("the", "N"), ("dog", "N")], []]
    p, right = tag_pairs(tagger, wrong)
    np.testing.assert_array_equal(p, tagger.confidences([["the", "dog"]])[0])
    assert right.tolist() == [False, True]
    with pytest.raises(CorpusError, match="no tokens"):
        tag_pairs(tagger, [[]])


def test_pairs_of_a_language_model():
    hmm = et.HMM(2, method="em").fit([["a", "b", "a", "b"], ["a", "b", "a"], ["a", "b"]])
    p, right = next_word_pairs(hmm, [["a", "b"], ["b"]])
    first, after = hmm.predict_next([]), hmm.predict_next(["a"])
    np.testing.assert_allclose(p, [first.max(), after.max(), first.max()])
    best = [hmm.symbols_[int(x.argmax())] for x in (first, after, first)]
    assert right.tolist() == [word == x for word, x in zip(["a", "b", "b"], best, strict=True)]
    p, right = next_word_pairs(hmm, [["a", "b"]], least=0.0)
    assert len(p) == 2 * len(hmm.symbols_)
    assert right.sum() == 2
    with pytest.raises(CorpusError, match="no words"):
        next_word_pairs(hmm, [])
