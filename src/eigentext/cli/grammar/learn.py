"""`eigentext grammar fit`: from a treebank to a parser."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import FitOptions, OutputOption, parse_memory
from eigentext.cli._fitting import fitting
from eigentext.cli._options import Bundle, Parameters, given_on_command_line, with_options
from eigentext.cli._sources import PlainTextOptions, load_sources
from eigentext.cli._trees import TreeOptions, read_treebank
from eigentext.cli.grammar._report import report_fit
from eigentext.cli.grammar._shared import TreesArgument
from eigentext.errors import ParameterError
from eigentext.grammars import parameters as tables
from eigentext.parameters import Given, Table, UnusedParameterWarning

if TYPE_CHECKING:
    from eigentext import Tree
    from eigentext.cli.grammar._shared import Grammar
    from eigentext.grammars.tuning import Tuned

_DIFFER = ("horizontal", "vertical")  # parameters whose defaults differ between the grammars


def parse_horizontal(siblings: str | int) -> int | str:
    """Return a number of siblings, or "all"."""
    if siblings == "all":
        return siblings
    try:
        number = int(siblings)
    except ValueError:
        number = -1
    if number < 0:
        raise typer.BadParameter(f"{siblings!r} is not a number of siblings; write 0, 1, … or all")
    return number


def _options() -> Table:
    """Return the table of a latent grammar, with "pcfg" as one more method.

    Where the defaults of the two grammars differ, the default is None.
    """
    latent, plain = tables.LatentPCFG, tables.PCFG
    kinds: dict[str, Any] = dict(latent)
    kinds["method"] = replace(
        latent["method"],
        of=("pcfg", *tables.METHODS),
        help="pcfg: no hidden states; the others: how hidden states are learned.",
    )
    shown = {name: f"{latent[name].default}; {plain[name].default} for pcfg" for name in _DIFFER}
    kinds["horizontal"] = Given(
        None,
        what="a number of siblings, or all",
        test=lambda siblings: True,  # parse_horizontal has checked it
        parse=parse_horizontal,
        metavar="NUMBER|all",
        shown=shown["horizontal"],
        help=latent["horizontal"].help,
    )
    kinds["vertical"] = replace(latent["vertical"], default=None, shown=shown["vertical"])
    return Table(latent.owner, renamed=latent.renamed, **kinds)


OPTIONS = _options()


@dataclass(kw_only=True)
class MemoryOptions(FitOptions):
    """How a fit runs, and how much memory it may take."""

    memory: Annotated[
        int | None,
        typer.Option(
            "--memory",
            parser=parse_memory,
            metavar="SIZE",
            help="Stop before learning if it would take more memory than this, such as 2GB.",
            show_default="no limit",
        ),
    ] = None


@dataclass(kw_only=True)
class ChoosingOptions(Bundle):
    """How settings are chosen on held-out trees."""

    validation: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Other trees: keep the step that is best on them."),
    ] = None
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Try values of --states, --smoothing, --kappa, --horizontal and --vertical, "
            "except those that are given. Keep the values with the best F1 on --validation.",
        ),
    ] = False

    def check(self, given: list[str], method: str) -> None:
        """Raise ParameterError if the other options do not allow these."""
        for name, wanted in (("validation", bool(self.validation)), ("tune", self.tune)):
            if wanted and method == "pcfg":
                raise ParameterError(
                    f"--{name} is for grammars with hidden states, and --method pcfg has none; "
                    "leave it out, or choose another --method"
                )
        if "early_stopping" in given and self.tune:
            raise ParameterError("--tune measures F1; leave --early-stopping out")
        if self.tune and not self.validation:
            raise ParameterError("--tune needs trees to measure on: --validation FILE")


@with_options(OPTIONS, checked=False)
def fit(
    context: typer.Context,
    files: TreesArgument,
    output: OutputOption,
    parameters: Parameters,
    choosing: ChoosingOptions,
    sources: PlainTextOptions,
    reading: TreeOptions,
    run: MemoryOptions,
) -> None:
    """Learn a parser from trees and write it as one model file.

    Trees are normalized first: traces, function tags, indices and roots are removed.

    Word vectors and clusters of plain text tell the tags of words that are rare in the trees.
    """
    from eigentext.corpus.readers import expand_paths
    from eigentext.matrices import budget

    given = given_on_command_line(context, parameters)
    choosing.check(given, parameters["method"])
    model = described(given, parameters)
    tuned: Tuned | None = None
    models = sources.given()
    with (
        fitting(output, run, files, choosing.validation or []) as done,
        budget.within(run.memory),
    ):
        read = [path for paths in done.paths for path in paths]
        done.check_not_read(expand_paths([*read, *models.values()]))
        model.set_params(**load_sources(models))
        trees = read_treebank(done.paths[0], reading)
        held_out = read_treebank(done.paths[1], reading) if choosing.validation else []
        if choosing.tune:
            tuned = _tune(trees, held_out, model, given)
            model = tuned.model
        else:
            options: dict[str, Any] = {"validation": held_out} if choosing.validation else {}
            model.fit(trees, **options)
        done.save(model)
    report_fit(done, model, parameters["method"], tuned, trees)


def described(given: list[str], parameters: Parameters) -> "Grammar":
    """Return the grammar that the options describe, not yet learned."""
    from eigentext import PCFG, LatentPCFG

    is_plain = parameters["method"] == "pcfg"
    table = tables.PCFG if is_plain else tables.LatentPCFG
    _warn_of_unused(table, given, parameters)
    chosen = table.checked(table.defaults | _values(table, parameters))
    return PCFG(**chosen) if is_plain else LatentPCFG(**chosen)


def _values(table: Table, parameters: Parameters) -> Parameters:
    """Return the values for a table; where no value is given, its own default applies."""
    values = {name: value for name, value in parameters.items() if name in table}
    for name in _DIFFER:
        if values[name] is None:
            del values[name]
        elif values[name] == "all":
            values[name] = None
    return values


def _warn_of_unused(table: Table, given: list[str], parameters: Parameters) -> None:
    """Warn of options that a PCFG does not have.

    The estimator itself warns of those that it has, but does not use with its method.
    """
    for name in given:
        if name not in table and name != "method":
            warnings.warn(
                f"{table.owner} does not use {OPTIONS.label(name)}: {parameters[name]!r} has no "
                "effect; it is for hidden states, and --method pcfg has none",
                UnusedParameterWarning,
                stacklevel=2,
            )


def _tune(
    trees: list["Tree"], held_out: list["Tree"], model: "Grammar", given: list[str]
) -> "Tuned":
    """Search for the best values of parameters that are not given."""
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
