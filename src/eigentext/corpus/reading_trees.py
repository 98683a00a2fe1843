"""Files of trees: their format and dialect are recognized or named, and plain trees come out.

Files are decoded, parsed, and converted to the conventions of the Penn treebank:

- brackets, in the dialects of :mod:`eigentext.corpus.dialects`,
- the export format of NEGRA and TIGER (:mod:`eigentext.corpus.negra_export`),
- TIGER-XML (:mod:`eigentext.corpus.tiger_xml`).

Trees of plain Penn brackets are not changed at all. With ``errors="skip"``, a bad tree is left out.
Reading goes on at the next line that begins with a bracket, or where all brackets are closed.
"""

import os
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from eigentext.corpus.bad_items import BadItems, Errors
from eigentext.corpus.dialects import (
    DIALECTS,
    KEEP,
    Changes,
    Dialect,
    DialectWarning,
    Keep,
    converted,
    doubts,
    functions_and_traces,
    look,
    recognized,
    with_functions,
)
from eigentext.corpus.encodings import UTF8, checked_encoding, not_utf8
from eigentext.corpus.graphs import Raised
from eigentext.corpus.negra_export import parse_export
from eigentext.corpus.readers import expand_paths, read_whole
from eigentext.corpus.tiger_xml import parse_tiger_xml
from eigentext.corpus.trees import Source, Tree, collecting_no_garbage, parse_trees
from eigentext.errors import CorpusError, ParameterError

EXPORT, XML, BRACKETS = "export", "tiger-xml", "brackets"
NAMES = ("auto", *DIALECTS, EXPORT, XML)
_LOOK = 1 << 16  # bytes in which the format is recognized
_IS_EXPORT = re.compile(rb"^#(?:BOS|FORMAT|BOT)\b", re.MULTILINE)
_CALLED = {
    EXPORT: "the export format of NEGRA and TIGER",
    XML: "TIGER-XML",
    BRACKETS: "brackets",
}
# Leaves that brackets cannot contain, but that some treebanks have: (X () and (,).
_RAW_BRACKET = re.compile(r"\(([^()\s]+)[ \t]([()])\)", re.ASCII)
_BARE_MARK = re.compile(r"\(([^\w\s()]+)\)")
_NAMED = {"(": "-LRB-", ")": "-RRB-"}
_BRACKET = re.compile(r"[()]")
_BAD_BYTE = re.compile("[\0\udc80-\udcff]")


@dataclass
class TreesRead:
    """What was read, and what was undone.

    Attributes
    ----------
    dialect : str
        The dialects of the files.
    n_trees, n_skipped : int
        Trees that were read, and bad trees that were skipped.
    n_empty : int
        Trees of nothing but code, comments and traces, which are left out.
    n_code, n_lemmas, n_features : int
        Nodes of code that were dropped, lemmas that were dropped, labels without features.
    n_discontinuous, n_raised, n_punctuation : int
        Discontinuous nodes, the parts of them that were attached higher, and punctuation marks that
        were attached lower.
    """

    dialect: str = ""
    n_trees: int = 0
    n_skipped: int = 0
    n_empty: int = 0
    n_code: int = 0
    n_lemmas: int = 0
    n_features: int = 0
    n_discontinuous: int = 0
    n_raised: int = 0
    n_punctuation: int = 0
    starts: list[tuple[int, str]] = field(default_factory=list, repr=False)

    def place(self, number: int) -> str:
        """The file of a tree (from 0), with its number there, for messages."""
        start, source = self._start(number)
        return f"{source}, tree {number - start + 1}"

    def file(self, number: int) -> str:
        """The file of a tree (from 0)."""
        return self._start(number)[1]

    def _start(self, number: int) -> tuple[int, str]:
        return self.starts[bisect_right(self.starts, number, key=lambda start: start[0]) - 1]

    def facts(self, trees: "Trees") -> dict[str, Any]:
        """All figures by name, with the traces and functions that normalization will cut."""
        n_functions, n_traces = functions_and_traces(trees)
        found = asdict(self)
        del found["starts"]
        return {**found, "n_traces": n_traces, "n_functions": n_functions}


class Trees(list[Tree]):
    """A list of trees that knows how it was read: `about` is a :class:`TreesRead`."""

    about: TreesRead

    def __init__(self, trees: Iterable[Tree] = (), about: TreesRead | None = None):
        super().__init__(trees)
        self.about = TreesRead() if about is None else about


def read_trees(
    paths: Source | Iterable[Source],
    *,
    encoding: str = UTF8,
    errors: Errors = "raise",
    dialect: str = "auto",
    keep: Keep = "none",
) -> Trees:
    """All trees of files. Trees in plain Penn brackets are not changed.

    Parameters
    ----------
    paths : str, path, or list of them
        Files or globs, plain or packed (.gz, .bz2, .xz, .zst), each at most 1 GiB.
    encoding : str
        The encoding of the files. TIGER-XML names its own, if this is left at UTF-8.
    errors : "raise" or "skip"
        At a bad tree, raise an error, or skip it. Skipped trees are counted, and a warning names
        the first ones. More than a tenth is an error.
    dialect : str
        "penn": brackets as in the Penn treebank. "ppche": as in the Penn parsed corpora of
        historical English and IcePaHC. "cess": as in CESS-ESP and CESS-CAT. "lemma": leaves are
        ``(tag word lemma)``. "tut": the Turin University treebank. "export": the format of NEGRA
        and TIGER, versions 3 and 4. "tiger-xml". "auto" recognizes them. All come out as in the
        Penn treebank: code is dropped, -NONE- is above traces, functions follow a hyphen, lemmas
        are dropped, and discontinuous nodes are raised (see :mod:`eigentext.corpus.graphs`).
    keep : "none", "features", "functions" or "all"
        What stays in labels. "features": those that the dialect cuts, as in ``grup.nom.ms``.
        "functions": NP-SBJ-1 becomes NP.SBJ, which :func:`normalize_tree` and parsers leave as it
        is.

    Returns
    -------
    list of Tree
        Its attribute `about` says what was read, and what was undone.

    Raises
    ------
    CorpusError
        If a file has no trees, or something that is not a tree, or a tree of more than a million
        levels, or another format than `dialect` says. The message names the file and the line.

    Examples
    --------
    >>> import eigentext as et
    >>> trees = et.read_trees("treebank/combined/*.mrg")  # doctest: +SKIP
    """
    if dialect not in NAMES:
        raise ParameterError(f"dialect must be one of {', '.join(NAMES)}, not {dialect!r}")
    if keep not in KEEP:
        raise ParameterError(f"keep must be one of {', '.join(KEEP)}, not {keep!r}")
    patterns = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    reading = _Reading(dialect, checked_encoding(encoding), BadItems(errors, "trees"))
    for path in expand_paths(patterns):
        reading.add(read_whole(path, reading.encoding), str(path))
    return reading.finished(keep)


class _Reading:
    """The trees of several files, while they are read."""

    def __init__(self, dialect: str, encoding: str, bad: BadItems):
        self.encoding = encoding
        self._dialect, self._bad, self._raised = dialect, bad, Raised()
        self._parts: list[tuple[str, str, list[Tree]]] = []  # file, format and trees

    def add(self, data: bytes, source: str) -> None:
        """Parse a file."""
        found = format_of(data)
        if self._dialect != "auto":
            wanted = self._dialect if self._dialect in (EXPORT, XML) else BRACKETS
            if found != wanted and data.strip():
                raise _other_format(data, source, wanted, found)
        if found == XML:
            is_utf8 = self.encoding != UTF8  # the file was recoded
            trees = parse_tiger_xml(data, source, self._bad, self._raised, is_utf8=is_utf8)
        elif found == EXPORT:
            text = self._decoded(data, source)
            with collecting_no_garbage():
                trees = parse_export(text, source, self._bad, self._raised)
        else:
            text = self._decoded(data, source, skips=self._bad.skips)
            trees = self._brackets(text, source)
        self._parts.append((source, found, trees))

    def finished(self, keep: Keep) -> Trees:
        """All trees, plain; warns of what is doubtful."""
        raw = [tree for _, how, trees in self._parts if how == BRACKETS for tree in trees]
        dialect, has_lemmas, changes = DIALECTS.get(self._dialect), False, Changes()
        if raw:
            evidence = look(raw)
            is_named = dialect is not None
            dialect = dialect or recognized(evidence)
            has_lemmas = dialect.hyphens and evidence.has_lemmas
            for doubt in doubts(evidence, dialect, is_named=is_named):
                source = next(source for source, how, _ in self._parts if how == BRACKETS)
                warnings.warn(f"{source}: {doubt}", DialectWarning, stacklevel=3)
        result = Trees()
        with collecting_no_garbage():
            for source, how, trees in self._parts:
                result.about.starts.append((len(result), source))
                if how == BRACKETS and dialect is not None and dialect != DIALECTS["penn"]:
                    result += _plain(trees, dialect, keep, changes, has_lemmas=has_lemmas)
                else:
                    result += trees
            if keep in ("functions", "all"):
                result[:] = map(with_functions, result)
        self._bad.report(len(result), stacklevel=4)
        if not result:
            raise CorpusError(f"{self._parts[0][0]}: contains no trees with words")
        names = [dialect.name if how == BRACKETS and dialect else how for _, how, _ in self._parts]
        about = {"dialect": ", ".join(dict.fromkeys(names)), "n_trees": len(result)}
        about |= {"n_skipped": self._bad.n_bad, **asdict(changes), **asdict(self._raised)}
        for name, value in about.items():
            setattr(result.about, name, value)
        return result

    def _decoded(self, data: bytes, source: str, *, skips: bool = False) -> str:
        """The text. If bad trees are skipped, bytes that are not text stay in it."""
        wrong = not_utf8(data)
        if wrong is None:
            return data.decode()
        if skips:
            return data.decode(errors="surrogateescape")
        at, reason = wrong
        line = data.count(b"\n", 0, at) + 1
        raise CorpusError(f"{source}, line {line}: {reason}")

    def _brackets(self, text: str, source: str) -> list[Tree]:
        comment = DIALECTS["tut"].comment
        if self._dialect in ("auto", "tut") and text.lstrip().startswith("***") and comment:
            text = comment.sub("", text)
        text = _without_comments(text)
        if self._bad.skips and _BAD_BYTE.search(text):
            return list(_good_trees(text, source, self._bad))
        try:
            return parse_trees(text, source)
        except CorpusError as error:
            named = _with_named_marks(text)
            try:
                if named != text:
                    return parse_trees(named, source)
            except CorpusError:
                pass
            if not self._bad.skips:
                raise error from None
            return list(_good_trees(named, source, self._bad))


def format_of(data: bytes) -> str:
    """The format of a file by its beginning: "export", "tiger-xml" or "brackets"."""
    start = data[:_LOOK].lstrip()
    if start.startswith(b"<"):
        return XML
    return EXPORT if not start.startswith(b"(") and _IS_EXPORT.search(start) else BRACKETS


def _other_format(data: bytes, source: str, wanted: str, found: str) -> CorpusError:
    start = len(data) - len(data.lstrip())
    line = data.count(b"\n", 0, start) + 1
    shown = " ".join(data[start : start + 40].decode(errors="replace").split("\n")[0].split())
    shown = shown.replace("\0", " ")
    dialect = "auto" if found == BRACKETS else found
    is_clear = found != BRACKETS or shown.startswith("(")
    looks = f"it looks like {_CALLED[found]}: " if is_clear else ""
    return CorpusError(
        f"{source}, line {line}: {shown!r} is not {_CALLED[wanted]}; {looks}read it with "
        f"dialect={dialect!r} (--dialect {dialect})"
    )


def _plain(
    trees: list[Tree], dialect: Dialect, keep: Keep, changes: Changes, *, has_lemmas: bool
) -> Iterator[Tree]:
    for tree in trees:
        made = converted(tree, dialect, keep, has_lemmas=has_lemmas, changes=changes)
        if made is not None:
            yield made


def _with_named_marks(text: str) -> str:
    """The text with (X -LRB-) for (X () and with (, ,) for (,)."""
    text = _RAW_BRACKET.sub(lambda match: f"({match[1]} {_NAMED[match[2]]})", text)
    return _BARE_MARK.sub(r"(\1 \1)", text)


def _without_comments(text: str) -> str:
    """The text without comments at starts of lines: /* … */ and /~* … *~/ of CorpusSearch."""
    if not text.lstrip().startswith(("/*", "/~*")):
        return text
    kept: list[str] = []
    at = 0
    while (match := re.compile(r"^[ \t]*/(~?)\*", re.MULTILINE).search(text, at)) is not None:
        end = text.find(f"*{match[1]}/", match.end())
        if end < 0:
            break
        end += 2 + len(match[1])
        kept += text[at : match.start()], "\n" * text.count("\n", match.start(), end)
        at = end
    return "".join((*kept, text[at:]))


# Skipping bad trees.


def _good_trees(text: str, source: str, bad: BadItems) -> Iterator[Tree]:
    """The trees of a text, one by one; those that cannot be read are counted as bad."""
    starts = [0, *(match.start() for match in re.finditer(r"^(?=\()", text, re.MULTILINE))]
    chunks = [text[start:stop] for start, stop in zip(starts, [*starts[1:], len(text)])]
    n_closed = sum(chunk.count("(") == chunk.count(")") for chunk in chunks)
    if n_closed < len(chunks) / 2:  # lines inside of trees begin with brackets too
        chunks = [text]
    line = 1
    for chunk in chunks:
        for piece in _pieces(chunk):
            if piece.strip():
                try:
                    _check_bytes(piece, source, line)
                    yield from parse_trees(piece, source, line)
                except CorpusError as error:
                    if len(chunks) == 1 and piece.count("(") > piece.count(")"):
                        raise  # never closed: the rest of the file would be lost
                    bad.skip(error)
            line += piece.count("\n")


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces: a tree each, what is between two of them, and the rest."""
    depth = begin = 0
    for match in _BRACKET.finditer(text):
        if match[0] == "(":
            if depth == 0:
                yield text[begin : match.start()]
                begin = match.start()
            depth += 1
        elif depth <= 1:
            yield text[begin : match.end()]
            begin, depth = match.end(), 0
        else:
            depth -= 1
    yield text[begin:]


def _check_bytes(text: str, source: str, line: int) -> None:
    if _BAD_BYTE.search(text):
        at, reason = not_utf8(text.encode(errors="surrogateescape")) or (0, "not text")
        raise CorpusError(f"{source}, line {line + text[:at].count(chr(10))}: {reason}")
