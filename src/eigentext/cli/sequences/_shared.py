"""What the commands on language models share."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import Watch, peak_memory, print_json, printer
from eigentext.errors import EigentextError

LowercaseFlag = Annotated[bool, typer.Option("--lowercase", help="Lower the case.")]
UnitOption = Annotated[
    Literal["line", "document", "stream"],
    typer.Option(help="What has a start and an end; in a stream nothing has."),
]


def load_language_model(path: Path) -> Any:
    """A model that gives each token of a text a probability."""
    from eigentext.storage import load

    model = load(path)
    if not hasattr(model, "log_probabilities"):
        raise EigentextError(f"{path}: holds {model!r}, not a language model")
    return model


def reading_of(path: Path, model: Any) -> dict[str, Any]:
    """How text is read for a model: as the text was that it was learned from."""
    from eigentext.corpus.tokenizers import NAMED

    options = {"tokenizer": "none", "lowercase": False, "unit": "line"}
    options |= model.provenance_["options"]
    if options["tokenizer"] == "none":  # lists of words in Python; in a file, blanks part them
        options["tokenizer"] = "whitespace"
    if options["tokenizer"] not in NAMED:
        raise EigentextError(
            f"{path} was learned with the tokenizer {options['tokenizer']!r}, which the command "
            "line does not have; score the text in Python with perplexity"
        )
    return options


def report_fit(
    model: Any,
    output: Path,
    told: dict[str, Any],
    summary: str,
    watch: Watch,
    seconds: float,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print what was learned (`told` to machines, `summary` to people), and what it took."""
    n_tokens, n_words = model.provenance_["n_tokens"], len(model.vocabulary_)
    cost = {"seconds": round(seconds, 3), "phases": watch.times(), "peak_memory": peak_memory()}
    if json:
        about = {"model": str(output), "n_tokens": n_tokens, "n_words": n_words}
        print_json({**about, **told, **cost})
    elif not quiet:
        printer.print(
            f"{output}: {summary} over {n_words:,} words from {n_tokens:,} tokens; "
            f"{seconds:.1f} s, {cost['peak_memory'] / 1e6:,.0f} MB at most",
            markup=False,
        )
