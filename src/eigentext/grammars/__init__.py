"""Grammars: parsers learned from treebanks, with or without hidden states.

* ``pcfg.py`` and ``latent.py`` are the two parsers. ``parser.py`` is what they share, and
  ``answers.py`` what they return. ``spans.py`` has the probabilities of labels over spans, and
  ``states.py`` those of hidden states, with the vectors of tokens that they make.
  ``tuning.py`` chooses the parameters of a latent PCFG.
* ``treebank/`` reads trees: normal form, words, heads, features.
* ``learning/`` has one file for each way to learn (``learning/protocol.py`` lists them).
* ``chart/`` parses: coarse pass, cascade, packed forests, decoding.
* ``grammar.py`` has the arrays of a grammar, ``saving.py`` its model file, and ``parameters.py``
  the tables of parameters.
"""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.grammars.answers import (
        Analysis,
        FallbackWarning,
        Forest,
        ForestItem,
        NodeStates,
        Parse,
        ScoredSpan,
        ScoredTree,
        Span,
        WeighedTree,
    )
    from eigentext.grammars.latent import LatentPCFG
    from eigentext.grammars.pcfg import PCFG
    from eigentext.grammars.treebank.normal_form import Symbol, Treebank
    from eigentext.grammars.tuning import Tuned, TuningTrial, tune

__all__ = [
    "PCFG",
    "Analysis",
    "FallbackWarning",
    "Forest",
    "ForestItem",
    "LatentPCFG",
    "NodeStates",
    "Parse",
    "ScoredSpan",
    "ScoredTree",
    "Span",
    "Symbol",
    "Treebank",
    "Tuned",
    "TuningTrial",
    "WeighedTree",
    "tune",
]

__getattr__ = lazily(
    __name__,
    {
        "Analysis": "answers",
        "FallbackWarning": "answers",
        "Forest": "answers",
        "ForestItem": "answers",
        "LatentPCFG": "latent",
        "NodeStates": "answers",
        "PCFG": "pcfg",
        "Parse": "answers",
        "ScoredSpan": "answers",
        "ScoredTree": "answers",
        "Span": "answers",
        "Symbol": "treebank.normal_form",
        "Treebank": "treebank.normal_form",
        "Tuned": "tuning",
        "TuningTrial": "tuning",
        "WeighedTree": "answers",
        "tune": "tuning",
    },
)
