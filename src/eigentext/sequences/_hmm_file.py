"""The file of a hidden Markov model: operators or parameters, checked before kernels see them."""

from dataclasses import asdict
from typing import Any

import numpy as np

from eigentext.parameters import Choice, Count, Flag, Number
from eigentext.sequences import _saved
from eigentext.sequences._baum_welch import Parameters
from eigentext.sequences._operators import Operators
from eigentext.storage.facts import OPTIONS, PROVENANCE, facts
from eigentext.storage.schema import Array, Schema, damage

_KINDS = {"operators": Operators, "parameters": Parameters}
_MOST = 1e50  # of any number in operators: products of some are finite
_CLOSE = 1e-6  # to the sum that operators have, beside the sum of absolute values
_DIAGNOSTICS = facts(
    "what was learned",
    rank=Count(1),
    usable_rank=Count(1),
    singular_values=_saved.FIGURES,
    noise=Number(0.0),
    negative_mass=Number(0.0),
    passes=Number(0.0, least=0),
    converged=Flag(False),
)


def kind_of(model: Operators | Parameters) -> str:
    """What a file calls it."""
    return "operators" if isinstance(model, Operators) else "parameters"


def to_arrays(model: Operators | Parameters) -> dict[str, np.ndarray]:
    """Its arrays, as a file names them."""
    return {f"{kind_of(model)}.{name}": part for name, part in asdict(model).items()}


def schema(about: dict[str, Any]) -> Schema:
    """What a file must hold; the words, and the rare one if there is any, are its symbols."""
    n = "words+1" if about.get("has_rare") is True else "words"
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
    else:
        probability: dict[str, Any] = {"least": 0, "below": 1.001}
        arrays = {
            "initial": Array("float64", ("m",), **probability),
            "transition": Array("float64", ("m", "m"), **probability),
            "emission": Array("float64", (n, "m"), **probability),
        }
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
    )


def from_arrays(arrays: Any, kind: str) -> Operators | Parameters:
    """The model of a file, once it is known to keep the laws of such models."""
    start = f"{kind}."
    parts = {
        name.removeprefix(start): np.asarray(arrays[name])
        for name in list(arrays)
        if name.startswith(start)
    }
    model = _KINDS[kind](**parts)
    if isinstance(model, Parameters):
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
        raise damage(f"{start}rows", "is empty")
    # Rows add up to the end, and states have the product 1 with it: then, and only then, what all
    # symbols get in a state is a distribution, after it was repaired.
    _check_close(f"{start}rows", model.rows.T, np.ones(len(model.rows)), model.end)
    _check_close(f"{start}start", model.start[None], model.end, 1.0)
    _check_close(f"{start}after", model.after, model.end, 1.0)
    return model


def _check_close(name: str, rows: np.ndarray, vector: np.ndarray, expected: Any) -> None:
    size = np.abs(rows) @ np.abs(vector) + np.abs(expected)
    if not (np.abs(rows @ vector - expected) <= _CLOSE * size).all():
        raise damage(name, "does not add up as operators do")
