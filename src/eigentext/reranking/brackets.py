r"""The brackets of lists of candidates, with what the base model expects of them.

A bracket :math:`b = (X, i, j)` is a label over the words i to j - 1. A list has each of its
brackets once, whichever candidates contain it. The base model gives b the probability
:math:`\mu(b)`, and a candidate c the score

.. math:: E(c) = \sum_{b \in c} (\mu(b) - \tau) + \text{the expected number of right tags}.

Candidates of parsers carry both (``parser.candidates``). For other lists, :math:`\mu(b)` is the sum
of the probabilities of the candidates that contain b, as shares of the list, and E has no tags.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext.corpus.trees import Tree, as_tree
from eigentext.errors import ParameterError
from eigentext.kernels.candidate import is_tree
from eigentext.reranking._examples import CandidateLists
from eigentext.reranking.extraction import Extractor
from eigentext.reranking.pieces import Piece, pieces
from eigentext.reranking.tree_features import Sentence

TAU = 0.45  # the cost of a bracket in lists without marginals, as in parsers
LEAST = 1e-3  # marginals are from this to one less it, so that their logarithms are finite


class BracketLists(NamedTuple):
    """The brackets of all lists.

    Attributes
    ----------
    lists : CandidateLists
    pieces : list of Piece
        Each bracket of each list, as the first candidate with it has it. The most expected
        candidate comes first.
    owner : array, shape (n_brackets,)
        The number of its list.
    marginals : array, shape (n_brackets,)
        mu(b).
    contains : sparse array, shape (n_candidates, n_brackets)
        How often a candidate contains a bracket. It may do so twice: NP over S over the same NP.
    expected : array, shape (n_candidates,)
        E(c).
    sentences : list of Sentence or None
        The words of each list.
    """

    lists: CandidateLists
    pieces: list[Piece]
    owner: np.ndarray
    marginals: np.ndarray
    contains: Any
    expected: np.ndarray
    sentences: list[Sentence | None]

    @classmethod
    def of(
        cls, candidates: Iterable[Any], sentence: Callable[[Tree], Sentence] = Sentence.of
    ) -> "BracketLists":
        """Those of lists of trees: WeighedTree, Candidate, or pairs of trees and numbers.

        `sentence` makes of a tree what features may ask of its words.
        """
        given = [list(one) if isinstance(one, Iterable) else one for one in candidates]
        lists = CandidateLists(given)
        found: list[Piece] = []
        owner: list[int] = []
        marginals: list[float] = []
        expected: list[float] = []
        places: list[int] = []
        ends = [0]
        sentences: list[Sentence | None] = []
        for number, (raw, checked) in enumerate(zip(given, lists.lists)):
            trees = [_tree(one.structure, number) for one in checked]
            parts = [pieces(tree) for tree in trees]
            values, own = _weights(raw, parts, np.array([c.log_probability for c in checked]))
            expected += own
            known: dict[tuple[str, int, int], int] = {}
            bags: list[list[int]] = [[]] * len(trees)
            for c in sorted(range(len(trees)), key=lambda c: -own[c]):
                bags[c] = bag = []
                for piece, value in zip(parts[c], values[c]):
                    place = known.setdefault(piece[:3], len(found))
                    if place == len(found):
                        found.append(piece)
                        owner.append(number)
                        marginals.append(value)
                    bag.append(place)
            for bag in bags:
                places += bag
                ends.append(len(places))
            best = max(range(len(trees)), key=lambda c: own[c]) if trees else None
            sentences.append(None if best is None else sentence(trees[best]))
        shape = (len(expected), len(found))
        contains = sp.csr_array((np.ones(len(places)), np.array(places, np.int64), ends), shape)
        mu = np.clip(np.array(marginals, float), LEAST, 1 - LEAST)
        return cls(
            lists, found, np.array(owner, int), mu, contains, np.array(expected, float), sentences
        )

    @property
    def odds(self) -> np.ndarray:
        """log(mu / (1 - mu)) of each bracket."""
        return np.log(self.marginals / (1 - self.marginals))

    def right(self, gold: Sequence[Any]) -> np.ndarray:
        """Whether each bracket is in the gold tree of its list: 1 or 0."""
        known = [{piece[:3] for piece in pieces(as_tree(one))} for one in gold]
        owner = self.owner.tolist()
        return np.array([p[:3] in known[n] for p, n in zip(self.pieces, owner)], np.float64)

    def scores(self, probabilities: np.ndarray) -> np.ndarray:
        """E(c) of all candidates, with other probabilities of brackets."""
        return self.expected + self.contains @ (probabilities - self.marginals)

    def features(self, extractor: Extractor) -> Any:
        """The features of all brackets: a sparse array, shape (n_brackets, n_features)."""
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        odds = self.odds.tolist()
        for piece, number, odd in zip(self.pieces, self.owner.tolist(), odds):
            sentence = self.sentences[number]
            if sentence is None:
                raise ValueError("a bracket belongs to an empty list")
            extractor.add(piece, sentence, odd, columns, values)
            ends.append(len(columns))
        shape = (len(self.pieces), len(extractor.index))
        return sp.csr_array((np.array(values), np.array(columns, np.int64), ends), shape)


def _tree(structure: Any, number: int) -> Tree:
    if not is_tree(structure):
        raise ParameterError(
            f"input {number} has a candidate that is no tree; use Reranker for tagged sequences"
        )
    return as_tree(structure)


def _weights(
    given: list[Any], parts: list[list[Piece]], logs: np.ndarray
) -> tuple[list[list[float]], list[float]]:
    """The marginals of the pieces of each candidate, and E of each."""
    if all(hasattr(one, "marginals") for one in given):
        for one, own in zip(given, parts):
            if len(one.marginals) != len(own):
                raise ParameterError(
                    f"a candidate has {len(own)} brackets but {len(one.marginals)} marginals; give "
                    "the trees of parser.candidates as they are"
                )
        return [list(one.marginals)[::-1] for one in given], [float(one.expected) for one in given]
    shares = np.exp(logs)  # the highest is 0
    shares /= shares.sum()
    mass: dict[tuple[str, int, int], float] = {}
    for own, share in zip(parts, shares.tolist()):
        for key in {piece[:3] for piece in own}:
            mass[key] = mass.get(key, 0.0) + share
    values = [[mass[piece[:3]] for piece in own] for own in parts]
    return values, [sum(value - TAU for value in own) for own in values]
