"""What may be given where text is wanted: one rule, for every estimator and for moments.

- A list of strings is text, always, whatever the strings look like: ``["n/a"]`` is a document of
  one word, and no file is looked for.
- A list of lists of strings is text that is already split into tokens.
- Files are named by paths: a :class:`pathlib.Path` (or anything else that is ``os.PathLike``), or a
  list of them. They may be globs.
- One string by itself, ``fit("corpus.txt")``, names a file, a glob or an address, and is never
  text; for one text give a list of one.
- A :class:`TextCorpus` says everything else: lists of names, how to split, what a unit is.

A list may be a tuple, a generator, an array or the column of a table. It is gone through once.
"""

from os import PathLike
from typing import Any

from eigentext.corpus.text import TextCorpus, kind_of_item, listed
from eigentext.errors import CorpusError

_REMEDY = "give a list of strings (text), of lists of tokens, or of paths (files)"


def as_corpus(given: Any, **reading: Any) -> TextCorpus:
    """What an estimator was given, as a corpus, by the rule above.

    Parameters
    ----------
    given : TextCorpus, or what the rule above names
        A corpus stays as it is.
    **reading
        How to split text, and what a unit is: see :class:`TextCorpus`.

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
        raise CorpusError("an empty list: give at least one file, string or list of tokens")
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
            f"{error} (one string names a file; give a text as a list of strings: [text])"
        ) from error
