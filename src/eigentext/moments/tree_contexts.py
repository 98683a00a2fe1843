r"""Contexts of words in trees: the word that governs a word, and its neighbors in the tree.

A text shows which words stand near each other. A tree shows which words belong together, however
far apart they are. Heads (``corpus/heads.py``) make words of the constituents, and the contexts of
a word are other words again:

- ``head``: the word that governs it, which is the head of the lowest constituent that it belongs to
  but does not head itself;
- ``sibling``: the head of the next child on the right of the same constituent;
- ``grandparent``: the word that governs its governor.

Each kind of context r is a matrix of forward counts :math:`F_r[w, c]`, and they are kept as the
places of a list, :math:`[F_1\,F_2 \dots]`. So :meth:`CooccurrenceMoments.counts` has both
directions: columns for the word that governs w, and other columns for the words that w governs. All
that moments can do works for them too: they are integers, can be added, cut and saved.

With `labels`, each kind has a place for each of these labels of the constituent, and one for all
others. The object of a verb is then another context than a modifier of a noun. It is the way of
Levy and Goldberg (2014, "Dependency-based word embeddings", ACL), with labels of constituents in
place of those of dependencies.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.heads import ENGLISH, Dependencies, HeadFinder, HeadRules
from eigentext.corpus.tokenizers import check_unicode
from eigentext.corpus.trees import Tree, as_tree, normalize_tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.moments.additive import VocabularyMoments
from eigentext.moments.pairs import pair_shape
from eigentext.parameters import Count, Table

CONTEXTS = ("head", "sibling", "grandparent")
_BLOCK = 10_000  # trees whose pairs are in memory before they are counted
_MOST_LABELS = 300  # each is a matrix
_LIMITS = Table("CooccurrenceMoments", min_count=Count(1), max_size=Count(None))


class TreeContexts(VocabularyMoments):
    """The part of :class:`CooccurrenceMoments` that counts trees."""

    @classmethod
    def from_trees(
        cls,
        trees: Iterable[Any],
        *,
        contexts: Sequence[str] = ("head", "sibling"),
        labels: Sequence[str] = (),
        vocabulary: Iterable[str] | None = None,
        min_count: int = 1,
        max_size: int | None = None,
        heads: HeadRules = ENGLISH,
    ) -> Self:
        """Count which words govern which in trees, and which stand side by side.

        The trees may be those of a treebank, or a parser's trees of plain text. The moments have
        the settings ``window=n, context="list", weighting="flat"``, where n, the number of places,
        is the number of contexts, times the number of labels plus one if there are labels.

        Parameters
        ----------
        trees
            Trees, bracket strings, or objects with the shape of an ``nltk.Tree``. They are
            normalized first (``et.normalize_tree``).
        contexts : list of "head", "sibling" and "grandparent"
            The contexts of a word, in this order; see :mod:`eigentext.moments.tree_contexts`.
        labels : list of str
            The labels of constituents that make contexts differ, such as ["S", "VP", "NP", "PP"].
            All other labels share one place. Without labels, no label makes a difference.
        vocabulary : iterable of str, optional
            The words to count; all others are `RARE`. Such moments are cut.
        min_count, max_size : int
            As in :meth:`from_corpus`, without a `vocabulary`.
        heads : dict
            The rules that find heads, by labels. The default is for English, with the labels of
            the Penn treebank.

        Examples
        --------
        >>> from eigentext import CooccurrenceMoments, Eigenwords
        >>> trees = ["(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (NNP Ann))))",
        ...          "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (NNP Bob))))"]
        >>> moments = CooccurrenceMoments.from_trees(trees, contexts=["head"])
        >>> moments.vocabulary.words
        ['sees', 'the', 'Ann', 'Bob', 'cat', 'dog']
        >>> moments.forward.toarray()[2]  # "Ann" is governed by "sees"
        array([1, 0, 0, 0, 0, 0])
        >>> model = Eigenwords(4, window=1, context="list", weighting="flat", min_count=1)
        >>> model.fit_moments(moments).most_similar("cat", topn=1)[0][0]
        'dog'
        """
        contexts = _checked("contexts", contexts, CONTEXTS)
        labels = _checked("labels", labels)
        if not contexts:
            raise ParameterError(f"contexts is empty; give some of {', '.join(CONTEXTS)}")
        limits = _LIMITS.taken({"min_count": min_count, "max_size": max_size})
        finder, digest, total = HeadFinder(heads), hashlib.sha256(), None
        options = _options(contexts, labels, heads)
        with engine.phase("count trees", None, "trees") as advance:
            for block in _blocks(trees):
                found = [finder.dependencies(tree) for tree in block]
                for tree in block:
                    digest.update(f"{tree}\n".encode(errors="surrogatepass"))
                part = cls._made(**_counted(found, contexts, labels), options=options)
                total = part if total is None else total + part
                advance(len(block))
        if total is None:
            raise CorpusError("no trees to count: is the treebank empty?")
        if total.forward.nnz == 0:
            raise CorpusError(
                "no two words share a tree, so there is nothing to count; give trees of sentences"
            )
        total.sources = [digest.hexdigest()]
        return total.restrict(vocabulary, **limits)


def _options(contexts: list[str], labels: list[str], heads: HeadRules) -> dict[str, Any]:
    """How the trees were read. Only moments that agree on this can be added."""
    options: dict[str, Any] = {"tokenizer": "none", "lowercase": False, "unit": "line"}
    options |= {"contexts": contexts, "labels": labels}
    if heads is not ENGLISH:
        options["heads"] = {label: [list(tier) for tier in heads[label]] for label in sorted(heads)}
    return options


def _counted(found: list[Dependencies], contexts: list[str], labels: list[str]) -> dict[str, Any]:
    """The parts of the moments of some trees."""
    numbers: dict[str, int] = {}
    tokens = np.array(
        [numbers.setdefault(word, len(numbers)) for one in found for word in one.words], np.int64
    )
    check_unicode(numbers, "a word of the trees")
    place_of = {label: k for k, label in enumerate(labels)}
    parts = [
        [triple for tree, start in _with_starts(found) for triple in _PAIRS[kind](tree, start)]
        for kind in contexts
    ]
    ids = list(numbers)
    vocabulary = Vocabulary.from_counts(ids, np.bincount(tokens, minlength=len(ids)))
    rows = vocabulary.ids_of(ids)[tokens]
    n, each = len(vocabulary), len(labels) + 1
    window = len(contexts) * each
    where, to = [], []
    for k, triples in enumerate(parts):
        w, c = (np.array([triple[x] for triple in triples], np.int64) for x in (0, 1))
        other = len(labels)
        kind = [k * each + place_of.get(triple[2], other) for triple in triples]
        where.append(rows[w])
        to.append(np.array(kind, np.int64) * n + rows[c])
    row, column = np.concatenate(where), np.concatenate(to)
    shape = pair_shape(n, window, "list")
    forward = sp.csr_array((np.ones(len(row), np.int64), (row, column)), shape)
    forward.sum_duplicates()
    return {
        "vocabulary": vocabulary,
        "rare_count": 0,
        "forward": forward,
        "window": window,
        "context": "list",
        "weighting": "flat",
        "whole": True,
    }


def _with_starts(found: list[Dependencies]) -> Iterator[tuple[Dependencies, int]]:
    start = 0
    for tree in found:
        yield tree, start
        start += len(tree.words)


Triples = Iterator[tuple[int, int, str]]  # word, context, label of the constituent


def _heads(tree: Dependencies, start: int) -> Triples:
    for w, (c, label) in enumerate(zip(tree.governor, tree.label)):
        if c >= 0:
            yield start + w, start + c, label


def _siblings(tree: Dependencies, start: int) -> Triples:
    for w, c, label in tree.siblings:
        yield start + w, start + c, label


def _grandparents(tree: Dependencies, start: int) -> Triples:
    for w, (parent, label) in enumerate(zip(tree.governor, tree.label)):
        if parent >= 0 and (c := tree.governor[parent]) >= 0:
            yield start + w, start + c, label


_PAIRS = {"head": _heads, "sibling": _siblings, "grandparent": _grandparents}


def _blocks(trees: Iterable[Any]) -> Iterator[list[Tree]]:
    """Blocks of normalized trees. An error names the number of the tree."""
    is_one = isinstance(trees, (str, bytes, os.PathLike)) or hasattr(trees, "label")
    if is_one or not isinstance(trees, Iterable):
        raise CorpusError("give a list of trees, as et.read_trees does, not a single one or a path")
    queue = enumerate(trees, 1)
    while some := list(islice(queue, _BLOCK)):
        yield [_normalized(number, tree) for number, tree in some]


def _normalized(number: int, tree: Any) -> Tree:
    if tree is None:
        raise CorpusError(
            f"tree {number} is None, as parsers answer an empty sentence; leave it out"
        )
    try:
        return normalize_tree(as_tree(tree))
    except (CorpusError, ParameterError) as error:
        raise type(error)(f"tree {number}: {error}") from None


def _checked(name: str, given: Any, known: Sequence[str] | None = None) -> list[str]:
    """A list of different names."""
    is_list = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    if not is_list or not all(isinstance(one, str) and one for one in given):
        raise ParameterError(f"{name} must be a list of strings, not {given!r:.60}")
    names: list[str] = [str(one) for one in given]
    if len(set(names)) < len(names):
        raise ParameterError(f"{name} has a name twice: {', '.join(names)}")
    if len(names) > _MOST_LABELS:
        raise ParameterError(f"{name} has {len(names)} names; give {_MOST_LABELS} at most")
    for one in names:
        if known is not None and one not in known:
            raise ParameterError(f"{name} has {one!r}; the contexts are {', '.join(known)}")
    return names
