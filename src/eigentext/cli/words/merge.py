"""One model of what several were learned from: merge."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    JsonFlag,
    OutputOption,
    QuietFlag,
    ThreadsOption,
    check_model_path,
    check_no_input,
    print_warning,
    save_model,
    work,
)
from eigentext.cli.words._shared import report_fit
from eigentext.errors import EigentextError, MomentsError, ParameterError

Summand = tuple[Path, Any]  # a file and its CooccurrenceMoments


def merge(
    models: Annotated[
        list[Path],
        typer.Argument(help="Models fitted with --keep-moments whole, or saved moments."),
    ],
    output: OutputOption,
    fixed_vocabulary: Annotated[
        bool,
        typer.Option("--fixed-vocabulary", help="Let words outside a cut vocabulary be rare."),
    ] = False,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Add up the moments of models and fit again, as the first; equal to fitting all their text."""
    from eigentext import Eigenwords

    check_model_path(output)
    if len(models) < 2:
        raise ParameterError(f"{models[0]}: nothing to merge it with; name two models or more")
    started = time.perf_counter()
    summands, parameters = _read(models)
    check_no_input(output, models)
    _check(summands, fixed_vocabulary)
    _warn(summands)
    with work(quiet=quiet or json, threads=threads) as watch:
        words = Eigenwords(**parameters).fit_moments(lambda: _sum(summands))
        save_model(words, output)
    report_fit(words, output, watch, time.perf_counter() - started, json=json, quiet=quiet)


def _read(paths: list[Path]) -> tuple[list[Summand], dict[str, Any]]:
    """The moments in each file, cut ones first, and the parameters of the first model."""
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
            f"{paths[0]}: holds moments alone, as the others do; name a model too, whose "
            "parameters are to be used, or add moments up in Python with +"
        )
    # Cut ones first: the others are cut to the same words.
    return sorted(summands, key=lambda summand: summand[1].whole), parameters


def _check(summands: list[Summand], fixed_vocabulary: bool) -> None:
    """Refuse what does not add up, before any work."""
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
    """Say what may not be meant: text that counts twice, pairs that were dropped."""
    seen: dict[str, Path] = {}
    for path, moments in summands:
        if again := next((seen[source] for source in moments.sources if source in seen), None):
            print_warning(f"{path}: holds text that {again} holds too, which counts twice now")
        seen |= dict.fromkeys(moments.sources, path)
        if moments.min_pairs:
            print_warning(f"{path}: its moments are {moments.limits}")


def _sum(summands: list[Summand]) -> Any:
    from eigentext import engine

    with engine.phase("add up", len(summands), "models") as advance:
        # Taken off the list, so that none stays in memory longer than it is needed.
        _, total = summands.pop(0)
        advance(1)
        while summands:
            total = total + summands.pop(0)[1]
            advance(1)
    return total
