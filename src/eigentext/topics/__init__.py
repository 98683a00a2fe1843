"""Topics: mixtures of multinomials and LDA, by tensors or anchor words, refined by EM."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.topics.comparison import TopicComparison
    from eigentext.topics.comparison import compare as compare
    from eigentext.topics.growing import merge
    from eigentext.topics.model import TopicModel

_HOMES = {
    "TopicComparison": "comparison",
    "TopicModel": "model",
    "compare": "comparison",
    "merge": "growing",
}
__all__ = ["TopicComparison", "TopicModel", "compare", "merge"]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.topics.{_HOMES[name]}"), name)
    if name in ("model", "parameters", "report"):
        return import_module(f"eigentext.topics.{name}")
    raise AttributeError(f"module 'eigentext.topics' has no attribute {name!r}")
