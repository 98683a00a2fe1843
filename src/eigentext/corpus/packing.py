"""Trees as flat lists: how they are pickled, copied and sent to other processes.

Pickle and copy would recurse, and fail from some hundred levels on.
"""

from eigentext.corpus.trees import Tree, walk

Packed = tuple[list[str], list[int]]  # labels and words, parents first; children of each, or -1


def pack(tree: Tree) -> Packed:
    """A tree as two lists.

    Examples
    --------
    >>> pack(Tree("NP", [Tree("N", ["cats"])]))
    (['NP', 'N', 'cats'], [1, 1, -1])
    """
    nodes = walk(tree)
    return (
        [node if isinstance(node, str) else node.label for node in nodes],
        [-1 if isinstance(node, str) else len(node.children) for node in nodes],
    )


def unpack(packed: Packed) -> Tree:
    """The tree again.

    Examples
    --------
    >>> print(unpack((["NP", "N", "cats"], [1, 1, -1])))
    (NP (N cats))
    """
    made: list[Tree | str] = []  # whose parents are still to come, the first child last
    for name, n_children in zip(*map(reversed, packed)):
        if n_children < 0:
            made.append(name)
            continue
        border = len(made) - n_children
        children = made[border:][::-1]
        del made[border:]
        made.append(Tree(name, children))
    (tree,) = made
    assert isinstance(tree, Tree)
    return tree
