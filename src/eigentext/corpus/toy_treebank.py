"""A treebank drawn from a small grammar with hidden labels.

Real treebanks may not be distributed, so ``eigentext demo`` draws one. Its grammar has prepositions
of nouns (*the cat of the child*) and of verbs (*saw the cat through the door*). Both are labeled
IN, and their phrases PP: in the rules below, the part of a symbol after the dot is not written into
the tree. A latent grammar is made for this situation. A grammar that counts rules attaches all
these phrases in the same way. A grammar with two hidden states for each label can learn the
difference.
"""

import random

from eigentext.corpus.trees import Tree

_RULES: dict[str, list[tuple[float, str]]] = {
    "S": [(1.0, "NP VP")],
    "NP": [(0.7, "DT NN"), (0.3, "NP.short PP.noun")],
    "NP.short": [(1.0, "DT NN")],
    "VP": [(0.2, "VB"), (0.4, "VB NP"), (0.4, "VB NP PP.verb")],
    "PP.noun": [(1.0, "IN.noun NP")],
    "PP.verb": [(1.0, "IN.verb NP")],
}
_WORDS = {
    "DT": ["the", "a", "every"],
    "NN": ["cat", "dog", "farmer", "child", "river", "village", "garden", "door"],
    "VB": ["saw", "found", "followed", "carried"],
    "IN.noun": ["of", "beside", "without"],
    "IN.verb": ["into", "towards", "through"],
}
_DEEPEST = 8


def sampled_trees(n_trees: int, *, seed: int = 0) -> list[Tree]:
    """Draw sentences with their trees. The same seed gives the same trees.

    Examples
    --------
    >>> print(sampled_trees(2)[1])
    (S (NP (DT the) (NN cat)) (VP (VB carried)))
    """
    rng = random.Random(seed)
    return [_drawn("S", rng, 0) for _ in range(n_trees)]


def _drawn(symbol: str, rng: random.Random, depth: int) -> Tree:
    label = symbol.partition(".")[0]
    if symbol in _WORDS:
        return Tree(label, [rng.choice(_WORDS[symbol])])
    rules = _RULES[symbol][: 1 if depth >= _DEEPEST else None]  # the first rule is the shortest
    weights, rights = zip(*rules)
    (right,) = rng.choices(rights, weights)
    return Tree(label, [_drawn(part, rng, depth + 1) for part in right.split()])
