"""Arrow's arrays from Python's and NumPy's, and back, by their buffers.

Arrow's own conversions (``pa.array``, ``to_numpy``) load pandas where it is installed: 30 MB and a
sixth of a second, for nothing.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa


def string_array(strings: Iterable[str]) -> pa.LargeStringArray:
    """Equivalent to ``pa.array(strings, pa.large_string())``, for valid Unicode."""
    strings = list(strings)
    text = "".join(strings)
    data = text.encode()
    ends = np.zeros(len(strings) + 1, np.int64)
    sizes = strings if len(data) == len(text) else map(str.encode, strings)
    ends[1:] = np.fromiter(map(len, sizes), np.int64, len(strings))
    np.cumsum(ends, out=ends)
    return pa.LargeStringArray.from_buffers(len(strings), pa.py_buffer(ends), pa.py_buffer(data))


def integer_array(numbers: np.ndarray) -> pa.Int64Array:
    """Equivalent to ``pa.array(numbers, pa.int64())``."""
    data = pa.py_buffer(np.ascontiguousarray(numbers, np.int64))
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, data])


def integers_of(column: pa.Array | pa.ChunkedArray, dtype: type) -> np.ndarray:
    """Equivalent to ``column.to_numpy()``, for integers of this type without nulls."""
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.empty(0, dtype), *(integers_of(c, dtype) for c in column.chunks)])
    data = column.buffers()[1]
    if data is None:
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype)[column.offset : column.offset + len(column)]
