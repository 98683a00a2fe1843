"""Figures of a topic model."""

from typing import TYPE_CHECKING, Any

from eigentext import plots

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel


def draw(model: "TopicModel", kind: str, n_words: int, words: Any, ax: Any) -> Any:
    """Draw what :meth:`eigentext.TopicModel.plot` describes."""
    found = model.diagnostics_

    def draw_topics() -> Any:
        top = model.top_words(n_words, words=words)
        titles = [f"topic {k} ({w:.0%})" for k, w in enumerate(model.weights_)]
        return plots.topics(top.probabilities, top, titles)

    def draw_spectrum() -> Any:
        values, dropped = found["eigenvalues"], found["dropped"]
        return plots.spectrum(values, dropped, ylabel="eigenvalue of the pairs", ax=ax)

    def draw_curve() -> Any:
        steps = {
            "perplexity": found.get("perplexities", []),
            "change of the documents' topics": found.get("changes", []),  # of two views
        }
        return plots.curves(steps, xlabel="step of EM", ax=ax)

    kinds = {"topics": draw_topics, "spectrum": draw_spectrum, "curve": draw_curve}
    return plots.drawn(kind, kinds)
