"""`eigentext topics shares`: topics over time, or by group."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._bundles import FilesArgument, RunOptions
from eigentext.cli._console import finite
from eigentext.cli._files import check_not_read, inputs
from eigentext.cli._options import with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli._text import no_words
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument, load_topics
from eigentext.errors import ParameterError
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    from eigentext.topics.shares import GroupShares


@with_options()
def shares(
    model: ModelArgument,
    files: FilesArgument,
    documents: DocumentOptions,
    table: TableOptions,
    run: RunOptions,
    by: Annotated[str, typer.Option("--by", metavar="COLUMN", help="Column with labels or dates.")],
    period: Annotated[
        Literal["year", "month", "week", "day", "auto"] | None,
        typer.Option(help="Group dates.", show_default="the values are labels"),
    ] = None,
    weights: Annotated[
        Literal["documents", "words"],
        typer.Option(help="Whether each document counts the same, or each known word."),
    ] = "documents",
    level: Annotated[
        float, typer.Option(help="The level of the intervals, between 0 and 1.")
    ] = 0.95,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="GROUP GROUP", help="Compare two groups: differences and p-values."),
    ] = None,
) -> None:
    """Print the share of each topic in the groups that a column of a table makes.

    Files are tables: --column names the text, and --by the labels or dates. A table (--format) has
    a row for each group and topic, with the ends of an interval. A star marks groups of fewer than
    ten documents.
    """
    format = table.chosen(json=run.json)
    if documents.column is None:
        raise ParameterError("name the column with the text: --column")
    topics = load_topics(model)
    check_not_read(table.output, [model])
    with inputs(files) as (paths,), work(run):
        corpus = documents.corpus(topics, model, paths)
        check_not_read(table.output, corpus.files)
        found = topics.shares_by(corpus, by, period=period, weights=weights, level=level)
        if not found.groups:
            raise no_words(files, "documents")
        result: Any = found if compare is None else found.difference(*compare)
    if format != PLAIN:
        write_result(result.to_arrow(), table.output, format)
        return
    if run.json:
        rows = [
            {name: finite(v) if isinstance(v, float) else v for name, v in _plain(row).items()}
            for row in result.to_arrow().to_pylist()
        ]
        lines = [json_text({"model": str(model), "rows": rows}, ascii_only=False)]
    else:
        lines = _lines(found) if compare is None else _differences(result)
    write_text((f"{line}\n" for line in lines), table.output)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose dates are strings."""
    return {name: v.isoformat() if hasattr(v, "isoformat") else v for name, v in row.items()}


def _lines(found: "GroupShares") -> list[str]:
    """A line for each group: its documents, and the shares of all topics in percent."""
    width = max(map(len, found.groups))
    head = "  ".join(f"{k:>4}" for k in range(found.shares.shape[1]))
    lines = [f"{'':{width}}  documents  {head}"]
    for g, (group, n) in enumerate(zip(found.groups, found.n_documents.tolist())):
        star = "*" if found.few[g] else " "
        cells = "  ".join(f"{100 * share:4.1f}" for share in found.shares[g])
        lines.append(f"{group:{width}}  {n:>8,}{star}  {cells}")
    return lines


def _differences(found: Any) -> list[str]:
    """A line for each topic: difference, interval, p-value, words."""
    return [
        f"{row['topic']:>3}  {row['difference']:+7.1%}  ({row['low']:+.1%} to {row['high']:+.1%})  "
        f"p {row['p']:.2g}, of all topics {row['adjusted_p']:.2g}  {row['words']}"
        for row in found.to_arrow().to_pylist()
    ]
