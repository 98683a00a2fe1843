"""The tree kernel of two trees, and the largest fragments that they share.

Two nodes match if their productions are equal. The largest common fragment of two matching nodes
grows downwards: it continues where children match, and children that do not match are its frontier.
A pair of nodes is left out if its parents match and both nodes have the same place below them,
because the fragment of the parents contains that of the pair.
"""

from collections import defaultdict
from typing import Any, NamedTuple

from eigentext.corpus.trees import Tree, as_tree, walk, without_brackets
from eigentext.errors import EigentextError
from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.nodes import check_size, spanned

_DECAY = 0.4
_MOST_FRAGMENTS = 50
_MOST_PAIRS = 200_000


class _Nodes(NamedTuple):
    """The nodes of a tree in pre-order, with words: labels, children, productions, parents."""

    label: list[str]
    children: list[list[int]]
    production: list[tuple[Any, ...] | None]  # None for words
    parent: list[tuple[int, int]]  # the parent, and the place among its children

    @classmethod
    def of(cls, tree: Tree) -> "_Nodes":
        found = cls([], [], [], [])
        below: list[tuple[int, int]] = [(-1, 0)]  # the parents and places of the nodes to come
        for number, node in enumerate(walk(tree)):
            parent, place = below.pop()
            found.parent.append((parent, place))
            if parent >= 0:
                found.children[parent].append(number)
            found.children.append([])
            if isinstance(node, str):
                found.label.append(node)
                found.production.append(None)
                continue
            # A label is in a tuple, so that it differs from a word of the same name.
            right = (one if isinstance(one, str) else (one.label,) for one in node.children)
            found.label.append(node.label)
            found.production.append((node.label, *right))
            below += [(number, place) for place in reversed(range(len(node.children)))]
        return found


def compare(arguments: Arguments) -> dict[str, Any]:
    """Return the kernel of two trees in brackets, and their common fragments."""
    from eigentext import TreeKernel

    decay = asking.number(arguments, "decay", _DECAY, above=0, most=1)
    a, b = (_tree(arguments, name) for name in ("a", "b"))
    gram = TreeKernel(decay).gram([a, b])
    value, own = float(gram[0, 1]), float(gram[0, 0] * gram[1, 1])
    return {
        "value": value,
        "normalized": value / own**0.5 if own > 0 else 0.0,
        "decay": decay,
        "trees": [spanned(a), spanned(b)],
        "fragments": common_fragments(a, b, decay)[:_MOST_FRAGMENTS],
    }


def common_fragments(a: Tree, b: Tree, decay: float) -> list[dict[str, Any]]:
    """Return the largest common fragments of two trees, without repeats, the largest first.

    Examples
    --------
    >>> trees = (as_tree(f"(S (NP (DT the) (NN {pet})) (VP (VBZ sleeps)))") for pet in ("a", "b"))
    >>> [(one["fragment"], one["size"], one["places"][0]) for one in common_fragments(*trees, 1)]
    [('(S (NP (DT the) NN) (VP (VBZ sleeps)))', 5, [0, 1, 2, 3, 4, 6, 7, 8])]
    """
    A, B = _Nodes.of(a), _Nodes.of(b)
    by_production: dict[Any, list[int]] = defaultdict(list)
    for n, production in enumerate(B.production):
        if production is not None:
            by_production[production].append(n)
    n_pairs = sum(len(by_production.get(one, ())) for one in A.production if one is not None)
    if n_pairs > _MOST_PAIRS:
        raise RefusedError(
            400, f"{n_pairs:,} pairs of equal productions are too many; give smaller trees"
        )
    found: dict[str, dict[str, Any]] = {}
    for n1, production in enumerate(A.production):
        for n2 in by_production.get(production, ()) if production is not None else ():
            if _is_inside(A, B, n1, n2):
                continue
            text, size, mine, theirs = _grown(A, B, n1, n2)
            one = found.setdefault(
                text,
                {
                    "fragment": text,
                    "size": size,
                    "weight": decay**size,
                    "pairs": 0,
                    "places": (set(), set()),
                },
            )
            one["pairs"] += 1
            one["places"][0].update(mine)
            one["places"][1].update(theirs)
    for one in found.values():
        one["places"] = [sorted(places) for places in one["places"]]
    return sorted(found.values(), key=lambda one: (-one["size"], one["places"]))


def _tree(arguments: Arguments, name: str) -> Tree:
    text = asking.text(arguments, name)
    try:
        tree = as_tree(text)
    except EigentextError as error:
        raise RefusedError(400, f"tree {name}: {error}") from error
    check_size(tree, name)
    return tree


def _is_inside(A: _Nodes, B: _Nodes, n1: int, n2: int) -> bool:
    (p1, place1), (p2, place2) = A.parent[n1], B.parent[n2]
    together = p1 >= 0 and p2 >= 0 and place1 == place2
    return together and A.production[p1] == B.production[p2]


def _grown(A: _Nodes, B: _Nodes, n1: int, n2: int) -> tuple[str, int, list[int], list[int]]:
    """The fragment in brackets, its number of productions, and its nodes in both trees."""
    parts: list[str] = []
    size, mine, theirs = 0, [], []
    stack: list[tuple[int, int] | str] = [(n1, n2)]
    while stack:
        pair = stack.pop()
        if isinstance(pair, str):
            parts.append(pair)
            continue
        x, y = pair
        mine.append(x)
        theirs.append(y)
        label = without_brackets(A.label[x])
        if A.production[x] is None or A.production[x] != B.production[y]:
            parts.append(f" {label}")
            continue
        size += 1
        parts.append(f" ({label}")
        stack.append(")")
        stack += reversed(list(zip(A.children[x], B.children[y])))
    return "".join(parts)[1:], size, mine, theirs
