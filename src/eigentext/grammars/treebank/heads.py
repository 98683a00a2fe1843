"""The head of a phrase: its most important child, and so on down to a word.

The rules are those of [Magerman 1995] and [Collins 1999]. Each label has *tiers*, sets of labels of
children, the preferred ones first. The head child belongs to the first tier that has any child. Of
several children in this tier, it is the first one in a search that begins on the side of the tier.
If no tier has a child, all children are equally good, and the search begins on the side of the last
tier.

In a binarized tree, @X covers some of the children of X. It carries the best child so far, with its
tier. Of two candidates, the better tier wins. If their tiers are equal, the tier says whether the
left or the right one wins. So comparing pairs gives the same head as comparing all children. In a
chain X+Y, the children below belong to Y and the label above is X; there is no choice between them.

[Magerman 1995] D. Magerman, Statistical decision-tree models for parsing, ACL 1995.

[Collins 1999] M. Collins, Head-driven statistical models for natural language parsing, thesis,
University of Pennsylvania, 1999, appendix A.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from eigentext.errors import ParameterError
from eigentext.grammars.treebank.normal_form import Treebank

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


def heads(treebank: Treebank, rules: HeadRules = ENGLISH, *, default: str = "left") -> np.ndarray:
    """The leaf that heads each node, int64.

    Parameters
    ----------
    treebank
        Binarized trees.
    rules
        The tiers of each label, the best first. A tier is the side on which the search begins,
        "left" or "right", and the labels of children, separated by blanks.
    default : "left" or "right"
        The child that is the head of nodes with other labels.

    Examples
    --------
    >>> tree = "(S (NP (DT the) (JJ old) (NN dog)) (VP (MD may) (VP (VB bark))) (. .))"
    >>> treebank = Treebank.from_trees([tree])
    >>> words = [treebank.words[x] for x in treebank.word[heads(treebank)]]
    >>> [(str(treebank.symbols[a]), word) for a, word in zip(treebank.label, words) if a < 5]
    [('@NP', 'old'), ('NP', 'dog'), ('VP', 'may'), ('@S', 'may'), ('S', 'may')]
    """
    if treebank.label.min(initial=0) < 0:
        raise ParameterError("unknown symbols have no heads: read the trees with from_trees")
    numbers, tier_of, from_left = _tables(treebank, rules, default)
    symbols, left, right = treebank.symbols, treebank.left, treebank.right
    top = np.array([numbers[symbol.chain[0]] for symbol in symbols])[treebank.label]
    bottom = np.array([numbers[symbol.chain[-1]] for symbol in symbols])[treebank.label]
    is_partial = np.array([symbol.siblings is not None for symbol in symbols])[treebank.label]
    tier = np.zeros(len(top), np.int64)  # of each node, for its parent
    inner = np.flatnonzero(left >= 0)
    for child in (left[inner], right[inner]):
        tier[child] = tier_of[bottom[inner], top[child]]
    head = np.arange(len(top))
    for front in by_height(treebank)[1:]:
        one, two = left[front], right[front]
        best = np.minimum(tier[one], tier[two])
        prefers_left = np.where(
            tier[one] == tier[two], from_left[bottom[front], best], tier[one] == best
        )
        head[front] = head[np.where(prefers_left, one, two)]
        tier[front] = np.where(is_partial[front], best, tier[front])
    return head


def by_height(treebank: Treebank) -> list[np.ndarray]:
    """The nodes of height 0, 1, …: children come before their parents."""
    order = np.argsort(treebank.height, kind="stable")
    return np.split(order, np.cumsum(np.bincount(treebank.height))[:-1])


def _tables(
    treebank: Treebank, rules: HeadRules, default: str
) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """Numbers of labels; tiers by parent and child; sides by parent and tier."""
    labels = dict.fromkeys(label for symbol in treebank.symbols for label in symbol.chain)
    numbers = {label: k for k, label in enumerate(labels)}
    tiers = [rules.get(label) or [(default, "")] for label in labels]
    n_tiers = max(map(len, tiers))
    tier_of = np.full((len(labels), len(labels)), n_tiers)
    from_left = np.empty((len(labels), n_tiers + 1), bool)
    for label, row, sides, ranked in zip(labels, tier_of, from_left, tiers):
        for k in reversed(range(len(ranked))):
            side, children = ranked[k]
            if side not in ("left", "right"):
                raise ParameterError(f"the head of {label!r} is 'left' or 'right', not {side!r}")
            row[[numbers[child] for child in children.split() if child in numbers]] = k
        sides[:] = ranked[-1][0] == "left"
        sides[: len(ranked)] = [side == "left" for side, _ in ranked]
    return numbers, tier_of, from_left
