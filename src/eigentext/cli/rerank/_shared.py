"""What the commands on rerankers share: models, n-best files and gold structures."""

import codecs
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from eigentext.cli._files import load_kind
from eigentext.cli._trees import FormatOptions
from eigentext.errors import CorpusError

if TYPE_CHECKING:
    from eigentext import Reranker, Tree, TreeReranker

ModelArgument = Annotated[
    Path, typer.Argument(help="A model written by `rerank fit` or `rerank trees`.")
]
CandidatesArgument = Annotated[
    list[str],
    typer.Argument(
        help="N-best lists: on each line a log-probability, a tab and a tree (or word/tag word/tag "
        "...), and an empty line after each list; files or globs (plain, .gz, .bz2, .xz, .zst); - "
        "is standard input."
    ),
]
GoldOption = Annotated[
    list[str],
    typer.Option(
        "--gold",
        metavar="FILE",
        help="The gold structures, in the same order: trees, or lines of word/tag.",
    ),
]
_START = 1 << 16  # bytes that show what is in a file


class CandidatesWithGold(NamedTuple):
    """Lists of candidates, with the gold structure for each list."""

    candidates: list[list[Any]]
    gold: list[Any]


def read_examples(
    candidates: list[Path], gold: list[Path], reading: FormatOptions
) -> CandidatesWithGold:
    """Read lists and their gold structures; check that both have the same words in order."""
    from eigentext.kernels.candidate import is_tree

    lists = read_lists(candidates, reading.encoding)
    first = next((one[0].structure for one in lists if one), None)
    right = _read_gold(gold, reading, are_trees=first is not None and is_tree(first))
    if len(lists) != len(right):  # perhaps there is no gold for the empty lines of a text
        lists = [one for one in lists if one]
    files, gold_files = (", ".join(map(str, paths)) for paths in (candidates, gold))
    if len(lists) != len(right):
        raise CorpusError(
            f"{files}: {len(lists):,} lists of candidates, but {gold_files}: {len(right):,} gold "
            "structures; give one for each list"
        )
    for number, (one, structure) in enumerate(zip(lists, right), 1):
        if not one:
            continue
        if is_tree(one[0].structure) != is_tree(structure):
            raise CorpusError(
                f"{files} and {gold_files}: trees in one, tagged sequences in the other; give the "
                "same kind in both"
            )
        place = f"{files}, input {number}"
        if _words(one[0].structure, place) != _words(structure):
            raise CorpusError(
                f"{place}: other words than in {gold_files}; give both in the same "
                "order, over the same words"
            )
    return CandidatesWithGold(lists, right)


def read_lists(paths: list[Path], encoding: str) -> list[list[Any]]:
    """Return the candidates for each input."""
    from eigentext import engine
    from eigentext.reranking import read_candidates

    with engine.phase("read candidates"):
        return read_candidates(paths, encoding=encoding)


def check_kind(
    reranker: "Reranker | TreeReranker", model: Path, lists: list[list[Any]], files: list[str]
) -> None:
    """Raise CorpusError if the candidates are not of the kind that the reranker learned from.

    `model` and `files` are their names in the error.
    """
    from eigentext.kernels.candidate import is_tree
    from eigentext.reranking.measures import tree_f1

    kinds = {True: "trees", False: "tagged sequences"}
    known = reranker.measure_ is tree_f1
    for one in lists:
        if one and is_tree(one[0].structure) != known:
            raise CorpusError(
                f"{', '.join(files)}: {kinds[not known]}, but {model} ranks {kinds[known]}; fit a "
                f"reranker to {kinds[not known]}"
            )


def load_reranker(path: Path) -> "Reranker | TreeReranker":
    """Load a reranker."""
    from eigentext import Reranker, TreeReranker

    return load_kind(path, (Reranker, TreeReranker), "a reranker")


def _read_gold(paths: list[Path], reading: FormatOptions, *, are_trees: bool) -> list[Any]:
    """Return the gold structures; trees without traces, function tags and roots.

    If the candidates are trees, and the gold structures look like trees, they are read as all
    treebanks are.
    """
    from eigentext import engine, read_trees
    from eigentext.reranking.candidates import read_structures

    with engine.phase("read gold"):
        if not (are_trees and _looks_like_trees(paths, reading)):
            return read_structures(paths, encoding=reading.encoding)
        trees = read_trees(paths, **reading.arguments())
        return [_normalized(tree, trees.about.place(n)) for n, tree in enumerate(trees)]


def _looks_like_trees(paths: list[Path], reading: FormatOptions) -> bool:
    from eigentext.corpus.encodings import checked_encoding
    from eigentext.corpus.readers import expand_paths, named_errors, open_bytes
    from eigentext.corpus.reading_trees import BRACKETS, format_of

    path = expand_paths(paths)[0]
    with named_errors(path), open_bytes(path, encoding=checked_encoding(reading.encoding)) as file:
        start = file.read(_START).removeprefix(codecs.BOM_UTF8)
    return format_of(start) != BRACKETS or start.lstrip().startswith(b"(")


def _words(structure: Any, place: str = "") -> list[str]:
    """Return the words of a tree or of a tagged sequence."""
    from eigentext.corpus.trees import without_brackets
    from eigentext.kernels.candidate import is_tree

    if not is_tree(structure):
        return [word for word, _ in structure]
    return [without_brackets(word) for word in _normalized(structure, place).leaves()]


def _normalized(tree: "Tree", place: str) -> "Tree":
    from eigentext import normalize_tree

    try:
        return normalize_tree(tree)
    except CorpusError as error:  # the tree has no words
        raise CorpusError(f"{place}: {error}") from None
