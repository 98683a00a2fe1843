"""A model file in parts, which can be changed and written again; and the class of a change."""

import copy
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
KEY = "eigentext"


@dataclass
class ModelFile:
    """The arrays of a file and its document; a table of strings is two arrays."""

    arrays: dict[str, np.ndarray]
    document: Any

    @classmethod
    def read(cls, path: Path) -> "ModelFile":
        """Read a good file."""
        data = path.read_bytes()
        start = 8 + struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:start])
        document = json.loads(header.pop("__metadata__")[KEY])
        arrays = {}
        for name, entry in header.items():
            begin, end = (start + offset for offset in entry["data_offsets"])
            flat = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]])
            arrays[name] = flat.reshape(entry["shape"])
        return cls(arrays, document)

    def copy(self) -> "ModelFile":
        """A copy whose document and arrays may be replaced."""
        return ModelFile(dict(self.arrays), copy.deepcopy(self.document))

    def header(self) -> tuple[dict[str, Any], list[bytes]]:
        """The safetensors header, and the data of each array."""
        names = {dtype: name for name, dtype in ((k, np.dtype(v)) for k, v in DTYPES.items())}
        header: dict[str, Any] = {"__metadata__": {KEY: json.dumps(self.document)}}
        parts, end = [], 0
        for name, array in self.arrays.items():
            parts.append(np.ascontiguousarray(array).tobytes())
            begin, end = end, end + len(parts[-1])
            header[name] = {
                "dtype": names[array.dtype],
                "shape": list(array.shape),
                "data_offsets": [begin, end],
            }
        return header, parts

    def to_bytes(self) -> bytes:
        """The whole file."""
        return packed(*self.header())

    def tables(self) -> list[str]:
        """The names of the tables of strings."""
        names = [name.removesuffix(".utf8") for name in self.arrays if name.endswith(".utf8")]
        return [name for name in names if f"{name}.offsets" in self.arrays]

    def table(self, name: str) -> list[str]:
        """The strings of a table."""
        utf8, offsets = self.arrays[f"{name}.utf8"].tobytes(), self.arrays[f"{name}.offsets"]
        return [utf8[a:b].decode() for a, b in pairwise(offsets)]

    def set_table(self, name: str, strings: list[str]) -> None:
        """Replace the strings of a table."""
        encoded = [text.encode() for text in strings]
        self.arrays[f"{name}.utf8"] = np.frombuffer(b"".join(encoded), np.uint8)
        self.arrays[f"{name}.offsets"] = np.cumsum([0, *map(len, encoded)], dtype=np.int64)


def packed(header: Any, parts: list[bytes]) -> bytes:
    """A safetensors file."""
    raw = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return struct.pack("<Q", len(raw)) + raw + b"".join(parts)


class Mutation(NamedTuple):
    """A change: its target, its description, and the function that makes it."""

    target: str
    change: str
    apply: Callable[
        [ModelFile, np.random.Generator], bytes | None
    ]  # if it returns bytes, they are the whole file

    @property
    def name(self) -> str:
        return f"{self.target}: {self.change}"
