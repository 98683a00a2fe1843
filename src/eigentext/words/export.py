"""Vectors in the formats that other tools open: word2vec text and binary, GloVe text."""

import os
from pathlib import Path
from typing import IO, Literal

import numpy as np

from eigentext.errors import EigentextError, ParameterError
from eigentext.storage.files import replacing

Format = Literal["word2vec", "word2vec-binary", "glove"]
_ROWS = 2048


def write_vectors(
    path: str | os.PathLike[str], words: list[str], vectors: np.ndarray, format: Format
) -> None:
    """Write each word with its vector. If that fails, there is no file."""
    if format not in ("word2vec", "word2vec-binary", "glove"):
        raise ParameterError(f"format must be word2vec, word2vec-binary or glove, not {format!r}")
    for word in words:
        # Readers split at blanks. In the binary format such a word would shift all words after it.
        if not word or any(character.isspace() for character in word):
            raise EigentextError(
                f"the word {word!r} has a blank in it, which {format} files cannot contain; "
                "save the model instead, or choose a tokenizer that makes no such words"
            )
    with replacing(Path(path)) as temporary, temporary.open("wb") as file:
        if format != "glove":
            file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        write = _write_binary if format == "word2vec-binary" else _write_text
        write(file, words, np.asarray(vectors, np.float32))


def _write_binary(file: IO[bytes], words: list[str], vectors: np.ndarray) -> None:
    for word, vector in zip(words, vectors.astype("<f4")):
        file.write(b"%s %s\n" % (word.encode(), vector.tobytes()))


def _write_text(file: IO[bytes], words: list[str], vectors: np.ndarray) -> None:
    # Arrow writes the shortest decimals that give the same float32 back.
    import pyarrow as pa
    import pyarrow.compute as pc

    dimension = vectors.shape[1]
    for start in range(0, len(words), _ROWS):
        block = vectors[start : start + _ROWS]
        numbers = pa.array(np.ascontiguousarray(block).ravel()).cast(pa.large_string())
        offsets = dimension * np.arange(len(block) + 1)
        blank = pa.scalar(" ", pa.large_string())
        rows = pc.binary_join(pa.LargeListArray.from_arrays(offsets, numbers), blank)
        names = pa.array(words[start : start + _ROWS], pa.large_string())
        lines = pc.binary_join_element_wise(names, rows, blank)
        file.write("\n".join([*lines.to_pylist(), ""]).encode())
