"""Trees in Penn brackets: how they are parsed, written, and normalized for parsers.

A tree is a label over children, which are trees or words. A label over one word is a preterminal,
and the label is a part of speech. Files contain ``(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))``,
with several trees on a line or one tree over many lines. Roots in the Penn treebank have an empty
label: ``( (S ...))``.

Nothing here recurses, so the memory alone limits the depth of a tree. Trees are walked from the top
with a stack, and built from below in the reverse order.
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
from typing import TYPE_CHECKING, Any, Union

from eigentext.corpus.readers import compression
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.storage.files import replacing

if TYPE_CHECKING:
    from eigentext.corpus.reading_trees import read_trees as read_trees

Source = str | os.PathLike[str]
Node = Union["Tree", str]
TRACE = "-NONE-"  # the part of speech of empty elements
ROOTS = frozenset(("", "TOP", "ROOT", "S1"))  # labels above a sentence
# An opening bracket with its label, and with the word of a preterminal; or another token. Only
# ASCII blanks separate tokens. Others, such as the no-break spaces of French numbers, are parts of
# words.
_TOKEN = re.compile(r"\(\s*([^()\s]*)(?:\s+([^()\s]+)\s*\))?|([^()\s]+|\))", re.ASCII)
_UNWRITABLE = re.compile(r"[\s\0\ud800-\udfff]", re.ASCII)
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
_DEEPEST = 1_000_000  # levels
_EXAMPLE = "(S (NP (NNS cats)) (VP (VBP sleep)))"


class Tree:
    """A label over children, which are trees or words.

    Trees are values: they are equal if labels, shape and words are equal, they can be in sets, and
    they do not change. ``str(tree)`` is one line of Penn brackets, which :meth:`parse` reads back.
    Two things change: round brackets in words and labels become ``-LRB-`` and ``-RRB-``, as in the
    Penn treebank, and words that are empty or contain blanks cannot be expressed
    (:func:`write_trees` refuses them).

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
            raise ParameterError(
                f"the children of {label!r} are a string; give a list: [{children!r}]"
            )
        self.label = label
        self.children = tuple(children)

    @classmethod
    def parse(cls, text: str) -> "Tree":
        """The tree of a string of brackets."""
        trees = parse_trees(text, _shortened(text))
        if len(trees) != 1:
            raise CorpusError(
                f"{_shortened(text)}: contains {len(trees)} trees; give one string per tree"
            )
        return trees[0]

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a part of speech over a word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    def subtrees(self) -> Iterator["Tree"]:
        """The tree itself and all trees below it, parents first, from left to right."""
        return (node for node in walk(self) if not isinstance(node, str))

    def leaves(self) -> list[str]:
        """The words."""
        return [node for node in walk(self) if isinstance(node, str)]

    def tags(self) -> list[tuple[str, str]]:
        """Each word with its part of speech, the label above it."""
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
        """The tree as an ``nltk.Tree``, if NLTK is installed."""
        try:
            from nltk import Tree as NltkTree
        except ImportError as error:
            raise EigentextError("to_nltk needs NLTK; run pip install nltk") from error

        return build(self, lambda node, children: NltkTree(node.label, children))

    def _repr_svg_(self) -> str:
        """The tree as an SVG drawing for notebooks."""
        from eigentext.corpus.drawing import tree_svg

        return tree_svg(self)

    def _repr_html_(self) -> str:
        """The drawing as HTML, which notebooks prefer. There it has the text color of the page."""
        return f'<div style="overflow-x: auto">{self._repr_svg_()}</div>'

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Node] = [self]  # strings are words and closing brackets, ready to print
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

    # Pickled and copied as flat lists: Python would recurse and fail at a few hundred levels.

    def __reduce__(self) -> tuple[Any, ...]:
        from eigentext.corpus.packing import pack, unpack

        return unpack, (pack(self),)

    def __copy__(self) -> "Tree":
        return Tree(self.label, self.children)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tree":
        memo[id(self)] = copied = build(self, lambda node, children: Tree(node.label, children))
        return copied

    def _outline(self) -> list[Any]:
        """Words, and labels with numbers of children, from the top. They determine the tree."""
        return [
            node if isinstance(node, str) else (node.label, len(node.children))
            for node in walk(self)
        ]


def as_tree(tree: Any) -> Tree:
    """A `Tree` from a `Tree`, a string of brackets, or an object like an ``nltk.Tree``.

    Examples
    --------
    >>> as_tree("(NP (DT the) (NN cat))").leaves()
    ['the', 'cat']
    """
    if isinstance(tree, Tree):
        return tree
    if isinstance(tree, str):
        return Tree.parse(tree)
    return build(tree, lambda node, children: Tree(str(node.label()), children), _children)


def write_trees(trees: Iterable[Any], path: Source) -> None:
    """Write one tree per line. The ending of the name (.gz, .bz2, .xz, .zst) decides the packing.

    :func:`read_trees` returns the same trees, with round brackets in words and labels as ``-LRB-``
    and ``-RRB-``. Trees that brackets cannot express raise a CorpusError: with words that are empty
    or contain blanks, labels that contain blanks or are empty above a word, or nodes without
    children. An old file is replaced when the new one is complete.
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
    """The tree as parsers learn and score it: without function tags, traces and extra roots.

    Parameters
    ----------
    tree : Tree, nltk.Tree or str
        See :func:`as_tree`. It does not change.
    strip_functions : bool
        Cut labels at the first ``-`` or ``=``: NP-SBJ-1 and NP=2 become NP. Labels that begin with
        one, such as -LRB- and -NONE-, stay.
    drop_traces : bool
        Remove words tagged -NONE-, and then nodes without words.
    collapse_repeats : bool
        Merge X whose only child is another X into one node.
    strip_root : bool
        Remove a root with the label TOP, ROOT, S1 or "" if it has only one child.

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
            return node  # trees do not change, so two may share a node
        return Tree(label, kept)

    tree = as_tree(tree)
    made = build(tree, make)
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


def build(
    tree: Any,
    make: Callable[[Any, list[Any]], Any],
    children_of: Callable[[Any], Any] = attrgetter("children"),
) -> Any:
    """The result of `make(node, results of its children)` at the root, from below."""
    made: list[Any] = []  # results whose parents come later, the first child last
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
    """The word with -LRB- and -RRB- for round brackets, as in the Penn treebank."""
    return word.translate(_BRACKETS)


@lru_cache(maxsize=1 << 12)
def without_functions(label: str) -> str:
    """The label up to its first ``-`` or ``=``, unless it begins with one: NP for NP-SBJ-1."""
    return label if label[:1] in ("-", "=") else re.split("[-=]", label, maxsplit=1)[0]


# Reading.


def parse_trees(text: str, source: str, first_line: int = 1) -> list[Tree]:
    """The trees of a text in brackets; `source` names it in error messages."""
    trees: list[Tree] = []
    children: list[Any] = trees  # the children of the innermost open bracket
    above: list[
        tuple[int, str, list[Any]]
    ] = []  # the start, label and siblings of each open bracket
    intern = sys.intern
    with collecting_no_garbage():
        for match in _TOKEN.finditer(text):
            label, word, other = match.groups()
            if word:
                children.append(Tree(intern(label), (intern(word),)))
            elif not other:
                if len(above) >= _DEEPEST:
                    place = _place(source, text, above[0][0], first_line)
                    raise CorpusError(
                        f"{place}: brackets are more than {_DEEPEST} levels deep; add the missing "
                        "')'"
                    )
                above.append((match.start(), intern(label), children))
                children = []
            elif not above:
                raise _outside(other, _place(source, text, match.start(), first_line))
            elif other == ")":
                start, label, siblings = above.pop()
                if not children:
                    shown = _shortened(text[start : min(match.end(), start + 80)])
                    place = _place(source, text, start, first_line)
                    raise CorpusError(
                        f"{place}: {shown} has neither words nor trees; fill it or remove it"
                    )
                siblings.append(Tree(label, children))
                children = siblings
            else:
                children.append(intern(other))
    if above:
        start = above[0][0]
        shown = _shortened(text[start : start + 80])
        raise CorpusError(
            f"{_place(source, text, start, first_line)}: the tree {shown} is never closed; "
            "add the missing ')' at its end"
        )
    if not trees:
        raise CorpusError(f"{source}: contains no trees; a tree looks like {_EXAMPLE}")
    return trees


def _outside(token: str, place: str) -> CorpusError:
    if token == ")":
        reason = "')' closes nothing; remove it, or add the missing '(' before it"
    else:
        reason = f"{_shortened(token)} is outside all brackets; a tree looks like {_EXAMPLE}"
    return CorpusError(f"{place}: {reason}")


def _place(source: str, text: str, at: int, first_line: int) -> str:
    return f"{source}, line {first_line + text.count(chr(10), 0, at)}"


def _shortened(text: str) -> str:
    text = " ".join(text[:80].split())
    return repr(text if len(text) <= 40 else f"{text[:40]} ...")


@contextlib.contextmanager
def collecting_no_garbage() -> Iterator[None]:
    """Switch garbage collection off: it takes longer than reading, and trees have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def __getattr__(name: str) -> Any:
    # The reader imports this module.
    if name == "read_trees":
        from eigentext.corpus.reading_trees import read_trees

        return read_trees
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
            f"tree {number}: the {what} {name[:40]!r} is empty or contains blanks or bytes that "
            "are not text, so it could not be read back; write something like New_York"
        )


def packed(data: bytes, how: str) -> bytes:
    """The bytes, compressed; `how` is a name that `compression` returns."""
    if how == "zst":
        import pyarrow as pa

        return pa.compress(data, codec="zstd", asbytes=True)
    # Without the time of writing, so that the same trees give the same bytes.
    pack = {"gz": partial(gzip.compress, mtime=0), "bz2": bz2.compress, "xz": lzma.compress}
    return pack[how](data) if how else data
