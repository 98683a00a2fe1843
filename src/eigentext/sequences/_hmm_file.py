"""The file of a hidden Markov model: operators or parameters, checked before loops use them."""

from dataclasses import asdict
from typing import Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.symbols import is_stream
from eigentext.parameters import REQUIRED, Choice, Count, Flag, Given, Number, is_whole
from eigentext.sequences import _saved
from eigentext.sequences._symbols import Symbols
from eigentext.sequences.forms import Form, HMMParameters, Operators, PlainOperators
from eigentext.storage.facts import OPTIONS, PROVENANCE, TEXTS, facts
from eigentext.storage.schema import Array, Schema, damage

_KINDS = {"operators": Operators, "plain": PlainOperators, "parameters": HMMParameters}
_MOST = 1e50  # numbers in operators are smaller, so that products of a few are finite
_CLOSE = 1e-6  # the relative error of sums, compared with the sum of absolute values
_DIAGNOSTICS = facts(
    "what was learned",
    rank=Count(1),
    usable_rank=Count(1),
    singular_values=_saved.FIGURES,
    noise=Number(0.0),
    negative_mass=Number(0.0),
    passes=Number(0.0, least=0),
    converged=Flag(False),
    anchors=_saved.items("a list of words for each state", TEXTS.accepts),
    separations=_saved.FIGURES,
    outside=Number(0.0, least=0),
    ambiguity=Number(0.0),
)


def packed(model: Form, symbols: Symbols) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays of a model by their names in a file, and what the document says of them."""
    kind = next(name for name, form in _KINDS.items() if isinstance(model, form))
    words = {"words": symbols.vocabulary.words, "word_counts": symbols.vocabulary.counts}
    arrays = {f"{kind}.{name}": part for name, part in asdict(model).items()}
    about = {"kind": kind, "options": symbols.options, "has_rare": symbols.has_rare}
    return words | arrays, about


def unpacked(arrays: dict[str, Any], about: dict[str, Any]) -> tuple[Form, Symbols]:
    """Return the model and the symbols of a file. Raise ModelFileError if they are damaged."""
    if "ends" in about and about["ends"] == is_stream(about["options"]):
        raise damage("ends", "does not fit the unit of the text: sequences end, and streams do not")
    vocabulary = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
    symbols = Symbols(vocabulary, about["options"], about["has_rare"])
    return _model(arrays, about["kind"], ends=about.get("ends", False)), symbols


def listed(diagnostics: dict[str, Any]) -> dict[str, Any]:
    """Return diagnostics with lists in place of arrays, as JSON needs them."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in diagnostics.items()
    }


def schema(about: dict[str, Any]) -> Schema:
    """Return what a file must hold.

    The symbols are the words, the rare word if it occurs, and the end of models that have ends.
    """
    more = [about.get("has_rare") is True, about.get("ends") is True]
    inside, n = (f"words+{k}" if k else "words" for k in (sum(more[:1]), sum(more)))
    wild: dict[str, Any] = {"least": -_MOST, "below": _MOST}
    if about.get("kind") == "operators":
        arrays = {
            "operators": Array("float64", ("k", "r", "r"), **wild),
            "start": Array("float64", ("r",), **wild),
            "end": Array("float64", ("r",), **wild),
            "rows": Array("float64", (n, "r"), **wild),
            "after": Array("float64", (n, "r"), **wild),
            "places": Array("int32", (n,), least=-1, below="k"),
            "floors": Array("float64", (n,), least=0, below=1.001),
        }
    elif about.get("kind") == "plain":
        arrays = {
            "operators": Array("float64", (inside, "r", "r"), **wild),
            "start": Array("float64", ("r",), **wild),
            "end": Array("float64", ("r",), **wild),
            "stop": Array("float64", ("r" if about.get("ends") is True else "none",), **wild),
        }
    else:
        probability: dict[str, Any] = {"least": 0, "below": 1.001}
        arrays = {
            "initial": Array("float64", ("m",), **probability),
            "transition": Array("float64", ("m", "m"), **probability),
            "emission": Array("float64", (n, "m"), **probability),
        }
    sizes = {"none": 0} if about.get("kind") == "plain" else {}
    return Schema(
        _saved.WORDS | {f"{about.get('kind')}.{name}": part for name, part in arrays.items()},
        {
            "kind": Choice("operators", of=tuple(_KINDS)),
            "has_rare": Flag(False),
            "options": OPTIONS,
            "provenance": PROVENANCE,
            "diagnostics": _DIAGNOSTICS,
            "history": _saved.FIGURES,
        },
        sizes=sizes,
    )


def automaton_schema(about: dict[str, Any]) -> Schema:
    """Return what the file of a weighted automaton must hold."""
    found = schema(about)
    strings = Given(
        REQUIRED,
        what="two lists of lists of symbols",
        test=lambda value: (
            isinstance(value, list) and len(value) == 2 and all(map(_strings, value))
        ),
    )
    return Schema(
        found.arrays, dict(found.about) | {"ends": Flag(True), "basis": strings}, found.sizes
    )


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(string, list) and all(isinstance(one, str) or is_whole(one) for one in string)
        for string in value
    )


def _model(arrays: dict[str, Any], kind: str, *, ends: bool) -> Form:
    """The model of a file. Raise ModelFileError if its numbers do not make a model."""
    start = f"{kind}."
    parts = {
        name.removeprefix(start): np.asarray(arrays[name])
        for name in list(arrays)
        if name.startswith(start)
    }
    model = _KINDS[kind](**parts)
    if isinstance(model, HMMParameters):
        for name, rows in (
            ("initial", model.initial[None]),
            ("transition", model.transition),
            ("emission", model.emission.T),
        ):
            if not rows.size:
                raise damage(start + name, "is empty")
            _saved.check_sums(start + name, rows)
        return model
    if not model.rows.size:
        raise damage(f"{start}operators", "is empty")
    if isinstance(model, PlainOperators):  # any numbers are a model
        return model
    # The rows must add up to the end, and each state must have the product 1 with the end. Only
    # then are the repaired probabilities of all symbols in a state a distribution.
    _check_close(f"{start}rows", model.rows.T, np.ones(len(model.rows)), model.end)
    _check_close(f"{start}start", model.start[None], model.end, 1.0)
    _check_close(f"{start}after", model.after[: len(model.after) - ends], model.end, 1.0)
    return model


def _check_close(
    name: str, rows: np.ndarray, vector: np.ndarray, expected: np.ndarray | float
) -> None:
    size = np.abs(rows) @ np.abs(vector) + np.abs(expected)
    if not (np.abs(rows @ vector - expected) <= _CLOSE * size).all():
        raise damage(name, "does not add up as operators do")
