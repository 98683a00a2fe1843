r"""The aggregate bigram model of Saul and Pereira (1997), by EM, by pivots, and by both.

.. math:: p(w_2 \mid w_1) = \sum_{h=1}^m r(h \mid w_1)\, s(w_2 \mid h)

There are three methods:

``em``
    Maximum likelihood from a random start. It has local optima, and it overfits in a few steps.
``pivot``
    Pivot words (Cohen and Collins 2014) give s, and then EM for r alone, which is convex.
``pivot+em``
    EM for both r and s, from the result of the pivots.

:mod:`eigentext.sequences.learning.bigram` describes the algorithms.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.scarcity import once_findings, state_findings
from eigentext.corpus.symbols import (
    END,
    RARE,
    is_stream,
    sequence_ids,
    special_names,
    symbol_ids,
)
from eigentext.errors import MomentsError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.factor.mixture import pair_scores
from eigentext.matrices.budget import check_room
from eigentext.moments import NgramMoments
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.parameters import Count, Number, takes_old_names
from eigentext.sequences import _saved, parameters
from eigentext.sequences._given import Text, Word
from eigentext.sequences._language_model import (
    LanguageModel,
    provenance_of,
    rare_word_findings,
)
from eigentext.sequences.learning.bigram import (
    Init,
    Method,
    ValidationPairs,
    learn,
    pairs_of,
)
from eigentext.storage import Saved
from eigentext.storage.facts import PROVENANCE, TEXTS, facts
from eigentext.storage.schema import Array, Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OTHERS = (RARE, "<edge>")  # the names of symbols that are not words
_MOST = 1.01  # probabilities in a file are below this: they are rounded to 32 bits and added up
_OVERFIT = 1.5  # a larger ratio of validation to training perplexity deserves a warning
_NEAR = 0.01  # a pivot with less separation is nearly a mixture of the others
_PERPLEXITY = Number(1.0, above=0, infinite=True)
_DIAGNOSTICS = facts(
    "what was learned",
    perplexity=_PERPLEXITY,
    heldout_perplexity=_PERPLEXITY,
    rare_tokens=Count(0, least=0),
    pivots=TEXTS,
    separations=_saved.FIGURES,
    singular_values=_saved.FIGURES,
)
_HISTORY = facts(
    "perplexities by steps of EM",
    needs=("perplexity", "heldout_perplexity"),
    perplexity=_saved.FIGURES,
    heldout_perplexity=_saved.FIGURES,
)


class BigramModel(LanguageModel, Saved, Estimator):
    r"""A language model of pairs of words with a hidden state between them; see the module.

    Parameters
    ----------
    n_states : int
        The number m of states.
    method : "pivot+em", "pivot" or "em"
        How the model is learned.
    min_count : int
        Words that occur less often share one symbol, the rare word.
    n_iter : int
        The largest number of EM steps.
    smoothing : float
        The tokens with the states of the prior that each step adds to every context.
    validation_fraction : float
        If `fit` gets no validation text, this part of all pairs is drawn at random to choose the
        number of EM steps. Then EM runs again on all pairs. With 0, EM takes `n_iter` steps.
    init : "uniform" or "dirichlet"
        The start of method "em". "uniform": r is near uniform and s near the unigram distribution,
        which is better by 10% and more. "dirichlet": both are drawn from flat Dirichlet
        distributions.
    n_candidates : int, optional
        How many of the most frequent words may be pivots. The default is 8 for each state.
    random_state : int
        The seed of random starts, of the SVD, and of the pairs drawn for validation.

    Attributes
    ----------
    r_ : float32 array, shape (n_symbols, n_states)
        r(h|w1). The symbols are the words, the rare word, and the edge of a unit.
    s_ : float32 array, shape (n_symbols, n_states)
        s(w2|h). Columns sum to 1.
    prior_ : array, shape (n_states,)
        The states if nothing is known about the context.
    n_iter_ : int
        The number of EM steps of this model.
    history_ : dict
        "perplexity" and "heldout_perplexity" (of the validation pairs) after 0, 1, … steps.
    vocabulary_ : Vocabulary
    diagnostics_ : dict
        The pivot words and how far each is from the span of the others, steps, perplexities.
    provenance_ : dict
        What the model was learned from: the number of tokens, fingerprints of the text, and how it
        was read.

    Examples
    --------
    >>> from eigentext import BigramModel
    >>> text = "the cat sat the dog ran a cat ran a dog sat".split() * 20
    >>> model = BigramModel(3).fit(text)
    >>> round(model.probability("dog", given="the"), 1)
    0.5
    >>> round(float(model.distribution("the").sum()), 4)
    1.0
    """

    _format = "eigentext.bigram.v1"
    _table = parameters.BigramModel

    @takes_old_names(**parameters.BigramModel.renamed)
    def __init__(
        self,
        n_states: int = 32,
        *,
        method: Method = "pivot+em",
        min_count: int = 1,
        n_iter: int = 100,
        smoothing: float = 5.0,
        validation_fraction: float = 0.05,
        init: Init = "uniform",
        n_candidates: int | None = None,
        random_state: int = 0,
    ):
        self.n_states = n_states
        self.method: Method = method
        self.min_count = min_count
        self.n_iter = n_iter
        self.smoothing = smoothing
        self.validation_fraction = validation_fraction
        self.init: Init = init
        self.n_candidates = n_candidates
        self.random_state = random_state

    # Learning.

    @takes_old_names(heldout="validation")
    @learning
    def fit(
        self,
        tokens: Text,
        y: None = None,
        *,
        validation: Text | None = None,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from text, a stream of words or integers, or sequences of them.

        This is the same as `collect` and then `fit_moments`. EM takes the number of steps that
        gives `validation`, other text, the highest likelihood. `memory` (the bytes that the process
        may take) and `cache` (a folder for encoded text) do not change the result.
        """
        return self._learn(self.collect(tokens, memory=memory, cache=cache), validation)

    def collect(
        self,
        tokens: Text,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """Return the statistics of a text that `fit` needs."""
        self._table.checked(self.get_params(deep=False))
        return NgramMoments.from_corpus(
            tokens, order=2, min_count=self.min_count, memory=memory, cache=cache
        )

    @takes_old_names(heldout="validation")
    @learning
    def fit_moments(self, moments: NgramMoments, *, validation: Text | None = None) -> Self:
        """Learn from statistics of order 2 or higher."""
        check_ngrams(moments)
        return self._learn(moments, validation)

    def _check_together(self) -> None:
        few = self.n_candidates is not None and self.n_candidates < self.n_states
        if few and self.method != "em":
            raise ParameterError(
                f"n_candidates is {self.n_candidates}, fewer than the n_states={self.n_states} "
                "pivots to be found among them"
            )

    def _learn(self, moments: NgramMoments, validation: Text | None) -> Self:
        if moments.order < 2:
            raise MomentsError("moments of order 1 have no pairs; count with order=2 or more")
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count)
        C = pairs_of(moments)
        n, m = C.shape[0], self.n_states
        check_room(
            32.0 * n * m, f"{m:,} states (n_states, --states) of {n:,} symbols", "ask for fewer"
        )
        self.vocabulary_, self.provenance_ = moments.vocabulary, provenance_of(moments)
        pairs = None
        if validation is not None:
            pairs = ValidationPairs.of_text(*self._events(validation))
        found = learn(C, self, pairs)
        self.r_, self.s_, self.prior_, self.n_iter_ = found.model
        self.history_ = found.history
        diagnostics = found.diagnostics
        if "pivots" in diagnostics:
            names = [*self.vocabulary_.words, *special_names(self.vocabulary_, *_OTHERS)]
            diagnostics["pivots"] = [names[place] for place in diagnostics["pivots"]]
        drawn = "drawn from the pairs" if found.history["heldout_perplexity"] else "none"
        self.diagnostics_ = {
            "n_words": len(moments.vocabulary),
            "rare_tokens": moments.rare_count,
            "pairs": int(C.nnz),
            **diagnostics,
            "n_iter": self.n_iter_,
            "heldout": drawn if validation is None else "given",
            **{name: values[self.n_iter_] for name, values in found.history.items() if values},
        }
        return self

    # Using.

    def log_probabilities(self, tokens: Text, *, rare: bool = False) -> np.ndarray:
        """Return the natural logarithm of the probability of each event, in order.

        The events are the tokens and the end of each unit. A model of a stream has no ends. A token
        outside the vocabulary has nan or, with `rare`, the log-probability of the rare word. The
        next token sees it as the rare word. The first token of a stream is predicted from the
        states of the prior.
        """
        check_is_fitted(self)
        contexts, events = self._events(tokens)
        if rare:
            events = np.where(events < 0, len(self.vocabulary_), events)
        known = events >= 0
        scores = np.full(len(events), np.nan)
        r = np.vstack([self.r_, self.prior_]).astype(np.float32)
        scores[known] = pair_scores(contexts[known], events[known], r, self.s_)
        return scores

    def probability(self, word: Word, given: Word | None = None) -> float:
        """Return p(word | given) for the word before it, or p(word) if none is given."""
        place = self._place(word)
        if place < 0:
            return self.vocabulary_[str(word)]  # raises an error that suggests similar words
        return float(self.states(given) @ self.s_[place])

    def distribution(self, given: Word | None = None) -> np.ndarray:
        """Return p(· | given) of all words, of the rare word, and of the end of a unit.

        The sum is 1. In a model of a stream, the end has probability 0.
        """
        states = self.states(given)
        return self.s_ @ states

    def states(self, given: Word | None = None) -> np.ndarray:
        """Return the states r(h | given) after a word, or the prior if none is given.

        An unknown word has the states of the rare word.
        """
        check_is_fitted(self)
        if given is None:
            return self.prior_
        place = self._place(given)
        return self.r_[place if place >= 0 else len(self.vocabulary_)]

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the perplexity on training and validation pairs after each step; return the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        # The first values belong to the start, before any step.
        series = {name.replace("_", " "): values for name, values in self.history_.items()}
        chosen = self.n_iter_ + 1 if len(series) > 1 else None
        return plots.curves(series, chosen=chosen, ylabel="perplexity", ax=ax)

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        if {"perplexity", "heldout_perplexity"} <= found.keys():
            other, own = found["heldout_perplexity"], found["perplexity"]
            overfits = not other < _OVERFIT * own
            yield Finding(
                "warning" if overfits else "note",
                f"The perplexity is {own:,.0f} on the training text and {other:,.0f} on validation "
                "text.",
                "Raise smoothing, ask for fewer states, or give more text." if overfits else "",
            )
        if found.get("separations") and min(found["separations"]) < _NEAR:
            yield Finding(
                "warning",
                "Some pivot words are nearly mixtures of other pivot words.",
                "Ask for fewer states (n_states, --states).",
            )
        yield from rare_word_findings(found, self.provenance_)

    def _size_findings(self) -> Iterator[Finding]:
        yield from state_findings(self.parameters_.n_states, len(self.vocabulary_))
        yield from once_findings(self.vocabulary_.counts, self.provenance_["n_tokens"])

    # Private steps.

    def _next(self, context: list[Word]) -> np.ndarray:
        check_is_fitted(self)
        if context or is_stream(self.provenance_["options"]):
            states = self.states(context[-1] if context else None)
        else:
            states = self.r_[-1]  # those of the edge
        return (self.s_ @ states).astype(np.float64)

    def _events(self, tokens: Text) -> tuple[np.ndarray, np.ndarray]:
        """The context and the event of each pair.

        An unknown event is -1. The context n_symbols means that nothing comes before.
        """
        options = self.provenance_["options"]
        ids = sequence_ids(tokens, self.vocabulary_, options)
        rare, edge = len(self.vocabulary_), len(self.vocabulary_) + 1
        edges = not is_stream(options)
        before = np.append(END, ids[:-1])
        contexts = np.where(before >= 0, before, np.where(before == END, edge + (not edges), rare))
        events = np.where(ids == END, edge, np.maximum(ids, -1))
        # The end of a unit is an event, unless the text is a stream or the unit is empty.
        counted = (ids != END) | (edges & (before != END))
        return contexts[counted], events[counted]

    def _place(self, word: Word) -> int:
        check_is_fitted(self)
        return int(symbol_ids([word], self.vocabulary_, self.provenance_["options"])[0])

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "r": self.r_,
            "s": self.s_,
            "prior": self.prior_,
            "words": self.vocabulary_.words,
            "word_counts": self.vocabulary_.counts,
        }
        about = {
            "parameters": dict(self.parameters_),
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
            "n_iter": self.n_iter_,
            "history": self.history_,
        }
        return arrays, about

    @classmethod
    def _schema(cls, about):
        shape = ("words+2", "states")
        return Schema(
            {
                **_saved.WORDS,
                "prior": Array("float", ("states",), least=0, below=_MOST),
                "r": Array("float32", shape, least=0, below=_MOST),
                "s": Array("float32", shape, least=0, below=_MOST),
            },
            {
                "provenance": PROVENANCE,
                "diagnostics": _DIAGNOSTICS,
                "n_iter": Count(0, least=0),
                "history": _HISTORY,
            },
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        self.r_, self.s_, self.prior_ = (np.asarray(arrays[name]) for name in ("r", "s", "prior"))
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        self.n_iter_, self.history_ = about["n_iter"], about["history"]
        return self
