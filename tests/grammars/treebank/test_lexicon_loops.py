"""The compiled look-up, against the slow one."""

import numpy as np
import pytest

from eigentext.grammars.treebank.lexicon import Lexicon


@pytest.mark.parametrize("totals", [None, np.linspace(1, 9, 6)])
def test_scores_are_those_of_whole_rows(totals):
    rng = np.random.default_rng(0)
    tokens = [f"w{x}" for x in rng.integers(0, 12, 60)] + ["Once", "walking"]
    lexicon = Lexicon(tokens, np.arange(len(tokens)) % 7 == 0, rare=4)
    sizes = rng.integers(1, 4, len(tokens))
    tags = np.array([0, 1, 1, 2, 2, 2])
    states = np.concatenate([rng.choice(6, size, replace=False) for size in sizes])
    posteriors = rng.random(sizes.sum()) - (totals is not None) / 2  # of any sign
    words = lexicon.learn(posteriors, states, sizes, tags, beta=0.7, gamma=2.0, totals=totals)
    sentence = ["W3", "w3", "w0", "unseen", "Walking", "Once", "w11"]
    position = np.repeat([2, 0, 6, 3, 4, 5, 1, 0], 6)  # in no order, one of them twice
    state = np.tile(np.arange(6), 8)
    expected = words(sentence)[position, state]
    np.testing.assert_allclose(words.at(sentence, position, state), expected, rtol=1e-12)
    assert (expected > 0).any()
