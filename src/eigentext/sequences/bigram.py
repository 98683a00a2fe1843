r"""The aggregate bigram model of Saul and Pereira (1997), by EM, by pivots, and by both.

.. math:: p(w_2 \mid w_1) = \sum_{h=1}^m r(h \mid w_1)\, s(w_2 \mid h)

The pivots are those of Cohen and Collins (2014), section 8. With counts C of pairs:

``em``
    Maximum likelihood from a random start. It has local optima, and overfits in a few steps.
``pivot``
    Pivots among the words :math:`w_2` give :math:`p(h|w_2)`, and so :math:`s(w_2|h)`
    (:mod:`eigentext.factor.anchors`, on the transpose of C); then EM for r alone, which is convex.
``pivot+em``
    EM for both, from there.

Three things make pivots work on text. CCA's marginals get a ridge, a part of a state's mean
share of the tokens: without it, each of hundreds of rare pairs that occur only with each other has
correlation 1. Pivots are sought among frequent words, and :math:`p(h|w_2)` of rare ones is drawn to
:math:`\pi(h)`. And EM starts from a smooth point, since it is stopped early: :math:`r = \pi` for
every :math:`w_1`, and s half way to the unigram distribution (see benchmarks/bigram.py).

Every M step for r adds `smoothing` tokens with the prior's states to each context:

.. math:: r(h|w_1) = \frac{E[w_1, h] + \kappa\,\pi(h)}{C(w_1) + \kappa}, \qquad
          \pi(h) = \sum_{w_1} E[w_1, h] / N .

So a rare context leans on the mean of all, one never seen has its states, and no pair of words
seen gets probability zero. That is the mode of r under Dirichlet priors. 0 is plain EM, but for a
millionth of a token.
"""

import os
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.symbols import (
    END,
    RARE,
    is_stream,
    sequence_ids,
    special_names,
    symbol_ids,
)
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted, learned_with, learning
from eigentext.factor.anchors import pivot_states
from eigentext.factor.mixture import ConditionalMixture, pair_scores
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.moments import NgramMoments
from eigentext.moments.sound_ngrams import check_ngrams
from eigentext.parameters import Count, Number
from eigentext.sequences import _saved, parameters
from eigentext.sequences._bigram_em import Judge, em
from eigentext.sequences._language_model import LanguageModel
from eigentext.sequences._room import check_room
from eigentext.storage import Saved
from eigentext.storage.facts import PROVENANCE, TEXTS, facts
from eigentext.storage.schema import Array, Schema

Method = Literal["pivot+em", "pivot", "em"]
Init = Literal["uniform", "dirichlet"]
_RIDGE = 0.15  # of a state's mean share of the tokens, N / m
_CANDIDATES = 8  # most frequent words for each state to be found
_FREQUENCY = 0.25  # exponent of the count that a candidate's squared distance is multiplied by
# Tokens with the prior's states that p(h|w2) of a word gets, and the unigram distribution's part of
# s: little where s stays as it is, much where EM goes on from it.
_SHRINKAGE = {"pivot": 5, "pivot+em": 100}
_TEMPER = {"pivot": 0.0, "pivot+em": 0.5}
_GAP = 1e-4  # of p(h|w2): far below the noise of counts
_OTHERS = (RARE, "<edge>")  # how symbols that are no words are named to people
_MOST = 1.01  # of a probability in a file, rounded to 32 bits and added up
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
    r"""A language model of pairs with hidden states between them; see the module.

    Parameters
    ----------
    n_states : int
        The number m of states.
    method : "pivot+em", "pivot" or "em"
        How it is learned.
    min_count : int
        Rarer words share one symbol, the rare word.
    n_iter : int
        The most steps of EM.
    smoothing : float
        Tokens with the prior's states that are added to every context in each step.
    heldout_fraction : float
        Where no held-out text is given, the part of all pairs, drawn at random, that the number of
        steps is chosen by; then EM is done again with all pairs. With 0, it is `n_iter`.
    init : "uniform" or "dirichlet"
        The start of "em": r near uniform and s near the unigram distribution (better by 10% and
        more), or both drawn from flat Dirichlet distributions.
    n_candidates : int, optional
        Pivots are found among so many most frequent words: 8 for each state by default.
    random_state : int
        Of random starts, of the SVD, and of what is held out.

    Attributes
    ----------
    r_ : float32 array, shape (n_symbols, n_states)
        r(h|w1). Symbols are the words, the rare word, and the edge of a unit.
    s_ : float32 array, shape (n_symbols, n_states)
        s(w2|h): columns add up to 1.
    prior_ : array, shape (n_states,)
        The states where nothing is known of the context.
    n_iter_ : int
        Steps of EM that led here.
    history_ : dict
        "perplexity" and "heldout_perplexity" of the text after 0, 1, … steps.
    vocabulary_ : Vocabulary
    diagnostics_ : dict
        The pivot words and how far each is from the span of the others, steps, perplexities.
    provenance_ : dict
        What it was learned from: tokens, fingerprints, how the text was read.

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

    def __init__(
        self,
        n_states: int = 32,
        *,
        method: Method = "pivot+em",
        min_count: int = 1,
        n_iter: int = 100,
        smoothing: float = 5.0,
        heldout_fraction: float = 0.05,
        init: Init = "uniform",
        n_candidates: int | None = None,
        random_state: int = 0,
    ):
        self.n_states = n_states
        self.method: Method = method
        self.min_count = min_count
        self.n_iter = n_iter
        self.smoothing = smoothing
        self.heldout_fraction = heldout_fraction
        self.init: Init = init
        self.n_candidates = n_candidates
        self.random_state = random_state

    # Learning.

    @learning
    def fit(
        self,
        tokens: Any,
        y: None = None,
        *,
        heldout: Any = None,
        memory: int = DEFAULT_MEMORY,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from text, a stream of words or integers, or sequences of them.

        Same as collect + fit_moments. The steps of EM are as many as give `heldout`, more text, the
        greatest likelihood; `memory` (bytes for counting) and `cache` (a folder for encoded text)
        change no answer.
        """
        return self._learn(self.collect(tokens, memory=memory, cache=cache), heldout)

    def collect(
        self,
        tokens: Any,
        *,
        memory: int = DEFAULT_MEMORY,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """The statistics that `fit` needs of a text, and no more."""
        self._table.checked(self.get_params(deep=False))
        return NgramMoments.from_corpus(
            tokens, order=2, min_count=self.min_count, memory=memory, cache=cache
        )

    @learning
    def fit_moments(self, moments: NgramMoments, *, heldout: Any = None) -> Self:
        """Learn from statistics alone, of order 2 or a higher one."""
        check_ngrams(moments)
        return self._learn(moments, heldout)

    # Using.

    def log_probabilities(self, tokens: Any) -> np.ndarray:
        """The natural logarithm of the probability of each event, in order.

        Events are the tokens and, unless the model was learned from a stream, the end of each unit.
        Tokens outside the vocabulary are nan, and the rare word to the one that follows. The first
        token of a stream is predicted from the prior's states.
        """
        check_is_fitted(self)
        contexts, events = self._events(tokens)
        known = events >= 0
        scores = np.full(len(events), np.nan)
        r = np.vstack([self.r_, self.prior_]).astype(np.float32)
        scores[known] = pair_scores(contexts[known], events[known], r, self.s_)
        return scores

    def probability(self, word: Any, given: Any = None) -> float:
        """p(word | given), for the word before it; without one, the model's marginal."""
        place = self._place(word)
        if place < 0:
            return self.vocabulary_[str(word)]  # raises an error that suggests others
        return float(self.states(given) @ self.s_[place])

    def distribution(self, given: Any = None) -> np.ndarray:
        """p(· | given) of all words, then of the rare word and of the end of a unit; adds up to 1.

        In a model of a stream there is no end, and its probability is 0.
        """
        states = self.states(given)
        return self.s_ @ states

    def states(self, given: Any = None) -> np.ndarray:
        """The states r(h | given) after a word: if it is unknown, the rare word's or the prior."""
        check_is_fitted(self)
        if given is None:
            return self.prior_
        place = self._place(given)
        return self.r_[place if place >= 0 else len(self.vocabulary_)]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw perplexity, also that on held-out pairs, by the step of EM; returns the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        # The first values are those of the start, before any step.
        series = {name.replace("_", " "): values for name, values in self.history_.items()}
        chosen = self.n_iter_ + 1 if len(series) > 1 else None
        return plots.curves(series, chosen=chosen, ylabel="perplexity", ax=ax)

    # Private steps.

    def _check_together(self) -> None:
        few = self.n_candidates is not None and self.n_candidates < self.n_states
        if few and self.method != "em":
            raise ParameterError(
                f"n_candidates is {self.n_candidates}, fewer than the n_states={self.n_states} "
                "pivots to be found among them"
            )

    def _learn(self, moments: NgramMoments, heldout: Any) -> Self:
        if moments.order < 2:
            raise MomentsError("moments of order 1 have no pairs; count with order=2 or more")
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count)
        C = _pairs(moments)
        n, m = C.shape[0], self.n_states
        check_room(
            32.0 * n * m, f"{m:,} states (n_states, --states) of {n:,} symbols", "ask for fewer"
        )
        self.vocabulary_ = moments.vocabulary
        self.provenance_ = {
            "n_tokens": moments.n_tokens,
            "options": moments.options,
            "sources": moments.sources,
        }
        self.diagnostics_ = {
            "n_words": len(moments.vocabulary),
            "rare_tokens": moments.rare_count,
            "pairs": int(C.nnz),
        }
        if heldout is not None:
            judge = Judge.of_text(*self._events(heldout))
            self._run_em(C, C, judge, "given")
        elif (drawn := self._drawn(C)) is not None:
            training = C - drawn
            judge = Judge.of_counts(drawn, training)
            self._run_em(C, training if judge else C, judge, "drawn from the pairs")
        else:
            self._run_em(C, C, None, "none")
        return self

    def _drawn(self, C: Any) -> Any:
        """A part of the counts, each token by chance, or None if that makes no sense."""
        whole = np.issubdtype(C.dtype, np.integer)  # moments of a distribution have no tokens
        if not whole or self.heldout_fraction == 0 or self.n_iter == 0:
            return None
        drawn = C.copy()
        drawn.data = np.random.default_rng(self.random_state).binomial(
            C.data, self.heldout_fraction
        )
        drawn.eliminate_zeros()
        return drawn if 0 < drawn.sum() < C.sum() else None

    def _run_em(self, C: Any, training: Any, judge: "Judge | None", heldout: str) -> None:
        """EM on the training counts as long as the judge likes it; then so long on all of C."""
        with engine.phase("start"):
            r, s = self._start(C, training)
        fixed = self.method == "pivot"
        mixture = ConditionalMixture(training, np.float32)
        best = em(mixture, r, s, self.smoothing, self.n_iter, judge, fixed)
        if training is not C:
            again = em(
                ConditionalMixture(C, np.float32), r, s, self.smoothing, best.n_iter, None, fixed
            )
            again.history["heldout_perplexity"] = best.history["heldout_perplexity"]
            best = again
        self.r_, self.s_, self.prior_ = best.r, best.s, best.prior
        self.n_iter_, self.history_ = best.n_iter, best.history
        self.diagnostics_ |= {
            "n_iter": best.n_iter,
            "heldout": heldout,
            **{name: values[best.n_iter] for name, values in best.history.items() if values},
        }

    def _start(self, C: Any, training: Any) -> tuple[np.ndarray, np.ndarray]:
        """What r and s are before the first step of EM."""
        m, n = self.n_states, C.shape[0]
        after = C.sum(axis=0)
        unigram = (after / after.sum())[:, None]
        if self.method == "em":
            rng = np.random.default_rng(self.random_state)
            if self.init == "uniform":
                r, s = 1 + 0.1 * rng.random((n, m)), unigram * (1 + 0.5 * rng.random((n, m)))
            else:
                r, s = rng.exponential(size=(n, m)), (unigram > 0) * rng.exponential(size=(n, m))
            r /= r.sum(axis=1, keepdims=True)
        else:
            prior, s = self._pivots(training)
            temper = _TEMPER[self.method]
            s = (1 - temper) * s + temper * unigram
            r = np.broadcast_to(prior, (n, m))
        return np.ascontiguousarray(r, np.float32), (s / s.sum(axis=0)).astype(np.float32)

    def _pivots(self, C: Any) -> tuple[np.ndarray, np.ndarray]:
        """Section 5.2 on the transpose: pi(h) and s(w2|h)."""
        m = self.n_states
        after = C.sum(axis=0).astype(np.float64)
        n_seen = int((after > 0).sum())
        if m > n_seen:
            raise ParameterError(
                f"n_states (--states) is {m}, but only {n_seen} different symbols follow another; "
                f"use {n_seen} or less"
            )
        n_candidates = min(self.n_candidates or _CANDIDATES * m, n_seen)
        candidates = np.sort(np.argsort(-after, kind="stable")[:n_candidates])
        total = after.sum()
        try:
            found = pivot_states(
                C.T,
                m,
                candidates=candidates,
                weights=after**_FREQUENCY,
                ridge=_RIDGE * total / m,
                tol=_GAP,
                random_state=self.random_state,
            )
        except ParameterError as error:
            raise ParameterError(
                f"no {m} pivots (n_states, --states) among {n_candidates} words: {error}, or "
                "method='em' (--method em)"
            ) from error
        weight, shrinkage = after[:, None], _SHRINKAGE[self.method]
        posteriors = (weight * found.posteriors + shrinkage * found.prior) / (weight + shrinkage)
        joint = weight / total * posteriors
        names = [*self.vocabulary_.words, *special_names(self.vocabulary_, *_OTHERS)]
        self.diagnostics_ |= {
            "pivots": [names[place] for place in found.anchors.tolist()],
            "separations": found.separations.tolist(),
            "singular_values": found.singular_values.tolist(),
        }
        prior = joint.sum(axis=0)
        return prior, joint / prior

    def _events(self, tokens: Any) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a context and an event, -1 if that is unknown; n_symbols for no context."""
        options = self.provenance_["options"]
        ids = sequence_ids(tokens, self.vocabulary_, options)
        rare, edge = len(self.vocabulary_), len(self.vocabulary_) + 1
        edges = not is_stream(options)
        before = np.append(END, ids[:-1])
        contexts = np.where(before >= 0, before, np.where(before == END, edge + (not edges), rare))
        events = np.where(ids == END, edge, np.maximum(ids, -1))
        # The end of a unit is an event, but not of a stream, nor if there is nothing in the unit.
        counted = (ids != END) | (edges & (before != END))
        return contexts[counted], events[counted]

    def _place(self, word: Any) -> int:
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


def _pairs(moments: NgramMoments) -> Any:
    """Counts of w1 and the symbol after it; in a stream, edges mean nothing."""
    C = moments.levels[0].copy()
    if is_stream(moments.options):
        C = C.tocoo()
        inside = (C.coords[0] != moments.edge) & (C.coords[1] != moments.edge)
        coords = C.coords[0][inside], C.coords[1][inside]
        C = sp.csr_array((C.data[inside], coords), shape=C.shape)
    if not C.data.any():
        raise CorpusError("the text has one token only, and nothing follows it; give more text")
    return C
