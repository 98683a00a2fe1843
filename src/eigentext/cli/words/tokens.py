"""From text to vectors of tokens in their context, for taggers: tokens."""

import time
from typing import Annotated

import typer

from eigentext.cli._console import (
    BudgetOption,
    CacheOption,
    CheckpointOption,
    ClusterOption,
    ErrorsOption,
    FilesArgument,
    JsonFlag,
    NoCacheFlag,
    OutputOption,
    QuietFlag,
    ThreadsOption,
    TokenizerOption,
    check_model_path,
    check_no_input,
    inputs,
    save_model,
    work,
)
from eigentext.cli._options import Parameters, with_options
from eigentext.cli.words._shared import report_fit
from eigentext.words import parameters as tables


@with_options(tables.Eigentokens)
def tokens(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
    tokenizer: TokenizerOption = "whitespace",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower the case.")] = False,
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    checkpoint: CheckpointOption = None,
    memory: BudgetOption = None,
    cache: CacheOption = None,
    no_cache: NoCacheFlag = False,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn eigentokens, vectors of tokens by their context, for `tagger fit --eigentokens`."""
    from eigentext import Eigentokens, TextCorpus

    check_model_path(output)
    started = time.perf_counter()
    model = Eigentokens(**parameters)
    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster, checkpoint=checkpoint) as watch,
    ):
        corpus = TextCorpus(paths, tokenizer=tokenizer, lowercase=lowercase, errors=errors)
        check_no_input(output, corpus.files)
        model.fit(corpus, memory=memory, cache=False if no_cache else cache or True)
        save_model(model, output)
    report_fit(model, output, watch, time.perf_counter() - started, json=json, quiet=quiet)
