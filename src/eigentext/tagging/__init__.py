"""Tagging and two-view learning: from few labels and much plain text."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.tagging.tagger import Tagger
    from eigentext.tagging.two_view import TwoViewClassifier, TwoViewRegressor

__all__ = ["Tagger", "TwoViewClassifier", "TwoViewRegressor"]

_HOMES = {"Tagger": "tagger", "TwoViewClassifier": "two_view", "TwoViewRegressor": "two_view"}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.tagging.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.tagging' has no attribute {name!r}")
