r"""Hidden Markov models: spectral, by EM, and by EM from a spectral start.

With initial :math:`\pi(h)`, transition :math:`t(h'|h)` and emission :math:`o(x|h)` probabilities
and :math:`[A_x]_{h'h} = t(h'|h)\,o(x|h)`, a sequence has the probability

.. math:: p(x_1 \dots x_T) = \mathbf 1^\top A_{x_T} \dots A_{x_1} \pi

(of the first T symbols: the model has no end). ``spectral`` learns operators
:math:`B_x = G A_x G^{-1}` from counts of windows of three symbols, in which the unknown G cancels
(Hsu, Kakade and Zhang 2009; seed 000): see ``_operators``. ``em`` maximises the likelihood from
random starts: see ``_baum_welch``. ``spectral+em`` recovers parameters from the operators, or
clusters symbols in their projections, and refines them by EM: see ``_recovery``.
"""

import os
import warnings
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any, Literal, Self

import numpy as np

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import (
    INTEGERS,
    UNKNOWN,
    encode_sequences,
    is_stream,
    sequence_ids,
    symbol_ids,
)
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted
from eigentext.moments import NgramMoments
from eigentext.moments.cooccurrence import DEFAULT_MEMORY
from eigentext.sequences._baum_welch import Parameters, Sequences, race, random_start, refine
from eigentext.sequences._language_model import LanguageModel
from eigentext.sequences._operators import Operators, Scaling, spectral_operators
from eigentext.sequences._recovery import clustered, recovered
from eigentext.sequences._windows import Windows, population
from eigentext.storage import Saved
from eigentext.trellis import k_best_paths

Method = Literal["spectral", "em", "spectral+em"]
RARE = "<rare>"  # how the symbol that rare words share is named to people
_PASSES = {"em": 300, "spectral+em": 100}
_STARTS = 10
_CLUSTERINGS = 4  # the first of them, where EM starts from clusters
_FAR = 0.5  # recovered parameters that were so far from probabilities compete with clusters
_LEAST = {"n_states": 1, "rank": 1, "n_init": 1, "n_iter": 0, "n_jobs": 1}


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
        if there were rare words.
    initial_, transition_, emission_ : arrays, shapes (m,), (m, m), (m, n)
        Rows are states. Not for "spectral".
    diagnostics_ : dict
        Singular values, the noise they have to rise above, rank, floor; what came out negative when
        sequences were scored ("scored"); how EM went.

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
        try:
            initial, transition, emission = (
                np.array(part, np.float64) for part in (initial, transition, emission)
            )
        except (TypeError, ValueError) as error:
            raise ParameterError(f"parameters must be arrays of numbers: {error}") from error
        m = len(np.atleast_1d(initial))
        if initial.shape != (m,) or transition.shape != (m, m) or emission.shape[:-1] != (m,):
            raise ParameterError(
                "shapes must be (m,), (m, m) and (m, n) for m states and n symbols, not "
                f"{initial.shape}, {transition.shape} and {emission.shape}"
            )
        for name, rows in (
            ("initial", initial[None]),
            ("transition", transition),
            ("emission", emission),
        ):
            if not (rows >= 0).all() or not np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-6):
                raise ParameterError(f"{name}: every row must be of probabilities that sum to 1")
        n = emission.shape[1]
        names = list(map(str, range(n))) if symbols is None else list(symbols)
        if len(names) != n:
            raise ParameterError(f"{len(names)} symbols given for an emission of {n} columns")
        if len(set(names)) < n:
            raise ParameterError("symbols: every word must stand there once only")
        self = cls(m)
        tokenizer = INTEGERS if symbols is None else "none"
        options = {"tokenizer": tokenizer, "lowercase": False, "unit": "line"}
        self.provenance_ = {"n_tokens": 0, "options": options, "sources": []}
        return self._set(
            Parameters(initial, transition, np.ascontiguousarray(emission.T)),
            Vocabulary(names, np.zeros(n, np.int64)),
            options,
            has_rare=False,
            diagnostics={},
        )

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
        self._check_parameters()
        encoded = encode_sequences(sequences, cache=cache)
        moments = self.collect(encoded, memory=memory)
        if self.method == "spectral":
            return self.fit_moments(moments)
        places = moments.vocabulary.ids_of(encoded.words)
        places[places < 0] = moments.rare
        ids = np.append(places, np.int32(END))[encoded.tokens]
        return self._fit_em(moments, Sequences.of(ids, stream=is_stream(encoded.options)))

    def collect(
        self,
        sequences: Any,
        *,
        memory: int = DEFAULT_MEMORY,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """The statistics that the spectral method needs: counts of windows up to three."""
        return NgramMoments.from_corpus(
            sequences,
            order=3,
            min_count=self.min_count,
            max_size=self.max_size,
            memory=memory,
            cache=cache,
        )

    def fit_moments(self, moments: NgramMoments) -> Self:
        """Learn from statistics alone.

        EM needs the sequences themselves: with "spectral+em" and ``n_iter=0``, parameters are
        recovered and not refined.
        """
        self._check_parameters()
        if self.method == "em" or (self.method == "spectral+em" and self.n_iter != 0):
            raise MomentsError(
                "EM needs the sequences, not their statistics: call fit, or use "
                "method='spectral', or method='spectral+em' with n_iter=0"
            )
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count, max_size=self.max_size)
        if self.method == "spectral+em":
            return self._fit_em(moments, None)
        windows = Windows.of(moments)
        model, _, diagnostics = self._spectral(windows)
        return self._set_learned(model, moments, diagnostics)

    # What a fitted model is asked.

    def log_probability(self, sequence: Any) -> float:
        """The logarithm of p(x_1 .. x_T); -inf if that is 0, and 0.0 for an empty sequence."""
        return float(self._filtered(self._ids(sequence))[0].sum())

    def probability(self, sequence: Any) -> float:
        """p(x_1 .. x_T), which may be too small for a number: see :meth:`log_probability`."""
        return float(np.exp(self.log_probability(sequence)))

    def score_samples(self, sequences: Any) -> np.ndarray:
        """The log-probability of each sequence that is not empty."""
        ids = self._all_ids(sequences)
        logs = self._filtered(ids)[0]
        logs[ids == END] = 0.0
        data = Sequences.of(ids, stream=False)
        with np.errstate(invalid="ignore"):
            return np.add.reduceat(logs, data.begins)

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
        """The states of each sentence's tokens by :meth:`filter`: eigentokens, as seed 000 has it.

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
        parameters, ids = self._parameters("decode states"), self._ids(sequence)
        with np.errstate(divide="ignore"):
            start, transition = np.log(parameters.initial), np.log(parameters.transition)
            local = np.log(parameters.emission[ids])
        local[ids < 0] = 0.0  # unknown: equally impossible in every state, so it tells nothing
        paths, scores = k_best_paths(start, transition, local, k)
        scores[:] = -np.inf if (ids < 0).any() else scores
        return list(zip(paths.astype(np.int64), scores.tolist()))

    def sample(
        self,
        n_sequences: int = 1,
        length: int = 20,
        *,
        random_state: int | np.random.Generator = 0,
    ) -> Any:
        """Draw sequences of a length: an array of integers, or lists of words."""
        check_is_fitted(self)
        ids = self._model.sample(n_sequences, length, np.random.default_rng(random_state))
        if self._options["tokenizer"] == INTEGERS:
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
        operators = np.stack([self._model.operator(x) for x in range(len(self.symbols_))])
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
        from eigentext import plots

        check_is_fitted(self)
        values = self.diagnostics_.get("singular_values", ())
        kind = kind or ("spectrum" if len(values) else "transitions")

        def draw_spectrum() -> Any:
            if not len(values):
                raise ParameterError("EM alone has no spectrum; method='spectral+em' has one")
            m, noise = self.diagnostics_["rank"], self.diagnostics_["noise"]
            return plots.spectrum(values[:m], values[m:], noise=noise, ax=ax)

        def draw_curve() -> Any:
            series = {"log-likelihood of a token": getattr(self, "history_", [])}
            return plots.curves(series, xlabel="pass of EM", ax=ax)

        def draw_transitions() -> Any:
            return plots.table(self.transition_, xlabel="next state", ylabel="state", ax=ax)

        return plots.drawn(
            kind,
            {"spectrum": draw_spectrum, "curve": draw_curve, "transitions": draw_transitions},
        )

    # Private steps.

    def _check_parameters(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is None and name != "n_states":
                continue
            if not (isinstance(value, (int, np.integer)) and value >= least):
                raise ParameterError(f"{name} must be {least} or more, not {value!r}")
        if self.method not in ("spectral", "em", "spectral+em"):
            raise ParameterError(
                f"method must be 'spectral', 'em' or 'spectral+em', not {self.method!r}"
            )
        if self.scaling not in ("cca", "none"):
            raise ParameterError(f"scaling must be 'cca' or 'none', not {self.scaling!r}")
        if self.rank is not None and self.rank > self.n_states:
            raise ParameterError(f"rank {self.rank} is above n_states, {self.n_states}")
        for name in ("tol", "smoothing"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float, np.number)) and 0 <= value < np.inf):
                raise ParameterError(f"{name} must be a number from 0 up, not {value!r}")

    def _spectral(self, windows: Windows):
        return spectral_operators(
            windows,
            self.n_states,
            scaling=self.scaling,
            rank=self.rank,
            random_state=self.random_state,
        )

    def _fit_em(self, moments: NgramMoments, data: Sequences | None) -> Self:
        """EM from random starts, or from what the operators tell; without data, the start alone."""
        rng = np.random.default_rng(self.random_state)
        n = moments.edge if moments.unigrams[moments.rare] else moments.rare
        frequencies = moments.unigrams[:n]
        diagnostics: dict[str, Any] = {}
        n_iter = _PASSES[self.method] if self.n_iter is None else self.n_iter
        n_init = (self.n_init or _STARTS) if n_iter else 1
        if self.method == "em":
            starts = [random_start(frequencies, self.n_states, rng) for _ in range(n_init)]
        else:
            windows = Windows.of(moments)
            with warnings.catch_warnings():  # fewer directions than states are EM's business here
                warnings.simplefilter("ignore")
                model, profiles, diagnostics = self._spectral(windows)
            starts = []
            enough = diagnostics["rank"] >= self.n_states
            if enough and (found := recovered(model, windows, rng)) is not None:
                starts.append(found[0])
                diagnostics |= found[1]
            if diagnostics.get("moved_to_simplex", np.inf) > _FAR:
                # Clusters are the better start where states are, random ones where they are not.
                for number in range(n_init):
                    starts.append(
                        clustered(profiles, windows, self.n_states, rng)
                        if number < _CLUSTERINGS
                        else random_start(frequencies, self.n_states, rng)
                    )
        if data is None or n_iter == 0:
            return self._set_learned(starts[-1], moments, diagnostics)
        prior = self.smoothing * frequencies / frequencies.sum() if self.smoothing else None
        jobs = engine.use(engine.ThreadEngine(self.n_jobs)) if self.n_jobs else nullcontext()
        with jobs, engine.phase("EM", None, "tokens") as advance:
            seen: list[int] = []

            def note(tokens: int) -> None:
                seen.append(tokens)
                advance(tokens)

            start = race(starts, data, frequencies, prior=prior, advance=note)
            run = refine(start, data, n_iter=n_iter, tol=self.tol, prior=prior, advance=note)
        diagnostics |= {
            "starts": len(starts),
            "passes": sum(seen) / data.n_tokens,  # those of the race too, over parts of the data
            "converged": run.converged,
            "log_likelihood": run.history[-1],
        }
        self.history_ = run.history
        return self._set_learned(run.parameters, moments, diagnostics)

    def _set_learned(
        self, model: Parameters | Operators, moments: NgramMoments, diagnostics: dict[str, Any]
    ) -> Self:
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
        self.symbols_ = [*vocabulary.words, RARE] if has_rare else list(vocabulary.words)
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

    def _filtered(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        logs, states, repairs = self._model.filtered(ids)
        scored = self.diagnostics_.setdefault("scored", dict.fromkeys(repairs, 0))
        for name, count in repairs.items():
            scored[name] += count
        return logs, states

    def _to_saved(self):
        check_is_fitted(self)
        kind = "operators" if isinstance(self._model, Operators) else "parameters"
        arrays: dict[str, Any] = {"words": self.vocabulary_.words}
        arrays["word_counts"] = self.vocabulary_.counts
        arrays |= {f"{kind}.{name}": part for name, part in asdict(self._model).items()}
        diagnostics = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.diagnostics_.items()
        }
        about = {
            "parameters": self.get_params(),
            "kind": kind,
            "options": self._options,
            "has_rare": self._has_rare,
            "diagnostics": diagnostics,
            "provenance": self.provenance_,
            "history": getattr(self, "history_", []),
        }
        return arrays, about

    @classmethod
    def _from_saved(cls, arrays, about):
        kind = {"operators": Operators, "parameters": Parameters}[about["kind"]]
        start = f"{about['kind']}."
        parts = {
            name.removeprefix(start): np.asarray(arrays[name])
            for name in list(arrays)
            if name.startswith(start)
        }
        self = cls(**about["parameters"])
        if about["history"]:
            self.history_ = about["history"]
        self.provenance_ = about["provenance"]
        return self._set(
            kind(**parts),
            Vocabulary(arrays["words"], np.asarray(arrays["word_counts"])),
            about["options"],
            has_rare=about["has_rare"],
            diagnostics=about["diagnostics"],
        )
