"""Kinds of what a file says of its model besides arrays: how text was read, what the fit found.

Code relies on these too: readers of text on the options, plots and the explorer on diagnostics. In
a :class:`~eigentext.storage.schema.Schema` they are values of the document.

Examples
--------
>>> PROVENANCE.accepts({"n_tokens": 3, "options": {"unit": "line"}, "sources": []})
True
>>> PROVENANCE.accepts({"n_tokens": -1, "options": {}, "sources": []})
False
"""

import math
from typing import Any

from eigentext.parameters import Choice, Count, Flag, Given, Parameter, is_number


def facts(what: str, *, needs: tuple[str, ...] = (), **kinds: Parameter) -> Given:
    """A dictionary with the keys that it `needs`; those of `kinds` that it has are of their kind.

    Other keys may be there; nobody looks at them.
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
TEXT = Given("", what="a string", test=lambda value: isinstance(value, str))
TEXTS = Given([], what="a list of strings", test=_all_of(str))
NUMBERS = Given([], what="a list of finite numbers", test=_are_numbers)
OPTIONS = facts(
    "how text was read: tokenizer, lowercase and unit",
    tokenizer=TEXT,
    lowercase=Flag(False),
    unit=Choice("line", of=("line", "document", "stream")),
)
PROVENANCE = facts(
    "what it was learned from: n_tokens, options and sources",
    needs=("n_tokens", "options"),
    n_tokens=COUNT,
    options=OPTIONS,
    sources=TEXTS,
)
