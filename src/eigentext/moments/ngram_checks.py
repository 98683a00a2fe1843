"""Checks of n-gram counts that come from a file or were made by hand.

Compiled loops rely on what is checked here.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.corpus import Vocabulary
from eigentext.errors import ModelFileError, MomentsError
from eigentext.matrices.runs import CSR
from eigentext.parameters import Count, Flag, is_whole
from eigentext.storage.facts import OPTIONS, TEXTS
from eigentext.storage.schema import Array, Schema, Strings, csr, damage

LARGEST = 1 << 53  # tokens in all: sums in floating point are exact up to here
_LONGEST = 10_000  # the most symbols of a window
_TABLE = 5  # the columns of the table of blocks: see `packing`
ABOUT = {"whole": Flag(True), "options": OPTIONS, "sources": TEXTS}


def schema(about: dict[str, Any]) -> Schema:
    """What a file of n-gram counts must hold. The packed parts have their own checksums."""
    order: Any = about.get("order")
    levels = order - 1 if is_whole(order) and 1 <= order <= _LONGEST else 0
    arrays: dict[str, Array | Strings] = {
        "words": Strings("words", unique=True),
        "unigrams": Array("int64", ("words+2",), least=0, below=LARGEST),
    }
    for k in range(levels):
        arrays[f"packed.{k}"] = Array("uint8", (f"bytes {k}",))
        arrays[f"blocks.{k}"] = Array("int64", (f"blocks {k}", _TABLE), least=0)
    return Schema(arrays, {"order": Count(1, most=_LONGEST), **ABOUT})


def check_ngrams(moments: Any) -> None:
    """Raise a MomentsError if moments that a user gives are wrong, and say how."""
    from eigentext.moments.ngrams import NgramMoments

    if not isinstance(moments, NgramMoments):
        raise MomentsError(f"{moments!r:.80} are no NgramMoments; make them with from_corpus")
    try:
        Schema(about=ABOUT).check({}, {name: getattr(moments, name, None) for name in ABOUT})
        if not isinstance(moments.vocabulary, Vocabulary):
            raise damage("vocabulary", "is no Vocabulary")
        if not isinstance(moments.levels, (list, tuple)):
            raise damage("levels", "is no list")
        unigrams = Array(_kind(moments.unigrams), ("words+2",), least=0)
        words = {"vocabulary": Strings("words", unique=True), "unigrams": unigrams}
        names = {"vocabulary": moments.vocabulary.words, "unigrams": moments.unigrams}
        n = Schema(words).check(names, {})["words"] + 2
        n_rows = n
        for k, level in enumerate(moments.levels):
            _check_matrix(f"levels[{k}]", level, n_rows, n)
            n_rows = level.nnz
        check_levels(moments.unigrams, moments.levels)
    except ModelFileError as error:
        why = str(error).partition(": ")[2]
        raise MomentsError(f"these are no n-gram moments: {why}; count them again") from error


def check_levels(unigrams: np.ndarray, levels: list[CSR]) -> None:
    """Raise a ModelFileError unless the counts of windows agree with those of symbols."""
    total = unigrams.sum(dtype=np.float64)
    if not 0 < total < LARGEST:
        raise damage("unigrams", "counts nothing, or more than can be added up exactly")
    for k, level in enumerate(levels):
        seen = np.bincount(level.indices, minlength=len(unigrams)) > 0
        if k == 0:
            seen |= np.diff(level.indptr) > 0
        if (seen & (unigrams == 0)).any():
            raise damage(f"levels[{k}]", "has windows of symbols that were never seen")
        if level.dtype.kind in "iu" and level.data.sum(dtype=np.float64) > total:
            raise damage(f"levels[{k}]", "counts more windows than there are symbols")


def _check_matrix(name: str, level: Any, n_rows: int, n: int) -> None:
    if not (sp.issparse(level) and level.format == "csr"):
        raise damage(name, "is no sparse matrix in rows (csr_array)")
    if level.shape != (n_rows, n):
        raise damage(name, f"has shape {level.shape}, where that must be {(n_rows, n)}")
    kind = _kind(level.data)
    limits = {"least": 1, "below": LARGEST} if kind == "int" else {}
    parts = {f"{name}.{part}": getattr(level, part) for part in ("indptr", "indices", "data")}
    sizes = {"rows": n_rows, "symbols": n}
    Schema(csr(name, "rows", "symbols", kind, **limits), sizes=sizes).check(parts, {})
    rises = np.diff(level.indices) > 0
    borders = level.indptr[1:-1]
    rises[borders[(borders > 0) & (borders < level.nnz)] - 1] = True  # a new row
    if not rises.all():
        raise damage(name, "has columns that do not rise")


def _kind(array: Any) -> str:
    """The kind of numbers: "int" for counts, "float" for the moments of a distribution."""
    return "float" if isinstance(array, np.ndarray) and array.dtype.kind == "f" else "int"
