"""A query by its name -> a status and JSON, whatever happens."""

import json
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from eigentext.errors import EigentextError
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models import Explored

KERNEL = "kernel"  # the one query that needs no model
_BUG = "this is a bug in eigentext; the terminal of `eigentext explore` says more"


def answered(
    models: Sequence[Explored], number: int | None, query: str, arguments: Arguments
) -> tuple[int, bytes]:
    """What a model, or without a number the kernel, answers."""
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
        return 503, refusal("not enough memory for that; ask for less")
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return 500, refusal(_BUG)


def refusal(message: str, **more: Any) -> bytes:
    """The JSON of an error."""
    return to_json({"error": message, **more})


def to_json(value: Any) -> bytes:
    """Compact JSON; halves of surrogate pairs, which words may have, are escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
