"""One model from the statistics of several: merge."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import OutputOption, RunOptions
from eigentext.cli._console import print_warning
from eigentext.cli._fitting import fitting
from eigentext.cli._options import with_options
from eigentext.cli.words._shared import report_vectors
from eigentext.errors import EigentextError, MomentsError, ParameterError

if TYPE_CHECKING:
    from eigentext import CooccurrenceMoments

Summand = tuple[Path, "CooccurrenceMoments"]  # a file, and its moments


@with_options()
def merge(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Models fitted with --keep-moments whole, or saved counts. Parameters are those "
            "of the first."
        ),
    ],
    output: OutputOption,
    run: RunOptions,
    fixed_vocabulary: Annotated[
        bool,
        typer.Option(
            "--fixed-vocabulary", help="Count words outside a limited vocabulary as rare words."
        ),
    ] = False,
) -> None:
    """Add the counts of several models and fit again; equal to fitting all their text."""
    from eigentext import Eigenwords

    if len(models) < 2:
        raise ParameterError(f"{models[0]}: nothing to merge it with; name two models or more")
    with fitting(output, run) as fit:
        summands, parameters = _read(models)
        fit.check_not_read(models)
        _check(summands, fixed_vocabulary)
        _warn(summands)
        words = Eigenwords(**parameters).fit_moments(lambda: _sum(summands))
        fit.save(words)
    report_vectors(fit, words)


def _read(paths: list[Path]) -> tuple[list[Summand], dict[str, Any]]:
    """Return the moments in each file, limited ones first, and the first model's parameters."""
    from eigentext import CooccurrenceMoments, Eigenwords
    from eigentext.storage import load

    summands: list[Summand] = []
    parameters: dict[str, Any] = {}
    for path in paths:
        loaded = load(path)
        if isinstance(loaded, CooccurrenceMoments):
            summands.append((path, loaded))
            continue
        if not isinstance(loaded, Eigenwords):
            raise EigentextError(f"{path}: holds {loaded!r}, neither word vectors nor moments")
        if loaded.moments_ is None:
            raise MomentsError(
                f"{path}: keeps no moments to add to others; "
                "fit all its text again with --keep-moments whole"
            )
        summands.append((path, loaded.moments_))
        parameters = parameters or dict(loaded.parameters_)
    if not parameters:
        raise EigentextError(
            f"{paths[0]}: holds only moments, as the others do; also name a model, whose "
            "parameters are to be used, or add the moments in Python with +"
        )
    # Limited ones first: the others are limited to the same words.
    return sorted(summands, key=lambda summand: summand[1].whole), parameters


def _check(summands: list[Summand], fixed_vocabulary: bool) -> None:
    """Raise MomentsError, before the work begins, if the moments cannot be added."""
    for path, moments in summands:
        if not moments.whole and not fixed_vocabulary:
            raise MomentsError(
                f"{path}: its moments are {moments.limits}; fit all its text again with "
                "--keep-moments whole, or accept that with --fixed-vocabulary"
            )
    first, example = summands[0]
    for path, moments in summands[1:]:
        try:
            example.check_adds_up(moments)
        except MomentsError as error:
            raise MomentsError(f"{first} and {path}: {error}") from error


def _warn(summands: list[Summand]) -> None:
    """Warn of text that counts twice, and of pairs that were dropped."""
    seen: dict[str, Path] = {}
    for path, moments in summands:
        if again := next((seen[source] for source in moments.sources if source in seen), None):
            print_warning(f"{path}: holds text that {again} also holds; that text counts twice")
        seen |= dict.fromkeys(moments.sources, path)
        if moments.min_pairs:
            print_warning(f"{path}: its moments are {moments.limits}")


def _sum(summands: list[Summand]) -> "CooccurrenceMoments":
    """Add the moments. Each is dropped as soon as it is added, to save memory."""
    from eigentext import engine

    with engine.phase("add up", len(summands), "models") as advance:
        _, total = summands.pop(0)
        advance(1)
        while summands:
            total = total + summands.pop(0)[1]
            advance(1)
    return total
