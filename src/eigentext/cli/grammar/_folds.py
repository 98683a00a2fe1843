"""`eigentext grammar evaluate --cv`: grammars that are learned and judged fold by fold."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import WorkerOptions
from eigentext.cli._console import print_json, print_plain, printer
from eigentext.cli._files import inputs
from eigentext.cli._options import Bundle, Parameters, changes, given_on_command_line
from eigentext.cli._sources import PlainTextOptions, load_sources
from eigentext.cli._trees import TreeOptions, read_treebank
from eigentext.cli._work import work
from eigentext.cli.grammar._shared import too_long
from eigentext.cli.grammar.learn import OPTIONS, described
from eigentext.errors import ParameterError
from eigentext.parameters import Table, UnusedParameterWarning

if TYPE_CHECKING:
    from eigentext.cli.grammar._shared import Grammar
    from eigentext.evaluate import Comparison, CrossValidation

_OF_PARSING = ("decoding", "prune", "tau", "mbr")  # the options that a ready model takes, too
_TITLES = "     F1   folds from     to  without  learning s  parsing s  grammar"


def _options() -> Table:
    """Return the options of `grammar fit`, as the help of `grammar evaluate` shows them."""
    shown = {name: replace(OPTIONS[name], shown="as in fit") for name in _OF_PARSING}
    return Table(OPTIONS.owner, renamed=OPTIONS.renamed, **{**OPTIONS, **shown})


CV_OPTIONS = _options()


@dataclass(kw_only=True)
class FoldOptions(Bundle):
    """Whether to learn fold by fold, and what to compare with."""

    cv: Annotated[
        int | None,
        typer.Option(
            "--cv", min=2, help="Learn and parse in so many folds of the trees, without a model."
        ),
    ] = None
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANGES",
            help="With --cv: compare with the same grammar after these changes of options, as in "
            "method=em,states=8 or vectors=none. May be given several times.",
        ),
    ] = None

    def check(self, given: Sequence[str], files: Sequence[str] | None) -> None:
        """Raise ParameterError if the other options do not allow these."""
        if self.cv is not None:
            return
        if self.against:
            raise ParameterError("--against compares what is learned in folds; give --cv 10, too")
        if wrong := [name for name in given if name not in _OF_PARSING]:
            raise ParameterError(
                f"{CV_OPTIONS.label(wrong[0])} is for grammars that are learned in folds; give "
                "--cv 10 and no model, or leave it out"
            )
        if not files:
            raise ParameterError(
                "Missing argument FILE: give a model and trees to parse, or --cv 10 and trees"
            )


def cross_validate(
    context: typer.Context,
    files: Sequence[str],
    parameters: Parameters,
    folding: FoldOptions,
    sources: PlainTextOptions,
    reading: TreeOptions,
    run: WorkerOptions,
    max_length: int,
) -> None:
    """Learn and parse in folds, and print how good each grammar is."""
    from eigentext import evaluate

    systems = _systems(context, parameters, sources, folding.against or [])
    n_folds = folding.cv or 0
    with inputs(files) as (paths,), work(run):
        read = read_treebank(paths, reading)
        pairs = [(a, b) for a, b in zip(read, read.files) if len(a.leaves()) <= max_length]
        if not pairs:
            raise too_long(files, max_length)
        trees, groups = map(list, zip(*pairs))
        evaluate.folds(len(trees), n_folds, groups)  # an error comes before the work
        found = {
            name: evaluate.cross_validate(parser, trees, n_folds, groups=groups)
            for name, parser in systems.items()
        }
    first, *others = found.values()
    compared = {name: one.compare(first) for name, one in zip([*found][1:], others)}
    n_files = len(set(groups))
    about = {"n_folds": n_folds, "n_files": n_files, "by_file": n_files >= n_folds}
    if run.json:
        print_json(about | _facts(systems, found, compared))
        return
    print_plain(str(first.result))
    print_plain("\n".join(["", _TITLES, *(_row(name, one) for name, one in found.items())]))
    for name, comparison in compared.items():
        print_plain(f"\nagainst {name}: {comparison}")
    if not run.quiet:
        what = f"whole files ({n_files:,})" if about["by_file"] else "consecutive trees"
        printer.print(f"{len(trees):,} trees in {n_folds} folds of {what}", style="dim")


def _systems(
    context: typer.Context,
    parameters: Parameters,
    sources: PlainTextOptions,
    against: Sequence[str],
) -> dict[str, "Grammar"]:
    """Return the grammars, not yet learned: that of the options, and those of the changes."""
    given, files = given_on_command_line(context, parameters), sources.given()
    loaded = load_sources(files)
    name = ",".join([_name(given, parameters), *(f"{one}={path}" for one, path in files.items())])
    found = {name: described(given, parameters).set_params(**loaded)}
    for text in against:
        rest, kept = _without_sources(text, loaded)
        changed = changes(context, rest, OPTIONS) if rest else {}
        new = {**parameters, **changed}
        for name in given:  # what the other method has no use for
            kind = OPTIONS[name]
            methods = kind.only.get("method") if name not in changed else None
            if methods is not None and new["method"] not in methods:
                new[name] = kind.default
        with warnings.catch_warnings():
            # A PCFG has no states: this is no mistake if only the other grammar has some.
            warnings.simplefilter("ignore", UnusedParameterWarning)
            other = described([*changed], new).set_params(**kept)
        if text in found or any(repr(other) == repr(one) for one in found.values()):
            raise ParameterError(f"--against {text}: this is the same grammar; change something")
        found[text] = other
    return found


def _without_sources(text: str, loaded: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the changes less those such as vectors=none, and the sources that are left."""
    parts = [part.strip() for part in text.split(",")]
    gone = [part for part in parts if part in {f"{name}=none" for name in loaded}]
    kept = {name: one for name, one in loaded.items() if f"{name}=none" not in gone}
    return ",".join(part for part in parts if part not in gone), kept


def _name(given: Sequence[str], parameters: Parameters) -> str:
    """Return the options that were given, as in method=em,states=8."""
    flags = {name: OPTIONS.flags(name)[0].lstrip("-") for name in given}
    return ",".join(f"{flags[name]}={parameters[name]}" for name in given) or "defaults"


def _row(name: str, found: "CrossValidation") -> str:
    scores = [100 * fold.f1 for fold in found.folds]
    without = sum(fold.n_fallbacks for fold in found.folds)
    return (
        f"{100 * found.f1:7.2f}  {min(scores):11.2f}  {max(scores):5.2f}  {without:7,}  "
        f"{found.learning:10.1f}  {found.parsing:9.1f}  {name}"
    )


def _facts(
    systems: dict[str, "Grammar"],
    found: dict[str, "CrossValidation"],
    compared: dict[str, "Comparison"],
) -> dict[str, Any]:
    """Return all figures, for JSON. `a` of a comparison is the other grammar, `b` the first."""
    return {
        "grammars": [
            {"name": name, "parser": repr(systems[name]), **one.to_dict()}
            for name, one in found.items()
        ],
        "comparisons": [{"against": name, **one.to_dict()} for name, one in compared.items()],
    }
