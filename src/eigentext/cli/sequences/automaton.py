"""`eigentext automaton fit|score|next`: weighted automata of text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eigentext.cli._bundles import FilesArgument, FitOptions, JsonFlag, OutputOption, RunOptions
from eigentext.cli._console import print_warning
from eigentext.cli._files import load_kind
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._tables import TableOptions
from eigentext.cli._text import SourceOptions, TextUnitOptions, fit_text
from eigentext.cli.sequences import hmm
from eigentext.cli.sequences._shared import report_fit
from eigentext.sequences import parameters as tables

if TYPE_CHECKING:
    from eigentext import WeightedAutomaton

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `automaton fit`.")]
_FACTS = ("rank", "prefixes", "suffixes", "usable_rank", "noise", "floor", "negative_mass")


@with_options(tables.WeightedAutomaton)
def fit(
    output: OutputOption, parameters: Parameters, text: TextUnitOptions, run: FitOptions
) -> None:
    """Learn a weighted automaton from text and write it as one model file."""
    from eigentext import WeightedAutomaton

    model = WeightedAutomaton(**parameters)
    done = fit_text(model, text, output, run)
    found = model.diagnostics_
    knows_rare = "<rare>" in model.symbols_[len(model.vocabulary_) :]
    facts = {
        "states": found["rank"],
        "knows_rare_words": knows_rare,
        **{name: found[name] for name in _FACTS if name in found},
    }
    basis = f"{found['prefixes']:,} prefixes and {found['suffixes']:,} suffixes"
    report_fit(done, model, facts, f"{found['rank']} states from {basis}")
    if not knows_rare and not run.quiet:
        print_warning(hmm.NO_RARE)


@with_options()
def score(
    model: ModelArgument,
    files: FilesArgument,
    run: RunOptions,
    source: SourceOptions,
    table: TableOptions,
    unit: Annotated[
        Literal["line", "document", "stream"],
        typer.Option(help="What gets one score: a line, a file, or all files together."),
    ] = "line",
) -> None:
    """Print the log-probability of each line, its number of tokens and its text; then the totals.

    The log-probability is that of the whole line with its end, unless the model was learned from a
    stream. Tabs separate the columns. Blank lines are skipped. A word that the model has not
    learned counts as a rare word. If the model knows no rare words, it is impossible (-inf). The
    perplexity leaves such words out, and counts the ends. With --id, or in a table (--format), the
    name of the line comes first.
    """
    hmm.score_lines(_load, model, files, run, source, table, unit)


def next_words(
    model: ModelArgument,
    words: Annotated[
        list[str] | None, typer.Argument(help="The words so far; none: the start of a sequence.")
    ] = None,
    topn: Annotated[
        int, typer.Option("-n", "--topn", "--top", min=1, help="How many to print.")
    ] = 10,
    json: JsonFlag = False,
) -> None:
    """Print the most probable next words, with their probabilities; one may be the end."""
    hmm.print_next(_load(model), model, words, topn, json=json)


def _load(path: Path) -> "WeightedAutomaton":
    from eigentext import WeightedAutomaton

    return load_kind(path, WeightedAutomaton, "a weighted automaton")
