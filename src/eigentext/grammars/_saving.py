"""Cascades as arrays, and back."""

from typing import Any

import numpy as np

from eigentext.grammars._cascade import Cascade, Level
from eigentext.grammars._grammar import Grammar
from eigentext.grammars.lexicon import Lexicon, WordStates
from eigentext.grammars.treebank import Binarization, Rules, Symbol, Treebank


def cascade_to_arrays(cascade: Cascade, treebank: Treebank) -> tuple[dict[str, Any], dict]:
    """What a parser has learned, as arrays for a file and a description of symbols."""
    lexicon = cascade.coarse.words.lexicon
    arrays: dict[str, Any] = {
        "words": lexicon.words,
        "word_counts": lexicon.counts,
        "word_classes": lexicon.class_of,
        "classes": lexicon.classes,
        **_rules_to_arrays("coarse", cascade.coarse.grammar.rules),
        **_rules_to_arrays("fine", cascade.levels[0].grammar.rules),
        **_level_to_arrays("coarse", cascade.coarse),
    }
    if cascade.middle is not None:
        arrays |= _level_to_arrays("middle", cascade.middle)
    for k, level in enumerate(cascade.levels):
        arrays |= _level_to_arrays(f"level{k}", level)
    about = {
        "symbols": [list(symbol) for symbol in treebank.symbols],
        "binarization": treebank.binarization._asdict(),
        "rare": lexicon.rare,
        "n_levels": len(cascade.levels),
        "beta": cascade.coarse.words.beta,
    }
    return arrays, about


def arrays_to_cascade(arrays: Any, about: dict) -> tuple[Cascade, Treebank]:
    """The cascade, and the treebank without trees that encodes others."""
    # Arrays are copied: kernels would be compiled once more for ones that may not be written to.
    lexicon = Lexicon.from_saved(
        list(arrays["words"]), np.array(arrays["word_counts"]),
        np.array(arrays["word_classes"]), list(arrays["classes"]), about["rare"],
    )  # fmt: skip
    symbols = [
        Symbol(tuple(c), None if s is None else tuple(s), tuple(p), bool(t))
        for c, s, p, t in about["symbols"]
    ]

    def level(name: str, rules: Rules) -> Level:
        part = {key: np.array(arrays[f"{name}.{key}"]) for key in _LEVEL}
        grammar = Grammar(rules, part["n_states"], part["tensor"], part["root"])
        if grammar.tensor_offsets[-1] != len(grammar.tensor):
            raise ValueError(f"{name}: the tensors are not of this size")
        from scipy.sparse import csr_array

        counts = csr_array(
            (part["counts"], part["states"], part["offsets"]),
            shape=(len(lexicon.words), len(part["totals"])),
        )
        words = WordStates(
            lexicon, counts, part["in_class"], part["unseen"], about["beta"], part["totals"]
        )
        return Level(grammar, words)

    coarse, fine = _arrays_to_rules("coarse", arrays), _arrays_to_rules("fine", arrays)
    middle = level("middle", fine) if "middle.tensor" in arrays else None
    levels = [level(f"level{k}", fine) for k in range(about["n_levels"])]
    cascade = Cascade(symbols, level("coarse", coarse), middle, levels)
    n, nothing = len(symbols), np.empty(0, np.int32)
    left, right, parent = (x.astype(np.int64) for x in (fine.left, fine.right, fine.parent))
    treebank = Treebank(
        symbols, lexicon.words, [], nothing, nothing, nothing, nothing, np.zeros(1, np.int64),
        Binarization(**about["binarization"]), (left * n + right) * n + parent,
    )  # fmt: skip
    return cascade, treebank


_LEVEL = (
    "n_states", "tensor", "root", "counts", "states", "offsets", "in_class", "unseen", "totals",
)  # fmt: skip


def _level_to_arrays(name: str, level: Level) -> dict[str, Any]:
    grammar, words = level.grammar, level.words
    parts = (
        grammar.n_states, grammar.tensor, grammar.root, words.counts.data, words.counts.indices,
        words.counts.indptr, words.classes, words.unseen, words.totals,
    )  # fmt: skip
    return {f"{name}.{key}": part for key, part in zip(_LEVEL, parts, strict=True)}


def _rules_to_arrays(name: str, rules: Rules) -> dict[str, Any]:
    return {f"{name}.rule_{key}": part for key, part in rules._asdict().items()}


def _arrays_to_rules(name: str, arrays: Any) -> Rules:
    return Rules(*(np.array(arrays[f"{name}.rule_{key}"]) for key in Rules._fields))
