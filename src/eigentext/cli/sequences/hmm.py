"""`eigentext hmm fit|score|next`: hidden Markov models of text."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import (
    CacheOption,
    CheckpointOption,
    ClusterOption,
    ErrorsOption,
    FilesArgument,
    JsonFlag,
    MemoryOption,
    NoCacheFlag,
    OutputOption,
    QuietFlag,
    ThreadsOption,
    TokenizerOption,
    check_model_path,
    check_no_input,
    inputs,
    messages,
    print_json,
    print_rows,
    print_warning,
    printer,
    save_model,
    work,
)
from eigentext.cli._options import Parameters, with_options
from eigentext.cli.sequences._shared import LowercaseFlag, UnitOption, reading_of, report_fit
from eigentext.errors import CorpusError, EigentextError
from eigentext.matrices.budget import DEFAULT_MEMORY
from eigentext.sequences import parameters as tables

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `hmm fit`.")]
_BATCH = 100_000  # tokens scored at a time
_FACTS = ("rank", "usable_rank", "noise", "negative_mass", "starts", "passes", "converged")
_NO_RARE = (
    "no word of the text is rare, so a word never seen will be impossible (log-probability -inf); "
    "with --min-count 2, those seen once stand for it"
)


@with_options(tables.HMM)
def fit(
    files: FilesArgument,
    output: OutputOption,
    parameters: Parameters,
    tokenizer: TokenizerOption = "whitespace",
    lowercase: LowercaseFlag = False,
    unit: UnitOption = "line",
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    checkpoint: CheckpointOption = None,
    memory: MemoryOption = DEFAULT_MEMORY,
    cache: CacheOption = None,
    no_cache: NoCacheFlag = False,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn a hidden Markov model from text and write it as one model file."""
    from eigentext import HMM, TextCorpus

    check_model_path(output)
    started = time.perf_counter()
    model = HMM(**parameters)
    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster, checkpoint=checkpoint) as watch,
    ):
        corpus = TextCorpus(
            paths, tokenizer=tokenizer, lowercase=lowercase, unit=unit, errors=errors
        )
        check_no_input(output, corpus.files)
        model.fit(corpus, memory=memory, cache=False if no_cache else cache or True)
        save_model(model, output)
    found = model.diagnostics_
    told = {name: found[name] for name in (*_FACTS, "log_likelihood") if name in found}
    states, method = model.parameters_.n_states, model.parameters_.method
    summary = f"{states} states"
    if method == "spectral":
        summary += f" in {found['rank']} dimensions"
    if "passes" in found:
        summary += f" after {found['passes']} passes of EM"
    knows_rare = len(model.symbols_) > len(model.vocabulary_)
    told = {"states": states, "method": method, "knows_rare_words": knows_rare, **told}
    seconds = time.perf_counter() - started
    report_fit(model, output, told, summary, watch, seconds, json=json, quiet=quiet)
    if not knows_rare and not quiet:
        print_warning(_NO_RARE)


def score(
    model: ModelArgument,
    files: FilesArgument,
    unit: Annotated[
        Literal["line", "document", "stream"], typer.Option(help="What gets a score of its own.")
    ] = "line",
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """The log-probability of each line, its tokens and its text, parted by tabs; then all of them.

    Blank lines are passed over. Words never learned count as rare ones, where the model knows any
    (else they are impossible: -inf), and the perplexity leaves them out.
    """
    from eigentext import TextCorpus

    hmm = _load(model)
    reading = {**reading_of(model, hmm), "unit": unit}
    totals = _Totals()
    lines: list[dict[str, Any]] = []
    with inputs(files) as paths, work(quiet=True, threads=threads):
        corpus = TextCorpus(paths, errors=errors, **reading)
        for units in _batches(corpus):
            scores = totals.score(hmm, units)
            # The text of a whole file would drown its score.
            texts = [{"text": " ".join(tokens)} if unit == "line" else {} for tokens in units]
            rows = zip(scores, map(len, units), texts)
            if json:
                lines += [
                    {"log_probability": _finite(value), "n_tokens": n_tokens, **text}
                    for value, n_tokens, text in rows
                ]
            else:
                print_rows((f"{value:.4f}", str(n), *text.values()) for value, n, text in rows)
        if totals.n_tokens == 0:
            raise CorpusError(f"{', '.join(files)}: no words in it; is the file empty?")
    told = {"model": str(model), **totals.told()}
    if json:
        print_json({**told, "scores": lines})
    elif not quiet:
        _print_totals(told)


def next_words(
    model: ModelArgument,
    words: Annotated[
        list[str] | None, typer.Argument(help="What was said so far; nothing: the start.")
    ] = None,
    topn: Annotated[
        int, typer.Option("-n", "--topn", "--top", min=1, help="How many to print.")
    ] = 10,
    json: JsonFlag = False,
) -> None:
    """The most probable next words, with their probabilities."""
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
        print_warning(f"words never learned, which tell little: {', '.join(unknown)}")
    for word, probability in found:
        printer.print(f"  {probability:8.6f}  {word}", markup=False)


class _Totals:
    """Adds up the scores of all batches."""

    def __init__(self) -> None:
        self.n_tokens = self.n_sequences = self.n_left_out = self.n_impossible = 0
        self.log_probability = self.known = 0.0

    def score(self, hmm: Any, units: list[list[str]]) -> list[float]:
        """The log-probability of each unit of a batch."""
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

    def told(self) -> dict[str, Any]:
        """The totals, and the perplexity over the words learned."""
        import numpy as np

        n_scored = self.n_tokens - self.n_left_out
        perplexity = float(np.exp(-self.known / n_scored)) if n_scored else None
        return {
            "log_probability": _finite(self.log_probability),
            "perplexity": None if perplexity is None else _finite(perplexity),
            "n_sequences": self.n_sequences,
            "n_tokens": self.n_tokens,
            "n_left_out": self.n_left_out,
            "n_impossible": self.n_impossible,
        }


def _load(path: Path) -> Any:
    from eigentext import HMM
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, HMM):
        raise EigentextError(f"{path}: holds {model!r}, not a hidden Markov model")
    return model


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


def _finite(value: float) -> float | None:
    """None for infinity, for which JSON has no name."""
    return value if abs(value) < float("inf") else None


def _print_totals(told: dict[str, Any]) -> None:
    total, perplexity = told["log_probability"], told["perplexity"]
    n_known = told["n_tokens"] - told["n_left_out"]
    messages.print(
        f"log-probability {'-inf' if total is None else f'{total:.2f}'} of "
        f"{told['n_tokens']:,} tokens in {told['n_sequences']:,} sequences; "
        f"perplexity {'inf' if perplexity is None else f'{perplexity:.2f}'} "
        f"over the {n_known:,} of known words"
        if n_known
        else f"none of {told['n_tokens']:,} tokens is known to the model; is it in that language?"
    )
