"""Figures of what models are made of: spectra, curves, maps of words, topics, tables, calibration.

These functions draw plain numbers and know no model. The method ``plot()`` of an estimator calls
them. Each draws into `ax`, or into a new figure, and returns the Axes. Change titles and sizes and
save files with matplotlib: ``model.plot().figure.savefig("map.svg")``. Matplotlib is optional
(``pip install 'eigentext[plot]'``) and loads at the first drawing. The same numbers give the same
picture.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigentext.errors import EigentextError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONT = 9  # of names on a map, in points
_LABELS = 40  # rows or columns of a table that have room for a name


def new_axes(ax: "Axes | None" = None, *, size: tuple[float, float] = (6.4, 4.0)) -> "Axes":
    """The given Axes, or those of a new figure. `size` is in inches."""
    return _figure(size).subplots() if ax is None else ax


def drawn(kind: str, kinds: Mapping[str, Callable[[], "Axes"]]) -> "Axes":
    """Draw the figure of one kind; raise ParameterError if the model has no such kind."""
    if kind not in kinds:
        known = ", ".join(map(repr, kinds))
        raise ParameterError(f"kind must be one of {known}, not {kind!r}")
    return kinds[kind]()


def spectrum(
    kept: ArrayLike,
    dropped: ArrayLike = (),
    *,
    noise: float | None = None,
    ylabel: str = "singular value",
    ax: "Axes | None" = None,
) -> "Axes":
    """The values that a decomposition kept, the next ones that it dropped, and the noise level.

    The axis starts at zero, so heights can be compared. A gap between the last kept value and the
    first dropped one means that the number of components suits the data.

    Parameters
    ----------
    kept, dropped : array-like of float
        Largest first.
    noise : float, optional
        The noise level, drawn as a line. Values below it mean nothing.
    ylabel : str
        The name of the values: singular values, correlations, …
    ax : matplotlib Axes, optional
        Where to draw.
    """
    values, others = (np.asarray(part, float).ravel() for part in (kept, dropped))
    if not values.size:
        raise ParameterError("no values to draw; a spectrum is that of a fitted model")
    ax = new_axes(ax)
    n = len(values)
    style = {"marker": "o" if n <= _LABELS else "", "markersize": 4}
    ax.plot(np.arange(1, n + 1), values, color="C0", label="kept", **style)
    if others.size:
        places = np.arange(n + 1, n + 1 + len(others))
        ax.plot(places, others, "x", color="C3", markersize=4, label="dropped")
    if noise is not None:
        ax.axhline(noise, color="0.5", linestyle="--", linewidth=1, label="noise")
    if others.size or noise is not None:
        ax.legend()
    ax.set_ylim(bottom=min(0.0, float(values.min())))
    ax.set_xlabel("component")
    ax.set_ylabel(ylabel)
    return ax


def curves(
    series: Mapping[str, ArrayLike],
    *,
    chosen: int | None = None,
    xlabel: str = "step",
    ylabel: str = "",
    ax: "Axes | None" = None,
) -> "Axes":
    """The history of learning: one line per series, over steps that count from one.

    Parameters
    ----------
    series : dict
        The values of each series by name. Empty series are left out.
    chosen : int, optional
        The step that was kept, if it is not the last one.
    xlabel, ylabel : str
        Names of the steps and the values. The default of `ylabel` is the first series.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    lines = {name: np.asarray(values, float).ravel() for name, values in series.items()}
    lines = {name: values for name, values in lines.items() if values.size}
    if not lines:
        raise ParameterError(
            "this model was learned without steps, so there is no curve; choose a method with EM"
        )
    ax = new_axes(ax)
    for name, values in lines.items():
        ax.plot(np.arange(1, len(values) + 1), values, marker=".", label=name)
    if chosen is not None:
        ax.axvline(chosen, color="0.5", linestyle="--", linewidth=1, label="chosen")
    if len(lines) > 1 or chosen is not None:
        ax.legend()
    _use_whole_ticks(ax.xaxis)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel or next(iter(lines)))
    return ax


def bands(
    places: Sequence[Any],
    series: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    ylabel: str = "",
    ax: "Axes | None" = None,
) -> "Axes":
    """Values with intervals, over time or beside each other: one color per series.

    Parameters
    ----------
    places : sequence of date or str
        Dates are on an axis of time, with bands between them. Other names are beside each other,
        with bars.
    series : dict
        For each name the values, and the ends of their intervals. NaNs are left out.
    ylabel : str
        The name of the values.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    lines = {
        name: tuple(np.asarray(part, float).ravel() for part in parts)
        for name, parts in series.items()
    }
    n = len(places)
    if not n or not lines or any(len(part) != n for parts in lines.values() for part in parts):
        raise ParameterError("give a value and two ends of an interval for each place")
    ax = new_axes(ax, size=(7.2, 4.2))
    over_time = not any(isinstance(place, str) for place in places)
    for number, (name, (y, low, high)) in enumerate(lines.items()):
        color, style = f"C{number % 10}", {"label": _plain(name), "marker": "o", "markersize": 3}
        if over_time:
            x: Any = list(places)
            ax.plot(x, y, color=color, **style)
            ax.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
        else:
            x = np.arange(n) + 0.6 * ((number + 0.5) / len(lines) - 0.5)
            ends = np.nan_to_num(np.maximum([y - low, high - y], 0))
            ax.errorbar(x, y, ends, color=color, linestyle="", capsize=2, **style)
    if over_time:
        ax.tick_params(axis="x", rotation=30)
    else:
        rotation = 90 if n > _LABELS // 4 else 0
        ax.set_xticks(range(n), [_plain(place) for place in places], rotation=rotation)
    ax.set_ylim(bottom=0)
    ax.set_ylabel(ylabel)
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def reliability(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]], *, ax: "Axes | None" = None
) -> "Axes":
    """How often answers are right, by the probability that they were given: one line per model.

    A calibrated model is on the diagonal. Below it, a model is too sure; above it, not sure enough.

    Parameters
    ----------
    series : dict
        For each model the mean probability and the share of right answers of some bins, such as
        those of :func:`eigentext.evaluate.calibration`. Bins without answers (nan) are left out.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    lines = {
        name: tuple(np.asarray(part, float).ravel() for part in pair)
        for name, pair in series.items()
    }
    if not lines or any(p.shape != y.shape or not p.size for p, y in lines.values()):
        raise ParameterError("give the mean probability and the share of right answers of each bin")
    ax = new_axes(ax, size=(4.6, 4.4))
    ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1, label="calibrated")
    for name, (p, y) in lines.items():
        there = ~(np.isnan(p) | np.isnan(y))
        ax.plot(p[there], y[there], marker="o", markersize=4, label=name)
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("probability by the model")
    ax.set_ylabel("share of right answers")
    ax.legend()
    return ax


def points(
    X: ArrayLike,
    names: Sequence[str],
    *,
    groups: Sequence[Any] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Vectors as named points, on the plane that keeps most of their variance.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Two columns are drawn as they are. More columns are projected on their first two principal
        components; signs make the largest entry positive. Axis labels show the shares of variance.
    names : sequence of str
        One name per row.
    groups : sequence, optional
        One value per row. Rows of the same group get the same color.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or len(X) != len(names) or len(X) < 2 or X.shape[1] < 1:
        raise ParameterError(
            f"a map needs two points or more and a name for each, not {len(names)} names for an "
            f"array of shape {X.shape}"
        )
    Y, shares = _on_plane(X)
    ax = new_axes(ax, size=(7.2, 6.0))
    colors = ["C0"] * len(X)
    if groups is not None:
        place = {group: i for i, group in enumerate(dict.fromkeys(groups))}
        colors = [f"C{place[group] % 10}" for group in groups]
    ax.scatter(Y[:, 0], Y[:, 1], s=8, c=colors)
    ax.margins(x=0.15, y=0.08)  # names are to the right of their points
    for i, up in _apart(Y, names, ax):
        style = {"color": colors[i], "fontsize": _FONT, "textcoords": "offset points"}
        ax.annotate(_plain(names[i]), (Y[i, 0], Y[i, 1]), (3, up), **style)
    for axis, share, which in zip((ax.xaxis, ax.yaxis), shares, ("first", "second")):
        if share is not None:
            axis.set_label_text(f"{which} component ({share:.0%} of variance)")
        axis.set_ticks([])
    return ax


def topics(
    probabilities: Sequence[Sequence[float]],
    words: Sequence[Sequence[str]],
    titles: Sequence[str],
    *,
    n_columns: int = 4,
) -> "np.ndarray":
    """Bars of the top words of each topic, one panel per topic, all on one scale.

    Returns an array with one Axes per topic.
    """
    n = len(titles)
    if not n:
        raise ParameterError("no topics to draw; ask for one or more")
    n_columns = min(n_columns, n)
    n_rows = -(-n // n_columns)
    longest = max(map(len, words))
    figure = _figure((2.6 * n_columns, (0.7 + 0.2 * longest) * n_rows))
    panels = figure.subplots(n_rows, n_columns, sharex=True, squeeze=False).ravel()
    for ax, values, names, title in zip(panels, probabilities, words, titles):
        places = np.arange(len(names))
        ax.barh(places, values, color="C0")
        ax.set_yticks(places, [_plain(name) for name in names])
        ax.invert_yaxis()
        ax.set_title(title, fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in panels[n:]:
        ax.set_visible(False)
    return panels[:n]


def table(
    matrix: ArrayLike,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    xlabel: str = "",
    ylabel: str = "",
    ax: "Axes | None" = None,
) -> "Axes":
    """A matrix of probabilities as shades of color, with a color bar."""
    values = np.asarray(matrix, float)
    if values.ndim != 2 or not values.size:
        raise ParameterError(f"a table has rows and columns, not the shape {values.shape}")
    ax = new_axes(ax)
    image = ax.imshow(values, cmap="viridis", aspect="auto", vmin=min(0.0, float(values.min())))
    for axis, names in ((ax.xaxis, columns), (ax.yaxis, rows)):
        if names and len(names) <= _LABELS:
            axis.set_ticks(range(len(names)), [_plain(name) for name in names])
        else:
            _use_whole_ticks(axis)
    if columns:
        ax.tick_params(axis="x", rotation=90)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.figure.colorbar(image, ax=ax)
    return ax


def _figure(size: tuple[float, float]) -> "Figure":
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise EigentextError(
            "figures need matplotlib; run pip install 'eigentext[plot]'"
        ) from error
    return pyplot.figure(figsize=size, layout="constrained")


def _on_plane(X: np.ndarray) -> tuple[np.ndarray, tuple[float | None, float | None]]:
    """Two columns, and the share of the variance in each if `X` was projected."""
    if X.shape[1] == 2:
        return X, (None, None)
    centered = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centered, full_matrices=False)
    Y = np.zeros((len(X), 2))
    k = min(2, len(s))
    Y[:, :k] = U[:, :k] * s[:k]
    Y *= np.where(Y[np.abs(Y).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    shares = np.zeros(2)
    shares[:k] = s[:k] ** 2 / max(float(np.sum(s**2)), np.finfo(float).tiny)
    return Y, (float(shares[0]), float(shares[1]))


def _use_whole_ticks(axis: Any) -> None:
    """Put ticks only at whole numbers."""
    axis.get_major_locator().set_params(integer=True)


def _apart(Y: np.ndarray, names: Sequence[str], ax: "Axes") -> list[tuple[int, float]]:
    """The height of each name above its point, in points, so that no name covers another.

    Names are placed from the lowest to the highest. A name moves up above those that it would
    cover. Widths are estimates.
    """
    box = ax.get_position()
    size = ax.figure.get_size_inches() * 72 * [box.width, box.height]
    span = np.maximum(np.ptp(Y, axis=0), np.finfo(float).tiny)
    at = (Y - Y.min(axis=0)) / span * size * 0.8
    placed: list[tuple[float, float, float]] = []  # left, right and lower edge
    found = []
    for i in np.lexsort((at[:, 0], at[:, 1])).tolist():
        left, right = at[i, 0], at[i, 0] + 0.6 * _FONT * len(names[i])
        low = at[i, 1]
        for other_left, other_right, other_low in sorted(placed, key=lambda box: box[2]):
            beside = right < other_left or other_right < left
            if not beside and abs(low - other_low) < _FONT:
                low = other_low + _FONT
        placed.append((left, right, low))
        found.append((i, float(low - at[i, 1])))
    return sorted(found)


def _plain(name: str) -> str:
    return str(name).replace("$", r"\$")  # two dollar signs would start a formula
