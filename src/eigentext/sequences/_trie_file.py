"""Tables of n-grams in a model file: the levels of the trie as sparse matrices of p(w | h)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.parameters import Count, Parameter, is_whole
from eigentext.sequences._trie import Tables, Trie
from eigentext.storage.facts import facts
from eigentext.storage.schema import Array, Schema, Strings, csr, damage

LONGEST = 100  # the most symbols of an n-gram in a file
_ABOUT = facts("the order of the n-grams", needs=("order",), order=Count(1, most=LONGEST))


def tables_to_saved(tables: Tables) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays, and what the document says about them."""
    trie, borders = tables.trie, tables.trie.borders
    arrays = {"unigrams": tables.probabilities[: borders[1]], "backoffs": tables.backoffs}
    for k in range(trie.order - 1):
        nodes, parents = slice(*borders[k + 1 : k + 3]), slice(borders[k], borders[k + 1] + 1)
        arrays[f"level.{k}.indptr"] = trie.first[parents] - borders[k + 1]
        arrays[f"level.{k}.indices"] = trie.words[nodes]
        arrays[f"level.{k}.data"] = tables.probabilities[nodes]
    return arrays, {"order": trie.order}


def tables_schema(about: Mapping[str, Any], values: Mapping[str, Parameter]) -> Schema:
    """Return the schema of the words and tables; `values` are further ones of the document."""
    told = about["tables"]
    order: Any = told.get("order") if isinstance(told, dict) else None
    n_levels = order - 1 if is_whole(order) and 1 <= order <= LONGEST else 0
    arrays: dict[str, Array | Strings] = {
        "words": Strings("words", unique=True),
        "unigrams": Array("float64", ("words+2",), least=0, below=1.001),
    }
    parents = "words+2"
    contexts = "0+0"
    for k in range(n_levels):
        arrays |= csr(f"level.{k}", parents, "words+2", "float64", least=0, below=1.001)
        contexts += f"+{parents}"
        parents = f"level.{k}.entries"
    arrays["backoffs"] = Array("float64", (contexts,), least=0)
    return Schema(arrays, {**values, "tables": _ABOUT})


def tables_from_saved(arrays: Mapping[str, Any], about: Mapping[str, Any], n: int) -> Tables:
    """Return the tables of arrays that fit the schema; raise ModelFileError if they are no trie."""
    levels, n_rows = [], n
    for k in range(about["order"] - 1):
        parts = [np.asarray(arrays[f"level.{k}.{name}"]) for name in ("data", "indices", "indptr")]
        parts[1] = parts[1].astype(np.int32, copy=False)
        indices, indptr = parts[1], parts[2]
        rises = np.diff(indices) > 0
        borders = indptr[1:-1]
        rises[borders[(borders > 0) & (borders < len(indices))] - 1] = True  # a new row
        if not rises.all():
            raise damage(f"level.{k}", "has columns that do not rise")
        levels.append(sp.csr_array(tuple(parts), shape=(n_rows, n)))
        n_rows = len(indices)
    p = np.concatenate([np.asarray(arrays["unigrams"]), *(level.data for level in levels)])
    return Tables(Trie.of(n, levels), p, np.asarray(arrays["backoffs"]))
