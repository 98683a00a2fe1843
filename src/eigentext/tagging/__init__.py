"""Tagging and two-view learning: from few labels and much plain text."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.tagging.tagger import Tagger
    from eigentext.tagging.two_view import TwoViewClassifier, TwoViewRegressor

__all__ = ["Tagger", "TwoViewClassifier", "TwoViewRegressor"]

__getattr__ = lazily(
    __name__,
    {"Tagger": "tagger", "TwoViewClassifier": "two_view", "TwoViewRegressor": "two_view"},
)
