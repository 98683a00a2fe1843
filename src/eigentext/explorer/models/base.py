"""What all models have in common: a name, facts, diagnostics, and queries by name."""

from collections.abc import Iterator
from typing import Any, ClassVar

from eigentext.explorer.asking import Arguments, RefusedError

Told = tuple[str, str]  # a level, which is "good", "note" or "warning", and a sentence
_LONGEST = 200  # characters of a parameter


class Explored:
    """A model and what can be asked of it.

    Attributes
    ----------
    kind
        As the page knows it.
    light, heavy
        Names of methods that answer queries: `light` ones in the server's own process, in
        milliseconds; `heavy` ones in a process that can be ended.
    """

    kind: str = "other"
    light: ClassVar[tuple[str, ...]] = ()
    heavy: ClassVar[tuple[str, ...]] = ()

    def __init__(self, model: Any, name: str):
        self.model, self.name = model, name

    @property
    def views(self) -> list[str]:
        """What the page may show of this very model."""
        return [*self.light, *self.heavy]

    def title(self) -> str:
        """What it is, in a few words."""
        return type(self.model).__name__

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Names and values; whole numbers get their commas later."""
        yield "model", type(self.model).__name__

    def told(self) -> Iterator[Told]:
        """Its diagnostics in plain words."""
        yield from ()

    def warm(self) -> None:
        """What a worker does before its time is counted: loading, compiling."""

    def ready(self) -> None:
        """What the server does before it answers `light` queries."""

    def ask(self, query: str, arguments: Arguments) -> dict[str, Any]:
        """Answer a query by its name."""
        if query not in (*self.light, *self.heavy):
            has = ", ".join(self.views) or "nothing to ask"
            raise RefusedError(404, f"{self.name} ({self.kind}) has no {query}; it has {has}")
        return getattr(self, query)(arguments)

    def about(self, number: int) -> dict[str, Any]:
        """Its entry in the list of models."""
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
            "diagnostics": [{"level": level, "text": text} for level, text in self.told()],
            "views": self.views,
        }

    # What diagnostics hold, whatever the model.

    @property
    def found(self) -> dict[str, Any]:
        """The model's diagnostics."""
        return getattr(self.model, "diagnostics_", {})

    @property
    def source(self) -> dict[str, Any]:
        """What it was learned from."""
        return getattr(self.model, "provenance_", {})


def spectrum_told(kept: list[float], dropped: list[float], what: str) -> Iterator[Told]:
    """What to think of singular values."""
    if not kept or not kept[-1] > 0:
        return
    if dropped:
        ratio = dropped[0] / kept[-1]
        if ratio > 0.9:
            yield (
                "note",
                f"The spectrum has no gap after {len(kept)} {what}: the next singular value is "
                f"{ratio:.0%} of the last one kept, so a few more or fewer would do as well.",
            )
        else:
            yield (
                "good",
                f"The spectrum falls after {len(kept)} {what}: the next singular value is "
                f"{ratio:.0%} of the last one kept.",
            )
    if kept[0] / kept[-1] > 1e6:
        yield (
            "warning",
            f"The largest singular value is {kept[0] / kept[-1]:,.0f} times the smallest kept, "
            "which may be noise; take fewer.",
        )


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; a nested model by its repr."""
    if value is None or isinstance(value, (bool, int, str)):
        return value if not isinstance(value, str) else value[:_LONGEST]
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    shown = repr(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
