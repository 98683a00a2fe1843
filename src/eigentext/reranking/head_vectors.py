r"""Vectors of head words as features of brackets.

Word vectors of plain text say that words are alike, where clusters say that they are the same or
not. Their main directions are kept: vectors of length 1 are centered and rotated to principal axes,
and the first axes, scaled to equal variance, are the coordinates u(x) of a word x. The features of
a bracket are, each with the labels around it,

* u(h) of its head word h,
* u of the word before it and of the word after it,
* u(c) of the head word of each other child,
* the products :math:`u_n(h) \, u_n(c)`, which are large if both words are alike in direction n.

A word without a vector has only zeros.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.evaluate.vectors import fold, words_and_vectors
from eigentext.reranking.pieces import Piece

N_AXES = 16
_SCALE = 0.5  # the root of the mean square of a coordinate; a feature of words has the value 1
_LEAST = 1e-8  # share of the variance of the first axis


@dataclass(frozen=True, eq=False)
class HeadVectors:
    """The coordinates of words. A model from a file has them in place of the vectors themselves.

    Attributes
    ----------
    rows
        The row of each word.
    coordinates : array, shape (n_words + 1, n_axes)
        The last row is that of words without a vector.
    """

    rows: dict[str, int]
    coordinates: np.ndarray

    @classmethod
    def of(cls, model: Any, n_axes: int = N_AXES) -> "HeadVectors":
        """Those of fitted Eigenwords, of gensim's KeyedVectors, or of words and a matrix."""
        if isinstance(model, cls):
            return model
        words, matrix = words_and_vectors(model)
        rows: dict[str, int] = {}
        for word in words:
            rows.setdefault(word, len(rows))
        first = dict(zip(reversed(words), range(len(words) - 1, -1, -1)))
        matrix = np.asarray(matrix[[first[word] for word in rows]], np.float64)
        if not np.isfinite(matrix).all():
            raise ParameterError("vectors must be finite numbers; learn them again")
        if not matrix.any():
            raise ParameterError("vectors are all zero, or there are none; learn them again")
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix /= np.where(lengths > 0, lengths, 1.0)
        matrix -= matrix.mean(axis=0)
        matrix[lengths[:, 0] == 0] = 0.0
        with engine.one_blas_thread():
            values, axes = np.linalg.eigh(matrix.T @ matrix / len(matrix))
            order = np.argsort(-values, kind="stable")[:n_axes]
            order = order[values[order] > _LEAST * max(values.max(), _LEAST)]
            axes = axes[:, order]
            axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(order))])
            found = matrix @ (axes * (_SCALE / np.sqrt(values[order])))
        return cls.known(list(rows), found.astype(np.float32))

    @classmethod
    def known(cls, words: list[str], coordinates: np.ndarray) -> "HeadVectors":
        """The words with these coordinates."""
        rows = {word: row for row, word in enumerate(words)}
        none = np.zeros((1, coordinates.shape[1]), np.float32)
        return cls(rows, np.concatenate((coordinates, none)))

    @property
    def words(self) -> list[str]:
        """The words with vectors."""
        return list(self.rows)

    def row(self, word: str) -> int:
        """The row of a word, as it is, in lower case, or capitalized."""
        found = fold(word, self.rows)
        return len(self.rows) if found is None else found


def contexts(p: Piece) -> Iterator[tuple[str, int, int]]:
    """The labels around a word, its place, and that of another word to multiply it by, or -1.

    Examples
    --------
    >>> from eigentext.corpus.trees import Tree
    >>> from eigentext.reranking.pieces import pieces
    >>> (one,) = pieces(Tree.parse("(NP (DT the) (NN cat))"))
    >>> [labels for labels, _, _ in contexts(one)]
    ['vh NP', 'vl NP', 'vr NP', 'vc NP DT <', 'vb NP DT <']
    """
    h = p.heads[p.head]
    yield f"vh {p.label}", h, -1
    yield f"vl {p.label}", p.start - 1, -1
    yield f"vr {p.label}", p.end, -1
    for place, (label, c) in enumerate(zip(p.labels, p.heads)):
        if place != p.head:
            near = f"{p.label} {label} {'<' if place < p.head else '>'}"
            yield f"vc {near}", c, -1
            yield f"vb {near}", h, c
