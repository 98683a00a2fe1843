"""Random structures, and slow kernels that follow their definitions, for tests of several rooms."""

from collections import Counter
from itertools import product

from eigentext import Tree


def random_tree(rng, depth=4):
    """A small tree with few labels and words, so that trees share many fragments."""
    label = "ABC"[rng.integers(3)]
    if depth == 0 or rng.random() < 0.25:
        return Tree(label, ["xyz"[rng.integers(3)]])
    children = [random_tree(rng, depth - 1) for _ in range(rng.integers(1, 4))]
    if rng.random() < 0.1:
        children[0] = "w"  # a word next to constituents
    return Tree(label, children)


def random_tagging(rng, n_words=6):
    """A tagged sequence of a few upper-case and lower-case letters, with few tags."""
    length = rng.integers(1, n_words + 1)
    return [("aAbB"[rng.integers(4)], "XYZ"[rng.integers(3)]) for _ in range(length)]


def fragments(node):
    """All fragments that begin at a node, each with its number of productions."""
    choices = [
        [(child, 0)] if isinstance(child, str) else [((child.label,), 0), *fragments(child)]
        for child in node.children
    ]
    return [
        ((node.label, *(part for part, _ in parts)), 1 + sum(size for _, size in parts))
        for parts in product(*choices)
    ]


def tree_kernel(first, second, decay):
    """The sum over fragments of decay ** size times the product of their counts."""
    counts, others = (
        Counter(fragment for node in tree.subtrees() for fragment in fragments(node))
        for tree in (first, second)
    )
    return sum(decay**size * n * others[one, size] for (one, size), n in counts.items())


def runs(tagging, features):
    """Counts of all runs of tags, where each tag stands with one feature of its word."""
    found = Counter()
    for start, end in product(range(len(tagging)), range(1, len(tagging) + 1)):
        choices = [[(tag, one) for one in features(word)] for word, tag in tagging[start:end]]
        if choices:
            found.update(product(*choices))
    return found


def sequence_kernel(first, second, decay, features):
    """The same for runs of tags. `features` gives the features of a word with their weights."""
    counts, others = runs(first, features), runs(second, features)
    weights = {one: weight for word, _ in first for one, weight in features(word).items()}
    total = 0.0
    for run, n in counts.items():
        weight = 1.0
        for _, feature in run:
            weight *= decay * weights[feature]
        total += weight * n * others[run]
    return total
