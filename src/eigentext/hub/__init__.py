"""Models as folders with a model card, in the layout of the Hugging Face Hub; push and pull."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.hub.cards import card
    from eigentext.hub.folders import save
    from eigentext.hub.remote import pull, push

__all__ = ["card", "pull", "push", "save"]

__getattr__ = lazily(
    __name__,
    {"card": "cards", "pull": "remote", "push": "remote", "save": "folders"},
)
