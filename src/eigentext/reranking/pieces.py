"""Trees as bags of local pieces.

A *piece* is a node with all that its features depend on: its label and span, its parent and
grandparent, and its children with their heads. Candidates for one sentence share most of their
pieces, so that the features of a piece are computed once for all of them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from eigentext.corpus.heads import HeadFinder
from eigentext.corpus.trees import Tree, walk

NONE = "^"  # the parent of a root
_WORD = "_"  # the label of a word without a part of speech
_HEADS = HeadFinder()
_CONJUNCTIONS = frozenset(("CC", "CONJP"))


class Piece(NamedTuple):
    """A node above parts of speech. It spans the words ``start`` to ``end - 1``.

    Attributes
    ----------
    label, start, end
        The bracket.
    parent, grandparent
        The labels above.
    head
        The place of the head among the children.
    labels
        The labels of the children.
    ends
        The ends of their spans.
    heads
        The places of the words that head them.
    insides
        For a coordination, the labels of the children of each child, joined by blanks; else empty.
    """

    label: str
    start: int
    end: int
    parent: str
    grandparent: str
    head: int
    labels: tuple[str, ...]
    ends: tuple[int, ...]
    heads: tuple[int, ...]
    insides: tuple[str, ...]


def pieces(tree: Tree) -> list[Piece]:
    """The pieces of a tree, from right to left, children before parents.

    Examples
    --------
    >>> tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))")
    >>> [(one.label, one.parent, one.heads[one.head]) for one in pieces(tree)]
    [('VP', 'S', 2), ('NP', 'S', 1), ('S', '^', 2)]
    """
    nodes = walk(tree)
    above: list[tuple[str, str]] = []  # labels of parent and grandparent, of all but words
    stack = [(NONE, NONE)]
    for node in nodes:
        mine = stack.pop()
        above.append(mine)
        if not isinstance(node, str):
            stack.extend([(node.label, mine[0])] * len(node.children))
    return _from_below(nodes, above)


def _from_below(nodes: list[Any], above: list[tuple[str, str]]) -> list[Piece]:
    found: list[Piece] = []
    made: list[tuple[str, int, int, str]] = []  # label, end, head, labels below; the last is left
    start = sum(isinstance(node, str) for node in nodes)
    for node, (parent, grandparent) in zip(reversed(nodes), reversed(above)):
        if isinstance(node, str):
            start -= 1
            made.append((_WORD, start + 1, start, ""))
            continue
        if node.is_preterminal:
            made[-1] = (node.label, start + 1, start, "")
            continue
        below = made[: -len(node.children) - 1 : -1]
        del made[-len(node.children) :]
        piece = piece_of(node.label, start, parent, grandparent, below)
        made.append((node.label, piece.end, piece.heads[piece.head], " ".join(piece.labels)))
        found.append(piece)
    return found


def piece_of(
    label: str,
    start: int,
    parent: str,
    grandparent: str,
    children: Sequence[tuple[str, int, int, str]],
) -> Piece:
    """The piece of a node over children, given by label, end, head and the labels below each."""
    labels, ends, heads, insides = zip(*children)
    head = _HEADS.head_child(label, labels)
    if _CONJUNCTIONS.isdisjoint(labels):
        insides = ()
    return Piece(label, start, ends[-1], parent, grandparent, head, labels, ends, heads, insides)
