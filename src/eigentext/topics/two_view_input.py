"""Reading documents with two views: their words, and words or numbers beside them.

Rows are put into an order that depends only on their content. So the same documents in another
order give the same sums, bit for bit.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from eigentext.corpus import Vocabulary
from eigentext.corpus.documents import is_matrix
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.matrices.runs import CSR
from eigentext.moments import DocumentMoments, document_counts

Kind = Literal["words", "numbers"]
_EVEN = 1e-12  # a column varies by less than this part of its size only by rounding


@dataclass
class Words:
    """Counts of words, and how they were read."""

    counts: CSR
    vocabulary: Vocabulary
    options: dict[str, Any]
    sources: list[str]
    left_out: dict[str, Any]
    n_tokens: float
    kind: Kind = field(default="words", init=False)

    @property
    def n_columns(self) -> int:
        """The columns that a matrix of new documents has."""
        return self.options.get("columns", len(self.vocabulary))

    def ordered(self, order: np.ndarray) -> "Words":
        """The same, with rows in this order."""
        return Words(
            self.counts[order],
            self.vocabulary,
            self.options,
            self.sources,
            self.left_out,
            self.n_tokens,
        )


@dataclass
class Numbers:
    """Standardized numbers: each column has the mean 0, and the variance 1 or 0."""

    rows: np.ndarray
    center: np.ndarray
    spread: np.ndarray  # the standard deviation of each column; 0 if it is constant
    kind: Kind = field(default="numbers", init=False)

    @property
    def n_columns(self) -> int:
        """The columns that numbers of new documents have."""
        return len(self.center)


def read_words(X: Any, limits: dict[str, Any], cache: Any = None) -> Words:
    """Count the words of documents, a row for each document."""
    if isinstance(X, DocumentMoments):
        raise MomentsError(
            "DocumentMoments do not keep the order of documents, so a second view cannot be "
            "matched to them; give the documents"
        )
    X = list(X) if isinstance(X, Iterator) else X
    moments = DocumentMoments.from_corpus(X, **limits, cache=cache)
    counts = document_counts(X, moments.vocabulary, moments.options)
    return Words(
        counts,
        moments.vocabulary,
        moments.options,
        moments.sources,
        moments.left_out,
        moments.n_tokens,
    )


def read_second(second: Any, limits: dict[str, Any]) -> Words | np.ndarray:
    """Read the second view: documents and sparse counts are words, dense arrays are numbers."""
    if second is None:
        raise ParameterError(
            "two views are needed: give second, a list of documents or an array with a row for "
            "each document; TopicModel learns from one view"
        )
    second = list(second) if isinstance(second, Iterator) else second
    if is_numbers(second):
        return checked_numbers(second)
    try:
        return read_words(second, limits)
    except CorpusError as error:
        raise CorpusError(f"the second view: {error}") from error


def is_numbers(second: Any) -> bool:
    """Whether the second view is a dense array of numbers, or a column or rows of them."""
    if sp.issparse(second):
        return False
    if isinstance(second, (list, tuple)) and second and np.isscalar(second[0]):
        return not isinstance(second[0], (str, bytes))
    return is_matrix(second)


def checked_numbers(second: Any, n_columns: int | None = None) -> np.ndarray:
    """The array in float64, with a row for each document; raises if it is not made of numbers."""
    try:
        rows = np.asarray(second)
        if np.iscomplexobj(rows):
            raise TypeError("it has complex numbers")
        rows = rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"second is not an array of numbers ({error}); give a row of numbers for each document"
        ) from error
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ParameterError(
            f"second has shape {rows.shape}; give an array with a row for each document"
        )
    wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise ParameterError(
            f"second has {rows[row, column]} in row {row}, column {column}, and "
            f"{len(wrong)} numbers in all that are not finite; replace them, or leave these "
            "documents out"
        )
    if np.abs(rows).max(initial=0) > 1e100:
        raise ParameterError("second has numbers above 1e100; divide them by some number")
    if n_columns is not None and rows.shape[1] != n_columns:
        raise ParameterError(
            f"second has {rows.shape[1]} columns, but the model was learned from {n_columns}"
        )
    return rows


def check_lengths(n_first: int, n_second: int) -> None:
    """Raise ParameterError unless both views have a row for each document."""
    if n_first != n_second:
        raise ParameterError(
            f"the views have different lengths: {n_first} documents, and {n_second} in second; "
            "give one row of each for every document (blank lines of files are not documents, but "
            "empty strings of lists and rows of tables are)"
        )


def in_order_of_content(first: Words, second: Words | np.ndarray) -> np.ndarray:
    """The order of documents by a fingerprint of their content. Equal documents are alike."""
    parts = [_row_bytes(first.counts)]
    if isinstance(second, Words):
        parts.append(_row_bytes(second.counts))
    else:
        even = np.ascontiguousarray(second + 0.0)  # -0.0 becomes 0.0
        parts.append([row.tobytes() for row in even])
    digests = []
    for row in zip(*parts):
        digest = hashlib.blake2b(digest_size=16)
        for part in row:
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        digests.append(digest.digest())
    return np.array(sorted(range(len(digests)), key=digests.__getitem__), np.int64)


def _row_bytes(X: CSR) -> list[bytes]:
    indices, data = X.indices.astype(np.int64), X.data.astype(np.float64)
    ends = X.indptr.tolist()
    return [
        indices[start:stop].tobytes() + data[start:stop].tobytes() for start, stop in pairwise(ends)
    ]


def standardized(rows: np.ndarray) -> Numbers:
    """Numbers with the mean 0 and the variance 1; raises CorpusError if no column varies."""
    center = rows.mean(axis=0)
    rows = rows - center
    spread = np.sqrt((rows**2).mean(axis=0))
    spread[spread <= _EVEN * np.maximum(np.abs(center), 1e-300)] = 0.0
    if not spread.any():
        raise CorpusError(
            "second is constant: every document has the same numbers, so it says nothing about "
            "topics; use TopicModel, or give other numbers"
        )
    return Numbers(scaled(rows, spread), center, spread)


def scaled(rows: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Centered rows divided by standard deviations. Constant columns become 0."""
    return rows * np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
