"""The head words of the nodes of binarized trees.

The rules are those of ``corpus/heads.py``, which also finds heads in trees as they are. In a
binarized tree, @X covers some of the children of X. It carries the best child so far, with its
tier. Of two candidates, the better tier wins. If their tiers are equal, the tier says whether the
left or the right one wins. So comparing pairs gives the same head as comparing all children. In a
chain X+Y, the children below belong to Y and the label above is X; there is no choice between them.
"""

import numpy as np

from eigentext.corpus.heads import ENGLISH, HeadRules
from eigentext.errors import ParameterError
from eigentext.grammars.treebank.normal_form import Treebank

__all__ = ["ENGLISH", "HeadRules", "by_height", "heads"]


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
