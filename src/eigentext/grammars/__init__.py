"""Grammars: binarised treebanks and the models learned from them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.grammars.treebank import Symbol, Treebank

__all__ = ["Symbol", "Treebank"]

_HOMES = {
    "Symbol": "treebank",
    "Treebank": "treebank",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.grammars.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.grammars' has no attribute {name!r}")
