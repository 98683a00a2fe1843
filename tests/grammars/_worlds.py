"""Little worlds: random latent-variable PCFGs whose trees can all be listed, with probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from eigentext.grammars._fitting import Learner
from eigentext.grammars.treebank import Treebank

Rules = Mapping[str, Sequence[str]]


class World:
    """pi, t and q drawn at random for the states of labels; all trees and their probabilities.

    Parameters
    ----------
    rules
        What each label rewrites to: "B C" is two labels, "b" a word. No label is below itself.
    roots
        The labels that a tree may begin with.
    n_states
        Of each label; 1 where it is not said.
    seed
        Of the parameters.
    shape
        The smaller, the more states differ.
    rank
        The rows of a label's parameters have at most this rank, where it is said: then no more
        states than that can be told apart.
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
    ):
        rng = np.random.default_rng(seed)
        self.m = {a: n_states.get(a, 1) for a in rules}
        self.rules = {a: [tuple(right.split()) for right in rules[a]] for a in rules}
        self.parameters: dict[tuple[str, ...], np.ndarray] = {}
        for a, rights in self.rules.items():
            sizes = [self._below(right) for right in rights]
            width = sum(int(np.prod(size)) for size in sizes)
            rows = rng.dirichlet(np.full(width, shape), self.m[a])
            if rank and a in rank:
                rows = rng.dirichlet(np.ones(rank[a]), self.m[a]) @ rows[: rank[a]]
            parts = np.split(rows, np.cumsum([int(np.prod(size)) for size in sizes])[:-1], axis=1)
            for right, size, part in zip(rights, sizes, parts):
                self.parameters[a, *right] = part.reshape(-1, *size)
        self.pi = dict(zip(roots.split(), rng.dirichlet(np.full(len(roots.split()), 2.0))))
        self.pi = {a: p * rng.dirichlet(np.ones(self.m[a])) for a, p in self.pi.items()}
        found = [(tree, pi @ b) for a, pi in self.pi.items() for tree, b in self._inside(a)]
        self.trees = [tree for tree, _ in found]
        self.p = np.array([p for _, p in found])

    def _below(self, right: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(self.m[b] for b in right) if len(right) == 2 else ()

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
        """How many each symbol of a treebank has."""
        return np.array([self.m[str(symbol)] for symbol in treebank.symbols])

    def sample(self, size: int, seed: int = 0) -> list[str]:
        """So many trees, drawn at random."""
        drawn = np.random.default_rng(seed).choice(len(self.p), size, p=self.p)
        return [self.trees[k] for k in drawn]


def learner(trees: Sequence[str]) -> Learner:
    """Trees ready to learn from, without the smoothing of words."""
    return Learner(trees, rare=0, beta=0.0, gamma=0.0)


# Two ways to bracket three words, and every word may have every tag.
BRACKETS = {
    "S": ["X C", "A Y", "X Y", "Y X"],
    "X": ["A B", "B A", "A A", "C B"],
    "Y": ["B C", "C A", "B B", "A C"],
    "A": ["u", "v", "w"],
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
