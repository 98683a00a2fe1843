"""The items that are given where text is expected: texts, files or lists of tokens."""

import os
import re
from collections.abc import Iterable, Mapping, Set
from typing import Any, Literal

from eigentext.corpus.readers import expand_paths
from eigentext.corpus.tables import column_needed, is_column, is_table, texts_of
from eigentext.errors import CorpusError

Kind = Literal["files", "texts", "tokens"]
KINDS = ("files", "texts", "tokens")
_LOOKS_LIKE_PATH = re.compile(r"\S*(/\S*|\.[A-Za-z0-9]{1,5})")


def listed(given: Any) -> list[Any]:
    """The items of a list, tuple, generator, array or column of a table. Reads them once."""
    given = without_columns(given)
    if hasattr(given, "tolist"):  # arrays become built-in types
        given = given.tolist()
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        return list(given)
    return [given]


def without_columns(given: Any) -> Any:
    """The texts of a column of a table as a list. Other input stays as it is; a table is an error.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_columns(pa.array(["the cat", "the dog"]))
    ['the cat', 'the dog']
    """
    if is_table(given):
        raise column_needed(given)
    return texts_of(given) if is_column(given) else given


def kind_of_item(kind: type) -> Kind | Literal[""]:
    """What items of a type are: "texts", "files", "tokens", or "" for none of them.

    The argument is a type, because a million items have only a few types.
    """
    if issubclass(kind, str):
        return "texts"
    if hasattr(kind, "__fspath__"):
        return "files"
    ordered = issubclass(kind, Iterable) and not issubclass(kind, (bytes, bytearray, Mapping, Set))
    return "tokens" if ordered else ""


def items_of(paths: Any, kind: Kind | None) -> list[Any]:
    """The given items as a list of one kind (of any kind, if `kind` is None)."""
    if isinstance(paths, str) and kind is None and not _may_name_file(paths):
        raise CorpusError(f"{paths[:40]!r}… is not a file name; give text as a list of strings")
    items = listed(paths)
    if not items:
        raise CorpusError("the list is empty; give at least one file, string or list of tokens")
    right = {"files": ("files", "texts"), None: ("files", "texts", "tokens")}.get(kind, (kind,))
    wrong = tuple(each for each in set(map(type, items)) if kind_of_item(each) not in right)
    if wrong:
        number, item = next((n, i) for n, i in enumerate(items, start=1) if type(i) in wrong)
        raise CorpusError(
            f"item {number} is {item!r:.60}; give {kind or 'files, texts or token lists'}"
        )
    return items


def kind_of(items: list[Any]) -> Kind:
    """What the items are, by the rule of `TextCorpus`."""
    kinds = {kind_of_item(each) for each in set(map(type, items))}
    if kinds == {"tokens"}:
        return "tokens"
    if "tokens" in kinds:
        raise CorpusError("give files, strings or lists of tokens, not a mixture of them")
    if "files" in kinds:
        return "files"
    text = next((item for item in items if not _names_file(item)), None)
    if text is None:
        try:
            expand_paths(items)
        except CorpusError as error:
            raise CorpusError(f"{error}, or use kind='texts' if it is text") from error
        return "files"
    if any(map(_is_file, items)):
        raise CorpusError(
            f"{text[:60]!r} is not the name of a file, but other items are; "
            "use kind='files' or kind='texts' to say which is meant"
        )
    return "texts"


def _names_file(text: str) -> bool:
    if not _may_name_file(text):
        return False
    if _LOOKS_LIKE_PATH.fullmatch(text) or _is_file(text):
        return True
    try:
        return bool(expand_paths([text]))
    except CorpusError:
        return False


def _is_file(text: str) -> bool:
    # Called for each of a million texts: os.path is ten times as fast as pathlib and never raises.
    return _may_name_file(text) and os.path.isfile(text)  # noqa: PTH113


def _may_name_file(text: str) -> bool:
    return len(text) <= 4096 and "\n" not in text and "\0" not in text
