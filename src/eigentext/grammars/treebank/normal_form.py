"""Treebanks in Chomsky normal form: every node is a -> b c or a -> x, stored in flat arrays.

Trees are changed in two steps, and both can be undone exactly. First, a chain of nodes with one
child each becomes one node with the labels of the whole chain: (S (VP …)) becomes S+VP, and (NP
(NNP Ann)) becomes the preterminal NP+NNP. Second, a node X with children C1 … Cn, n > 2, gets
intermediate nodes @X. Binarized to the left, they are

    X -> @X Cn,   @X -> @X Cn-1,   …,   @X -> C1 C2,

and to the right the mirror image, X -> C1 @X and so on.

Markovization sets what a symbol remembers [Klein and Manning 2003]. An intermediate node remembers
the last `horizontal` children that it covers, those next to the child beside it. With none, there
is one @X for every X; with all, the rules are the n-ary rules of the treebank. Every node remembers
the labels of its `vertical` - 1 nearest ancestors.

Remembered labels are those of the original tree, not chains: a sibling that became S+VP is S, and
the ancestors of its children are VP, S, …. A chain has the ancestors of its topmost node. @X has
those of X, the lowest node of its chain, whose children it covers. Preterminals remember no
ancestors, unless `annotate_tags` is set.

Nodes are stored in post-order. The order of leaves and inner nodes determines the shape of a tree.

[Klein and Manning 2003] D. Klein and C. Manning, Accurate unlexicalized parsing, ACL 2003.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus.tokenizers import check_unicode
from eigentext.corpus.trees import Tree, as_tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.parameters import BINARIZATION


class Symbol(NamedTuple):
    """The label of a node of a binarized tree.

    Attributes
    ----------
    chain
        The labels of a chain of nodes, the topmost first. Most chains have one label. The last
        label of a preterminal is its tag.
    siblings
        None for a node of the tree. For an intermediate node of the binarization, the tuple of the
        children that it remembers, from left to right.
    parents
        The nearest ancestors, the parent first.
    preterminal
        Whether it rewrites to a word. Inner symbols rewrite to two symbols.

    Examples
    --------
    >>> str(Symbol(("S", "VP"), parents=("SBAR",)))
    'S+VP^SBAR'
    >>> str(Symbol(("NP",), siblings=("DT",)))
    '@NP|DT'
    """

    chain: tuple[str, ...]
    siblings: tuple[str, ...] | None = None
    parents: tuple[str, ...] = ()
    preterminal: bool = False

    def __str__(self) -> str:
        core = "+".join(self.chain)
        if self.siblings is not None:
            core = "|".join((f"@{core}", *self.siblings))
        return "^".join((core, *self.parents))


class Rules(NamedTuple):
    """The rules parent -> left right, sorted by (left, right, parent), and their counts."""

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray


class Binarization(NamedTuple):
    """How trees are binarized; see :meth:`Treebank.from_trees`."""

    binarize: str = "left"
    horizontal: int | None = 0
    vertical: int = 1
    annotate_tags: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Treebank:
    """Binarized trees as arrays over all nodes in post-order: the root is the last of each tree.

    Attributes
    ----------
    symbols : list of Symbol
        Inner symbols first, then preterminals, each kind in alphabetical order. The order of the
        trees does not matter.
    words : list of str
        The most frequent first; words with equal counts by code point.
    tokens : list of str
        The word of each leaf, in order.
    label : int32 array
        The symbol of each node.
    left, right : int32 arrays
        The nodes that are its children; -1 at leaves.
    word : int32 array
        The word of each leaf; -1 at inner nodes.
    offsets : int64 array, one longer than the trees
        Tree t has the nodes from ``offsets[t]`` to ``offsets[t + 1] - 1``.
    binarization : Binarization
    known : int64 array, optional
        In a treebank that :meth:`encode` returned: the rules of the encoding treebank, as numbers.

    Examples
    --------
    >>> treebank = Treebank.from_trees(["(S (NP (NNP Ann)) (VP (VBZ likes) (NP (NNP Bob))) (. .))"])
    >>> [str(treebank.symbols[a]) for a in treebank.label]
    ['NP+NNP', 'VBZ', 'NP+NNP', 'VP', '@S', '.', 'S']
    >>> treebank.left.tolist(), treebank.right.tolist()
    ([-1, -1, -1, 1, 0, -1, 4], [-1, -1, -1, 2, 3, -1, 5])
    >>> print(treebank.trees()[0])
    (S (NP (NNP Ann)) (VP (VBZ likes) (NP (NNP Bob))) (. .))
    """

    symbols: list[Symbol]
    words: list[str]
    tokens: list[str]
    label: np.ndarray
    left: np.ndarray
    right: np.ndarray
    word: np.ndarray
    offsets: np.ndarray
    binarization: Binarization
    known: np.ndarray | None = None

    @classmethod
    def from_trees(
        cls,
        trees: Iterable[Any],
        *,
        binarize: str = "left",
        horizontal: int | None = 0,
        vertical: int = 1,
        annotate_tags: bool = False,
    ) -> "Treebank":
        """Binarize trees, and number their symbols and words.

        Parameters
        ----------
        trees
            Trees, bracket strings, or objects with the shape of an ``nltk.Tree``.
        binarize : "left" or "right"
            The side on which the intermediate nodes branch.
        horizontal : int or None
            How many children an intermediate node remembers; None for all.
        vertical : int
            1: the label of the node alone; 2: also that of its parent; and so on.
        annotate_tags : bool
            Whether preterminals remember their ancestors too.
        """
        how = Binarization(binarize, horizontal, vertical, annotate_tags)
        BINARIZATION.checked(how._asdict())
        return cls.from_parts([binarized(trees, how)], how)

    @classmethod
    def from_parts(cls, parts: Iterable["TreebankPart"], how: Binarization) -> "Treebank":
        """Join the parts that :func:`binarized` returned into one treebank."""
        parts = list(parts)
        numbers: defaultdict[Symbol, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        n_nodes = np.cumsum([0, *(len(part.label) for part in parts)])
        if n_nodes[-1] == 0:
            raise CorpusError("no trees: is the treebank empty?")
        label = [np.array([numbers[s] for s in part.symbols])[part.label] for part in parts]
        left, right = (
            np.concatenate([np.where(x >= 0, x + first, -1) for x, first in zip(side, n_nodes)])
            for side in ([part.left for part in parts], [part.right for part in parts])
        )
        offsets = [part.offsets[1:] + first for part, first in zip(parts, n_nodes)]
        tokens = [token for part in parts for token in part.tokens]
        symbols = in_order(numbers)
        places = np.empty(len(symbols), np.int32)
        places[[numbers[symbol] for symbol in symbols]] = np.arange(len(symbols))
        counts = Counter(tokens)
        words = sorted(counts, key=lambda word: (-counts[word], word))
        check_unicode(words, "a word of the trees")
        check_unicode((name for one in symbols for name in one.chain), "a label of the trees")
        left, right = left.astype(np.int32), right.astype(np.int32)
        word = _words(tokens, words, left)
        return cls(
            symbols, words, tokens, places[np.concatenate(label)], left, right, word,
            np.concatenate([[0], *offsets]).astype(np.int64), how,
        )  # fmt: skip

    def encode(self, trees: Iterable[Any]) -> "Treebank":
        """Encode other trees with the symbols, words and rules of these.

        Unknown symbols, words and rules are -1 in ``label``, ``word`` and ``rule``. ``tokens``
        still has all words.
        """
        numbers = defaultdict(lambda: -1, {symbol: a for a, symbol in enumerate(self.symbols)})
        how = self.binarization
        label, left, right, tokens, offsets = _flatten(trees, how, numbers)
        word = _words(tokens, self.words, left)
        return Treebank(
            self.symbols, self.words, tokens, label, left, right, word, offsets, how, self._table
        )

    def without_trees(self) -> "Treebank":
        """Only the symbols, words and rules, to encode other trees with."""
        nothing = np.empty(0, np.int32)
        return Treebank(
            self.symbols, self.words, [], nothing, nothing, nothing, nothing,
            np.zeros(1, np.int64), self.binarization, self._table,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        sizes = f"{len(self)} trees, {len(self.tokens)} tokens, {len(self.symbols)} symbols"
        return f"Treebank({sizes}, {len(self.rules().parent)} rules)"

    @property
    def n_inner(self) -> int:
        """The number of inner symbols. The preterminals come after them."""
        return sum(not symbol.preterminal for symbol in self.symbols)

    @property
    def is_known(self) -> bool:
        """Whether all symbols and rules are those of the treebank that encoded this one."""
        return bool(self.label.min() >= 0 and (self.rule[self.left >= 0] >= 0).all())

    def trees(self) -> list[Tree]:
        """The original trees."""
        if self.label.min(initial=0) < 0:
            raise ParameterError("unknown symbols cannot be restored: keep the trees themselves")
        bounds, words = self.offsets.tolist(), iter(self.tokens)
        return [
            restore(self.symbols, self.label[a:b], self.left[a:b] - a, self.right[a:b] - a, words)
            for a, b in pairwise(bounds)
        ]

    def rules(self) -> Rules:
        """The rules, and how often each occurs in these trees."""
        return self._rules

    @cached_property
    def rule(self) -> np.ndarray:
        """The rule of each node, int32; -1 at leaves, and for unknown rules."""
        rule = np.full(len(self.label), -1, np.int32)
        if len(self._table):
            places = np.searchsorted(self._table, self._keys).clip(max=len(self._table) - 1)
            rule[self.left >= 0] = np.where(self._table[places] == self._keys, places, -1)
        return rule

    @cached_property
    def height(self) -> np.ndarray:
        """The length of the longest path from each node down to a leaf, int32; 0 at leaves."""
        height = np.zeros(len(self.label), np.int32)
        inner = np.flatnonzero(self.left >= 0)
        up = np.full(len(height), -1, np.int64)
        up[self.left[inner]] = up[self.right[inner]] = inner
        waits = 2 * (self.left >= 0)  # number of children whose height is not known yet
        front, level = np.flatnonzero(self.left < 0), 0
        while len(front):
            height[front] = level
            mothers, arrived = np.unique(up[front], return_counts=True)
            mothers, arrived = mothers[mothers >= 0], arrived[mothers >= 0]
            waits[mothers] -= arrived
            front, level = mothers[waits[mothers] == 0], level + 1
        return height

    @cached_property
    def _rules(self) -> Rules:
        pairs, parent = np.divmod(self._table, len(self.symbols))
        left, right = np.divmod(pairs, len(self.symbols))
        counts = np.bincount(self.rule[self.rule >= 0], minlength=len(parent))
        parent, left, right = (a.astype(np.int32) for a in (parent, left, right))
        return Rules(parent, left, right, counts)

    @cached_property
    def _table(self) -> np.ndarray:
        """The rules as numbers, in rising order."""
        return np.unique(self._keys) if self.known is None else self.known

    @cached_property
    def _keys(self) -> np.ndarray:
        """The rule of each inner node as a number, sorted as rules are; -1 for unknown symbols."""
        inner = self.left >= 0
        label, n = self.label.astype(np.int64), len(self.symbols)
        parent, left, right = label[inner], label[self.left[inner]], label[self.right[inner]]
        known = (parent >= 0) & (left >= 0) & (right >= 0)
        return np.where(known, (left * n + right) * n + parent, -1)


class TreebankPart(NamedTuple):
    """Binarized trees with symbols of their own. Several parts become a treebank."""

    symbols: list[Symbol]
    label: np.ndarray
    left: np.ndarray
    right: np.ndarray
    tokens: list[str]
    offsets: np.ndarray


def binarized(trees: Iterable[Any], how: Binarization, first: int = 1) -> TreebankPart:
    """Binarize trees as a part of a treebank. `first` is the number of the first, for errors."""
    numbers: defaultdict[Symbol, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    flat = _flatten(trees, how, numbers, first)
    return TreebankPart(list(numbers), *flat)


def restore(
    symbols: Sequence[Symbol],
    label: Any,
    left: Any,
    right: Any,
    tokens: Iterable[str],
) -> Tree:
    """The original tree of a binary one, without intermediate nodes and with chains unfolded.

    Parameters
    ----------
    symbols
        The symbols of the labels. An intermediate symbol at the root becomes a node with its label.
    label, left, right : arrays, one entry for each node
        The root is the last node. ``left`` and ``right`` are nodes, or negative at leaves. The
        other nodes may be in any order.
    tokens
        The words, from left to right.

    Examples
    --------
    >>> symbols = [Symbol(("S", "VP")), Symbol(("VB",), preterminal=True)]
    >>> print(restore(symbols, [1, 1, 0], [-1, -1, 0], [-1, -1, 1], ["let", "go"]))
    (S (VP (VB let) (VB go)))
    """
    label, left, right = (np.asarray(a).tolist() for a in (label, left, right))
    words, top = iter(tokens), []
    nodes: list[
        tuple[str, list[Any], int]
    ] = []  # label, and its place among the children of its parent
    todo: list[tuple[int, list[Any]]] = [(len(label) - 1, top)]
    while todo:
        node, home = todo.pop()
        symbol = symbols[label[node]]
        if symbol.siblings is None or not nodes:
            for name in symbol.chain:
                nodes.append((name, home, len(home)))
                home.append([])  # its children, until they are trees
                home = home[-1]
        if left[node] < 0:
            home.append(next(words))
        else:
            todo += ((right[node], home), (left[node], home))
    for name, home, place in reversed(nodes):
        home[place] = Tree(name, home[place])
    return top[0]


def coarse(symbols: Sequence[Symbol]) -> tuple[np.ndarray, list[Symbol]]:
    """The symbols without siblings and parents, and which of these each symbol refines.

    These are the symbols of ``horizontal=0, vertical=1``, in the order of a treebank.

    Examples
    --------
    >>> fine = [Symbol(("NP",), ("DT",)), Symbol(("NP",), None, ("S",)), Symbol(("NP",), ("JJ",))]
    >>> places, plain = coarse(fine)
    >>> [str(symbol) for symbol in plain], places
    (['NP', '@NP'], array([1, 0, 1], dtype=int32))
    """
    bare = [
        symbol._replace(siblings=None if symbol.siblings is None else (), parents=())
        for symbol in symbols
    ]
    plain = in_order(bare)
    places = {symbol: a for a, symbol in enumerate(plain)}
    return np.array([places[symbol] for symbol in bare], np.int32), plain


def in_order(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Symbols in the order of a treebank, each once: inner ones, then preterminals, by name."""
    return sorted(set(symbols), key=_rank)


def _rank(symbol: Symbol) -> tuple[Any, ...]:
    chain, siblings, parents, preterminal = symbol
    return preterminal, siblings is not None, chain, siblings or (), parents


def _flatten(
    trees: Iterable[Any], how: Binarization, numbers: dict[Symbol, int], first: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str], np.ndarray]:
    """The labels, the left and right children, the tokens, and where the trees begin."""
    label: list[int] = []
    is_leaf: list[bool] = []
    tokens: list[str] = []
    offsets = [0]
    for tree in trees:
        try:
            for symbol, word in _binarized(as_tree(tree), how):
                label.append(numbers[symbol])
                is_leaf.append(word is not None)
                if word is not None:
                    tokens.append(word)
        except CorpusError as error:
            raise CorpusError(f"tree {first + len(offsets) - 1}: {error}") from None
        offsets.append(len(label))
    left, right = _children(np.array(is_leaf, np.bool_))
    return np.array(label, np.int32), left, right, tokens, np.array(offsets, np.int64)


def _binarized(tree: Tree, how: Binarization) -> Iterator[tuple[Symbol, str | None]]:
    """The nodes of a binarized tree in post-order: symbols, and words at leaves."""
    n_parents = how.vertical - 1
    todo: list[Any] = [(tree, ())]  # trees with their ancestors, and symbols of inner nodes
    while todo:
        item = todo.pop()
        if isinstance(item, Symbol):
            yield item, None
            continue
        node, parents = item
        chain, above = [node.label], parents
        while len(node.children) == 1 and not isinstance(node.children[0], str):
            above = (node.label, *above)[:n_parents]
            node = node.children[0]
            chain.append(node.label)
        if node.is_preterminal:
            kept = parents if how.annotate_tags else ()
            yield Symbol(tuple(chain), None, kept, True), node.children[0]
            continue
        _check_children(node)
        todo.append(Symbol(tuple(chain), None, parents))
        below = (node.label, *above)[:n_parents]
        todo += reversed(list(_branches(node, below, above, how)))


def _branches(
    node: Tree, below: tuple[str, ...], above: tuple[str, ...], how: Binarization
) -> Iterator[Any]:
    """The children of a node, with their ancestors, and its intermediate nodes, in post-order."""
    names = tuple(child.label for child in node.children)
    n = len(names)
    h = n if how.horizontal is None else how.horizontal
    if how.binarize == "left":  # C1 C2 @X C3 @X … Cn
        for k, child in enumerate(node.children):
            yield child, below
            if 0 < k < n - 1:
                yield Symbol((node.label,), names[max(0, k + 1 - h) : k + 1], above)
    else:  # C1 … Cn @X … @X
        for child in node.children:
            yield child, below
        for k in range(n - 2, 0, -1):
            yield Symbol((node.label,), names[k : k + h], above)


def _check_children(node: Tree) -> None:
    if not node.children:
        raise CorpusError(f"{node.label!r} has neither words nor trees below it")
    if any(isinstance(child, str) for child in node.children):
        text = str(node)
        raise CorpusError(
            f"{text if len(text) <= 60 else text[:59] + '…'} has a word beside other children; "
            "give each word its own tag, as in (NP (DT the) (NN dog))"
        )


def _children(is_leaf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The left and the right child of each node, from the order of leaves and inner nodes.

    Think of post-order as the program of a stack machine: a leaf is pushed; an inner node takes two
    items and pushes one. So a right child is the node just before its parent. A left child is the
    last node before that which left the stack as high as the parent does.
    """
    height = np.cumsum(np.where(is_leaf, 1, -1))
    order = np.argsort(height, kind="stable")
    left = np.full(len(is_leaf), -1, np.int32)
    left[order[1:]] = order[:-1]
    left[is_leaf] = -1
    right = np.arange(-1, len(is_leaf) - 1, dtype=np.int32)
    right[is_leaf] = -1
    return left, right


def _words(tokens: list[str], words: list[str], left: np.ndarray) -> np.ndarray:
    places = {word: x for x, word in enumerate(words)}
    word = np.full(len(left), -1, np.int32)
    word[left < 0] = [places.get(token, -1) for token in tokens]
    return word
