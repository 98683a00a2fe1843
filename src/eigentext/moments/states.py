"""Counts in a checkpoint: a fit that was killed does not count the same text again."""

import hashlib
import math
from typing import Any

import numpy as np

from eigentext.matrices.runs import CSR, csr
from eigentext.storage import Checkpoint, checkpoint

SHARD = 1 << 24  # tokens to count between two saved states


class KeptCounts:
    """The matrices of one count in the current checkpoint; without one, nothing is saved.

    Parameters
    ----------
    key : dict
        What is counted and how. Counts that were saved with another key are not used.
    lookup : array
        The row of each word, which is part of the key.
    """

    def __init__(self, key: dict[str, Any], lookup: np.ndarray):
        self._point: Checkpoint | None = checkpoint()
        self._step = self._point.name("count") if self._point else ""
        words = hashlib.sha256(np.ascontiguousarray(lookup).tobytes()).hexdigest()
        self._key = {**key, "words": words}

    @property
    def in_use(self) -> bool:
        """Whether there is a checkpoint."""
        return self._point is not None

    def read(self, part: str, keep: float = math.inf) -> tuple[list[CSR], dict[str, Any]] | None:
        """The matrices of a part and the facts saved with them; maps if they exceed `keep`."""
        found = self._point.read(f"{self._step}.{part}") if self._point else None
        if found is None or found[1].get("key") != self._key:
            return None
        arrays, about = found
        matrices = []
        for number, shape in enumerate(about["shapes"]):
            data, indices, indptr = (arrays[f"{name}-{number}"] for name in _PARTS)
            if data.nbytes + indices.nbytes <= keep:  # type: ignore[union-attr]
                data, indices = np.array(data), np.array(indices)
            keep -= data.nbytes + indices.nbytes  # type: ignore[union-attr]
            matrices.append(csr(data, indices, np.array(indptr), tuple(shape)))  # type: ignore[arg-type]
        return matrices, about

    def write(self, part: str, matrices: list[CSR], **about: Any) -> None:
        """Save the matrices of a part."""
        if self._point:
            arrays: dict[str, Any] = {
                f"{name}-{number}": getattr(matrix, name)
                for number, matrix in enumerate(matrices)
                for name in _PARTS
            }
            shapes = [list(matrix.shape) for matrix in matrices]
            about |= {"key": self._key, "shapes": shapes}
            self._point.write(f"{self._step}.{part}", arrays, about)

    def drop(self, part: str) -> None:
        """Delete a part, because a saved sum contains it."""
        if self._point:
            self._point.drop(f"{self._step}.{part}")


_PARTS = ("data", "indices", "indptr")
