"""Kinds of values in the document of a file: how text was read, and what the fit found.

Code uses these values too: readers of text use the options, plots and the explorer use the
diagnostics. A :class:`~eigentext.storage.schema.Schema` lists them as values of the document.

Examples
--------
>>> PROVENANCE.accepts({"n_tokens": 3, "options": {"unit": "line"}, "sources": []})
True
>>> PROVENANCE.accepts({"n_tokens": -1, "options": {}, "sources": []})
False
"""

import math
from typing import Any

from eigentext.parameters import Choice, Count, Flag, Given, Number, Parameter, is_number


def facts(what: str, *, needs: tuple[str, ...] = (), **kinds: Parameter) -> Given:
    """A dictionary that has all keys of `needs`, and whose values fit their `kinds`.

    Other keys are allowed and ignored.
    """

    def test(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value for name in needs)
            and all(kind.accepts(value[name]) for name, kind in kinds.items() if name in value)
        )

    return Given({}, what=what, test=test)


def _all_of(kind: type) -> Any:
    return lambda value: isinstance(value, list) and all(isinstance(one, kind) for one in value)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(is_number(x) and math.isfinite(x) for x in value)


COUNT = Count(0, least=0, most=2**63 - 1)
SHARE = Number(0.0, least=0, most=1)
TEXT = Given("", what="a string", test=lambda value: isinstance(value, str))
TEXTS = Given([], what="a list of strings", test=_all_of(str))
NUMBERS = Given([], what="a list of finite numbers", test=_are_numbers)
OPTIONS = facts(
    "the way text was read: tokenizer, lowercase and unit",
    tokenizer=TEXT,
    lowercase=Flag(False),
    unit=Choice("line", of=("line", "document", "stream")),
)
PROVENANCE = facts(
    "the origin of the counts: n_tokens, options and sources",
    needs=("n_tokens", "options"),
    n_tokens=COUNT,
    options=OPTIONS,
    sources=TEXTS,
    imported=TEXT,  # where vectors come from that were not learned here
)
