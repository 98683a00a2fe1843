"""`eigentext grammar fit`: from a treebank to a parser."""

import math
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import (
    CheckpointOption,
    ClusterOption,
    JsonFlag,
    OutputOption,
    QuietFlag,
    ThreadsOption,
    Watch,
    check_model_path,
    check_no_input,
    inputs,
    peak_memory,
    print_json,
    printer,
    save_model,
    work,
)
from eigentext.cli.grammar._shared import TreesArgument, read_treebank
from eigentext.errors import ParameterError

Method = Literal["pcfg", "spectral", "spectral+em", "pivot", "pivot+em", "em", "split-merge"]
_COMMON = (
    *("binarize", "horizontal", "vertical", "rare", "beta", "gamma"),
    *("prune", "decoding", "tau"),
)
# What a grammar without hidden states has no use for, and what the estimator calls it.
_LATENT = {
    "states": "n_states",
    "grammars": "n_grammars",
    "iterations": "n_iter",
    "smooth_steps": "n_smooth",
    "smoothing": "smoothing",
    "merge": "merge",
    "features": "features",
    "kappa": "kappa",
    "tolerance": "tolerance",
    "noise": "noise",
    "negative": "negative",
    "nodes_per_state": "nodes_per_state",
    "early_stopping": "early_stopping",
    "seed": "random_state",
}
_BY_FEATURES = ("spectral", "spectral+em", "pivot", "pivot+em")
_BY_EM = ("spectral+em", "pivot+em", "em")
# The methods that have a use for an option, if not all of them have.
_FOR = {
    "iterations": (*_BY_EM, "split-merge"),
    "smooth_steps": _BY_EM,
    "merge": ("split-merge",),
    "features": _BY_FEATURES,
    "kappa": _BY_FEATURES,
    "tolerance": ("spectral", "pivot", "pivot+em"),
    "noise": ("spectral", "pivot", "pivot+em"),
    "negative": ("spectral",),
    "nodes_per_state": (*_BY_FEATURES, "em"),
    "early_stopping": (*_BY_EM, "split-merge"),  # what "spectral" calls probability is none
}


def parse_horizontal(siblings: str | int) -> int | str:
    """A number of siblings, or "all"."""
    if siblings == "all":
        return siblings
    try:
        number = int(siblings)
    except ValueError:
        number = -1
    if number < 0:
        raise typer.BadParameter(f"{siblings!r} is no number of siblings, as 0 or 1, nor all")
    return number


def fit(
    context: typer.Context,
    files: TreesArgument,
    output: OutputOption,
    method: Annotated[
        Method, typer.Option(help="pcfg: no hidden states; others: how these are learned.")
    ] = "spectral",
    states: Annotated[
        int, typer.Option("--states", "-m", min=1, help="The most hidden states of a label.")
    ] = 16,
    grammars: Annotated[
        int, typer.Option(min=1, help="Learn so many, from random starts, and let them vote.")
    ] = 1,
    iterations: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Steps of EM; for split-merge, in each cycle.",
            show_default="20; 0 after spectral or pivot",
        ),
    ] = None,
    smooth_steps: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="For EM: further steps, with smoothing.",
            show_default="20; 4 after spectral, 2 after pivot",
        ),
    ] = None,
    smoothing: Annotated[
        float, typer.Option(min=0, help="How far rules and words move towards simpler models.")
    ] = 1.0,
    merge: Annotated[
        float, typer.Option(min=0, help="For split-merge: the share of splits to undo.")
    ] = 0.5,
    features: Annotated[
        Literal["full", "simple"],
        typer.Option(help="What spectral and pivot look at; simple: the rules above and below."),
    ] = "full",
    kappa: Annotated[
        float,
        typer.Option(min=0, help="Features are scaled by sqrt(1 / (count + kappa)); inf: not."),
    ] = 5.0,
    tolerance: Annotated[
        float,
        typer.Option(min=0, help="Singular values below this share of the largest do not count."),
    ] = 0.01,
    noise: Annotated[
        float,
        typer.Option(min=0, help="Of the scales of features, where several --grammars vote."),
    ] = 0.2,
    negative: Annotated[
        Literal["abs", "clip", "none"],
        typer.Option(help="For spectral: absolute values of negative marginals, zeros, neither."),
    ] = "abs",
    nodes_per_state: Annotated[
        int, typer.Option(min=1, help="A state for so many nodes of a label at most.")
    ] = 10,
    validation: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Other trees: keep what does best on them."),
    ] = None,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Try values of --states, --smoothing, --kappa, --horizontal and --vertical, those "
            "that are not given, and keep what has the best F1 on --validation.",
        ),
    ] = False,
    early_stopping: Annotated[
        Literal["likelihood", "f1"], typer.Option(help="For EM: what is measured on --validation.")
    ] = "likelihood",
    binarize: Annotated[
        Literal["left", "right"], typer.Option(help="Where nodes of many children branch.")
    ] = "left",
    horizontal: Annotated[
        Any,
        typer.Option(
            parser=parse_horizontal,
            metavar="NUMBER|all",
            help="How many siblings such a branch remembers.",
            show_default="0; 2 for pcfg",
        ),
    ] = None,
    vertical: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="1: labels alone; 2: with their parents'; and so on.",
            show_default="1; 2 for pcfg",
        ),
    ] = None,
    rare: Annotated[
        int, typer.Option(min=0, help="Words seen no more often share their class's statistics.")
    ] = 5,
    beta: Annotated[
        float, typer.Option(min=0, help="What a word's class weighs, in tokens of the word.")
    ] = 1.0,
    gamma: Annotated[
        float, typer.Option(min=0, help="What the tags of a word weigh, in tokens.")
    ] = 3.0,
    prune: Annotated[
        float, typer.Option(min=0, help="In parsing, leave out what is less probable; 0: nothing.")
    ] = 5e-5,
    decoding: Annotated[
        Literal["mbr", "max-rule", "viterbi"],
        typer.Option(help="mbr: the most expected brackets; others: the best tree as one."),
    ] = "mbr",
    tau: Annotated[
        float, typer.Option(min=0, help="For mbr: how probable a bracket must be.")
    ] = 0.45,
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds give equal bits.")] = 0,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    checkpoint: CheckpointOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn a parser from trees and write it as one model file.

    Trees are normalised first: no traces, function tags, indices or roots.
    """
    from eigentext import PCFG, LatentPCFG
    from eigentext.corpus.readers import expand_paths

    check_model_path(output)
    options = dict(context.params)
    given = {name for name in options if _is_given(context, name)}
    _check_options(given, method, grammars, validation)
    started = time.perf_counter()
    parameters = {name: options[name] for name in _COMMON if options[name] is not None}
    if horizontal == "all":
        parameters["horizontal"] = None
    if method != "pcfg":
        parameters |= {name: options[option] for option, name in _LATENT.items()}
        parameters["method"] = method
    model: Any = (PCFG if method == "pcfg" else LatentPCFG)(**parameters)
    held_out, tuned = validation or [], None
    with (
        inputs([*files, *held_out]) as paths,
        work(
            quiet=quiet or json,
            threads=threads,
            cluster=cluster,
            checkpoint=checkpoint,
        ) as watch,
    ):
        check_no_input(output, expand_paths(paths))
        trees = read_treebank(paths[: len(files)])
        if tune:
            tuned = _tune(trees, read_treebank(paths[len(files) :]), model, given)
            model = tuned.model
        elif held_out:
            model.fit(trees, validation=read_treebank(paths[len(files) :]))
        else:
            model.fit(trees)
        save_model(model, output)
    seconds = time.perf_counter() - started
    _tell(model, output, method, tuned, watch, seconds, json=json, quiet=quiet)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _check_options(
    given: set[str], method: str, grammars: int, validation: list[str] | None
) -> None:
    """Refuse options that would do nothing."""
    for name in (*_LATENT, "validation", "tune"):
        option = f"--{name.replace('_', '-')}"
        if name not in given:
            continue
        if method == "pcfg":
            raise ParameterError(
                f"{option} is for hidden states, which --method pcfg has not; leave it out, or "
                "choose another --method"
            )
        if method not in _FOR.get(name, (method,)):
            raise ParameterError(
                f"{option} does nothing with --method {method}; leave it out, or choose "
                f"--method {' or '.join(_FOR[name])}"
            )
    if "noise" in given and grammars == 1:
        raise ParameterError("--noise makes grammars differ; let several of them vote: --grammars")
    if "early_stopping" in given and "tune" in given:
        raise ParameterError("--tune goes by F1; leave --early-stopping out")
    for name in ("early_stopping", "tune"):
        if name in given and not validation:
            option = f"--{name.replace('_', '-')}"
            raise ParameterError(f"{option} needs trees to measure on: --validation FILE")


def _tune(trees: list[Any], held_out: list[Any], model: Any, given: set[str]) -> Any:
    """Search for the values that were not given."""
    from eigentext.grammars.tuning import MARKOVIZATIONS, tune

    fixed = model.get_params()
    here = fixed.pop("horizontal"), fixed.pop("vertical")
    keep = "horizontal" in given, "vertical" in given
    values = {name: fixed.pop(_LATENT[name]) for name in ("states", "smoothing", "kappa")}
    grid: dict[str, Any] = {_LATENT[n]: [x] for n, x in values.items() if n in given}
    grid["markovization"] = [
        tuple(one if kept else other for one, kept, other in zip(here, keep, pair))
        for pair in MARKOVIZATIONS
    ]
    return tune(trees, held_out, **fixed | grid)


def _tell(
    model: Any,
    output: Path,
    method: str,
    tuned: Any,
    watch: Watch,
    seconds: float,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print what was learned, and what it took."""
    found, read = model.diagnostics_, model.provenance_
    histories = [dict(steps) for steps in found.get("history", [])]
    scores = [steps.pop("validation", []) for steps in histories]
    spectra = [
        {name: steps.pop(name) for name in ("condition_number", "singular_values")}
        for steps in histories
        if "singular_values" in steps
    ]
    pivots = [steps.pop("separations") for steps in histories if "separations" in steps]
    likelihoods = [[x for part in steps.values() for x in part] for steps in histories]
    cost = {"seconds": round(seconds, 3), "phases": watch.times(), "peak_memory": peak_memory()}
    if json:
        about = {
            "model": str(output),
            "method": method,
            **{name: read[name] for name in ("n_trees", "n_tokens", "n_words")},
            **{name: value for name, value in found.items() if name != "history"},
            "log_likelihoods": likelihoods,
            "validation": [[x if math.isfinite(x) else None for x in part] for part in scores],
        }
        if spectra:
            about["spectra"] = spectra
        if pivots:
            about["separations"] = pivots
        if tuned:
            about["trials"] = [_row(trial) for trial in tuned.trials]
        print_json({**about, **cost})
        return
    if quiet:
        return
    if tuned:
        printer.print(str(tuned), markup=False)
    states = f", {found['n_states']:,} states" if method != "pcfg" else ""
    printer.print(
        f"{output}: {found['n_labels']:,} labels, {found['n_rules']:,} rules{states} from "
        f"{read['n_trees']:,} trees, {read['n_tokens']:,} tokens; {seconds:.1f} s, "
        f"{cost['peak_memory'] / 1e6:,.0f} MB at most",
        markup=False,
    )
    measure = "f1" if method == "spectral" else getattr(model, "early_stopping", "")
    for steps, part in zip(likelihoods, scores):
        told = []
        if steps:
            told.append(
                f"log-likelihood  {steps[0]:,.1f} to {steps[-1]:,.1f} in {len(steps)} steps"
            )
        if part:
            told.append(f"best {measure} on validation {max(part):.4f}")
        if told:
            printer.print(f"  {'; '.join(told)}")
    if spectra:
        conditions = ", ".join(f"{one['condition_number']:.3g}" for one in spectra)
        printer.print(f"  singular values largest / least kept: {conditions}")
    if "negative_marginals" in found:
        marginals, sentences = found["negative_marginals"], found["negative_sentences"]
        printer.print(
            f"  below zero      {marginals:.1%} of marginals, {sentences:.1%} of sentences"
        )
    times = ", ".join(f"{name} {time:.1f}" for name, time in cost["phases"].items())
    printer.print(f"  seconds         {times}")


def _row(trial: Any) -> dict[str, Any]:
    """A trial for JSON, which has no infinity."""
    row = {**trial.parameters, **trial._asdict()}
    del row["parameters"]
    return {name: None if x == math.inf else x for name, x in row.items()}
