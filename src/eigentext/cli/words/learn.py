"""From text to vectors: fit, phrases, tokens, add."""

from pathlib import Path
from typing import Annotated

import typer

from eigentext.cli._bundles import (
    FilesArgument,
    FitOptions,
    OutputOption,
    StorageOptions,
)
from eigentext.cli._fitting import fitting
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._text import SourceOptions, TextOptions, TextUnitOptions, fit_text, reading_of
from eigentext.cli.words._shared import ModelArgument, load_words, report_vectors
from eigentext.words import parameters as tables


@with_options(tables.Eigenwords)
def fit(
    output: OutputOption, parameters: Parameters, text: TextUnitOptions, run: FitOptions
) -> None:
    """Learn word vectors from text and write them as one model file."""
    from eigentext import Eigenwords

    model = Eigenwords(**parameters)
    report_vectors(fit_text(model, text, output, run), model)


@with_options(tables.Phrases)
def phrases(
    output: OutputOption, parameters: Parameters, text: TextUnitOptions, run: FitOptions
) -> None:
    """Find words that often occur together, and write these phrases as one model file."""
    from eigentext import Phrases

    model = Phrases(**parameters)
    fit = fit_text(model, text, output, run)
    most = sorted(model.counts_, key=lambda name: -model.counts_[name])[:10]
    facts = {"n_phrases": len(model.phrases_), "most_frequent": most}
    shown = f", such as {', '.join(most[:5])}" if most else ""
    fit.report(facts, f"{len(model.phrases_):,} phrases{shown}")


@with_options(tables.Eigentokens)
def tokens(
    output: OutputOption, parameters: Parameters, text: TextOptions, run: FitOptions
) -> None:
    """Learn eigentokens, vectors of tokens by their context, for `tagger fit --eigentokens`."""
    from eigentext import Eigentokens

    model = Eigentokens(**parameters)
    report_vectors(fit_text(model, text, output, run), model)


@with_options()
def add(
    model: ModelArgument,
    files: FilesArgument,
    storage: StorageOptions,
    source: SourceOptions,
    run: FitOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; by default to MODEL.")
    ] = None,
    fixed_vocabulary: Annotated[
        bool, typer.Option("--fixed-vocabulary", help="Count new words as rare words.")
    ] = False,
) -> None:
    """Add text to a model fitted with --keep-moments whole; equal to fitting all text again."""
    from eigentext import TextCorpus
    from eigentext.storage.unchanged import unchanged_since, version_of

    output = output or model
    version = version_of(output)
    words = load_words(model)
    reading = reading_of(model, words, "add the text in Python with partial_fit")
    with fitting(output, run, files) as fit:
        corpus = TextCorpus(fit.paths[0], **source.source(), **reading)
        fit.check_not_read(corpus.files)
        words.partial_fit(corpus, fixed_vocabulary=fixed_vocabulary, **storage.arguments())
        with unchanged_since(output, version):
            fit.save(words)
    report_vectors(fit, words)
