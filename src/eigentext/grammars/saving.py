"""Cascades as arrays for a model file, and back, with all checks of such a file.

The compiled loops do not check numbers of labels, states and words, or sizes of tensors. So they
are checked here first. :func:`schema` declares what each array must be by itself. How arrays must
fit each other is checked when a cascade is put together.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from eigentext.corpus.policy import check_policy
from eigentext.grammars.chart.cascade import Cascade, Level
from eigentext.grammars.chart.posteriors import LEAST_TEMPERATURE, MOST_TEMPERATURE
from eigentext.grammars.grammar import starts
from eigentext.grammars.parameters import BINARIZATION
from eigentext.grammars.rule_saving import arrays_to_grammar, grammar_to_arrays, small_arrays
from eigentext.grammars.text_saving import arrays_to_text, text_schema, text_to_arrays
from eigentext.grammars.treebank.lexicon import Lexicon, WordStates, state_tags, tag_numbers
from eigentext.grammars.treebank.normal_form import (
    Binarization,
    Rules,
    Symbol,
    Treebank,
    coarse,
    in_order,
)
from eigentext.grammars.treebank.text_states import TextStates
from eigentext.grammars.treebank.unaries import ChainCounts
from eigentext.parameters import Count, Number, Parameter, is_number
from eigentext.storage.facts import COUNT, TEXTS
from eigentext.storage.schema import Array, Schema, Strings, damage

_LARGEST = 1e100  # the largest number in a file, so that sums and products stay finite
_LARGEST_MEAN = 1e30
_MOST_LEVELS = 4096
_SHARE = Number(0.0, least=0)
_GRAMMAR: dict[str, Parameter] = {
    "rare": COUNT,
    "n_levels": Count(1, most=_MOST_LEVELS),
    "beta": Number(0.0, least=0, most=_LARGEST),
}
_PROVENANCE: dict[str, Parameter] = dict.fromkeys(("n_trees", "n_tokens", "n_words"), COUNT)
_DIAGNOSTICS: dict[str, Parameter] = {
    **dict.fromkeys(("n_labels", "n_rules", "n_states", "most_states", "n_parameters"), COUNT),
    "rules_seen_once": COUNT,
    "rare_tokens": _SHARE,
}
_TEMPERATURE = Number(1.0, least=LEAST_TEMPERATURE, most=MOST_TEMPERATURE)
_NEGATIVE = ("negative_marginals", "negative_sentences")
_MEANS = ("inside_means", "outside_means")  # of spectral grammars
_LEVEL = (
    "n_states", "root", "counts", "states", "offsets", "in_class", "unseen", "totals",
)  # fmt: skip


def cascade_to_arrays(cascade: Cascade, treebank: Treebank) -> tuple[dict[str, Any], dict]:
    """What a parser has learned: arrays for a file, and a description of the symbols."""
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
        if level.grammar.means is not None:
            for key, part in zip(_MEANS, level.grammar.means):
                arrays[f"level{k}.{key}"] = part
    if cascade.chains is not None:
        arrays["label_counts"] = cascade.chains.counts
    about = {
        "symbols": [list(symbol) for symbol in treebank.symbols],
        "binarization": treebank.binarization._asdict(),
        "rare": lexicon.rare,
        "n_levels": len(cascade.levels),
        "beta": cascade.coarse.words.beta,
    }
    if lexicon.text is not None:
        arrays |= text_to_arrays(lexicon.text)
    return arrays, about


def arrays_to_cascade(arrays: Any, about: dict) -> tuple[Cascade, Treebank]:
    """The cascade, and the treebank without trees that encodes other trees."""
    # Arrays are copied: Numba would compile the loops once more for read-only arrays.
    classes = list(arrays["classes"])
    if "" not in classes:
        raise damage("classes", "lacks the class of all words, which is called ''")
    lexicon = Lexicon.from_saved(
        list(arrays["words"]), np.array(arrays["word_counts"], np.int64),
        np.array(arrays["word_classes"], np.int64), classes, about["rare"],
    )  # fmt: skip
    symbols, beta = _symbols(about["symbols"]), float(about["beta"])
    plain = coarse(symbols)[1]
    lexicon.text = arrays_to_text(arrays)

    how = Binarization(**about["binarization"])

    def level(name: str, rules: Rules, symbols: list[Symbol]) -> Level:
        from scipy.sparse import csr_array

        part = {key: np.array(arrays[f"{name}.{key}"]) for key in _LEVEL}
        part["states"], part["offsets"] = _signed(part["states"]), _signed(part["offsets"])
        part["n_states"] = part["n_states"].astype(np.int64)
        _check_level(name, part, _n_inner(symbols), beta)
        means = tuple(f"{name}.{key}" for key in _MEANS)
        averages = None
        if any(key in arrays for key in means):
            if not all(key in arrays for key in means):
                raise damage(f"{name}.{_MEANS[0]}", "and the outside ones must both be there")
            averages = np.array(arrays[means[0]]), np.array(arrays[means[1]])
        grammar = arrays_to_grammar(name, arrays, rules, part["n_states"], part["root"])
        grammar.means = averages
        counts = csr_array(
            (part["counts"], part["states"], part["offsets"]),
            shape=(len(lexicon.words), len(part["totals"])),
        )
        text = None
        if lexicon.text is not None:
            if f"{name}.in_tag" not in arrays:
                raise damage(f"{name}.in_tag", "is missing, where plain text is there")
            tags = state_tags(symbols, part["n_states"])
            in_tag = np.array(arrays[f"{name}.in_tag"])
            text = TextStates.of(lexicon, lexicon.text, counts, tags, in_tag)
        words = WordStates(
            lexicon, counts, part["in_class"], part["unseen"], beta, part["totals"], text
        )
        return Level(grammar, words)

    plain_rules = _arrays_to_rules("coarse", arrays, np.int64, np.float64, plain)
    fine = _arrays_to_rules("fine", arrays, np.int32, np.int64, symbols)
    middle = level("middle", fine, symbols) if "middle.root" in arrays else None
    levels = [level(f"level{k}", fine, symbols) for k in range(about["n_levels"])]
    chains = None  # older files have none, and such parsers do not back off
    if "label_counts" in arrays:
        chains = ChainCounts(np.array(arrays["label_counts"], np.int64), how)
    cascade = Cascade(symbols, level("coarse", plain_rules, plain), middle, levels, chains)
    nothing = np.empty(0, np.int32)
    treebank = Treebank(
        symbols, lexicon.words, [], nothing, nothing, nothing, nothing, np.zeros(1, np.int64),
        how, _keys(fine, len(symbols)),
    )  # fmt: skip
    return cascade, treebank


# -- what must be true -----------------------------------------------------------------------------


def schema(about: dict[str, Any], *, has_middle: bool) -> Schema:
    """What the file of a parser must hold, according to its document, which is checked here."""
    for name in ("parameters", "provenance", "diagnostics", "grammar"):
        if not isinstance(about.get(name), dict):
            raise damage(name, "is missing, or is not a table of values")
    check_policy(about)
    grammar = about["grammar"]
    Schema(about=_GRAMMAR).check({}, grammar)
    origin = about["provenance"]
    sources = {"sources": TEXTS} if "sources" in origin else {}  # older files have none
    Schema(about=_PROVENANCE | sources).check({}, origin)
    found = about["diagnostics"]
    shares = {name: _SHARE for name in _NEGATIVE if name in found}
    Schema(about=_DIAGNOSTICS | shares).check({}, found)
    if has_middle:
        _check_history(found.get("history"), grammar["n_levels"])
    if "temperature" in about:  # older files have none
        Schema(about={"temperature": _TEMPERATURE}).check({}, about)
    how = grammar.get("binarization")
    if not isinstance(how, dict) or how.keys() != BINARIZATION.keys():
        raise damage("binarization", f"must say {', '.join(BINARIZATION)}")
    Schema(about=BINARIZATION).check({}, how)
    symbols = _symbols(grammar.get("symbols"))
    # Only spectral grammars have numbers below zero.
    is_spectral = about["parameters"].get("method") == "spectral"
    levels = {f"level{k}": -_LARGEST if is_spectral else 0 for k in range(grammar["n_levels"])}
    if has_middle:
        levels["middle"] = 0
    arrays: dict[str, Array | Strings] = {
        "words": Strings("words", unique=True),
        "word_counts": Array("int", ("words",), least=1),
        "classes": Strings("classes", unique=True),
        "word_classes": Array("int", ("words",), least=0, below="classes"),
        **_rule_arrays("coarse", "plain labels", "float64"),
        **_rule_arrays("fine", "labels", "int"),
        **_level_arrays("coarse", "plain labels", 0, most_states=1),
    }
    arrays["label_counts"] = Array("int", ("labels",), least=1, below=2**53, optional=True)
    for name, least in levels.items():
        arrays |= _level_arrays(name, "labels", least)
        means = Array("float64", (f"{name} states",), largest=_LARGEST_MEAN, optional=True)
        arrays |= {f"{name}.{key}": means for key in _MEANS}
    arrays |= text_schema(origin)
    plain = coarse(symbols)[1]
    sizes = {"labels": len(symbols), "plain labels": len(plain), "tags": len(tag_numbers(plain))}
    return Schema(arrays, sizes=sizes)


def _rule_arrays(name: str, labels: str, counts: str) -> dict[str, Array]:
    size = f"{name} rules"
    rules = {
        f"{name}.rule_{key}": Array("int", (size,), least=0, below=labels)
        for key in ("parent", "left", "right")
    }
    return rules | {f"{name}.rule_counts": Array(counts, (size,), least=0, below=_LARGEST)}


def _level_arrays(
    name: str, labels: str, least: float, most_states: int | None = None
) -> dict[str, Array]:
    states, entries = f"{name} states", f"{name} entries"

    def numbers(*shape: str, least: float = least) -> Array:
        return Array("float64", shape, least=least, below=_LARGEST)

    below = f"{states}+1" if most_states is None else most_states + 1
    parts = {
        "root": numbers(states),
        "n_states": Array("int", (labels,), least=1, below=below),
        "tensor": replace(numbers(f"{name} tensor"), kind="float", optional=True),
        "counts": numbers(entries),
        "states": Array("int", (entries,), least=0, below=states),
        "offsets": Array("int", ("words+1",), rising_to=entries),
        "in_class": numbers("classes", states),
        "unseen": numbers("classes", least=0),
        "totals": numbers(states, least=0),
        "in_tag": replace(numbers(states), optional=True),
    }
    if most_states is None:
        parts |= small_arrays(name, states, least)
    return {f"{name}.{key}": part for key, part in parts.items()}


def _check_level(name: str, part: dict[str, np.ndarray], n_inner: int, beta: float) -> None:
    """Raise if the sizes of labels do not add up, or a word has a state of an inner label."""
    n_states, totals = part["n_states"], part["totals"]
    first = starts(n_states)
    if first[-1] != len(part["root"]):
        raise damage(f"{name}.n_states", f"add up to {first[-1]}, not {len(part['root'])}")
    words = int(first[n_inner])
    if part["states"].min(initial=words) < words or part["in_class"][:, :words].any():
        raise damage(f"{name}.states", "has words below labels that are not preterminals")
    if totals.min(initial=1.0) <= 0:
        raise damage(f"{name}.totals", "has a number that is not above 0")
    # Then c~(x, s) / totals(s) is finite.
    limits = _LARGEST * totals
    weight = max(beta, part["unseen"].max(initial=0.0), 1.0)
    if (np.abs(part["counts"]) > limits[part["states"]]).any() or (
        np.abs(part["in_class"]).max(axis=0, initial=0.0) > limits / weight
    ).any():
        raise damage(f"{name}.totals", "are far too small for the words of their states")


def _symbols(saved: Any) -> list[Symbol]:
    """The symbols of a document; raise if a treebank could not have them."""

    def is_labels(value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)

    if not isinstance(saved, list) or not saved:
        raise damage("symbols", "is not a list of symbols")
    for one in saved:
        if not isinstance(one, (list, tuple)) or len(one) != 4:
            raise damage("symbols", f"has {one!r:.60}, which is not a symbol")
        chain, siblings, parents, preterminal = one
        if not (
            is_labels(chain)
            and chain
            and (siblings is None or is_labels(siblings))
            and is_labels(parents)
            and isinstance(preterminal, bool)
        ):
            raise damage("symbols", f"has {one!r:.60}, which is not a symbol")
    symbols = [
        Symbol(tuple(c), None if s is None else tuple(s), tuple(p), t) for c, s, p, t in saved
    ]
    # The charts of the plain grammar and of this one number preterminals in the same order.
    plain, n_inner = coarse(symbols)[1], _n_inner(symbols)
    if in_order(symbols) != symbols or plain[_n_inner(plain) :] != symbols[n_inner:]:
        raise damage("symbols", "are not sorted, or differ from the plain ones for words")
    if n_inner == len(symbols):
        raise damage("symbols", "has no symbol for words")
    return symbols


def _check_history(history: Any, n_levels: int) -> None:
    """Raise if the history of a grammar, which is there for plots, has a wrong form."""

    def are_numbers(values: Any) -> bool:
        return isinstance(values, list) and all(map(is_number, values))

    def is_fine(name: str, told: Any) -> bool:
        if name in ("condition_number", "rank_error", "rank_share"):
            return is_number(told)
        if name == "separations":
            return isinstance(told, dict) and are_numbers(list(told.values()))
        if name == "singular_values":
            return isinstance(told, dict) and all(
                isinstance(one, dict) and are_numbers(one.get("kept")) for one in told.values()
            )
        return are_numbers(told)

    if not isinstance(history, list) or len(history) != n_levels:
        raise damage("history", f"is not a list with an entry for each of {n_levels} grammars")
    for steps in history:
        if not isinstance(steps, dict):
            raise damage("history", "has an entry that is not a table of steps")
        for name, told in steps.items():
            if not is_fine(name, told):
                raise damage("history", f"has {name!r:.40} with a wrong form")


def _n_inner(symbols: list[Symbol]) -> int:
    return sum(not symbol.preterminal for symbol in symbols)


def _keys(rules: Rules, n: int) -> np.ndarray:
    """Rules as numbers, in the order of (left, right, parent)."""
    left, right, parent = (x.astype(np.int64) for x in (rules.left, rules.right, rules.parent))
    return (left * n + right) * n + parent


def _signed(indices: np.ndarray) -> np.ndarray:
    """Indices of a type that the compiled loops take."""
    return indices if indices.dtype in (np.int32, np.int64) else indices.astype(np.int64)


def _level_to_arrays(name: str, level: Level) -> dict[str, Any]:
    grammar, words = level.grammar, level.words
    parts = (
        grammar.n_states, grammar.root, words.counts.data, words.counts.indices,
        words.counts.indptr, words.classes, words.unseen, words.totals,
    )  # fmt: skip
    found = dict(zip(_LEVEL, parts, strict=True)) | grammar_to_arrays(grammar)
    arrays = {f"{name}.{key}": part for key, part in found.items()}
    return arrays if words.text is None else arrays | {f"{name}.in_tag": words.text.in_tag}


def _rules_to_arrays(name: str, rules: Rules) -> dict[str, Any]:
    return {f"{name}.rule_{key}": part for key, part in rules._asdict().items()}


def _arrays_to_rules(
    name: str, arrays: Any, labels: Any, counts: Any, symbols: list[Symbol]
) -> Rules:
    kinds = (labels, labels, labels, counts)
    rules = Rules(
        *(np.array(arrays[f"{name}.rule_{key}"], kind) for key, kind in zip(Rules._fields, kinds))
    )
    if (np.diff(_keys(rules, len(symbols))) <= 0).any():
        raise damage(f"{name}.rule_left", "and the other parts of rules are not sorted")
    n_inner = _n_inner(symbols)
    uses = np.bincount(rules.parent, minlength=n_inner)
    if len(uses) > n_inner or not uses.all():
        raise damage(f"{name}.rule_parent", "must have all labels that are not preterminals")
    return rules
