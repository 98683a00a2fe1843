"""`eigentext topics compare`: the topics that two models share, and those that they do not."""

from pathlib import Path
from typing import Annotated

import typer

from eigentext.cli._bundles import RunOptions
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import check_not_read, inputs
from eigentext.cli._options import with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, load_topics
from eigentext.errors import ParameterError
from eigentext.storage.valid_json import json_text


@with_options()
def compare(
    a: Annotated[
        Path, typer.Argument(help="A model written by `topics fit`, such as the old one.")
    ],
    b: Annotated[Path, typer.Argument(help="Another model, such as the new one.")],
    reading: DocumentOptions,
    run: RunOptions,
    table: TableOptions,
    words: Annotated[
        int, typer.Option("--words", "-n", min=0, help="How many words of each topic to show.")
    ] = 8,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The likeness that a match needs.",
            show_default="more than nearly all topics of one model have",
        ),
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            "--documents",
            metavar="FILE",
            help="Also say, in JSON, how often each pair of topics is the largest in these.",
        ),
    ] = None,
) -> None:
    """Say which topics of two models are the same, split, merged, new or gone.

    Words are compared by their names. A table (--format) has a row for each line: kind, topics of
    both, shares, likeness, words.
    """
    from eigentext.topics import compare as compared

    format = table.chosen(json=run.json)
    if documents and not run.json:
        raise ParameterError("what --documents say is only in JSON; add --json")
    old, new = load_topics(a), load_topics(b)
    check_not_read(table.output, [a, b])
    with inputs(documents or []) as (paths,), work(run, bars=False):
        corpus = reading.corpus(new, b, paths) if paths else None
        found = compared(old, new, corpus, n_words=words, threshold=threshold)
    if format != PLAIN:
        write_result(found.to_arrow(), table.output, format)
        return
    facts = {"a": str(a), "b": str(b), **found.to_dict()}
    if str(table.output) != "-":
        told = json_text(facts, ascii_only=False) if run.json else str(found)
        write_text([f"{told}\n"], table.output)
    elif run.json:
        print_json(facts)
    else:
        for line in str(found).splitlines():
            print_plain(line)
