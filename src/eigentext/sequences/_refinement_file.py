"""The file format of refinement HMMs."""

from typing import Any

import numpy as np

from eigentext.matrices.runs import CSR
from eigentext.sequences import _saved
from eigentext.sequences.hmm_tagger import _check_counts, _is_state
from eigentext.sequences.refined import Averages
from eigentext.storage.facts import facts
from eigentext.storage.schema import Array, Schema, Strings, csr, damage

_LARGEST = 1e12  # of an average; products of some of them must not overflow


def schema(about: dict[str, Any], provenance: dict[str, Any]) -> Schema:
    """Describe the arrays and values of a file."""
    labels = about.get("labels")
    return Schema(
        {
            "words": Strings("words", unique=True, filled=True),
            **csr("counts", "words", "labels", "int64", least=1, below=_saved.LARGEST),
            "grams": Array("int64", ("grams", 2), least=0, below="labels+1"),
            "gram_counts": Array("int64", ("grams",), least=1, below=_saved.LARGEST),
            "one": Array("float64", ("labels+1", "states"), largest=_LARGEST),
            "sizes": Array("int64", ("labels+1",), least=1, below="states+1"),
            "mean": Array("float64", ("labels+1", "states"), largest=_LARGEST),
            "blocks": Array("float64", ("grams", "states", "states"), largest=_LARGEST),
            "shares": Array("float64", ("pairs", "states", "depth"), largest=_LARGEST),
        },
        {
            "labels": _saved.items("a list of tags with a class each", _is_state),
            "diagnostics": facts("what was learned"),
            "history": _saved.FIGURES,
            **provenance,
        },
        {"labels": len(labels) if isinstance(labels, list) else 0},
    )


def arrays_of(
    words: list[str], counts: CSR, grams: np.ndarray, times: np.ndarray, averages: Averages
) -> dict[str, Any]:
    """The arrays of a file."""
    return {
        "words": words,
        "counts.indptr": counts.indptr,
        "counts.indices": counts.indices,
        "counts.data": counts.data,
        "grams": grams,
        "gram_counts": times,
        **averages._asdict(),
    }


def read(
    arrays: dict[str, Any], labels: list[tuple[str, str]], is_spectral: bool
) -> tuple[list[str], CSR, np.ndarray, np.ndarray, Averages]:
    """The counts and averages of a file, with checks that a schema cannot say."""
    from scipy.sparse import csr_array

    words = list(arrays["words"])
    grams, times = (np.asarray(arrays[name]) for name in ("grams", "gram_counts"))
    parts = [np.asarray(arrays[f"counts.{name}"]) for name in ("data", "indices", "indptr")]
    _check_counts(parts, labels, grams, times)
    averages = Averages(*(np.asarray(arrays[name]) for name in Averages._fields))
    n_pairs, width = len(parts[0]), averages.one.shape[1]
    if averages.shares.shape != (n_pairs, width, width if is_spectral else 1):
        raise damage("shares", "does not have the shape that the counts and the method need")
    if len(np.unique(grams, axis=0)) < len(grams):
        raise damage("grams", "has a pair twice")
    if averages.sizes[-1] != 1:
        raise damage("sizes", "has states before or after a sentence")
    if not is_spectral and any(
        (part < 0).any() for part in (averages.one, averages.mean, averages.blocks, averages.shares)
    ):
        raise damage("blocks", "has probabilities below zero")
    return words, csr_array(tuple(parts), (len(words), len(labels))), grams, times, averages
