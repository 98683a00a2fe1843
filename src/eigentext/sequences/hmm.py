r"""Hidden Markov models: spectral, by EM, and by EM from a spectral start.

With initial :math:`\pi(h)`, transition :math:`t(h'|h)` and emission :math:`o(x|h)` probabilities
and :math:`[A_x]_{h'h} = t(h'|h)\,o(x|h)`, a sequence has the probability

.. math:: p(x_1 \dots x_T) = \mathbf 1^\top A_{x_T} \dots A_{x_1} \pi

(of the first T symbols: the model has no end). ``spectral`` learns operators
:math:`B_x = G A_x G^{-1}` from counts of windows of three symbols, in which the unknown G cancels
(Hsu, Kakade and Zhang 2009): see ``_operators``. ``em`` maximises the likelihood from
random starts: see ``_baum_welch``. ``spectral+em`` recovers parameters from the operators, or
clusters symbols in their projections, and refines them by EM: see ``_recovery``.

Where a sequence starts is learned from the starts of all sequences. A stream has none: whatever is
asked of it may begin anywhere. So a model of a stream has, at its start, the mean state over the
stream, by every method, and a first symbol is as probable as it is frequent.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import (
    INTEGERS,
    RARE,
    UNKNOWN,
    encode_sequences,
    is_stream,
    sequence_ids,
    special_names,
    symbol_ids,
)
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted, learned_with, learning
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.moments import NgramMoments
from eigentext.moments.sound_ngrams import check_ngrams
from eigentext.parameters import Count, Seed, argument
from eigentext.sequences import _hmm_file, parameters
from eigentext.sequences._baum_welch import Parameters, Sequences
from eigentext.sequences._given import in_places, without_empty
from eigentext.sequences._hmm_learning import by_em, by_spectrum
from eigentext.sequences._language_model import LanguageModel
from eigentext.sequences._operators import Operators, Scaling
from eigentext.sequences._room import check_room
from eigentext.sequences._windows import population
from eigentext.storage import Saved

Method = Literal["spectral", "em", "spectral+em"]


class HMM(LanguageModel, Saved, Estimator):
    """A hidden Markov model of sequences of words or of integers.

    Parameters
    ----------
    n_states : int
        m. The spectral method uses fewer, and warns, if the data do not support so many.
    method : "spectral", "em" or "spectral+em"
        "spectral" takes one pass and has no parameters to look at, only probabilities and states;
        the others have `initial_`, `transition_` and `emission_`, and fit best.
    min_count, max_size
        Words that occur less often, or beyond the most frequent, are one symbol, the last.
        Without rare words in the data, a word never seen has probability 0.
    scaling : "cca" or "none"
        Whether the rows and columns of the bigram matrix are divided by the roots of their sums.
    rank : int, optional
        Directions to use, whatever the noise; by default as many as rise above it.
    n_init : int, optional
        Starts for EM, by default 10; "spectral+em" needs one if the data support all states.
    n_iter : int, optional
        Passes of EM over the data: 300 at most for "em", 100 for "spectral+em".
    tol : float
        EM ends when two passes gain less log-likelihood than this for each token.
    smoothing : float
        Tokens added to the expected emissions of every state, spread as the symbols' frequencies.
    n_jobs : int, optional
        Threads for EM; by default those of the engine. No answer depends on it.
    random_state : int

    Attributes
    ----------
    vocabulary_ : Vocabulary
        Words, or integers as strings.
    symbols_ : list of str
        What `predict_next` gives probabilities of, in its order: the vocabulary, and "<rare>"
        if there were rare words ("<<rare>>" if that is a word).
    initial_, transition_, emission_ : arrays, shapes (m,), (m, m), (m, n)
        Rows are states. Not for "spectral".
    diagnostics_ : dict
        Singular values, the noise they have to rise above, rank, floor; how EM went.

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
        n_init: int | None = None,
        n_iter: int | None = None,
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
        self.n_init = n_init
        self.n_iter = n_iter
        self.tol = tol
        self.smoothing = smoothing
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def from_parameters(
        cls, initial: Any, transition: Any, emission: Any, *, symbols: Sequence[str] | None = None
    ) -> Self:
        """A model with given parameters: exact probabilities of any sequence.

        Rows are states: ``transition[h, h']`` is ``t(h'|h)`` and ``emission[h, x]`` is ``o(x|h)``.
        Symbols are integers, or the words of `symbols`.
        """
        given = Parameters.checked(initial, transition, emission)
        n, m = given.emission.shape
        names = list(map(str, range(n))) if symbols is None else list(symbols)
        if len(names) != n:
            raise ParameterError(f"{len(names)} symbols given for an emission of {n} columns")
        if len(set(names)) < n:
            raise ParameterError("symbols: every word must stand there once only")
        self = learned_with(cls, {"n_states": m})
        tokenizer = INTEGERS if symbols is None else "none"
        options = {"tokenizer": tokenizer, "lowercase": False, "unit": "line"}
        self.provenance_ = {"n_tokens": 0, "options": options, "sources": []}
        return self._set(
            given,
            Vocabulary(names, np.zeros(n, np.int64)),
            options,
            has_rare=False,
            diagnostics={},
        )

    @learning
    def fit(
        self,
        sequences: Any,
        y: None = None,
        *,
        memory: int = DEFAULT_MEMORY,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from sequences: of words or integers, one stream of them, or text.

        What can be given: see :func:`eigentext.corpus.encode_sequences`. `memory` (bytes for
        counting) and `cache` (a folder for encoded text) change no answer.
        """
        encoded = encode_sequences(sequences, cache=cache)
        moments = self.collect(encoded, memory=memory)
        if self.method == "spectral":
            return self._learn(moments)
        places = moments.vocabulary.ids_of(encoded.words)
        places[places < 0] = moments.rare
        ids = np.append(places, np.int32(END))[encoded.tokens]
        stream = is_stream(encoded.options)
        return self._learn(moments, Sequences.of(ids, stream=stream))

    def collect(
        self,
        sequences: Any,
        *,
        memory: int = DEFAULT_MEMORY,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """The statistics that the spectral method needs: counts of windows up to three."""
        self._table.checked(self.get_params(deep=False))
        return NgramMoments.from_corpus(
            sequences,
            order=3,
            min_count=self.min_count,
            max_size=self.max_size,
            memory=memory,
            cache=cache,
        )

    @learning
    def fit_moments(self, moments: NgramMoments) -> Self:
        """Learn from statistics alone.

        EM needs the sequences themselves: with "spectral+em" and ``n_iter=0``, parameters are
        recovered and not refined.
        """
        if self.method == "em" or (self.method == "spectral+em" and self.n_iter != 0):
            raise MomentsError(
                "EM needs the sequences, not their statistics: call fit, or use "
                "method='spectral', or method='spectral+em' with n_iter=0"
            )
        check_ngrams(moments)
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count, max_size=self.max_size)
        return self._learn(moments)

    # What a fitted model is asked.

    def log_probability(self, sequence: Any) -> float:
        """The logarithm of p(x_1 .. x_T); -inf if that is 0, and 0.0 for an empty sequence."""
        return float(self._filtered(self._ids(sequence))[0].sum())

    def probability(self, sequence: Any) -> float:
        """p(x_1 .. x_T), which may be too small for a number: see :meth:`log_probability`."""
        return float(np.exp(self.log_probability(sequence)))

    def score_samples(self, sequences: Any) -> np.ndarray:
        """The log-probability of each sequence, in its place; 0 for an empty one.

        Of text, that is each unit with words in it; a stream is one sequence.
        """
        check_is_fitted(self)
        given, is_empty = without_empty(sequences)
        if is_empty is not None and all(is_empty):
            return np.zeros(len(is_empty))
        ids = self._all_ids(given)
        logs = self._filtered(ids)[0]
        logs[ids == END] = 0.0
        data = Sequences.of(ids, stream=False)
        with np.errstate(invalid="ignore"):
            found = np.add.reduceat(logs, data.begins)
        return found if is_empty is None else in_places(found, is_empty)

    def scoring_diagnostics(self, sequences: Any) -> dict[str, int]:
        """What comes out wrong when sequences are scored, and is repaired.

        "tokens", "unknown" words and, of a spectral model, "negative" probabilities, and those at
        the floor or below it ("floored").
        """
        return self._filtered(self._all_ids(sequences))[2]

    def log_probabilities(self, tokens: Any, *, rare: bool = False) -> np.ndarray:
        """Of every token, log p(x_t | x_1 .. x_t-1); nan for words never learned.

        With `rare`, those have the logarithm for all rare words together, or -inf without such.
        """
        ids = self._all_ids(tokens)
        logs = self._filtered(ids)[0]
        if not rare:
            logs[(ids == UNKNOWN) | (ids == len(self.vocabulary_))] = np.nan
        return logs[ids != END]

    def predict_next(self, prefix: Any = ()) -> np.ndarray:
        """The probability of each symbol (of `symbols_`) after a prefix."""
        ids = self._ids(prefix)
        return self._model.distribution(self._filtered(ids)[1][-1] if len(ids) else None)

    def filter(self, sequence: Any) -> np.ndarray:
        """The state after each token, given all up to it: a vector for a token in its context.

        For a model with parameters, p(h_t | x_1 .. x_t); for a spectral one, G times that.
        """
        ids = self._ids(sequence)
        return self._model.states(ids)

    def transform(self, sentences: Iterable[Sequence[str]]) -> list[np.ndarray]:
        """The states of each sentence's tokens by :meth:`filter`: eigentokens.

        An array for each sentence, in double precision; an empty one has an empty array.
        """
        if isinstance(sentences, str):
            raise CorpusError("give a list of sentences, each a list of symbols")
        parts = [np.append(self._ids(sentence), np.int32(END)) for sentence in sentences]
        if not parts:
            return []
        states = self._model.states(np.concatenate(parts))
        borders = np.cumsum([len(part) for part in parts])
        return [one[:-1] for one in np.split(states, borders[:-1])]

    def viterbi(self, sequence: Any) -> tuple[np.ndarray, float]:
        """The most probable states, and their log-probability with the sequence."""
        return self._parameters("decode states").best_path(self._ids(sequence))

    def k_best(self, sequence: Any, k: int) -> list[tuple[np.ndarray, float]]:
        """The k most probable sequences of states, exactly, best first, as :meth:`viterbi` is.

        Fewer if fewer have a positive probability.
        """
        paths, scores = self._parameters("decode states").best_paths(self._ids(sequence), k)
        return list(zip(paths.astype(np.int64), scores.tolist()))

    def sample(
        self,
        n_sequences: int = 1,
        length: int = 20,
        *,
        random_state: int | np.random.Generator | None = 0,
    ) -> Any:
        """Draw sequences of a length: an array of integers, or lists of words."""
        check_is_fitted(self)
        n_sequences = argument("n_sequences", Count(1, least=0), n_sequences)
        length = argument("length", Count(20, least=0), length)
        if not isinstance(random_state, np.random.Generator):
            random_state = np.random.default_rng(argument("random_state", Seed(0), random_state))
        ids = self._model.sample(n_sequences, length, random_state)
        if self._options.get("tokenizer") == INTEGERS:
            return ids
        return [[self.symbols_[x] for x in row] for row in ids]

    def operator(self, symbol: Any) -> np.ndarray:
        """B_x of a spectral model, or A_x: ``end_ @ B_x @ start_`` is the probability of x."""
        x = int(self._ids([symbol])[0])
        return np.zeros(2 * self.start_.shape) if x == UNKNOWN else self._model.operator(x)

    @property
    def start_(self) -> np.ndarray:
        """b_1, or the initial probabilities."""
        check_is_fitted(self)
        model = self._model
        return model.start if isinstance(model, Operators) else model.initial

    @property
    def end_(self) -> np.ndarray:
        """b_inf, or ones."""
        check_is_fitted(self)
        model = self._model
        return model.end if isinstance(model, Operators) else np.ones_like(model.initial)

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

    def moments(self) -> NgramMoments:
        """The exact probabilities of the first three symbols, as statistics to learn from."""
        check_is_fitted(self)
        n = len(self.symbols_)
        check_room(
            24.0 * n**3, f"a table of all windows of {n:,} symbols", "take a model of fewer symbols"
        )
        operators = np.stack([self._model.operator(x) for x in range(n)])
        unigrams, levels = population(self.start_, operators, self.end_, len(self.vocabulary_) + 1)
        return NgramMoments(self.vocabulary_, unigrams, levels, False, dict(self._options), [])

    def plot(
        self,
        kind: Literal["spectrum", "curve", "transitions"] | None = None,
        *,
        ax: Any = None,
    ) -> Any:
        """Draw with matplotlib; returns the Axes.

        "spectrum" are the singular values of pairs of symbols and the noise that they have to rise
        above, "curve" is the log-likelihood at each pass of EM, "transitions" is ``t(h'|h)``. The
        default is the spectrum, or the transitions of a model without one.
        """
        from eigentext.sequences._hmm_plot import draw

        check_is_fitted(self)
        return draw(self, kind, ax)

    # Private steps.

    def _check_together(self) -> None:
        if self.rank is not None and self.rank > self.n_states:
            raise ParameterError(f"rank {self.rank} is above n_states, {self.n_states}")

    def _learn(self, moments: NgramMoments, data: Sequences | None = None) -> Self:
        model: Parameters | Operators
        if self.method == "spectral":
            model, _, diagnostics, _ = by_spectrum(self, moments)
        else:
            stream = is_stream(moments.options)
            model, diagnostics, history = by_em(self, moments, data, stream=stream)
            if history:
                self.history_ = history
        self.provenance_ = {
            "n_tokens": moments.n_tokens,
            "options": moments.options,
            "sources": moments.sources,
        }
        return self._set(
            model,
            moments.vocabulary,
            moments.options,
            has_rare=bool(moments.unigrams[moments.rare]),
            diagnostics=diagnostics,
        )

    def _set(
        self,
        model: Parameters | Operators,
        vocabulary: Vocabulary,
        options: dict[str, Any],
        *,
        has_rare: bool,
        diagnostics: dict[str, Any],
    ) -> Self:
        self._model, self._options, self._has_rare = model, options, has_rare
        self.vocabulary_ = vocabulary
        self.symbols_ = vocabulary.words + (special_names(vocabulary, RARE) if has_rare else [])
        self.diagnostics_ = diagnostics
        return self

    def _parameters(self, purpose: str) -> Parameters:
        check_is_fitted(self)
        if isinstance(self._model, Operators):
            raise ParameterError(
                f"a spectral model has operators and no parameters, so it cannot {purpose}; "
                "use method='spectral+em'"
            )
        return self._model

    def _ids(self, sequence: Any) -> np.ndarray:
        check_is_fitted(self)
        ids = symbol_ids(sequence, self.vocabulary_, self._options)
        ids[ids < 0] = len(self.vocabulary_) if self._has_rare else UNKNOWN
        return ids

    def _all_ids(self, sequences: Any) -> np.ndarray:
        check_is_fitted(self)
        ids = sequence_ids(sequences, self.vocabulary_, self._options)
        if self._has_rare:
            ids[ids == UNKNOWN] = len(self.vocabulary_)
        return ids

    def _filtered(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
        return self._model.filtered(ids)

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        words = {"words": self.vocabulary_.words, "word_counts": self.vocabulary_.counts}
        diagnostics = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.diagnostics_.items()
        }
        about = {
            "parameters": dict(self.parameters_),
            "kind": _hmm_file.kind_of(self._model),
            "options": self._options,
            "has_rare": self._has_rare,
            "diagnostics": diagnostics,
            "provenance": self.provenance_,
            "history": getattr(self, "history_", []),
        }
        return words | _hmm_file.to_arrays(self._model), about

    @classmethod
    def _schema(cls, about):
        return _hmm_file.schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        if about["history"]:
            self.history_ = about["history"]
        self.provenance_ = about["provenance"]
        return self._set(
            _hmm_file.from_arrays(arrays, about["kind"]),
            Vocabulary(arrays["words"], np.asarray(arrays["word_counts"])),
            about["options"],
            has_rare=about["has_rare"],
            diagnostics=about["diagnostics"],
        )
