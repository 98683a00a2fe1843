"""Trees as flat lists, for pickling, copying and sending to other processes.

Python's pickle and copy would recurse and fail at a few hundred levels.
"""

from eigentext.corpus.trees import Tree, walk

Packed = tuple[list[str], list[int]]  # labels and words; numbers of children, -1 for words


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
    """The tree of a packed one.

    Examples
    --------
    >>> print(unpack((["NP", "N", "cats"], [1, 1, -1])))
    (NP (N cats))
    """
    made: list[Tree | str] = []  # nodes whose parents come later, the first child last
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
