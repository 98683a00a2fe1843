"""What the commands on grammars share: models, treebanks, and how fast it went."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._files import load_kind
from eigentext.cli._options import Bundle
from eigentext.cli._progress import PhaseBars
from eigentext.errors import CorpusError

if TYPE_CHECKING:
    from eigentext import PCFG, LatentPCFG

    Grammar = PCFG | LatentPCFG

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `grammar fit`.")]
SentencesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="One sentence on each line (plain, .gz, .bz2, .xz, .zst); "
        "- or nothing is standard input."
    ),
]
TreesArgument = Annotated[
    list[str],
    typer.Argument(
        help="Trees in brackets, the export format or TIGER-XML: files or globs (plain, .gz, .bz2, "
        ".xz, .zst); - is standard input."
    ),
]
OtherTreesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Trees in brackets, the export format or TIGER-XML: files or globs (plain, .gz, .bz2, "
        ".xz, .zst); - is standard input.",
    ),
]
PruneOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Leave out constituents that are less probable than this; 0 leaves out nothing.",
        show_default="as in fit",
    ),
]
_SHOWN = 10  # how many places of sentences without a parse to print; --json marks all


@dataclass(kw_only=True)
class DecodingOptions(Bundle):
    """How the tree of a sentence is chosen."""

    decoding: Annotated[
        Literal["mbr", "max-rule", "viterbi"] | None,
        typer.Option(
            help="mbr: the most expected correct brackets; max-rule, viterbi: the best whole tree.",
            show_default="as in fit",
        ),
    ] = None
    prune: PruneOption = None
    tau: Annotated[
        float | None,
        typer.Option(
            min=0, help="For mbr: how probable a bracket must be.", show_default="as in fit"
        ),
    ] = None
    mbr: Annotated[
        Literal["bracket", "node", "symbol"] | None,
        typer.Option(
            help="For mbr: what must be right: brackets, whole unary chains, or binarized symbols.",
            show_default="as in fit",
        ),
    ] = None

    def given(self) -> dict[str, str | float | None]:
        """Return the options by name; None for those of the model."""
        return {name: getattr(self, name) for name in ("decoding", "prune", "tau", "mbr")}


def load_grammar(path: Path, **options: Any) -> "Grammar":
    """Load a parser. Options that are not None replace its own."""
    from eigentext import PCFG, LatentPCFG

    model = load_kind(path, (PCFG, LatentPCFG), "a grammar")
    return model.parsing_with(**{name: x for name, x in options.items() if x is not None})


def too_long(files: Sequence[str], max_length: int) -> CorpusError:
    """Return the error of a treebank without short trees."""
    return CorpusError(
        f"{', '.join(files)}: all trees have more than {max_length} words; raise --max-length"
    )


def speed_and_fallbacks(phases: PhaseBars, fallbacks: Sequence[str], what: str) -> str:
    """Return how fast sentences were parsed, and where there was no parse; `what` is "line"."""
    speed = phases.speed_in_words("sentence", digits=1)
    if not fallbacks:
        return f"{speed}, all parsed by the grammar"
    places = ", ".join(fallbacks[:_SHOWN]) + (", …" if len(fallbacks) > _SHOWN else "")
    is_one = len(fallbacks) == 1
    return (
        f"{speed}; {len(fallbacks):,} tree{' is' if is_one else 's are'} a fallback, because the "
        f"grammar has no parse: {what}{'' if is_one else 's'} {places}"
    )
