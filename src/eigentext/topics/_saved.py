"""What a file of topics must hold, so that nothing that uses them can go wrong."""

from typing import Any

import numpy as np

from eigentext.moments.sound_documents import OPTIONS
from eigentext.parameters import Count, Given, Number, is_number
from eigentext.storage.facts import COUNT, NUMBERS, TEXTS, facts
from eigentext.storage.schema import Array, Schema, Strings, damage

_ROUNDING = 1e-6  # of the sums of probabilities


def _are_numbers(values: Any) -> bool:
    """Whether these are numbers, or None where there was none to tell."""
    return all(value is None or is_number(value) for value in values)


_BY_NAME = Given(
    {},
    what="numbers by name",
    test=lambda told: isinstance(told, dict) and _are_numbers(told.values()),
)
SCHEMA = Schema(
    {
        "components": Array("float64", ("topics", "words"), least=0),
        "weights": Array("float64", ("topics",), least=0),
        "words": Strings("words", unique=True),
        "word_counts": Array("int64", ("words",), least=0),
        "topic_topic": Array("float64", ("topics", "topics"), optional=True),
    },
    {
        "parameters": facts("the parameters by name"),
        "alpha0": Number(0.0, least=0),
        "n_features_in": Count(1),
        "provenance": facts(
            "what it was learned from: n_documents, n_tokens, options, sources",
            needs=("n_documents", "n_tokens", "options", "sources"),
            n_documents=COUNT,
            n_tokens=Number(0, least=0),
            options=OPTIONS,
            sources=TEXTS,
        ),
        "diagnostics": facts(
            "what is known of the fit: eigenvalues, documents and more",
            needs=("n_documents", "n_empty", "n_short", "eigenvalues", "dropped"),
            n_documents=COUNT,
            n_empty=COUNT,
            n_short=COUNT,
            eigenvalues=NUMBERS,
            dropped=NUMBERS,
            perplexities=NUMBERS,
            n_reduced=COUNT,
            moved_most=Number(None, least=0),
            alpha0_perplexities=_BY_NAME,
            anchors=TEXTS,
            separations=Given(
                [],
                what="a list of numbers",
                test=lambda told: isinstance(told, list) and _are_numbers(told),
            ),
            limits=_BY_NAME,
        ),
    },
)


def check(arrays: Any, about: dict[str, Any]) -> None:
    """Raise a ModelFileError for what :data:`SCHEMA`, which was checked before, does not say."""
    for name in ("components", "weights"):
        part = np.asarray(arrays[name])
        if part.size == 0:
            raise damage(name, "is empty")
        if np.abs(part.sum(axis=-1) - 1).max() > _ROUNDING:
            raise damage(name, "are no distributions: their sums are not 1")
    if not about["diagnostics"]["eigenvalues"]:
        raise damage("diagnostics", "must have eigenvalues")
    n_words = len(arrays["words"])
    columns = about["provenance"]["options"].get("columns", n_words)
    if about["n_features_in"] != columns or columns < n_words:
        raise damage("n_features_in", f"is {about['n_features_in']}, with {n_words} words")
