r"""Vectors of texts: weighted means of the vectors of their words.

Frequent words say little about a text. Smooth inverse frequency (SIF; Arora, Liang and Ma 2017)
gives a word w of probability p(w) the weight :math:`a / (a + p(w))`. A text s of |s| tokens is

.. math:: v_s = \frac{1}{|s|} \sum_{w \in s} \frac{a}{a + p(w)} v_w ,

and then the directions that all texts share are removed: with the first singular vectors u of the
matrix whose rows are the :math:`v_s` of `fit`,

.. math:: v_s \leftarrow v_s - \sum_u u u^\top v_s .

What is left may be short. So all vectors are multiplied by one number, for which the mean square
length of the vectors of `fit` is 1. Classifiers with a penalty depend on the length.
"""

from collections.abc import Iterator
from copy import copy
from typing import Any, Literal, Self

import numpy as np

from eigentext import engine
from eigentext.corpus.vocabulary import as_asked
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import (
    Estimator,
    Finding,
    check_is_fitted,
    framed,
    is_fitted,
    learned_with,
    learning,
)
from eigentext.parameters import Choice, Number, Settings
from eigentext.storage import Saved, facts
from eigentext.storage.models import nested, restored
from eigentext.storage.schema import Array, Schema, damage
from eigentext.words import parameters
from eigentext.words.eigenwords import Eigenwords
from eigentext.words.texts import TextTokens, encoded_texts, means_of

_SMALLEST = 1e-10  # of the largest singular value: below it, a direction is rounding
_MANY_EMPTY = 0.1
_LARGEST = 1e12  # of the scale
_ROUNDING = 1e-5  # of float32, after sums


class TextVectors(Saved, Estimator):
    r"""A vector for each text, for classifiers and other tools of scikit-learn.

    The vector is a mean of the vectors of the words, where frequent words count less (SIF), without
    the direction that all texts share (Arora, Liang and Ma 2017).

    Parameters
    ----------
    words : Eigenwords, optional
        If it is fitted, it is used as it is: also vectors of other tools, such as
        ``Eigenwords.from_file("glove.txt")``. If it is not fitted, it learns from the texts of
        `fit`. None means ``Eigenwords()``.
    weighting : "sif" or "flat"
        "flat" is the plain mean.
    a : float
        The smoothing of "sif". Words that are more frequent than `a` count less than half.
    remove : int
        The number of common directions to remove.
    frequencies : "auto", "words" or "texts"
        Whether p(w) is that of the text from which the words were learned, or that of the texts of
        `fit`. "auto" is "words", unless the counts of the words are unknown.

    Attributes
    ----------
    words_ : Eigenwords
    weights_ : float32 array, shape (n_words,)
    components_ : float32 array, shape (n_removed, n_components)
        The directions that are removed.
    scale_ : float
        The factor for which the mean square length of the vectors of `fit` is 1.
    diagnostics_ : dict
        The number of texts, how many of them have no known word, and `removed_share`: the share of
        the sum of squares that the common directions have.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from eigentext import Eigenwords, TextVectors
    >>> texts = ["my cat sleeps", "my dog sleeps", "the sun shines", "the star shines"] * 5
    >>> pipeline = make_pipeline(TextVectors(Eigenwords(3, window=1)), LogisticRegression())
    >>> pipeline.fit(texts, ["pet", "pet", "sky", "sky"] * 5).predict(["dog"])
    array(['pet'], dtype='<U3')
    """

    _format = "eigentext.text-vectors.v1"
    _table = parameters.TextVectors

    def __init__(
        self,
        words: Eigenwords | None = None,
        *,
        weighting: Literal["sif", "flat"] = "sif",
        a: float = 1e-3,
        remove: int = 1,
        frequencies: Literal["auto", "words", "texts"] = "auto",
    ):
        self.words = words
        self.weighting = weighting
        self.a = a
        self.remove = remove
        self.frequencies = frequencies

    @learning
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the weights and the common directions; also the words, if they are not learned.

        `X` is a list of texts or of lists of tokens, or a TextCorpus, as for
        :meth:`Eigenwords.transform`.
        """
        X = list(X) if isinstance(X, Iterator) else X
        self.words_ = self._learned_words(X)
        d = self.words_.vectors_.shape[1]
        if self.remove >= d:
            raise ParameterError(f"remove is {self.remove}, but the vectors have {d} dimensions")
        texts = encoded_texts(X, self.words_.provenance_["options"], self.words_.phrases_)
        if texts is None:
            raise CorpusError("there are no texts to learn from; give at least one")
        self.weights_ = self._learned_weights(texts)
        rows = means_of(texts, self._weighted)
        self.components_, share = _common_directions(rows, self.remove)
        self.scale_ = _scale(self._without_common(rows), rows)
        self.diagnostics_ = {
            "n_texts": len(rows),
            "n_empty": len(rows) - int(np.count_nonzero(rows.any(axis=1))),
            "removed_share": share,
        }
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from texts, and return their vectors."""
        X = list(X) if isinstance(X, Iterator) else X
        return self.fit(X).transform(X)

    @framed
    def transform(self, X: Any) -> np.ndarray:
        """A float32 row for each text. It is zero if no token has a vector.

        `X` is a list of texts or of lists of tokens, or a TextCorpus. Strings are split as the text
        was from which the words were learned.
        """
        check_is_fitted(self)
        texts = encoded_texts(X, self.words_.provenance_["options"], self.words_.phrases_)
        if texts is None:
            return np.zeros((0, self.words_.vectors_.shape[1]), np.float32)
        return self._without_common(means_of(texts, self._weighted)) * np.float32(self.scale_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the dimensions, for scikit-learn."""
        check_is_fitted(self)
        return np.array([f"textvectors{k}" for k in range(self.words_.vectors_.shape[1])], object)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy. Words that are fitted stay fitted."""
        from sklearn.base import clone

        given = self.get_params(deep=False)
        if hasattr(given["words"], "get_params"):
            is_given = is_fitted(given["words"])
            given["words"] = copy(given["words"]) if is_given else clone(given["words"])
        return type(self)(**given)

    # Private steps.

    def _learned_words(self, X: Any) -> Eigenwords:
        if self.words is not None and is_fitted(self.words):
            return self.words
        settings = {} if self.words is None else self.words.get_params()
        return Eigenwords(**settings).fit(X)

    def _learned_weights(self, texts: TextTokens) -> np.ndarray:
        """The weight of each word of the vocabulary."""
        vocabulary, n_tokens = self.words_.vocabulary_, self.words_.provenance_["n_tokens"]
        if self.weighting == "flat":
            return np.ones(len(vocabulary), np.float32)
        if self.frequencies == "words" and not vocabulary.counts.any():
            raise ParameterError(
                "frequencies is 'words', but the counts of these words are unknown; "
                "give frequencies='texts'"
            )
        counts = np.asarray(vocabulary.counts, np.float64)
        if self.frequencies == "texts" or not counts.any():
            places = vocabulary.ids_of(as_asked(texts.words, self.words_.provenance_["options"]))
            known = places >= 0
            often = np.bincount(texts.tokens, minlength=len(texts.words))
            counts = np.bincount(places[known], often[known], minlength=len(vocabulary))
            n_tokens = len(texts.tokens)
        return (self.a / (self.a + counts / max(n_tokens, 1))).astype(np.float32)

    def _weighted(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Which words have vectors, and these times their weights. Unseen words weigh 1."""
        known, vectors = self.words_._vectors_of(words)
        places = self.words_.vocabulary_.ids_of(as_asked(words, self.words_.provenance_["options"]))
        vectors *= np.append(self.weights_, np.float32(1))[places][:, None]  # -1 is the last place
        return known, vectors

    def _without_common(self, rows: np.ndarray) -> np.ndarray:
        with engine.one_blas_thread():
            return rows - (rows @ self.components_.T) @ self.components_

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        if found["n_empty"]:
            share = found["n_empty"] / max(found["n_texts"], 1)
            yield Finding(
                "warning" if share >= _MANY_EMPTY else "note",
                f"{share:.1%} of the texts have no word with a vector, so that their rows are "
                "zero.",
                "Learn the words from more text, or check how the texts are split and lowercased."
                if share >= _MANY_EMPTY
                else "",
            )
        if len(self.components_) and found["removed_share"] > 1 - _ROUNDING**2:
            yield Finding(
                "warning",
                "The vectors of all texts have the directions that are removed, so nothing is "
                "left of them.",
                "Lower remove, or give words of more dimensions.",
            )
        elif len(self.components_):
            yield Finding(
                "note",
                f"{found['removed_share']:.0%} of the sum of squares of the texts' vectors was in "
                "directions that all texts share, and was removed.",
            )

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        parts, words = nested(self.words_)
        arrays = {f"words.{name}": part for name, part in parts.items()}
        given = dict(self.parameters_)
        model = given.pop("words")
        about = {
            "parameters": given,
            "words_from": "none" if model is None else "given" if is_fitted(model) else "texts",
            "words": words,
            "scale": self.scale_,
            "diagnostics": self.diagnostics_,
        }
        return arrays | {"weights": self.weights_, "components": self.components_}, about

    @classmethod
    def _schema(cls, about):
        components = Array("float32", ("n_removed", "dimensions"), least=-1.01, below=1.01)
        return Schema(
            {
                "weights": Array("float32", ("n_words",), least=0, below=1.01),
                "components": components,
            },
            {
                "words": facts.facts("the document of a model"),
                "words_from": Choice("given", of=("none", "given", "texts")),
                "scale": Number(1.0, above=0, most=_LARGEST),
                "diagnostics": facts.facts(
                    "what the fit found",
                    needs=("n_texts", "n_empty", "removed_share"),
                    n_texts=facts.COUNT,
                    n_empty=facts.COUNT,
                    removed_share=facts.SHARE,
                ),
            },
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        from sklearn.base import clone

        parts = {
            name.removeprefix("words."): part
            for name, part in arrays.items()
            if name.startswith("words.")
        }
        words = restored(parts, about["words"])
        if not isinstance(words, Eigenwords):
            raise damage("words", f"is a {type(words).__name__}, not Eigenwords")
        self = learned_with(cls, about["parameters"])
        match about["words_from"]:
            case "given":
                self.words = words
            case "texts":
                self.words = clone(words)
        self.parameters_ = Settings({**self.parameters_, "words": self.words})
        self.words_ = words
        self.weights_, self.components_ = map(np.array, (arrays["weights"], arrays["components"]))
        if len(self.weights_) != len(words.vocabulary_):
            raise damage("weights", f"has {len(self.weights_)} values, not one for each word")
        if self.components_.shape[1] != words.vectors_.shape[1]:
            raise damage("components", "has another dimension than the words")
        self.scale_, self.diagnostics_ = about["scale"], about["diagnostics"]
        return self


def _common_directions(rows: np.ndarray, n: int) -> tuple[np.ndarray, float]:
    """The first right singular vectors, the largest entry positive; their share of the squares."""
    with engine.one_blas_thread():
        wide = rows.astype(np.float64)
        squares, vectors = np.linalg.eigh(wide.T @ wide)
    squares, vectors = np.maximum(squares[::-1], 0), vectors.T[::-1]
    n = min(n, int(np.count_nonzero(squares > _SMALLEST * squares[0]))) if squares[0] > 0 else 0
    found = vectors[:n]
    largest = np.abs(found).argmax(axis=1)
    found = found * np.sign(found[np.arange(n), largest])[:, None]
    share = float(squares[:n].sum() / squares.sum()) if n else 0.0
    return found.astype(np.float32), min(share, 1.0)


def _scale(left: np.ndarray, rows: np.ndarray) -> float:
    """The factor that makes the mean square length of what is left of the rows 1.

    It is 1 if only rounding is left.
    """
    length, before = (
        float(np.sqrt(np.mean(np.square(one, dtype=np.float64).sum(axis=1))))
        for one in (left, rows)
    )
    return 1 / length if length > max(_ROUNDING * before, 1 / _LARGEST) else 1.0
