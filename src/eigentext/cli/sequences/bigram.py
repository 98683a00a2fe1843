"""`eigentext bigram fit`: the model of Saul and Pereira from text."""

import time
from typing import Annotated

import typer

from eigentext.cli._console import (
    CacheOption,
    CheckpointOption,
    ClusterOption,
    ErrorsOption,
    FilesArgument,
    JsonFlag,
    MemoryOption,
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
from eigentext.cli.sequences._shared import LowercaseFlag, UnitOption, report_fit
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.sequences import parameters as tables


@with_options(tables.BigramModel)
def fit(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
    heldout: Annotated[
        list[str] | None, typer.Option(help="Text that says when EM is to stop.")
    ] = None,
    tokenizer: TokenizerOption = "whitespace",
    lowercase: LowercaseFlag = False,
    unit: UnitOption = "line",
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    checkpoint: CheckpointOption = None,
    memory: MemoryOption = DEFAULT_MEMORY,
    cache: CacheOption = None,
    no_cache: NoCacheFlag = False,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn a language model of bigrams from text and write it as one model file."""
    from eigentext import BigramModel, TextCorpus

    check_model_path(output)
    started = time.perf_counter()
    model = BigramModel(**parameters)
    with (
        inputs([*files, *(heldout or [])]) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster, checkpoint=checkpoint) as watch,
    ):
        corpus, *held = (
            TextCorpus(part, tokenizer=tokenizer, lowercase=lowercase, unit=unit, errors=errors)
            for part in (paths[: len(files)], paths[len(files) :])
            if part
        )
        for read in (corpus, *held):
            check_no_input(output, read.files)
        model.fit(
            corpus,
            heldout=held[0] if held else None,
            memory=memory,
            cache=False if no_cache else cache or True,
        )
        save_model(model, output)
    facts = ("n_iter", "perplexity", "heldout_perplexity", "heldout", "pivots")
    told = {name: model.diagnostics_[name] for name in facts if name in model.diagnostics_}
    states = model.parameters_.n_states
    told = {"states": states, "method": model.parameters_.method, **told}
    summary = f"{states} states after {model.n_iter_} steps of EM"
    if "heldout_perplexity" in told:
        summary += f" (held-out perplexity {told['heldout_perplexity']:.1f})"
    seconds = time.perf_counter() - started
    report_fit(model, output, told, summary, watch, seconds, json=json, quiet=quiet)
