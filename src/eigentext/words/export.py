"""Vectors in the formats that other tools open: word2vec, GloVe, and tables.

A table (Parquet, Arrow, CSV, TSV or JSON lines) has the columns ``word``, ``count`` and ``vector``.
"""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext.corpus import Vocabulary
from eigentext.corpus.compressed import compressed
from eigentext.corpus.table_output import (
    TABLE_FORMATS,
    TableFormat,
    format_for,
    vectors_array,
    write_table,
)
from eigentext.errors import EigentextError, ParameterError
from eigentext.storage.files import replacing

VectorFormat = Literal["word2vec", "word2vec-binary", "glove"]
Format = Literal["word2vec", "word2vec-binary", "glove", "csv", "tsv", "jsonl", "parquet", "arrow"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS = {
    ".txt": ("word2vec", "glove"),
    ".vec": ("word2vec", "glove"),
    ".bin": ("word2vec-binary",),
}
_ROWS = 2048


def vector_format(path: str | os.PathLike[str], given: str | None = None) -> Format:
    """The format of a file of vectors, by its name if it is not given; else "word2vec".

    Examples
    --------
    >>> vector_format("vectors.parquet"), vector_format("vectors.bin"), vector_format("vectors")
    ('parquet', 'word2vec-binary', 'word2vec')
    """
    if given is not None and given not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, not {given!r}")
    found: Any = format_for(path, given, default="word2vec", endings=ENDINGS)
    return found


def vector_table(vocabulary: Vocabulary, vectors: np.ndarray) -> pa.Table:
    """A row for each word: the word, how often it was in the text, and its vector."""
    return pa.table(
        {
            "word": pa.array(vocabulary.words, pa.string()),
            "count": pa.array(np.asarray(vocabulary.counts)),
            "vector": vectors_array(np.asarray(vectors, np.float32)),
        }
    )


def cluster_table(vocabulary: Vocabulary, labels: np.ndarray, bits: list[str]) -> pa.Table:
    """A row for each word: the word, its count, its cluster, and its bit string."""
    return pa.table(
        {
            "word": pa.array(vocabulary.words, pa.string()),
            "count": pa.array(np.asarray(vocabulary.counts)),
            "cluster": pa.array(np.asarray(labels)),
            "bits": pa.array(bits, pa.string()),
        }
    )


def neighbor_table(found: Mapping[str, list[tuple[str, float]]]) -> pa.Table:
    """A row for each neighbor of each word that was asked for: word, neighbor, cosine."""
    rows = [(word, other, cosine) for word, near in found.items() for other, cosine in near]
    words, others, cosines = zip(*rows) if rows else ((), (), ())
    return pa.table(
        {
            "word": pa.array(words, pa.string()),
            "neighbor": pa.array(others, pa.string()),
            "cosine": pa.array(cosines, pa.float64()),
        }
    )


def without_zeros(vocabulary: Vocabulary, vectors: np.ndarray) -> tuple[Vocabulary, np.ndarray]:
    """The words that have a direction; a warning counts those whose vectors are zero."""
    has_vector = np.any(vectors, axis=1)
    n_zero = len(has_vector) - int(np.count_nonzero(has_vector))
    if not n_zero:
        return vocabulary, vectors
    warnings.warn(
        f"{n_zero} of {len(vectors)} words are not written: their vectors are zero, because they "
        "were always alone in their units; to write them, give zero_vectors='keep' "
        "(--zero-vectors keep)",
        stacklevel=3,
    )
    places = np.flatnonzero(has_vector)
    words = [vocabulary.words[place] for place in places.tolist()]
    return Vocabulary(words, np.asarray(vocabulary.counts)[places]), vectors[places]


def write_vectors(
    path: str | os.PathLike[str], vocabulary: Vocabulary, vectors: np.ndarray, format: Format
) -> None:
    """Write each word with its vector. If that fails, there is no file."""
    if format in TABLE_FORMATS:
        kind: TableFormat = format
        write_table(path, vector_table(vocabulary, vectors), kind)
        return
    words = vocabulary.words
    for word in words:
        # Readers split at blanks. In the binary format such a word would shift all words after it.
        if not word or any(character.isspace() for character in word):
            raise EigentextError(
                f"the word {word!r} has a blank in it, which {format} files cannot contain; write "
                "a table instead (--format parquet), or choose a tokenizer that makes no such words"
            )
    path = Path(path)
    with replacing(path) as temporary, compressed(temporary, path) as file:
        if format != "glove":
            file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        write = _write_binary if format == "word2vec-binary" else _write_text
        write(file, words, np.asarray(vectors, np.float32))


def _write_binary(file: IO[bytes], words: list[str], vectors: np.ndarray) -> None:
    for word, vector in zip(words, vectors.astype("<f4")):
        file.write(b"%s %s\n" % (word.encode(), vector.tobytes()))


def _write_text(file: IO[bytes], words: list[str], vectors: np.ndarray) -> None:
    # Arrow writes the shortest decimals that give the same float32 back.
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
