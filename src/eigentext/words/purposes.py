"""Presets of Eigenwords: which windows serve which purpose.

A wide window finds words of the same topic ("doctor", "hospital"). The two words on each side, with
their places, find words that are used alike ("doctor", "lawyer"; "walk", "run"). Vectors may have
dimensions of both kinds. ``benchmarks/purposes.py`` measures what each preset is good at.
"""

from typing import Literal, NamedTuple

Purpose = Literal["topical", "balanced", "functional"]


class Plan(NamedTuple):
    """The values of the parameters that a purpose decides."""

    window: int
    beta: float
    narrow: int  # how many dimensions come from the narrow window
    narrow_weight: float


class _Preset(NamedTuple):
    window: int
    beta: float
    share: float  # of the dimensions that are narrow
    weight: float


_PRESETS: dict[Purpose | None, _Preset] = {
    None: _Preset(10, 0.5, 0, 0.15),
    "topical": _Preset(20, 0.5, 0, 0.15),
    "balanced": _Preset(20, 0.25, 0.2, 0.15),
    "functional": _Preset(10, 0.25, 0.5, 1.0),
}


def plan(
    purpose: Purpose | None,
    n_components: int,
    *,
    window: int | None = None,
    beta: float | None = None,
    narrow: int | None = None,
    narrow_weight: float | None = None,
) -> Plan:
    """The parameters that are given, and those of the purpose for the others.

    Examples
    --------
    >>> plan("balanced", 300)
    Plan(window=20, beta=0.25, narrow=60, narrow_weight=0.15)
    >>> plan(None, 300, window=5)
    Plan(window=5, beta=0.5, narrow=0, narrow_weight=0.15)
    """
    preset = _PRESETS[purpose]
    return Plan(
        preset.window if window is None else window,
        preset.beta if beta is None else beta,
        int(preset.share * n_components) if narrow is None else narrow,
        preset.weight if narrow_weight is None else narrow_weight,
    )
