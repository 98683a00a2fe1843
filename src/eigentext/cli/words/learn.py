"""From text to vectors: fit, add."""

import time
from pathlib import Path
from typing import Annotated, Literal

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
from eigentext.cli.words._shared import ModelArgument, load_words, report_fit
from eigentext.errors import EigentextError
from eigentext.words import parameters as tables


@with_options(tables.Eigenwords)
def fit(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
    tokenizer: TokenizerOption = "whitespace",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower the case.")] = False,
    unit: Annotated[
        Literal["line", "document", "stream"], typer.Option(help="What a window never leaves.")
    ] = "line",
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
    """Learn word vectors from text and write them as one model file."""
    from eigentext import Eigenwords, TextCorpus

    check_model_path(output)
    started = time.perf_counter()
    model = Eigenwords(**parameters)
    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster, checkpoint=checkpoint) as watch,
    ):
        corpus = TextCorpus(
            paths, tokenizer=tokenizer, lowercase=lowercase, unit=unit, errors=errors
        )
        check_no_input(output, corpus.files)
        model.fit(corpus, memory=memory, cache=_cache(cache, no_cache))
        save_model(model, output)
    report_fit(model, output, watch, time.perf_counter() - started, json=json, quiet=quiet)


def add(
    model: ModelArgument,
    files: FilesArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; MODEL by default.")
    ] = None,
    fixed_vocabulary: Annotated[
        bool, typer.Option("--fixed-vocabulary", help="Let new words count as rare.")
    ] = False,
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
    """Add text to a model fitted with --keep-moments whole; equal to fitting all text again."""
    from eigentext import TextCorpus
    from eigentext.corpus.tokenizers import NAMED

    output = output or model
    check_model_path(output)
    started = time.perf_counter()
    words = load_words(model)
    options = {n: words.provenance_["options"].get(n) for n in ("tokenizer", "lowercase", "unit")}
    if options["tokenizer"] not in NAMED:
        raise EigentextError(
            f"{model} was learned with the tokenizer {options['tokenizer']!r}, which the command "
            "line does not have; add the text in Python with partial_fit"
        )
    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster, checkpoint=checkpoint) as watch,
    ):
        corpus = TextCorpus(paths, errors=errors, **options)
        check_no_input(output, corpus.files)
        words.partial_fit(
            corpus,
            fixed_vocabulary=fixed_vocabulary,
            memory=memory,
            cache=_cache(cache, no_cache),
        )
        save_model(words, output)
    report_fit(words, output, watch, time.perf_counter() - started, json=json, quiet=quiet)


def _cache(folder: Path | None, no_cache: bool) -> Path | bool:
    return False if no_cache else folder or True
