"""The terminal plot of a spectrum: heights are values, and it never outgrows its frame."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eigentext.cli._spectrum import spectrum_plot
from eigentext.errors import ParameterError

RAMPS = {False: " ▁▂▃▄▅▆▇█", True: " .:#"}

spectra = arrays(
    np.float64, st.integers(1, 300), elements=st.floats(0, allow_infinity=False, allow_nan=False)
).map(lambda values: np.sort(values)[::-1])
sizes = {"width": st.integers(1, 80), "height": st.integers(1, 12), "ascii_only": st.booleans()}


def bar_heights(plot: str, *, ascii_only: bool = False) -> list[int]:
    """Read the plot back: the steps filled in each column, which must have no holes."""
    ramp = RAMPS[ascii_only]
    *bars, axis, _ = plot.split("\n")
    left = axis.index("+" if ascii_only else "└") + 1
    columns = len(axis) - left
    rows = [[ramp.index(cell) for cell in row[left:].ljust(columns)] for row in bars]
    full = len(ramp) - 1
    for column in zip(*rows):
        assert all(below == full for above, below in pairwise(column) if above)
    return [sum(column) for column in zip(*rows)]


@settings(deadline=None)
@given(values=spectra, **sizes)
def test_heights_fall_with_the_values_inside_the_frame(values, width, height, ascii_only):
    plot = spectrum_plot(values, width=width, height=height, ascii_only=ascii_only)
    heights = bar_heights(plot, ascii_only=ascii_only)
    full = height * (len(RAMPS[ascii_only]) - 1)

    assert len(heights) <= width
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == (full if values[0] > 0 else 0)
    lines = plot.split("\n")
    assert len(lines) == height + 2
    left = lines[-2].index("+" if ascii_only else "└") + 1
    assert all(len(line) <= left + width for line in lines)
    assert plot.isascii() or not ascii_only
    assert "\x1b" not in plot


@settings(deadline=None)
@given(values=spectra.filter(lambda values: len(values) <= 60))
def test_where_each_component_has_its_column_only_zero_is_empty(values):
    heights = bar_heights(spectrum_plot(values))
    bar = len(heights) // len(values)
    assert len(heights) == bar * len(values)
    steps = np.array(heights).reshape(-1, bar)
    assert np.all(steps == steps[:, :1])
    scaled = values / (values.max() or 1.0)
    assert np.array_equal(steps[:, 0] > 0, scaled > 0)
    assert np.all(np.abs(steps[:, 0] - 64 * scaled) <= 1)


def test_a_known_plot():
    assert spectrum_plot([4.0, 3.0, 1.0, 0.0], width=8, height=4) == "\n".join(
        [
            "4 │██",
            "  │████",
            "2 │████",
            "  │██████",
            "0 └┴───────",
            "   1",
        ]
    )


def test_the_axis_counts_components_from_one():
    *_, numbers = spectrum_plot(np.arange(100, 0, -1), width=60).split("\n")
    assert numbers.split() == ["1", "20", "40", "60", "80", "100"]


def test_many_components_share_columns_and_the_largest_shows():
    values = np.zeros(1000)
    values[:1] = 1.0
    heights = bar_heights(spectrum_plot(values, width=10))
    assert heights == [64] + [0] * 9


@pytest.mark.parametrize("values", [[7.0], [2.0] * 10, [1e308] * 3, [5e-324]])
def test_equal_values_fill_the_frame(values):
    assert set(bar_heights(spectrum_plot(values))) == {64}


def test_zeros_draw_an_empty_frame_that_starts_at_zero():
    plot = spectrum_plot(np.zeros(5))
    assert set(bar_heights(plot)) == {0}
    assert plot.split("\n")[-2].startswith("  0 └")


@pytest.mark.parametrize("values", [[], [[1.0]], [np.nan], [np.inf], [1.0, -1.0]])
def test_what_is_no_spectrum_is_an_error(values):
    with pytest.raises(ParameterError, match="singular value"):
        spectrum_plot(values)


@pytest.mark.parametrize("size", [{"width": 0}, {"height": 0}])
def test_no_room_is_an_error(size):
    with pytest.raises(ParameterError, match="at least 1"):
        spectrum_plot([1.0], **size)
