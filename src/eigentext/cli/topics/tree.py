"""`eigentext topics tree`: which topics are near each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigentext.cli._bundles import JsonFlag
from eigentext.cli._files import check_not_read
from eigentext.cli._options import with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli.topics._shared import ModelArgument, load_topics
from eigentext.errors import ParameterError
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    from eigentext.topics.hierarchy import TopicTree


@with_options()
def tree(
    model: ModelArgument,
    table: TableOptions,
    words: Annotated[
        int, typer.Option("--words", "-n", min=1, help="How many words name a node.")
    ] = 5,
    groups: Annotated[
        int | None,
        typer.Option("--groups", min=1, help="Print only this many groups of topics."),
    ] = None,
    newick: Annotated[
        bool, typer.Option("--newick", help="Write the Newick format of trees.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Print the tree over the topics: near topics are merged first.

    A table (--format) has a row for each node: node, parent, topic, height, share, words.
    """
    format = table.chosen(json=json)
    if newick + json + (format != PLAIN) + (groups is not None) > 1:
        raise ParameterError(
            "--newick, --groups, --json and a table exclude each other; choose one"
        )
    topics = load_topics(model)
    check_not_read(table.output, [model])
    found = topics.hierarchy(n_words=words)
    if format != PLAIN:
        write_result(found.to_arrow(), table.output, format)
    else:
        lines = _lines(found, model, groups, newick=newick, json=json)
        write_text((f"{line}\n" for line in lines), table.output)


def _lines(
    found: "TopicTree", model: Path, groups: int | None, *, newick: bool, json: bool
) -> list[str]:
    if newick:
        return [found.to_newick()]
    if json:
        about = {"model": str(model), "tree": found.to_dict()}
        return [json_text(about, ascii_only=False)]
    if groups is None:
        return str(found).split("\n")
    return [
        f"{found.share(node):6.1%}  {' '.join(found.words[node])}  "
        f"({', '.join(map(str, sorted(found.topics[node])))})"
        for node in found.cut_nodes(groups)
    ]
