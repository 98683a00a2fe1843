"""Small worlds: random latent-variable PCFGs whose trees and probabilities can all be listed."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from eigentext.grammars.chart.cascade import Level
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.treebank.normal_form import Treebank

Rules = Mapping[str, Sequence[str]]


class World:
    """Random pi, t and q for the states of labels, with all trees and their probabilities.

    Parameters
    ----------
    rules
        What each label rewrites to: "B C" is two labels, "b" a word. No label is below itself.
    roots
        The labels that a tree may begin with.
    n_states
        The number of states of each label; 1 by default.
    seed
        The seed of the parameters.
    shape
        The smaller it is, the more states differ.
    rank
        For some labels, the number of states of which theirs are mixtures.
    pivots
        Whether each state has a rule or word that no other state has: the first ones of its label.
    """

    def __init__(
        self,
        rules: Rules,
        roots: str,
        n_states: Mapping[str, int],
        seed: int = 0,
        *,
        shape: float = 0.5,
        rank: Mapping[str, int] | None = None,
        pivots: bool = False,
    ):
        rng = np.random.default_rng(seed)
        self.m = {a: n_states.get(a, 1) for a in rules}
        self.rules = {a: [tuple(right.split()) for right in rules[a]] for a in rules}
        self.parameters: dict[tuple[str, ...], np.ndarray] = {}
        for a, rights in self.rules.items():
            shapes = [tuple(self.m[b] for b in right if b in rules) for right in rights]
            sizes = [int(np.prod(below)) for below in shapes]
            rows = rng.dirichlet(np.full(sum(sizes), shape), self.m[a])
            if rank and a in rank:
                rows = rng.dirichlet(np.ones(rank[a]), self.m[a]) @ rows[: rank[a]]
            if pivots and self.m[a] > 1:
                which = np.repeat(np.arange(len(rights)), sizes)
                own = np.arange(self.m[a])[:, None]
                rows *= (which == own) | (which >= self.m[a])
                rows /= rows.sum(axis=1, keepdims=True)
            parts = np.split(rows, np.cumsum(sizes)[:-1], axis=1)
            for right, below, part in zip(rights, shapes, parts):
                self.parameters[a, *right] = part.reshape(-1, *below)
        self.pi = dict(zip(roots.split(), rng.dirichlet(np.full(len(roots.split()), 2.0))))
        self.pi = {a: p * rng.dirichlet(np.ones(self.m[a])) for a, p in self.pi.items()}
        found = [(tree, pi @ b) for a, pi in self.pi.items() for tree, b in self._inside(a)]
        self.trees = [tree for tree, _ in found]
        self.p = np.array([p for _, p in found])

    def _inside(self, a: str) -> Iterator[tuple[str, np.ndarray]]:
        """All inside trees of a label, and the probability of each from each of its states."""
        for right in self.rules[a]:
            t = self.parameters[a, *right]
            if len(right) == 1:
                yield f"({a} {right[0]})", t
            else:
                lefts, rights = (list(self._inside(b)) for b in right)
                for (left, b2), (other, b3) in product(lefts, rights):
                    yield f"({a} {left} {other})", t @ b3 @ b2

    def states(self, treebank: Treebank) -> np.ndarray:
        """The number of states of each symbol of a treebank."""
        return np.array([self.m[str(symbol)] for symbol in treebank.symbols])

    def sample(self, size: int, seed: int = 0) -> list[str]:
        """Draw trees at random."""
        drawn = np.random.default_rng(seed).choice(len(self.p), size, p=self.p)
        return [self.trees[k] for k in drawn]


def learner(trees: Sequence[str]) -> CountedTrees:
    """Trees ready to learn from, without the smoothing of words."""
    return CountedTrees(trees, rare=0, beta=0.0, gamma=0.0)


def probabilities(level: Level, treebank: Treebank) -> np.ndarray:
    """p(tree) of each tree: b^1 = C(b^2, b^3), node by node, and c^a at the root."""
    grammar, b, found = level.grammar, [], []
    words = {x: level.words([x])[0] for x in set(treebank.tokens)}
    tokens, roots = iter(treebank.tokens), set(treebank.offsets[1:] - 1)
    for i, (a, left, right) in enumerate(zip(treebank.label, treebank.left, treebank.right)):
        states = slice(*grammar.state_offsets[a : a + 2])
        if left < 0:
            b.append(words[next(tokens)][states])
        elif treebank.rule[i] < 0:  # not seen
            b.append(np.zeros(grammar.n_states[a]))
        else:
            b.append(b[right] @ (b[left] @ grammar.tensor_of(treebank.rule[i]).swapaxes(0, 1)))
        if i in roots:
            found.append(grammar.root[states] @ b[i])
    return np.array(found)


# Two ways to bracket three words, and words that may have any tag.
BRACKETS = {
    "S": ["X C", "A Y", "X Y", "Y X"],
    "X": ["A B", "B A", "A A", "C B"],
    "Y": ["B C", "C A", "A C"],
    "A": ["u", "v"],
    "B": ["u", "v", "w"],
    "C": ["u", "v", "w"],
}
# "dogs see parks with lenses": does the last phrase belong to the noun or to the verb?
ATTACHMENT = {
    "S": ["N VP"],
    "VP": ["V NP", "VQ PP", "V N"],
    "VQ": ["V N"],
    "NP": ["N PP", "D N"],
    "PP": ["P N"],
    "N": ["dogs", "parks", "lenses"],
    "V": ["see", "lack"],
    "P": ["with", "near"],
    "D": ["the"],
}
