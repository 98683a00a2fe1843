"""The forms of a file of n-grams.

- Counts and discounts, packed: the smallest form, to which counts can be added. The probabilities
  are computed when they are needed.
- Probabilities that are read and checked (`_trie_file`), of models without counts.
- Probabilities that are mapped (`_mapped_file`), for services.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.errors import EigentextError
from eigentext.moments import NgramMoments
from eigentext.parameters import Count, Number
from eigentext.sequences import _saved
from eigentext.sequences._mapped_file import mapped_from_saved, mapped_schema, mapped_to_saved
from eigentext.sequences._trie import Tables
from eigentext.sequences._trie_file import tables_from_saved, tables_schema, tables_to_saved
from eigentext.storage.facts import PROVENANCE, TEXTS, facts
from eigentext.storage.schema import Array, Schema, damage

if TYPE_CHECKING:
    from eigentext.sequences.kneser_ney import KneserNey

_DIAGNOSTICS = facts(
    "what was learned",
    needs=("ngrams", "discount_rules"),
    ngrams=_saved.FIGURES,
    discount_rules=TEXTS,
    counts_of_counts=_saved.items("a list of lists of numbers", _saved.are_figures),
    pruned=_saved.FIGURES,
    rare_tokens=Count(0, least=0),
)
_ARPA_DIAGNOSTICS = facts(
    "what was read", needs=("ngrams", "total"), ngrams=_saved.FIGURES, total=Number(1.0)
)


def to_saved(model: "KneserNey", *, mapped: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and the document of a model in its usual form.

    A model of a mapped file is written as one, unless `mapped` is False.
    """
    about, found = _about(model), vars(model)
    if mapped and is_mapped(found.get("_tables")):
        return mapped_of(model, model._tables)
    if "moments_" not in found or any(model.parameters_.prune):
        if model._tables.books is not None:
            raise EigentextError("a quantized model is mapped, there is no other form of it")
        model._tables.check()
        arrays, tables = tables_to_saved(model._tables)
        return {"words": model.vocabulary_.words, **arrays}, about | {"tables": tables}
    parts, moments = model.moments_._to_saved()
    arrays = {f"moments.{name}": part for name, part in parts.items()}
    return {**arrays, "discounts": model.discounts_}, about | {"moments": moments}


def mapped_of(model: "KneserNey", tables: Tables) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and the document of a file that is mapped."""
    arrays, told = mapped_to_saved(tables, model.vocabulary_)
    return arrays, _about(model) | {"mapped": told}


def is_mapped(tables: Tables | None) -> bool:
    """Whether tables come from a file that is mapped."""
    return tables is not None and tables.saved_index is not None


def schema(about: dict[str, Any]) -> Schema:
    """Return what a file must contain, by its form."""
    learned = isinstance(told := about.get("diagnostics"), dict) and "discount_rules" in told
    values = {
        "provenance": PROVENANCE,
        "diagnostics": _DIAGNOSTICS if learned else _ARPA_DIAGNOSTICS,
    }
    if "mapped" in about:
        return mapped_schema(about, values)
    if "tables" in about:
        return tables_schema(about, values)
    return Schema(
        {"discounts": Array("float64", ("order", 3), least=0)},
        {
            "provenance": PROVENANCE,
            "diagnostics": _DIAGNOSTICS,
            "moments": facts("the document of the counts"),
        },
    )


def restore(model: "KneserNey", arrays: Any, about: dict[str, Any]) -> None:
    """Give a new model what a file says that fits the schema."""
    model.provenance_, model.diagnostics_ = about["provenance"], about["diagnostics"]
    if "mapped" in about:
        model._tables, model.vocabulary_ = mapped_from_saved(arrays, about["mapped"])
        return
    if "tables" in about:
        words = arrays["words"]
        model.vocabulary_ = Vocabulary(words, np.zeros(len(words), np.int64))
        model._tables = tables_from_saved(arrays, about["tables"], len(words) + 2)
        return
    start = "moments."
    parts = {n.removeprefix(start): arrays[n] for n in list(arrays) if n.startswith(start)}
    NgramMoments._schema(about["moments"]).check(parts, about["moments"])
    model.moments_ = NgramMoments._from_saved(parts, about["moments"])
    model.vocabulary_ = model.moments_.vocabulary
    model.discounts_ = np.asarray(arrays["discounts"])
    if model.moments_.order != len(model.discounts_):
        raise damage("discounts", f"are not of {model.moments_.order} orders")
    if (model.discounts_ > [1, 2, 3]).any():
        raise damage("discounts", "take away more than was counted")


def _about(model: "KneserNey") -> dict[str, Any]:
    return {
        "parameters": dict(model.parameters_),
        "provenance": model.provenance_,
        "diagnostics": model.diagnostics_,
    }
