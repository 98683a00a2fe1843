"""What the commands on language models share."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentext.cli import _text
from eigentext.cli._fitting import Fitting
from eigentext.errors import EigentextError

if TYPE_CHECKING:
    from eigentext import HMM, BigramModel, ClassBigram, KneserNey, WeightedAutomaton

    LanguageModel = KneserNey | BigramModel | ClassBigram | HMM | WeightedAutomaton


def reading_of(path: Path, model: "LanguageModel") -> dict[str, Any]:
    """Return how text is read for a model: as the text was that it was learned from."""
    return _text.reading_of(path, model, "score the text in Python with perplexity")


def load_language_model(path: Path) -> "LanguageModel":
    """Load a model that gives each token of a text a probability."""
    from eigentext.storage import load

    model: Any = load(path)
    if not hasattr(model, "log_probabilities"):
        raise EigentextError(f"{path}: holds {model!r}, not a language model")
    return model


def report_fit(
    fit: Fitting, model: "LanguageModel", facts: Mapping[str, object], summary: str
) -> None:
    """Print what was learned: the facts for machines, the summary for people."""
    n_tokens, n_words = model.provenance_["n_tokens"], len(model.vocabulary_)
    fit.report(
        {"n_tokens": n_tokens, "n_words": n_words, **facts},
        f"{summary} over {n_words:,} words from {n_tokens:,} tokens",
    )
