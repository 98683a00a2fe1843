"""`eigentext topics add`: more documents for a model, whose topics keep their numbers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._bundles import CacheOptions, FilesArgument, FitOptions
from eigentext.cli._fitting import fitting
from eigentext.cli._options import with_options
from eigentext.cli._sources import load_sources
from eigentext.cli.topics._shared import (
    DocumentOptions,
    FixedVocabularyFlag,
    ModelArgument,
    NewTopicsOption,
    OldVectorsOption,
    RestartFlag,
    growing,
    load_topics,
    report_growth,
)


@with_options()
def add(
    model: ModelArgument,
    files: FilesArgument,
    documents: DocumentOptions,
    storage: CacheOptions,
    run: FitOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; by default to MODEL.")
    ] = None,
    new_topics: NewTopicsOption = "0",
    fixed_vocabulary: FixedVocabularyFlag = False,
    restart: RestartFlag = False,
    vectors: OldVectorsOption = None,
) -> None:
    """Add documents to a model fitted with --keep-moments whole; its topics keep their numbers."""
    from eigentext.storage.unchanged import unchanged_since, version_of

    settings: dict[str, Any] = growing(new_topics, fixed_vocabulary, restart)
    output = output or model
    version = version_of(output)
    topics = load_topics(model)
    n_before = topics.provenance_["n_documents"]
    with fitting(output, run, files) as done:
        corpus = documents.corpus(topics, model, done.paths[0])
        done.check_not_read(corpus.files)
        topics.set_params(**load_sources({"vectors": vectors} if vectors else {}))
        topics.partial_fit(corpus, **settings, **storage.arguments())
        with unchanged_since(output, version):
            done.save(topics)
    report_growth(done, topics, n_before)
