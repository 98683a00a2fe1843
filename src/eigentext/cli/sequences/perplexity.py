"""`eigentext kneser-ney|bigram perplexity`: how well a language model predicts a text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._bundles import FilesArgument, RunOptions
from eigentext.cli._console import print_json, print_plain, printer
from eigentext.cli._files import inputs
from eigentext.cli._options import with_options
from eigentext.cli._text import SourceOptions
from eigentext.cli._work import work
from eigentext.cli.sequences._shared import load_language_model, reading_of
from eigentext.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    import numpy as np

    from eigentext.cli.sequences._shared import LanguageModel
    from eigentext.corpus import EncodedCorpus


@with_options()
def perplexity(
    model: Annotated[Path, typer.Argument(help="A language model, written by `fit`.")],
    files: FilesArgument,
    run: RunOptions,
    source: SourceOptions,
    interpolate: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Mix the model with this one, of the same words."),
    ] = None,
    validation: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Text that decides how much of each model to use."),
    ] = None,
    unknown: Annotated[
        Literal["skip", "count"],
        typer.Option(help="Words that the model does not know: leave them out, or count each one."),
    ] = "skip",
) -> None:
    """Score a model on text that it has not seen. Words that it does not know are left out.

    With --unknown count, each of them has the probability of the rare word.

    The text is read in the same way as the text that the model was learned from.
    """
    from eigentext import TextCorpus
    from eigentext.corpus import encode

    if (interpolate is None) != (not validation):
        raise ParameterError(
            "--interpolate MODEL and --validation FILE go together: "
            "the validation text decides how much of each model to use"
        )
    paths = [model, interpolate] if interpolate else [model]
    models = [load_language_model(path) for path in paths]
    reading = _common_reading(paths, models)
    with inputs(files, validation or []) as groups, work(run):
        text, *held_out = (
            encode(TextCorpus(group, **source.source(), **reading)) for group in groups if group
        )
        rare = {"rare": True} if unknown == "count" else {}
        scores, weights = _scores(models, text, *held_out, **rare)
    n_unknown = _n_unknown(text, models[0])
    facts = {"model": str(model), **_figures(scores[-1], text.n_tokens), "n_unknown": n_unknown}
    if interpolate:
        facts["alone"] = {str(path): _perplexity(part) for path, part in zip(paths, scores)}
        facts["weights"] = weights
    if run.json:
        print_json(facts)
    else:
        _print(facts, quiet=run.quiet)


def _scores(
    models: list["LanguageModel"],
    text: "EncodedCorpus",
    held_out: "EncodedCorpus | None" = None,
    **settings: bool,
) -> tuple[list["np.ndarray"], list[float]]:
    """Return the log-probabilities of all events by each model, and the weights of a mixture.

    If there is held-out text, it decides the weights, and the scores of the mixture come last. The
    settings are those of ``log_probabilities``.
    """
    from eigentext import engine
    from eigentext.sequences import Interpolation

    scorers: list[Any] = list(models)
    weights: list[float] = []
    if held_out is not None:
        with engine.phase("weigh"):
            mixture = Interpolation(models).fit(held_out)
        scorers = [*mixture.parameters_.models, mixture]  # copies whose tables are made already
        weights = mixture.weights_.tolist()
    with engine.phase("score", len(scorers) * text.n_tokens, "tokens") as advance:
        scores = []
        for scorer in scorers:
            scores.append(scorer.log_probabilities(text, **settings))
            advance(text.n_tokens)
    return scores, weights


def _common_reading(paths: list[Path], models: list["LanguageModel"]) -> dict[str, Any]:
    """Return how text is read for all models; raise ParameterError if they differ in it."""
    reading = reading_of(paths[0], models[0])
    for path, model in zip(paths[1:], models[1:]):
        for name, value in reading_of(path, model).items():
            if value != reading[name]:
                raise ParameterError(
                    f"{paths[0]} and {path} were learned from text read differently ({name}: "
                    f"{reading[name]!r} and {value!r}); fit both with the same options"
                )
    return reading


def _figures(scores: "np.ndarray", n_tokens: int) -> dict[str, Any]:
    """Return the figures for all events: the tokens and, except in a stream, the ends of units."""
    import numpy as np

    n_left_out = int(np.isnan(scores).sum())
    return {
        "perplexity": _perplexity(scores),
        "n_scored": n_tokens - n_left_out,
        "n_left_out": n_left_out,
        "n_ends": len(scores) - n_tokens,
        "n_impossible": int(np.isneginf(scores).sum()),
    }


def _n_unknown(text: "EncodedCorpus", model: "LanguageModel") -> int:
    """Return the number of tokens that are not in the vocabulary."""
    return int(text.counts[model.vocabulary_.ids_of(text.words) < 0].sum())


def _perplexity(scores: "np.ndarray") -> float | None:
    """Return the perplexity; None if it is infinite, which JSON cannot write."""
    import numpy as np

    if np.isnan(scores).all():
        raise CorpusError("the model knows no word of this text; is the text in its language?")
    mean = -np.nanmean(scores)
    return float(np.exp(mean)) if mean < np.inf else None


def _print(facts: dict[str, Any], *, quiet: bool) -> None:
    figure = _shown(facts["perplexity"])
    if quiet:
        printer.print(figure)
        return
    alone = ", ".join(
        f"{path} alone {_shown(part)}" for path, part in facts.get("alone", {}).items()
    )
    print_plain(f"perplexity   {figure}{alone and f'  ({alone})'}")
    ends = f" and {facts['n_ends']:,} ends of units" if facts["n_ends"] else ""
    printer.print(f"scored       {facts['n_scored']:,} tokens{ends}")
    if facts["n_left_out"] or not facts["n_unknown"]:
        printer.print(f"left out     {facts['n_left_out']:,} tokens, unknown to the model")
    else:
        printer.print(f"unknown      {facts['n_unknown']:,} of those scored, as the rare word")
    if facts["n_impossible"]:
        remedy = "leave unknown words out" if facts["n_unknown"] else "fit with more --smoothing"
        printer.print(f"impossible   {facts['n_impossible']:,} of those scored; {remedy}")


def _shown(perplexity: float | None) -> str:
    return "inf" if perplexity is None else f"{perplexity:.2f}"
