"""`eigentext warm-up`: compile the loops of models before they are needed."""

import time
from typing import Annotated

import typer

from eigentext.cli._bundles import JsonFlag, QuietFlag
from eigentext.cli._console import print_json, print_plain
from eigentext.errors import ParameterError


def warm_up(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Kinds of models: words, topics, sequences, taggers, grammars, kernels, "
            "rerankers. By default all of them."
        ),
    ] = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Compile the loops of models, so that no user waits for it.

    Use it once when a machine or an image is set up. It takes about a minute, or no time if the
    package came with loops for this machine. The loops are kept where `eigentext cache` says.
    """
    from eigentext.cli._warm_up import TASKS, warm_up

    wanted = what or list(TASKS)
    if strange := [name for name in wanted if name not in TASKS]:
        raise ParameterError(f"{strange[0]!r} is no kind of models; there are {', '.join(TASKS)}")
    seconds = {}
    for name in wanted:
        start = time.perf_counter()
        warm_up(name)
        seconds[name] = round(time.perf_counter() - start, 2)
        if not (json or quiet):
            print_plain(f"{name:12} {seconds[name]:6.1f} s")
    if json:
        print_json(seconds)
