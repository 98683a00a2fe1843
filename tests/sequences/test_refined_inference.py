"""Inference with exact operators: the marginals are those of the true model."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from eigentext.errors import CorpusError
from eigentext.sequences.emissions import Emissions
from eigentext.sequences.learning.refinement import spectral
from eigentext.sequences.refined import RefinedEmissions, Transitions
from eigentext.sequences.refined_inference import Inference
from sequences.refinement_truth import NEAR, Truth, matrices


@pytest.fixture(scope="module", params=[(2, 2, 3), (3, 2, 4)])
def known(request):
    """A true model, and one of operators from its population moments."""
    truth = Truth(*request.param, seed=2)
    stream = truth.stream()
    averages, _ = spectral(stream, np.full(truth.S, truth.m), features=NEAR, kappa=np.inf)
    D, T, S = matrices(stream, averages)
    counts = csr_array(np.ones((truth.n, S), np.int64))
    plain = Emissions([f"w{x}" for x in range(truth.n)], counts, None, 0)
    emissions = RefinedEmissions(plain, averages.shares, 0.0)
    # The frequencies of the population, in place of those of counts.
    share = {pair: D[pair][0, 0] for pair in D}
    emissions.scores = lambda word, first, breadth=0: (
        np.arange(S),
        np.array([share[a, int(word[1:])] for a in range(S)]),
        averages.shares[int(word[1:]) * S : (int(word[1:]) + 1) * S],
        0.0,
    )
    seen = np.zeros((S + 1, S + 1))
    place = np.full((S + 1, S + 1), -1, np.int32)
    for g, (a, b) in enumerate(stream.bigrams):
        seen[a, b], place[a, b] = T[a, b][0, 0], g
    transitions = Transitions(np.zeros_like(seen), seen, place)
    may_follow = np.ones((S + 1, S + 1), bool)
    return truth, Inference(averages, transitions, emissions, np.arange(S), may_follow)


def test_exact_operators_give_exact_probabilities_and_marginals(known):
    truth, model = known
    for words in ([0], [1, 2], [2, 0, 1], [1, 1, 0, 2]):
        names = [f"w{x}" for x in words]
        labels = list(product(range(truth.S), repeat=len(words)))
        p = np.array([truth.probability(list(zip(one, words))) for one in labels])
        for one, q in zip(labels[:5], p):
            assert np.exp(model.log_probability(names, one)) == pytest.approx(q, rel=1e-8)
        found = model.infer(names)
        assert np.exp(found.log_probability) == pytest.approx(p.sum(), rel=1e-8)
        assert model.log_probability(names) == pytest.approx(np.log(p.sum()), rel=1e-8)
        mu = found.marginals.reshape(len(words), truth.S)
        expected = [
            [p[[one[i] == a for one in labels]].sum() / p.sum() for a in range(truth.S)]
            for i in range(len(words))
        ]
        np.testing.assert_allclose(mu, expected, rtol=0, atol=1e-8)
        pairs = found.pairs.reshape(-1, truth.S, truth.S)
        for i, a, b in product(range(len(words) - 1), range(truth.S), range(truth.S)):
            both = p[[one[i : i + 2] == (a, b) for one in labels]].sum() / p.sum()
            assert pairs[i, a, b] == pytest.approx(both, abs=1e-8)


def test_what_is_impossible_is_refused(known):
    _, model = known
    never = Transitions(*(0 * part for part in model.transitions[:2]), model.transitions.place)
    stuck = Inference(model.averages, never, model.emissions, model.tag_of, model.allowed)
    assert stuck.log_probability(["w0"]) == -np.inf
    assert stuck.states(["w0"], [0]) is None
    for ask in (lambda: stuck.infer(["w0"]), lambda: stuck.best(["w0"], "pairs")):
        with pytest.raises(CorpusError, match="never fit together; fit it again"):
            ask()
