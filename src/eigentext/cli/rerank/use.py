"""`eigentext rerank apply`: n-best lists in, the best structures out."""

from typing import Annotated, Any

import typer

from eigentext.cli._bundles import EncodingOption
from eigentext.cli._files import inputs
from eigentext.cli._lines import LineOptions, answering
from eigentext.cli._options import with_options
from eigentext.cli.rerank._shared import (
    CandidatesArgument,
    ModelArgument,
    check_kind,
    load_reranker,
    read_lists,
)
from eigentext.storage.valid_json import json_text


@with_options()
def apply(
    model: ModelArgument,
    files: CandidatesArgument,
    run: LineOptions,
    nbest: Annotated[
        bool,
        typer.Option(
            "--nbest", help="Write the whole lists, best first, with new scores before candidates."
        ),
    ] = False,
    encoding: EncodingOption = "utf-8",
) -> None:
    """Write the best structure of each list of candidates, one on each line.

    An empty list gives an empty line. With --nbest the lists are sorted by their new scores, and
    written as they are read, with scores instead of log-probabilities.
    """
    from eigentext.corpus.readers import expand_paths
    from eigentext.reranking.candidates import candidate_line, structure_line

    with (
        inputs(files) as (paths,),
        answering(run, [model, *expand_paths(paths)]) as (write, _),
    ):
        reranker = load_reranker(model)
        lists = read_lists(paths, encoding)
        check_kind(reranker, model, lists, files)
        for candidates in reranker.rerank(lists):
            shown = candidates if nbest else candidates[:1]
            if run.json:
                rows = [
                    {"structure": structure_line(structure), "score": score}
                    for structure, score in shown
                ]
                empty: dict[str, Any] = {"structure": None, "score": None}
                write(json_text({"candidates": rows} if nbest else next(iter(rows), empty)))
            elif nbest:
                write("".join(f"{candidate_line(one)}\n" for one in shown))
            else:
                write("".join(structure_line(one.structure) for one in shown))
