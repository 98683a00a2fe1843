"""What all language models share: perplexity, score, provenance, and findings about rare words."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigentext.errors import CorpusError
from eigentext.estimators import Finding
from eigentext.moments import NgramMoments
from eigentext.sequences._given import Text

_MANY_RARE = 0.1  # a larger share of rare words deserves a warning


class LanguageModel:
    """Gives a probability to each event of a text: to each token, and to the end of each unit."""

    def log_probabilities(self, tokens: Text) -> np.ndarray:
        """Return the natural logarithm of each event's probability. Unknown words have nan."""
        raise NotImplementedError

    def perplexity(self, tokens: Text) -> float:
        """Return exp(-mean log-probability), over the events whose words are known."""
        with np.errstate(over="ignore"):  # the perplexity is infinite then
            return float(np.exp(-self.score(tokens)))

    def score(self, tokens: Text, y: None = None) -> float:
        """Return the mean log-probability of an event: minus the logarithm of the perplexity."""
        scores = self.log_probabilities(tokens)
        if np.isnan(scores).all():
            raise CorpusError("no word of this text is in the vocabulary; is it in that language?")
        return float(np.nanmean(scores))


def provenance_of(moments: NgramMoments) -> dict[str, Any]:
    """Return what a model writes down about the text that it was learned from."""
    return {
        "n_tokens": moments.n_tokens,
        "options": moments.options,
        "sources": moments.sources,
    }


def rare_word_findings(
    diagnostics: dict[str, Any], provenance: dict[str, Any]
) -> Iterator[Finding]:
    """Say how many tokens are rare words, if any are."""
    share = diagnostics.get("rare_tokens", 0) / max(provenance.get("n_tokens", 0), 1)
    if share:
        yield Finding(
            "note" if share < _MANY_RARE else "warning",
            f"{share:.1%} of the tokens are rare words, which the model treats as one word.",
            "" if share < _MANY_RARE else "Lower min_count (--min-count) or give more text.",
        )
