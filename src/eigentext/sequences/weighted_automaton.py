r"""Weighted automata, learned from Hankel matrices of prefixes and suffixes.

An automaton with r states has a vector :math:`b_1`, a matrix :math:`B_x` for each symbol, and two
vectors that end a product:

.. math::
    p(x_1 \dots x_T \dots) = b_\infty^\top B_{x_T} \dots B_{x_1} b_1, \quad
    p(x_1 \dots x_T) = b_\#^\top B_{x_T} \dots B_{x_1} b_1 .

The first is the probability that a sequence *begins* with :math:`x_1 \dots x_T`. The second is the
probability that this is the *whole* sequence: sequences have an end. A stream has none. There the
probability of :math:`x_1 \dots x_T` is that of reading it at a random place.

Hidden Markov models are automata, and so are all models whose matrix :math:`H[p, s] = f(ps)`, over
all prefixes p and suffixes s, has a finite rank. :mod:`eigentext.sequences.learning.automaton` has
the algorithm, :mod:`eigentext.moments.hankel` the statistics, and
:mod:`eigentext.sequences.learning.rank_choice` how the rank is chosen.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from eigentext import engine
from eigentext.corpus import EncodedCorpus, Vocabulary
from eigentext.corpus.encoded import END
from eigentext.corpus.scarcity import once_findings
from eigentext.corpus.symbols import INTEGERS, encode_sequences, is_stream, special_names
from eigentext.errors import MomentsError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.moments import NgramMoments
from eigentext.moments.hankel import Statistics, order_of
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.sequences import _automaton_findings, _hmm_file, parameters
from eigentext.sequences._given import Text, Word, Words
from eigentext.sequences._language_model import END as END_NAME
from eigentext.sequences._language_model import provenance_of
from eigentext.sequences._symbols import Symbols
from eigentext.sequences.forms import Form
from eigentext.sequences.learning.automaton import Scaling
from eigentext.sequences.learning.automaton_fit import chosen_by_validation, learned
from eigentext.sequences.learning.given_automaton import form_of, population
from eigentext.sequences.operator_model import OperatorModel
from eigentext.storage import Saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Repair = Literal["floor", "none"]
Selection = Literal["noise", "validation"]
Strings = Sequence[Sequence[Word]]


class WeightedAutomaton(OperatorModel, Saved, Estimator):
    """A weighted automaton of sequences of words or of integers.

    Parameters
    ----------
    n_states : int
        The largest number of states. Fewer are used if fewer directions exceed the noise of the
        counts, if held-out text says so (`selection`), or if the basis is smaller.
    basis : int, or a pair of lists of strings
        An integer k takes the k most frequent strings of at most `longest` symbols as prefixes, and
        as many as suffixes. The empty string is always among them. A pair gives the prefixes and
        the suffixes, each of them a list or tuple of symbols: ``([(), ("a",)], [(), ("b", "a")])``.
    longest : int
        The number of symbols in the longest prefixes and suffixes, if `basis` is an integer.
    statistics : "substring", "prefix" or "string"
        What the Hankel matrix counts: strings anywhere in the sequences, at their start, or whole
        sequences. All three lead to the same probabilities with unlimited text. "substring" takes
        the most from a given text. A stream has no other.
    selection : "noise" or "validation"
        How many states are used. With "noise", the directions whose singular values exceed those of
        noise. With "validation", a part of the text is held out, and the number of states, the size
        of the basis (all of it, a third or a tenth) and the floor are those with which the rest
        predicts it best. Then all text is used.
    rank : int, optional
        The number of directions to use, whatever the noise.
    min_count, max_size
        Words that occur less often, or that are not among the most frequent ones, share one symbol.
        If the data have no rare words, an unknown word has probability 0.
    scaling : "cca" or "none"
        Whether the rows and columns of the Hankel matrix are divided by the square roots of how
        often their strings occur.
    repair : "floor" or "none"
        "none" is the plain algorithm: `n_states` directions, no scaling, no shrinkage, no least
        probability. It may give negative probabilities, whose logarithm is nan (with a warning).
    validation_fraction : float
        The part of the sequences that "validation" holds out, or of the end of a stream.
    n_jobs : int, optional
        The number of threads. The default is that of the engine. It does not change the result.
    random_state : int
        The seed of the SVD, of the noise, and of the choice of held-out sequences.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The words, or the integers as strings.
    symbols_ : list of str
        The symbols in the order of `predict_next`: the vocabulary, "<rare>" if there are rare
        words, and "<end>" unless the text was a stream.
    basis_ : tuple of two lists
        The prefixes and the suffixes that were used.
    diagnostics_ : dict
        The singular values, the noise, the rank, the floor, and what validation tried.
    provenance_ : dict
        What the model was learned from.

    Examples
    --------
    >>> from eigentext import WeightedAutomaton
    >>> automaton = WeightedAutomaton(8, basis=20).fit([["a", "b"], ["a", "b", "a", "b"]] * 2000)
    >>> round(automaton.probability(["a", "b"]), 2)  # of the whole sequence
    0.5
    >>> round(automaton.probability(["a", "b"], end=False), 2)  # of all that begin with it
    1.0
    >>> automaton.top_next(["a"], 1)[0][0]
    'b'
    """

    _format = "eigentext.automaton.v1"
    _table = parameters.WeightedAutomaton
    _ends: bool

    def __init__(
        self,
        n_states: int = 100,
        *,
        basis: int | tuple[Strings, Strings] = 1000,
        longest: int = 3,
        statistics: Statistics = "substring",
        selection: Selection = "noise",
        rank: int | None = None,
        min_count: int = 1,
        max_size: int | None = None,
        scaling: Scaling = "cca",
        repair: Repair = "floor",
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        random_state: int = 0,
    ):
        self.n_states = n_states
        self.basis = basis
        self.longest = longest
        self.statistics: Statistics = statistics
        self.selection: Selection = selection
        self.rank = rank
        self.min_count = min_count
        self.max_size = max_size
        self.scaling: Scaling = scaling
        self.repair: Repair = repair
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def from_operators(
        cls,
        start: ArrayLike,
        operators: ArrayLike,
        end: ArrayLike,
        *,
        ends: bool = True,
        symbols: Sequence[str] | None = None,
    ) -> Self:
        """Make an automaton with given weights.

        ``operators[x]`` is B_x: its column j is what follows state j. With `ends`, `end` is b_#,
        and the probabilities of all sequences must add up to 1. Without, `end` is b_inf, and the
        probabilities of all continuations of a string must add up to that of the string. Symbols
        are integers, or the words in `symbols`.
        """
        model = form_of(start, operators, end, ends=ends)
        n = len(model.places) - ends
        names = list(map(str, range(n))) if symbols is None else list(symbols)
        if len(names) != n or len(set(names)) < n:
            raise ParameterError(f"symbols: give {n} different words, one for each operator")
        self = learned_with(cls, {"n_states": len(model.start)})
        options = {
            "tokenizer": INTEGERS if symbols is None else "none",
            "lowercase": False,
            "unit": "line" if ends else "stream",
        }
        self.provenance_ = {"n_tokens": 0, "options": options, "sources": []}
        self.basis_ = ([], [])
        vocabulary = Vocabulary(names, np.zeros(n, np.int64))
        return self._set(model, Symbols(vocabulary, options, has_rare=False), {})

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
        return self._learn(moments, encoded)

    def collect(
        self,
        sequences: Text,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """Return the statistics that the model needs: counts of n-grams of sufficient order."""
        self._table.checked(self.get_params(deep=False))
        return NgramMoments.from_corpus(
            sequences,
            order=self._order(),
            min_count=self.min_count,
            max_size=self.max_size,
            memory=memory,
            cache=cache,
        )

    @learning
    def fit_moments(self, moments: NgramMoments) -> Self:
        """Learn from statistics alone. ``selection="validation"`` needs the sequences."""
        if self.selection == "validation" and self.repair != "none":
            raise MomentsError(
                "validation needs the sequences, not their statistics: call fit, or use "
                "selection='noise'"
            )
        check_ngrams(moments)
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count, max_size=self.max_size)
        return self._learn(moments)

    def _learn(self, moments: NgramMoments, encoded: EncodedCorpus | None = None) -> Self:
        has_rare = bool(moments.unigrams[moments.rare])
        symbols = Symbols(moments.vocabulary, moments.options, has_rare)
        with self._threads():
            choice = None
            if encoded is not None and self.selection == "validation" and self.repair != "none":
                choice = chosen_by_validation(self, encoded, symbols, self._order())
            model, basis, diagnostics = learned(self, moments, symbols, choice)
        self.provenance_ = provenance_of(moments)
        names = symbols.names
        words: list[Any] = list(range(len(names))) if symbols.are_integers else names
        self.basis_ = tuple(
            [tuple(words[x] if x >= 0 else "?" for x in string) for string in strings]
            for strings in basis
        )
        return self._set(model, symbols, diagnostics)

    def _set(self, model: Form, symbols: Symbols, diagnostics: dict[str, Any]) -> Self:
        super()._set(model, symbols, diagnostics)
        self._ends = not is_stream(symbols.options)
        if self._ends:
            self.symbols_ = [*self.symbols_, *special_names(self.symbols_, END_NAME)]
        return self

    def _threads(self) -> AbstractContextManager[Any]:
        return engine.use(engine.ThreadEngine(self.n_jobs)) if self.n_jobs else nullcontext()

    def _order(self) -> int:
        basis: Any = self.basis
        if isinstance(basis, (list, tuple)):
            return order_of(self.statistics, *(max(map(len, strings)) for strings in basis))
        return order_of(self.statistics, self.longest, self.longest)

    def _check_together(self) -> None:
        if self.rank is not None and self.rank > self.n_states:
            raise ParameterError(
                f"rank {self.rank} is above n_states, {self.n_states}; lower rank (--rank), or ask "
                "for more states (--states)"
            )

    # Questions. Those that ends do not change are in OperatorModel.

    def log_probability(self, sequence: Words, *, end: bool = True) -> float:
        """Return log p(x_1 .. x_T), of the whole sequence or, without `end`, of its beginning.

        It is -inf if p is 0, and nan if p is negative (``repair="none"``). A model of a stream has
        no ends.
        """
        ids = self._ended(self._ids(sequence)) if end else self._ids(sequence)
        if not len(ids):
            return 0.0
        return float(self._totals(self._filtered(ids), np.zeros(1, np.int64))[0])

    def probability(self, sequence: Words, *, end: bool = True) -> float:
        """Return p(x_1 .. x_T), of the whole sequence or, without `end`, of its beginning.

        For long sequences it underflows: see :meth:`log_probability`.
        """
        found = self._filtered(self._ended(self._ids(sequence)) if end else self._ids(sequence))
        sign = 1.0 if found.negative is None else (-1.0) ** int(found.negative.sum())
        return sign * float(np.exp(found.logs.sum()))

    def score_samples(self, sequences: Text) -> np.ndarray:
        """Return the log-probability of each whole sequence, in order.

        In text, each unit with words is a sequence. A stream is one sequence. An empty sequence has
        the log-probability of an immediate end, or 0 in a model of a stream.
        """
        return super().score_samples(sequences)

    def sample(
        self,
        n_sequences: int = 1,
        length: int = 20,
        *,
        random_state: int | np.random.Generator | None = 0,
    ) -> Any:
        """Draw sequences: lists of integers or of words.

        Each stops at its end, or at the latest after `length` symbols. The sequences of a model of
        a stream all have this length: an array of integers, or lists of words.
        """
        drawn = super().sample(n_sequences, length, random_state=random_state)
        if not self._ends:
            return drawn
        stop: Any = len(self.symbols_) - 1 if self._symbols.are_integers else self.symbols_[-1]
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in drawn]
        return [row[: row.index(stop)] if stop in row else row for row in rows]

    @property
    def stop_(self) -> np.ndarray | None:
        """The vector b_#: ``stop_ @ b`` is the probability of an end. None for a stream."""
        check_is_fitted(self)
        return self._model.rows[-1] if self._ends else None  # type: ignore[union-attr]

    def moments(self, order: int | None = None) -> NgramMoments:
        """Return exact expected counts of the n-grams of one sequence, as statistics.

        For a model of a stream they are the probabilities of the first `order` symbols. The default
        order is what :meth:`fit_moments` needs.
        """
        check_is_fitted(self)
        n = len(self._symbols.names)
        operators = np.stack([self._model.operator(x) for x in range(n)])
        order = self._order() if order is None else order
        return population(self._symbols, self.start_, operators, self.end_, self.stop_, order)

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the singular values of the Hankel matrix and the noise. Return the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        found = self.diagnostics_
        if "singular_values" not in found:
            raise ParameterError("given operators have no spectrum; fit a model")
        values, rank = found["singular_values"], found["rank"]
        return plots.spectrum(values[:rank], values[rank:], noise=found.get("noise"), ax=ax)

    def _findings(self) -> Iterator[Finding]:
        return _automaton_findings.findings_of(self.diagnostics_, self.parameters_)

    def _size_findings(self) -> Iterator[Finding]:
        if n_tokens := self.provenance_["n_tokens"]:
            yield from once_findings(self.vocabulary_.counts, n_tokens)

    # Private steps.

    def _log_of_empty(self) -> float:
        return self.log_probability([])

    def _ended(self, ids: np.ndarray) -> np.ndarray:
        return np.append(ids, np.int32(len(self.symbols_) - 1)) if self._ends else ids

    def _all_ids(self, sequences: Text) -> np.ndarray:
        ids = super()._all_ids(sequences)
        return with_ends(ids, len(self.symbols_) - 1) if self._ends else ids

    def _next(self, context: list[Word]) -> np.ndarray:
        p = super()._next(context)
        return p if self._symbols.has_rare or not self._ends else np.insert(p, -1, 0.0)

    def _names(self) -> list[Word]:
        names = super()._names()
        if self._symbols.has_rare or not self._ends:
            return names
        return [*names[:-1], *special_names(self.symbols_, "<rare>"), names[-1]]

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays, about = _hmm_file.packed(self._model, self._symbols)
        return arrays, about | {
            "parameters": dict(self.parameters_),
            "diagnostics": _hmm_file.listed(self.diagnostics_),
            "provenance": self.provenance_,
            "history": [],
            "ends": self._ends,
            "basis": [[list(string) for string in strings] for strings in self.basis_],
        }

    @classmethod
    def _schema(cls, about):
        return _hmm_file.automaton_schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        self.provenance_ = about["provenance"]
        self.basis_ = cast(Any, tuple(list(map(tuple, strings)) for strings in about["basis"]))
        return self._set(*_hmm_file.unpacked(arrays, about), about["diagnostics"])


def with_ends(ids: np.ndarray, stop: int) -> np.ndarray:
    """Return ids with the symbol of the end after each sequence that is not empty.

    Examples
    --------
    >>> with_ends(np.array([0, 1, -1, -1, 2, -1]), 3).tolist()
    [0, 1, 3, -1, -1, 2, 3, -1]
    """
    is_last = (ids == END) & (np.append(END, ids[:-1]) != END)
    return np.insert(ids, np.flatnonzero(is_last), ids.dtype.type(stop))
