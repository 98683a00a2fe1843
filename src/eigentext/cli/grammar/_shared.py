"""What the commands on grammars share: models, treebanks, and how fast it went."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import Watch
from eigentext.errors import CorpusError, EigentextError

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `grammar fit`.")]
SentencesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="A sentence a line, blanks between words (plain, .gz, .bz2, .xz, .zst); "
        "- or none is standard input."
    ),
]
TreesArgument = Annotated[
    list[str],
    typer.Argument(
        help="Trees in Penn brackets: files or globs (plain, .gz, .bz2, .xz, .zst); - is stdin."
    ),
]
LinesOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write; - is standard output.")
]
DecodingOption = Annotated[
    Literal["mbr", "max-rule", "viterbi"] | None,
    typer.Option(
        help="mbr: the most expected brackets; max-rule, viterbi: the best tree as one.",
        show_default="as in fit",
    ),
]
PruneOption = Annotated[
    float | None,
    typer.Option(
        min=0, help="Leave out what is less probable; 0 is nothing.", show_default="as in fit"
    ),
]
TauOption = Annotated[
    float | None,
    typer.Option(
        min=0, help="For mbr: how probable a bracket must be.", show_default="as in fit"
    ),
]  # fmt: skip
_SHOWN = 10  # places of sentences without a parse; --json marks all


def load_grammar(path: Path, **options: Any) -> Any:
    """The parser in a file, with the options that are not None in place of its own."""
    from eigentext import PCFG, LatentPCFG
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, (PCFG, LatentPCFG)):
        raise EigentextError(f"{path}: holds {model!r}, not a grammar")
    return model.parsing_with(**{name: x for name, x in options.items() if x is not None})


def read_treebank(paths: Iterable[Any], **options: Any) -> list[Any]:
    """The trees of files, normalised (with the options of that); an error names the file."""
    from eigentext import engine, normalize_tree, read_trees
    from eigentext.corpus.readers import expand_paths

    trees = []
    with engine.phase("read trees"):
        for path in expand_paths(list(paths)):
            for number, tree in enumerate(read_trees(path), 1):
                try:
                    trees.append(normalize_tree(tree, **options))
                except CorpusError as error:
                    raise CorpusError(f"{path}, tree {number}: {error}") from None
    return trees


def speed(watch: Watch) -> dict[str, Any]:
    """How many sentences the last phase was through with, in how many seconds."""
    phase = watch.phases[-1]
    rate = phase.done / phase.seconds if phase.seconds else None
    return {
        "n_sentences": phase.done,
        "seconds": round(phase.seconds, 3),
        "sentences_per_second": rate,
    }


def told_speed(watch: Watch, fallbacks: list[str], what: str) -> str:
    """Speed, and where sentences had no parse, for people; `what` is "line" or "tree"."""
    figures = speed(watch)
    n, rate = figures["n_sentences"], figures["sentences_per_second"]
    told = f"{n:,} sentence{'s' if n > 1 else ''} in {figures['seconds']:.1f} s"
    told += f" ({rate:.1f}/s)" if rate else ""
    if not fallbacks:
        return f"{told}, all parsed by the grammar"
    places = ", ".join(fallbacks[:_SHOWN]) + (", …" if len(fallbacks) > _SHOWN else "")
    is_one = len(fallbacks) == 1
    return (
        f"{told}; {len(fallbacks):,} tree{' is' if is_one else 's are'} a fallback, as the grammar "
        f"has no parse: {what}{'' if is_one else 's'} {places}"
    )
