"""The head of a phrase: its most important child, and so on down to a word.

The rules are those of [Magerman 1995] and [Collins 1999]. Each label has *tiers*, sets of labels of
children, the preferred ones first. The head child belongs to the first tier that has any child. Of
several children in this tier, it is the first one in a search that begins on the side of the tier.
If no tier has a child, all children are equally good, and the search begins on the side of the last
tier.

The head word of each child that is not the head child *depends* on the head word of its parent: it
is governed by it. So every word of a tree but one has a governor.

[Magerman 1995] D. Magerman, Statistical decision-tree models for parsing, ACL 1995.

[Collins 1999] M. Collins, Head-driven statistical models for natural language parsing, thesis,
University of Pennsylvania, 1999, appendix A.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from eigentext.corpus.trees import Tree, walk
from eigentext.errors import ParameterError

HeadRules = Mapping[str, Sequence[tuple[str, str]]]  # label: tiers (side, labels of children)

_VERBS = "MD VB VBD VBG VBN VBP VBZ"
_NOUNS = "NN NNS NNP NNPS NML NX"

# For the labels of the Penn treebank (and GUM's), as ``normalize_tree`` leaves them.
ENGLISH: HeadRules = {
    "ADJP": (
        ("left", "JJ JJR JJS VBN VBG ADJP $ QP"),
        ("left", f"{_NOUNS} NP"),
        ("left", "ADVP RB RBR RBS CD DT FW IN"),
    ),
    "ADVP": (
        ("right", "RB RBR RBS ADVP FW"),
        ("right", f"IN TO RP JJ JJR JJS CD {_NOUNS} NP"),
    ),
    "CONJP": (("right", "CC"), ("right", "RB IN")),
    "FRAG": (
        ("left", "S SQ SINV SBARQ VP FRAG"),
        ("left", "NP ADJP ADVP PP SBAR WHNP WHADVP INTJ"),
        ("left", f"{_NOUNS} {_VERBS} JJ RB UH CD IN"),
    ),
    "INTJ": (("left", "UH INTJ"), ("left", "S NP VP ADVP")),
    "LST": (("right", "LS CD"),),
    "NAC": (("left", _NOUNS), ("left", "NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW")),
    "NML": (("right", _NOUNS), ("right", "NP"), ("right", "CD $ QP JJ ADJP VBG FW")),
    "NP": (
        ("right", f"{_NOUNS} POS JJR"),
        ("left", "NP PRP EX"),
        ("right", "$ ADJP PRN"),
        ("right", "CD"),
        ("right", "JJ JJS RB QP DT"),
    ),
    "NX": (("right", _NOUNS), ("left", "NP"), ("right", "CD $ QP JJ ADJP VBG FW")),
    "PP": (("left", "IN TO VBG VBN RP FW"), ("left", "PP"), ("left", "JJ RB CC")),
    "PRN": (("left", "S SINV SQ SBAR VP NP PP ADJP ADVP PRN"), ("left", f"{_NOUNS} {_VERBS} CD")),
    "PRT": (("right", "RP"), ("right", "RB IN")),
    "QP": (("left", "$"), ("right", "CD"), ("right", f"QP {_NOUNS} JJ JJR JJS RB DT IN")),
    "RRC": (("left", "VP"), ("left", "NP ADVP ADJP PP")),
    "S": (
        ("left", f"TO {_VERBS} VP"),
        ("left", "S SINV SQ SBARQ"),
        ("left", "SBAR ADJP UCP PP"),
        ("right", "NP"),
    ),
    "SBAR": (
        ("left", "WHNP WHPP WHADVP WHADJP IN DT"),
        ("left", "S SQ SINV SBAR VP FRAG"),
    ),
    "SBARQ": (("left", "SQ S SINV SBARQ"), ("left", "FRAG VP WHNP WHADVP")),
    "SINV": (("left", f"{_VERBS} VP"), ("left", "S SINV"), ("left", "ADJP NP")),
    "SQ": (("left", f"{_VERBS} VP"), ("left", "SQ S"), ("left", "NP ADJP")),
    "UCP": (("left", "S VP NP ADJP ADVP PP SBAR"), ("left", f"{_NOUNS} {_VERBS} JJ RB CD")),
    "VP": (
        ("left", f"TO {_VERBS}"),
        ("left", "VP"),
        ("left", f"ADJP JJ {_NOUNS} NP"),
    ),
    "WHADJP": (("left", "WRB WHADVP"), ("left", "JJ ADJP RB")),
    "WHADVP": (("right", "WRB WHADVP"),),
    "WHNP": (("left", "WDT WP WP$ WHADJP WHPP WHNP"), ("right", f"{_NOUNS} NP")),
    "WHPP": (("left", "IN TO FW"),),
}


class Dependencies(NamedTuple):
    """The words of a tree and how they depend on each other.

    Attributes
    ----------
    words
        The words.
    governor
        The place of the word that governs each word; -1 for the head word of the tree.
    label
        The label of the constituent in which it does: the lowest one that has both words. "" for
        the head word of the tree.
    siblings
        (left, right, label): the places of the head words of two neighboring children of a
        constituent, and its label. Constituents come from below.
    """

    words: list[str]
    governor: list[int]
    label: list[str]
    siblings: list[tuple[int, int, str]]


class HeadFinder:
    """Finds the head child of phrases, by rules.

    Parameters
    ----------
    rules
        The tiers of each label, the best first. A tier is the side on which the search begins,
        "left" or "right", and the labels of children, separated by blanks.
    default : "left" or "right"
        The child that is the head of phrases with other labels.

    Examples
    --------
    >>> HeadFinder().head_child("NP", ["DT", "JJ", "NN", "PP"])
    2
    """

    def __init__(self, rules: HeadRules = ENGLISH, *, default: str = "left"):
        self._tiers: dict[str, dict[str, int]] = {}
        self._sides: dict[str, list[bool]] = {}
        self._usual = [_is_left("other phrases", default)]
        for label, ranked in rules.items():
            if not ranked:
                continue
            self._sides[label] = [_is_left(label, side) for side, _ in ranked]
            tiers = self._tiers[label] = {}
            for k, (_, children) in enumerate(ranked):
                for child in children.split():
                    tiers.setdefault(child, k)

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """The place of the head among the children, given by their labels."""
        if len(children) == 1:
            return 0
        tiers, sides = self._tiers.get(label, {}), self._sides.get(label, self._usual)
        found = [tiers.get(child, len(sides)) for child in children]
        best = min(found)
        if sides[min(best, len(sides) - 1)]:
            return found.index(best)
        return len(found) - 1 - found[::-1].index(best)

    def dependencies(self, tree: Tree) -> Dependencies:
        """Which word of a tree governs which, and which words are heads side by side.

        Examples
        --------
        >>> tree = Tree.parse("(S (NP (DT the) (NN dog)) (VP (MD may) (VP (VB bark))))")
        >>> found = HeadFinder().dependencies(tree)
        >>> found.words, found.governor
        (['the', 'dog', 'may', 'bark'], [1, 2, -1, 2])
        >>> found.label
        ['NP', 'S', '', 'VP']
        """
        nodes = walk(tree)
        words = [node for node in nodes if isinstance(node, str)]
        governor, label = [-1] * len(words), [""] * len(words)
        siblings: list[tuple[int, int, str]] = []
        made: list[tuple[str, int]] = []  # labels and head words, the first child last
        place = len(words)
        for node in reversed(nodes):
            if isinstance(node, str):
                place -= 1
                made.append(("", place))
                continue
            border = len(made) - len(node.children)
            children = made[border:][::-1]
            del made[border:]
            best = children[self.head_child(node.label, [name for name, _ in children])][1]
            for n, (_, head) in enumerate(children):
                if head != best:
                    governor[head], label[head] = best, node.label
                if n:
                    siblings.append((children[n - 1][1], head, node.label))
            made.append((node.label, best))
        return Dependencies(words, governor, label, siblings)


def _is_left(label: str, side: str) -> bool:
    if side not in ("left", "right"):
        raise ParameterError(f"the head of {label!r} is 'left' or 'right', not {side!r}")
    return side == "left"
