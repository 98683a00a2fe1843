"""Look up vectors, and export them: neighbors, hubs, analogy, export."""

from collections.abc import Iterator
from typing import Annotated, Literal

import typer
from rich.markup import escape

from eigentext.cli._bundles import JsonFlag, QuietFlag, StreamOption
from eigentext.cli._console import print_json, print_plain, printer
from eigentext.cli._files import check_not_read, destination
from eigentext.cli._options import with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli.words._shared import ModelArgument, load_words
from eigentext.storage.valid_json import json_text

Format = Literal["word2vec", "word2vec-binary", "glove", "csv", "tsv", "jsonl", "parquet", "arrow"]
CountOption = Annotated[int, typer.Option("-n", "--topn", min=1, help="How many to print.")]


@with_options()
def neighbors(
    model: ModelArgument,
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    table: TableOptions,
    topn: CountOption = 10,
    reduce_hubs: Annotated[
        bool,
        typer.Option("--reduce-hubs", help="Put words back that are near to very many words."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Print the words nearest to each of the given words, by cosine."""
    from eigentext.words.export import neighbor_table

    format = table.chosen(json=json)
    check_not_read(table.output, [model])
    vectors = load_words(model)
    found = {word: vectors.most_similar(word, topn, reduce_hubs=reduce_hubs) for word in words}
    if format != PLAIN:
        write_result(neighbor_table(found), table.output, format)
    elif str(table.output) != "-":
        shown = [json_text(found, ascii_only=False)] if json else _lines(found)
        write_text((f"{line}\n" for line in shown), table.output)
    elif json:
        print_json(found)
    else:
        for line in _lines(found):
            print_plain(line, style=None if line.startswith(" ") else "bold")


def hubs(
    model: ModelArgument,
    topn: CountOption = 10,
    k: Annotated[int, typer.Option("-k", min=1, help="The length of lists of neighbors.")] = 10,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="Measure lists of `neighbors --reduce-hubs`.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Measure whether some words are neighbors of far too many others."""
    from eigentext.evaluate import hubness

    found = hubness(load_words(model), k=k, reduced=reduced)
    if json:
        print_json(found.to_dict())
        return
    print_plain(
        f"skewness {found.skewness:.2f}; {found.never:.1%} of {found.n_words:,} words are in no "
        f"list of {found.k} neighbors; the mean is {found.k} lists for each word"
    )
    for word, count in found.largest[:topn]:
        print_plain(f"  {word}  {count}")


def analogy(
    model: ModelArgument,
    a: Annotated[str, typer.Argument(help="The first word: a is to b …")],
    b: Annotated[str, typer.Argument(help="The second word.")],
    c: Annotated[str, typer.Argument(help="The third word: … as c is to which word?")],
    topn: CountOption = 5,
    method: Annotated[Literal["mul", "add"], typer.Option(help="3CosMul or 3CosAdd.")] = "mul",
    json: JsonFlag = False,
) -> None:
    """Print the words that are to c as b is to a."""
    found = load_words(model).analogy(a, b, c, topn, method)
    if json:
        print_json(found)
        return
    printer.print("[bold]{}[/] : [bold]{}[/] = [bold]{}[/] :".format(*map(escape, (a, b, c))))
    for line in _scored(found):
        print_plain(line)


def export(
    model: ModelArgument,
    output: StreamOption,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="The format of the file. The last five are tables with the columns word, count "
            "and vector.",
            show_default="by the ending of -o, or word2vec",
        ),
    ] = None,
    zero_vectors: Annotated[
        Literal["drop", "keep"],
        typer.Option(
            "--zero-vectors",
            help="Words that were always alone, so that their vectors are zero: drop or keep them.",
        ),
    ] = "drop",
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write the vectors in a format that gensim, pandas and others open."""
    from eigentext.words.export import vector_format

    chosen = vector_format(output, format)
    check_not_read(output, [model])
    vectors = load_words(model)
    with destination(output) as path:
        vectors.export(path, chosen, zero_vectors=zero_vectors)
    if str(output) == "-":
        return
    n_words, dim = vectors.vectors_.shape
    n_zero = n_words - int(vectors.vectors_.any(axis=1).sum())
    if zero_vectors == "drop":
        n_words -= n_zero
    if json:
        facts = {"output": str(output), "format": chosen, "n_words": n_words, "dim": dim}
        print_json(facts | ({"n_zero_vectors": n_zero} if n_zero else {}))
    elif not quiet:
        print_plain(f"{output}: {n_words:,} vectors of {dim} dimensions, {chosen} format")


def _lines(found: dict[str, list[tuple[str, float]]]) -> Iterator[str]:
    for word, near in found.items():
        yield word
        yield from _scored(near)


def _scored(found: list[tuple[str, float]]) -> Iterator[str]:
    for word, score in found:
        yield f"  {score:6.3f}  {word}"
