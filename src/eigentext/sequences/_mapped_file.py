"""Tables of n-grams in a file that is used as it is: arrays of the trie, mapped and never read.

Opening such a file takes a few milliseconds, and processes that open the same file share its
memory. Kinds and shapes of the arrays are checked at once. Their values are checked where they are
used (`_trie`, `_scoring_loops`), because reading them all would take the time that mapping saves.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.mapped_vocabulary import ABOUT as NAMES_ABOUT
from eigentext.corpus.mapped_vocabulary import ARRAYS as NAMES
from eigentext.corpus.mapped_vocabulary import MappedVocabulary, vocabulary_to_saved
from eigentext.errors import EigentextError
from eigentext.parameters import Count, Given, Parameter, is_whole
from eigentext.sequences._trie import MOST_PROBES, Books, Index, Tables, Trie
from eigentext.sequences._trie_file import LONGEST
from eigentext.storage.facts import facts
from eigentext.storage.schema import Array, Schema, Strings, damage

_BORDERS = Given(
    [],
    what="the numbers of n-grams up to each order",
    test=lambda found: (
        isinstance(found, list)
        and 2 <= len(found) <= LONGEST + 1
        and all(map(is_whole, found))
        and found[0] == 0
        and all(0 <= a <= b < 1 << 32 for a, b in pairwise(found))
    ),
)
_ABOUT = facts(
    "how n-grams are found",
    needs=("borders", "bits", "probes", "names"),
    borders=_BORDERS,
    bits=Count(0, least=0, most=31),
    probes=Count(0, least=0, most=MOST_PROBES),
    names=NAMES_ABOUT,
    quantize=Count(None, least=1, most=16),
)


def mapped_to_saved(
    tables: Tables, vocabulary: Vocabulary
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays, and what the document says about them."""
    trie, index, books = tables.trie, tables.index, tables.books
    if trie.borders[-1] >= 1 << 32:
        raise EigentextError(
            f"the model has {trie.borders[-1]:,} n-grams, and a file that is mapped has at most "
            f"{1 << 32:,}; prune the model, or save it without mapped"
        )
    names, about = vocabulary_to_saved(vocabulary)
    arrays: dict[str, Any] = {
        "first": trie.first,
        "symbols": trie.words,
        "slots": index.slots,
        "p": tables.probabilities,
        "b": tables.backoffs,
    }
    told: dict[str, Any] = {"borders": trie.borders, "bits": index.bits, "probes": index.probes}
    if books is not None:
        arrays |= {"unigrams": books.unigrams, "weights": books.weights}
        arrays |= {"p_book": books.p, "b_book": books.b}
        told["quantize"] = books.p.shape[1].bit_length() - 1
    return {**arrays, **names}, told | {"names": about}


def mapped_schema(about: Mapping[str, Any], values: Mapping[str, Parameter]) -> Schema:
    """Return the schema of the words and tables; `values` are further ones of the document."""
    told = about["mapped"]
    if not _ABOUT.accepts(told):
        return Schema({}, {"mapped": _ABOUT})
    borders, bits = told["borders"], told.get("quantize")
    sizes = {"nodes": borders[-1], "contexts": borders[-2], "n": borders[1]}
    sizes["order"] = len(borders) - 1
    arrays: dict[str, Array | Strings] = {
        **NAMES,
        "first": Array("uint32", ("contexts+1",), lazy=True),
        "symbols": Array("int32", ("nodes",), lazy=True),
        "slots": Array("uint32", ("slots",), lazy=True),
    }
    if bits is None:
        arrays["p"] = Array("float64", ("nodes",), lazy=True)
        arrays["b"] = Array("float64", ("contexts",), lazy=True)
    else:
        kind = "uint8" if bits <= 8 else "uint16"
        sizes |= {"codes": borders[-1] - borders[1], "width": 1 << bits}
        sizes["weights"] = max(borders[-2] - borders[1], 0)
        arrays["p"] = Array(kind, ("codes",), lazy=True)
        arrays["b"] = Array(kind, ("weights",), lazy=True)
        arrays["unigrams"] = Array("float64", ("n",), lazy=True)
        arrays["weights"] = Array("float64", ("n",), lazy=True)
        for name in ("p_book", "b_book"):
            arrays[name] = Array("float64", ("order", "width"), lazy=True)
    return Schema(arrays, {**values, "mapped": _ABOUT}, sizes)


def mapped_from_saved(
    arrays: Mapping[str, Any], about: Mapping[str, Any]
) -> tuple[Tables, Vocabulary]:
    """Return the tables and the words of arrays that fit the schema."""
    vocabulary = MappedVocabulary.of(arrays, about["names"])
    borders, slots = about["borders"], arrays["slots"]
    if borders[1] != len(vocabulary) + 2:
        raise damage("mapped", f"is not about {len(vocabulary)} words")
    if len(slots) & (len(slots) - 1) or (len(slots) and not about["bits"]):
        raise damage("slots", "has a length that is no power of two")
    books = None
    if about.get("quantize") is not None:
        parts = (arrays[name] for name in ("unigrams", "weights", "p_book", "b_book"))
        books = Books(*map(np.asarray, parts))
    trie = Trie(np.asarray(arrays["first"]), np.asarray(arrays["symbols"]), borders)
    index = Index(np.asarray(slots), about["bits"], about["probes"])
    p, b = np.asarray(arrays["p"]), np.asarray(arrays["b"])
    return Tables(trie, p, b, books, index), vocabulary
