"""`eigentext grammar parse` and `nbest`: sentences in, trees out."""

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from json import dumps
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eigentext.cli._console import (
    ClusterOption,
    ErrorsOption,
    QuietFlag,
    ThreadsOption,
    check_no_input,
    messages,
    work,
)
from eigentext.cli._lines import in_step, input_paths, line_writer, read_lines
from eigentext.cli.grammar._shared import (
    DecodingOption,
    LinesOption,
    ModelArgument,
    PruneOption,
    SentencesArgument,
    TauOption,
    load_grammar,
    told_speed,
)

JsonLinesFlag = Annotated[bool, typer.Option("--json", help="One JSON object for each line.")]


def parse(
    model: ModelArgument,
    files: SentencesArgument = None,
    output: LinesOption = Path("-"),
    decoding: DecodingOption = None,
    prune: PruneOption = None,
    tau: TauOption = None,
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    json: JsonLinesFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """A tree for each line of words, in Penn brackets; an empty line for an empty line.

    Lines are read and answered as they come, some ahead for each thread; with --threads 1 each is
    answered before the next is read.
    """

    def answers(grammar: Any, sentences: Iterator[list[str]]) -> Iterator[Any]:
        return grammar.parses(sentences)

    def answer(parsed: Any) -> _Answer:
        told = {name: getattr(parsed, name, None) for name in ("log_probability", "fallback")}
        tree = None if parsed is None else str(parsed.tree)
        is_fallback = told["fallback"] is not None
        told["log_probability"] = _finite(told["log_probability"])
        return _Answer(tree or "", {"tree": tree, **told}, is_fallback)

    options = {"decoding": decoding, "prune": prune, "tau": tau}
    run = _Run(model, options, files or ["-"], output, errors)
    run(answers, answer, threads=threads, cluster=cluster, json=json, quiet=quiet)


def nbest(
    model: ModelArgument,
    files: SentencesArgument = None,
    output: LinesOption = Path("-"),
    k: Annotated[int, typer.Option("-k", min=1, help="How many trees, if there are.")] = 10,
    prune: PruneOption = None,
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    json: JsonLinesFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """The k best trees of each line of words: rank, log-probability and tree, parted by tabs.

    An empty line follows the trees of each line; it is all that comes of an empty one. A fallback,
    where the grammar has no parse, has the log-probability -inf.
    """

    def answers(grammar: Any, sentences: Iterator[list[str]]) -> Iterator[Any]:
        return grammar.k_bests(sentences, k)

    def answer(found: Any) -> _Answer:
        trees = [] if found is None else [(str(tree), log) for tree, log in found]
        rows = [f"{rank}\t{log:.4f}\t{tree}\n" for rank, (tree, log) in enumerate(trees, 1)]
        is_fallback = any(log == -math.inf for _, log in trees)
        told = [{"tree": tree, "log_probability": _finite(log)} for tree, log in trees]
        return _Answer("".join(rows), {"trees": told, "fallback": is_fallback}, is_fallback)

    run = _Run(model, {"prune": prune}, files or ["-"], output, errors)
    run(answers, answer, threads=threads, cluster=cluster, json=json, quiet=quiet)


class _Answer(NamedTuple):
    """What to write about a line: for people, for machines; and whether it has no parse."""

    text: str
    told: dict[str, Any]
    is_fallback: bool


class _Run(NamedTuple):
    """What is read and written."""

    model: Path
    options: dict[str, Any]
    files: list[str]
    output: Path
    errors: str

    def __call__(
        self,
        answers: Callable[[Any, Iterator[list[str]]], Iterator[Any]],
        answer: Callable[[Any], _Answer],
        *,
        threads: int | None,
        cluster: str | None = None,
        json: bool,
        quiet: bool,
    ) -> None:
        """Write the `answer` about each of the `answers` of a grammar to sentences."""
        paths = input_paths(self.files)
        check_no_input(self.output, [self.model, *(path for path in paths if path)])
        if None in paths and sys.stdin.isatty():
            threads = threads or 1  # people want an answer before they type on
        # Bars and trees on one screen would be in each other's way; elsewhere the end will tell.
        is_shown = str(self.output) == "-" and sys.stdout.isatty()
        bars = messages.is_terminal and not is_shown and not quiet
        fallbacks: list[str] = []
        with (
            line_writer(self.output) as write,
            work(quiet=not bars, threads=threads, cluster=cluster, tell=not quiet) as watch,
        ):
            grammar = load_grammar(self.model, **self.options)
            lines = read_lines(paths, self.errors)
            for place, found in in_step(partial(answers, grammar), lines, self.files):
                shown = answer(found)
                if shown.is_fallback:
                    fallbacks.append(place)
                write(dumps(shown.told) if json else shown.text)
        if not quiet:
            messages.print(told_speed(watch, fallbacks, "line"), markup=False)


def _finite(value: float | None) -> float | None:
    """None for infinity, for which JSON has no name."""
    return value if value is not None and math.isfinite(value) else None
