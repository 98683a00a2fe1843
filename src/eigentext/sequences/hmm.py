r"""Hidden Markov models: spectral, by EM, by EM from a spectral start, and by anchors.

With initial probabilities :math:`\pi(h)`, transitions :math:`t(h'|h)` and emissions
:math:`o(x|h)`, and with :math:`[A_x]_{h'h} = t(h'|h)\,o(x|h)`, a sequence has the probability

.. math:: p(x_1 \dots x_T) = \mathbf 1^\top A_{x_T} \dots A_{x_1} \pi .

This is the probability of the first T symbols: the model has no end. There are four methods:

``spectral``
    learns operators :math:`B_x = G A_x G^{-1}` from counts of windows of three symbols. The unknown
    matrix G cancels (Hsu, Kakade and Zhang 2009). See :mod:`eigentext.sequences.learning.spectral`.
``em``
    maximizes the likelihood from random starts. See :mod:`eigentext.sequences.learning.em`.
``spectral+em``
    recovers parameters from the operators, or clusters symbols in their projections
    (:mod:`eigentext.sequences.learning.recovery`), fits them to the counted windows
    (:mod:`eigentext.sequences.learning.window_em`), and then runs EM over the sequences.
``anchor``
    finds tags without labels: states that are named by words that only they emit (Stratos, Collins
    and Hsu 2016). See :mod:`eigentext.sequences.learning.anchor`.

The initial state is learned from the starts of all sequences. A stream has no starts: a question
about it may begin anywhere. So a model of a stream begins, with every method, in the mean state
over the stream, and the probability of a first symbol is its frequency.

:mod:`eigentext.sequences.inference` answers the questions to a fitted model.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from eigentext.corpus import Vocabulary
from eigentext.corpus.scarcity import once_findings, state_findings
from eigentext.corpus.symbols import INTEGERS, encode_sequences, is_stream
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.moments import NgramMoments
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.sequences import _hmm_file, inference, parameters
from eigentext.sequences._given import Text, Words
from eigentext.sequences._hmm_findings import findings_of
from eigentext.sequences._language_model import provenance_of
from eigentext.sequences._symbols import Symbols
from eigentext.sequences.forms import Form, HMMParameters
from eigentext.sequences.learning.anchor import Corners, by_anchors
from eigentext.sequences.learning.em import Sequences
from eigentext.sequences.learning.methods import by_em, by_plain_spectrum, by_spectrum
from eigentext.sequences.learning.spectral import Scaling
from eigentext.sequences.operator_model import OperatorModel
from eigentext.storage import Saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["spectral", "em", "spectral+em", "anchor"]
Repair = Literal["floor", "none"]


class HMM(OperatorModel, Saved, Estimator):
    """A hidden Markov model of sequences of words or of integers.

    Parameters
    ----------
    n_states : int
        The number m of states. If the data support fewer, the spectral method warns and uses fewer.
    method : "spectral", "em", "spectral+em" or "anchor"
        "spectral" takes one pass over the data. It gives probabilities and states, but no
        parameters. The other methods have `initial_`, `transition_` and `emission_`. "spectral+em"
        and "em" fit best. The states of "anchor" are most like parts of speech (:meth:`tag`).
    min_count, max_size
        Words that occur less often, or that are not among the most frequent ones, share one symbol,
        the last. If the data have no rare words, an unknown word has probability 0.
    scaling : "cca" or "none"
        Whether the rows and columns of the bigram matrix are divided by the square roots of their
        sums.
    rank : int, optional
        The number of directions to use. By default, those whose singular values exceed the noise.
    repair : "floor" or "none"
        "none" is the plain algorithm of Hsu, Kakade and Zhang (2009), for teaching and comparison:
        as many directions as states, no scaling, no shrinkage, no least probability. It may give
        negative probabilities, whose logarithm is nan (with a warning). "floor" avoids them.
    n_init : int, optional
        The number of starts. The default is 10, or 6 for "spectral+em", which needs only one if the
        data support all states.
    n_iter : int, optional
        The largest number of passes of EM over the data. The default is 300 for "em", and 100 for
        "spectral+em". With 0, "spectral+em" uses the counts of windows alone. For "anchor" it is 0,
        and more passes fit better, but the states become less like parts of speech.
    anchors : "groups" or "corners"
        What the corners of "anchor" are: means of groups of frequent words, or single words, as in
        the paper.
    n_candidates : int
        How many of the most frequent words may be anchors.
    spelling : float, optional
        The tokens that the spelling of a word counts for in "anchor". The default is 30, or 0 if
        the symbols are integers.
    tol : float
        EM stops when two passes gain less log-likelihood per token than this.
    smoothing : float
        The tokens that are added to the expected emissions of every state. They are divided among
        the symbols by frequency.
    n_jobs : int, optional
        The number of threads of EM. The default is that of the engine. It does not change the
        result.
    random_state : int
        The seed of random starts, clusterings and the SVD.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The words, or the integers as strings.
    symbols_ : list of str
        The symbols in the order of `predict_next`: the vocabulary, and "<rare>" if there are rare
        words ("<<rare>>" if "<rare>" is a word).
    initial_, transition_, emission_ : arrays, shapes (m,), (m, m), (m, n)
        Rows are states. "spectral" does not have them. The states of "anchor" are sorted by
        frequency.
    anchors_ : list of lists of str
        For each state of "anchor" the words that name it, the most frequent first.
    history_ : list of float
        The log-likelihood per token during EM. "spectral" does not have it.
    diagnostics_ : dict
        The singular values, the noise that they must exceed, the rank, the floor, and how EM ended.
    provenance_ : dict
        What the model was learned from.

    Examples
    --------
    >>> from eigentext import HMM
    >>> hmm = HMM.from_parameters([1, 0], [[0, 1], [1, 0]], [[0.5, 0.5, 0], [0, 0, 1]])
    >>> hmm.probability([0, 2, 1])
    0.25
    >>> hmm.predict_next([0, 2])
    array([0.5, 0.5, 0. ])
    >>> sample = hmm.sample(200, 6)
    >>> fitted = HMM(2).fit(sample)
    >>> round(fitted.probability([0, 2, 1]), 1)
    0.2
    """

    _format = "eigentext.hmm.v1"
    _table = parameters.HMM

    def __init__(
        self,
        n_states: int = 10,
        *,
        method: Method = "spectral",
        min_count: int = 1,
        max_size: int | None = None,
        scaling: Scaling = "cca",
        rank: int | None = None,
        repair: Repair = "floor",
        n_init: int | None = None,
        n_iter: int | None = None,
        anchors: Corners = "groups",
        n_candidates: int = 300,
        spelling: float | None = None,
        tol: float = 1e-6,
        smoothing: float = 20.0,
        n_jobs: int | None = None,
        random_state: int = 0,
    ):
        self.n_states = n_states
        self.method: Method = method
        self.min_count = min_count
        self.max_size = max_size
        self.scaling: Scaling = scaling
        self.rank = rank
        self.repair: Repair = repair
        self.n_init = n_init
        self.n_iter = n_iter
        self.anchors: Corners = anchors
        self.n_candidates = n_candidates
        self.spelling = spelling
        self.tol = tol
        self.smoothing = smoothing
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def from_parameters(
        cls,
        initial: ArrayLike,
        transition: ArrayLike,
        emission: ArrayLike,
        *,
        symbols: Sequence[str] | None = None,
    ) -> Self:
        """Make a model with given parameters.

        Rows are states: ``transition[h, h']`` is ``t(h'|h)`` and ``emission[h, x]`` is ``o(x|h)``.
        Symbols are integers, or the words in `symbols`.
        """
        given = HMMParameters.checked(initial, transition, emission)
        n, m = given.emission.shape
        names = list(map(str, range(n))) if symbols is None else list(symbols)
        if len(names) != n:
            raise ParameterError(f"{len(names)} symbols given for an emission of {n} columns")
        if len(set(names)) < n:
            raise ParameterError("symbols: every word must occur only once")
        self = learned_with(cls, {"n_states": m})
        tokenizer = INTEGERS if symbols is None else "none"
        options = {"tokenizer": tokenizer, "lowercase": False, "unit": "line"}
        self.provenance_ = {"n_tokens": 0, "options": options, "sources": []}
        vocabulary = Vocabulary(names, np.zeros(n, np.int64))
        return self._set(given, Symbols(vocabulary, options, has_rare=False), {})

    @learning
    def fit(
        self,
        sequences: Text,
        y: None = None,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from sequences of words or integers, from a stream of them, or from text.

        :func:`eigentext.corpus.encode_sequences` lists the forms that data may have. `memory` (the
        bytes that the process may take) and `cache` (a folder for encoded text) do not change the
        result.
        """
        encoded = encode_sequences(sequences, cache=cache)
        moments = self.collect(encoded, memory=memory)
        if self.method == "spectral" or (self.method == "anchor" and not self.n_iter):
            return self._learn(moments)
        return self._learn(moments, Sequences.of_encoded(encoded, moments))

    def collect(
        self,
        sequences: Text,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """Return the statistics that the spectral method needs: counts of up to three symbols.

        The anchor method needs counts of two.
        """
        self._table.checked(self.get_params(deep=False))
        return NgramMoments.from_corpus(
            sequences,
            order=2 if self.method == "anchor" else 3,
            min_count=self.min_count,
            max_size=self.max_size,
            memory=memory,
            cache=cache,
        )

    @learning
    def fit_moments(self, moments: NgramMoments) -> Self:
        """Learn from statistics alone.

        EM needs the sequences themselves. With "spectral+em" and ``n_iter=0``, parameters are
        recovered and fitted to the counted windows, without EM over sequences. "anchor" needs no
        EM by default.
        """
        needs_em = {"em": True, "spectral+em": self.n_iter != 0, "anchor": bool(self.n_iter)}
        if needs_em.get(self.method, False):
            raise MomentsError(
                "EM needs the sequences, not their statistics: call fit, or use "
                "method='spectral', or method='spectral+em' or 'anchor' with n_iter=0"
            )
        check_ngrams(moments)
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count, max_size=self.max_size)
        return self._learn(moments)

    def _check_together(self) -> None:
        if self.rank is not None and self.rank > self.n_states:
            raise ParameterError(
                f"rank {self.rank} is above n_states, {self.n_states}; lower rank (--rank), or ask "
                "for more states (--states)"
            )

    def _learn(self, moments: NgramMoments, data: Sequences | None = None) -> Self:
        model: Form
        if self.method == "spectral" and self.repair == "none":
            model, diagnostics = by_plain_spectrum(self, moments)
        elif self.method == "spectral":
            (model, _, diagnostics), _ = by_spectrum(self, moments)
        elif self.method == "anchor":
            model, diagnostics, history = by_anchors(self, moments, data)
            if history:
                self.history_ = history
        else:
            stream = is_stream(moments.options)
            model, diagnostics, history = by_em(self, moments, data, stream=stream)
            if history:
                self.history_ = history
        self.provenance_ = provenance_of(moments)
        has_rare = bool(moments.unigrams[moments.rare])
        symbols = Symbols(moments.vocabulary, moments.options, has_rare)
        return self._set(model, symbols, diagnostics)

    def viterbi(self, sequence: Words) -> tuple[np.ndarray, float]:
        """Return the most probable states, and their log-probability with the sequence."""
        return inference.best_path(self._parameters("decode states"), self._ids(sequence))

    def tag(self, sentences: Iterable[Words]) -> list[list[str]]:
        """Return a tag for each token of each sentence: the name of its most probable state.

        The states of a sentence are those of :meth:`viterbi`, and their names are `tags_`.

        Examples
        --------
        >>> from eigentext import HMM
        >>> text = "the cat saw a dog", "a dog saw the cat", "the dog ran", "a cat ran"
        >>> hmm = HMM(3, method="anchor").fit([line.split() for line in text * 50])
        >>> hmm.tag([["the", "dog", "ran"]]) == hmm.tag([["a", "cat", "ran"]])
        True
        """
        parameters = self._parameters("decode states")
        if isinstance(sentences, str):
            raise CorpusError("give a list of sentences, each a list of words")
        ids = [self._ids(sentence) for sentence in sentences]
        names = self.tags_
        return [[names[h] for h in path] for path in inference.best_path_of_each(parameters, ids)]

    @property
    def anchors_(self) -> list[list[str]]:
        """For each state, the words that name it."""
        check_is_fitted(self)
        if "anchors" not in self.diagnostics_:
            raise AttributeError("only a model with method='anchor' has anchors")
        return self.diagnostics_["anchors"]

    @property
    def tags_(self) -> list[str]:
        """The name of each state: its first anchor, or the number of the state."""
        m = len(self._parameters("name states").initial)
        given = [*self.diagnostics_.get("anchors", []), *[[]] * m][:m]
        return [words[0] if words else str(h) for h, words in enumerate(given)]

    def k_best(self, sequence: Words, k: int) -> list[tuple[np.ndarray, float]]:
        """Return the k most probable sequences of states, exactly, best first.

        Each is what :meth:`viterbi` returns. There are fewer than k if fewer have a positive
        probability.
        """
        parameters = self._parameters("decode states")
        paths, scores = inference.best_paths(parameters, self._ids(sequence), k)
        return list(zip(paths.astype(np.int64), scores.tolist()))

    @property
    def initial_(self) -> np.ndarray:
        """p(h_1)."""
        return self._parameters("show states").initial

    @property
    def transition_(self) -> np.ndarray:
        """``t(h'|h)``, a row for each h."""
        return self._parameters("show states").transition

    @property
    def emission_(self) -> np.ndarray:
        """``o(x|h)``, a row for each h."""
        return self._parameters("show states").emission.T

    def plot(
        self,
        kind: Literal["spectrum", "curve", "transitions"] | None = None,
        *,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Draw with matplotlib, and return the Axes.

        "spectrum" shows the singular values of pairs of symbols and the noise that they must
        exceed, "curve" the log-likelihood at each pass of EM, and "transitions" ``t(h'|h)``. The
        default is the spectrum, or the transitions if the model has no spectrum.
        """
        from eigentext.sequences._hmm_plot import draw

        check_is_fitted(self)
        return draw(self, kind, ax)

    def _findings(self) -> Iterator[Finding]:
        return findings_of(self.diagnostics_, self.parameters_)

    def _size_findings(self) -> Iterator[Finding]:
        if n_tokens := self.provenance_["n_tokens"]:  # parameters that were given have none
            if self.parameters_.method != "spectral":  # which warns of its rank
                yield from state_findings(self.parameters_.n_states, len(self.symbols_))
            yield from once_findings(self.vocabulary_.counts, n_tokens)

    # Private steps.

    def _parameters(self, purpose: str) -> HMMParameters:
        check_is_fitted(self)
        if not isinstance(self._model, HMMParameters):
            raise ParameterError(
                f"a spectral model has operators and no parameters, so it cannot {purpose}; "
                "use method='spectral+em'"
            )
        return self._model

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays, about = _hmm_file.packed(self._model, self._symbols)
        return arrays, about | {
            "parameters": dict(self.parameters_),
            "diagnostics": _hmm_file.listed(self.diagnostics_),
            "provenance": self.provenance_,
            "history": getattr(self, "history_", []),
        }

    @classmethod
    def _schema(cls, about):
        return _hmm_file.schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        if about["history"]:
            self.history_ = about["history"]
        self.provenance_ = about["provenance"]
        return self._set(*_hmm_file.unpacked(arrays, about), about["diagnostics"])
