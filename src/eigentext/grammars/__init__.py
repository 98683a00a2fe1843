"""Grammars: binarised treebanks and the models learned from them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.grammars.latent import LatentPCFG
    from eigentext.grammars.parser import FallbackWarning, Parse, ScoredTree, Span
    from eigentext.grammars.pcfg import PCFG
    from eigentext.grammars.treebank.normal_form import Symbol, Treebank
    from eigentext.grammars.tuning import Trial, Tuned, tune

__all__ = [
    "PCFG",
    "FallbackWarning",
    "LatentPCFG",
    "Parse",
    "ScoredTree",
    "Span",
    "Symbol",
    "Treebank",
    "Trial",
    "Tuned",
    "tune",
]

_HOMES = {
    "FallbackWarning": "parser",
    "LatentPCFG": "latent",
    "PCFG": "pcfg",
    "Parse": "parser",
    "ScoredTree": "parser",
    "Span": "parser",
    "Symbol": "treebank",
    "Treebank": "treebank",
    "Trial": "tuning",
    "Tuned": "tuning",
    "tune": "tuning",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.grammars.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.grammars' has no attribute {name!r}")
