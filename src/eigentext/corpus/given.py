"""What users may give where text is expected: one rule for all estimators and moments.

- A list of strings is always text, whatever the strings look like: ``["n/a"]`` is one document of
  one word, and no file is searched for.
- A list of lists of strings is text that is already split into tokens.
- Paths name files: a :class:`pathlib.Path` (or any other ``os.PathLike``), or a list of them. They
  may be globs.
- A single string, ``fit("corpus.txt")``, names a file, a glob or an address. It is never text. For
  a single text give a list with one string.
- A :class:`TextCorpus` can say everything else: lists of file names, how to split, what a unit is.

A list may also be a tuple, a generator, an array or the column of a table. It is read once.
"""

from os import PathLike
from typing import Any

from eigentext.corpus.items import kind_of_item, listed
from eigentext.corpus.text import TextCorpus
from eigentext.errors import CorpusError

_REMEDY = "give a list of strings (text), of lists of tokens, or of paths (files)"


def as_corpus(given: Any, **reading: Any) -> TextCorpus:
    """The corpus that the given input means, by the rule above.

    Parameters
    ----------
    given : TextCorpus, or what the rule above names
        A corpus is returned unchanged.
    **reading
        Options of :class:`TextCorpus`: how to split text, what a unit is.

    Examples
    --------
    >>> list(as_corpus(["n/a", "*", "README.md"]))
    [['n/a'], ['*'], ['README.md']]
    """
    if isinstance(given, TextCorpus):
        return given
    if isinstance(given, str):
        return _named(given, reading)
    if isinstance(given, PathLike):
        return TextCorpus([given], kind="files", **reading)
    items = listed(given)
    if not items:
        raise CorpusError("the list is empty; give at least one file, string or list of tokens")
    kinds = {kind_of_item(kind) for kind in set(map(type, items))}
    for kind in ("texts", "tokens", "files"):
        if kinds == {kind}:
            return TextCorpus(items, kind=kind, **reading)
    for number, item in enumerate(items, start=1):
        if not kind_of_item(type(item)):
            raise CorpusError(f"item {number} is {item!r:.60}; {_REMEDY}")
    raise CorpusError(f"{_REMEDY}, not a mixture of them")


def _named(name: str, reading: dict[str, Any]) -> TextCorpus:
    try:
        return TextCorpus(name, **reading)
    except CorpusError as error:
        raise CorpusError(
            f"{error} (a single string names a file; give text as a list of strings: [text])"
        ) from error
