"""Topics: mixtures of multinomials and LDA, by tensors or anchor words, refined by EM."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel
    from eigentext.topics.two_views import TwoViewTopics

__all__ = ["TopicModel", "TwoViewTopics"]


def __getattr__(name: str):
    if name == "TopicModel":
        return import_module("eigentext.topics.model").TopicModel
    if name == "TwoViewTopics":
        return import_module("eigentext.topics.two_views").TwoViewTopics
    if name in ("model", "parameters", "report"):
        return import_module(f"eigentext.topics.{name}")
    raise AttributeError(f"module 'eigentext.topics' has no attribute {name!r}")
