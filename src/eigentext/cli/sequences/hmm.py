"""`eigentext hmm fit|score|next`: hidden Markov models of text."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from eigentext.cli._bundles import (
    FilesArgument,
    FitOptions,
    JsonFlag,
    OutputOption,
    RunOptions,
)
from eigentext.cli._console import (
    finite,
    messages,
    plural,
    print_json,
    print_plain,
    print_rows,
    print_warning,
)
from eigentext.cli._files import check_not_read, inputs, load_kind
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result, write_text
from eigentext.cli._text import SourceOptions, TextUnitOptions, fit_text, no_words
from eigentext.cli._work import work
from eigentext.cli.sequences._shared import reading_of, report_fit
from eigentext.sequences import parameters as tables
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    import pyarrow as pa

    from eigentext import HMM, TextCorpus, WeightedAutomaton
    from eigentext.corpus.documents import Name

    Model = HMM | WeightedAutomaton

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `hmm fit`.")]
_Unit = tuple[Any, list[str]]  # its name or None, and its tokens
_BLANKS = str.maketrans("\t\r\n", "   ")
_TAGS = 12  # names of states that are printed
_BATCH = 100_000  # tokens that are scored together
_FACTS = (
    *("anchors", "outside", "ambiguity"),
    *("rank", "usable_rank", "noise", "negative_mass", "starts", "passes", "converged"),
    "log_likelihood",
)
NO_RARE = (
    "the text has no rare words, so words that the model has never seen are impossible "
    "(log-probability -inf); with --min-count 2, the words seen once stand for them"
)


@with_options(tables.HMM)
def fit(
    output: OutputOption, parameters: Parameters, text: TextUnitOptions, run: FitOptions
) -> None:
    """Learn a hidden Markov model from text and write it as one model file."""
    from eigentext import HMM

    model = HMM(**parameters)
    done = fit_text(model, text, output, run)
    found, method = model.diagnostics_, model.parameters_.method
    summary = f"{model.parameters_.n_states} states"
    if method == "spectral":
        summary += f" in {found['rank']} dimensions"
    if method == "anchor":
        summary += f" ({', '.join(model.tags_[:_TAGS])}{', …' * (len(model.tags_) > _TAGS)})"
    if "passes" in found:
        summary += f" after {plural(round(found['passes']), 'pass', 'passes')} of EM"
    knows_rare = len(model.symbols_) > len(model.vocabulary_)
    facts = {
        "states": model.parameters_.n_states,
        "method": method,
        "knows_rare_words": knows_rare,
        **{name: found[name] for name in _FACTS if name in found},
    }
    report_fit(done, model, facts, summary)
    if not knows_rare and not run.quiet:
        print_warning(NO_RARE)


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

    Tabs separate the columns. Blank lines are skipped. A word that the model has not learned
    counts as a rare word. If the model knows no rare words, it is impossible (-inf). The
    perplexity leaves such words out. With --id, or in a table (--format), the name of the line
    comes first.
    """
    score_lines(_load, model, files, run, source, table, unit)


def score_lines(
    load: Callable[[Path], "Model"],
    model: Path,
    files: list[str],
    run: RunOptions,
    source: SourceOptions,
    table: TableOptions,
    unit: str,
) -> None:
    """Print the log-probability of each unit of files; `load` loads the model."""
    from eigentext import TextCorpus

    format, output = table.chosen(json=run.json), table.output
    check_not_read(output, [model])
    hmm = load(model)
    reading = {**reading_of(model, hmm), "unit": unit}
    totals = _Totals()
    is_named = unit != "stream" and (format != PLAIN or source.id is not None)
    is_printed = format == PLAIN and not run.json and str(output) == "-"
    rows: list[_Row] = []
    with inputs(files) as (paths,), work(run, bars=False):
        corpus = TextCorpus(paths, **source.source(), **reading)
        check_not_read(output, corpus.files)
        shown = {str(path): given for given, path in zip(files, paths) if given == "-"}
        for batch in _batches(_units(corpus, shown if is_named else None)):
            scores = totals.score(hmm, [tokens for _, tokens in batch])
            for (name, tokens), value in zip(batch, scores):
                # The text of a whole file is too long to print.
                text = " ".join(tokens) if unit == "line" else None
                rows.append(_Row(name, value, len(tokens), text))
            if is_printed:
                print_rows(row.cells() for row in rows)
                rows.clear()
        if totals.n_tokens == 0:
            raise no_words(files)
    facts = totals.facts()
    title = source.id or "document"
    if format != PLAIN:
        write_result(_score_table(rows, title), output, format)
    elif run.json:
        whole = {"model": str(model), **facts, "scores": [row.facts(title) for row in rows]}
        if str(output) == "-":
            print_json(whole)
        else:
            write_text([json_text(whole, ascii_only=False), "\n"], output)
    elif not is_printed:
        write_text(("\t".join(row.cells()) + "\n" for row in rows), output)
    if not (run.json or run.quiet):
        _print_totals(facts)


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
    """Print the most probable next words, with their probabilities."""
    print_next(_load(model), model, words, topn, json=json)


def print_next(
    hmm: "Model", model: Path, words: list[str] | None, topn: int, *, json: bool
) -> None:
    """Print what a model expects after some words."""
    import numpy as np

    from eigentext import TextCorpus

    reading = {**reading_of(model, hmm), "unit": "line"}
    (prefix,) = list(TextCorpus([" ".join(words or [])], kind="texts", **reading)) or [[]]
    unknown = [word for word in prefix if word not in hmm.vocabulary_]
    probabilities = hmm.predict_next(prefix)
    best = np.argsort(-probabilities, kind="stable")[:topn]
    found = [(hmm.symbols_[x], float(probabilities[x])) for x in best]
    if json:
        print_json({"prefix": prefix, "unknown": unknown, "next": found})
        return
    if unknown:
        print_warning(f"the model has not learned these words: {', '.join(unknown)}")
    for word, probability in found:
        print_plain(f"  {probability:8.6f}  {word}")


class _Row(NamedTuple):
    """The score of a unit, which is None if it has no tokens; its name and text if they matter."""

    name: "Name | None"
    log_probability: float | None
    n_tokens: int
    text: str | None

    def cells(self) -> list[str]:
        """Return what is printed."""
        value = "" if self.log_probability is None else f"{self.log_probability:.4f}"
        name = None if self.name is None else str(self.name).translate(_BLANKS)
        cells = (name, value, str(self.n_tokens), self.text)
        return [cell for cell in cells if cell is not None]

    def facts(self, title: str) -> dict[str, Any]:
        """Return what JSON has; `title` is the key of the name."""
        name = {} if self.name is None else {title: self.name}
        scored = {"log_probability": finite(self.log_probability), "n_tokens": self.n_tokens}
        return name | scored | ({} if self.text is None else {"text": self.text})


def _score_table(rows: list[_Row], title: str) -> "pa.Table":
    import pyarrow as pa

    from eigentext.corpus.table_output import names_array

    columns: dict[str, Any] = {}
    if rows[0].name is not None:
        title = "document" if title in _Row._fields else title
        columns[title] = names_array([row.name for row in rows if row.name is not None])
    columns["log_probability"] = pa.array([row.log_probability for row in rows], pa.float64())
    columns["n_tokens"] = pa.array([row.n_tokens for row in rows], pa.int64())
    if rows[0].text is not None:
        columns["text"] = pa.array([row.text for row in rows], pa.string())
    return pa.table(columns)


class _Totals:
    """The sum of the scores of all batches."""

    def __init__(self) -> None:
        self.n_tokens = self.n_sequences = self.n_left_out = self.n_impossible = self.n_scored = 0
        self.log_probability = self.known = 0.0

    def score(self, hmm: "Model", units: list[list[str]]) -> list[float | None]:
        """Return the log-probability of each unit of a batch, and add them to the totals.

        It is None for a unit without tokens.
        """
        import numpy as np

        full = [unit for unit in units if unit]
        if not full:
            return [None] * len(units)
        logs = hmm.log_probabilities(full, rare=True)
        known = hmm.vocabulary_.ids_of([word for unit in full for word in unit]) >= 0
        ends = np.cumsum([len(unit) for unit in full])
        self.n_tokens += len(known)
        has_ends = len(logs) > len(known)  # then each unit has one event more, which is known
        if has_ends:
            known = np.insert(known, ends, True)
        borders = np.append(0, ends[:-1] + has_ends * np.arange(1, len(ends)))
        self.n_sequences += len(full)
        self.n_scored += int(known.sum())
        self.n_left_out += int((~known).sum())
        self.n_impossible += int(np.isneginf(logs).sum())
        self.log_probability += float(logs.sum())
        self.known += float(logs[known].sum())
        sums = iter(np.add.reduceat(logs, borders).tolist())
        return [next(sums) if unit else None for unit in units]

    def facts(self) -> dict[str, Any]:
        """Return the totals, and the perplexity over the words that the model knows."""
        import numpy as np

        n_scored = self.n_scored
        perplexity = float(np.exp(-self.known / n_scored)) if n_scored else None
        return {
            "log_probability": finite(self.log_probability),
            "perplexity": finite(perplexity),
            "n_sequences": self.n_sequences,
            "n_tokens": self.n_tokens,
            "n_left_out": self.n_left_out,
            "n_impossible": self.n_impossible,
        }


def _load(path: Path) -> "HMM":
    from eigentext import HMM

    return load_kind(path, HMM, "a hidden Markov model")


def _units(corpus: "TextCorpus", shown: dict[str, str] | None) -> Iterator[_Unit]:
    """Yield the units of a corpus. With names of files, the units get names, too.

    Then also rows of tables without tokens are units.
    """
    from eigentext.corpus.documents import named_batches, units_of

    if shown is None:
        for tokens in corpus:
            yield None, tokens
        return
    for names, part in named_batches(corpus, shown):
        for name, tokens in zip(names, units_of(part)):
            if tokens or corpus.column is not None:
                yield name, tokens


def _batches(units: Iterable[_Unit]) -> Iterator[list[_Unit]]:
    batch: list[_Unit] = []
    size = 0
    for unit in units:
        batch.append(unit)
        size += len(unit[1])
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _print_totals(facts: dict[str, Any]) -> None:
    total, perplexity = facts["log_probability"], facts["perplexity"]
    n_tokens, n_known = facts["n_tokens"], facts["n_tokens"] - facts["n_left_out"]
    if not n_known:
        messages.print(
            f"the model knows none of the {n_tokens:,} tokens; is the text in its language?"
        )
        return
    messages.print(
        f"log-probability {'-inf' if total is None else f'{total:.2f}'} of "
        f"{n_tokens:,} tokens in {facts['n_sequences']:,} sequences; "
        f"perplexity {'inf' if perplexity is None else f'{perplexity:.2f}'} "
        f"over the {n_known:,} tokens that the model knows"
    )
