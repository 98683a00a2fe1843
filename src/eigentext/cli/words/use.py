"""Looking vectors up and handing them on: neighbors, analogy, export."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from eigentext.cli._console import (
    JsonFlag,
    QuietFlag,
    check_no_input,
    destination,
    print_json,
    printer,
)
from eigentext.cli.words._shared import ModelArgument, load_words

CountOption = Annotated[int, typer.Option("-n", "--topn", min=1, help="How many to print.")]


def neighbors(
    model: ModelArgument,
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    topn: CountOption = 10,
    json: JsonFlag = False,
) -> None:
    """The words nearest to each of the given ones, by cosine."""
    vectors = load_words(model)
    found = {word: vectors.most_similar(word, topn) for word in words}
    if json:
        print_json(found)
        return
    for word, near in found.items():
        printer.print(word, style="bold", markup=False)
        _print_scored(near)


def analogy(
    model: ModelArgument,
    a: Annotated[str, typer.Argument(help="a is to b …")],
    b: Annotated[str, typer.Argument()],
    c: Annotated[str, typer.Argument(help="… as c is to what?")],
    topn: CountOption = 5,
    method: Annotated[Literal["mul", "add"], typer.Option(help="3CosMul or 3CosAdd.")] = "mul",
    json: JsonFlag = False,
) -> None:
    """What is to c as b is to a?"""
    found = load_words(model).analogy(a, b, c, topn, method)
    if json:
        print_json(found)
        return
    printer.print("[bold]{}[/] : [bold]{}[/] = [bold]{}[/] :".format(*map(escape, (a, b, c))))
    _print_scored(found)


def export(
    model: ModelArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write; - is standard output.")
    ],
    format: Annotated[
        Literal["word2vec", "word2vec-binary", "glove"], typer.Option("--format")
    ] = "word2vec",
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write the vectors in a format that gensim and others open."""
    vectors = load_words(model)
    check_no_input(output, [model])
    with destination(output) as path:
        vectors.export(path, format)
    if str(output) == "-":
        return
    n_words, dim = vectors.vectors_.shape
    if json:
        print_json({"output": str(output), "format": format, "n_words": n_words, "dim": dim})
    elif not quiet:
        printer.print(
            f"{output}: {n_words:,} vectors of {dim} dimensions, {format} format", markup=False
        )


def _print_scored(found: list[tuple[str, float]]) -> None:
    for word, score in found:
        printer.print(f"  {score:6.3f}  {word}", markup=False)
