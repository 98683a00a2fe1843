"""The export format of NEGRA, TIGER and TüBa: one line for each word and each node.

A sentence stands between ``#BOS 1 …`` and ``#EOS 1``. Words come first, then nodes from #500 on. In
version 3, the columns are word, tag, morphology, function and parent. Version 4 has the lemma
after the word. The parent 0 is the root. More columns (secondary edges) and comments after ``%%``
are passed over, and so are the tables before the first sentence (``#BOT … #EOT``).
"""

import re
from collections.abc import Iterator
from typing import Any

from eigentext.corpus.bad_items import BadItems
from eigentext.corpus.graphs import Phrase, Raised, Word, tree_of
from eigentext.corpus.trees import Tree
from eigentext.errors import CorpusError

_BLANKS = re.compile(r"[ \t]+")
_NODE = re.compile(r"#([1-9][0-9]{2,8})")
_NUMBER = re.compile(r"[0-9]{1,9}")
_FIRST_NODE = 500
_BEGIN = re.compile(r"#BOS(?=[ \t]|$)")
_END = re.compile(r"#EOS(?=[ \t]|$)")
_REMEDY = "write word, tag, morphology, function and parent, with tabs"


def parse_export(text: str, source: str, bad: BadItems, counts: Raised) -> list[Tree]:
    """The trees of a text in the export format; `source` names it in error messages."""
    trees: list[Tree] = []
    version = _version(text)
    for place, lines in _sentences(text, source, bad):
        try:
            trees.append(_tree(lines, version, place, source, counts))
        except CorpusError as error:
            bad.skip(error)
    return trees


def _version(text: str) -> int:
    """3 or 4, as the file says; 0 if it does not."""
    match = re.search(r"^#FORMAT[ \t]+([0-9]+)", text, re.MULTILINE)
    return int(match[1]) if match and match[1] in ("3", "4") else 0


def _sentences(
    text: str, source: str, bad: BadItems
) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """The lines of each sentence with their numbers, and the place of the sentence."""
    lines: list[tuple[int, str]] | None = None
    place = ""
    for number, line in enumerate(text.split("\n"), 1):
        if _BEGIN.match(line):
            if lines is not None:
                bad.skip(CorpusError(f"{place}: the sentence has no #EOS; add it"))
            lines, place = [], f"{source}, line {number}"
        elif _END.match(line):
            if lines is None:
                bad.skip(CorpusError(f"{source}, line {number}: #EOS without #BOS; add #BOS"))
            else:
                yield place, lines
            lines = None
        elif lines is not None and not line.startswith("%%") and line.strip(" \t\r"):
            lines.append((number, line))
    if lines is not None:
        bad.skip(CorpusError(f"{place}: the sentence has no #EOS; is the file complete?"))


def _tree(
    lines: list[tuple[int, str]], version: int, place: str, source: str, counts: Raised
) -> Tree:
    words: list[Word] = []
    phrases: dict[Any, Phrase] = {}
    for number, line in lines:
        here = f"{source}, line {number}"
        name, tag, function, parent = _columns(line, version, here)
        node = _NODE.fullmatch(name)
        if node and int(node[1]) >= _FIRST_NODE:
            if int(node[1]) in phrases:
                raise CorpusError(f"{here}: a second node {name}; give it another number")
            phrases[int(node[1])] = Phrase(tag, parent or None, function)
        else:
            words.append(Word(name, tag, parent or None, function))
    return tree_of(words, phrases, place, counts)


def _columns(line: str, version: int, place: str) -> tuple[str, str, str, int]:
    """Word or node, tag or label, function, and parent."""
    columns = _BLANKS.split(line.strip(" \t\r"))
    for at, column in enumerate(columns[1:], 1):
        if column.startswith("%%"):
            del columns[at:]
            break
    if not version:
        version = 3 if len(columns) > 4 and _NUMBER.fullmatch(columns[4]) else 4
    if version == 4 and len(columns) > 1:
        del columns[1]  # the lemma
    if len(columns) < 5 or not _NUMBER.fullmatch(columns[4]):
        shown = " ".join(columns)[:40]
        raise CorpusError(f"{place}: {shown!r} is no line of the export format; {_REMEDY}")
    return columns[0], columns[1], columns[3], int(columns[4])
