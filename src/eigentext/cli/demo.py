"""`eigentext demo`: from text to neighbours in a minute, offline."""

import time
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    can_print,
    peak_memory,
    print_json,
    printer,
    work,
)

_DIM = 100
_WINDOW = 3
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
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn word vectors from the documentation of NumPy, SciPy and scikit-learn, or from FILE."""
    from eigentext import CooccurrenceMoments, Eigenwords, engine
    from eigentext.storage import check_writable

    check_writable(output)
    started = time.perf_counter()
    with work(quiet=quiet or json, threads=threads) as watch:
        corpus = _corpus(file)
        moments = CooccurrenceMoments.from_corpus(corpus, window=_WINDOW)
        cut = moments.restrict(min_count=5)
        # A short text has fewer words than the usual number of dimensions.
        dim = max(1, min(_DIM, len(cut.vocabulary) // 4))
        model = Eigenwords(dim, window=_WINDOW, min_count=5, keep_moments="whole")
        model.fit_moments(moments)
        with engine.phase("save"):
            model.save(output)
    seconds = time.perf_counter() - started
    words = _some_words(model) if file else [word for word in _WORDS if word in model]
    neighbors = {word: [near for near, _ in model.most_similar(word, 6)] for word in words}
    if json:
        print_json(
            {
                "model": str(output),
                "n_tokens": moments.n_tokens,
                "n_words": len(model.vocabulary_),
                "neighbors": neighbors,
                "phases": watch.times(),
                "seconds": round(seconds, 3),
                "peak_memory": peak_memory(),
            }
        )
        return
    _print_story(model, neighbors, watch.times(), seconds, output, file)


def _corpus(file: Path | None) -> Any:
    from eigentext import TextCorpus, engine

    if file is not None:
        return TextCorpus(file, tokenizer="simple", lowercase=True)
    from eigentext.cli._prose import docstring_prose

    with engine.phase("gather text"):
        return TextCorpus(docstring_prose(), kind="texts")


def _some_words(model: Any, n_words: int = 12) -> list[str]:
    """Longer words from the middle of the frequency list: those that people look for."""
    longer = [word for word in model.vocabulary_ if len(word) > 3 and word.isalpha()]
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
        f"\n[bold]Words[/] from {source}: {model.provenance_['n_tokens']:,} tokens, "
        f"{n_words:,} words, {dim} dimensions.\n"
    )
    width = max(map(len, neighbors), default=0)
    for word, near in neighbors.items():
        printer.print(f"  {word:{width}}  {', '.join(near)}", markup=False)
    printer.print("\n[bold]Singular values[/]\n")
    values = model.singular_values_
    printer.print(spectrum_plot(values, ascii_only=not can_print("█└┴─")), markup=False)
    printer.print("\n[bold]Time[/]")
    for name, taken in times.items():
        printer.print(f"  {name:16} {taken:6.2f} s")
    printer.print(f"  {'all':16} {seconds:6.2f} s, {peak_memory() / 1e6:,.0f} MB of memory at most")
    one, two, *_ = [*neighbors, "this", "that"]
    printer.print(
        f"""
[bold]Saved[/] as {output}. Next, you could type
  eigentext words neighbors {output} {one} {two}
  eigentext words add {output} MORE-TEXT
  eigentext words export {output} -o vectors.txt
  eigentext words fit YOUR-TEXT -o my-words --tokenizer simple --lowercase
""".rstrip()
    )
