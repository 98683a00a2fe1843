"""What the commands on topics share."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eigentext.cli._files import load_kind
from eigentext.cli._text import SourceOptions, reading_of

if TYPE_CHECKING:
    from eigentext import TextCorpus, TopicModel

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `topics fit`.")]
UnitOption = Annotated[
    Literal["line", "document"] | None,
    typer.Option(
        help="What a document is: each line, or each file.",
        show_default="as in fit",
    ),
]


@dataclass(kw_only=True)
class DocumentOptions(SourceOptions):
    """How documents are read."""

    unit: UnitOption = None

    def corpus(self, model: "TopicModel", name: Path, paths: Sequence[Path]) -> "TextCorpus":
        """Return the documents in files, read as those that the model was learned from.

        `name` is the model's file, for errors.
        """
        from eigentext import TextCorpus

        remedy = "use it in Python, with eigentext.load"
        reading = reading_of(name, model, remedy, tokenizer="words", lowercase=True)
        reading["unit"] = self.unit or reading["unit"]
        return TextCorpus(paths, **self.source(), **reading)


def load_topics(path: Path) -> "TopicModel":
    """Load topics."""
    from eigentext import TopicModel

    return load_kind(path, TopicModel, "topics")


def write_report(
    model: "TopicModel",
    output: Path,
    documents: "TextCorpus | None" = None,
    files: Sequence[str] = (),
    paths: Sequence[Path] = (),
    n_words: int = 12,
) -> None:
    """Write the page about topics. `files` are the names that the user gave for `paths`."""
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


def topic_lines(model: "TopicModel", n_words: int) -> list[str]:
    """Return a line for each topic: its number, its share, its words."""
    width = len(str(model.n_topics_ - 1))
    shown = zip(model.weights_.tolist(), model.topic_names_, model.top_words(n_words))
    return [
        f"{k:{width}}  {weight:6.1%}  {f'{name}: ' if name else ''}{' '.join(words)}"
        for k, (weight, name, words) in enumerate(shown)
    ]
