r"""Vectors for unseen words, from their spelling.

A word is the bag of its character n-grams, with marks at both ends: "cat" has ``<c``, ``ca``,
``cat``, …, ``<cat>``. Each is hashed into one of b buckets (FNV-1a of its UTF-8 bytes: the same on
every machine), and the counts are scaled to a unit vector :math:`x_w \in R^b`. From the words
that do have vectors :math:`v_w`, with mean :math:`\mu`, ridge regression learns

.. math:: W = \arg\min_W \sum_w c_w \|a_w (x_w^\top W + \mu) - v_w\|^2 + \lambda \|W\|^2 ,

and the vector of an unseen word is the direction of :math:`x_w^\top W + \mu`. The weights
:math:`c_w` and the strengths :math:`a_w` of the signal are 1 unless they are given. As in fastText
(Bojanowski et al. 2017), an n-gram has a vector, and a word has the sum of them. Here they are
fitted to given vectors by least squares.

The normal equations :math:`(X^\top C X + \lambda I) W = X^\top C (V - \mu)`, here with all
:math:`a_w = 1`, are solved by conjugate gradients (Hestenes and Stiefel 1952), separately for each
column of W, with the diagonal as preconditioner. Without it, the n-grams that all words share need
twice as many steps.
"""

import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.estimators import Estimator, check_is_fitted, is_fitted, learned_with, learning
from eigentext.matrices.products import Factorable, factorable, sparse_times
from eigentext.parameters import Settings
from eigentext.storage import facts
from eigentext.storage.schema import Array, Schema, damage
from eigentext.words import parameters
from eigentext.words._saved import LARGEST, check_values

_PANEL = 32  # columns that one thread solves for
_COEFFICIENTS = Array("float16", ("buckets", "dimensions"), lazy=True)


class CharacterRidge(Estimator):
    r"""Predict a word's vector from its character n-grams.

    The defaults were chosen by the cosines of held-out words of text8: see docs/results.md. For the
    ranks of similarities, fewer lengths and a penalty of 1 are better: `Eigenwords` uses these.

    Parameters
    ----------
    ngram_range : pair of int
        The shortest and the longest n-gram, in characters, marks included.
    n_buckets : int
        The number of buckets for hashed n-grams; :attr:`coefficients_` has a row for each.
    penalty : float, above 0
        The weight :math:`\lambda` of large coefficients. With a large penalty, all predictions
        are close to the mean.
    tol : float
        Stop when the residual of the normal equations is this part of its first value.
    max_iter : int
        The largest number of steps of conjugate gradients.

    Attributes
    ----------
    coefficients_ : float16 array, shape (n_buckets, n_components)
        In half precision, as they are saved, so that a loaded model predicts the same.
    mean_ : float32 array, shape (n_components,)
        The prediction for a word without known n-grams.
    diagnostics_ : dict
        The number of words that were used and left out, the steps, and the last residual.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.words.subwords import CharacterRidge
    >>> words = ["walked", "talked", "jumped", "walking", "talking", "jumping"]
    >>> vectors = np.repeat(np.eye(2), 3, axis=0)  # two directions: past and present
    >>> spelling = CharacterRidge(penalty=0.01).fit(words, vectors)
    >>> spelling.predict(["barked", "barking"]).round(1)
    array([[0.9, 0.4],
           [0.3, 1. ]], dtype=float32)
    """

    _table = parameters.CharacterRidge

    def __init__(
        self,
        *,
        ngram_range: tuple[int, int] = (2, 6),
        n_buckets: int = 1 << 16,
        penalty: float = 8.0,
        tol: float = 0.05,
        max_iter: int = 50,
    ):
        self.ngram_range = ngram_range
        self.n_buckets = n_buckets
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter

    @learning
    def fit(
        self, words: Iterable[str], vectors: Any, counts: Any = None, *, strengths: Any = None
    ) -> Self:
        r"""Learn from words and their vectors. Only the directions of the vectors matter.

        With `counts`, a word has the weight :math:`c_w = \log(1 + count)`, scaled to 1 on average.
        That suits unseen words that are frequent. Without, all weights are 1. Words with a zero
        vector are left out.

        With `strengths` from 0 to 1, a vector is a noisy copy of the signal :math:`a_w v_w`, as in
        :mod:`~eigentext.words.spelling_prior`. Without, all strengths are 1.
        """
        words = _listed(words)
        V = _directions(vectors, len(words))
        weights = _weights(counts, len(words))
        a = _strengths(strengths, len(words))
        has_vector = V.any(axis=1) & (weights > 0) & (a > 0)
        if not has_vector.any():
            raise ParameterError("no words to learn from: every vector is zero or there are none")
        words = [word for word, kept in zip(words, has_vector) if kept]
        V, weights, a = V[has_vector], weights[has_vector], a[has_vector]
        weights *= len(weights) / weights.sum()
        self.mean_ = (weights * a @ V / (weights @ a**2)).astype(np.float32)
        roots, a = np.sqrt(weights)[:, None], a[:, None]
        X = sp.csr_array(self._features(words, self) * (roots * a).astype(np.float32))
        self.coefficients_, steps, residual = self._solve(X, (V - a * self.mean_) * roots)
        self.diagnostics_ = {
            "n_words": len(words),
            "left_out": int((~has_vector).sum()),
            "n_iter": steps,
            "residual": residual,
        }
        if residual > self.tol:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"after {steps} steps of conjugate gradients, {residual:.2g} of the residual is "
                f"left, which is more than tol={self.tol}; raise max_iter or penalty",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def predict(self, words: Iterable[str]) -> np.ndarray:
        """A float32 unit row for each word, known or not."""
        return _unit(self.deviations(words) + self.mean_)

    def deviations(self, words: Iterable[str]) -> np.ndarray:
        r"""A float32 row :math:`x_w^\top W` for each word: what its spelling adds to the mean."""
        check_is_fitted(self)
        words = _listed(words)
        X = self._features(words, self.parameters_)
        if len(words) == 0:
            return np.empty((0, len(self.mean_)), np.float32)
        # Only the rows that are needed are read; the others may stay on disk.
        used, columns = np.unique(X.indices, return_inverse=True)
        X = sp.csr_array((X.data, columns.astype(np.int32), X.indptr), (len(words), len(used)))
        W = self.coefficients_[used]
        if isinstance(self.coefficients_, np.memmap):
            check_values("spelling.coefficients", _COEFFICIENTS, W)
        return sparse_times(X, W.astype(np.float32))

    def score(self, words: Iterable[str], vectors: Any) -> float:
        """The mean cosine of predictions and vectors; words with a zero vector are left out."""
        check_is_fitted(self)
        words = _listed(words)
        V = _directions(vectors, len(words))
        if V.shape[1] != len(self.mean_):
            raise ParameterError(
                f"vectors of {V.shape[1]} dimensions; this model predicts {len(self.mean_)}"
            )
        has_vector = V.any(axis=1)
        if not has_vector.any():
            raise ParameterError("no words to score: every vector is zero or there are none")
        cosines = np.einsum("ij,ij->i", self.predict(words), V, dtype=np.float64)
        return float(cosines[has_vector].mean())

    def features(self, words: Iterable[str]) -> Any:
        """The matrix X: hashed n-grams by word, as unit rows of a float32 CSR array."""
        if is_fitted(self):
            return self._features(_listed(words), self.parameters_)
        used = Settings(self._table.taken(self.get_params(deep=False)))
        return self._features(_listed(words), used)

    def check_width(self, n_components: int) -> None:
        """Raise a ModelFileError unless predictions have `n_components` dimensions."""
        if len(self.mean_) != n_components:
            raise damage("spelling.mean", f"has {len(self.mean_)} numbers for {n_components}")

    # Steps of the fit.

    def _features(self, words: list[str], used: Any) -> Any:
        from eigentext.words._subword_loops import hash_ngrams

        shortest, longest = used.ngram_range
        marked = [f"<{word}>".encode("utf-8", "surrogatepass") for word in words]
        lengths = np.fromiter(map(len, marked), np.int64, len(marked))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # There is an n-gram for each start and length, and fewer at the end of a word.
        buckets = np.empty(offsets[-1] * (longest - shortest + 1), np.int32)
        indptr = np.empty(len(offsets), np.int64)
        utf8 = np.frombuffer(b"".join(marked), np.uint8)
        hash_ngrams(utf8, offsets, shortest, longest, used.n_buckets, buckets, indptr)
        found = buckets[: indptr[-1]].copy()
        X = sp.csr_array(
            (np.ones(len(found), np.float32), found, indptr), (len(words), used.n_buckets)
        )
        X.sum_duplicates()
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X.data /= np.repeat(norms, np.diff(X.indptr)).astype(np.float32)
        return X

    def _solve(self, X: Any, Y: np.ndarray) -> tuple[np.ndarray, int, float]:
        """W in half precision, and the most steps and the largest residual of all panels."""
        A = factorable(X)
        diagonal = np.bincount(X.indices, X.data**2, minlength=self.n_buckets) + self.penalty
        diagonal = diagonal[:, None].astype(np.float32)
        W = np.empty((self.n_buckets, Y.shape[1]), np.float16)
        panels = [slice(first, first + _PANEL) for first in range(0, Y.shape[1], _PANEL)]

        def work(panel: slice) -> tuple[int, float]:
            W[:, panel], taken, left = self._conjugate_gradients(A, diagonal, Y[:, panel])
            return taken, left

        steps, residual = 0, 0.0
        with engine.phase("spelling", Y.shape[1], "dimensions") as advance:
            for panel, (taken, left) in zip(panels, engine.current().map(work, panels)):
                steps, residual = max(steps, taken), max(residual, left)
                advance(min(panel.stop, Y.shape[1]) - panel.start)
        return W, steps, residual

    def _conjugate_gradients(
        self, A: Factorable, diagonal: np.ndarray, Y: np.ndarray
    ) -> tuple[np.ndarray, int, float]:
        """Solve ``(A.T A + penalty) B = A.T Y``; finished columns take steps of length 0."""
        R = A.transposed_times(np.ascontiguousarray(Y, np.float32))
        B = np.zeros_like(R)
        Z = R / diagonal
        P = Z.copy()
        rz = _inner(R, Z)
        enough = self.tol**2 * rz
        start, left, step = rz, np.where(rz > 0, 1.0, 0.0), 0
        while step < self.max_iter and (rz > enough).any():
            Q = A.transposed_times(A.times(P))
            Q += np.float32(self.penalty) * P
            length = _ratio(np.where(rz > enough, rz, 0), _inner(P, Q))
            B += length * P
            R -= length * Q
            np.divide(R, diagonal, out=Z)
            before, rz = rz, _inner(R, Z)
            P *= _ratio(rz, before)
            P += Z
            left = _ratio(rz, start)
            step += 1
        return B, step, float(np.sqrt(left.max(initial=0)))

    # The file format: arrays and a document, inside the file of a model of words.

    def _to_saved(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        check_is_fitted(self)
        arrays = {"coefficients": self.coefficients_, "mean": self.mean_}
        return arrays, {"parameters": dict(self.parameters_), "diagnostics": self.diagnostics_}

    @classmethod
    def _schema(cls, about: dict[str, Any]) -> Schema:
        mean = Array("float32", ("dimensions",), least=-LARGEST, below=LARGEST)
        return Schema(
            {"mean": mean, "coefficients": _COEFFICIENTS},
            {"diagnostics": facts.facts("what the fit found")},
        )

    @classmethod
    def _from_saved(cls, arrays: dict[str, Any], about: dict[str, Any]) -> Self:
        self = learned_with(cls, about["parameters"])
        self.coefficients_, self.mean_ = arrays["coefficients"], arrays["mean"]
        self.diagnostics_ = about["diagnostics"]
        if len(self.coefficients_) != self.parameters_.n_buckets:
            raise damage("coefficients", f"has shape {self.coefficients_.shape}")
        return self


def _listed(words: Any) -> list[str]:
    if isinstance(words, str):
        raise ParameterError(f"words must be a list of strings, not the string {words!r:.60}")
    words = words if isinstance(words, list) else list(words)
    for word in words:
        if not isinstance(word, str):
            raise ParameterError(f"words must be strings, not {word!r:.60}")
    return words


def _directions(vectors: Any, n_words: int) -> np.ndarray:
    try:
        vectors = np.asarray(vectors, np.float32)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"vectors must be a matrix of numbers: {error}") from error
    if vectors.ndim != 2 or len(vectors) != n_words:
        raise ParameterError(f"{n_words} words, but vectors of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise ParameterError(f"vectors: row {bad} is not finite; leave such words out")
    return _unit(vectors)


def _weights(counts: Any, n_words: int) -> np.ndarray:
    if counts is None:
        return np.ones(n_words)
    counts = np.asarray(counts)
    if counts.dtype.kind not in "iuf":
        raise ParameterError(f"counts must be {n_words} numbers of 0 or more, not {counts.dtype}")
    if counts.shape != (n_words,) or (n_words and not counts.min() >= 0):
        raise ParameterError(f"counts must be {n_words} numbers of 0 or more, one for each word")
    return np.log1p(counts)


def _strengths(strengths: Any, n_words: int) -> np.ndarray:
    if strengths is None:
        return np.ones(n_words)
    try:
        strengths = np.asarray(strengths, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"strengths must be numbers from 0 to 1: {error}") from error
    in_range = strengths.shape == (n_words,) and bool(((strengths >= 0) & (strengths <= 1)).all())
    if not in_range:
        raise ParameterError(f"strengths must be {n_words} numbers from 0 to 1, one for each word")
    return strengths


def _unit(rows: np.ndarray) -> np.ndarray:
    """The rows divided by their length; zero stays zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    return (rows / np.where(norms > 0, norms, 1)).astype(np.float32)


def _inner(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The inner product of each column of X with the same of Y."""
    return np.einsum("ij,ij->j", X, Y, dtype=np.float64)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0).astype(np.float32)
