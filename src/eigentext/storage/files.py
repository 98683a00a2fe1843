"""One file for one saved object: a safetensors file with a JSON document in its metadata.

The document has the name and version of the format (``eigentext.words.v1``), the version of the
library that wrote it, and facts about the model. A list of strings becomes two arrays, UTF-8 bytes
and offsets. Any safetensors reader can open the file. Reading it here maps the arrays into memory
and runs no code from the file.
"""

import contextlib
import json
import math
import os
import struct
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

import eigentext
from eigentext.errors import EigentextError, ModelFileError
from eigentext.storage.maps import forget
from eigentext.storage.valid_json import json_text, json_value

Arrays = dict[str, "np.ndarray | list[str]"]
MODEL_FILE = "model.safetensors"  # in the folder of a model with its card
_KEY = "eigentext"
_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
_ORDER = ["BOOL", "U8", "I8", "I16", "U16", "F16", "I32", "U32", "F32", "F64", "I64", "U64"]
_CHUNK = 1 << 20  # items per write
_MAX_HEADER = 100 << 20  # the limit of the safetensors format
# The errors that JSON of an unexpected shape raises.
_MALFORMED = (LookupError, TypeError, ValueError, OverflowError, RecursionError)


def write_saved(path: str | os.PathLike[str], form: str, arrays: Arrays, about: dict) -> None:
    """Write `arrays` and the JSON document `about` as a file of the format `form`."""
    path = Path(path)
    flat: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if isinstance(array, list):
            flat[f"{name}.utf8"], flat[f"{name}.offsets"] = _pack(array)
        else:
            flat[name] = np.asarray(array, order="C")
            if flat[name].dtype.newbyteorder("=") not in _DTYPES.values():
                raise TypeError(f"{name}: files cannot hold arrays of {flat[name].dtype}")
    document = {"format": form, "eigentext": eigentext.__version__, **about}
    with replacing(path) as temporary, temporary.open("wb") as file:
        text = json_text(document, keep=True, default=_plain)
        _write_safetensors(file, flat, {_KEY: text})


def _write_safetensors(file: Any, arrays: dict[str, np.ndarray], metadata: dict) -> None:
    """Equivalent to ``safetensors.numpy.save_file``, byte for byte, without a copy of the data."""
    # The order of the safetensors library, which aligns every array.
    names = sorted(arrays, key=lambda name: (-_ORDER.index(_type_name(arrays[name])), name))
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name in names:
        array, begin = arrays[name], end
        end += array.nbytes
        header[name] = {
            "dtype": _type_name(array),
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    raw = json_text(header, ascii_only=False, compact=True).encode()
    raw += b" " * (-len(raw) % 8)
    file.write(struct.pack("<Q", len(raw)) + raw)
    for name in names:
        flat = arrays[name].reshape(-1)
        for start in range(0, len(flat), _CHUNK):
            part = flat[start : start + _CHUNK]
            file.write(part.astype(part.dtype.newbyteorder("<"), copy=False).data)
            forget(part)


def _type_name(array: np.ndarray) -> str:
    kind = array.dtype.newbyteorder("=")
    return next(name for name, dtype in _DTYPES.items() if dtype == kind)


def read_saved(path: str | os.PathLike[str]) -> tuple[Arrays, dict[str, Any]]:
    """The arrays (mapped, not read) and the JSON document of a file of `write_saved`.

    The path may be a folder of ``et.hub.save``, with the file in it.
    """
    path = _in_folder(Path(path))
    header, start = _header(path)
    try:
        document = json_value(header.pop("__metadata__")[_KEY])
        document["format"]
    except _MALFORMED as error:
        raise _foreign(path) from error
    try:
        arrays: Arrays = {name: _mapped(path, start, entry) for name, entry in header.items()}
        for name in [name.removesuffix(".utf8") for name in header if name.endswith(".utf8")]:
            arrays[name] = _unpack(arrays.pop(f"{name}.utf8"), arrays.pop(f"{name}.offsets"))
    except (*_MALFORMED, OSError) as error:
        raise _damaged(path) from error
    return arrays, document


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error if the path cannot be written, before hours of work instead of after."""
    try:
        with replacing(Path(path)) as temporary:
            temporary.touch()
            raise _OnlyTrying
    except _OnlyTrying:
        pass


@contextlib.contextmanager
def replacing(path: Path):
    """Yield a temporary path beside `path`. On success it replaces `path` in one step."""
    # os.path, because pathlib raises an error for folders that may not be searched.
    if os.path.isdir(path):  # noqa: PTH112
        raise EigentextError(f"{path}: is a folder; name a file in it, such as {path}/model")
    if os.path.islink(path):  # noqa: PTH114
        path = path.resolve()  # a link stays a link, to the new file
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        raise EigentextError(f"{path}: is a device or a pipe; name an ordinary file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise EigentextError(
            f"{path}: cannot be written ({error.strerror or error}); "
            "choose another place with -o, or check the folder's permissions and free space"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


class _OnlyTrying(Exception):  # noqa: N818 - not an error: it undoes the attempt
    pass


def _plain(value: Any) -> Any:
    """A NumPy number as a Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"files cannot hold {value!r}")


def _in_folder(path: Path) -> Path:
    """The file of a model, also if its folder was given."""
    if not os.path.isdir(path):  # noqa: PTH112 - pathlib raises an error for closed folders
        return path
    if not os.path.isfile(path / MODEL_FILE):  # noqa: PTH113
        raise ModelFileError(
            f"{path}: is a folder without {MODEL_FILE}; name the file of the model, or a folder "
            "of et.hub.save"
        )
    return path / MODEL_FILE


def _foreign(path: Path) -> ModelFileError:
    return ModelFileError(f"{path}: not an eigentext file; give a file of `save` or `fit -o`")


def _damaged(path: Path) -> ModelFileError:
    return ModelFileError(f"{path}: damaged or incomplete; copy it again or fit the model again")


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """The safetensors header and the start of the data; checks that the file is complete."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(8)
            length = struct.unpack("<Q", first)[0] if len(first) == 8 else _MAX_HEADER + 1
            raw = file.read(length) if length <= _MAX_HEADER else b""
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error})") from error
    if length > _MAX_HEADER or not raw.startswith(b"{"):
        raise _foreign(path)
    try:
        if len(raw) < length:
            raise ValueError("header")
        header = json.loads(raw)
        ends = [int(e["data_offsets"][1]) for n, e in header.items() if n != "__metadata__"]
        if size != 8 + length + max(ends, default=0):
            raise ValueError("data")
    except _MALFORMED as error:
        raise _damaged(path) from error
    return header, 8 + length


def _mapped(path: Path, start: int, entry: dict[str, Any]) -> np.ndarray:
    begin, end = map(index, entry["data_offsets"])
    shape, dtype = tuple(map(index, entry["shape"])), np.dtype(_DTYPES[entry["dtype"]])
    if min(begin, *shape, 0) < 0 or end - begin != dtype.itemsize * math.prod(shape):
        raise ValueError("shape and size disagree")
    if begin == end:  # an empty range cannot be mapped
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, "r", start + begin, shape)


def _pack(strings: list[str]) -> tuple[np.ndarray, np.ndarray]:
    encoded = [string.encode("utf-8") for string in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(string) for string in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def _unpack(utf8: Any, offsets: Any) -> list[str]:
    import pyarrow as pa

    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise ValueError("offsets")
    buffers = pa.py_buffer(np.asarray(offsets)), pa.py_buffer(np.asarray(utf8))
    strings = pa.LargeStringArray.from_buffers(len(offsets) - 1, *buffers)
    strings.validate(full=True)  # an ArrowInvalid is a ValueError
    return strings.to_pylist()
