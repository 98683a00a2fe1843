"""The plain algorithm of Hsu, Kakade and Zhang: its formulas, and what it gives from few data."""

from itertools import product

import numpy as np
import pytest

import eigentext as et
from eigentext import HMM, NgramMoments
from eigentext.errors import ParameterError
from eigentext.parameters import UnusedParameterWarning
from eigentext.sequences.learning.plain import plain_operators
from eigentext.sequences.learning.windows import Windows


def by_formulas(sequences, n, m):
    """P1, P21 and P3x1 of all windows of three as dense arrays, and the operators from them."""
    P3 = np.zeros((n, n, n))  # x, third, first
    starts = np.zeros(n)
    for row in sequences:
        starts[row[0]] += 1
        for first, x, third in zip(row, row[1:], row[2:]):
            P3[x, third, first] += 1
    N = P3.sum()
    P3 /= N
    P21, P1 = P3.sum(axis=1), P3.sum(axis=(0, 1))
    U, s, Vt = np.linalg.svd(P21)
    U, s, V = U[:, :m], s[:m], Vt[:m].T
    return U.T @ starts / starts.sum(), P1 @ V / s, U.T @ P3 @ V / s


def value(start, end, operators, string):
    for x in string:
        start = operators[x] @ start
    return end @ start


def test_the_formulas_of_the_paper(random_hmm):
    data = random_hmm(3, 6).sample(200, 7)
    expected = by_formulas(data.tolist(), 6, 4)
    model, diagnostics = plain_operators(Windows.of(NgramMoments.from_corpus(data)), 4)
    hmm = HMM(4, repair="none").fit(data)
    assert diagnostics["rank"] == len(model.start) == 4
    negative = 0
    for string in product(range(6), repeat=4):
        p = value(*expected, string)
        found = value(model.start, model.end, model.operators, string)
        assert found == pytest.approx(p, rel=1e-8, abs=1e-12)
        assert hmm.probability(string) == pytest.approx(p, rel=1e-8, abs=1e-12)
        negative += p < 0
    assert negative > 0


@pytest.mark.parametrize(("m", "n"), [(2, 6), (3, 10), (5, 20)])
def test_it_is_exact_with_population_moments(random_hmm, m, n):
    truth = random_hmm(m, n)
    hmm = HMM(m, repair="none").fit_moments(truth.moments())
    strings = truth.sample(300, 6, random_state=1)
    assert np.allclose(hmm.score_samples(strings), truth.score_samples(strings), atol=1e-8)
    assert np.allclose(hmm.predict_next([0, 1]), truth.predict_next([0, 1]), atol=1e-8)
    assert hmm.perplexity(strings) == pytest.approx(truth.perplexity(strings))
    assert np.allclose(hmm.filter([0, 1]) @ hmm.end_, 1)


def test_negative_probabilities_are_told(random_hmm):
    data = random_hmm(3, 6).sample(100, 7)
    hmm = HMM(5, repair="none").fit(data)
    strings = np.array(list(product(range(6), repeat=3)))
    values = np.array([hmm.probability(x) for x in strings])
    assert (values < 0).any()
    with pytest.warns(UserWarning, match=r"of the sequences have a negative probability"):
        logs = hmm.score_samples(strings)
    assert np.array_equal(np.isnan(logs), values < 0)
    assert np.allclose(np.exp(logs[values > 0]), values[values > 0])
    bad = strings[values < 0][0]
    with pytest.warns(UserWarning, match="1 of the sequences have"):
        assert np.isnan(hmm.log_probability(bad))
    with pytest.warns(UserWarning, match=r"of the tokens have a negative .* repair='floor'"):
        assert np.isnan(hmm.perplexity(strings))
    with pytest.warns(UserWarning, match="of the tokens have a negative"):
        assert np.isnan(hmm.score(strings))
    with pytest.warns(UserWarning, match="of the tokens have a negative"):
        tokens = hmm.log_probabilities([bad])
    assert np.isnan(tokens).sum() == hmm.scoring_diagnostics([bad])["negative"] > 0
    assert min(hmm.predict_next(x).min() for x in strings[:50]) < 0
    assert hmm.sample(3, 4).shape == (3, 4)
    (finding,) = hmm.findings()
    assert finding.severity in ("note", "warning")
    assert "not repaired" in finding.sentence
    repaired = HMM(5, rank=5).fit(data)
    assert np.isfinite(repaired.score_samples(strings)).all()


def test_it_is_saved_and_the_impossible_stays_so(tmp_path, random_hmm):
    data = [["a", "b", "a", "b", "c"], ["b", "a", "b", "b", "a", "c"]] * 3
    hmm = HMM(2, repair="none", min_count=1).fit(data)
    hmm.save(tmp_path / "plain")
    again = et.load(tmp_path / "plain")
    assert again.probability(["a", "b"]) == hmm.probability(["a", "b"])
    assert hmm.log_probability(["a", "?"]) == -np.inf
    assert hmm.probability(["a", "?", "b"]) == 0
    assert hmm.log_probability([]) == 0


def test_ranks_that_are_not_there(random_hmm):
    data = random_hmm(2, 4).sample(50, 6)
    with pytest.raises(ParameterError, match="6 states asked for, but P21 has rank 4"):
        HMM(6, repair="none").fit(data)
    with pytest.raises(ParameterError, match="3 states asked for, but P21 has rank 2"):
        HMM(3, repair="none").fit_moments(random_hmm(2, 4).moments())
    one = HMM(1, repair="none").fit([[0, 0, 0, 0]])
    assert one.probability([0, 0, 0, 0, 0]) == pytest.approx(1)


def test_what_it_does_not_use(random_hmm):
    data = random_hmm(2, 4).sample(50, 6)
    with pytest.warns(UnusedParameterWarning, match="repair='none' does not use scaling"):
        HMM(2, repair="none", scaling="none").fit(data)
    with pytest.warns(UnusedParameterWarning, match="method='em' does not use repair"):
        HMM(2, repair="none", method="em", n_iter=2).fit(data)
