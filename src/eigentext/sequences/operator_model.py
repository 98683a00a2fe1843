r"""What every model of operators answers: probabilities, next symbols, states, samples.

A hidden Markov model and a weighted automaton both have a vector :math:`b_1`, a vector
:math:`b_\infty` and a matrix :math:`B_x` for each symbol. :class:`OperatorModel` turns words into
symbols and asks :mod:`eigentext.sequences.inference`.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import UNKNOWN
from eigentext.errors import CorpusError
from eigentext.estimators import check_is_fitted
from eigentext.matrices.budget import check_room
from eigentext.moments import NgramMoments
from eigentext.parameters import Choice, Count, Seed, argument
from eigentext.sequences import inference
from eigentext.sequences._given import Text, Word, Words, in_places, without_empty
from eigentext.sequences._language_model import LanguageModel, Unknown, mean_of
from eigentext.sequences._symbols import Symbols
from eigentext.sequences.forms import Form
from eigentext.sequences.inference import Filtered
from eigentext.sequences.learning.em import Sequences
from eigentext.sequences.learning.windows import population


class OperatorModel(LanguageModel):
    """Answers questions from a form: parameters or operators, and the symbols that they are of."""

    _model: Form
    _symbols: Symbols
    symbols_: list[str]
    diagnostics_: dict[str, Any]

    def _set(self, model: Form, symbols: Symbols, diagnostics: dict[str, Any]) -> Self:
        self._model, self._symbols = model, symbols
        self.vocabulary_, self.symbols_ = symbols.vocabulary, symbols.names
        self.diagnostics_ = diagnostics
        return self

    def log_probability(self, sequence: Words) -> float:
        """Return log p(x_1 .. x_T). It is -inf if p is 0, and 0.0 for an empty sequence.

        It is nan if p is negative, which only plain operators allow (``repair="none"``).
        """
        ids = self._ids(sequence)
        return (
            float(self._totals(self._filtered(ids), np.zeros(1, np.int64))[0]) if len(ids) else 0.0
        )

    def probability(self, sequence: Words) -> float:
        """Return p(x_1 .. x_T). For long sequences it underflows: see :meth:`log_probability`.

        Plain operators (``repair="none"``) may give negative values, and values above 1.
        """
        found = self._filtered(self._ids(sequence))
        sign = 1.0 if found.negative is None else (-1.0) ** int(found.negative.sum())
        return sign * float(np.exp(found.logs.sum()))

    def score_samples(self, sequences: Text) -> np.ndarray:
        """Return the log-probability of each sequence, in order. An empty sequence has 0.

        In text, each unit with words is a sequence. A stream is one sequence.
        """
        check_is_fitted(self)
        given, is_empty = without_empty(sequences)
        if is_empty is not None and all(is_empty):
            return np.full(len(is_empty), self._log_of_empty())
        ids = self._all_ids(given)
        filtered = self._filtered(ids)
        filtered.logs[ids == END] = 0.0
        data = Sequences.of(ids, stream=False)
        found = self._totals(filtered, data.begins)
        if is_empty is None:
            return found
        return in_places(found, is_empty, self._log_of_empty() if any(is_empty) else 0.0)

    def scoring_diagnostics(self, sequences: Text) -> dict[str, int]:
        """Count what is repaired when sequences are scored.

        The counts are "tokens", "unknown" words and, for a spectral model, "negative" probabilities
        and "floored" ones, which are at the floor or below it.
        """
        return self._filtered(self._all_ids(sequences)).repairs

    def log_probabilities(self, tokens: Text, *, rare: bool = False) -> np.ndarray:
        """Return log p(x_t | x_1 .. x_t-1) of every token. An unknown word has nan.

        With `rare`, an unknown word has the log-probability of all rare words together, or -inf if
        the model has no rare words. A negative probability has nan, and a warning tells of it.
        """
        logs, _ = self._conditional(tokens, rare=rare)
        return logs

    def perplexity(self, tokens: Text, *, unknown: Unknown = "skip") -> float:
        """Return exp(-mean log-probability) of the events.

        Words that the model does not know are left out. With ``unknown="count"`` they count, each
        with the probability of the rare word. It is infinite if the model knows no rare words, and
        nan if an event has a negative probability, which only plain operators allow.
        """
        argument("unknown", Choice("skip", of=("skip", "count")), unknown)
        logs, n_negative = self._conditional(tokens, rare=unknown == "count")
        with np.errstate(over="ignore"):  # the perplexity is infinite then
            return np.nan if n_negative else float(np.exp(-mean_of(logs)))

    def score(self, tokens: Text, y: None = None) -> float:
        """Return the mean log-probability of an event: minus the logarithm of the perplexity."""
        logs, n_negative = self._conditional(tokens)
        return np.nan if n_negative else mean_of(logs)

    def _conditional(self, tokens: Text, *, rare: bool = False) -> tuple[np.ndarray, int]:
        """The logarithms of :meth:`log_probabilities`, and how many probabilities are negative."""
        ids = self._all_ids(tokens)
        logs, _, _, negative = self._filtered(ids)
        if negative is not None:
            logs[negative] = np.nan
            _warn_of_negative(int(negative.sum()), "tokens")
        if not rare:
            rare_id = len(self.vocabulary_) if self._symbols.has_rare else UNKNOWN
            logs[(ids == UNKNOWN) | (ids == rare_id)] = np.nan
        return logs[ids != END], 0 if negative is None else int(negative.sum())

    def predict_next(self, prefix: Words = ()) -> np.ndarray:
        """Return the probability of each symbol of `symbols_` after a prefix.

        Plain operators (``repair="none"``) may give negative values, and others than 1 in all.
        """
        ids = self._ids(prefix)
        state = self._filtered(ids).states[-1] if len(ids) else None
        return inference.next_symbols(self._model, state)

    def filter(self, sequence: Words) -> np.ndarray:
        """Return the state after each token, given all tokens up to it.

        A model with parameters gives p(h_t | x_1 .. x_t), and a spectral one gives G times that.
        """
        ids = self._ids(sequence)
        return inference.filtered_states(self._model, ids)

    def transform(self, sentences: Iterable[Sequence[str]]) -> list[np.ndarray]:
        """Return the states of each sentence's tokens by :meth:`filter`: eigentokens.

        There is one array for each sentence, in double precision.
        """
        if isinstance(sentences, str):
            raise CorpusError("give a list of sentences, each a list of symbols")
        parts = [np.append(self._ids(sentence), np.int32(END)) for sentence in sentences]
        if not parts:
            return []
        states = inference.filtered_states(self._model, np.concatenate(parts))
        borders = np.cumsum([len(part) for part in parts])
        return [one[:-1] for one in np.split(states, borders[:-1])]

    def sample(
        self,
        n_sequences: int = 1,
        length: int = 20,
        *,
        random_state: int | np.random.Generator | None = 0,
    ) -> Any:
        """Draw sequences of one length: an array of integers, or lists of words.

        Negative probabilities of plain operators count as zero here.
        """
        check_is_fitted(self)
        n_sequences = argument("n_sequences", Count(1, least=0), n_sequences)
        length = argument("length", Count(20, least=0), length)
        if not isinstance(random_state, np.random.Generator):
            random_state = np.random.default_rng(argument("random_state", Seed(0), random_state))
        ids = inference.sample(self._model, n_sequences, length, random_state)
        if self._symbols.are_integers:
            return ids
        return [[self.symbols_[x] for x in row] for row in ids]

    def operator(self, symbol: Word) -> np.ndarray:
        """Return B_x or A_x: ``end_ @ B_x @ start_`` is the probability of x."""
        x = int(self._ids([symbol])[0])
        return np.zeros(2 * self.start_.shape) if x == UNKNOWN else self._model.operator(x)

    @property
    def start_(self) -> np.ndarray:
        """The vector b_1 of a spectral model, or the initial probabilities."""
        check_is_fitted(self)
        return self._model.start

    @property
    def end_(self) -> np.ndarray:
        """The vector b_inf of a spectral model, or ones."""
        check_is_fitted(self)
        return self._model.end

    def moments(self) -> NgramMoments:
        """Return the exact probabilities of the first three symbols, as statistics."""
        check_is_fitted(self)
        n = len(self.symbols_)
        check_room(
            24.0 * n**3, f"a table of all windows of {n:,} symbols", "take a model of fewer symbols"
        )
        operators = np.stack([self._model.operator(x) for x in range(n)])
        unigrams, levels = population(self.start_, operators, self.end_, len(self.vocabulary_) + 1)
        return NgramMoments(
            self.vocabulary_, unigrams, levels, False, dict(self._symbols.options), []
        )

    def _next(self, context: list[Word]) -> np.ndarray:
        return np.maximum(self.predict_next(context), 0.0)

    def _names(self) -> list[Word]:
        n, names = len(self.vocabulary_), self.symbols_
        return [*(range(n) if self._symbols.are_integers else names[:n]), *names[n:]]

    def _log_of_empty(self) -> float:
        return 0.0

    def _ids(self, sequence: Words) -> np.ndarray:
        check_is_fitted(self)
        return self._symbols.ids(sequence)

    def _all_ids(self, sequences: Text) -> np.ndarray:
        check_is_fitted(self)
        return self._symbols.all_ids(sequences)

    def _filtered(self, ids: np.ndarray) -> Filtered:
        return inference.filtered(self._model, ids)

    def _totals(self, found: Filtered, begins: np.ndarray) -> np.ndarray:
        """The log-probabilities of whole sequences, of which each begins at one of `begins`."""
        with np.errstate(invalid="ignore"):
            totals = np.add.reduceat(found.logs, begins)
        if found.negative is not None:
            negative = np.add.reduceat(found.negative.astype(np.int64), begins) % 2 > 0
            totals[negative] = np.nan
            _warn_of_negative(int(negative.sum()), "sequences")
        return totals


def _warn_of_negative(number: int, what: str) -> None:
    if number:
        warnings.warn(
            f"{number:,} of the {what} have a negative probability, whose logarithm is nan. The "
            "plain operators of repair='none' are not repaired: repair='floor' does it, and fewer "
            "states or more text make it rarer",
            stacklevel=4,
        )
