"""How commands read trees: the options for their files, and trees as parsers learn them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._bundles import EncodingOption, SkipBadFlag
from eigentext.cli._options import Bundle
from eigentext.errors import CorpusError

if TYPE_CHECKING:
    from eigentext import Tree

Dialect = Literal["auto", "penn", "ppche", "cess", "lemma", "tut", "export", "tiger-xml"]
DialectOption = Annotated[
    Dialect,
    typer.Option(
        "--dialect",
        help="How the treebank is written. penn, ppche (historical English, IcePaHC), cess "
        "(CESS-ESP), lemma: (tag word lemma), tut: brackets; export (NEGRA, TIGER); tiger-xml.",
    ),
]
KeepOption = Annotated[
    Literal["none", "features", "functions", "all"],
    typer.Option(
        "--keep", help="What stays in labels: features (grup.nom.ms), functions (NP.SBJ), or all."
    ),
]


@dataclass(kw_only=True)
class FormatOptions(Bundle):
    """How files of trees are written."""

    dialect: DialectOption = "auto"
    keep: KeepOption = "none"
    encoding: EncodingOption = "utf-8"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `read_trees`."""
        return {"dialect": self.dialect, "keep": self.keep, "encoding": self.encoding}


@dataclass(kw_only=True)
class TreeOptions(FormatOptions):
    """The same, and what to do with bad trees."""

    skip_bad: SkipBadFlag = False

    @property
    def errors(self) -> Literal["raise", "skip"]:
        """What to do with bad trees, as Python says it."""
        return "skip" if self.skip_bad else "raise"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `read_trees`."""
        return super().arguments() | {"errors": self.errors}


class Treebank(list["Tree"]):
    """Normalized trees, with the facts about how they were read."""

    facts: dict[str, Any]
    files: list[str]  # the file of each tree

    def line(self) -> str:
        """Return the facts for people: the dialect, and what was changed."""
        dialect = self.facts["dialect"]
        found = [f"{what}: {self.facts[name]:,}" for name, what in _TOLD if self.facts[name]]
        return f"read            {'; '.join((f'dialect {dialect}', *found))}"


_TOLD = (
    ("n_skipped", "bad trees skipped"),
    ("n_empty", "trees without words left out"),
    ("n_code", "nodes of code dropped"),
    ("n_lemmas", "lemmas dropped"),
    ("n_traces", "traces dropped"),
    ("n_features", "labels without their features"),
    ("n_functions", "functions cut"),
    ("n_discontinuous", "discontinuous nodes"),
    ("n_raised", "parts of them raised"),
    ("n_punctuation", "punctuation marks moved from the root"),
)


def read_treebank(paths: Iterable[Path], options: TreeOptions, **normalization: Any) -> Treebank:
    """Return the trees of files, normalized. An error names the file."""
    from eigentext import engine, normalize_tree, read_trees
    from eigentext.corpus.bad_items import BadItems

    with engine.phase("read trees"):
        trees = read_trees(list(paths), **options.arguments())
        bad = BadItems(options.errors, "trees")
        kept = Treebank()
        kept.files = []
        for number, tree in enumerate(trees):
            try:
                kept.append(normalize_tree(tree, **normalization))
                kept.files.append(trees.about.file(number))
            except CorpusError as error:
                bad.skip(CorpusError(f"{trees.about.place(number)}: {error}"))
        bad.report(len(kept))
        kept.facts = trees.about.facts(trees)
        kept.facts["n_skipped"] += bad.n_bad
        kept.facts["n_trees"] = len(kept)
    return kept
