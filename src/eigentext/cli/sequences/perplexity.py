"""`eigentext kneser-ney|bigram perplexity`: how well a language model predicts a text."""

from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    ErrorsOption,
    FilesArgument,
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    inputs,
    print_json,
    printer,
    work,
)
from eigentext.cli.sequences._shared import load_language_model, reading_of
from eigentext.errors import CorpusError, ParameterError


def perplexity(
    model: Annotated[Path, typer.Argument(help="A language model, written by `fit`.")],
    files: FilesArgument,
    interpolate: Annotated[
        Path | None, typer.Option(help="Another model of the same words, to mix with this one.")
    ] = None,
    heldout: Annotated[
        list[str] | None, typer.Option(help="Text that says how much of each model to take.")
    ] = None,
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Score a model on text that it has not seen; words unknown to it are left out.

    The text is read as that was which the model was learned from.
    """
    from eigentext import TextCorpus, engine
    from eigentext.corpus import encode

    if (interpolate is None) != (not heldout):
        raise ParameterError(
            "--interpolate OTHER-MODEL and --heldout FILE go together: "
            "the text held out says how much of each model to take"
        )
    paths = [model, interpolate] if interpolate else [model]
    models = [load_language_model(path) for path in paths]
    reading = _common_reading(paths, models)
    with inputs([*files, *(heldout or [])]) as texts, work(quiet=quiet or json, threads=threads):
        text, *held = (
            encode(TextCorpus(part, errors=errors, **reading))
            for part in (texts[: len(files)], texts[len(files) :])
            if part
        )
        if held:
            from eigentext.sequences import Interpolation

            with engine.phase("weigh"):
                mixture = Interpolation(models).fit(held[0])
            models = [*mixture.parameters_.models, mixture]  # those that are worked out already
        with engine.phase("score", len(models) * text.n_tokens, "tokens") as advance:
            scores = []
            for scorer in models:
                scores.append(scorer.log_probabilities(text))
                advance(text.n_tokens)
    told = {"model": str(model), **_figures(scores[-1], text.n_tokens)}
    if interpolate:
        told["alone"] = {str(path): _perplexity(part) for path, part in zip(paths, scores)}
        told["weights"] = models[-1].weights_.tolist()
    if json:
        print_json(told)
    else:
        _print(told, quiet=quiet)


def _common_reading(paths: list[Path], models: list[Any]) -> dict[str, Any]:
    """How text is read for all the models, if they agree on it."""
    reading = reading_of(paths[0], models[0])
    for path, model in zip(paths[1:], models[1:]):
        for name, value in reading_of(path, model).items():
            if value != reading[name]:
                raise ParameterError(
                    f"{paths[0]} and {path} were learned from text read differently ({name}: "
                    f"{reading[name]!r} and {value!r}); fit both with the same options"
                )
    return reading


def _figures(scores: Any, n_tokens: int) -> dict[str, Any]:
    """Of all events: tokens, and, but in a stream, the ends of units."""
    import numpy as np

    n_left_out = int(np.isnan(scores).sum())
    return {
        "perplexity": _perplexity(scores),
        "n_scored": n_tokens - n_left_out,
        "n_left_out": n_left_out,
        "n_ends": len(scores) - n_tokens,
        "n_impossible": int(np.isneginf(scores).sum()),
    }


def _perplexity(scores: Any) -> float | None:
    """None for an infinite one, for which JSON has no name."""
    import numpy as np

    if np.isnan(scores).all():
        raise CorpusError("no word of this text is known to the model; is it in that language?")
    mean = -np.nanmean(scores)
    return float(np.exp(mean)) if mean < np.inf else None


def _print(told: dict[str, Any], *, quiet: bool) -> None:
    figure = _shown(told["perplexity"])
    if quiet:
        printer.print(figure)
        return
    alone = ", ".join(
        f"{path} alone {_shown(part)}" for path, part in told.get("alone", {}).items()
    )
    printer.print(f"perplexity   {figure}{alone and f'  ({alone})'}", markup=False)
    ends = f" and {told['n_ends']:,} ends of units" if told["n_ends"] else ""
    printer.print(f"scored       {told['n_scored']:,} tokens{ends}")
    printer.print(f"left out     {told['n_left_out']:,} tokens, unknown to the model")
    if told["n_impossible"]:
        printer.print(
            f"impossible   {told['n_impossible']:,} of those scored; more --smoothing in fit helps"
        )


def _shown(perplexity: float | None) -> str:
    return "inf" if perplexity is None else f"{perplexity:.2f}"
