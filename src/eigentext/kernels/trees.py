r"""The tree kernel: all subtrees that two trees share [Collins and Duffy 2002, Collins 2003].

A subtree, or fragment, has whole productions only: each of its nodes has either all of its children
in the tree, or none. :math:`h_i(T)` is the number of times that fragment i occurs in T, and
:math:`SIZE_i` is its number of productions, including those of words. Then

.. math:: K(T_1, T_2) = \sum_i \lambda^{SIZE_i} h_i(T_1) h_i(T_2)
    = \sum_{n_1 \in T_1} \sum_{n_2 \in T_2} \Delta(n_1, n_2),

.. math:: \Delta(n_1, n_2) = \lambda \prod_j \left(1 + \Delta(ch(n_1, j), ch(n_2, j))\right)

if the productions at both nodes are the same, else 0. At parts of speech the product is empty, and
:math:`\Delta = \lambda`. So every production multiplies by lambda once, which is exactly
:math:`\lambda^{SIZE}` in [Collins 2003], and the convention of SVM-light-TK. The short form of the
recursion in [Collins 2003] has lambda inside the bracket, and equals this value divided by lambda.

The modules ``_store`` and ``_loops`` compute it. They look only at pairs of nodes with equal
productions, at each pair of *distinct* subtrees once, and at children before their parents.
"""

from typing import Any

import numpy as np

from eigentext.corpus.trees import Tree, as_tree, walk
from eigentext.kernels import parameters
from eigentext.kernels._nodes import How, NodeKernel
from eigentext.kernels._store import NodeForest, Rows, Store


class TreeKernel(NodeKernel):
    """The number of subtrees that two trees share. Large subtrees weigh less.

    Parameters
    ----------
    decay : float
        Lambda, above 0 and at most 1. Each production of a common subtree multiplies its weight by
        it. With 1, a large tree is far more similar to itself than to any other tree. Values from
        0.2 to 0.5 rank better.

    Examples
    --------
    >>> from eigentext import TreeKernel
    >>> kernel = TreeKernel(decay=0.4)
    >>> dog, cat = (f"(S (NP (DT the) (NN {pet})) (VP (VBZ sleeps)))" for pet in ("dog", "cat"))
    >>> round(kernel(dog, dog), 6), round(kernel(dog, cat), 6)
    (3.657216, 2.89344)
    >>> kernel.normalized().gram([dog, cat]).round(3)
    array([[1.   , 0.791],
           [0.791, 1.   ]])
    """

    _table = parameters.TreeKernel

    def __init__(self, decay: float = 1.0):
        self.decay = decay

    def _coding(self) -> tuple[Any, ...]:
        return ("tree",)

    def _add(self, store: Store, known: dict[Any, int], structure: Any) -> int:
        made: list[Any] = []  # words, and numbers of nodes, whose parents come later
        for node in reversed(walk(as_tree(structure))):
            if isinstance(node, str):
                made.append(node)
                continue
            n = len(node.children)
            key = (node.label, *made[: -n - 1 : -1])  # the first child was made last
            del made[len(made) - n :]
            number = known.get(key)
            if number is None:
                number = known[key] = _new(store, node, key)
            made.append(number)
        return made[0]

    def _fill(self, rows: np.ndarray, how: How, a: Rows, b: NodeForest, out: np.ndarray) -> None:
        from eigentext.kernels._loops import tree_rows

        tree_rows(rows, *how, float(self.decay), a, b, out)


def _new(store: Store, node: Tree, key: tuple[Any, ...]) -> int:
    """Add a node and return its number. Labels of children are in tuples, unlike words."""
    labels = (child if isinstance(child, str) else (child.label,) for child in node.children)
    return store.add((node.label, *labels), [part for part in key[1:] if isinstance(part, int)])
