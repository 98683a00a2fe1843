"""Trees in the form that the page draws: nested nodes. Words are nodes without children."""

from collections.abc import Mapping
from typing import Any

from eigentext.corpus.trees import Tree, walk
from eigentext.explorer.asking import RefusedError

_MOST_NODES = 2000
_DEEPEST = 200  # the JSON writer is recursive

Node = dict[str, Any]


def spanned(tree: Tree, probabilities: Mapping[tuple[str, int, int], float] | None = None) -> Node:
    """Return the nodes with the words that they span.

    `probabilities` are those of labels over spans. A node shows its own, if it is known.
    """
    made: list[Node] = []  # nodes whose parents are still to come, the first child last
    position = len(tree.leaves())
    for number, node in reversed(list(enumerate(walk(tree)))):
        if isinstance(node, str):
            position -= 1
            made.append({"label": node, "id": number, "span": [position, position + 1]})
            continue
        border = len(made) - len(node.children)
        children = made[border:][::-1]
        del made[border:]
        start, end = children[0]["span"][0], children[-1]["span"][1]
        whole = {"label": node.label, "id": number, "children": children, "span": [start, end]}
        if probabilities is not None:
            p = probabilities.get((node.label, start, end))
            whole["probability"] = None if p is None else min(1.0, p)
        made.append(whole)
    return made[0]


def check_size(tree: Tree, name: str) -> None:
    """Refuse a tree that is too large or too deep to be drawn."""
    if len(walk(tree)) > _MOST_NODES:
        raise RefusedError(
            400, f"tree {name} has more than {_MOST_NODES:,} nodes; give a smaller one"
        )
    level, depth = [tree], 0
    while level:
        depth += 1
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
    if depth > _DEEPEST:
        raise RefusedError(
            400, f"tree {name} is more than {_DEEPEST} nodes deep; give a flatter one"
        )
