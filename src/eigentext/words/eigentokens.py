r"""Eigentokens: a vector for each token from its context, by CCA between word and context.

After Dhillon, Foster and Ungar (2011): x is the one-hot word, z its context, and CCA finds A and B.
A is the matrix of eigenwords, which do not depend on the context; :math:`B^\top z` is a
context-sensitive *eigentoken*. Here z has one block of one-hots for each place in the window
(``list``) or one for each side (``bag``), and by Stratos, Collins and Hsu (2015), section 3.3 and
eq. (5),

.. math::

    \Omega_{w,c} = \frac{\#(w,c)^a}{\sqrt{\#(w)^a\,\#(c)^a}} \approx U \Sigma V^\top, \qquad
    A = C_{xx}^{-1/2} U, \quad B = C_{zz}^{-1/2} V

with the diagonals :math:`C_{xx} = P(w)^a` and :math:`C_{zz} = P(c)^a` (observations 1 and 2 there:
a sample is a word and *one* symbol of its context, not centered). For a context of one symbol and
a = 1 this is exactly CCA. For longer contexts it ignores the correlation between places.

A row of B depends only on the distribution of the word given the context:

.. math:: B_c = \Sigma^{-1} \sum_w A_w\,P(w \mid c)^a,

for a = 1 the expected eigenword, :math:`\Sigma B_c = E[A^\top x \mid c]`. Contexts with the same
distribution of the hidden state have the same vector, however often they occur. Smoothing #(c), as
eigenwords do, would destroy that.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus import Vocabulary, encode
from eigentext.corpus.tokenizers import checked_tokens
from eigentext.corpus.vocabulary import as_asked
from eigentext.errors import CorpusError, MomentsError
from eigentext.estimators import check_is_fitted, framed, learned_with
from eigentext.matrices.runs import transposed
from eigentext.moments import CooccurrenceMoments
from eigentext.moments.cooccurrence import Context
from eigentext.storage.schema import Array, damage
from eigentext.words import parameters
from eigentext.words._cooccurrences import CooccurrenceModel
from eigentext.words._saved import LARGEST, UNIT_ROWS, check_values, words_schema
from eigentext.words.template import TRANSFORMS, Transform, decomposed, scaled_counts

Side = Literal["left", "right", "both"]
_TOKENS = 1 << 16  # of a task
_CONTEXT_VECTORS = Array(
    "float32", ("blocks", "words+1", "dimensions"), least=-LARGEST, below=LARGEST, lazy=True
)


class Eigentokens(CooccurrenceModel):
    r"""Context-sensitive vectors of tokens by CCA between word and context.

    .. math:: \underline z = B^\top z = \sum_{c \in \mathrm{context}} B_c

    Parameters
    ----------
    n_components : int
        The dimension m of the vectors; 30 to 50 are usual.
    window : int
        The number of context words on each side. A window never leaves its sentence.
    side : "both", "left" or "right"
        Where the context of a word is.
    context : "list" or "bag"
        Whether each place in the window has its own vectors, or each side.
    min_count : int
        Rarer words, and words that are new to `transform`, share one symbol.
    max_size : int, optional
        The largest vocabulary.
    count_transform : "sqrt", "two-thirds", "log" or "none"
        The transform of the counts (a = 1/2, 2/3, …, 1). "none" is plain CCA; the
        square root stabilizes the variance of counts (Stratos, Collins and Hsu 2015, 4.3).
    combine : bool
        Whether to append the eigenword of its word to the vector of a token.
    random_state : int
        The seed of the SVD. Equal seeds give equal bits.

    Attributes
    ----------
    context_vectors_ : float32 array, shape (n_blocks, n_words + 1, n_components)
        B. Blocks go from the leftmost place (or side) to the rightmost. The last row of each is for
        rare words; it is zero if there were none.
    vectors_ : float32 array, shape (n_words, n_components)
        Eigenwords, the rows of A scaled to unit length.
    rare_vector_ : float32 array, shape (n_components,)
        The vector of all rare words together.
    places_ : int32 array, shape (n_places, 2)
        The distance of each place from the word, and its block in `context_vectors_`.
    vocabulary_ : Vocabulary
    singular_values_ : array, shape (n_components,)
        Sigma. With "none" these are the canonical correlations. The first is 1 and trivial, because
        nothing is centered: its coordinate counts the words in the context.
    diagnostics_ : dict
        The singular values that were kept and the next ones, their condition number, and how many
        tokens were rare.
    provenance_ : dict
        The origin: the number of tokens, fingerprints of the text, and how it was read.

    Examples
    --------
    The vectors of "can" as a noun and as a verb are orthogonal:

    >>> from eigentext import Eigentokens
    >>> text = ["the can", "the box", "you can", "you may"] * 5
    >>> tokens = Eigentokens(2, window=1, side="left", count_transform="none").fit(text)
    >>> (_, noun), (_, verb) = tokens.transform([["the", "can"], ["you", "can"]])
    >>> bool(abs(noun @ verb) < 1e-5 * (noun @ noun))
    True
    """

    _format = "eigentext.eigentokens.v1"
    _table = parameters.Eigentokens

    def __init__(
        self,
        n_components: int = 50,
        *,
        window: int = 2,
        side: Side = "both",
        context: Context = "list",
        min_count: int = 5,
        max_size: int | None = None,
        count_transform: Transform = "sqrt",
        combine: bool = False,
        random_state: int = 0,
    ):
        self.n_components = n_components
        self.window = window
        self.side: Side = side
        self.context: Context = context
        self.min_count = min_count
        self.max_size = max_size
        self.count_transform: Transform = count_transform
        self.combine = combine
        self.random_state = random_state

    # Learning.

    def _learn(self, moments: CooccurrenceMoments) -> Self:
        cut = self._cut(moments)
        if "contexts" in cut.options:
            raise MomentsError(
                "these moments were counted in trees, but the contexts of eigentokens are places "
                "in a sentence; learn Eigenwords from them, or give text"
            )
        counts, places = self._word_context_counts(cut)
        Omega = scaled_counts(counts, transform=self.count_transform, scaling="cca", alpha=1)
        U, s, Vt, spectrum = decomposed(
            Omega, self.n_components, random_state=self.random_state, right=True
        )
        self._describe(cut, int(Omega.nnz))
        self.singular_values_, self.places_ = s, places
        self._define_words(U)
        self._define_contexts(Vt.T, counts)
        alone = counts.sum(axis=1)[: len(cut.vocabulary)] == 0
        found = {"words_without_context": int(alone.sum())}
        self.diagnostics_ = spectrum | self.diagnostics_ | found
        return self

    # Using.

    def transform(self, sentences: Iterable[Sequence[str]]) -> list[np.ndarray]:
        """Eigentokens of sentences, split as the text of `fit` was.

        Parameters
        ----------
        sentences : iterable of lists of tokens
            A :class:`TextCorpus` is one. An empty sentence has an empty array.

        Returns
        -------
        list of float32 arrays, shape (n_tokens, n_components)
            One for each sentence; twice as wide with ``combine=True``. A token alone in its
            sentence has a zero context vector.
        """
        check_is_fitted(self)
        if isinstance(sentences, (str, os.PathLike)):
            raise CorpusError("give a list of lists of tokens, or a corpus to transform_corpus")
        units = [_checked(unit, number) for number, unit in enumerate(_items(sentences), start=1)]
        lengths = np.fromiter(map(len, units), np.int64, len(units))
        tokens = [token for unit in units for token in unit]
        flat = self.vocabulary_.ids_of(as_asked(tokens, self.provenance_["options"]))
        flat[flat < 0] = len(self.vocabulary_)
        ids = np.full(len(flat) + len(units), -1, np.int32)
        ids[np.arange(len(flat)) + np.repeat(np.arange(len(units)), lengths)] = flat
        return np.split(self._project(ids), np.cumsum(lengths)[:-1]) if units else []

    @framed
    def transform_corpus(
        self, corpus: Any, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> np.ndarray:
        """Eigentokens of a whole :class:`TextCorpus` (or what it takes) or EncodedCorpus.

        Returns
        -------
        float32 array, shape (corpus's n_tokens, n_components)
            Rows in the order of the text, unit after unit, as in :meth:`transform`.
        """
        check_is_fitted(self)
        encoded = encode(corpus, cache=cache)
        words = as_asked(encoded.words, self.provenance_["options"])
        places = self.vocabulary_.ids_of(words)
        places[places < 0] = len(self.vocabulary_)
        return self._project(np.append(places, np.int32(-1))[encoded.tokens])  # -1 stays END

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the dimensions, for scikit-learn."""
        check_is_fitted(self)
        width = self.vectors_.shape[1] * (1 + self.parameters_.combine)
        return np.array([f"eigentokens{k}" for k in range(width)], object)

    # The steps.

    def _word_context_counts(self, moments: CooccurrenceMoments) -> tuple[Any, np.ndarray]:
        """#(w, c), with a block of columns for each place or side from left to right; `places_`."""
        F, h = moments.forward, moments.window
        n = F.shape[0]
        ahead = [F[:, start : start + n] for start in range(0, F.shape[1], n)]
        blocks, places = [], []
        with engine.phase("mirror"):
            if self.side != "right":
                blocks += [transposed(F_d) for F_d in reversed(ahead)]
                places += [(-d, min(h - d, len(blocks) - 1)) for d in range(h, 0, -1)]
            if self.side != "left":
                places += [(d, len(blocks) + min(d, len(ahead)) - 1) for d in range(1, h + 1)]
                blocks += ahead
            return sp.hstack(blocks, format="csr"), np.array(places, np.int32)

    def _define_words(self, U: np.ndarray) -> None:
        """The rows of A = C_xx^{-1/2} U, which are those of U up to length, made unit."""
        norms = np.linalg.norm(U, axis=1, keepdims=True)
        norms[norms <= np.finfo(np.float32).tiny] = 1
        unit, n_words = U / norms, len(self.vocabulary_)
        self.vectors_ = np.ascontiguousarray(unit[:n_words], np.float32)
        self.rare_vector_ = np.zeros(U.shape[1], np.float32)
        self.rare_vector_[:] = unit[n_words:].sum(axis=0)  # one row, or none

    def _define_contexts(self, V: np.ndarray, counts: Any) -> None:
        """B = C_zz^{-1/2} V, with C_zz the diagonal of P(c)^a."""
        t = TRANSFORMS[self.count_transform]
        context = counts.sum(axis=0)
        scale = np.sqrt(t(context.sum()) / t(np.maximum(context, 1))) * (context > 0)
        n_rows, m = counts.shape[0], V.shape[1]
        B = (V * scale[:, None]).reshape(-1, n_rows, m)
        self.context_vectors_ = np.zeros((len(B), len(self.vocabulary_) + 1, m), np.float32)
        self.context_vectors_[:, :n_rows] = B

    def _project(self, ids: np.ndarray) -> np.ndarray:
        """The eigentokens of flat ids, in which -1 ends a unit, and takes no row."""
        from eigentext.words import _eigentoken_loops

        self._check_vectors()
        B = np.asarray(self.context_vectors_)
        m, n_words, combine = B.shape[2], len(self.vocabulary_), self.parameters_.combine
        starts = np.arange(0, len(ids), _TOKENS)
        sizes = np.add.reduceat(ids >= 0, starts, dtype=np.int64) if len(ids) else starts
        rows = np.concatenate([[0], np.cumsum(sizes)])
        out = np.empty((int(rows[-1]), m * (1 + combine)), np.float32)

        def project(block: int) -> int:
            start, row, end = int(starts[block]), int(rows[block]), int(rows[block + 1])
            stop = min(start + _TOKENS, len(ids))
            _eigentoken_loops.sum_contexts(ids, start, stop, self.places_, B, out, row)
            if combine:
                words = ids[start:stop]
                words = words[words >= 0]
                out[row:end, m:] = self.vectors_[np.minimum(words, n_words - 1)]
                out[row:end, m:][words == n_words] = self.rare_vector_
            return end - row

        with engine.phase("project", len(out), "tokens") as advance:
            for done in engine.current().map(project, range(len(starts))):
                advance(done)
        return out

    def _check_vectors(self) -> None:
        """Check vectors of a file when they are first used."""
        B = self.context_vectors_
        if isinstance(B, np.memmap) and not vars(self).get("_sound"):
            check_values("context_vectors", _CONTEXT_VECTORS, B)
            check_values("vectors", UNIT_ROWS, self.vectors_)
            self._sound = True

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_sound"}

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "context_vectors": self.context_vectors_,
            "vectors": self.vectors_,
            "rare_vector": self.rare_vector_,
            "places": self.places_,
            "singular_values": self.singular_values_,
            "words": self.vocabulary_.words,
            "word_counts": self.vocabulary_.counts,
        }
        about = {
            "parameters": dict(self.parameters_),
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
        }
        return arrays, about

    @classmethod
    def _schema(cls, about):
        # Blocks are those of the context vectors; a place is at most a window away.
        return words_schema(
            {
                "context_vectors": _CONTEXT_VECTORS,
                "vectors": UNIT_ROWS,
                "rare_vector": Array("float32", ("dimensions",), least=-LARGEST, below=LARGEST),
                "places": Array("int32", ("places", 2)),
            }
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        self.context_vectors_ = arrays["context_vectors"]
        self.vectors_ = arrays["vectors"]
        self.rare_vector_ = arrays["rare_vector"]
        self.places_ = np.array(arrays["places"])
        self.singular_values_ = arrays["singular_values"]
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.provenance_ = about["provenance"]
        self.diagnostics_ = about["diagnostics"]
        distances, blocks = np.abs(self.places_[:, 0].astype(np.int64)), self.places_[:, 1]
        if blocks.min(initial=0) < 0 or blocks.max(initial=-1) >= len(self.context_vectors_):
            raise damage("places", f"has blocks beyond {len(self.context_vectors_)}")
        if not len(blocks) or distances.max() > len(blocks):
            raise damage("places", "has none, or distances beyond their number")
        return self


def _checked(unit: Any, number: int) -> list[str]:
    if isinstance(unit, str):
        raise CorpusError(f"sentence {number} is the string {unit!r:.40}; give a list of tokens")
    return checked_tokens(unit, f"sentence {number}")


def _items(sentences: Any) -> Any:
    """The lists of tokens in an array, or in the column of a table."""
    return sentences.tolist() if hasattr(sentences, "tolist") else sentences
