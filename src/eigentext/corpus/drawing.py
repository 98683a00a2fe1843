"""Trees as SVG pictures, with a short layout algorithm and no dependency.

Words are in the bottom row with their parts of speech above them. Every other node is one row above
its highest child. A subtree gets a slot as wide as its label, or as its children side by side if
these are wider. The label is in the middle of the slot, so labels and words never overlap. An edge
runs diagonally within one row and then straight down in the slot of the child, so edges never
cross. The drawing uses the text color of the page (``currentColor``) and is readable on light and
dark pages.

Widths are estimates from the character widths of common fonts. Nothing here recurses, so trees may
be deep.
"""

import re
import unicodedata
from html import escape
from typing import Any

from eigentext.corpus.trees import walk

_SIZE = 14  # font size in pixels
_ROW = 40
_GAP = 12  # between neighbors
_MARGIN = 6
_BOLD = ' font-weight="600"'  # labels are bold, words are not
_NARROW = frozenset("iljtfrI.,:;'`!|()[]{}/\\ -")
_WIDE = frozenset("mwMW%@—…")
# Characters that XML forbids even as references: control characters, surrogates, two more.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def tree_svg(tree: Any) -> str:
    """The drawing of a :class:`~eigentext.Tree`, as one SVG element.

    Examples
    --------
    >>> from eigentext import Tree
    >>> drawing = tree_svg(Tree.parse("(NP (DT the) (NN cat))"))
    >>> drawing.count("<text"), drawing.count("<path")  # five names, one path of four lines
    (5, 1)
    """
    nodes = walk(tree)
    names = [_FORBIDDEN.sub("\ufffd", x if isinstance(x, str) else x.label) for x in nodes]
    children, heights, widths = _measured(nodes, names)
    lefts = [0.0] * len(nodes)
    for i, below in enumerate(children):  # parents come first
        inner = sum(widths[j] for j in below) + _GAP * (len(below) - 1)
        left = lefts[i] + (widths[i] - inner) / 2
        for j in below:
            lefts[j] = left
            left += widths[j] + _GAP
    xs = [_MARGIN + left + width / 2 for left, width in zip(lefts, widths)]
    ys = [_MARGIN + _SIZE + _ROW * (heights[0] - height) for height in heights]
    lines = [
        f"M{xs[i]:.1f} {ys[i] + 5:.1f}L{xs[j]:.1f} {ys[i] + _ROW - _SIZE:.1f}V{ys[j] - _SIZE:.1f}"
        for i, below in enumerate(children)
        for j in below
    ]
    weights = ["" if isinstance(node, str) else _BOLD for node in nodes]
    texts = [
        f'<text x="{x:.1f}" y="{y:.1f}"{weight}>{escape(name)}</text>'
        for name, weight, x, y in zip(names, weights, xs, ys)
    ]
    width, height = widths[0] + 2 * _MARGIN, _ROW * heights[0] + _SIZE + 2 * _MARGIN + 4
    title = escape(_FORBIDDEN.sub("\ufffd", str(tree)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" '
        f'font-size="{_SIZE}" text-anchor="middle" fill="currentColor">'
        f"<title>{title}</title>"
        f'<path d="{"".join(lines)}" fill="none" stroke="currentColor" stroke-opacity="0.5"/>'
        f"{''.join(texts)}</svg>"
    )


def _measured(nodes: list[Any], names: list[str]) -> tuple[list[list[int]], list[int], list[float]]:
    """For each node, parents first: the places of its children, its height, its width."""
    children: list[list[int]] = [[] for _ in nodes]
    heights = [0] * len(nodes)
    widths = [_width(name) for name in names]
    waiting: list[int] = []  # nodes whose parents come later, the first child last
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        if not isinstance(node, str):
            border = len(waiting) - len(node.children)
            below = waiting[border:][::-1]
            del waiting[border:]
            children[i] = below
            # A label without children is above the row of words.
            heights[i] = 1 + max((heights[j] for j in below), default=0)
            inner = sum(widths[j] for j in below) + _GAP * (len(below) - 1)
            widths[i] = max(widths[i], inner)
        waiting.append(i)
    return children, heights, widths


def _width(name: str) -> float:
    return max(1.0, _SIZE * sum(map(_em, name)))


def _em(character: str) -> float:
    """The approximate width of a character as a share of the font size."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF" or character in _WIDE:
        return 1.0
    if character in _NARROW:
        return 0.4
    return 0.75 if character.isupper() else 0.6
