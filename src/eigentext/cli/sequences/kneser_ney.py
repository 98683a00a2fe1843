"""`eigentext kneser-ney fit`: smoothed n-grams from text."""

import time

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
from eigentext.cli.sequences._shared import (
    LowercaseFlag,
    UnitOption,
    report_fit,
)
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.sequences import parameters as tables


@with_options(tables.KneserNey)
def fit(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
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
    """Learn a language model of n-grams from text and write it as one model file."""
    from eigentext import KneserNey, TextCorpus

    check_model_path(output)
    started = time.perf_counter()
    model = KneserNey(**parameters)
    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster, checkpoint=checkpoint) as watch,
    ):
        corpus = TextCorpus(
            paths, tokenizer=tokenizer, lowercase=lowercase, unit=unit, errors=errors
        )
        check_no_input(output, corpus.files)
        model.fit(corpus, memory=memory, cache=False if no_cache else cache or True)
        save_model(model, output)
    ngrams = model.diagnostics_["ngrams"]
    order = model.parameters_.order
    told = {"order": order, "ngrams": ngrams, "discounts": model.diagnostics_["discounts"]}
    summary = f"{sum(ngrams):,} n-grams of up to {order}"
    seconds = time.perf_counter() - started
    report_fit(model, output, told, summary, watch, seconds, json=json, quiet=quiet)
