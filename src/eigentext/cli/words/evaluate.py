"""`eigentext words evaluate`: scores on word similarity and analogies, with their coverage."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from eigentext.cli._bundles import EncodingOption, JsonFlag, RunOptions, ThreadsOption
from eigentext.cli._console import can_print, print_json, print_plain, printer
from eigentext.cli._files import inputs
from eigentext.cli._options import Bundle, with_options
from eigentext.cli._work import work
from eigentext.cli.words._shared import ModelArgument, load_words
from eigentext.errors import ParameterError

if TYPE_CHECKING:
    from eigentext import Eigenwords
    from eigentext.evaluate.analogies import AnalogyResult
    from eigentext.evaluate.similarity import SimilarityResult
    from eigentext.words.subwords import CharacterRidge

_TITLES = {"rho": "Spearman's rho", "mul": "3CosMul", "add": "3CosAdd"}
_SOME = 20  # how many missing words to print; --json has all
_Half = Literal["dev", "test"]


@dataclass(kw_only=True)
class TableOptions(Bundle):
    """What is printed besides the scores."""

    by_section: Annotated[
        bool, typer.Option("--by-section", help="Print every section of the analogies.")
    ] = False
    missing: Annotated[
        bool, typer.Option("--missing", help="List the words that have no vector.")
    ] = False


@with_options()
def evaluate(
    model: ModelArgument,
    files: Annotated[
        list[str],
        typer.Argument(
            help="Pairs of words with scores, or analogies (four words on each line); - is "
            "standard input."
        ),
    ],
    shown: TableOptions,
    method: Annotated[
        Literal["mul", "add", "both"],
        typer.Option(help="How to solve analogies: 3CosMul, 3CosAdd, or both."),
    ] = "both",
    case: Annotated[
        Literal["fold", "exact"],
        typer.Option(
            help="fold: look up a word as it is, then in lower case, then capitalized; exact: only "
            "as it is."
        ),
    ] = "fold",
    half: Annotated[
        _Half | None,
        typer.Option(help="Use only this half: choose settings on dev, report on test."),
    ] = None,
    unseen: Annotated[
        bool,
        typer.Option(
            "--unseen",
            help="Predict the missing vectors of pairs; the model needs fit --oov characters.",
        ),
    ] = False,
    encoding: EncodingOption = "utf-8",
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Score a model on word similarity and analogies, and say how much of them it covers."""
    vectors = load_words(model)
    if unseen and vectors.spelling_ is None:
        raise ParameterError(f"{model}: predicts no unseen words; fit it with --oov characters")
    with inputs(files) as (paths,):
        tests = _read(files, paths, half, encoding)
    methods = ("mul", "add") if method == "both" else (method,)
    spelling = vectors.spelling_ if unseen else None
    with work(RunOptions(threads=threads, json=json)):
        results = {
            name: _score(vectors, kind, items, methods, case, spelling)
            for name, (kind, items) in tests.items()
        }
    if json:
        parts = [
            {"file": name, "kind": kind, **results[name].to_dict()}
            for name, (kind, _) in tests.items()
        ]
        print_json({"model": str(model), "half": half, "case": case, "files": parts})
        return
    _print_table(results, methods, by_section=shown.by_section)
    _print_notes(results, missing=shown.missing)


def _score(
    vectors: "Eigenwords",
    kind: str,
    items: list[Any],
    methods: Any,
    case: Any,
    spelling: "CharacterRidge | None",
) -> "SimilarityResult | AnalogyResult":
    """Score the vectors on one file; `spelling` predicts the missing words of pairs."""
    import numpy as np

    from eigentext.evaluate import analogies, similarity

    if kind != "pairs":
        return analogies(vectors, items, method=methods, case=case)
    result = similarity(vectors, items, case=case)
    if spelling is None or not result.missing:
        return result
    words = [*vectors.vocabulary_.words, *result.missing]
    more = np.vstack([vectors.vectors_, spelling.predict(result.missing)])
    return similarity((words, more), items, case=case)


def _read(
    files: list[str], paths: list[Path], half: _Half | None, encoding: str
) -> dict[str, tuple[str, list[Any]]]:
    """Return the kind and the items of each file, by its name, before any work begins."""
    from eigentext import evaluate
    from eigentext.corpus.readers import expand_paths

    tests: dict[str, tuple[str, list[Any]]] = {}
    for given, path in zip(files, paths):
        for file in expand_paths([path]):
            kind = evaluate.kind_of(file, encoding=encoding)
            read = evaluate.read_pairs if kind == "pairs" else evaluate.read_questions
            items: list[Any] = list(read(file, encoding=encoding))
            if half:
                items = evaluate.half(items, half)
            tests["standard input" if given == "-" else str(file)] = kind, items
    return tests


def _print_table(results: dict[str, Any], methods: tuple[str, ...], *, by_section: bool) -> None:
    has_pairs = any(hasattr(result, "rho") for result in results.values())
    has_questions = any(hasattr(result, "correct") for result in results.values())
    columns = (("rho",) if has_pairs else ()) + (methods if has_questions else ())
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", overflow="fold")
    for column in (*(_TITLES[name] for name in columns), "covered"):
        table.add_column(column, justify="right", no_wrap=True)

    def add_row(name: str, scores: dict[str, str], covered: int, n: int, style: str = "") -> None:
        cells = (scores.get(column, "") for column in columns)
        table.add_row(Text(name), *cells, f"{covered:,}/{n:,}", style=style)

    names = [Path(name).name for name in results]
    for short, (name, result) in zip(names, results.items()):
        name = short if names.count(short) == 1 else name
        if hasattr(result, "rho"):
            add_row(name, {"rho": _figure(result.rho, ".3f")}, result.n_covered, result.n_pairs)
            continue
        add_row(name, *_accuracy_row(result))
        for group, part in result.groups.items():
            add_row(f"  {group}", *_accuracy_row(part))
        if by_section and result.sections.keys() != {""}:
            for section, part in result.sections.items():
                add_row(f"    {section or '(no section)'}", *_accuracy_row(part), style="dim")
    printer.print(table)


def _accuracy_row(part: Any) -> tuple[dict[str, str], int, int]:
    shares = {method: _figure(share, ".1%") for method, share in part.accuracy.items()}
    return shares, part.n_covered, part.n_questions


def _figure(score: float, form: str) -> str:
    if math.isnan(score):
        return "—" if can_print("—") else "-"
    return format(score, form)


def _print_notes(results: dict[str, Any], *, missing: bool) -> None:
    """Print why there is no score, and which words are missing."""
    for name, result in results.items():
        if not result.n_covered:
            print_plain(
                f"{name}: not scored, because the model has none of its words. Is the model in the "
                "same language? Are the words frequent enough (fit --min-count)?"
            )
        elif getattr(result, "reason", ""):
            print_plain(f"{name}: not scored, because {result.reason}")
        if result.folded:
            print_plain(
                f"{name}: {result.folded:,} words found in another case (--case exact forbids it)",
                style="dim",
            )
        if missing and result.missing:
            some = ", ".join(result.missing[:_SOME])
            more = len(result.missing) - _SOME
            rest = f", and {more:,} more (--json has all)" if more > 0 else ""
            print_plain(f"{name}: {len(result.missing):,} missing: {some}{rest}")
