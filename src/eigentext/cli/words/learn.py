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
from eigentext.cli.words._shared import ModelArgument, load_words, report_fit
from eigentext.errors import EigentextError


def fit(
    files: FilesArgument,
    output: OutputOption,
    dim: Annotated[int, typer.Option("--dim", min=1, help="Dimension of the vectors.")] = 300,
    window: Annotated[int, typer.Option(min=1, help="Context words on each side.")] = 10,
    min_count: Annotated[int, typer.Option(min=1, help="Rarer words share one symbol.")] = 5,
    max_size: Annotated[int | None, typer.Option(min=1, help="Largest vocabulary.")] = None,
    transform: Annotated[
        Literal["sqrt", "two-thirds", "log", "none"], typer.Option(help="Of the counts.")
    ] = "sqrt",
    scaling: Annotated[
        Literal["cca", "ppmi", "reg", "none"], typer.Option(help="Of the transformed counts.")
    ] = "cca",
    alpha: Annotated[
        float, typer.Option(max=1, help="Smoothing of the context distribution; 1 is none.")
    ] = 1.0,
    beta: Annotated[float, typer.Option(max=1, help="Exponent of the singular values.")] = 0.5,
    context: Annotated[
        Literal["bag", "list"], typer.Option(help="list: position-sensitive contexts.")
    ] = "bag",
    weighting: Annotated[
        Literal["flat", "distance"], typer.Option(help="distance: a pair counts 1/distance.")
    ] = "distance",
    tokenizer: TokenizerOption = "whitespace",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower the case.")] = False,
    unit: Annotated[
        Literal["line", "document", "stream"], typer.Option(help="What a window never leaves.")
    ] = "line",
    errors: ErrorsOption = "strict",
    keep_moments: Annotated[
        Literal["none", "cut", "whole"],
        typer.Option(help="Statistics to save: whole makes `words add` exact."),
    ] = "none",
    keep_pairs: Annotated[
        int, typer.Option(min=0, help="Of these, only pairs counted so often; 0 keeps all.")
    ] = 0,
    oov: Annotated[
        Literal["none", "characters"],
        typer.Option(help="characters: predict vectors of unseen words from their spelling."),
    ] = "none",
    seed: Annotated[int, typer.Option(help="Equal seeds give equal bits.")] = 0,
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
    model = Eigenwords(
        dim,
        window=window,
        min_count=min_count,
        transform=transform,
        scaling=scaling,
        alpha=alpha,
        beta=beta,
        context=context,
        weighting=weighting,
        max_size=max_size,
        keep_moments=keep_moments,
        keep_pairs=keep_pairs,
        oov=oov,
        random_state=seed,
    )
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
    options = words.provenance_["options"]
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
