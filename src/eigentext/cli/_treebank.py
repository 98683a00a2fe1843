"""A treebank drawn from a small grammar, whose labels keep a secret.

Treebanks cannot be shipped, so ``eigentext demo`` draws one. Its grammar tells prepositions of
nouns (*the cat of the child*) from those of verbs (*saw the cat through the door*), but calls both
IN, and their phrases PP: what hides behind the dot below is never written down. That is the
situation a latent grammar is made for. Counting rules, one cannot do better than to attach all
such phrases in the same way; with two states to a label one can, and the states are to be found.
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
    """Draw sentences with their trees; the same seed gives the same ones.

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
    rules = _RULES[symbol][: 1 if depth >= _DEEPEST else None]  # the first is the shortest
    weights, rights = zip(*rules)
    (right,) = rng.choices(rights, weights)
    return Tree(label, [_drawn(part, rng, depth + 1) for part in right.split()])
