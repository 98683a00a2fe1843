"""What the commands on topics share."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import printer
from eigentext.errors import EigentextError

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `topics fit`.")]
UnitOption = Annotated[
    Literal["line", "document"] | None,
    typer.Option(
        help="What a document is: each line, or each file.",
        show_default="what it was in fit",
    ),
]


def load_topics(path: Path) -> Any:
    """The topics in a file."""
    from eigentext import TopicModel
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, TopicModel):
        raise EigentextError(f"{path}: holds {model!r}, not topics")
    return model


def documents_for(model: Any, paths: list[Path], unit: str | None, errors: str, name: Path) -> Any:
    """Files as documents, read as those were that the model (of that name) was learned from."""
    from eigentext import TextCorpus
    from eigentext.corpus.tokenizers import NAMED

    learned = {"tokenizer": "words", "lowercase": True, "unit": "line"}
    learned |= model.provenance_["options"]
    reading: dict[str, Any] = {"unit": unit or learned["unit"], "errors": errors}
    for option in ("tokenizer", "lowercase"):
        reading[option] = learned[option]
    if reading["tokenizer"] == "none":  # lists of words in Python; in a file, blanks part them
        reading["tokenizer"] = "whitespace"
    if reading["tokenizer"] not in NAMED:
        raise EigentextError(
            f"{name} was learned with the tokenizer {reading['tokenizer']!r}, which the command "
            "line does not have; use it in Python, with eigentext.load"
        )
    return TextCorpus(paths, **reading)


def write_report(
    model: Any,
    output: Path,
    documents: Any = None,
    files: Sequence[str] = (),
    paths: Sequence[Path] = (),
    n_words: int = 12,
) -> None:
    """Write the page about topics; `files` are the names that `paths` were given by."""
    from eigentext import engine
    from eigentext.storage.files import replacing
    from eigentext.topics.report import report

    with engine.phase("report"):
        page = report(model, documents, n_words=n_words)
        for given, path in zip(files, paths):
            if given == "-":
                page = page.replace(escape(str(path)), "standard input")
        with replacing(output) as temporary:
            temporary.write_text(page, encoding="utf-8")


def print_topics(model: Any, n_words: int, n_topics: int | None = None) -> None:
    """A line for each topic: its number, its share, its words."""
    shown = list(zip(model.weights_.tolist(), model.top_words(n_words)))[:n_topics]
    width = len(str(len(shown) - 1))
    for k, (weight, words) in enumerate(shown):
        printer.print(f"  {k:{width}}  {weight:6.1%}  {' '.join(words)}", markup=False)
