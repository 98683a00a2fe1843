"""How a hidden Markov model is learned: by the spectral algorithm, and by EM from several starts.

`settings` are the parameters of :class:`eigentext.HMM`, under their names.
"""

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.moments import NgramMoments
from eigentext.sequences._baum_welch import Parameters, Sequences, race, random_start, refine
from eigentext.sequences._operators import Operators, spectral_operators
from eigentext.sequences._recovery import clustered, recovered
from eigentext.sequences._room import check_room
from eigentext.sequences._windows import Windows

_PASSES = {"em": 300, "spectral+em": 100}
_STARTS = 10
_CLUSTERINGS = 4  # the first of them, where EM starts from clusters
_FAR = 0.5  # recovered parameters that were so far from probabilities compete with clusters
_TABLES = 8  # as large as the emissions, that are held at once
_REMEDY = "ask for fewer states, or raise min_count (--min-count) for fewer symbols"


def by_spectrum(
    settings: Any, moments: NgramMoments
) -> tuple[Operators, np.ndarray, dict[str, Any], Windows]:
    """Operators, profiles of symbols, diagnostics, and the windows that they come from."""
    n, m = len(moments.unigrams), settings.n_states
    check_room(
        8.0 * _TABLES * n * min(m + 3, n),
        f"the projection of {n:,} symbols on {m:,} states",
        _REMEDY,
    )
    windows = Windows.of(moments)
    found = spectral_operators(
        windows,
        m,
        scaling=settings.scaling,
        rank=settings.rank,
        random_state=settings.random_state,
    )
    return *found, windows


def by_em(
    settings: Any, moments: NgramMoments, data: Sequences | None, *, stream: bool = False
) -> tuple[Parameters, dict[str, Any], list[float]]:
    """Parameters, diagnostics, and the log-likelihood as EM went on.

    From random starts, or from what the operators tell; without data, that start alone. A stream
    has no start: it has the mean state of all its tokens there.
    """
    m = settings.n_states
    n = moments.edge if moments.unigrams[moments.rare] else moments.rare
    check_room(8.0 * _TABLES * m * (n + m), f"EM with {m:,} states and {n:,} symbols", _REMEDY)
    rng = np.random.default_rng(settings.random_state)
    frequencies = moments.unigrams[:n]
    n_iter = _PASSES[settings.method] if settings.n_iter is None else settings.n_iter
    n_init = (settings.n_init or _STARTS) if n_iter else 1
    diagnostics: dict[str, Any] = {}
    if settings.method == "em":
        starts = [random_start(frequencies, m, rng) for _ in range(n_init)]
    else:
        starts, diagnostics = _spectral_starts(settings, moments, frequencies, n_init, rng)
    if data is None or n_iter == 0:
        start = starts[-1]
        if data is not None and stream and settings.method == "em":
            start = start.begun_anywhere(data)
        return start, diagnostics, []
    prior = settings.smoothing * frequencies / frequencies.sum() if settings.smoothing else None
    jobs = engine.use(engine.ThreadEngine(settings.n_jobs)) if settings.n_jobs else nullcontext()
    with jobs, engine.phase("EM", None, "tokens") as advance:
        seen: list[int] = []

        def note(tokens: int) -> None:
            seen.append(tokens)
            advance(tokens)

        start = race(starts, data, frequencies, prior=prior, advance=note)
        run = refine(start, data, n_iter=n_iter, tol=settings.tol, prior=prior, advance=note)
        parameters = run.parameters
        if stream:
            parameters = parameters.begun_anywhere(data)
            note(data.n_tokens)
    diagnostics |= {
        "starts": len(starts),
        "passes": sum(seen) / data.n_tokens,  # those of the race too, over parts of the data
        "converged": run.converged,
        "log_likelihood": run.history[-1],
    }
    return parameters, diagnostics, run.history


def _spectral_starts(
    settings: Any,
    moments: NgramMoments,
    frequencies: np.ndarray,
    n_init: int,
    rng: np.random.Generator,
) -> tuple[list[Parameters], dict[str, Any]]:
    """What the operators tell; where that is little, clusters and random starts too."""
    with warnings.catch_warnings():  # fewer directions than states are EM's business here
        warnings.simplefilter("ignore")
        model, profiles, diagnostics, windows = by_spectrum(settings, moments)
    m, starts = settings.n_states, []
    enough = diagnostics["rank"] >= m
    if enough and (found := recovered(model, windows, rng)) is not None:
        starts.append(found[0])
        diagnostics |= found[1]
    if diagnostics.get("moved_to_simplex", np.inf) > _FAR:
        # Clusters are the better start where states are, random ones where they are not.
        for number in range(n_init):
            starts.append(
                clustered(profiles, windows, m, rng)
                if number < _CLUSTERINGS
                else random_start(frequencies, m, rng)
            )
    return starts, diagnostics
