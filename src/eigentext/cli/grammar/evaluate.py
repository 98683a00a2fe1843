"""`eigentext grammar evaluate` and `score`: how good are the trees of a parser?"""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    ClusterOption,
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    inputs,
    print_json,
    printer,
    work,
)
from eigentext.cli._lines import decoded, raw_lines
from eigentext.cli.grammar._shared import (
    DecodingOption,
    ModelArgument,
    PruneOption,
    TauOption,
    TreesArgument,
    load_grammar,
    read_treebank,
    speed,
    told_speed,
)
from eigentext.errors import CorpusError, ParameterError

LengthOption = Annotated[
    int,
    typer.Option(min=1, help="Leave out sentences of more words.", show_default="no limit"),
]
_FAILED = re.compile(r"\s*(\(\s*(\(\s*\))?\s*\))?\s*")  # nothing, or (()), as some parsers write


def evaluate(
    model: ModelArgument,
    files: TreesArgument,
    max_length: LengthOption = sys.maxsize,
    decoding: DecodingOption = None,
    prune: PruneOption = None,
    tau: TauOption = None,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Parse the words of trees and score the result by EVALB's rules, in percent.

    Both the parser's trees and the right ones are without traces, function tags and roots, and
    X over nothing but X is one node. Crossing: brackets that cross a right one, per sentence.
    """
    from eigentext.evaluate import brackets

    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster) as watch,
    ):
        grammar = load_grammar(model, decoding=decoding, prune=prune, tau=tau)
        trees = dict(enumerate(read_treebank(paths), 1))
        sentences = {n: tree.leaves() for n, tree in trees.items()}
        kept = [n for n, words in sentences.items() if len(words) <= max_length]
        if not kept:
            raise _too_long(files, max_length)
        parses = list(grammar.parses([sentences[n] for n in kept]))
        result = brackets([trees[n] for n in kept], [parsed.tree for parsed in parses])
    fallbacks = {n: parsed.fallback for n, parsed in zip(kept, parses) if parsed.fallback}
    if json:
        told = {"model": str(model), **result.to_dict(), **speed(watch)}
        print_json({**told, "fallbacks": [{"tree": n, "why": why} for n, why in fallbacks.items()]})
        return
    printer.print(str(result), markup=False)
    if not quiet:
        printer.print(told_speed(watch, [str(n) for n in fallbacks], "tree"), style="dim")


def score(
    gold: Annotated[str, typer.Argument(help="The right trees, a file or a glob; - is stdin.")],
    predicted: Annotated[
        str, typer.Argument(help="A tree for each, in the same order, of any parser.")
    ],
    max_length: LengthOption = sys.maxsize,
    keep_repeats: Annotated[
        bool,
        typer.Option("--keep-repeats", help="X over nothing but X counts twice, as for EVALB."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Score the trees of one file against the right ones of another by EVALB's rules, in percent.

    If the first has as many trees as the second has lines, each line is a tree, and an empty line
    (or one of brackets alone) a sentence without a parse, which counts as an error; so does a tree
    over other words.
    """
    from eigentext.evaluate import brackets

    if gold == predicted == "-":
        raise ParameterError("standard input (-) can be read but once; name a file for the other")
    with inputs([gold, predicted]) as paths, work(quiet=True):
        right = read_treebank(paths[:1], collapse_repeats=not keep_repeats)
        found = _read_predicted(paths[1], len(right), collapse_repeats=not keep_repeats)
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
        raise _too_long([gold], max_length)
    if json:
        about = {"gold_file": gold, "predicted_file": predicted}
        print_json({**about, **result.to_dict(), "failed": failed})
    else:
        printer.print(str(result), markup=False)


def _too_long(files: list[str], max_length: int) -> CorpusError:
    return CorpusError(
        f"{', '.join(files)}: all trees have more than {max_length} words; raise --max-length"
    )


def _read_predicted(path: Path, n_gold: int, **options: Any) -> list[Any]:
    """Trees, or None where a parser had none."""
    from eigentext.corpus.readers import expand_paths
    from eigentext.corpus.trees import parse_trees

    paths = expand_paths([path])
    if len(paths) > 1:
        raise CorpusError(f"{path}: {len(paths)} files; give one with all predicted trees")
    lines = [
        decoded(line, f"{paths[0]}, line {number}", "strict")
        for number, line in enumerate(raw_lines(paths[0]), 1)
    ]
    has_tree = [not _FAILED.fullmatch(line) for line in lines]
    text = "\n".join(line if kept else "" for line, kept in zip(lines, has_tree))
    trees = [_normalized(tree, **options) for tree in parse_trees(text, str(paths[0]))]
    if len(lines) != n_gold or len(trees) != sum(has_tree):
        return trees
    queue = iter(trees)
    return [next(queue) if kept else None for kept in has_tree]


def _normalized(tree: Any, **options: Any) -> Any:
    from eigentext import normalize_tree

    try:
        return normalize_tree(tree, **options)
    except CorpusError:  # no words
        return None
