"""`eigentext topics show`: what the topics are, in the terminal or as a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import RunOptions
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import check_not_read, destination, inputs
from eigentext.cli._options import with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli._work import work
from eigentext.cli.topics._shared import (
    DocumentOptions,
    ModelArgument,
    load_topics,
    topic_lines,
    write_report,
)
from eigentext.errors import ParameterError
from eigentext.storage.valid_json import json_text
from eigentext.topics.parameters import RANK, Rank

if TYPE_CHECKING:
    from eigentext import TopicModel


@with_options()
def show(
    model: ModelArgument,
    reading: DocumentOptions,
    run: RunOptions,
    table: TableOptions,
    words: Annotated[
        int, typer.Option("--words", "-n", min=1, help="How many words of each topic to show.")
    ] = 12,
    rank: Annotated[
        Rank | None,
        typer.Option(
            help="The ranking of the words, such as probability.", show_default=RANK.default
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="Write an HTML page instead, to this file; - is standard output."
        ),
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            "--documents", metavar="FILE", help="Show typical documents from these on the page."
        ),
    ] = None,
) -> None:
    """Print the topics, largest first: number, share and top words.

    The words are probable in the topic, not in others, and not rare; plurals and other forms of a
    word are shown as one. --rank probability shows the most probable words. A table (--format) has
    a row for each word: topic, weight, rank, word, probability, forms.
    """
    format = table.chosen(json=run.json)
    if html is not None and (format != PLAIN or str(table.output) != "-"):
        raise ParameterError("--html and a table (-o, --format) exclude each other; choose one")
    topics = load_topics(model)
    if html is None:
        if documents:
            raise ParameterError("--documents are shown on a page; name it with --html FILE")
        check_not_read(table.output, [model])
        _write(topics, model, words, rank, run, table.output, format)
        return
    check_not_read(html, [model])
    files = documents or []
    with inputs(files) as (paths,), work(run):
        corpus = reading.corpus(topics, model, paths) if paths else None
        check_not_read(html, corpus.files if corpus is not None else ())
        with destination(html) as path:
            write_report(topics, path, corpus, files, paths, n_words=words, rank=rank)
    if str(html) == "-":
        return
    if run.json:
        print_json({"model": str(model), "html": str(html), "topics": _topics(topics, words, rank)})
    elif not run.quiet:
        print_plain(f"{html}: {topics.n_topics_} topics")


def _write(
    topics: "TopicModel",
    model: Path,
    words: int,
    rank: Rank | None,
    run: RunOptions,
    output: Path,
    format: str,
) -> None:
    if format != PLAIN:
        write_result(topics.to_arrow("words", n_words=words, rank=rank), output, format)
        return
    facts = {"model": str(model), "topics": _topics(topics, words, rank)} if run.json else None
    lines = [f"  {line}" for line in topic_lines(topics, words, rank)]
    if str(output) != "-":
        lines = [json_text(facts, ascii_only=False)] if facts else lines
        write_text((f"{line}\n" for line in lines), output)
    elif facts:
        print_json(facts)
    else:
        for line in lines:
            print_plain(line)


def _topics(model: "TopicModel", n_words: int, rank: Rank | None) -> list[dict[str, Any]]:
    top = model.top_words(n_words, rank=rank)
    return [
        {
            "topic": k,
            "weight": float(weight),
            "alpha": float(alpha),
            "words": [*zip(words, chances)],
        }
        for k, (weight, alpha, words, chances) in enumerate(
            zip(model.weights_, model.alpha_, top, top.probabilities)
        )
    ]
