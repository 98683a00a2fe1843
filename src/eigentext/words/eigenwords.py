r"""Eigenwords: word vectors from one SVD of transformed, scaled co-occurrence counts.

Figure 2 of Stratos, Collins and Hsu (2015), whose special cases include eigenwords by CCA between
words and contexts (Dhillon, Foster and Ungar 2011), PPMI + SVD, and plain LSA on contexts:

1. transform the counts #(w, c), #(w), #(c); 2. scale them to a matrix :math:`\Omega`;
3. :math:`\Omega \approx U \Sigma V^\top` of rank m; 4. v(w) is the w-th row of
:math:`U \Sigma^\beta`, normalized.

With ``scaling="cca"``, under a Brown model and for every transform that is a power, the rows of U
are those of the emission matrix up to scale and rotation (theorem 4.1): words of one hidden state
point in one direction.
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.errors import MomentsError, ParameterError
from eigentext.estimators import Finding, adding, check_is_fitted, framed, learned_with
from eigentext.matrices import budget
from eigentext.parameters import Choice, Count, argument, takes_old_names
from eigentext.words import parameters
from eigentext.words._saved import UNIT_ROWS, part_of, words_schema
from eigentext.words._windowed import WindowedModel
from eigentext.words.imported import ImportedVectors, imported_findings
from eigentext.words.lookup import WordLookup

# What only learning and exporting need is imported there, so that a query is answered at once.
if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from eigentext.moments import CooccurrenceMoments, TwoWindowMoments
    from eigentext.moments.cooccurrence import Context, Weighting
    from eigentext.words.export import Format
    from eigentext.words.purposes import Purpose
    from eigentext.words.template import Scaling, Transform

_ZEROS = Choice("drop", of=("drop", "keep"))


class Eigenwords(WordLookup, ImportedVectors, WindowedModel):
    r"""Word vectors from counts of the words around each word.

    The defaults had the best results in similarity and analogies together, for all sizes of the
    vocabulary (docs/results.md). Those of Stratos, Collins and Hsu (2015) are window=5,
    weighting="flat", alpha=0.75, beta=0.

    .. math:: \min_{u_w, v_c \in R^m} \sum_{w,c} \big(\Omega_{w,c} - u_w^\top v_c\big)^2

    Parameters
    ----------
    n_components : int
        The dimension m of the vectors.
    purpose : "topical", "balanced" or "functional", optional
        What the vectors are for: a preset of `window`, `beta`, `narrow` and `narrow_weight`. Those
        that are given count. "topical" has a window of 20 and finds words of one topic.
        "functional" finds words that are used alike: half of its dimensions are narrow. "balanced"
        has a window of 20 and a fifth of narrow dimensions. It is better than the default in most
        tests, and takes longer (docs/results/purposes.md).
    window : int, optional
        The number of context words on each side; 10 by default. A window never leaves its unit
        (line, document).
    min_count : int
        Rarer words get no vector. They keep their place in windows as one shared symbol.
    count_transform : "sqrt", "two-thirds", "log" or "none"
        Step 1. The square root stabilizes the variance of counts (Stratos, Collins and Hsu 2015,
        4.3). The name `transform` works too, with a DeprecationWarning.
    scaling : "cca", "ppmi", "reg" or "none"
        Step 2.
    alpha : float, at most 1
        The smoothing of the context distribution, only for "cca" and "ppmi".
    beta : float, at most 1, optional
        The exponent of the singular values in step 4; 0.5 by default.
    context : "bag", "list" or "next"
        Whether a context word is the same at every place in the window. "next" has only the words
        after it: with a window of 1, the matrix of bigrams.
    weighting : "flat" or "distance"
        Whether a pair counts 1 or 1/distance.
    narrow : int, optional
        How many of the dimensions come from a second, narrow window: the two words on each side,
        with their places. They tell apart parts of speech and inflections. None by default.
    narrow_weight : float, optional
        The weight of the cosine of the narrow dimensions beside that of the others; 0.15 by
        default.
    phrases : bool
        Whether to find phrases first, and join each into one word, such as "new_york": see
        :class:`~eigentext.Phrases`. The text is then read in this process.
    method : "one-step" or "two-step"
        With "two-step", first the words on the left and on the right are related by CCA, and then
        words to the hidden state that both share (Dhillon, Foster and Ungar 2015): see
        :mod:`~eigentext.words.two_step`. It needs ``context="list"``. Half of the window is
        on each side.
    max_size : int, optional
        The largest vocabulary.
    keep_moments : "none", "cut" or "whole"
        The statistics to keep (and save) with the model. With "whole", :meth:`partial_fit` is
        exact; "cut" keeps only those of the vocabulary.
    keep_pairs : int
        Keep only pairs that were counted at least this often. Files are smaller, but sums are no
        longer exact. The vectors themselves are learned from all pairs.
    oov : "none" or "characters"
        With "characters", a word outside the vocabulary gets a vector that is predicted from its
        spelling (:class:`~eigentext.words.subwords.CharacterRidge`), and the spelling of the words
        in the vocabulary improves their vectors, of rare words most
        (:mod:`~eigentext.words.spelling_prior`).
    spelling_weight : float
        How much spelling adds to the vectors of frequent words. More is better for inflection
        ("walk" and "walked"), and worse for names.
    spelling_half_count : float, optional
        The number of occurrences at which a vector is half signal and half noise. The vectors of
        rarer words follow their spelling more than their contexts. It is estimated if it is None.
        If this and `spelling_weight` are 0, spelling adds nothing to the words in the vocabulary.
    random_state : int
        The seed of the SVD. Equal seeds give equal bits.

    Attributes
    ----------
    vectors_ : float32 array, shape (n_words, n_components)
        Unit rows; a row of zeros for a word that was always alone in its unit.
    vocabulary_ : Vocabulary
    singular_values_ : array, shape (n_components,)
        Those of the narrow window come last. Empty for vectors that were learned elsewhere
        (:meth:`from_file`, :meth:`from_gensim`).
    moments_ : CooccurrenceMoments, TwoWindowMoments or None
    phrases_ : Phrases or None
    spelling_ : CharacterRidge or None
    diagnostics_ : dict
        The singular values that were kept and the next ones, their condition number, and how many
        tokens were rare. With ``oov="characters"`` also `spelling_half_count`, and
        `spelling_slope`, from 0 to about 1: how well spelling predicts words that it has not seen.
    provenance_ : dict
        The origin: the number of tokens, fingerprints of the text, and how it was read.

    Examples
    --------
    >>> from eigentext import Eigenwords
    >>> text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5
    >>> words = Eigenwords(n_components=2, window=1).fit(text)
    >>> words.most_similar("cat", topn=1)[0][0]
    'dog'
    >>> words.transform(["cat", "the dog sat"]).shape
    (2, 2)
    """

    _format = "eigentext.words.v2"
    _table = parameters.Eigenwords

    @takes_old_names(**parameters.Eigenwords.renamed)
    def __init__(
        self,
        n_components: int = 300,
        *,
        purpose: "Purpose | None" = None,
        window: int | None = None,
        min_count: int = 5,
        count_transform: "Transform" = "sqrt",
        scaling: "Scaling" = "cca",
        alpha: float = 1.0,
        beta: float | None = None,
        context: "Context" = "bag",
        weighting: "Weighting" = "distance",
        narrow: int | None = None,
        narrow_weight: float | None = None,
        phrases: bool = False,
        method: Literal["one-step", "two-step"] = "one-step",
        max_size: int | None = None,
        keep_moments: Literal["none", "cut", "whole"] = "none",
        keep_pairs: int = 0,
        oov: Literal["none", "characters"] = "none",
        spelling_weight: float = 0.5,
        spelling_half_count: float | None = None,
        random_state: int = 0,
    ):
        self.n_components = n_components
        self.purpose: Purpose | None = purpose
        self.window = window
        self.min_count = min_count
        self.count_transform: Transform = count_transform
        self.scaling: Scaling = scaling
        self.alpha = alpha
        self.beta = beta
        self.context: Context = context
        self.weighting: Weighting = weighting
        self.narrow = narrow
        self.narrow_weight = narrow_weight
        self.phrases = phrases
        self.method = method
        self.max_size = max_size
        self.keep_moments = keep_moments
        self.keep_pairs = keep_pairs
        self.oov = oov
        self.spelling_weight = spelling_weight
        self.spelling_half_count = spelling_half_count
        self.random_state = random_state

    # Learning.

    def _learn(self, moments: "CooccurrenceMoments | TwoWindowMoments") -> Self:
        from eigentext.moments import TwoWindowMoments
        from eigentext.words.template import side_by_side, vectors_of

        chosen = self._plan()
        vars(self).update(chosen._asdict())  # what a purpose stands for is kept with the model
        self.phrases_ = getattr(self, "phrases_", None)
        cut = self._cut(moments)
        parts = [cut.wide, cut.narrow] if isinstance(cut, TwoWindowMoments) else [cut]
        kept = {"none": None, "cut": cut, "whole": moments}[self.keep_moments]
        self._describe(parts[0], 0)
        del cut, moments  # the factorization needs their memory
        sizes = [self.n_components - chosen.narrow, chosen.narrow]
        found = []
        how = {"transform": self.count_transform, "scaling": self.scaling, "alpha": self.alpha}
        settings = how | {"beta": chosen.beta, "random_state": self.random_state}
        while parts:
            two_step = self.method == "two-step" and not found
            found.append(vectors_of(parts, sizes[len(found)], two_step=two_step, **settings))
        self.diagnostics_["pairs"] = sum(part.n_pairs for part in found)
        self.vectors_ = side_by_side(
            [part.rows for part in found], [1.0, chosen.narrow_weight][: len(found)]
        )
        self.singular_values_ = np.concatenate([part.s for part in found])
        n_alone = {"words_without_context": found[0].n_zero}
        self.diagnostics_ = found[0].spectrum | self.diagnostics_ | n_alone
        if len(found) > 1:
            self.diagnostics_["narrow_singular_values"] = found[1].s.tolist()
        self.moments_ = kept and kept.thresholded(self.keep_pairs)
        self.spelling_ = None
        if self.oov == "characters":
            self._learn_spelling()
        return self

    @adding
    def partial_fit(
        self,
        corpus: Any,
        y: None = None,
        *,
        fixed_vocabulary: bool = False,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Add text to what was learned before; the result equals a fit of all the text.

        This needs whole moments: start with ``keep_moments="whole"``. With `fixed_vocabulary`, cut
        moments are enough: the old words keep their places, and new words count as rare. Phrases
        stay those of the first text.
        """
        if self.keep_moments == "none":
            raise ParameterError(
                "partial_fit needs the statistics of the text so far; "
                "fit with keep_moments='whole' (--keep-moments whole)"
            )
        old = vars(self).pop("moments_", None)
        if old is not None and old.min_pairs:
            warnings.warn(
                f"the moments of the text so far are {old.limits}; for an exact sum, "
                "fit with keep_pairs=0",
                stacklevel=3,
            )
        if old is not None and not old.whole and not fixed_vocabulary:
            raise MomentsError(
                f"these moments are {old.limits}; fit all the text again with "
                "keep_moments='whole', or accept that with fixed_vocabulary=True "
                "(--fixed-vocabulary)"
            )
        with budget.within(memory):
            corpus, self.phrases_ = self._phrased(corpus, cache=cache)
            new = self._counted(corpus, cache=cache)  # of all words
            return self._learn(new if old is None else old + new)

    def fit_transform(self, X: Any, y: Any = None, **settings: Any) -> Any:
        """Learn from texts, and return their vectors; see :meth:`transform`."""
        if not hasattr(X, "__len__"):
            X = list(X)  # a generator can be read only once
        return self.fit(X, y, **settings).transform(X)

    # Using.

    @framed
    def transform(self, X: Any) -> np.ndarray:
        """A row for each word or text: the mean of the vectors of its tokens.

        Parameters
        ----------
        X : list of words, of texts or of lists of tokens; or a TextCorpus
            Strings are split in the same way as the text of `fit`, so a single word gets its own
            vector. If a function split that text, or it was given as lists of tokens, a string must
            be one word. A list of paths has a row for each file, a corpus a row for each unit.

        Returns
        -------
        float32 array, shape (n, n_components)
            Tokens outside the vocabulary are left out, unless the model predicts their vectors from
            their spelling (``oov="characters"``). If no token has a vector, the row is zero.
        """
        from eigentext.words.texts import mean_vectors

        check_is_fitted(self)
        return mean_vectors(X, self.provenance_["options"], self._vectors_of, self.phrases_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the dimensions, for scikit-learn."""
        check_is_fitted(self)
        return np.array([f"eigenwords{k}" for k in range(self.vectors_.shape[1])], object)

    def export(
        self,
        path: str | os.PathLike[str],
        format: "Format | None" = None,
        *,
        zero_vectors: Literal["drop", "keep"] = "drop",
    ) -> None:
        """Write the vectors for other tools.

        Parameters
        ----------
        path : path
            Its ending says the format, unless `format` does: .parquet, .arrow, .feather, .csv,
            .tsv, .jsonl, or .bin (word2vec-binary). With other endings it is word2vec.
        format : "word2vec", "word2vec-binary", "glove", "parquet", "arrow", "csv", "tsv" or "jsonl"
            The last five are tables with the columns of :meth:`to_arrow`.
        zero_vectors : "drop" or "keep"
            Whether to write words that were always alone in their units, so that their vectors are
            zero. A warning counts those that are dropped.
        """
        from eigentext.words import export

        check_is_fitted(self)
        format = export.vector_format(path, format)
        content = self.vocabulary_, self._all_vectors()
        if argument("zero_vectors", _ZEROS, zero_vectors) == "drop":
            content = export.without_zeros(*content)
        export.write_vectors(path, *content, format)

    def to_arrow(self) -> "pa.Table":
        """A table of Arrow with a row for each word: word, count and vector (a list)."""
        from eigentext.words.export import vector_table

        check_is_fitted(self)
        return vector_table(self.vocabulary_, self._all_vectors())

    def to_pandas(self) -> "pd.DataFrame":
        """A data frame with a row for each word, its index, and a column for each dimension."""
        from eigentext.corpus.table_output import import_pandas

        check_is_fitted(self)
        pandas = import_pandas()
        index = pandas.Index(self.vocabulary_.words, name="word")
        names = self.get_feature_names_out()
        return pandas.DataFrame(self._all_vectors(), index, names, copy=True)

    def plot(
        self,
        kind: Literal["map", "spectrum"] = "map",
        *,
        words: Sequence[str] | int = 60,
        groups: Sequence[Any] | None = None,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Draw with matplotlib; returns the Axes.

        Parameters
        ----------
        kind : "map" or "spectrum"
            "map" draws words on the plane that keeps most of the variance of their vectors;
            "spectrum" draws the singular values that were kept and the next ones.
        words : list of str, or int
            For the map: the words, or how many of the most frequent words that have letters.
        groups : sequence, optional
            For the map: a group for each word. Words of one group have the same color.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        from eigentext import plots

        check_is_fitted(self)

        def draw_map() -> "Axes":
            if isinstance(words, Sequence):
                shown = words
            else:
                frequent = (word for word in self.vocabulary_.words if word.isalpha())
                shown = list(islice(frequent, argument("words", Count(60), words)))
            vectors = np.array([self[word] for word in shown])
            return plots.points(vectors, shown, groups=groups, ax=ax)

        def draw_spectrum() -> "Axes":
            if not len(self.singular_values_):
                raise ParameterError("vectors of other tools have no spectrum; draw a 'map'")
            dropped = self.diagnostics_.get("dropped_singular_values", [])
            return plots.spectrum(self.singular_values_, dropped, ax=ax)

        return plots.drawn(kind, {"map": draw_map, "spectrum": draw_spectrum})

    # Private steps.

    def _findings(self) -> Iterator[Finding]:
        if (origin := self.provenance_.get("imported")) is None:
            return super()._findings()
        n_zero = self.diagnostics_.get("words_without_context", 0)
        has_counts = self.provenance_["n_tokens"] > 0
        return imported_findings(origin, n_zero, has_counts=has_counts)

    def _size_findings(self) -> Iterator[Finding]:
        return iter(()) if "imported" in self.provenance_ else super()._size_findings()

    def _limits(self) -> dict[str, Any]:
        return {} if self.keep_moments == "whole" else super()._limits()

    def _learn_spelling(self) -> None:
        from eigentext.words import spelling_prior

        self.vectors_, self.spelling_, prior = spelling_prior.learned(
            list(self.vocabulary_.words),
            self.vectors_,
            self.vocabulary_.counts,
            weight=self.spelling_weight,
            half_count=self.spelling_half_count,
            random_state=self.random_state,
        )
        if prior is None:
            return
        found = {"spelling_half_count": prior.half_count, "spelling_slope": prior.slope}
        if prior.slope:  # every word has a vector now
            found["words_without_context"] = 0
        self.diagnostics_ |= found

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "vectors": self.vectors_,
            "singular_values": self.singular_values_,
            "words": self.vocabulary_.words,
            "word_counts": self.vocabulary_.counts,
        }
        about = {
            "parameters": dict(self.parameters_),
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
        }
        if self.moments_ is not None:
            parts, about["moments"] = self.moments_._to_saved()
            arrays |= {f"moments.{name}": part for name, part in parts.items()}
        if self.phrases_ is not None:
            parts, about["phrases"] = self.phrases_._to_saved()
            arrays |= {f"phrases.{name}": part for name, part in parts.items()}
        if self.spelling_ is not None:
            parts, about["spelling"] = self.spelling_._to_saved()
            arrays |= {f"spelling.{name}": part for name, part in parts.items()}
        return arrays, about

    @classmethod
    def _schema(cls, about):
        return words_schema({"vectors": UNIT_ROWS}, has_spectrum=not _is_imported(about))

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        self.vectors_ = arrays["vectors"]
        has_spectrum = not _is_imported(about)
        self.singular_values_ = arrays["singular_values"] if has_spectrum else np.zeros(0)
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.provenance_ = about["provenance"]
        self.diagnostics_ = about["diagnostics"]
        self.moments_ = self.spelling_ = self.phrases_ = None
        if "moments" in about:
            from eigentext.moments import CooccurrenceMoments, TwoWindowMoments

            kind = TwoWindowMoments if "narrow" in about["moments"] else CooccurrenceMoments
            self.moments_ = part_of(kind, "moments", arrays, about)
        if "phrases" in about:
            from eigentext.words.phrases import Phrases

            self.phrases_ = part_of(Phrases, "phrases", arrays, about)
        if "spelling" in about:
            from eigentext.words.subwords import CharacterRidge

            self.spelling_ = part_of(CharacterRidge, "spelling", arrays, about)
            self.spelling_.check_width(self.vectors_.shape[1])
        return self


def _is_imported(about: Any) -> bool:
    """Whether the document of a file says that the vectors were learned elsewhere."""
    return isinstance(about.get("provenance"), dict) and "imported" in about["provenance"]
