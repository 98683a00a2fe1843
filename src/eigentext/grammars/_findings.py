"""What a fitted grammar says about itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eigentext.estimators import Finding
from eigentext.grammars.treebank.normal_form import Symbol
from eigentext.grammars.treebank.plain_text import FEW_KNOWN

_FEW_TREES = 500
_MANY_ONCE, _MANY_RARE = 0.5, 0.2  # of the rules; of the tokens
_MUCH_MISSED = 0.25  # of the size of tensors, by factors of low rank


def parser_findings(found: Mapping[str, Any], n_trees: int) -> Iterator[Finding]:
    """Report on the number of trees, on rules seen once, and on rare words."""
    if n_trees < _FEW_TREES:
        trees = "one tree" if n_trees == 1 else f"{n_trees:,} trees"
        yield Finding(
            "warning",
            f"The grammar was learned from {trees} only, so many words of new text "
            "are unknown and many rules are missing.",
            "Learn from more trees; some thousands are enough.",
        )
    once, rare = found["rules_seen_once"] / max(found["n_rules"], 1), found["rare_tokens"]
    less = "Learn from more trees, or let labels remember less (horizontal, vertical)."
    yield Finding(
        "note",
        f"{once:.0%} of the rules were seen only once; their probabilities are guesses.",
        less if once >= _MANY_ONCE else "",
    )
    yield Finding(
        "note",
        f"{rare:.1%} of the tokens are rare words, which are known by their form.",
        "Lower `rare`, or learn from more trees." if rare >= _MANY_RARE else "",
    )


def text_findings(coverage: Mapping[str, float]) -> Iterator[Finding]:
    """Report on the share of the tokens of the treebank that plain text knows, by its source."""
    for name, share in coverage.items():
        few = share < FEW_KNOWN
        yield Finding(
            "warning" if few else "note",
            f"{share:.1%} of the tokens of the trees are among the words of {name}.",
            f"Learn {name} from plain text of the same language, with the same capitals."
            if few
            else "",
        )


def label_findings(symbols: Sequence[Symbol], n_trees: int) -> Iterator[Finding]:
    """Say so if a treebank has more labels than trees.

    The sample of the Penn Treebank has a label for each 5 trees if labels keep their functions, and
    GUM one for each 95. With more labels than trees, most labels are in one tree only, and
    something that is no label is probably read as one: lemmas, features, or numbers of sentences.
    """
    n_labels = len({label for symbol in symbols for label in symbol.chain})
    if n_labels > n_trees:
        trees = "1 tree" if n_trees == 1 else f"{n_trees:,} trees"
        yield Finding(
            "warning",
            f"The treebank has {n_labels:,} different labels in {trees}, so most rules were seen "
            "once.",
            "Give more trees, or strip functions and features from the labels (the dialect of "
            "read_trees).",
        )


def reduced_findings(n_states: int, most_states: int) -> Iterator[Finding]:
    """Say so if no label has as many states as were asked for."""
    if most_states < n_states:
        yield Finding(
            "warning",
            f"No label has more than {most_states} of the {n_states} states asked for: the trees "
            "do not show more.",
            f"Lower n_states (--states) to {most_states}, or give more trees.",
        )


def rank_findings(history: Mapping[str, Any]) -> Iterator[Finding]:
    """Say what tensors of low rank leave out, and what they save."""
    if "rank_error" in history:
        error, share = history["rank_error"], history["rank_share"]
        yield Finding(
            "note",
            f"Tensors of low rank miss {error:.1%} of the rules' tensors, on average by uses, and "
            f"have {share:.1%} of their numbers.",
            "Raise rank (--rank), or leave it out." if error > _MUCH_MISSED else "",
        )
