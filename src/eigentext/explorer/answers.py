"""Answers a query, given by its name, with a status and JSON. Errors are answers, too."""

import sys
import traceback
from collections.abc import Sequence

from eigentext.errors import EigentextError
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models import Explored
from eigentext.storage.valid_json import json_text

KERNEL = "kernel"  # the only query that needs no model
_BUG = "this is a bug in eigentext; the terminal of `eigentext explore` says more"


def answered(
    models: Sequence[Explored], number: int | None, query: str, arguments: Arguments
) -> tuple[int, bytes]:
    """Return the answer of a model or, without a number, of the tree kernel."""
    try:
        if number is None:
            from eigentext.explorer.fragments import compare

            return 200, to_json(compare(arguments))
        return 200, to_json(models[number].ask(query, arguments))
    except RefusedError as error:
        return error.status, refusal(str(error), **error.more)
    except EigentextError as error:
        return 400, refusal(str(error))
    except MemoryError:
        return 503, refusal("there is not enough memory for this query; ask for less")
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return 500, refusal(_BUG)


def refusal(message: str, **more: object) -> bytes:
    """Return the JSON of an error."""
    return to_json({"error": message, **more})


def to_json(value: object) -> bytes:
    """Return compact JSON. Halves of surrogate pairs, which words may contain, are escaped.

    Where an answer may have no number, it is None. Any other number that is not finite is a bug,
    which the page must not draw: it raises ValueError.
    """
    text = json_text(value, refuse=True, ascii_only=False, compact=True)
    return text.encode("utf-8", "backslashreplace")
