"""Models as folders with a model card, in the layout of the Hugging Face Hub; push and pull."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.hub.cards import card
    from eigentext.hub.folders import save
    from eigentext.hub.remote import pull, push

__all__ = ["card", "pull", "push", "save"]

_HOMES = {"card": "cards", "pull": "remote", "push": "remote", "save": "folders"}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.hub.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.hub' has no attribute {name!r}")
