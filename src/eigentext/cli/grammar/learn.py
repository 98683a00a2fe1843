"""`eigentext grammar fit`: from a treebank to a parser."""

import math
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

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
from eigentext.cli._options import Parameters, given_on_command_line, with_options
from eigentext.cli.grammar._shared import TreesArgument, read_treebank
from eigentext.errors import ParameterError
from eigentext.grammars import parameters as tables
from eigentext.parameters import Given, Table, UnusedParameterWarning

_DIFFER = ("horizontal", "vertical")  # parameters with other defaults for a PCFG


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


def _options() -> Table:
    """Those of a latent grammar, and "pcfg" as one more method; None where defaults differ."""
    latent, plain = tables.LatentPCFG, tables.PCFG
    kinds: dict[str, Any] = dict(latent)
    kinds["method"] = replace(
        latent["method"],
        of=("pcfg", *tables.METHODS),
        help="pcfg: no hidden states; others: how these are learned.",
    )
    shown = {name: f"{latent[name].default}; {plain[name].default} for pcfg" for name in _DIFFER}
    kinds["horizontal"] = Given(
        None,
        what="a number of siblings, or all",
        test=lambda siblings: True,  # its parser has seen it
        parse=parse_horizontal,
        metavar="NUMBER|all",
        shown=shown["horizontal"],
        help=latent["horizontal"].help,
    )
    kinds["vertical"] = replace(latent["vertical"], default=None, shown=shown["vertical"])
    return Table(latent.owner, **kinds)


_OPTIONS = _options()


@with_options(_OPTIONS, checked=False)
def fit(
    context: typer.Context,
    files: TreesArgument,
    output: OutputOption,
    parameters: Parameters,
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
    given = given_on_command_line(context, parameters)
    method = parameters["method"]
    _check_options(given, method, validation, tune=tune)
    started = time.perf_counter()
    table = tables.PCFG if method == "pcfg" else tables.LatentPCFG
    _warn_of_unused(table, given, parameters)
    chosen = table.checked(table.defaults | _values(table, parameters))
    model: Any = (PCFG if method == "pcfg" else LatentPCFG)(**chosen)
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


def _values(table: Table, parameters: Parameters) -> Parameters:
    """Of the parameters that an estimator has; its own defaults where none was given."""
    values = {name: value for name, value in parameters.items() if name in table}
    for name in _DIFFER:
        if values[name] is None:
            del values[name]
        elif values[name] == "all":
            values[name] = None
    return values


def _warn_of_unused(table: Table, given: list[str], parameters: Parameters) -> None:
    """Of what a PCFG does not have; of what the method does not use, the estimator tells."""
    for name in given:
        if name not in table and name != "method":
            warnings.warn(
                f"{table.owner} does not use {_OPTIONS.label(name)}: {parameters[name]!r} has no "
                "effect; it is for hidden states, which --method pcfg has not",
                UnusedParameterWarning,
                stacklevel=2,
            )


def _check_options(
    given: list[str], method: str, validation: list[str] | None, *, tune: bool
) -> None:
    """Refuse what cannot be done."""
    for name, wanted in (("validation", bool(validation)), ("tune", tune)):
        if wanted and method == "pcfg":
            raise ParameterError(
                f"--{name} is for hidden states, which --method pcfg has not; leave it out, or "
                "choose another --method"
            )
    if "early_stopping" in given and tune:
        raise ParameterError("--tune goes by F1; leave --early-stopping out")
    if tune and not validation:
        raise ParameterError("--tune needs trees to measure on: --validation FILE")


def _tune(trees: list[Any], held_out: list[Any], model: Any, given: list[str]) -> Any:
    """Search for the values that were not given."""
    from eigentext.grammars.tuning import MARKOVIZATIONS, tune

    fixed = model.get_params()
    here = fixed.pop("horizontal"), fixed.pop("vertical")
    keep = "horizontal" in given, "vertical" in given
    values = {name: fixed.pop(name) for name in ("n_states", "smoothing", "kappa")}
    grid: dict[str, Any] = {name: [value] for name, value in values.items() if name in given}
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
    used = dict(model.parameters_)
    measure = "f1" if method == "spectral" else used.get("early_stopping", "")
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
