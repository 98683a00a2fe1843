"""Features of inside and outside trees, phi and psi, from which hidden states are learned.

At a node of label a, the inside tree t is the node and all below it. The outside tree o is the
rest, with the node as a leaf. Given the label and its hidden state, the two are independent. So
what they have in common tells about the state. A *template* is a function from trees to values. Its
feature vector has a one at the value and zeros elsewhere. The vectors of all templates side by side
are phi(t) and psi(o).

For (S (NP (D the) (N dog)) (VP (V saw) (P him))), the "full" set, after [Cohen et al. 2013], is:

* inside, at VP: its left child, V; its right child, P; the rule VP -> V P; that rule with what is
  below its left child, (VP (V saw) P), or below its right child; the tag of its head, V; its width,
  2. At a leaf: the word.
* outside, at D: the rule above, and whether D is its left or right child; the same for two and for
  three levels; the label of the parent; the labels of the parent and the grandparent; the tag of
  the first head above that is not its own, N; the number of words to its left, 0, and to its right,
  3.

The "simple" set has only the rule below and the rule above. Moments are kept for each label
separately, so no feature has to name the label. At the root, the templates that look upwards have a
special value.

[Cohen et al. 2013] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Experiments with
spectral learning of latent-variable PCFGs, NAACL 2013.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigentext.errors import ParameterError
from eigentext.grammars.parameters import FEATURE_SETS
from eigentext.grammars.treebank.heads import by_height, heads
from eigentext.grammars.treebank.normal_form import Treebank

Templates = Mapping[str, Any]  # a value for each node, by the name of the template
FeatureSet = Callable[["TreebankNodes"], tuple[Templates, Templates]]


class Forgotten(str):
    """The name of a function. A model file keeps no code; a new fit needs the function again."""

    __slots__ = ()

    def __call__(self, nodes: "TreebankNodes") -> Any:
        """Raise ParameterError: the function is not known any more."""
        raise ParameterError(
            f"features were the function {str(self)!r}, which a model file does not hold; "
            "give it again: set_params(features=...)"
        )


@dataclass(frozen=True, eq=False)
class TreebankNodes:
    """The data for templates: arrays over the nodes of a treebank, in post-order.

    Parameters
    ----------
    treebank
        The trees, with ``symbols``, and ``label``, ``left``, ``right`` and ``rule`` of each node.
    terminals
        The terminal of each leaf: the number of a frequent word, or of a class of rare words
        (``Lexicon.terminals``).
    """

    treebank: Treebank
    terminals: np.ndarray

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Whether a node is a leaf, with a word below it."""
        return self.treebank.left < 0

    @cached_property
    def kind(self) -> np.ndarray:
        """The rule of an inner node, or the terminal of a leaf, numbered after the rules."""
        kind = self.treebank.rule.astype(np.int64)
        kind[self.is_leaf] = len(self.treebank.rules().parent) + self.terminals
        return kind

    @cached_property
    def parent(self) -> np.ndarray:
        """The parent of each node; -1 at roots."""
        parent = np.full(len(self.is_leaf), -1, np.int64)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.treebank.left[inner]] = parent[self.treebank.right[inner]] = inner
        return parent

    @cached_property
    def is_right(self) -> np.ndarray:
        """Whether a node is the right child of its parent."""
        is_right = np.zeros(len(self.is_leaf), bool)
        is_right[self.treebank.right[~self.is_leaf]] = True
        return is_right

    @cached_property
    def end(self) -> np.ndarray:
        """The number of words of the sentence up to the last word of the node."""
        # In post-order, the leaves before a node are below it or to its left.
        so_far = np.cumsum(self.is_leaf)
        offsets = self.treebank.offsets
        before = np.concatenate(([0], so_far[offsets[1:-1] - 1]))
        return so_far - np.repeat(before, np.diff(offsets))

    @cached_property
    def width(self) -> np.ndarray:
        """The number of words below each node."""
        width = self.is_leaf.astype(np.int64)
        left, right = self.treebank.left, self.treebank.right
        for front in self.by_height[1:]:
            width[front] = width[left[front]] + width[right[front]]
        return width

    @cached_property
    def length(self) -> np.ndarray:
        """The number of words of the whole sentence."""
        roots = self.treebank.offsets[1:] - 1
        return np.repeat(self.width[roots], np.diff(self.treebank.offsets))

    @cached_property
    def head(self) -> np.ndarray:
        """The leaf that is the head of each node."""
        return heads(self.treebank)

    @cached_property
    def head_above(self) -> np.ndarray:
        """The first other head among the nodes above; -1 if all have the head of the node."""
        above = np.full(len(self.is_leaf), -1, np.int64)
        for front in reversed(self.by_height[:-1]):
            front = front[self.parent[front] >= 0]
            parent = self.parent[front]
            other = self.head[parent] != self.head[front]
            above[front] = np.where(other, self.head[parent], above[parent])
        return above

    @cached_property
    def tag(self) -> np.ndarray:
        """The tag of each leaf, a number; -1 at inner nodes."""
        names = [symbol.chain[-1] for symbol in self.treebank.symbols]
        numbers = {name: k for k, name in enumerate(dict.fromkeys(names))}
        tags = np.array([numbers[name] for name in names])
        return np.where(self.is_leaf, tags[self.treebank.label], -1)

    @cached_property
    def by_height(self) -> list[np.ndarray]:
        """The nodes of height 0, 1, …: children come before their parents."""
        return by_height(self.treebank)

    def above(self, values: np.ndarray) -> np.ndarray:
        """The value of the parent of each node; -1 at roots."""
        return np.where(self.parent >= 0, values[self.parent], -1)


def full(nodes: TreebankNodes) -> tuple[Templates, Templates]:
    """The templates of [Cohen et al. 2013]."""
    inside = {**_rules_below(nodes), "head": nodes.tag[nodes.head], "width": nodes.width}
    inside["head"] = np.where(nodes.is_leaf, -1, inside["head"])
    inside["width"] = np.where(nodes.is_leaf, -1, inside["width"])
    label = nodes.treebank.label
    parent = nodes.above(label)
    outside = {
        **_rules_above(nodes),
        "parent": parent,
        "parents": codes(parent, nodes.above(parent)),
        "head": np.where(nodes.head_above >= 0, nodes.tag[nodes.head_above], -1),
        "left": nodes.end - nodes.width,
        "right": nodes.length - nodes.end,
    }
    return inside, {name: values + 1 for name, values in outside.items()}


def simple(nodes: TreebankNodes) -> tuple[Templates, Templates]:
    """The rule below and the rule above."""
    return {"rule": nodes.kind}, {"rule": codes(nodes.above(nodes.kind), nodes.is_right)}


def _rules_below(nodes: TreebankNodes) -> dict[str, np.ndarray]:
    left, right, kind = nodes.treebank.left, nodes.treebank.right, nodes.kind
    label, inner = nodes.treebank.label, ~nodes.is_leaf

    def at_inner(*columns: np.ndarray) -> np.ndarray:
        return np.where(inner, codes(*columns), -1)

    return {
        "left": at_inner(label[left]),
        "right": at_inner(label[right]),
        "rule": kind,
        "left rule": at_inner(kind, kind[left]),
        "right rule": at_inner(kind, kind[right]),
    }


def _rules_above(nodes: TreebankNodes) -> dict[str, np.ndarray]:
    one = codes(nodes.above(nodes.kind), nodes.is_right)
    two = codes(one, nodes.above(one))
    return {"rule": one, "2 rules": two, "3 rules": codes(two, nodes.above(nodes.above(one)))}


def codes(*columns: np.ndarray) -> np.ndarray:
    """One number for each row of values: 0, 1, … in the order of the rows.

    Examples
    --------
    >>> codes(np.array([7, 7, 3, 7]), np.array(["b", "a", "b", "b"]))
    array([2, 1, 0, 2])
    """
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        ranks = _ranks(column)
        key = _ranks(key * (ranks.max() + 1) + ranks)
    return key


def _ranks(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "i":
        low, n_numbers = int(values.min()), int(values.max()) - int(values.min()) + 1
        if n_numbers <= 4 * len(values):  # then a table is faster than sorting
            is_there = np.zeros(n_numbers, bool)
            is_there[values - low] = True
            return (np.cumsum(is_there) - 1)[values - low]
    return np.unique(values, return_inverse=True)[1]


class Coded(NamedTuple):
    """The templates of one side as numbers: a row for each template, a column for each node.

    The values of each row are 0, 1, …; -1 means no feature.
    """

    names: list[str]
    values: np.ndarray
    sizes: np.ndarray  # the number of values of each template


def code_features(feature_set: str | FeatureSet, nodes: TreebankNodes) -> tuple[Coded, Coded]:
    """The inside and the outside features of every node.

    Parameters
    ----------
    feature_set : "full", "simple" or a function
        A function of `nodes` returns two dictionaries, of inside and of outside templates. They
        have an array for each name, with a number or a string for each node. A negative number or
        NaN means no feature.
    nodes
        The nodes of the treebank.

    Examples
    --------
    >>> treebank = Treebank.from_trees(["(S (NP (D the) (N dog)) (VP (V saw) (P him)))"])
    >>> nodes = TreebankNodes(treebank, np.arange(4))
    >>> def widths(nodes):
    ...     return {"width": nodes.width}, {"left": nodes.end - nodes.width}
    >>> inside, outside = code_features(widths, nodes)
    >>> inside.values, inside.sizes
    (array([[0, 0, 1, 0, 0, 1, 2]], dtype=int32), array([3]))
    >>> code_features("full", nodes)[1].names
    ['rule', '2 rules', '3 rules', 'parent', 'parents', 'head', 'left', 'right']
    """
    if isinstance(feature_set, str) and feature_set in FEATURE_SETS:
        feature_set = {"full": full, "simple": simple}[feature_set]
    if not callable(feature_set):
        names = ", ".join(map(repr, FEATURE_SETS))
        raise ParameterError(f"features must be {names} or a function, not {feature_set!r}")
    templates = feature_set(nodes)
    if not isinstance(templates, tuple | list) or len(templates) != 2:
        raise ParameterError(
            "features must give two dictionaries, of inside and of outside templates, not "
            f"{templates!r:.60}"
        )
    inside, outside = templates
    return _coded("inside", inside, len(nodes.kind)), _coded("outside", outside, len(nodes.kind))


def _coded(side: str, templates: Templates, n_nodes: int) -> Coded:
    if not isinstance(templates, Mapping) or not templates:
        raise ParameterError(f"no {side} features: give a dictionary of at least one template")
    rows = np.full((len(templates), n_nodes), -1, np.int32)
    for row, (name, values) in zip(rows, templates.items()):
        values = np.asarray(values)
        if values.shape != (n_nodes,):
            raise ParameterError(
                f"the {side} template {name!r} has shape {values.shape}, but there are {n_nodes} "
                "nodes: give one value for each"
            )
        if values.dtype.kind not in "biufU":
            raise ParameterError(
                f"the {side} template {name!r} has values of type {values.dtype}: give numbers or "
                "strings"
            )
        # This is false for NaN too.
        is_there = values >= 0 if values.dtype.kind in "if" else np.ones(n_nodes, bool)
        if is_there.any():
            row[is_there] = codes(values[is_there])
    return Coded(list(templates), rows, rows.max(axis=1).astype(np.int64) + 1)
