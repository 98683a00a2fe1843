r"""Files of grammars of older versions.

Version 1 kept the counts of words, and smoothed them when a word was looked up:

.. math:: \tilde c(x, s) = c(x, s) + \gamma \, p(t_s \mid x) \, p(s \mid t_s)
          + \beta \, p(s \mid \text{class of } x).

Version 2 keeps the first two terms together, and what they are divided by.

Version 3 of latent-variable grammars may keep sparse counts of rules in place of a tensor. A file
of version 2 has a tensor, which is still allowed.
"""

from typing import Any

import numpy as np

from eigentext.grammars.parameters import BINARIZATION
from eigentext.parameters import Number, is_number
from eigentext.storage.schema import Array, Schema, Strings, damage

_LARGEST = 1e30


def grammar_v1(
    arrays: dict[str, Any], about: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the document of version 2."""
    grammar = about.get("grammar")
    if not isinstance(grammar, dict):
        raise damage("grammar", "is missing, or is not a table of values")
    smoothing = grammar.get("smoothing")
    if not isinstance(smoothing, list) or not all(map(is_number, smoothing)) or len(smoothing) != 2:
        raise damage("smoothing", "is missing, or is not a pair of numbers")
    beta, gamma = smoothing
    kinds = {"beta": Number(1.0, least=0, most=_LARGEST), "gamma": Number(3.0, least=0)}
    Schema(about=kinds).check({}, {"beta": beta, "gamma": gamma})
    found = dict(arrays)
    for name in sorted({key.split(".")[0] for key in arrays if key.endswith(".in_tag")}):
        found |= _smoothed(name, arrays, beta, gamma)
        for key in ("tags", "in_tag"):
            del found[f"{name}.{key}"]
    kept = {name: value for name, value in grammar.items() if name != "smoothing"}
    kept["binarization"] = BINARIZATION.defaults | dict(kept.get("binarization", {}))
    return found, about | {"grammar": kept | {"beta": beta}}


def grammar_v2(
    arrays: dict[str, Any], about: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the document of version 3: they are the same."""
    return arrays, about


def _smoothed(name: str, arrays: dict[str, Any], beta: float, gamma: float) -> dict[str, Any]:
    """The smoothed counts of one grammar, and their sums."""
    from scipy.sparse import coo_array, csr_array

    def part(key: str) -> np.ndarray:
        return np.array(arrays[f"{name}.{key}"])

    def number(*shape: str) -> Array:
        return Array("float", shape, least=0, below=_LARGEST)

    parts = {
        "words": Strings("words"),
        "classes": Strings("classes"),
        "word_counts": Array("int", ("words",), least=1),
        "word_classes": Array("int", ("words",), least=0, below="classes"),
        f"{name}.in_tag": number("states"),
        f"{name}.tags": Array("int", ("states",), least=0, below="states"),
        f"{name}.counts": number("entries"),
        f"{name}.states": Array("int", ("entries",), least=0, below="states"),
        f"{name}.offsets": Array("int", ("words+1",), rising_to="entries"),
        f"{name}.in_class": number("classes", "states"),
        f"{name}.unseen": number("classes"),
    }
    sizes = Schema(parts).check(arrays, {})
    n_words, n_states = sizes["words"], sizes["states"]
    tags, states, values = part("tags"), part("states"), part("counts")
    word = np.repeat(np.arange(n_words), np.diff(part("offsets")))
    of_word = np.array(arrays["word_counts"])
    n_tags = int(tags.max(initial=0)) + 1
    share = coo_array((values / of_word[word], (word, tags[states])), (n_words, n_tags))
    in_tag = csr_array((part("in_tag"), (tags, np.arange(n_states))), (n_tags, n_states))
    counts = coo_array((values, (word, states)), (n_words, n_states)).tocsr()
    counts = (counts + gamma * (share.tocsr() @ in_tag)).tocsr()
    counts.sort_indices()
    of_class = np.bincount(np.array(arrays["word_classes"]), minlength=sizes["classes"])
    totals = counts.sum(axis=0) + (beta * of_class + part("unseen")) @ part("in_class")
    return {
        f"{name}.counts": counts.data,
        f"{name}.states": counts.indices,
        f"{name}.offsets": counts.indptr,
        f"{name}.totals": np.where(totals > 0, totals, 1.0),
    }
