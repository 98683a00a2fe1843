"""JSON that every reader can read: Python's own has ``NaN`` and ``Infinity``, and JSON has not.

Everything that eigentext writes as JSON is written here. In what people and programs read, a number
that is not finite is null. A model file must keep it, so it is ``{"$number": "inf"}`` there.
"""

import json
import math
from collections.abc import Callable
from typing import Any

_MARK = "$number"
_NAMES = ("inf", "-inf", "nan")


def json_text(
    value: Any,
    *,
    keep: bool = False,
    refuse: bool = False,
    default: Callable[[Any], Any] | None = None,
    ascii_only: bool = True,
    compact: bool = False,
    indent: int | None = None,
) -> str:
    """Write valid JSON.

    Parameters
    ----------
    value
        What :func:`json.dumps` takes.
    keep
        Whether :func:`json_value` must find numbers that are not finite again. Otherwise they are
        null.
    refuse
        Whether such a number is an error (ValueError) instead.
    default
        Makes plain values of what JSON does not have.
    ascii_only, compact, indent
        Whether to escape other characters, whether to write no blanks, and how to indent lines.

    Examples
    --------
    >>> json_text({"perplexity": float("inf"), "steps": [1, float("nan")]})
    '{"perplexity": null, "steps": [1, null]}'
    >>> json_value(json_text(float("inf"), keep=True))
    inf
    """
    separators = (",", ":") if compact else None

    def dumps(value: Any) -> str:
        return json.dumps(
            value,
            default=default,
            ensure_ascii=ascii_only,
            separators=separators,
            indent=indent,
            allow_nan=False,
        )

    try:
        return dumps(value)
    except ValueError:
        if refuse:
            raise
        return dumps(_without(value, keep, default))


def json_value(text: str) -> Any:
    """Read what :func:`json_text` wrote, with its numbers that are not finite."""
    return json.loads(text, object_hook=_number if _MARK in text else None)


def _without(value: Any, keep: bool, default: Callable[[Any], Any] | None) -> Any:
    """A copy without numbers that are not finite."""
    if isinstance(value, dict):
        return {
            str(key) if isinstance(key, float) else key: _without(one, keep, default)
            for key, one in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_without(one, keep, default) for one in value]
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {_MARK: str(float(value))} if keep else None
    if default is None or value is None or isinstance(value, (str, int)):
        return value
    return _without(default(value), keep, default)


def _number(found: dict[str, Any]) -> Any:
    if len(found) == 1 and found.get(_MARK) in _NAMES:
        return float(found[_MARK])
    return found
