"""Figures of what models are made of: spectra, curves, maps of words, topics, tables.

These draw plain numbers and know no model; `model.plot()` of an estimator calls them with its own.
All draw into `ax`, or a new figure, and return the Axes: titles, sizes and files are matplotlib's,
``model.plot().figure.savefig("map.svg")``. Matplotlib is loaded when something is drawn, and is no
dependency: ``pip install 'eigentext[plot]'``. The same numbers give the same picture.
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


def new_axes(ax: Any = None, *, size: tuple[float, float] = (6.4, 4.0)) -> "Axes":
    """The Axes given, or those of a new figure of so many inches."""
    return _figure(size).subplots() if ax is None else ax


def drawn(kind: str, kinds: Mapping[str, Callable[[], "Axes"]]) -> "Axes":
    """The figure of that kind, of those that a model has."""
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
    ax: Any = None,
) -> "Axes":
    """The values a decomposition kept, the next ones that it dropped, and what was noise.

    The axis starts at zero, so that heights compare as the values do; a gap between the last kept
    and the first dropped says that their number is a natural one.

    Parameters
    ----------
    kept, dropped : array-like of float
        Largest first.
    noise : float, optional
        The level that values have to rise above, as a line.
    ylabel : str
        What they are: singular values, correlations, …
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
    ax: Any = None,
) -> "Axes":
    """How learning went: a line for each series, over its steps from one.

    Parameters
    ----------
    series : dict
        Values by name; empty ones are left out.
    chosen : int, optional
        The step that was kept, where that is not the last.
    xlabel, ylabel : str
        What steps and values are; by default values are what the first series is called.
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
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel or next(iter(lines)))
    return ax


def points(
    X: ArrayLike, names: Sequence[str], *, groups: Sequence[Any] | None = None, ax: Any = None
) -> "Axes":
    """Vectors as named points, on the plane through their mean that keeps most of their variance.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Two columns are drawn as they are; more are projected on their two principal components,
        each with the sign that makes its largest entry positive. The axes say how much of the
        variance they show.
    names : sequence of str
        One for each row.
    groups : sequence, optional
        One for each row: equal ones get one colour.
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
    colours = ["C0"] * len(X)
    if groups is not None:
        place = {group: i for i, group in enumerate(dict.fromkeys(groups))}
        colours = [f"C{place[group] % 10}" for group in groups]
    ax.scatter(Y[:, 0], Y[:, 1], s=8, c=colours)
    ax.margins(x=0.15, y=0.08)  # names stand to the right of their points
    for i, up in _apart(Y, names, ax):
        style = {"color": colours[i], "fontsize": _FONT, "textcoords": "offset points"}
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
    """Bars of each topic's most probable words, a panel for each, on one scale.

    Returns the array of Axes, one for each topic.
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
    ax: Any = None,
) -> "Axes":
    """A matrix of probabilities as shades, with a bar that tells what they mean."""
    values = np.asarray(matrix, float)
    if values.ndim != 2 or not values.size:
        raise ParameterError(f"a table has rows and columns, not the shape {values.shape}")
    ax = new_axes(ax)
    image = ax.imshow(values, cmap="viridis", aspect="auto", vmin=min(0.0, float(values.min())))
    for axis, names in ((ax.xaxis, columns), (ax.yaxis, rows)):
        if names and len(names) <= _LABELS:
            axis.set_ticks(range(len(names)), [_plain(name) for name in names])
        else:
            axis.get_major_locator().set_params(integer=True)
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
    """Two columns, and the share of the variance in each if they had to be found."""
    if X.shape[1] == 2:
        return X, (None, None)
    centred = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    Y = np.zeros((len(X), 2))
    k = min(2, len(s))
    Y[:, :k] = U[:, :k] * s[:k]
    Y *= np.where(Y[np.abs(Y).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    shares = np.zeros(2)
    shares[:k] = s[:k] ** 2 / max(float(np.sum(s**2)), np.finfo(float).tiny)
    return Y, (float(shares[0]), float(shares[1]))


def _apart(Y: np.ndarray, names: Sequence[str], ax: Any) -> list[tuple[int, float]]:
    """How far above its point each name stands, in points, so that none covers one below it.

    From the lowest up, a name is lifted over the names that it would cover; widths are estimates.
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
    return str(name).replace("$", r"\$")  # two of these would be a formula
