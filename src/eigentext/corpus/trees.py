"""Trees in Penn brackets: read, written, and made plain as parsers learn and are scored on them.

A tree is a label over children, which are trees or words; a label over one word is a preterminal,
its label a part of speech. Files hold them as ``(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))``,
several on a line or one over many; the Penn treebank's roots have an empty label, ``( (S ...))``.

Nothing here recurses, so that a tree may be as deep as memory lasts: it is walked from the top with
a list of what is still to come, and built from below by walking that order backwards.
"""

import bz2
import contextlib
import gc
import gzip
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from operator import attrgetter, is_
from pathlib import Path
from typing import Any, Union

from eigentext.corpus.readers import compression, expand_paths, read_whole
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.storage.files import replacing

Source = str | os.PathLike[str]
Node = Union["Tree", str]
TRACE = "-NONE-"  # the part of speech of what is not said
ROOTS = frozenset(("", "TOP", "ROOT", "S1"))  # what treebanks and parsers put above a sentence
# An opening bracket with its label, and with the one word of a preterminal; or what else there is.
# Blanks are ASCII's: others, such as the no-break spaces of French numbers, belong to words.
_TOKEN = re.compile(r"\(\s*([^()\s]*)(?:\s+([^()\s]+)\s*\))?|([^()\s]+|\))", re.ASCII)
_UNWRITABLE = re.compile(r"[\s\0\ud800-\udfff]", re.ASCII)
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
_DEEPEST = 1_000_000  # levels
_EXAMPLE = "(S (NP (NNS cats)) (VP (VBP sleep)))"


class Tree:
    """A label over children, which are trees or words.

    Trees are values: equal if labels, shape and words are, usable in sets, and not to be changed.
    ``str(tree)`` is one line of Penn brackets, which :meth:`parse` reads back exactly, but for
    round brackets in words and labels, which become ``-LRB-`` and ``-RRB-`` as in the Penn
    treebank, and for words that are empty or hold blanks, which brackets cannot express (and
    :func:`write_trees` refuses).

    Parameters
    ----------
    label : str
        A constituent, or a part of speech.
    children : sequence of Tree or str
        Trees and words, from left to right.

    Examples
    --------
    >>> from eigentext import Tree
    >>> tree = Tree("NP", [Tree("DT", ["the"]), Tree("NN", ["cat"])])
    >>> print(tree)
    (NP (DT the) (NN cat))
    >>> tree == Tree.parse("(NP (DT the) (NN cat))")
    True
    >>> tree.tags()
    [('the', 'DT'), ('cat', 'NN')]
    """

    __slots__ = ("children", "label")

    def __init__(self, label: str, children: Iterable[Node]):
        if isinstance(children, str):
            raise ParameterError(f"children of {label!r} are a string; give a list: [{children!r}]")
        self.label = label
        self.children = tuple(children)

    @classmethod
    def parse(cls, text: str) -> "Tree":
        """The one tree that a string of brackets holds."""
        trees = parse_trees(text, _shortened(text))
        if len(trees) != 1:
            raise CorpusError(f"{_shortened(text)}: {len(trees)} trees; give a string for each")
        return trees[0]

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a part of speech over its word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    def subtrees(self) -> Iterator["Tree"]:
        """The tree itself and all trees below it, parents first, from left to right."""
        return (node for node in walk(self) if not isinstance(node, str))

    def leaves(self) -> list[str]:
        """The words."""
        return [node for node in walk(self) if isinstance(node, str)]

    def tags(self) -> list[tuple[str, str]]:
        """Each word with the label above it: its part of speech."""
        found: list[tuple[str, str]] = []
        stack: list[tuple[Node, str]] = [(self, "")]
        while stack:
            node, above = stack.pop()
            if isinstance(node, str):
                found.append((node, above))
            else:
                stack.extend((child, node.label) for child in reversed(node.children))
        return found

    def to_nltk(self) -> Any:
        """The same as an ``nltk.Tree``, if NLTK is installed."""
        try:
            from nltk import Tree as NltkTree
        except ImportError as error:
            raise EigentextError("to_nltk needs NLTK; run pip install nltk") from error

        return _build(self, lambda node, children: NltkTree(node.label, children))

    def _repr_svg_(self) -> str:
        """The tree as notebooks draw it; ``Path("tree.svg").write_text(tree._repr_svg_())``."""
        from eigentext.corpus.drawing import tree_svg

        return tree_svg(self)

    def _repr_html_(self) -> str:
        """The same inside the page, which notebooks prefer: only there it has the page's colour."""
        return f'<div style="overflow-x: auto">{self._repr_svg_()}</div>'

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Node] = [self]  # words and what closes are strings, ready to print
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                parts.append(node)
                continue
            parts.append(f" ({without_brackets(node.label)}")
            stack.append(")")
            for child in reversed(node.children):
                is_word = isinstance(child, str)
                stack.append(f" {without_brackets(child)}" if is_word else child)
        return "".join(parts)[1:]

    def __repr__(self) -> str:
        return f"Tree.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or self._outline() == other._outline()

    def __hash__(self) -> int:
        return hash(tuple(self._outline()))

    # Pickled and copied flat: Python would recurse, and fail from some hundred levels on.

    def __reduce__(self) -> tuple[Any, ...]:
        from eigentext.corpus.packing import pack, unpack

        return unpack, (pack(self),)

    def __copy__(self) -> "Tree":
        return Tree(self.label, self.children)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tree":
        memo[id(self)] = copied = _build(self, lambda node, children: Tree(node.label, children))
        return copied

    def _outline(self) -> list[Any]:
        """Words, and labels with their numbers of children, top down: no other tree has these."""
        return [
            node if isinstance(node, str) else (node.label, len(node.children))
            for node in walk(self)
        ]


def as_tree(tree: Any) -> Tree:
    """A `Tree` from one, from a string of brackets, or from anything shaped like an ``nltk.Tree``.

    Examples
    --------
    >>> as_tree("(NP (DT the) (NN cat))").leaves()
    ['the', 'cat']
    """
    if isinstance(tree, Tree):
        return tree
    if isinstance(tree, str):
        return Tree.parse(tree)
    return _build(tree, lambda node, children: Tree(str(node.label()), children), _children)


def read_trees(paths: Source | Iterable[Source]) -> list[Tree]:
    """All trees of files in Penn brackets, as they are there.

    Parameters
    ----------
    paths : str, path, or list of them
        Files or globs, plain or packed (.gz, .bz2, .xz, .zst), in UTF-8, of 1 GiB each at most.

    Raises
    ------
    CorpusError
        If a file has no trees, or something that is none, or one of more than a million levels; the
        message names the file and the line.

    Examples
    --------
    >>> import eigentext as et
    >>> trees = et.read_trees("treebank/combined/*.mrg")  # doctest: +SKIP
    """
    patterns = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    trees: list[Tree] = []
    for path in expand_paths(patterns):
        trees += parse_trees(_decoded(read_whole(path), str(path)), str(path))
    return trees


def write_trees(trees: Iterable[Any], path: Source) -> None:
    """Write one tree a line; the ending of the name (.gz, .bz2, .xz, .zst) says how to pack them.

    :func:`read_trees` gives the same trees back, with round brackets in words and labels as
    ``-LRB-`` and ``-RRB-``. What brackets cannot express is refused: words that are empty or hold
    blanks, labels that hold blanks or are empty before a word, and nodes without children. A file
    that stood there before is replaced when all is written.
    """
    lines: list[str] = []
    for number, tree in enumerate(map(as_tree, trees), start=1):
        for node in walk(tree):
            _check_writable(node, number)
        lines.append(f"{tree}\n")
    data = packed("".join(lines).encode(), compression(Path(path)))
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data)


def normalize_tree(
    tree: Any,
    *,
    strip_functions: bool = True,
    drop_traces: bool = True,
    collapse_repeats: bool = True,
    strip_root: bool = True,
) -> Tree:
    """The tree as it is learned and scored: labels alone, words alone, no wrapper.

    Parameters
    ----------
    tree : Tree, nltk.Tree or str
        See :func:`as_tree`. It stays as it is.
    strip_functions : bool
        Cut labels before the first ``-`` or ``=``: NP-SBJ-1 and NP=2 become NP. Labels that begin
        with one, such as -LRB- and -NONE-, stay.
    drop_traces : bool
        Take out words tagged -NONE-, and then nodes without words.
    collapse_repeats : bool
        Make one node of X over nothing but X.
    strip_root : bool
        Take off a root labelled TOP, ROOT, S1 or nothing, if it has but one child.

    Raises
    ------
    CorpusError
        If no words are left.

    Examples
    --------
    >>> from eigentext import normalize_tree
    >>> print(normalize_tree("( (S (NP-SBJ-1 (NNS cats)) (VP (VBP sleep) (NP (-NONE- *T*-1)))))"))
    (S (NP (NNS cats)) (VP (VBP sleep)))
    """

    def make(node: Tree, children: list[Node | None]) -> Tree | None:
        kept = [child for child in children if child is not None]
        if drop_traces:
            if node.label == TRACE:
                kept = [child for child in kept if not isinstance(child, str)]
            if not kept:
                return None
        label = without_functions(node.label) if strip_functions else node.label
        if collapse_repeats and len(kept) == 1:
            child = kept[0]
            if isinstance(child, Tree) and child.label == label:
                return child
        is_same = label == node.label and len(kept) == len(node.children)
        if is_same and all(map(is_, kept, node.children)):
            return node  # trees do not change: two may share it
        return Tree(label, kept)

    tree = as_tree(tree)
    made = _build(tree, make)
    if made is None:
        raise CorpusError(f"{_shortened(str(tree))} has no words; leave such trees out")
    while strip_root and made.label in ROOTS and len(made.children) == 1:
        child = made.children[0]
        if isinstance(child, str):
            break
        made = child
    return made


# Walking and building.


def walk(tree: Any, children_of: Callable[[Any], Any] = attrgetter("children")) -> list[Any]:
    """All nodes and words, parents first, from left to right."""
    order: list[Any] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        if not isinstance(node, str):
            stack.extend(reversed(children_of(node)))
    return order


def _build(
    tree: Any,
    make: Callable[[Any, list[Any]], Any],
    children_of: Callable[[Any], Any] = attrgetter("children"),
) -> Any:
    """What `make` makes of the tree, given each node and what it made of the node's children."""
    made: list[Any] = []  # of nodes whose parents are still to come, the first child last
    for node in reversed(walk(tree, children_of)):
        if isinstance(node, str):
            made.append(node)
            continue
        border = len(made) - len(children_of(node))
        children = made[border:][::-1]
        del made[border:]
        made.append(make(node, children))
    return made[0]


def _children(node: Any) -> list[Any]:
    if not callable(getattr(node, "label", None)) or not isinstance(node, Iterable):
        raise ParameterError(
            f"{str(node)[:40]!r} of type {type(node).__name__} is neither a tree nor a word; "
            "give a Tree, an nltk.Tree with words as its leaves, or a string of brackets"
        )
    return list(node)


def without_brackets(word: str) -> str:
    """The word with round brackets as the Penn treebank writes them: -LRB- and -RRB-."""
    return word.translate(_BRACKETS)


@lru_cache(maxsize=1 << 12)
def without_functions(label: str) -> str:
    """The label up to its first ``-`` or ``=``, unless it begins with one: NP for NP-SBJ-1."""
    return label if label[:1] in ("-", "=") else re.split("[-=]", label, maxsplit=1)[0]


# Reading.


def parse_trees(text: str, source: str) -> list[Tree]:
    """The trees of a text in brackets; `source` names it in error messages."""
    trees: list[Tree] = []
    children: list[Any] = trees  # of the innermost open bracket
    above: list[tuple[int, str, list[Any]]] = []  # where each began, its label, and its siblings
    intern = sys.intern
    with collecting_no_garbage():
        for match in _TOKEN.finditer(text):
            label, word, other = match.groups()
            if word:
                children.append(Tree(intern(label), (intern(word),)))
            elif not other:
                if len(above) >= _DEEPEST:
                    raise CorpusError(
                        f"{_place(source, text, above[0][0])}: brackets more than {_DEEPEST} deep; "
                        "put the missing ')' where they belong"
                    )
                above.append((match.start(), intern(label), children))
                children = []
            elif not above:
                raise _outside(other, _place(source, text, match.start()))
            elif other == ")":
                start, label, siblings = above.pop()
                if not children:
                    shown = _shortened(text[start : min(match.end(), start + 80)])
                    raise CorpusError(
                        f"{_place(source, text, start)}: {shown} has neither words nor trees; "
                        "fill it or take it out"
                    )
                siblings.append(Tree(label, children))
                children = siblings
            else:
                children.append(intern(other))
    if above:
        start = above[0][0]
        shown = _shortened(text[start : start + 80])
        raise CorpusError(
            f"{_place(source, text, start)}: the tree {shown} is never closed; "
            "put the missing ')' at its end"
        )
    if not trees:
        raise CorpusError(f"{source}: no trees in it; give some, as in {_EXAMPLE}")
    return trees


def _outside(token: str, place: str) -> CorpusError:
    if token == ")":
        reason = "')' closes nothing; take it out, or put the missing '(' before it"
    else:
        reason = f"{_shortened(token)} stands outside of brackets; give trees, as in {_EXAMPLE}"
    return CorpusError(f"{place}: {reason}")


def _place(source: str, text: str, at: int) -> str:
    return f"{source}, line {1 + text.count(chr(10), 0, at)}"


def _shortened(text: str) -> str:
    text = " ".join(text[:80].split())
    return repr(text if len(text) <= 40 else f"{text[:40]} ...")


@contextlib.contextmanager
def collecting_no_garbage() -> Iterator[None]:
    """Python's search for cycles would take longer than the reading; trees have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _decoded(data: bytes, source: str) -> str:
    at, reason = data.find(b"\0"), "a NUL byte: a binary or UTF-16 file?"
    try:
        if at < 0:
            return data.decode()
    except UnicodeDecodeError as error:
        at, reason = error.start, f"byte 0x{data[error.start]:02x} is not UTF-8"
    line = data.count(b"\n", 0, at) + 1
    raise CorpusError(
        f"{source}, line {line}: {reason}; give trees, converted to UTF-8 (iconv -t UTF-8)"
    )


# Writing.


def _check_writable(node: Node, number: int) -> None:
    if isinstance(node, str):
        what, name, may_be_empty = "word", node, False
    elif not node.children:
        raise CorpusError(f"tree {number}: {node.label!r} has no children; normalize_tree drops it")
    else:
        what, name, may_be_empty = "label", node.label, not isinstance(node.children[0], str)
    if not (name or may_be_empty) or _UNWRITABLE.search(name):
        raise CorpusError(
            f"tree {number}: the {what} {name[:40]!r} is empty or has blanks or bytes that no text "
            "has, so it could not be read back; write something else, as in New_York"
        )


def packed(data: bytes, how: str) -> bytes:
    """The bytes, compressed in a way named as by `compression`."""
    if how == "zst":
        import pyarrow as pa

        return pa.compress(data, codec="zstd", asbytes=True)
    # No time of writing in it: the same trees are the same bytes.
    pack = {"gz": partial(gzip.compress, mtime=0), "bz2": bz2.compress, "xz": lzma.compress}
    return pack[how](data) if how else data
