"""The contents of a file of topics of two views, and their checks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.moments.document_checks import OPTIONS
from eigentext.moments.limits import LEFT_OUT
from eigentext.parameters import Choice, Count, Number
from eigentext.storage.facts import COUNT, NUMBERS, TEXTS, facts
from eigentext.storage.schema import Array, Schema, Strings, damage

if TYPE_CHECKING:
    from eigentext.topics.two_views import TwoViewTopics

_ROUNDING = 1e-6  # the error of the sum of probabilities
_WORDS = {
    "components": Array("float64", ("topics", "words"), least=0),
    "weights": Array("float64", ("topics",), least=0),
    "words": Strings("words", unique=True),
    "word_counts": Array("int64", ("words",), least=0),
}
_SECOND_WORDS = {
    "second_components": Array("float64", ("topics", "second_words"), least=0),
    "second_words": Strings("second_words", unique=True),
    "second_word_counts": Array("int64", ("second_words",), least=0),
}
_NUMBERS = {
    "second_means": Array("float64", ("topics", "columns")),
    "covariance": Array("float64", ("columns", "columns")),
    "center": Array("float64", ("columns",)),
    "spread": Array("float64", ("columns",), least=0),
}
_ABOUT = {
    "parameters": facts("the parameters by name"),
    "n_features_in": Count(1),
    "second_kind": Choice("words", of=("words", "numbers")),
    "provenance": facts(
        "what it was learned from: n_documents, n_tokens, options, sources",
        needs=("n_documents", "n_tokens", "options", "sources"),
        n_documents=COUNT,
        n_tokens=Number(0, least=0),
        options=OPTIONS,
        sources=TEXTS,
    ),
    "diagnostics": facts(
        "facts about the fit: eigenvalues, documents and more",
        needs=(
            "n_documents",
            "n_empty",
            "n_without_first",
            "n_without_second",
            "eigenvalues",
            "dropped",
            "n_sound",
        ),
        n_documents=COUNT,
        n_empty=COUNT,
        n_without_first=COUNT,
        n_without_second=COUNT,
        eigenvalues=NUMBERS,
        dropped=NUMBERS,
        changes=NUMBERS,
        n_reduced=COUNT,
        n_sound=COUNT,
        left_out=LEFT_OUT,
    ),
}


def schema(about: dict[str, Any]) -> Schema:
    """What a file must contain, whose second view has words or numbers."""
    if about.get("second_kind") == "words":
        return Schema({**_WORDS, **_SECOND_WORDS}, {**_ABOUT, "second_options": OPTIONS})
    return Schema({**_WORDS, **_NUMBERS}, _ABOUT)


def to_saved(model: "TwoViewTopics") -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the document of a file."""
    arrays: dict[str, Any] = {
        "components": model.components_,
        "weights": model.weights_,
        "words": model.vocabulary_.words,
        "word_counts": model.vocabulary_.counts,
    }
    about = {
        "parameters": dict(model.parameters_),
        "n_features_in": model.n_features_in_,
        "second_kind": model.second_kind_,
        "provenance": model.provenance_,
        "diagnostics": model.diagnostics_,
    }
    if model.second_kind_ == "words":
        arrays["second_components"] = model.second_components_
        arrays["second_words"] = model.second_vocabulary_.words
        arrays["second_word_counts"] = model.second_vocabulary_.counts
        about["second_options"] = model.second_options_
    else:
        arrays["second_means"], arrays["covariance"] = model.second_means_, model.covariance_
        arrays["center"], arrays["spread"] = model.center_, model.spread_
    return arrays, about


def check(arrays: Any, about: dict[str, Any]) -> None:
    """Raise ModelFileError for damage that the schema, which is checked before, cannot see."""
    for name in ("components", "weights", "second_components"):
        if name not in arrays:
            continue
        part = np.asarray(arrays[name])
        if part.size == 0:
            raise damage(name, "is empty")
        if np.abs(part.sum(axis=-1) - 1).max() > _ROUNDING:
            raise damage(name, "are not distributions: their sums are not 1")
    if about["second_kind"] == "numbers":
        covariance = np.asarray(arrays["covariance"])
        if covariance.size == 0:
            raise damage("covariance", "is empty")
        values = np.linalg.eigvalsh((covariance + covariance.T) / 2)
        if not np.allclose(covariance, covariance.T) or values[0] <= 1e-12 * values[-1]:
            raise damage("covariance", "is not symmetric with positive eigenvalues")
    n_words = len(arrays["words"])
    columns = about["provenance"]["options"].get("columns", n_words)
    if about["n_features_in"] != columns or columns < n_words:
        raise damage("n_features_in", f"is {about['n_features_in']}, with {n_words} words")
