"""Look up vectors, and export them: neighbors, analogy, export."""

from typing import Annotated, Literal

import typer
from rich.markup import escape

from eigentext.cli._bundles import JsonFlag, QuietFlag, StreamOption
from eigentext.cli._console import print_json, print_plain, printer
from eigentext.cli._files import check_not_read, destination
from eigentext.cli.words._shared import ModelArgument, load_words

CountOption = Annotated[int, typer.Option("-n", "--topn", min=1, help="How many to print.")]


def neighbors(
    model: ModelArgument,
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    topn: CountOption = 10,
    json: JsonFlag = False,
) -> None:
    """Print the words nearest to each of the given words, by cosine."""
    vectors = load_words(model)
    found = {word: vectors.most_similar(word, topn) for word in words}
    if json:
        print_json(found)
        return
    for word, near in found.items():
        print_plain(word, style="bold")
        _print_scored(near)


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
    _print_scored(found)


def export(
    model: ModelArgument,
    output: StreamOption,
    format: Annotated[
        Literal["word2vec", "word2vec-binary", "glove"],
        typer.Option("--format", help="The format of the file."),
    ] = "word2vec",
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write the vectors in a format that gensim and others open."""
    vectors = load_words(model)
    check_not_read(output, [model])
    with destination(output) as path:
        vectors.export(path, format)
    if str(output) == "-":
        return
    n_words, dim = vectors.vectors_.shape
    if json:
        print_json({"output": str(output), "format": format, "n_words": n_words, "dim": dim})
    elif not quiet:
        print_plain(f"{output}: {n_words:,} vectors of {dim} dimensions, {format} format")


def _print_scored(found: list[tuple[str, float]]) -> None:
    for word, score in found:
        print_plain(f"  {score:6.3f}  {word}")
