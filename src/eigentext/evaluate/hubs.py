r"""Hubs: words that are among the nearest words of very many other words.

Let :math:`N_k(y)` be the number of words x whose k nearest words include y. Its mean is k. If a few
words have very large :math:`N_k`, lists of nearest words are full of them, and its distribution is
skewed (Radovanović, Nanopoulos and Ivanović 2010):

.. math:: S = \frac{\mathrm{mean}\big((N_k - k)^3\big)}{\mathrm{std}(N_k)^3} .

A skewness below about 2 is harmless. ``words.most_similar(…, reduce_hubs=True)`` is a remedy.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentext import engine, notebook
from eigentext.errors import ParameterError
from eigentext.evaluate.vectors import VectorModel, WordVectors, words_and_vectors
from eigentext.parameters import Count, argument

_ROWS = 512  # the words whose nearest words are found together


@dataclass(frozen=True, repr=False)
class HubnessResult:
    """How unequal words are as neighbors.

    Attributes
    ----------
    skewness : float
        That of the number of lists that a word is in.
    largest : list of (str, int)
        The words that are in most lists.
    never : float
        The share of words that are in no list.
    n_words, k : int
        How many words were compared, and the length of their lists.
    """

    skewness: float
    largest: list[tuple[str, int]]
    never: float
    n_words: int
    k: int

    def __str__(self) -> str:
        top = ", ".join(f"{word} {count}" for word, count in self.largest[:5])
        return (
            f"skewness {self.skewness:.2f} over the {self.k} nearest of {self.n_words:,} words; "
            f"in most lists: {top}; in none: {self.never:.1%}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        table = notebook.table(("word", "in lists"), self.largest)
        return notebook.result(f"Hubs: skewness {self.skewness:.2f}", table)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "skewness": self.skewness,
            "largest": [list(one) for one in self.largest],
            "never": self.never,
            "n_words": self.n_words,
            "k": self.k,
        }


def hubness(
    model: VectorModel, *, k: int = 10, n_words: int = 20_000, reduced: bool = False
) -> HubnessResult:
    """Measure whether some words are neighbors of far too many others.

    Parameters
    ----------
    model : fitted estimator, KeyedVectors, or (words, vectors)
        As for :func:`similarity`.
    k : int
        The length of the lists of nearest words.
    n_words : int
        Only the first words, which are the most frequent ones, are compared.
    reduced : bool
        Measure the lists of ``most_similar(…, reduce_hubs=True)`` instead.

    Examples
    --------
    >>> from eigentext.evaluate import hubness
    >>> middle = [[1.0, 1.0, 1.0]]  # near to everything
    >>> found = hubness((list("abcd"), [*middle, [1, 0, 0], [0, 1, 0], [0, 0, 1]]), k=1)
    >>> found.largest[0]
    ('a', 3)
    """
    k, n_words = argument("k", Count(10), k), argument("n_words", Count(20_000, least=2), n_words)
    words, _ = words_and_vectors(model)
    vectors = WordVectors(model, "exact")
    n = min(len(vectors), n_words)
    if n <= k:
        raise ParameterError(f"{n} words have vectors, so there are no {k} neighbors; lower k")
    V = vectors.unit_rows(slice(0, n)).astype(np.float32)
    near, crowd = _nearest(V, k, None)
    if reduced:
        near, _ = _nearest(V, k, crowd)
    counts = np.bincount(near.ravel(), minlength=n)
    spread = counts.std()
    skewness = ((counts - k) ** 3).mean() / spread**3 if spread else 0.0
    names = [words[row] for row in vectors.kept[:n].tolist()]
    order = np.argsort(-counts, kind="stable")[:20].tolist()
    largest = [(names[place], int(counts[place])) for place in order]
    return HubnessResult(float(skewness), largest, float((counts == 0).mean()), n, k)


def _nearest(V: np.ndarray, k: int, crowd: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The places of the k nearest words of each word, and their mean cosine.

    With `crowd`, the order is by 2 cos(x, y) - crowd[y].
    """

    def work(start: int) -> tuple[np.ndarray, np.ndarray]:
        cosines = V[start : start + _ROWS] @ V.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        scores = cosines if crowd is None else 2 * cosines - crowd
        near = np.argpartition(-scores, k - 1, axis=1)[:, :k].copy()  # a view would keep all
        return near, np.take_along_axis(cosines, near, 1).mean(axis=1)

    with engine.one_blas_thread(), engine.phase("hubs", len(V), "words") as advance:
        found = []
        for part in engine.current().map(work, range(0, len(V), _ROWS)):
            found.append(part)
            advance(len(part[0]))
    return np.concatenate([near for near, _ in found]), np.concatenate([m for _, m in found])
