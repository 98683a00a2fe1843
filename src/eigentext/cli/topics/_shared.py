"""What the commands on topics share."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._files import load_kind
from eigentext.cli._fitting import Fitting
from eigentext.cli._text import SourceOptions, reading_of
from eigentext.errors import ParameterError

if TYPE_CHECKING:
    from eigentext import TextCorpus, TopicModel, TwoViewTopics
    from eigentext.topics.parameters import Rank

_TOPICS_SHOWN = 20
_WORDS_SHOWN = 8
ModelArgument = Annotated[Path, typer.Argument(help="A model written by `topics fit`.")]
UnitOption = Annotated[
    Literal["line", "document"] | None,
    typer.Option(
        help="What a document is: each line, or each file.",
        show_default="as in fit",
    ),
]
VectorsOption = Annotated[
    Path | None,
    typer.Option(metavar="MODEL", help="Word vectors of other text, of `words fit`."),
]
OldVectorsOption = Annotated[
    Path | None,
    typer.Option(
        "--vectors",
        metavar="MODEL",
        help="The word vectors that the model was learned with. Its file does not hold them.",
    ),
]
NewTopicsOption = Annotated[
    str,
    typer.Option(
        "--new-topics",
        metavar="NUMBER",
        help="How many topics to add behind the old ones; auto: those that stand out.",
    ),
]
FixedVocabularyFlag = Annotated[
    bool, typer.Option("--fixed-vocabulary", help="Keep the words of the model.")
]
RestartFlag = Annotated[
    bool,
    typer.Option("--restart", help="Forget the old topics; equal to fitting all documents again."),
]


@dataclass(kw_only=True)
class DocumentOptions(SourceOptions):
    """How documents are read."""

    unit: UnitOption = None

    def corpus(
        self, model: "TopicModel | TwoViewTopics", name: Path, paths: Sequence[Path]
    ) -> "TextCorpus":
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
    from eigentext import TopicModel, TwoViewTopics

    model = load_kind(path, (TopicModel, TwoViewTopics), "topics")
    if isinstance(model, TwoViewTopics):
        raise ParameterError(
            f"{path}: holds topics of two views; use `topics views show` or `topics views "
            "transform`, or Python"
        )
    return model


def growing(new_topics: str, fixed_vocabulary: bool, restart: bool) -> dict[str, Any]:
    """Return the arguments of `partial_fit` and `merge`."""
    if new_topics != "auto" and not (new_topics.isascii() and new_topics.isdigit()):
        raise ParameterError(
            f"--new-topics must be a whole number, 0 or more, or auto, not {new_topics!r}"
        )
    return {
        "new_topics": new_topics if new_topics == "auto" else int(new_topics),
        "fixed_vocabulary": fixed_vocabulary,
        "restart": restart,
    }


def report_growth(done: Fitting, model: "TopicModel", n_before: int) -> None:
    """Print what a model is after documents were added."""
    found, n_documents = model.diagnostics_, model.provenance_["n_documents"]
    n_new = found.get("n_new_topics", 0)
    facts = {
        "n_documents": n_documents,
        "n_documents_before": n_before,
        "n_tokens": model.provenance_["n_tokens"],
        "n_words": len(model.vocabulary_),
        "topics": model.n_topics_,
        "new_topics": n_new,
        "alpha0": model.alpha0_,
        "steps": len(found.get("perplexities", [])),
        "perplexity": next(reversed(found.get("perplexities", [])), None),
        "top_words": model.top_words(_WORDS_SHOWN),
    }
    told = f" ({n_new} new)" if n_new else ""
    details = topic_lines(model, _WORDS_SHOWN)[:_TOPICS_SHOWN]
    if n_new:  # they are the last ones
        details += topic_lines(model, _WORDS_SHOWN)[max(_TOPICS_SHOWN, model.n_topics_ - n_new) :]
    done.report(
        facts,
        f"{model.n_topics_} topics{told} over {len(model.vocabulary_):,} words of {n_documents:,} "
        f"documents, {n_documents - n_before:,} of them added",
        details,
    )


def write_report(
    model: "TopicModel",
    output: Path,
    documents: "TextCorpus | None" = None,
    files: Sequence[str] = (),
    paths: Sequence[Path] = (),
    n_words: int = 12,
    rank: "Rank | None" = None,
) -> None:
    """Write the page about topics. `files` are the names that the user gave for `paths`."""
    from eigentext import engine
    from eigentext.storage.files import replacing
    from eigentext.topics.report import report

    with engine.phase("report"):
        page = report(model, documents, n_words=n_words, rank=rank)
        for given, path in zip(files, paths):
            if given == "-":
                page = page.replace(escape(str(path)), "standard input")
        with replacing(output) as temporary:
            temporary.write_text(page, encoding="utf-8")


def topic_lines(model: "TopicModel", n_words: int, rank: "Rank | None" = None) -> list[str]:
    """Return a line for each topic: its number, its share, its words."""
    width = len(str(model.n_topics_ - 1))
    shown = zip(model.weights_.tolist(), model.topic_names_, model.top_words(n_words, rank=rank))
    return [
        f"{k:{width}}  {weight:6.1%}  {f'{name}: ' if name else ''}{' '.join(words)}"
        for k, (weight, name, words) in enumerate(shown)
    ]
