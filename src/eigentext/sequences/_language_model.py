"""What all language models share: perplexity and score."""

from typing import Any

import numpy as np

from eigentext.errors import CorpusError


class LanguageModel:
    """Gives each event of a text (a token, the end of a unit) a probability."""

    def log_probabilities(self, tokens: Any) -> np.ndarray:
        """The natural logarithm of the probability of each event; nan for unknown words."""
        raise NotImplementedError

    def perplexity(self, tokens: Any) -> float:
        """The exponential of minus the mean log-probability, over events whose words are known."""
        with np.errstate(over="ignore"):  # worse than any number can say: infinite
            return float(np.exp(-self.score(tokens)))

    def score(self, tokens: Any, y: None = None) -> float:
        """The mean log-probability of an event: minus the logarithm of the perplexity."""
        scores = self.log_probabilities(tokens)
        if np.isnan(scores).all():
            raise CorpusError("no word of this text is in the vocabulary; is it in that language?")
        return float(np.nanmean(scores))
