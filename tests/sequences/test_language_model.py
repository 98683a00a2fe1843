"""Known perplexities, for any object with log-probabilities."""

import numpy as np
import pytest

from eigentext.errors import CorpusError
from eigentext.sequences import HMM, BigramModel, Interpolation, KneserNey
from eigentext.sequences._language_model import LanguageModel


class Halves(LanguageModel):
    def log_probabilities(self, tokens):
        return np.array([np.log(0.5) if token else np.nan for token in tokens])


def test_unknown_words_are_left_out():
    assert Halves().perplexity([1, 0, 1, 1]) == pytest.approx(2)


def test_nothing_but_unknown_words():
    with pytest.raises(CorpusError, match="no word of this text is in the vocabulary"):
        Halves().perplexity([0, 0])


@pytest.mark.parametrize("model", [HMM, BigramModel, Interpolation, KneserNey])
def test_all_models_have_it(model):
    assert issubclass(model, LanguageModel)
    assert "perplexity" not in vars(model)
