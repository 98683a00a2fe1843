"""The schema of files of word vectors, and how to read models inside them."""

from typing import Any

import numpy as np

from eigentext.errors import ModelFileError
from eigentext.parameters import Number
from eigentext.storage import facts
from eigentext.storage.schema import Array, MismatchError, Schema, Strings, damage

# Vectors may take gigabytes, so their values are checked when they are first used.
UNIT_ROWS = Array("float32", ("words", "dimensions"), least=-1.01, below=1.01, lazy=True)
LARGEST = 1e30  # bound of other numbers, so that their sums are finite in single precision
DIAGNOSTICS = facts.facts(
    "what the fit found",
    singular_values=facts.NUMBERS,
    dropped_singular_values=facts.NUMBERS,
    n_words=facts.COUNT,
    rare_tokens=facts.COUNT,
    pairs=facts.COUNT,
    words_without_context=facts.COUNT,
    spelling_half_count=Number(0.0, least=0, most=LARGEST),
    spelling_slope=Number(0.0, least=0, most=LARGEST),
)


def words_schema(arrays: dict[str, Array], *, has_spectrum: bool = True) -> Schema:
    """A schema of words with their counts, vectors of some `dimensions`, and their origin."""
    spectrum = {"singular_values": Array("float", ("dimensions",), least=0)}
    return Schema(
        {
            # Not checked for repeats: that would take longest, and repeats do no harm here.
            "words": Strings("words"),
            "word_counts": Array("int", ("words",), least=0, below=2**53),
            **arrays,
            **(spectrum if has_spectrum else {}),
        },
        {"provenance": facts.PROVENANCE, "diagnostics": DIAGNOSTICS},
    )


def check_values(name: str, declared: Array, array: np.ndarray) -> None:
    """Raise a ModelFileError that names the file unless the values are as declared."""
    try:
        declared.check_values(array, {})
    except MismatchError as error:
        file = getattr(array, "filename", None)
        where = f"{file}: " if file else ""
        raise ModelFileError(f"{where}{damage(name, str(error))}") from error


def part_of(cls: Any, name: str, arrays: dict[str, Any], about: dict[str, Any]) -> Any:
    """A model inside the file of another. Its arrays begin with its name and a dot."""
    prefix = f"{name}."
    parts = {n.removeprefix(prefix): part for n, part in arrays.items() if n.startswith(prefix)}
    inner = about[name]
    if not isinstance(inner, dict):
        raise damage(name, "is no document")
    cls._schema(inner).check(parts, inner)
    return cls._from_saved(parts, inner)
