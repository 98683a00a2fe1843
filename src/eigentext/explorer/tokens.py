"""Splits typed text like the text that topics or a language model were learned from."""

from typing import Any


def as_learned(text: str, options: dict[str, Any]) -> list[str]:
    """Return the tokens of a text, split as the `options` of a fit say, or else at blanks."""
    from eigentext.corpus.tokenizers import NAMED, UNIT_END, lowered, tokenize

    name, lowercase = options.get("tokenizer"), bool(options.get("lowercase"))
    if name in NAMED:
        found = tokenize(text.encode(), name, lowercase=lowercase, lines_are_units=False)
        return [token for token in found.to_pylist() if token != UNIT_END]
    return (lowered(text) if lowercase else text).split()
