"""The file of a class bigram: words, classes and shares, and the bigrams of classes inside."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.evaluate.classes import class_of_words
from eigentext.parameters import Count, Settings
from eigentext.sequences import _saved
from eigentext.sequences.kneser_ney import KneserNey
from eigentext.storage.facts import PROVENANCE, facts
from eigentext.storage.models import nested, restored
from eigentext.storage.schema import Array, Schema, Strings, damage

_PREFIX = "transitions."
_DIAGNOSTICS = facts(
    "what was learned",
    rare_tokens=Count(0, least=0),
    n_classes=Count(1),
    average_mutual_information=_saved.FIGURE,
    covered=_saved.FIGURE,
    empty_classes=Count(0, least=0),
)


class Content(NamedTuple):
    """What was learned."""

    vocabulary: Vocabulary
    classes: np.ndarray
    emission: np.ndarray
    transitions: KneserNey


def packed(parameters: Settings, content: Content) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays, and a document with the parameters and about the bigrams of classes."""
    inner, about = nested(content.transitions)
    arrays = {
        "words": content.vocabulary.words,
        "word_counts": content.vocabulary.counts,
        "classes": content.classes,
        "emission": content.emission,
        **{_PREFIX + name: array for name, array in inner.items()},
    }
    used, given = dict(parameters), parameters.clusters
    if isinstance(given, os.PathLike):
        used["clusters"] = os.fspath(given)
    elif given is not None and not isinstance(given, str):
        classes = class_of_words(given)
        used["clusters"] = None  # they are arrays
        arrays["clusters.words"] = list(classes)
        arrays["clusters.classes"] = list(map(str, classes.values()))
    return arrays, {"parameters": used, "transitions": about}


def parameters_of(arrays: Mapping[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a file. Given clusters are a dictionary."""
    if "clusters.words" not in arrays:
        return about["parameters"]
    given = dict(zip(arrays["clusters.words"], arrays["clusters.classes"]))
    return {**about["parameters"], "clusters": given}


def schema() -> Schema:
    """Return what a file must contain. The bigrams of classes are checked by their own schema."""
    return Schema(
        {
            **_saved.WORDS,
            "classes": Array("int32", ("words",), least=0),
            "emission": Array("float64", ("words",), least=0, below=1.001),
            "clusters.words": Strings("clustered", unique=True, optional=True),
            "clusters.classes": Strings("clustered", optional=True),
        },
        {
            "provenance": PROVENANCE,
            "diagnostics": _DIAGNOSTICS,
            "history": _saved.FIGURES,
            "n_iter": Count(0, least=0),
            "transitions": facts("the document of the bigrams of classes", needs=("format",)),
        },
    )


def unpacked(arrays: Mapping[str, Any], about: dict[str, Any]) -> Content:
    """Return the content of arrays that fit the schema."""
    inner = {n.removeprefix(_PREFIX): arrays[n] for n in list(arrays) if n.startswith(_PREFIX)}
    transitions = restored(inner, about["transitions"])
    if not isinstance(transitions, KneserNey) or transitions._tables.trie.order != 2:
        raise damage("transitions", "are no bigrams of classes")
    K = len(transitions.vocabulary_)
    classes, emission = np.asarray(arrays["classes"]), np.asarray(arrays["emission"])
    if not len(classes) or classes.max() >= K:
        raise damage("classes", f"do not fit the {K} classes of the transitions")
    if len(np.unique(classes)) < K:
        raise damage("classes", "has a class without a word")
    _saved.check_sums("emission", np.bincount(classes, emission, minlength=K)[:, None])
    vocabulary = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
    return Content(vocabulary, classes, emission, transitions)
