"""Plain versions of the kernels of trees and tagged sequences, to compare with.

They compute the same as ``TreeKernel`` and ``SequenceKernel``, for one pair of structures at a
time.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numba import njit


class Plain(NamedTuple):
    """A tree: the production and the children (places in the list) of each node, children first."""

    productions: list[tuple]
    children: list[list[int]]
    nodes: dict[tuple, list[int]]  # the nodes of each production


def plain(tree: Any) -> Plain:
    """A tree as lists of its nodes."""
    productions, children = [], []

    def add(node: Any) -> int:
        below = [add(child) for child in node.children if not isinstance(child, str)]
        names = (c if isinstance(c, str) else (c.label,) for c in node.children)
        productions.append((node.label, *names))
        children.append(below)
        return len(productions) - 1

    add(tree)
    nodes = defaultdict(list)
    for node, production in enumerate(productions):
        nodes[production].append(node)
    return Plain(productions, children, nodes)


def recursive(a: Plain, b: Plain, decay: float) -> float:
    """The kernel by its definition: a recursion from every pair of nodes."""

    def delta(m: int, n: int) -> float:
        if a.productions[m] != b.productions[n]:
            return 0.0
        value = decay
        for pair in zip(a.children[m], b.children[n]):
            value *= 1.0 + delta(*pair)
        return value

    nodes = range(len(b.productions))
    return sum(delta(m, n) for m in range(len(a.productions)) for n in nodes)


def indexed(a: Plain, b: Plain, decay: float) -> float:
    """The kernel by pairs of nodes with equal productions, children first; deltas are kept."""
    deltas: dict[tuple[int, int], float] = {}
    total = 0.0
    for n, production in enumerate(b.productions):
        for m in a.nodes.get(production, ()):
            value = decay
            for pair in zip(a.children[m], b.children[n]):
                value *= 1.0 + deltas.get(pair, 0.0)
            deltas[m, n] = value
            total += value
    return total


class Sequences(NamedTuple):
    """Words and tags of all sentences in one array each, and where sentences begin."""

    words: np.ndarray
    tags: np.ndarray
    starts: np.ndarray


def numbered(sentences: list[list[tuple[str, str]]]) -> Sequences:
    """Words and tags as numbers."""
    words, tags = {}, {}
    pairs = [
        (words.setdefault(word, len(words)), tags.setdefault(tag, len(tags)))
        for sentence in sentences
        for word, tag in sentence
    ]
    columns = np.array(pairs, np.int32).T
    starts = np.cumsum([0, *map(len, sentences)])
    return Sequences(columns[0].copy(), columns[1].copy(), starts)


@njit(cache=True, nogil=True)
def looped(sequences, decay):
    """The Gram matrix of sequences, by a loop over all pairs of words from the right."""
    words, tags, starts = sequences
    n = len(starts) - 1
    gram = np.zeros((n, n))
    longest = 0
    for i in range(n):
        longest = max(longest, starts[i + 1] - starts[i])
    deltas = np.zeros(longest + 1)  # of a word with each word of the other sentence
    for i in range(n):
        for j in range(i, n):
            begin, length = starts[j], starts[j + 1] - starts[j]
            deltas[: length + 1] = 0.0
            total = 0.0
            for s in range(starts[i + 1] - 1, starts[i] - 1, -1):
                for t in range(length):  # deltas[t + 1] still belongs to the next word
                    if tags[s] == tags[begin + t]:
                        same = 1.0 if words[s] == words[begin + t] else 0.0
                        deltas[t] = decay * (1.0 + same) * (1.0 + deltas[t + 1])
                        total += deltas[t]
                    else:
                        deltas[t] = 0.0
            gram[i, j] = gram[j, i] = total
    return gram
