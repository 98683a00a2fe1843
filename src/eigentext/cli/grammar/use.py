"""`eigentext grammar parse` and `nbest`: sentences in, trees out."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from eigentext.cli._console import finite, messages
from eigentext.cli._lines import (
    AnswerOptions,
    ReadingOptions,
    answering,
    are_typed,
    in_step,
    input_paths,
    read_lines,
)
from eigentext.cli._options import with_options
from eigentext.cli.grammar._shared import (
    DecodingOptions,
    ModelArgument,
    PruneOption,
    SentencesArgument,
    load_grammar,
    speed_and_fallbacks,
)
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    from eigentext.cli.grammar._shared import Grammar
    from eigentext.grammars.parser import Parse


@with_options()
def parse(
    model: ModelArgument,
    decoding: DecodingOptions,
    reading: ReadingOptions,
    run: AnswerOptions,
    files: SentencesArgument = None,
) -> None:
    """Write a tree in Penn brackets for each sentence, and an empty line for an empty line.

    Each line is a sentence of raw text, or of tokens with --tokenized.
    Lines are answered as they arrive. Each thread reads some lines ahead. With --threads 1, a line
    is answered before the next one is read.
    """

    def answer(grammar: "Grammar", parsed: "Parse | None") -> _Answer:
        if parsed is None:
            return _Answer("", {"tree": None, _called(grammar): None, "fallback": None})
        facts = {_called(grammar): finite(parsed.log_probability), "fallback": parsed.fallback}
        tree = str(parsed.tree)
        return _Answer(tree, {"tree": tree, **facts}, parsed.fallback is not None)

    grammar = partial(load_grammar, model, **decoding.given())
    sentences = _Sentences(model, files or ["-"], reading)
    sentences.answer(grammar, lambda grammar, lines: grammar.parses(lines), answer, run)


@with_options()
def nbest(
    model: ModelArgument,
    reading: ReadingOptions,
    run: AnswerOptions,
    files: SentencesArgument = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many trees to write, at most.")] = 10,
    prune: PruneOption = None,
    candidates: Annotated[
        bool,
        typer.Option(
            "--candidates",
            help="Write trees to choose from, for `rerank trees`: the k best of two kinds, with "
            "the probability of each bracket after the log-probability.",
        ),
    ] = False,
) -> None:
    """Write the k best trees of each sentence: rank, log-probability and tree, with tabs.

    Each line is a sentence of raw text, or of tokens with --tokenized. An empty line follows the
    trees of each line. An empty line of text gives only an empty line.
    If the grammar has no parse, the tree is a fallback, with the log-probability -inf. A spectral
    grammar gives the logarithm of the size of a score instead, which is good for ranking only.
    """

    def answer(grammar: "Grammar", found: "list[tuple[Any, ...]] | None") -> _Answer:
        trees = [(str(one[0]), one[1]) for one in found or ()]
        rows = [
            f"{rank}\t{' '.join([f'{log:.4f}', *_further(one)])}\t{tree}\n"
            for rank, ((tree, log), one) in enumerate(zip(trees, found or ()), 1)
        ]
        is_fallback = any(log == -math.inf for _, log in trees)
        facts = [{"tree": tree, _called(grammar): finite(log)} for tree, log in trees]
        return _Answer("".join(rows), {"trees": facts, "fallback": is_fallback}, is_fallback)

    grammar = partial(load_grammar, model, prune=prune)
    sentences = _Sentences(model, files or ["-"], reading)
    sentences.answer(
        grammar,
        lambda grammar, lines: (grammar.candidates_many if candidates else grammar.k_bests)(
            lines, k
        ),
        answer,
        run,
    )


def _further(found: tuple[Any, ...]) -> list[str]:
    """Return what a tree to choose from has besides its log-probability."""
    if len(found) == 2:
        return []
    _, _, expected, marginals = found
    return [f"{expected:.4f}", *(f"{one:.4f}" for one in marginals)]


def _called(grammar: "Grammar") -> str:
    """Return what the figure of a tree is called in JSON: scores with signs are no probability."""
    return "log_probability" if grammar.gives_probabilities else "log_score"


class _Answer(NamedTuple):
    """What to write about a line: as text, as JSON; and whether the grammar has no parse."""

    text: str
    facts: dict[str, Any]
    is_fallback: bool = False


class _Sentences(NamedTuple):
    """The sentences to parse, and the file of the grammar."""

    model: Path
    files: list[str]
    reading: ReadingOptions

    def answer(
        self,
        load: Callable[[], "Grammar"],
        parses: Callable[["Grammar", Iterator[list[str] | str]], Iterator[Any]],
        answer: Callable[["Grammar", Any], _Answer],
        run: AnswerOptions,
    ) -> None:
        """Write the answer to each sentence, and then how fast that was."""
        paths = input_paths(self.files)
        if are_typed(paths):
            run = replace(run, threads=run.threads or 1)  # answer each line before the next
        fallbacks: list[str] = []
        with answering(run, [self.model, *paths]) as (write, phases):
            grammar = load()
            lines = read_lines(paths, self.reading)
            for place, found in in_step(partial(parses, grammar), lines, self.files):
                shown = answer(grammar, found)
                if shown.is_fallback:
                    fallbacks.append(place)
                write(json_text(shown.facts) if run.json else shown.text)
        if not run.quiet:
            messages.print(speed_and_fallbacks(phases, fallbacks, "line"), markup=False)
