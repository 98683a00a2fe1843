"""The contents of a file of topics, and their checks."""

from typing import Any

import numpy as np

from eigentext.moments import DocumentMoments
from eigentext.moments.document_checks import OPTIONS
from eigentext.moments.limits import LEFT_OUT
from eigentext.parameters import Choice, Count, Given, Number, is_number
from eigentext.storage.facts import COUNT, NUMBERS, TEXTS, facts
from eigentext.storage.schema import Array, Schema, Strings, damage

_ROUNDING = 1e-6  # the error of the sum of probabilities


def _are_numbers(values: Any) -> bool:
    """Whether these are numbers, or None in place of a number that is not finite."""
    return all(value is None or is_number(value) for value in values)


_BY_NAME = Given(
    {},
    what="numbers by name",
    test=lambda value: isinstance(value, dict) and _are_numbers(value.values()),
)
_GROUP = facts(
    "a group of documents: why, n_documents, n_tokens, words",
    needs=("why", "n_documents", "n_tokens", "words"),
    why=Choice("copies", of=("copies", "words", "leverage")),
    n_documents=COUNT,
    n_tokens=COUNT,
    words=TEXTS,
)
_GROUPS = Given(
    [],
    what=f"a list; an item is {_GROUP.what}",
    test=lambda value: isinstance(value, list) and all(map(_GROUP.accepts, value)),
)
_NAMES = Given(
    [],
    what="a list of strings, or None for topics without names",
    test=lambda value: (
        isinstance(value, list) and all(name is None or isinstance(name, str) for name in value)
    ),
)
_TRIED = facts("a number of topics", needs=("n_topics",), n_topics=COUNT)
_CHOICE = facts(
    "how n_topics was chosen: n_above_noise, eigenvalues, halves, errors, tried",
    needs=("n_above_noise", "eigenvalues", "halves", "tried"),
    n_above_noise=COUNT,
    eigenvalues=NUMBERS,
    halves=NUMBERS,
    errors=NUMBERS,
    tried=Given(
        [],
        what="a list of numbers of topics with their perplexities",
        test=lambda value: (
            isinstance(value, list)
            and all(_TRIED.accepts(one) and _are_numbers(one.values()) for one in value)
        ),
    ),
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
            "facts about the fit: eigenvalues, documents and more",
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
            alpha0_of_moments=Number(0.0, least=0),
            alpha=NUMBERS,
            n_topics=_CHOICE,
            anchors=TEXTS,
            separations=Given(
                [],
                what="a list of numbers",
                test=lambda value: isinstance(value, list) and _are_numbers(value),
            ),
            limits=_BY_NAME,
            left_out=LEFT_OUT,
            topics_of_stop_words=COUNT,
            n_sound=COUNT,
            apart=_GROUPS,
            owners=_GROUPS,
            robust=Number(0.0, least=0),
            topic_names=_NAMES,
            n_documents_before=COUNT,
            n_new_topics=COUNT,
        ),
    },
)


def check(arrays: Any, about: dict[str, Any]) -> None:
    """Raise ModelFileError for damage that :data:`SCHEMA`, which is checked before, cannot see."""
    for name in ("components", "weights"):
        part = np.asarray(arrays[name])
        if part.size == 0:
            raise damage(name, "is empty")
        if np.abs(part.sum(axis=-1) - 1).max() > _ROUNDING:
            raise damage(name, "are not distributions: their sums are not 1")
    if not about["diagnostics"]["eigenvalues"]:
        raise damage("diagnostics", "must have eigenvalues")
    n_topics = np.asarray(arrays["weights"]).size
    if len(names_of(about, n_topics)) != n_topics:
        raise damage("diagnostics", f"must have {n_topics} topic_names, or none")
    n_words = len(arrays["words"])
    columns = about["provenance"]["options"].get("columns", n_words)
    if about["n_features_in"] != columns or columns < n_words:
        raise damage("n_features_in", f"is {about['n_features_in']}, with {n_words} words")


def names_of(about: dict[str, Any], n_topics: int) -> list[str | None]:
    """Return the names of topics; older files, and models without names, have none."""
    return about["diagnostics"].get("topic_names", [None] * n_topics)


def moments_of(arrays: Any, about: dict[str, Any]) -> DocumentMoments | None:
    """Return the moments in a file of topics, or None. The names of their arrays begin so."""
    if "moments" not in about:
        return None
    inner = about["moments"]
    if not isinstance(inner, dict):
        raise damage("moments", "is no document")
    parts = {
        name.removeprefix("moments."): part
        for name, part in arrays.items()
        if name.startswith("moments.")
    }
    DocumentMoments._schema(inner).check(parts, inner)
    moments = DocumentMoments._from_saved(parts, inner)
    unknown = set(arrays["words"]).difference(moments.vocabulary.words)
    if unknown:
        raise damage("moments", f"lack the word {min(unknown)!r:.80} of the topics")
    return moments
