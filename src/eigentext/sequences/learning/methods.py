"""The methods of :class:`eigentext.HMM`: the spectral algorithm, and EM from several starts."""

import warnings
from contextlib import nullcontext
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from eigentext import engine
from eigentext.matrices.budget import check_room
from eigentext.moments import NgramMoments
from eigentext.sequences.forms import HMMParameters, PlainOperators
from eigentext.sequences.learning.em import Sequences, begun_anywhere, race, random_start, refine
from eigentext.sequences.learning.plain import plain_operators
from eigentext.sequences.learning.recovery import clustered, recovered
from eigentext.sequences.learning.spectral import Scaling, SpectralFit, spectral_operators
from eigentext.sequences.learning.window_em import fitted_to_windows
from eigentext.sequences.learning.windows import Windows

_PASSES = {"em": 300, "spectral+em": 100}
_STARTS = {"em": 10, "spectral+em": 6}
_CLUSTERINGS = 4  # how many of the starts are clusterings, if EM starts from clusters
_ROUNDS = ((15, 3), (45, 1))  # the steps on counted windows, and how many starts stay
_FAR = 0.5  # recovered parameters that are further from probabilities compete with clusters
_TABLES = 8  # tables of the size of the emissions that are in memory at the same time
_REMEDY = "ask for fewer states, or raise min_count (--min-count) for fewer symbols"


class Settings(Protocol):
    """The parameters of :class:`eigentext.HMM` that learning uses."""

    n_states: int
    method: Literal["spectral", "em", "spectral+em", "anchor"]
    scaling: Scaling
    rank: int | None
    n_init: int | None
    n_iter: int | None
    tol: float
    smoothing: float
    n_jobs: int | None
    random_state: int


class EMFit(NamedTuple):
    """The result of :func:`by_em`."""

    parameters: HMMParameters
    diagnostics: dict[str, Any]
    history: list[float]  # the log-likelihood per token


def by_spectrum(settings: Settings, moments: NgramMoments) -> tuple[SpectralFit, Windows]:
    """Learn operators by the spectral algorithm. Return them and the windows behind them."""
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
    return found, windows


def by_plain_spectrum(
    settings: Settings, moments: NgramMoments
) -> tuple[PlainOperators, dict[str, Any]]:
    """Learn operators by the plain algorithm."""
    windows = Windows.of(moments)
    return plain_operators(windows, settings.n_states, random_state=settings.random_state)


def by_em(
    settings: Settings, moments: NgramMoments, data: Sequences | None, *, stream: bool = False
) -> EMFit:
    """Learn parameters by EM, from random starts or from what the operators show.

    Without data, the start is the result. A stream begins in the mean state of all its tokens.
    """
    m = settings.n_states
    n = moments.edge if moments.unigrams[moments.rare] else moments.rare
    check_room(8.0 * _TABLES * m * (n + m), f"EM with {m:,} states and {n:,} symbols", _REMEDY)
    rng = np.random.default_rng(settings.random_state)
    frequencies = moments.unigrams[:n]
    n_iter = _PASSES[settings.method] if settings.n_iter is None else settings.n_iter
    diagnostics: dict[str, Any] = {}
    if settings.method == "em":
        n_init = (settings.n_init or _STARTS["em"]) if n_iter else 1
        starts = [random_start(frequencies, m, rng) for _ in range(n_init)]
    else:
        start, diagnostics = _spectral_start(settings, moments, frequencies, rng)
        starts = [start]
    if data is None or n_iter == 0:
        start = starts[0]
        if data is not None and stream and settings.method == "em":
            start = begun_anywhere(start, data)
        return EMFit(start, diagnostics, [])
    return _refined(settings, starts, diagnostics, data, frequencies, n_iter, stream)


def _refined(
    settings: Settings,
    starts: list[HMMParameters],
    diagnostics: dict[str, Any],
    data: Sequences,
    frequencies: np.ndarray,
    n_iter: int,
    stream: bool,
) -> EMFit:
    """Let the starts race, and run EM from the best one to its end."""
    prior = _prior(settings, frequencies)
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
            parameters = begun_anywhere(parameters, data)
            note(data.n_tokens)
    diagnostics = {"starts": len(starts)} | diagnostics
    diagnostics |= {
        "passes": sum(seen) / data.n_tokens,  # with those of the race, over parts of the data
        "converged": run.converged,
        "log_likelihood": run.history[-1],
    }
    return EMFit(parameters, diagnostics, run.history)


def _spectral_start(
    settings: Settings,
    moments: NgramMoments,
    frequencies: np.ndarray,
    rng: np.random.Generator,
) -> tuple[HMMParameters, dict[str, Any]]:
    """The recovered parameters. If they are poor, clusterings and random starts compete with them.

    All are fitted to the counted windows, whose likelihood decides.
    """
    with warnings.catch_warnings():  # EM can use more states than there are directions
        warnings.simplefilter("ignore")
        (model, profiles, diagnostics), windows = by_spectrum(settings, moments)
    m, starts = settings.n_states, []
    enough = diagnostics["rank"] >= m
    if enough and (found := recovered(model, windows, rng)) is not None:
        starts.append(found[0])
        diagnostics |= found[1]
    if diagnostics.get("moved_to_simplex", np.inf) > _FAR:
        # Clusterings are the better starts if symbols form clusters. Random ones are, if not.
        for number in range(settings.n_init or _STARTS["spectral+em"]):
            starts.append(
                clustered(profiles, windows, m, rng)
                if number < _CLUSTERINGS
                else random_start(frequencies, m, rng)
            )
    diagnostics["starts"] = len(starts)
    if not windows.sampled:  # they are exact already
        return starts[0], diagnostics
    prior = _prior(settings, frequencies)
    for n_steps, n_kept in _ROUNDS:
        fits = [
            fitted_to_windows(start, windows, n_iter=n_steps, tol=settings.tol, prior=prior)
            for start in starts
        ]
        fits.sort(key=lambda fit: -fit[1][-1])
        starts = [parameters for parameters, _ in fits[:n_kept]]
        diagnostics["window_log_likelihood"] = fits[0][1][-1]
    return starts[0], diagnostics


def _prior(settings: Settings, frequencies: np.ndarray) -> np.ndarray | None:
    """The tokens that smoothing adds to each state, or None."""
    return settings.smoothing * frequencies / frequencies.sum() if settings.smoothing else None
