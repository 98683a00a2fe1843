r"""How the aggregate bigram model is learned: pivots, and EM that validation pairs stop.

*Pivots* (Cohen and Collins 2014, section 5.2, on the transpose of the counts C) are words that
belong to one state only. They give :math:`p(h|w_2)`, and so :math:`s(w_2|h)`
(:mod:`eigentext.factor.anchors`). Three things make them work on text:

- The marginals of CCA get a ridge, a fraction of a state's mean share of the tokens. Without it,
  hundreds of rare pairs whose words occur only with each other would have correlation 1.
- Pivots are chosen among frequent words, and :math:`p(h|w_2)` of rare words is drawn to
  :math:`\pi(h)`.
- EM starts from a smooth point, because it is stopped early: :math:`r = \pi` for every :math:`w_1`,
  and s half way to the unigram distribution (see benchmarks/bigram.py).

*EM.* Every M step for r adds :math:`\kappa` tokens (`smoothing`) with the states of the prior to
each context:

.. math:: r(h|w_1) = \frac{E[w_1, h] + \kappa\,\pi(h)}{C(w_1) + \kappa}, \qquad
          \pi(h) = \sum_{w_1} E[w_1, h] / N .

So a rare context is close to the mean of all contexts, a new context has the states of the mean,
and no pair of known words has probability zero. This is the mode of r under Dirichlet priors. With
:math:`\kappa = 0` it is plain EM, except that a millionth of a token is added.
"""

from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus.symbols import is_stream
from eigentext.errors import CorpusError, ParameterError
from eigentext.factor.anchors import pivot_states
from eigentext.factor.mixture import ConditionalMixture, pair_scores
from eigentext.matrices.runs import CSR
from eigentext.moments import NgramMoments
from eigentext.monitor import HeldOut, Monitor

Method = Literal["pivot+em", "pivot", "em"]
Init = Literal["uniform", "dirichlet"]
_RIDGE = 0.15  # in units of a state's mean share of the tokens, N / m
_CANDIDATES = 8  # for each state, the number of most frequent words that may be pivots
_FREQUENCY = 0.25  # the squared distance of a candidate is multiplied by its count to this power
# Tokens with the states of the prior that p(h|w2) of each word gets, and the share of the unigram
# distribution in s: small where s stays as it is, large where EM continues from it.
_SHRINKAGE = {"pivot": 5, "pivot+em": 100}
_TEMPER = {"pivot": 0.0, "pivot+em": 0.5}
_GAP = 1e-4  # the precision of p(h|w2), which is far below the noise of counts
_PATIENCE = 3  # EM stops after this many steps without a higher validation likelihood
_FLOOR = 1e-6  # the least smoothing; with less, rounding makes zeros


class Settings(Protocol):
    """The parameters of :class:`eigentext.BigramModel` that learning uses."""

    n_states: int
    method: Method
    n_iter: int
    smoothing: float
    validation_fraction: float
    init: Init
    n_candidates: int | None
    random_state: int


class ValidationPairs(NamedTuple):
    """Pairs that EM does not learn from, and how often each occurs."""

    contexts: np.ndarray
    events: np.ndarray
    counts: np.ndarray

    @classmethod
    def of_text(cls, contexts: np.ndarray, events: np.ndarray) -> "ValidationPairs":
        """Make them from the events of a text and their contexts, without unknown events."""
        known = events >= 0
        if not known.any():
            raise CorpusError("no word of the held-out text is in the vocabulary; give other text")
        width = np.int64(events.max()) + 1
        pairs, counts = np.unique(contexts[known] * width + events[known], return_counts=True)
        return cls(pairs // width, pairs % width, counts)

    @classmethod
    def of_counts(cls, drawn: CSR, training: CSR) -> "ValidationPairs | None":
        """Make them from counts, without words that training lacks. Return None if none is left."""
        contexts, events = drawn.nonzero()
        known = (training.sum(axis=0) > 0)[events]
        return cls(contexts[known], events[known], drawn.data[known]) if known.any() else None

    def perplexity(self, r: np.ndarray, s: np.ndarray, prior: np.ndarray) -> float:
        """Return the perplexity of the pairs under a model."""
        r = np.vstack([r, prior]).astype(r.dtype)
        scores = pair_scores(self.contexts, self.events, r, s)
        with np.errstate(over="ignore"):
            return float(np.exp(-(self.counts * scores).sum() / self.counts.sum()))


class Aggregate(NamedTuple):
    """An aggregate bigram model after some steps of EM."""

    r: np.ndarray
    s: np.ndarray
    prior: np.ndarray
    n_iter: int

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint keeps."""
        return {name: np.asarray(part) for name, part in self._asdict().items()}

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray]) -> "Aggregate":
        """Continue from a checkpoint."""
        return cls(arrays["r"], arrays["s"], arrays["prior"], int(arrays["n_iter"]))


class Learned(NamedTuple):
    """The result of :func:`learn`."""

    model: Aggregate
    history: dict[str, list[float]]  # perplexities after 0, 1, … steps
    diagnostics: dict[str, Any]  # of the pivots; "pivots" are ids of symbols


def pairs_of(moments: NgramMoments) -> CSR:
    """Return the counts of pairs. In a stream, edges have no meaning and are left out."""
    C = moments.levels[0].copy()
    if is_stream(moments.options):
        C = C.tocoo()
        inside = (C.coords[0] != moments.edge) & (C.coords[1] != moments.edge)
        coords = C.coords[0][inside], C.coords[1][inside]
        C = sp.csr_array((C.data[inside], coords), shape=C.shape)
    if not C.data.any():
        raise CorpusError("the text has one token only, and nothing follows it; give more text")
    return C


def learn(C: CSR, settings: Settings, validation: ValidationPairs | None = None) -> Learned:
    """Learn from counts of pairs.

    The number of EM steps is the best one for the validation pairs. Without any, a fraction of the
    pairs is drawn to choose that number, and then EM runs again on all pairs.
    """
    training = C
    if validation is None and (drawn := _drawn(C, settings)) is not None:
        validation = ValidationPairs.of_counts(drawn, C - drawn)
        training = C if validation is None else C - drawn
    with engine.phase("start"):
        r, s, diagnostics = _start(C, training, settings)
    fixed = settings.method == "pivot"
    run = partial(em, r=r, s=s, smoothing=settings.smoothing, fixed=fixed)
    best, history = run(
        ConditionalMixture(training, np.float32), n_iter=settings.n_iter, validation=validation
    )
    if training is not C:
        if fixed:  # EM does not learn s, which must know the words of all pairs
            r, s, diagnostics = _start(C, C, settings)
            run = partial(run, r=r, s=s)
        mixture = ConditionalMixture(C, np.float32)
        best, again = run(mixture, n_iter=best.n_iter, validation=None)
        history = again | {"heldout_perplexity": history["heldout_perplexity"]}
    return Learned(best, history, diagnostics)


def _drawn(C: CSR, settings: Settings) -> CSR | None:
    """A part of the counts, drawn token by token. None if nothing can be drawn."""
    whole = np.issubdtype(C.dtype, np.integer)  # moments of a distribution have no tokens
    if not whole or settings.validation_fraction == 0 or settings.n_iter == 0:
        return None
    drawn = C.copy()
    drawn.data = np.random.default_rng(settings.random_state).binomial(
        C.data, settings.validation_fraction
    )
    drawn.eliminate_zeros()
    return drawn if 0 < drawn.sum() < C.sum() else None


# The start.


def _start(
    C: CSR, training: CSR, settings: Settings
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """The values of r and s before the first step of EM, and diagnostics."""
    m, n = settings.n_states, C.shape[0]
    after = C.sum(axis=0)
    unigram = (after / after.sum())[:, None]
    diagnostics: dict[str, Any] = {}
    if settings.method == "em":
        rng = np.random.default_rng(settings.random_state)
        if settings.init == "uniform":
            r, s = 1 + 0.1 * rng.random((n, m)), unigram * (1 + 0.5 * rng.random((n, m)))
        else:
            r, s = rng.exponential(size=(n, m)), (unigram > 0) * rng.exponential(size=(n, m))
        r /= r.sum(axis=1, keepdims=True)
    else:
        prior, s, diagnostics = _pivots(training, settings)
        temper = _TEMPER[settings.method]
        s = (1 - temper) * s + temper * unigram
        r = np.broadcast_to(prior, (n, m))
    r, s = np.ascontiguousarray(r, np.float32), (s / s.sum(axis=0)).astype(np.float32)
    return r, s, diagnostics


def _pivots(C: CSR, settings: Settings) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """The prior pi(h), the emissions s(w2|h), and diagnostics."""
    m = settings.n_states
    after = C.sum(axis=0).astype(np.float64)
    n_seen = int((after > 0).sum())
    if m > n_seen:
        raise ParameterError(
            f"n_states (--states) is {m}, but only {n_seen} different symbols follow another; "
            f"use {n_seen} or less"
        )
    n_candidates = min(settings.n_candidates or _CANDIDATES * m, n_seen)
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
            random_state=settings.random_state,
        )
    except ParameterError as error:
        raise ParameterError(
            f"no {m} pivots (n_states, --states) among {n_candidates} words: {error}, or "
            "method='em' (--method em)"
        ) from error
    weight, shrinkage = after[:, None], _SHRINKAGE[settings.method]
    posteriors = (weight * found.posteriors + shrinkage * found.prior) / (weight + shrinkage)
    joint = weight / total * posteriors
    diagnostics = {
        "pivots": found.anchors.tolist(),
        "separations": found.separations.tolist() if m > 1 else [],
        "singular_values": found.singular_values.tolist(),
    }
    prior = joint.sum(axis=0)
    return prior, joint / prior, diagnostics


# EM.


def em(
    mixture: ConditionalMixture,
    *,
    r: np.ndarray,
    s: np.ndarray,
    smoothing: float,
    n_iter: int,
    fixed: bool,
    validation: ValidationPairs | None,
) -> tuple[Aggregate, dict[str, list[float]]]:
    """Run EM for r, and for s unless it is `fixed`. Return the best model and perplexities.

    The best model is the one with the lowest perplexity of the validation pairs. Without any, it is
    the last one.
    """
    smoothing = max(smoothing, _FLOOR)
    weights = mixture.counts.sum(axis=1, dtype=np.float64)[:, None]
    total = weights.sum()
    prior = (weights * r).sum(axis=0) / total
    model = Aggregate(np.where(weights > 0, r, prior).astype(np.float32), s, prior, 0)
    held_out = None if validation is None else _held_out(validation)
    C = mixture.counts
    monitor = Monitor(
        "bigram-em",
        n_iter + 1,  # the model before the first step is measured, too
        problem=(C.indptr, C.indices, C.data, model.r, s, *(validation or ()), smoothing, fixed),
        amount=0,
        held_out=held_out,
        title="em",
        total=n_iter,
    )
    if kept := monitor.resume():
        model = Aggregate.of_arrays(kept.arrays)
    with monitor:
        monitor.advance(model.n_iter)
        while not monitor.is_done:
            monitor.show(model)
            if monitor.is_done:
                monitor.keep(model.arrays)
                break
            is_last = model.n_iter == n_iter
            left, right, log_likelihood = mixture.expect(
                model.r, model.s, right=not fixed and not is_last
            )
            monitor.record(float(np.exp(-log_likelihood / total)))
            if not is_last:
                prior = left.sum(axis=0, dtype=np.float64) / total
                r = ((left + smoothing * prior) / (weights + smoothing)).astype(np.float32)
                if not fixed:
                    s = right / np.maximum(right.sum(axis=0, dtype=np.float64), 1e-30)
                    s = s.astype(np.float32)
                model = Aggregate(r, s, prior, model.n_iter + 1)
                monitor.advance(1)
            monitor.keep(model.arrays)
    scores = [] if held_out is None else held_out.scores
    best = model if held_out is None or held_out.best is None else held_out.best
    history = {"perplexity": monitor.history, "heldout_perplexity": [-score for score in scores]}
    return best, history


def _held_out(validation: ValidationPairs) -> HeldOut[Aggregate]:
    return HeldOut(
        lambda model: -validation.perplexity(model.r, model.s, model.prior),
        pack=Aggregate.arrays,
        unpack=Aggregate.of_arrays,
        patience=_PATIENCE,
        latest=True,
    )
