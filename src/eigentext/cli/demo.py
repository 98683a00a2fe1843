"""`eigentext demo`: from text to neighbours in a minute, offline."""

import shlex
import time
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from eigentext.cli._console import (
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    can_print,
    check_model_path,
    check_no_input,
    peak_memory,
    print_json,
    printer,
    work,
)

_DIM = 100
_WINDOW = 3
_WIDTH = 100  # of what is printed
_WORDS = (
    "matrix",
    "sparse",
    "gradient",
    "error",
    "euclidean",
    "polynomial",
    "median",
    "distribution",
    "filter",
    "row",
    "float64",
    "classifier",
)


def demo(
    file: Annotated[
        Path | None, typer.Argument(help="Your own text; by default, text that is installed.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the model.")
    ] = Path("eigentext-demo.safetensors"),
    dim: Annotated[
        int | None,
        typer.Option("--dim", min=1, help="Dimension of the vectors; fewer for a short text."),
    ] = None,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn word vectors from the documentation of NumPy, SciPy and scikit-learn, or from FILE."""
    from eigentext import CooccurrenceMoments, Eigenwords, engine

    check_model_path(output)
    started = time.perf_counter()
    with work(quiet=quiet or json, threads=threads) as watch:
        corpus = _corpus(file)
        check_no_input(output, corpus.files)
        moments = CooccurrenceMoments.from_corpus(corpus, window=_WINDOW)
        min_count, n_words = _frequent_words(moments.vocabulary.counts)
        dim = dim or max(1, min(_DIM, n_words // 4))
        model = Eigenwords(dim, window=_WINDOW, min_count=min_count, keep_moments="whole")
        model.fit_moments(moments)
        with engine.phase("save"):
            model.save(output)
    seconds = time.perf_counter() - started
    words = [word for word in _WORDS if not file and word in model] or _some_words(model)
    neighbors = {word: [near for near, _ in model.most_similar(word, 6)] for word in words}
    if json:
        print_json(
            {
                "model": str(output),
                "n_tokens": moments.n_tokens,
                "n_words": len(model.vocabulary_),
                "dim": dim,
                "neighbors": neighbors,
                "phases": watch.times(),
                "seconds": round(seconds, 3),
                "peak_memory": peak_memory(),
            }
        )
    elif not quiet:
        _print_story(model, neighbors, watch.times(), seconds, output, file)


def _corpus(file: Path | None) -> Any:
    from eigentext import TextCorpus, engine

    options: dict[str, Any] = {"tokenizer": "simple", "lowercase": True}
    if file is not None:
        return TextCorpus(file, **options)
    from eigentext.cli._prose import docstring_prose

    with engine.phase("gather text"):
        return TextCorpus(docstring_prose(), kind="texts", **options)


def _frequent_words(counts: Any) -> tuple[int, int]:
    """The usual min_count, or a lower one for a short text; and how many words reach it."""
    numbers = ((least, int((counts >= least).sum())) for least in (5, 2, 1))
    return next((least, n_words) for least, n_words in numbers if n_words >= 50 or least == 1)


def _some_words(model: Any, n_words: int = 12) -> list[str]:
    """Longer words from the middle of the frequency list: those that people look for."""
    words = model.vocabulary_.words
    longer = [word for word in words if 3 < len(word) < 25 and word.isalpha()] or words
    step = max(1, min(len(longer), 1000) // n_words)
    return list(islice(longer, step // 2, None, step))[:n_words]


def _print_story(
    model: Any,
    neighbors: dict[str, list[str]],
    times: dict[str, float],
    seconds: float,
    output: Path,
    file: Path | None,
) -> None:
    from eigentext.cli._spectrum import spectrum_plot

    n_words, dim = model.vectors_.shape
    source = file or "the docstrings and comments of NumPy, SciPy and scikit-learn"
    printer.print(
        f"\n[bold]Words[/] from {escape(str(source))}\n"
        f"{model.provenance_['n_tokens']:,} tokens, {n_words:,} words, {dim} dimensions\n"
    )
    width = max(map(len, neighbors), default=0)
    for word, near in neighbors.items():
        line = f"  {word:{width}}  {', '.join(near)}"
        printer.print(line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}...", markup=False)
    printer.print("\n[bold]Singular values[/]\n")
    values = model.singular_values_
    printer.print(spectrum_plot(values, ascii_only=not can_print("█└┴─")), markup=False)
    printer.print("\n[bold]Time[/]")
    for name, taken in times.items():
        printer.print(f"  {name:16} {taken:6.2f} s")
    printer.print(f"  {'all':16} {seconds:6.2f} s, {peak_memory() / 1e6:,.0f} MB of memory at most")
    saved = shlex.quote(str(output))
    printer.print(f"\n[bold]Saved[/] as {escape(str(output))}. Next, you could type")
    printer.print(
        f"  eigentext words neighbors {saved} {shlex.join(list(neighbors)[:2])}\n"
        f"  eigentext words add {saved} MORE-TEXT\n"
        f"  eigentext words export {saved} -o vectors.txt\n"
        "  eigentext words fit YOUR-TEXT -o my-words --tokenizer simple --lowercase",
        markup=False,
    )
