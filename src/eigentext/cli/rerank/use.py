"""`eigentext rerank apply`: n-best lists in, the best structures out."""

import sys
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import QuietFlag, ThreadsOption, check_no_input, messages, work
from eigentext.cli._lines import line_writer
from eigentext.cli.rerank._shared import (
    CandidatesArgument,
    ModelArgument,
    all_inputs,
    check_kind,
    load_reranker,
    read_lists,
)


def apply(
    model: ModelArgument,
    files: CandidatesArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write; - is standard output.")
    ] = Path("-"),
    nbest: Annotated[
        bool,
        typer.Option("--nbest", help="The whole lists, best first, each after its new score."),
    ] = False,
    threads: ThreadsOption = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object for each list.")] = False,
    quiet: QuietFlag = False,
) -> None:
    """The best structure of each list of candidates, a line each; an empty line of an empty list.

    With --nbest the lists are sorted anew, and written as they are read, with scores in place of
    log-probabilities.
    """
    from eigentext.corpus.readers import expand_paths
    from eigentext.reranking.candidates import candidate_line, structure_line

    # Bars and structures on one screen would be in each other's way.
    is_shown = str(output) == "-" and sys.stdout.isatty()
    bars = messages.is_terminal and not is_shown and not quiet
    with (
        all_inputs(files) as (paths,),
        line_writer(output) as write,
        work(quiet=not bars, threads=threads, tell=not quiet),
    ):
        check_no_input(output, [model, *expand_paths(paths)])
        reranker = load_reranker(model)
        lists = read_lists(paths)
        check_kind(reranker, model, lists, files)
        for candidates in reranker.rerank(lists):
            shown = candidates if nbest else candidates[:1]
            if json:
                rows = [
                    {"structure": structure_line(structure), "score": score}
                    for structure, score in shown
                ]
                empty: dict[str, Any] = {"structure": None, "score": None}
                write(dumps({"candidates": rows} if nbest else next(iter(rows), empty)))
            elif nbest:
                write("".join(f"{candidate_line(one)}\n" for one in shown))
            else:
                write("".join(structure_line(one.structure) for one in shown))
