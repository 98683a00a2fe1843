"""Reading trees: from what the user gives to a binarized treebank.

Trees are normalized (:func:`~eigentext.normalize_tree`) and then binarized. If Dask workers are in
use, they do this in blocks of trees. The result is the same.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import Any, TypeVar

from eigentext import engine
from eigentext.corpus.packing import Packed, pack, unpack
from eigentext.corpus.trees import Tree, as_tree, normalize_tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.parameters import BINARIZATION
from eigentext.grammars.treebank.normal_form import (
    Binarization,
    Treebank,
    TreebankPart,
    binarized,
)
from eigentext.storage.checkpoints import fingerprint

TreeLike = Any  # a Tree, a bracket string, or an object with the shape of an nltk.Tree
_BLOCK = 500  # trees of one task: a tenth of a second
_EMPTY = "no trees to learn from: is the treebank empty?"
_Made = TypeVar("_Made")


def read_treebank(trees: Iterable[TreeLike], **binarization: Any) -> Treebank:
    """Normalize and binarize trees.

    Parameters
    ----------
    trees
        Trees, bracket strings, or objects with the shape of an ``nltk.Tree``.
    binarization
        Keyword arguments of :meth:`Treebank.from_trees`.
    """
    workers = engine.distributed()
    if workers is None:
        return Treebank.from_trees(normalized(trees), **binarization)
    _check_several(trees)
    how = Binarization(**binarization)
    BINARIZATION.checked(how._asdict())
    parts = list(workers.map(_read_block, _blocks(trees), how))
    if not parts:
        raise CorpusError(_EMPTY)
    return Treebank.from_parts(parts, how)


def normalized(trees: Iterable[TreeLike]) -> list[Tree]:
    """Normalize trees; an error names the tree. Raise CorpusError if there is none."""
    _check_several(trees)
    result = _normalized(trees, 1)
    if not result:
        raise CorpusError(_EMPTY)
    return result


def treebank_fingerprint(treebank: Treebank) -> str:
    """A fingerprint of normalized and binarized trees: equal for equal trees in the same order."""
    one = treebank
    parts = (one.label, one.left, one.right, one.word, one.offsets)
    return fingerprint(one.symbols, one.words, one.binarization, *parts)


def _check_several(trees: object) -> None:
    is_one = isinstance(trees, (str, bytes, os.PathLike)) or hasattr(trees, "label")
    if is_one or not isinstance(trees, Iterable):
        raise CorpusError("give a list of trees, as et.read_trees does, not a single one or a path")


def _normalized(trees: Iterable[TreeLike], first: int) -> list[Tree]:
    return [_named(number, _normalize, tree) for number, tree in enumerate(trees, first)]


def _normalize(tree: TreeLike) -> Tree:
    return normalize_tree(as_tree(tree))


def _named(number: int, function: Callable[[TreeLike], _Made], tree: TreeLike) -> _Made:
    """Apply a function to a tree; an error gets the number of the tree."""
    try:
        return function(tree)
    except (CorpusError, ParameterError) as error:
        raise type(error)(f"tree {number}: {error}") from None


def _blocks(trees: Iterable[TreeLike]) -> Iterator[tuple[int, list[str | Packed]]]:
    """Blocks of trees to send to workers, each with the number of its first tree.

    Bracket strings are sent as they are. Other trees are packed.
    """
    queue = iter(trees)
    for first in count(1, _BLOCK):
        block = [
            tree if isinstance(tree, str) else pack(_named(number, as_tree, tree))
            for number, tree in enumerate(islice(queue, _BLOCK), first)
        ]
        if not block:
            return
        yield first, block


def _read_block(block: tuple[int, list[str | Packed]], how: Binarization) -> TreebankPart:
    first, packed = block
    trees = [tree if isinstance(tree, str) else unpack(tree) for tree in packed]
    return binarized(_normalized(trees, first), how, first)
