"""`eigentext grammar evaluate` and `score`: how good are the trees of a parser?"""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import JsonFlag, RunOptions, WorkerOptions
from eigentext.cli._console import print_json, print_plain, printer
from eigentext.cli._files import inputs
from eigentext.cli._lines import decoded
from eigentext.cli._options import Parameters, given_on_command_line, with_options
from eigentext.cli._sources import PlainTextOptions
from eigentext.cli._trees import TreeOptions, read_treebank
from eigentext.cli._work import work
from eigentext.cli.grammar._folds import CV_OPTIONS, FoldOptions, cross_validate
from eigentext.cli.grammar._shared import (
    OtherTreesArgument,
    load_grammar,
    speed_and_fallbacks,
    too_long,
)
from eigentext.errors import CorpusError

if TYPE_CHECKING:
    from eigentext import Tree

LengthOption = Annotated[
    int,
    typer.Option(min=1, help="Leave out longer sentences, in words.", show_default="no limit"),
]
_FAILED = re.compile(r"\s*(\(\s*(\(\s*\))?\s*\))?\s*")  # nothing, or (()), as some parsers write


@with_options(CV_OPTIONS, checked=False)
def evaluate(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="A model written by `grammar fit`. With --cv there is none.")
    ],
    parameters: Parameters,
    folding: FoldOptions,
    sources: PlainTextOptions,
    reading: TreeOptions,
    run: WorkerOptions,
    files: OtherTreesArgument = None,
    max_length: LengthOption = sys.maxsize,
) -> None:
    """Parse the words of trees and score the result by EVALB's rules, in percent.

    The parser's trees and the gold trees are scored without traces, function tags and roots. X
    with X as its only child counts as one node. Crossing: the brackets per sentence that cross a
    gold bracket. 0 CBs, 2 CBs: the sentences with none, and with at most two of them.

    With --cv 10 there is no model. The trees are divided into ten folds, and the grammar that the
    options describe learns from nine folds and parses the tenth, ten times. A fold has whole files,
    if there are enough of them, or else consecutive trees. --against compares with another grammar
    on the same folds, by paired bootstrap.
    """
    given = given_on_command_line(context, parameters)
    folding.check([*given, *sources.given()], files)
    if folding.cv is not None:
        cross_validate(
            context,
            [model, *(files or ())],
            parameters,
            folding,
            sources,
            reading,
            run,
            max_length,
        )
        return
    _evaluate(
        Path(model),
        files or [],
        {name: parameters[name] for name in given},
        reading,
        run,
        max_length,
    )


def _evaluate(
    model: Path,
    files: list[str],
    decoding: dict[str, Any],
    reading: TreeOptions,
    run: WorkerOptions,
    max_length: int,
) -> None:
    """Score the parses of a model."""
    from eigentext.evaluate import brackets

    with inputs(files) as (paths,), work(run) as phases:
        grammar = load_grammar(model, **decoding)
        trees = dict(enumerate(read_treebank(paths, reading), 1))
        sentences = {n: tree.leaves() for n, tree in trees.items()}
        kept = [n for n, words in sentences.items() if len(words) <= max_length]
        if not kept:
            raise too_long(files, max_length)
        parses = list(grammar.parses([sentences[n] for n in kept]))
        result = brackets([trees[n] for n in kept], [parsed.tree for parsed in parses])
    fallbacks = {n: parsed.fallback for n, parsed in zip(kept, parses) if parsed.fallback}
    if run.json:
        facts = {"model": str(model), **result.to_dict(), **phases.speed("sentence")}
        reasons = [{"tree": n, "why": why} for n, why in fallbacks.items()]
        print_json({**facts, "fallbacks": reasons})
        return
    print_plain(str(result))
    if not run.quiet:
        printer.print(speed_and_fallbacks(phases, [*map(str, fallbacks)], "tree"), style="dim")


@with_options()
def score(
    gold: Annotated[
        str, typer.Argument(help="The gold trees: a file or a glob; - is standard input.")
    ],
    predicted: Annotated[
        str, typer.Argument(help="The trees of any parser: one for each, in the same order.")
    ],
    reading: TreeOptions,
    max_length: LengthOption = sys.maxsize,
    keep_repeats: Annotated[
        bool,
        typer.Option(
            "--keep-repeats", help="Count X with X as its only child twice, as EVALB does."
        ),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Score the trees of one file against the gold trees of another by EVALB's rules, in percent.

    If there are as many gold trees as lines in the second file, each line is a tree. An empty line,
    or a line of brackets alone, is then a sentence without a parse. It counts as an error, and so
    does a tree over other words. The dialect is that of the gold trees; the others are in brackets.
    With --skip-bad, a line that is not a tree is a sentence without a parse.
    """
    from eigentext.evaluate import brackets

    with inputs([gold], [predicted]) as (gold_paths, (path,)), work(RunOptions(), bars=False):
        right = read_treebank(gold_paths, reading, collapse_repeats=not keep_repeats)
        found = _read_predicted(path, len(right), reading, collapse_repeats=not keep_repeats)
        if len(found) != len(right):
            raise CorpusError(
                f"{gold}: {len(right):,} trees, but {predicted}: {len(found):,}; give one for "
                "each, and an empty line for a sentence without a parse"
            )
        result = brackets(right, found)
    failed = [
        n
        for n, sentence in enumerate(result.sentences, 1)
        if sentence.failed and sentence.length <= max_length
    ]
    result = result.up_to(max_length)
    if not result.n_sentences:
        raise too_long([gold], max_length)
    if json:
        about = {"gold_file": gold, "predicted_file": predicted}
        print_json({**about, **result.to_dict(), "failed": failed})
    else:
        print_plain(str(result))


def _read_predicted(
    path: Path, n_gold: int, reading: TreeOptions, **options: Any
) -> list["Tree | None"]:
    """Return the trees, with None where the parser found none."""
    from eigentext.corpus.encodings import checked_encoding
    from eigentext.corpus.readers import expand_paths, read_lines
    from eigentext.corpus.trees import parse_trees

    paths = expand_paths([path])
    if len(paths) > 1:
        raise CorpusError(f"{path}: {len(paths)} files; give one with all predicted trees")
    lines = [
        decoded(line, f"{paths[0]}, line {number}", "strict")
        for number, line in read_lines(paths[0], checked_encoding(reading.encoding))
    ]
    has_tree = [not _FAILED.fullmatch(line) for line in lines]
    if reading.skip_bad and len(lines) == n_gold:
        _mark_bad(lines, has_tree, str(paths[0]))
    text = "\n".join(line if kept else "" for line, kept in zip(lines, has_tree))
    trees = [_normalized(tree, **options) for tree in parse_trees(text, str(paths[0]))]
    if len(lines) != n_gold or len(trees) != sum(has_tree):
        return trees
    queue = iter(trees)
    return [next(queue) if kept else None for kept in has_tree]


def _mark_bad(lines: list[str], has_tree: list[bool], source: str) -> None:
    """Mark lines that are not one tree as sentences without a tree, and warn of them."""
    from eigentext.corpus.bad_items import BadItems
    from eigentext.corpus.trees import parse_trees

    bad = BadItems("skip", "trees")
    for number, line in enumerate(lines):
        if has_tree[number]:
            try:
                parse_trees(line, source, number + 1)
            except CorpusError as error:
                has_tree[number] = False
                bad.skip(error)
    bad.report(sum(has_tree))


def _normalized(tree: "Tree", **options: Any) -> "Tree | None":
    """Return the tree normalized; None if no words are left."""
    from eigentext import normalize_tree

    try:
        return normalize_tree(tree, **options)
    except CorpusError:
        return None
