"""`eigentext grammar fit`: from a treebank to a parser."""

import math
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import (
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

_KERNEL = "eigentext.grammars._training_kernels.inside_runs"
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
    "nodes_per_state": "nodes_per_state",
    "early_stopping": "early_stopping",
    "seed": "random_state",
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
        Literal["pcfg", "em", "split-merge"],
        typer.Option(help="pcfg: no hidden states; em, split-merge: how these are learned."),
    ] = "split-merge",
    states: Annotated[
        int, typer.Option("--states", "-m", min=1, help="The most hidden states of a label.")
    ] = 16,
    grammars: Annotated[
        int, typer.Option(min=1, help="Learn so many, from random starts, and let them vote.")
    ] = 1,
    iterations: Annotated[
        int, typer.Option(min=0, help="Steps of EM; for split-merge, in each cycle.")
    ] = 20,
    smooth_steps: Annotated[
        int, typer.Option(min=0, help="For em: further steps, with smoothing.")
    ] = 20,
    smoothing: Annotated[
        float, typer.Option(min=0, help="How far such steps move towards simpler models.")
    ] = 1.0,
    merge: Annotated[
        float, typer.Option(min=0, help="For split-merge: the share of splits to undo.")
    ] = 0.5,
    nodes_per_state: Annotated[
        int, typer.Option(min=1, help="For em: a state for so many nodes of a label at most.")
    ] = 10,
    validation: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Other trees: keep what does best on them."),
    ] = None,
    early_stopping: Annotated[
        Literal["likelihood", "f1"], typer.Option(help="What is measured on --validation.")
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
    _check_options(context, method, validation)
    started = time.perf_counter()
    given = {name: options[name] for name in _COMMON if options[name] is not None}
    if horizontal == "all":
        given["horizontal"] = None
    if method == "pcfg":
        model: Any = PCFG(**given)
    else:
        latent = {name: options[option] for option, name in _LATENT.items()}
        model = LatentPCFG(method=method, **latent, **given)
    held_out = validation or []
    with (
        inputs([*files, *held_out]) as paths,
        work(quiet=quiet or json, threads=threads, kernel=_KERNEL) as watch,
    ):
        check_no_input(output, expand_paths(paths))
        trees = read_treebank(paths[: len(files)])
        if held_out:
            model.fit(trees, validation=read_treebank(paths[len(files) :]))
        else:
            model.fit(trees)
        save_model(model, output)
    seconds = time.perf_counter() - started
    _tell(model, output, method, watch, seconds, json=json, quiet=quiet)


def _check_options(context: typer.Context, method: str, validation: list[str] | None) -> None:
    """Refuse options that would do nothing."""

    def is_given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    if method == "pcfg":
        for name in (*_LATENT, "validation"):
            if is_given(name):
                raise ParameterError(
                    f"--{name.replace('_', '-')} is for hidden states, which --method pcfg has "
                    "not; leave it out, or choose --method em or split-merge"
                )
    if is_given("early_stopping") and not validation:
        raise ParameterError("--early-stopping needs trees to measure on: --validation FILE")


def _tell(
    model: Any,
    output: Path,
    method: str,
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
        print_json({**about, **cost})
        return
    if quiet:
        return
    states = f", {found['n_states']:,} states" if method != "pcfg" else ""
    printer.print(
        f"{output}: {found['n_labels']:,} labels, {found['n_rules']:,} rules{states} from "
        f"{read['n_trees']:,} trees, {read['n_tokens']:,} tokens; {seconds:.1f} s, "
        f"{cost['peak_memory'] / 1e6:,.0f} MB at most",
        markup=False,
    )
    for steps, part in zip(likelihoods, scores):
        if steps:
            told = f"  log-likelihood  {steps[0]:,.1f} to {steps[-1]:,.1f} in {len(steps)} steps"
            measure = f"; best {model.early_stopping} on validation {max(part):.4f}" if part else ""
            printer.print(told + measure)
    times = ", ".join(f"{name} {time:.1f}" for name, time in cost["phases"].items())
    printer.print(f"  seconds         {times}")
