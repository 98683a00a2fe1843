"""Figures of a hidden Markov model."""

from typing import Any

from eigentext import plots
from eigentext.errors import ParameterError


def draw(model: Any, kind: str | None, ax: Any) -> Any:
    """Draw what :meth:`eigentext.HMM.plot` describes."""
    values = model.diagnostics_.get("singular_values", ())
    kind = kind or ("spectrum" if len(values) else "transitions")

    def draw_spectrum() -> Any:
        if not len(values):
            raise ParameterError("EM alone has no spectrum; method='spectral+em' has one")
        m, noise = model.diagnostics_["rank"], model.diagnostics_.get("noise")
        return plots.spectrum(values[:m], values[m:], noise=noise, ax=ax)

    def draw_curve() -> Any:
        series = {"log-likelihood per token": getattr(model, "history_", [])}
        return plots.curves(series, xlabel="pass of EM", ax=ax)

    def draw_transitions() -> Any:
        return plots.table(model.transition_, xlabel="next state", ylabel="state", ax=ax)

    return plots.drawn(
        kind, {"spectrum": draw_spectrum, "curve": draw_curve, "transitions": draw_transitions}
    )
