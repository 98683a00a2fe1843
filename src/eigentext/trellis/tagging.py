"""A tagged sentence with its log-probability, as taggers return it."""

from typing import NamedTuple


class ScoredTagging(NamedTuple):
    """A sentence as (token, tag) pairs, and the log-probability that a model gives it.

    A conditional model (:class:`~eigentext.Tagger`) gives log p(tags | words), and a generative one
    (:class:`~eigentext.HMMTagger`) log p(words, tags). Within the list of one sentence, both have
    the same differences.
    """

    tagging: list[tuple[str, str]]
    log_probability: float
