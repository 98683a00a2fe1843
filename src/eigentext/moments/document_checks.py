"""Checks of moments of documents that come from a file or were made by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.corpus import Vocabulary
from eigentext.corpus.documents import MATRIX
from eigentext.errors import ModelFileError, MomentsError
from eigentext.moments.limits import LEFT_OUT
from eigentext.parameters import Choice, Count, Flag, Given, Number
from eigentext.storage.facts import COUNT, TEXT, TEXTS, facts
from eigentext.storage.schema import Array, Schema, Strings, csr, damage

MOST = 2**53  # tokens in all: sums in floating point are exact up to here
_TINY = float(np.finfo(np.float64).tiny)


def is_of_matrix(options: dict[str, Any]) -> bool:
    """Whether the words are the columns of a matrix; `options` say how the text was read."""
    return options.get("tokenizer") == MATRIX


_READING = facts(
    "the way text was read: tokenizer, lowercase and unit, or nothing",
    needs=("tokenizer", "lowercase", "unit"),
    tokenizer=TEXT,
    lowercase=Flag(False),
    unit=Choice("line", of=("line", "document")),
    columns=Count(1),
)
# Moments that were made by hand may say nothing about it.
OPTIONS = Given({}, what=_READING.what, test=lambda value: value == {} or _READING.accepts(value))
ABOUT = {
    "n_empty": COUNT,
    "rare_count": Number(0, least=0),
    "whole": Flag(True),
    "options": OPTIONS,
    "sources": TEXTS,
}
SCHEMA = Schema(
    {
        "words": Strings("words", unique=True),
        "totals": Array("int64", ("words",), least=0, below=MOST),
        "times": Array("int64", ("documents",), least=1, below=MOST),
    }
    | {  # for counts that are fractions; whole counts are packed
        name.removeprefix("."): replace(part, optional=True)
        for name, part in csr("", "documents", "words", "float64", least=_TINY).items()
    },
    ABOUT,
)
WITH_LIMITS = replace(SCHEMA, about=ABOUT | {"left_out": LEFT_OUT})  # older files do not have it


def check_documents(moments: Any) -> None:
    """Raise a MomentsError if moments of documents are wrong, and say how."""
    try:
        Schema(about=ABOUT).check({}, vars(moments))
        if moments.left_out and not LEFT_OUT.accepts(moments.left_out):
            raise damage("left_out", f"must be {LEFT_OUT.what}")
        check_counts(moments.vocabulary, moments.counts, moments.times)
    except ModelFileError as error:
        why = str(error).partition(": ")[2]
        raise MomentsError(f"these are no moments of documents: {why}; count them again") from error


def check_counts(vocabulary: Any, X: Any, times: Any) -> None:
    """Raise a ModelFileError unless words, counts and `times` fit together."""
    if not isinstance(vocabulary, Vocabulary):
        raise damage("vocabulary", "is no Vocabulary")
    if not (sp.issparse(X) and X.format == "csr"):
        raise damage("counts", "is no sparse matrix in rows (csr_array)")
    if X.shape[1] != len(vocabulary):
        raise damage("counts", f"has {X.shape[1]} columns for {len(vocabulary)} words")
    least, kind = (_TINY, "float") if X.dtype.kind == "f" else (1, "int")
    declared = Schema(
        {
            "vocabulary": Strings("words", unique=True),
            "times": Array("int", ("documents",), least=1),
            **csr("counts", "documents", "words", kind, least=least),
        },
        sizes={"documents": X.shape[0]},
    )
    parts = {f"counts.{part}": getattr(X, part) for part in ("indptr", "indices", "data")}
    declared.check({"vocabulary": vocabulary.words, "times": times, **parts}, {})
    indptr, rises = X.indptr, np.diff(X.indices) > 0
    borders = indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(X.indices))]
    rises[borders - 1] = True  # a new row may begin with any column
    if not rises.all():
        raise damage("counts", "has columns that do not rise")
    check_sums(X, times)


def check_sums(X: Any, times: np.ndarray) -> None:
    """Raise a ModelFileError if a document is empty, or if the tokens cannot be added exactly."""
    if (np.diff(X.indptr) < 1).any():
        raise damage("counts", "has documents without words, which n_empty is for")
    if times.astype(np.float64) @ X.sum(axis=1, dtype=np.float64) >= MOST:
        raise damage("counts", "has more tokens than can be added exactly")
