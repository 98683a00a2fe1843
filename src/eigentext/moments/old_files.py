"""Files of co-occurrence counts of older versions."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.moments.packing import pack
from eigentext.moments.pair_checks import checked_counts
from eigentext.moments.pairs import pair_shape
from eigentext.parameters import Choice, Count, Flag
from eigentext.storage.schema import Array, Schema, Strings

_SHAPE = {
    "window": Count(1, most=1_000_000),
    "context": Choice("bag", of=("bag", "list")),
    "whole": Flag(True),
}


def cooccurrence_v1(
    arrays: dict[str, Any], about: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Version 1 had the counts as three arrays. Version 2 packs them, and knows thresholds."""
    Schema({"words": Strings("words")}, _SHAPE).check(arrays, about)
    n = len(arrays["words"]) + (not about["whole"])
    rows, columns = pair_shape(n, about["window"], about["context"])
    parts = {
        "indptr": Array("int", (rows + 1,), rising_to="entries"),
        "indices": Array("int", ("entries",), least=0, below=columns),
        "data": Array("int", ("entries",), least=1, below=2**62),
    }
    sizes = {"entries": len(arrays["data"]) if "data" in arrays else 0}
    Schema(parts, sizes=sizes).check(arrays, about)
    found = [np.array(arrays[name], np.int64) for name in ("data", "indices", "indptr")]
    counts = sp.csr_array(tuple(found), shape=(rows, columns))
    packed, blocks = pack(checked_counts(counts, (rows, columns)))
    kept = {name: part for name, part in arrays.items() if name not in parts}
    return kept | {"packed": packed, "blocks": blocks}, {"min_pairs": 0} | about
