"""Tables of n-grams in a model file: the levels of the trie as sparse matrices of p(w | h)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eigentext.parameters import Count, Parameter, is_whole
from eigentext.sequences._trie import Tables, Trie, places_type
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
        arrays[f"level.{k}.indptr"] = trie.first[parents].astype(np.int64) - borders[k + 1]
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
    first, words = [], [np.arange(n, dtype=np.int32)]
    probabilities, borders = [np.asarray(arrays["unigrams"])], [0, n]
    for k in range(about["order"] - 1):
        p, indices, indptr = (arrays[f"level.{k}.{name}"] for name in ("data", "indices", "indptr"))
        rises = np.diff(indices) > 0
        starts = indptr[1:-1]
        rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True  # a new row
        if not rises.all():
            raise damage(f"level.{k}", "has columns that do not rise")
        first.append(np.asarray(indptr, np.int64)[:-1] + borders[-1])
        words.append(np.asarray(indices, np.int32))
        probabilities.append(np.asarray(p))
        borders.append(borders[-1] + len(indices))
    places = np.concatenate([*first, borders[-1:]]).astype(places_type(borders[-1]))
    trie = Trie(places, np.concatenate(words), borders)
    return Tables(trie, np.concatenate(probabilities), np.asarray(arrays["backoffs"]))
