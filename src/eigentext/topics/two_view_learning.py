"""From the two views of documents to topics: moments, their decomposition, and EM."""

import warnings
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.errors import CorpusError
from eigentext.estimators import users_level
from eigentext.matrices.products import rows_times, transposed_times
from eigentext.moments.bags import BagMoments
from eigentext.moments.second_views import SecondView
from eigentext.topics._findings import of_rank
from eigentext.topics.em import _lifted, _positive
from eigentext.topics.steps import on_simplex
from eigentext.topics.tensor import _summed_to_one, robust_weights, word_scale
from eigentext.topics.two_view_em import (
    NumberView,
    TwoViewEM,
    TwoViewState,
    WordView,
    refine_views,
    shrunk,
    with_spares,
)
from eigentext.topics.two_view_input import Numbers, Words
from eigentext.topics.two_view_tensor import TwoViewTopics, two_view_tensor

_NEXT = 5  # how many of the dropped eigenvalues the diagnostics show
_RIDGE = 1.0  # added to the variances of numbers, in units of the mean variance


class Settings(Protocol):
    """The parameters of :class:`eigentext.TwoViewTopics` that learning uses."""

    n_topics: int
    balance: float
    refine: int
    robust: float
    smoothing: float
    random_state: Any


class LearnedViews(NamedTuple):
    """Topics of two views, the largest first."""

    weights: np.ndarray
    first: dict[str, np.ndarray]
    second: dict[str, np.ndarray]
    diagnostics: dict[str, Any]


def learn_views(first: Words, second: Words | Numbers, settings: Settings) -> LearnedViews:
    """Decompose the moments of both views, and run EM. Rows are in the order of their content."""
    check_views(first, second)
    K = min(settings.n_topics, len(first.vocabulary))
    wanted = min(with_spares(K), len(first.vocabulary)) if settings.refine else K
    found, diagnostics, rows = _decompose(first, second, wanted, settings)
    n_topics = min(K, len(found.weights))
    if n_topics < settings.n_topics:
        warnings.warn(of_rank(n_topics, settings.n_topics).line, stacklevel=users_level())
    start = rows.state(found, smooth=settings.refine > 0)
    if settings.refine:
        em = TwoViewEM(
            WordView(first.counts, settings.smoothing),
            WordView(second.counts, settings.smoothing)
            if isinstance(second, Words)
            else NumberView(second.rows),
            settings.balance,
        )
        start, _, diagnostics["changes"] = refine_views(
            em, start, n_topics, n_steps=settings.refine
        )
    for known in (start.first, start.second, {"weights": start.weights}):
        if not all(np.isfinite(array).all() for array in known.values()):
            raise CorpusError(
                "the topics of these documents have numbers that are not finite; "
                "are their counts, numbers or smoothing very large?"
            )
    order = np.argsort(-start.weights, kind="stable")
    first_side, second_side = (
        {
            name: np.ascontiguousarray(array if name == "covariance" else array[order])
            for name, array in known.items()
        }
        for known in (start.first, start.second)
    )
    return LearnedViews(start.weights[order], first_side, second_side, diagnostics)


def check_views(first: Words, second: Words | Numbers) -> None:
    """Raise CorpusError if no document has two words and a second view."""
    long_enough = first.counts.sum(axis=1) >= 2
    if isinstance(second, Words):
        long_enough &= second.counts.sum(axis=1) > 0
    if not long_enough.any():
        raise CorpusError(
            f"none of {len(long_enough)} documents has two words or more and a second view, so "
            "there is nothing to learn topics from; give longer documents, or leave out fewer "
            "words (min_df, max_df, stop_words)"
        )


class _Rows:
    """The second view as the moments see it: scaled, so that no direction is louder than others."""

    def __init__(self, second: Words | Numbers, weights: np.ndarray):
        if isinstance(second, Words):
            counts = second.counts.astype(np.float64)
            n = counts.sum(axis=1)
            self.present = n > 0
            rates = sp.csr_array(counts.multiply((1 / np.maximum(n, 1))[:, None]))
            mean = np.asarray(rates.T @ np.where(self.present, weights, 0))
            self._scale = word_scale(mean / (mean.sum() or 1.0))
            self.rows: Any = sp.csr_array(rates.multiply(self._scale[None]))
            self._words = True
            return
        self.present = np.ones(len(second.rows), bool)
        p = second.rows.shape[1]
        with engine.one_blas_thread():
            C = transposed_times(second.rows, second.rows) / len(second.rows)
            self._covariance = C
            size = np.trace(C) / p
            values, E = np.linalg.eigh(C + _RIDGE * size * np.eye(p))
            rows = rows_times(second.rows, E / np.sqrt(values))
        self.rows = np.column_stack([np.ones(len(rows)), rows])
        self._back = (E * np.sqrt(values)).T
        self._words = False

    def state(self, found: TwoViewTopics, *, smooth: bool) -> TwoViewState:
        """The topics of the moments, as distributions, means and a covariance."""
        total = found.weights.sum() or 1.0
        components, _ = on_simplex(_summed_to_one(found.components))
        weights = _positive(found.weights / total) if smooth else found.weights / total
        if smooth:
            components = _lifted(components)
        if self._words:
            scale = self._scale
            rates = found.second * np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
            rates, _ = on_simplex(_summed_to_one(rates))
            second = {"components": _lifted(rates) if smooth else rates}
        else:
            means = found.second[:, 1:] @ self._back
            between = (means.T * weights) @ means
            second = {"means": means, "covariance": shrunk(self._covariance - between)}
        return TwoViewState(weights, {"components": components}, second)


def _decompose(
    first: Words, second: Words | Numbers, n_topics: int, settings: Settings
) -> tuple[TwoViewTopics, dict[str, Any], _Rows]:
    """The topics of the moments, diagnostics, and the second view as the moments see it."""
    with engine.phase("moments"):
        bags = BagMoments(first.counts)
    n_reduced, scale = 0, None
    if settings.robust:
        # Its rough whitening is the one step where a seed would show, so the seed is fixed. With
        # it, other seeds gave the same topics of 2,500 posts; without, 77% of the top words.
        robust = robust_weights(bags, n_topics, alpha0=0.0, most=settings.robust, random_state=0)
        bags, n_reduced, scale = bags.reweighted(robust.weights), robust.n_reduced, robust.scale
    rows = _Rows(second, bags.weights)
    view = SecondView(bags, rows.rows, rows.present)
    found = two_view_tensor(bags, view, n_topics, scale=scale, random_state=settings.random_state)
    diagnostics = {
        "eigenvalues": found.eigenvalues.tolist(),
        "dropped": found.dropped[:_NEXT].tolist(),
        "residual": found.residual,
        "weight_sum": float(found.weights.sum()),
        "n_sound": int(found.is_sound.sum()),
        "n_reduced": n_reduced,
    }
    return found, diagnostics, rows
