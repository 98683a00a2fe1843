"""`eigentext bigram fit`: the model of Saul and Pereira from text."""

import time
from typing import Annotated, Literal

import typer

from eigentext.cli._console import (
    DEFAULT_MEMORY,
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
from eigentext.cli.sequences._shared import (
    LowercaseFlag,
    MinCountOption,
    UnitOption,
    report_fit,
)


def fit(
    files: FilesArgument,
    output: OutputOption,
    states: Annotated[int, typer.Option("--states", "-m", min=1, help="Hidden states.")] = 32,
    method: Annotated[
        Literal["pivot+em", "pivot", "em"], typer.Option(help="How it is learned.")
    ] = "pivot+em",
    min_count: MinCountOption = 1,
    iterations: Annotated[int, typer.Option(min=0, help="The most steps of EM.")] = 100,
    smoothing: Annotated[
        float, typer.Option(min=0, help="Tokens added to every context, with the mean's states.")
    ] = 5.0,
    heldout: Annotated[
        list[str] | None, typer.Option(help="Text that says when EM is to stop.")
    ] = None,
    heldout_fraction: Annotated[
        float, typer.Option(min=0, max=0.99, help="Without such text, the part of all pairs.")
    ] = 0.05,
    init: Annotated[
        Literal["uniform", "dirichlet"], typer.Option(help="Where EM alone starts.")
    ] = "uniform",
    tokenizer: TokenizerOption = "whitespace",
    lowercase: LowercaseFlag = False,
    unit: UnitOption = "line",
    errors: ErrorsOption = "strict",
    seed: Annotated[int, typer.Option(help="Equal seeds give equal bits.")] = 0,
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
    model = BigramModel(
        states,
        method=method,
        min_count=min_count,
        n_iter=iterations,
        smoothing=smoothing,
        heldout_fraction=heldout_fraction,
        init=init,
        random_state=seed,
    )
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
    told = {"states": states, "method": method, **told}
    summary = f"{states} states after {model.n_iter_} steps of EM"
    if "heldout_perplexity" in told:
        summary += f" (held-out perplexity {told['heldout_perplexity']:.1f})"
    seconds = time.perf_counter() - started
    report_fit(model, output, told, summary, watch, seconds, json=json, quiet=quiet)
