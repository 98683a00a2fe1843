r"""A tree over topics: which of them are near each other, and which larger topics they make.

Topics are merged in the space in which the tensor method works. There, the words of a topic
:math:`\mu_k` are scaled by :math:`1 / \sqrt v`, with :math:`v = \sum_k w_k \mu_k` the probabilities
of words in all text. The cost of merging two groups of topics with weights w is

.. math:: d(a, b) = \frac{w_a w_b}{w_a + w_b}
   \sum_x \frac{(\mu_a(x) - \mu_b(x))^2}{v(x)},

the loss of :math:`\chi^2` between topics and words (the method of Ward 1963). The two groups with
the least cost merge, until one is left. The words of a group are the weighted mean of those of its
topics. From the leaves to the root, costs never fall. Their sum is the whole :math:`\chi^2`,
:math:`\sum_k w_k \sum_x (\mu_k(x) - v(x))^2 / v(x)`. The order of topics does not change the tree.

A topic has the words of ``top_words``. A group has the words that are "distinctive"
(:mod:`eigentext.topics.ranking`) of it, as of one topic beside the topics outside. A group of more
than half of the text has no words of its own, so outlines show the number of its topics instead.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext import engine, notebook
from eigentext.estimators import check_is_fitted
from eigentext.factor.merging import bit_strings, merge_to_root, running_set
from eigentext.parameters import Count, argument
from eigentext.topics.ranking import of_groups

if TYPE_CHECKING:
    import pyarrow as pa

    from eigentext.topics.model import TopicModel

_LEAST = 1e-12  # the weight of a topic that has none
_LIST = (
    "list-style:none;margin:0 0 0 4px;padding:0 0 0 10px;"
    "border-left:1px solid rgba(128,128,128,.35)"
)
_MOST = 0.5  # the share of the text above which the words of a group say nothing


def hierarchy(model: "TopicModel", *, n_words: int = 5, words: Any = None) -> "TopicTree":
    """Return the tree over the topics of a fitted model; see the module.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    n_words : int
        How many words name each node.
    words : list of str, optional
        The names of the columns, if the model was learned from a matrix.

    Examples
    --------
    >>> from eigentext import TopicModel
    >>> texts = ["ham eggs ham cheese", "goal team match team", "goal club match club"] * 20
    >>> tree = hierarchy(TopicModel(3, stop_words=None).fit(texts), n_words=2)
    >>> [len(group) for group in tree.cut(2)]
    [2, 1]
    """
    from eigentext.topics.tables import column_names

    check_is_fitted(model)
    n_words = argument("n_words", Count(5), n_words)
    names = column_names(model, words)
    phi = np.asarray(model.components_)
    weights = np.maximum(model.weights_, _LEAST)
    order = _in_order(weights, phi)
    tree = merged(weights[order], phi[order])
    K = len(order)
    topics = [[int(k)] for k in order]
    for left, right in tree[:, :2].astype(int).tolist():
        topics.append(topics[left] + topics[right])
    leaves = model.top_words(n_words, words=words)
    groups = of_groups(phi, weights, model.vocabulary_.counts, topics[K:], n_words)
    shown = [leaves[k] for k in order] + [[names[w] for w in group] for group in groups]
    bits = [""] * K
    for k, path in zip(order.tolist(), bit_strings(tree)):
        bits[k] = path
    return TopicTree(tree, topics, np.asarray(model.weights_), shown, bits)


def merged(weights: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Return the merges of topics, as SciPy's `linkage` has them: two nodes, cost, topics below."""
    with engine.one_blas_thread():
        v = weights @ phi
        scale = np.divide(1, np.sqrt(v), out=np.zeros_like(v), where=v > 0)
        rows = (phi - v / weights.sum()) * scale
        tree = merge_to_root(running_set(rows * weights[:, None], weights), len(weights))
    tree[:, 2] = np.maximum.accumulate(tree[:, 2])  # without the rounding of equal costs
    return tree


class TopicTree:
    """A binary tree over topics; see :func:`hierarchy`. Notebooks show its outline.

    Attributes
    ----------
    n_topics : int
    linkage_ : array, shape (K - 1, 4)
        The merges, as SciPy's `linkage` has them, so that ``dendrogram`` can draw them. A row has
        two nodes, the cost of the merge and the number of topics below. Node K + i is that of row
        i. Nodes below K are leaves; ``topics[node]`` names the topics.
    topics : list of list of int
        The topics below each node.
    words : list of list of str
        The words that describe each node best.
    bits : list of str
        The path from the root to each topic; 0 leads to the first child.
    """

    def __init__(
        self,
        linkage: np.ndarray,
        topics: list[list[int]],
        weights: np.ndarray,
        words: list[list[str]],
        bits: list[str],
    ):
        self.linkage_, self.topics, self.words, self.bits = linkage, topics, words, bits
        self.n_topics = len(linkage) + 1
        self._weights = weights

    @property
    def heights(self) -> np.ndarray:
        """The cost of each merge, as a share of the sum of all."""
        costs = self.linkage_[:, 2]
        return costs / max(float(costs.sum()), np.finfo(float).tiny)

    def share(self, node: int) -> float:
        """Return the share of the text that the topics below a node have."""
        return float(self._weights[self.topics[node]].sum())

    def cut(self, n: int) -> list[list[int]]:
        """Return n groups of topics: what is left when the last n - 1 merges are undone.

        The largest group is the first.
        """
        return [sorted(self.topics[node]) for node in self.cut_nodes(n)]

    def cut_nodes(self, n: int) -> list[int]:
        """Return the nodes of the groups of :meth:`cut`."""
        n = argument("n (--groups)", Count(2, least=1, most=self.n_topics), n)
        last = 2 * self.n_topics - n  # the nodes from here on are undone
        below = {int(child) for row in self.linkage_[self.n_topics - n :, :2] for child in row}
        nodes = [node for node in below if node < last] or [last - 1]
        return sorted(nodes, key=lambda node: (-self.share(node), min(self.topics[node])))

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dicts: share, words, and topic, or height and children."""
        made: list[dict[str, Any]] = []
        for node, (topics, words) in enumerate(zip(self.topics, self.words)):
            about: dict[str, Any] = {"share": self.share(node), "words": words}
            if node < self.n_topics:
                made.append({"topic": topics[0], **about})
                continue
            height = float(self.heights[node - self.n_topics])
            children = [made[child] for child in self.children(node)]
            made.append({"height": height, **about, "children": children})
        return made[-1]

    def to_newick(self) -> str:
        """Return the tree in the Newick format, with the costs at which nodes merge as lengths.

        The length of a branch is the difference of the heights of its ends.
        """
        heights = np.concatenate([np.zeros(self.n_topics), self.heights])
        written = [f"topic{topics[0]}" for topics in self.topics[: self.n_topics]]
        for node in range(self.n_topics, len(self.topics)):
            parts = (
                f"{written[child]}:{heights[node] - heights[child]:.6g}"
                for child in self.children(node)
            )
            written.append(f"({','.join(parts)})")
        return written[-1] + ";"

    def to_arrow(self) -> "pa.Table":
        """Return a table with a row for each node.

        It has the node, its parent (null for the root), the topic (null for inner nodes), the
        height, the share of the text and the words.
        """
        import pyarrow as pa

        K, n = self.n_topics, 2 * self.n_topics - 1
        parents: list[int | None] = [None] * n
        for node in range(K, n):
            for child in self.children(node):
                parents[child] = node
        return pa.table(
            {
                "node": pa.array(range(n), pa.int64()),
                "parent": pa.array(parents, pa.int64()),
                "topic": pa.array([some[0] if len(some) == 1 else None for some in self.topics]),
                "height": pa.array(np.concatenate([np.zeros(K), self.heights])),
                "share": pa.array([self.share(node) for node in range(n)], pa.float64()),
                "words": pa.array([" ".join(words) for words in self.words], pa.string()),
            }
        )

    def lines(self) -> Iterator[tuple[int, int]]:
        """Yield the depth and the number of each node, from the root down."""
        waiting = [(0, 2 * self.n_topics - 2)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            if node >= self.n_topics:
                waiting += [(depth + 1, child) for child in reversed(self.children(node))]

    def __str__(self) -> str:
        return "\n".join(f"{'  ' * depth}{self._title(node)}" for depth, node in self.lines())

    def __repr__(self) -> str:
        return f"TopicTree({self.n_topics} topics)"

    def _repr_html_(self) -> str:
        listed = outline(self).replace("<ul>", f'<ul style="{_LIST}">')
        return notebook.result(f"A tree over {self.n_topics} topics", listed)

    def _title(self, node: int) -> str:
        name = f"{self.topics[node][0]}" if node < self.n_topics else "+"
        words = f"{len(self.topics[node])} topics" if self.is_most(node) else self.words[node]
        shown = words if isinstance(words, str) else " ".join(words)
        return f"{name:>2} {self.share(node):6.1%}  {shown}"

    def is_most(self, node: int) -> bool:
        """Whether a node is a group of more than half of the text."""
        return node >= self.n_topics and self.share(node) > _MOST

    def children(self, node: int) -> list[int]:
        """Return the two nodes that merged in an inner node."""
        return [int(child) for child in self.linkage_[node - self.n_topics, :2]]


def outline(tree: TopicTree, link: str = "", names: Sequence[str | None] = ()) -> str:
    """Return the tree as nested lists of HTML.

    `link` begins the address of a topic, if given. `names` are those of topics, if they have any.
    """
    items: list[str] = []
    for node, (topics, some) in enumerate(zip(tree.topics, tree.words)):
        words = f'<span lang="" dir="auto">{escape(", ".join(some))}</span>'
        size = f"<small>{tree.share(node):.1%}</small>"
        if node < tree.n_topics:
            known = names[topics[0]] if names else None
            named = f'<i lang="" dir="auto">{escape(known)}</i> ' if known else ""
            name = f"<b>{topics[0]}</b> {named}{words}"
            name = f'<a href="{link}{topics[0]}">{name}</a>' if link else name
            items.append(f"<li>{name} {size}</li>")
        else:
            words = f"{len(topics)} topics" if tree.is_most(node) else words
            inner = "\n".join(items[child] for child in tree.children(node))
            items.append(f"<li><span>{words} {size}</span>\n<ul>\n{inner}\n</ul></li>")
    return f"<ul>\n{items[-1]}\n</ul>"


def hierarchy_section(model: "TopicModel") -> str:
    """Return a section for the report on topics; it is empty for fewer than three topics."""
    if model.n_topics_ < 3:
        return ""
    from eigentext.topics.tables import topic_names

    tree = outline(hierarchy(model), "#topic-", topic_names(model))
    heading = '<h2 id="tree">Which topics are near</h2>'
    return f'<nav class="tree" aria-labelledby="tree">\n{heading}\n{tree}\n</nav>'


def _in_order(weights: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """The topics by falling weight; the words decide between equal weights."""
    tied = len(np.unique(weights)) < len(weights)
    keys = [row.tolist() for row in phi] if tied else [[] for _ in phi]
    return np.array(sorted(range(len(phi)), key=lambda k: (-weights[k], keys[k])))
