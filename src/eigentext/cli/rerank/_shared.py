"""What the commands on rerankers share: models, n-best files and the right structures."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eigentext.cli._console import inputs
from eigentext.errors import CorpusError, EigentextError, ParameterError

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `rerank fit`.")]
CandidatesArgument = Annotated[
    list[str],
    typer.Argument(
        help="N-best lists: a log-probability, a tab and a tree (or word/tag word/tag ...) a line, "
        "an empty line after each list; files or globs (plain, .gz, .bz2, .xz, .zst); - is stdin."
    ),
]
GoldOption = Annotated[
    list[str],
    typer.Option(
        "--gold", metavar="FILE", help="The right structures, in the same order: trees, or lines."
    ),
]


class Examples(NamedTuple):
    """Lists of candidates, with the right structure for each."""

    candidates: list[list[Any]]
    gold: list[Any]


@contextmanager
def all_inputs(*groups: list[str]) -> Iterator[list[list[Path]]]:
    """The paths of each group of files, standard input being one of them but once."""
    names = [name for group in groups for name in group]
    if names.count("-") > 1:
        raise ParameterError("standard input (-) can be read but once; name a file for the other")
    with inputs(names) as paths:
        rest = iter(paths)
        yield [[next(rest) for _ in group] for group in groups]


def read_examples(candidates: list[Path], gold: list[Path]) -> Examples:
    """The lists with their right structures, in the same order, over the same words."""
    from eigentext.kernels.candidate import is_tree

    lists, right = read_lists(candidates), _read_gold(gold)
    if len(lists) != len(right):  # no gold for the empty lines of a text
        lists = [one for one in lists if one]
    files, gold_files = (", ".join(map(str, paths)) for paths in (candidates, gold))
    if len(lists) != len(right):
        raise CorpusError(
            f"{files}: {len(lists):,} lists of candidates, but {gold_files}: {len(right):,} right "
            "structures; give one for each list"
        )
    for number, (one, structure) in enumerate(zip(lists, right), 1):
        if not one:
            continue
        if is_tree(one[0].structure) != is_tree(structure):
            raise CorpusError(
                f"{files} and {gold_files}: trees in one, tagged sequences in the other; give both "
                "of one kind"
            )
        place = f"{files}, input {number}"
        if _words(one[0].structure, place) != _words(structure):
            raise CorpusError(
                f"{place}: other words than in {gold_files}; give both in the same "
                "order, over the same words"
            )
    return Examples(lists, right)


def read_lists(paths: list[Path]) -> list[list[Any]]:
    """The candidates of each input."""
    from eigentext import engine
    from eigentext.reranking import read_candidates

    with engine.phase("read candidates"):
        return read_candidates(paths)


def check_kind(reranker: Any, model: Path, lists: list[list[Any]], files: list[str]) -> None:
    """Refuse candidates of another kind than the reranker (of that name) learned from."""
    from eigentext.kernels.candidate import is_tree
    from eigentext.reranking.measures import tree_f1

    kinds = {True: "trees", False: "tagged sequences"}
    known = reranker.measure_ is tree_f1
    for one in lists:
        if one and is_tree(one[0].structure) != known:
            raise CorpusError(
                f"{', '.join(files)}: {kinds[not known]}, but {model} ranks {kinds[known]}; learn "
                "a reranker of such"
            )


def load_reranker(path: Path) -> Any:
    """The reranker in a file."""
    from eigentext import Reranker
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, Reranker):
        raise EigentextError(f"{path}: holds {model!r}, not a reranker")
    return model


def _read_gold(paths: list[Path]) -> list[Any]:
    """The right structures; trees as parsers learn them: no traces, function tags and roots."""
    from eigentext import engine
    from eigentext.kernels.candidate import is_tree
    from eigentext.reranking.candidates import read_structures

    with engine.phase("read gold"):
        found = read_structures(paths)
        files = ", ".join(map(str, paths))
        return [
            _normalized(one, f"{files}, tree {number}") if is_tree(one) else one
            for number, one in enumerate(found, 1)
        ]


def _words(structure: Any, place: str = "") -> list[str]:
    from eigentext.corpus.trees import without_brackets
    from eigentext.kernels.candidate import is_tree

    if not is_tree(structure):
        return [word for word, _ in structure]
    return [without_brackets(word) for word in _normalized(structure, place).leaves()]


def _normalized(tree: Any, place: str) -> Any:
    from eigentext import normalize_tree

    try:
        return normalize_tree(tree)
    except CorpusError as error:  # no words
        raise CorpusError(f"{place}: {error}") from None
