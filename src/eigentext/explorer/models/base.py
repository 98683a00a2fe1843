"""The common part of all models: a name, facts, findings, and queries by name."""

from collections.abc import Iterator
from typing import Any, ClassVar

from eigentext.estimators import SEVERITIES, Finding, Findings
from eigentext.explorer.asking import Arguments, RefusedError

Fact = tuple[str, int | float | str]
_LONGEST = 200  # the characters of a parameter that the page shows
_NOISE = 1e6  # if the largest singular value is more times the smallest one, that may be noise


class Explored:
    """A model and its queries.

    Attributes
    ----------
    kind
        The page's name for this kind of model.
    light, heavy
        The names of the methods that answer queries. The process of the server answers the `light`
        ones, in milliseconds. Worker processes, which can be ended, answer the `heavy` ones.
    """

    kind: str = "other"
    light: ClassVar[tuple[str, ...]] = ()
    heavy: ClassVar[tuple[str, ...]] = ()

    def __init__(self, model: Any, name: str):
        self.model, self.name = model, name

    @property
    def views(self) -> list[str]:
        """The views of this model that the page may show."""
        return [*self.light, *self.heavy]

    def title(self) -> str:
        """The model in a few words."""
        return type(self.model).__name__

    def facts(self) -> Iterator[Fact]:
        """Yield names and values. Whole numbers get their commas later."""
        yield "model", type(self.model).__name__

    def findings(self) -> list[Finding]:
        """Return what the model says about itself, the most severe finding first."""
        own = self.model.findings() if isinstance(self.model, Findings) else []
        return sorted(
            [*own, *self.more_findings()], key=lambda one: -SEVERITIES.index(one.severity)
        )

    def more_findings(self) -> Iterator[Finding]:
        """Yield findings that the model itself does not have."""
        yield from ()

    def warm(self) -> None:
        """Load and compile. A worker does this before its first query, whose time is limited."""

    def ready(self) -> None:
        """Prepare for `light` queries. The server does this before it answers."""

    def ask(self, query: str, arguments: Arguments) -> dict[str, Any]:
        """Answer the query with this name."""
        if query not in (*self.light, *self.heavy):
            has = ", ".join(self.views) or "nothing to ask"
            raise RefusedError(404, f"{self.name} ({self.kind}) has no {query}; it has {has}")
        return getattr(self, query)(arguments)

    def about(self, number: int) -> dict[str, Any]:
        """Return the entry of this model in the list of models."""
        return {
            "id": number,
            "name": self.name,
            "kind": self.kind,
            "title": self.title(),
            "parameters": {
                name: _plain(value) for name, value in self.model.get_params(deep=False).items()
            }
            if hasattr(self.model, "get_params")
            else {},
            "facts": [[name, _shown(value)] for name, value in self.facts()],
            "diagnostics": [
                {"level": one.severity, "text": f"{one.sentence} {one.remedy}".strip()}
                for one in self.findings()
            ],
            "views": self.views,
        }

    @property
    def found(self) -> dict[str, Any]:
        """The diagnostics of the model."""
        return getattr(self.model, "diagnostics_", {})

    @property
    def source(self) -> dict[str, Any]:
        """The facts about the data that the model was learned from."""
        return getattr(self.model, "provenance_", {})


def findings_of_noise(kept: list[float], what: str) -> Iterator[Finding]:
    """Warn if the smallest of the singular values that a model keeps may be noise."""
    if kept and kept[-1] > 0 and kept[0] / kept[-1] > _NOISE:
        yield Finding(
            "warning",
            f"The largest singular value is {kept[0] / kept[-1]:,.0f} times the smallest one kept, "
            "which may be noise.",
            f"Ask for fewer {what}.",
        )


def _shown(value: int | float | str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: object) -> bool | int | float | str | None:
    """The value of a parameter in a form that JSON has. A nested model becomes its repr."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, str):
        return value[:_LONGEST]
    shown = repr(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
