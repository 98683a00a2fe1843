"""`eigentext topics merge`: one model of the documents of several."""

from pathlib import Path
from typing import Annotated

import typer

from eigentext.cli._bundles import FitOptions, OutputOption
from eigentext.cli._fitting import fitting
from eigentext.cli._options import with_options
from eigentext.cli._sources import load_sources
from eigentext.cli.topics._shared import (
    FixedVocabularyFlag,
    NewTopicsOption,
    OldVectorsOption,
    RestartFlag,
    growing,
    load_topics,
    report_growth,
)
from eigentext.errors import EigentextError, ParameterError


@with_options()
def merge(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Models fitted with --keep-moments whole. Parameters and topics are those of the "
            "first."
        ),
    ],
    output: OutputOption,
    run: FitOptions,
    new_topics: NewTopicsOption = "0",
    fixed_vocabulary: FixedVocabularyFlag = False,
    restart: RestartFlag = False,
    vectors: OldVectorsOption = None,
) -> None:
    """Add the documents of several models to the first; its topics keep their numbers."""
    from eigentext import topics as room

    settings = growing(new_topics, fixed_vocabulary, restart)
    if len(models) < 2:
        raise ParameterError(f"{models[0]}: nothing to merge it with; name two models or more")
    with fitting(output, run) as done:
        loaded = [load_topics(path) for path in models]
        done.check_not_read(models)
        first = loaded[0].provenance_["n_documents"]
        for path, model in zip(models, loaded):
            if model.moments_ is None:
                raise EigentextError(
                    f"{path}: keeps no moments to add to others; fit all its documents again with "
                    "--keep-moments whole"
                )
        loaded[0].set_params(**load_sources({"vectors": vectors} if vectors else {}))
        merged = room.merge(*loaded, **settings)
        done.save(merged)
    report_growth(done, merged, first)
