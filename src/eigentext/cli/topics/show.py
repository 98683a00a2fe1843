"""`eigentext topics show`: what the topics are, in the terminal or as a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    ErrorsOption,
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    check_no_input,
    destination,
    inputs,
    print_json,
    printer,
    work,
)
from eigentext.cli.topics._shared import (
    ModelArgument,
    UnitOption,
    documents_for,
    load_topics,
    print_topics,
    write_report,
)
from eigentext.errors import ParameterError


def show(
    model: ModelArgument,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Of each topic.")] = 12,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page in HTML instead; - is standard output."),
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option("--documents", metavar="FILE", help="Typical ones of these, on the page."),
    ] = None,
    unit: UnitOption = None,
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """The topics, largest first: number, share and most probable words."""
    topics = load_topics(model)
    if html is None:
        if documents:
            raise ParameterError("--documents are shown on a page; name it with --html FILE")
        if json:
            print_json({"model": str(model), "topics": _topics(topics, words)})
        else:
            print_topics(topics, words)
        return
    check_no_input(html, [model])
    files = documents or []
    with inputs(files) as paths, work(quiet=quiet or json, threads=threads):
        corpus = documents_for(topics, paths, unit, errors, model) if paths else None
        if corpus is not None:
            check_no_input(html, corpus.files)
        with destination(html) as path:
            write_report(topics, path, corpus, files, paths, n_words=words)
    if str(html) == "-":
        return
    if json:
        print_json({"model": str(model), "html": str(html), "topics": _topics(topics, words)})
    elif not quiet:
        printer.print(f"{html}: {topics.n_topics_} topics", markup=False)


def _topics(model: Any, n_words: int) -> list[dict[str, Any]]:
    ids = model.vocabulary_.ids_of
    return [
        {
            "topic": k,
            "weight": float(weight),
            "alpha": float(alpha),
            "words": [*zip(words, p[ids(words)].tolist())],
        }
        for k, (weight, alpha, words, p) in enumerate(
            zip(model.weights_, model.alpha_, model.top_words(n_words), model.components_)
        )
    ]
