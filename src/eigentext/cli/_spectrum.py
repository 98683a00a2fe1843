"""A plot of singular values in a few lines of text.

The shape of the spectrum shows how many components to keep, and a coarse plot is enough to see it.
Each component has one column. If there are too many, a column stands for several neighbors, and
shows the largest. A character cell has eight steps. The y axis starts at zero. A positive value is
always visible; only zero leaves its column empty.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from eigentext.errors import ParameterError

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII = " .:#"  # for terminals that cannot print blocks
_WIDEST_BAR = 4  # columns of one component, if there are few


def spectrum_plot(
    singular_values: ArrayLike, *, width: int = 60, height: int = 8, ascii_only: bool = False
) -> str:
    """Draw singular values, largest first, as bars above the numbers of their components.

    Parameters
    ----------
    singular_values : array-like of shape (n_components,)
        Finite and not negative.
    width, height : int
        The largest number of columns, and the number of rows, without the axes.
    ascii_only : bool
        Use plain ASCII, for terminals whose encoding has no block characters.

    Returns
    -------
    str
        `height` + 2 lines of plain text, without color codes and without a newline at the end.
    """
    values = np.asarray(singular_values, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values) & (values >= 0)):
        raise ParameterError(
            "a spectrum is a list of at least one singular value, finite and not negative;"
            " pass the singular values of a model"
        )
    if width < 1 or height < 1:
        raise ParameterError(
            f"no room to plot in {width} by {height}; width and height must be at least 1"
        )

    n = len(values)
    columns = min(n, width) * max(1, min(width // n, _WIDEST_BAR))
    shown = np.arange(columns) * n // columns  # the first component in each column
    top = values.max() or 1.0
    ramp = _ASCII if ascii_only else _BLOCKS
    bars = _bars(np.maximum.reduceat(values, shown) / top, height, ramp)

    labels = [""] * height + ["0"]
    labels[0] = f"{top:.3g}"
    if height >= 4:
        labels[height // 2] = f"{top * (1 - height // 2 / height):.3g}"
    ticks, numbers = _component_axis(shown, n)
    side, corner, line, tick = "|+-+" if ascii_only else "│└─┴"
    axis = "".join(tick if column in ticks else line for column in range(columns))
    rows = [side + bar for bar in bars] + [corner + axis]
    margin = max(map(len, labels))
    lines = [f"{label:>{margin}} {row}" for label, row in zip(labels, rows, strict=True)]
    return "\n".join(text.rstrip() for text in [*lines, " " * (margin + 2) + numbers])


def _bars(fractions: np.ndarray, height: int, ramp: str) -> list[str]:
    """Return the rows, from the top, of bars that fill these fractions of the height."""
    steps = len(ramp) - 1
    filled = np.ceil(fractions * height * steps).astype(int)
    bottoms = steps * np.arange(height - 1, -1, -1)
    return ["".join(ramp[k] for k in np.clip(filled - bottom, 0, steps)) for bottom in bottoms]


def _component_axis(shown: np.ndarray, n: int) -> tuple[set[int], str]:
    """Return the columns with a tick, and the line of component numbers (from 1) below them."""
    columns = len(shown)
    spacing = (len(str(n)) + 4) * n / columns  # components from one number to the next
    magnitude = 10 ** math.floor(math.log10(max(spacing, 1)))
    step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= spacing)
    ticks: set[int] = set()
    line = ""
    for component in [1, *range(step + (step == 1), n + 1, step)]:
        last = np.searchsorted(shown, component - 1, side="right") - 1
        column = int(np.searchsorted(shown, shown[last]))  # the first column of a wide bar
        first = min(column, columns - len(str(component)))
        if not line or first > len(line):
            ticks.add(column)
            line = f"{line:{first}}{component}"
    return ticks, line
