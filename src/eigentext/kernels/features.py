r"""Representations :math:`\Phi` as one sparse matrix.

A representation is any function from a structure to its features. Features are a dictionary of
names and values, a pair of arrays (places and values), or a vector. The features of many structures
are the rows of one CSR matrix. Its columns are in the order in which the names are first seen.
:meth:`FeatureMatrix.within` brings the matrix of other structures to the same columns, and drops
features that have no column there.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.errors import ParameterError
from eigentext.kernels.kernel import Encoded, Indices

CSR = Any  # scipy.sparse ships no types
_KINDS = {"names": "a dictionary", "places": "a pair of places and values", "vector": "a vector"}
_REMEDY = (
    "features are a dictionary {name: number}, a pair (places, values) of arrays or a vector of "
    "numbers; phi is a function from a structure to them"
)


class FeatureMatrix(Encoded):
    """The features of some structures, one row for each.

    Attributes
    ----------
    matrix : float64 CSR array, shape (n_structures, n_features)
        Rows are sorted by column and contain no zeros.
    columns : dict
        The column of each feature, by its name, or by its place if features are places or vectors.
    kind : "names", "places", "vector" or None
        How the features were given; None if there were no structures.

    Examples
    --------
    >>> features = FeatureMatrix.of([{"the": 2, "dog": 1}, {"dog": 1, "barks": 1}])
    >>> list(features.columns)
    ['the', 'dog', 'barks']
    >>> features.matrix.toarray()
    array([[2., 1., 0.],
           [0., 1., 1.]])
    >>> FeatureMatrix.of([{"a": 1, "dog": 3}]).within(features).matrix.toarray()
    array([[0., 3., 0.]])
    """

    def __init__(self, matrix: CSR, columns: dict[Any, int], kind: str | None):
        self.matrix, self.columns, self.kind = matrix, columns, kind

    @classmethod
    def of(
        cls, representations: Iterable[Any], name: Callable[[int], str] = "structure {}".format
    ) -> "FeatureMatrix":
        """Make the matrix of some features. `name` names the structure with a number in errors."""
        places, values, ends = array("q"), array("d"), array("q", [0])
        columns: Any = defaultdict()
        columns.default_factory = columns.__len__
        kind = width = None
        for number, row in enumerate(representations):
            found = _kind(row, name, number)
            kind = kind or found
            if found != kind:
                raise ParameterError(
                    f"{name(number)} has {_KINDS[found]} for features where those before it have "
                    f"{_KINDS[kind]}; give one kind for all"
                )
            if kind == "names":
                places.extend(map(columns.__getitem__, row))
                _extend(values, row, name, number)
            else:
                split = _split_pair if kind == "places" else _split_vector
                at, value, length = split(row, name, number)
                width = length if width is None else width
                if length != width:
                    raise ParameterError(
                        f"{name(number)} has a vector of length {length} where those before it "
                        f"have {width}; give vectors of one length, or dictionaries"
                    )
                places.frombytes(at.tobytes())
                values.frombytes(value.tobytes())
            ends.append(len(places))
        columns.default_factory = None
        column, data, indptr = np.array(places, np.int64), np.array(values), np.array(ends)
        if not np.isfinite(data).all():
            wrong = int(np.flatnonzero(~np.isfinite(data))[0])
            number = int(np.searchsorted(indptr, wrong, side="right")) - 1
            feature = list(columns)[column[wrong]] if columns else int(column[wrong])
            raise ParameterError(
                f"feature {feature!r} of {name(number)} is {data[wrong]}; give finite numbers"
            )
        if kind == "vector":
            columns = {place: place for place in range(width or 0)}
        elif kind == "places":  # these may be hashes, so that only those seen get a column
            distinct, column = np.unique(column, return_inverse=True)
            columns = {place: at for at, place in enumerate(distinct.tolist())}
        matrix = _csr(data, column, indptr, len(columns))
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return cls(matrix, columns, kind)

    def __len__(self) -> int:
        return self.matrix.shape[0]

    def __getitem__(self, indices: Indices) -> "FeatureMatrix":
        if not isinstance(indices, slice):
            indices = np.asarray(indices)
            indices = indices if indices.dtype == bool else indices.astype(np.int64)
        some = FeatureMatrix(self.matrix[indices], self.columns, self.kind)
        some.coding = self.coding
        return some

    @cached_property
    def identity(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A number for each structure, the same for structures with equal features."""
        numbers: dict[bytes, int] = {}
        ends, columns, values = self.matrix.indptr, self.matrix.indices, self.matrix.data
        rows = zip(ends[:-1].tolist(), ends[1:].tolist())
        keys = (columns[i:j].tobytes() + values[i:j].tobytes() for i, j in rows)
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)

    def within(self, other: "FeatureMatrix") -> "FeatureMatrix":
        """Return these rows with the columns of `other`, without features unknown there."""
        if self.columns is other.columns:
            return self
        if self.kind != other.kind and self.kind and other.kind:
            raise ParameterError(
                f"one set has {_KINDS[self.kind]} for features, the other {_KINDS[other.kind]}; "
                "give one kind for both"
            )
        if self.kind == other.kind == "vector" and len(self.columns) != len(other.columns):
            raise ParameterError(
                f"vectors of length {len(self.columns)} meet others of length {len(other.columns)};"
                " give vectors of one length, or dictionaries"
            )
        known = np.array([other.columns.get(name, -1) for name in self.columns], np.int64)
        columns = known[self.matrix.indices]
        kept = columns >= 0
        ends = np.append(0, np.cumsum(kept))[self.matrix.indptr]
        matrix = _csr(self.matrix.data[kept], columns[kept], ends, len(other.columns))
        matrix.sort_indices()
        return FeatureMatrix(matrix, other.columns, other.kind)


def _csr(data: np.ndarray, columns: np.ndarray, ends: np.ndarray, width: int) -> CSR:
    small = sp.get_index_dtype(maxval=max(len(data), width))
    shape = (len(ends) - 1, width)
    return sp.csr_array((data, columns.astype(small), ends.astype(small)), shape=shape)


def _kind(row: Any, name: Callable[[int], str], number: int) -> str:
    if isinstance(row, Mapping):
        return "names"
    if isinstance(row, tuple) and len(row) == 2 and all(map(_is_array, row)):
        return "places"
    if _is_array(row):
        return "vector"
    raise ParameterError(f"the features of {name(number)} cannot be {row!r:.60}; {_REMEDY}")


def _is_array(thing: object) -> bool:
    return isinstance(thing, (list, tuple)) or hasattr(thing, "__array__")


def _extend(values: array, row: Mapping[Any, Any], name: Callable[[int], str], number: int) -> None:
    try:
        values.extend(row.values())
    except (TypeError, ValueError, OverflowError):
        for feature, value in row.items():
            try:
                array("d", [value])
            except (TypeError, ValueError, OverflowError) as error:
                raise ParameterError(
                    f"feature {feature!r} of {name(number)} is {value!r:.60}; give finite numbers"
                ) from error


def _split_pair(row: tuple, name: Callable[[int], str], number: int) -> tuple[Any, Any, None]:
    places, values = _numbers(row[0], name, number), _numbers(row[1], name, number)
    if len(places) != len(values):
        raise ParameterError(
            f"{name(number)} has {len(places)} places of features but {len(values)} values; "
            "give one value for each place"
        )
    if len(places) and places.dtype.kind not in "iu":
        raise ParameterError(
            f"the places of {name(number)} are {places.dtype}, not integers; {_REMEDY}"
        )
    if len(places) and places.min() < 0:
        raise ParameterError(f"{name(number)} has the place {places.min()}; places begin at 0")
    return places.astype(np.int64), values.astype(np.float64), None


def _split_vector(row: Any, name: Callable[[int], str], number: int) -> tuple[Any, Any, int]:
    vector = _numbers(row, name, number).astype(np.float64)
    places = np.flatnonzero(vector)
    return places, vector[places], len(vector)


def _numbers(row: Any, name: Callable[[int], str], number: int) -> np.ndarray:
    try:
        numbers = np.asarray(row)
    except ValueError:  # lists of unequal lengths
        numbers = np.array(None)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biuf":
        raise ParameterError(f"the features of {name(number)} cannot be {row!r:.60}; {_REMEDY}")
    return numbers
