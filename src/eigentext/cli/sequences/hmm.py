"""`eigentext hmm fit|score|next`: hidden Markov models of text."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    print_json,
    print_plain,
    print_rows,
    print_warning,
)
from eigentext.cli._files import inputs, load_kind
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._text import SourceOptions, TextUnitOptions, fit_text, no_words
from eigentext.cli._work import work
from eigentext.cli.sequences._shared import reading_of, report_fit
from eigentext.sequences import parameters as tables

if TYPE_CHECKING:
    from eigentext import HMM

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `hmm fit`.")]
_BATCH = 100_000  # tokens that are scored together
_FACTS = (
    *("rank", "usable_rank", "noise", "negative_mass", "starts", "passes", "converged"),
    "log_likelihood",
)
_NO_RARE = (
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
    if "passes" in found:
        summary += f" after {found['passes']} passes of EM"
    knows_rare = len(model.symbols_) > len(model.vocabulary_)
    facts = {
        "states": model.parameters_.n_states,
        "method": method,
        "knows_rare_words": knows_rare,
        **{name: found[name] for name in _FACTS if name in found},
    }
    report_fit(done, model, facts, summary)
    if not knows_rare and not run.quiet:
        print_warning(_NO_RARE)


@with_options()
def score(
    model: ModelArgument,
    files: FilesArgument,
    run: RunOptions,
    source: SourceOptions,
    unit: Annotated[
        Literal["line", "document", "stream"],
        typer.Option(help="What gets one score: a line, a file, or all files together."),
    ] = "line",
) -> None:
    """Print the log-probability of each line, its number of tokens and its text; then the totals.

    Tabs separate the columns. Blank lines are skipped. A word that the model has not learned
    counts as a rare word. If the model knows no rare words, it is impossible (-inf). The
    perplexity leaves such words out.
    """
    from eigentext import TextCorpus

    hmm = _load(model)
    reading = {**reading_of(model, hmm), "unit": unit}
    totals = _Totals()
    lines: list[dict[str, Any]] = []
    with inputs(files) as (paths,), work(run, bars=False):
        corpus = TextCorpus(paths, **source.source(), **reading)
        for units in _batches(corpus):
            scores = totals.score(hmm, units)
            # The text of a whole file is too long to print.
            texts = [{"text": " ".join(tokens)} if unit == "line" else {} for tokens in units]
            rows = zip(scores, map(len, units), texts)
            if run.json:
                lines += [
                    {"log_probability": finite(value), "n_tokens": n_tokens, **text}
                    for value, n_tokens, text in rows
                ]
            else:
                print_rows((f"{value:.4f}", str(n), *text.values()) for value, n, text in rows)
        if totals.n_tokens == 0:
            raise no_words(files)
    facts = totals.facts()
    if run.json:
        print_json({"model": str(model), **facts, "scores": lines})
    elif not run.quiet:
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
    import numpy as np

    from eigentext import TextCorpus

    hmm = _load(model)
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


class _Totals:
    """The sum of the scores of all batches."""

    def __init__(self) -> None:
        self.n_tokens = self.n_sequences = self.n_left_out = self.n_impossible = 0
        self.log_probability = self.known = 0.0

    def score(self, hmm: "HMM", units: list[list[str]]) -> list[float]:
        """Return the log-probability of each unit of a batch, and add them to the totals."""
        import numpy as np

        logs = hmm.log_probabilities(units, rare=True)
        known = hmm.vocabulary_.ids_of([word for unit in units for word in unit]) >= 0
        borders = np.cumsum([0, *map(len, units[:-1])])
        self.n_sequences += len(units)
        self.n_tokens += len(logs)
        self.n_left_out += int((~known).sum())
        self.n_impossible += int(np.isneginf(logs).sum())
        self.log_probability += float(logs.sum())
        self.known += float(logs[known].sum())
        return np.add.reduceat(logs, borders).tolist()

    def facts(self) -> dict[str, Any]:
        """Return the totals, and the perplexity over the words that the model knows."""
        import numpy as np

        n_scored = self.n_tokens - self.n_left_out
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


def _batches(units: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    batch: list[list[str]] = []
    size = 0
    for unit in units:
        batch.append(unit)
        size += len(unit)
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
