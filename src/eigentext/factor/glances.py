"""What a notebook shows of a canonical correlation analysis."""

from typing import Any

from eigentext import notebook
from eigentext.notebook import Glance


def cca(model: Any) -> Glance:
    """The correlations."""
    found = model.diagnostics_
    return Glance(
        "canonical correlation analysis of two views",
        facts=[
            ("samples", found["n_samples"]),
            ("columns", f"{len(model.x_weights_):,} and {len(model.y_weights_):,}"),
            ("components", len(model.correlations_)),
            ("correlations", ", ".join(f"{float(one):.3f}" for one in model.correlations_[:6])),
        ],
        picture=notebook.spectrum(
            model.correlations_, found.get("next_correlations", ()), title="correlations"
        ),
        calls=[
            ("model.transform(X)", "the components of the first view"),
            ("model.transform(X, Y)", "those of both"),
            ("model.score(X, Y)", "the mean correlation"),
        ],
    )


GLANCES = {"CCA": cca}
