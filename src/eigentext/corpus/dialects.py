"""Dialects of treebanks in brackets: what differs from Penn, how it is recognized, and undone.

Treebanks in brackets agree on the brackets only. The Penn parsed corpora of historical English and
their relatives (``ppche``) wrap each tree with an ID, mix in nodes of code, and write traces
without -NONE-; some write words as ``word-lemma``. CESS-ESP and CESS-CAT (``cess``) write features
into labels, and leaves as ``(tag word lemma)``. A :class:`Dialect` says what is to be undone, so
that the rest of the library sees trees as in the Penn treebank: categories with functions after a
hyphen (NP-SBJ), parts of speech over single words, and -NONE- over traces.

:func:`look` collects the evidence for dialects from a sample of trees, :func:`recognized` decides,
and :func:`converted` makes one tree plain.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from eigentext.corpus.trees import TRACE, Node, Tree, build, without_functions

Keep = Literal["none", "features", "functions", "all"]
KEEP = ("none", "features", "functions", "all")
_SAMPLE = 300  # trees that are looked at
_ENOUGH = 20  # words that a guess about all words needs
_A_FEW = 5  # the same where parts of speech tell
_MOST = 0.8  # the share of words that decides
_SOME = 0.3  # the share of words that is worth a warning
_FEW = 0.002  # the same for traces and for nodes of code

_CODE = frozenset(
    ("CODE", "ID", "META", "METADATA", "REF", "COM", "COMMENT", "LB", "BREAK", "VERSION", "FILE")
)
# *T*-1, *ICH*-2, *con*, *exp*, *0*, *-1 and *
_STARRED = re.compile(r"\*(?:\w*\*)?(?:[-=][\w.]+)*", re.ASCII)
_SURELY = re.compile(r"\*\w+\*(?:[-=][\w.]+)*|\*-\d+", re.ASCII)
_ZERO = re.compile(r"[CPD]|[A-Z]*P|W[A-Z]*")  # what is over 0: complementizers and phrases
_EAGLES = re.compile(r"(?=.*0)(v[a-z][a-z0-9]|[acdnprs][a-z0-9])[a-z0-9]{2,6}")
_CESS_FEATURES = re.compile(r"\.(?:[mfcn][spn0]|co|e|j|[0-9]\w*)(?=[.*-]|$)|\*+(?=[.-]|$)")
_PLACEHOLDERS = {
    **dict.fromkeys(("-Fpa-", "*LRB*", "=LRB="), "-LRB-"),
    **dict.fromkeys(("-Fpt-", "*RRB*", "=RRB="), "-RRB-"),
}


class DialectWarning(UserWarning):
    """Trees that look like another dialect than the one they are read with."""


@dataclass(frozen=True)
class Dialect:
    """What a treebank in brackets writes differently.

    Parameters
    ----------
    name : str
    about : str
        Which treebanks these are.
    code : frozenset of str
        Labels of nodes that are not text. They are dropped with all below them.
    has_bare_traces : bool
        Words such as ``*T*-1`` are traces, whatever is above them.
    pairs : bool
        Leaves are ``(tag word lemma)``. The lemma is dropped.
    hyphens : bool
        Leaves may be ``word-lemma``. The lemma is dropped if most leaves are.
    features : pattern, optional
        What is cut out of labels: the features.
    tags : pattern, optional
        Parts of speech with features. The first group of the pattern is kept.
    comment : pattern, optional
        Lines between trees.
    """

    name: str
    about: str
    code: frozenset[str] = frozenset()
    has_bare_traces: bool = False
    pairs: bool = False
    hyphens: bool = False
    features: re.Pattern[str] | None = None
    tags: re.Pattern[str] | None = None
    comment: re.Pattern[str] | None = None


DIALECTS = {
    one.name: one
    for one in (
        Dialect("penn", "the Penn treebank and others like it"),
        Dialect(
            "ppche",
            "the Penn parsed corpora of historical English, IcePaHC and their relatives",
            code=_CODE,
            has_bare_traces=True,
            hyphens=True,
        ),
        Dialect(
            "cess",
            "CESS-ESP, CESS-CAT, AnCora in brackets",
            has_bare_traces=True,
            pairs=True,
            features=_CESS_FEATURES,
            tags=_EAGLES,
        ),
        Dialect("lemma", "leaves of the form (tag word lemma)", pairs=True),
        Dialect(
            "tut",
            "the Turin University treebank in Penn brackets",
            has_bare_traces=True,
            comment=re.compile(r"^[ \t]*\*{3}[^()\n]*$", re.MULTILINE),
        ),
    )
}


# Evidence.


@dataclass
class Evidence:
    """What a sample of trees has, by which dialects are recognized."""

    n_trees: int = 0
    n_words: int = 0  # without traces and code
    n_bottom: int = 0  # nodes over words only
    n_letters: int = 0  # words that begin with a letter
    with_id: int = 0  # trees with a wrapper that has an ID
    only_code: int = 0  # trees with nothing but code
    traces: list[str] = field(default_factory=list)  # without -NONE-
    code: list[str] = field(default_factory=list)
    hyphens: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    eagles: list[str] = field(default_factory=list)

    @property
    def has_lemmas(self) -> bool:
        """Whether words are ``word-lemma``."""
        return self.n_letters > 0 and len(self.hyphens) > _MOST * self.n_letters

    @property
    def is_historical(self) -> bool:
        """Whether trees are wrapped as in the historical corpora."""
        return self.with_id > (self.n_trees - self.only_code) / 2

    @property
    def has_pairs(self) -> bool:
        """Whether leaves are ``(tag word lemma)``."""
        return self.n_bottom >= _ENOUGH and len(self.pairs) > _MOST * self.n_bottom

    @property
    def is_eagles(self) -> bool:
        """Whether parts of speech are those of EAGLES, as ``ncms000``."""
        return self.n_bottom > 0 and len(self.eagles) > 0.4 * self.n_bottom


def look(trees: Sequence[Tree]) -> Evidence:
    """The evidence of a sample of trees, from all over the treebank."""
    found = Evidence()
    for tree in trees[:: 1 + len(trees) // _SAMPLE]:
        found.n_trees += 1
        below = [child.label for child in tree.children if isinstance(child, Tree)]
        found.with_id += not tree.label and "ID" in below
        found.only_code += _CODE.issuperset(below) and bool(below)
        for node in tree.subtrees():
            if node.label in _CODE:
                found.code.append(str(node)[:40])
            elif isinstance(node.children[0], str):
                _look_at_words(node, found)
    return found


def _look_at_words(node: Tree, found: Evidence) -> None:
    if not all(isinstance(child, str) for child in node.children) or node.label == TRACE:
        return
    word = str(node.children[0])
    if len(node.children) == 1 and (_is_surely_trace(word) or _is_zero(node.label, word)):
        if word != "0" or without_functions(node.label) == "C":
            found.traces.append(f"({node.label} {word})")
        return
    found.n_bottom += 1
    found.n_words += len(node.children)
    if len(node.children) == 2:
        found.pairs.append(str(node)[:40])
    if word[:1].isalpha():
        found.n_letters += 1
        if "-" in word[1:-1]:
            found.hyphens.append(word[:40])
    if _EAGLES.fullmatch(node.label):
        found.eagles.append(node.label)


def recognized(found: Evidence) -> Dialect:
    """The dialect that the evidence speaks for; "penn" if it is not clear."""
    few = max(2, _FEW * found.n_words)
    has_both = len(found.traces) >= few and (len(found.code) >= few or found.has_lemmas)
    if found.is_historical or has_both:
        return DIALECTS["ppche"]
    if found.is_eagles and found.n_bottom >= _A_FEW:
        return DIALECTS["cess"]
    return DIALECTS["lemma" if found.has_pairs else "penn"]


def doubts(found: Evidence, dialect: Dialect, *, is_named: bool) -> Iterator[str]:
    """What speaks against a dialect, with the remedy."""
    looks_like_it = {
        "ppche": bool(found.traces or found.code or found.has_lemmas),
        "cess": found.is_eagles,
        "lemma": bool(found.pairs),
    }
    if is_named and not looks_like_it.get(dialect.name, True):
        yield (
            f"the trees do not look like {dialect.name} ({dialect.about}); if they are not, "
            f"{_remedy(recognized(found).name)}"
        )
        return
    few, some = max(2, _FEW * found.n_words), max(_A_FEW, _SOME * found.n_letters)
    signs = (
        ("words look like traces", found.traces, few, dialect.has_bare_traces),
        ("nodes look like code, not text", found.code, few, bool(dialect.code)),
        ("words look like word-lemma", found.hyphens, some, dialect.hyphens),
    )
    seen = [
        f"{what}, as {examples[0]}"
        for what, examples, most, is_known in signs
        if len(examples) >= most and not is_known
    ]
    if seen:
        yield f"{'; '.join(seen)}; {_remedy('ppche')}, which undoes this"
    if len(found.pairs) >= max(_A_FEW, _SOME * found.n_bottom) and not dialect.pairs:
        other = "cess" if found.is_eagles else "lemma"
        yield f"leaves look like (tag word lemma), as {found.pairs[0]}; {_remedy(other)}"


def _remedy(dialect: str) -> str:
    return f"read them with dialect={dialect!r} (--dialect {dialect})"


# Conversion.


@dataclass
class Changes:
    """How often each thing was undone."""

    n_code: int = 0
    n_lemmas: int = 0
    n_features: int = 0
    n_empty: int = 0


def converted(
    tree: Tree, dialect: Dialect, keep: Keep, *, has_lemmas: bool, changes: Changes
) -> Tree | None:
    """The tree as the Penn treebank would write it; None if it has only code and traces."""
    cuts = keep not in ("features", "all")

    def make(node: Tree, children: list[Node | None]) -> Tree | None:
        if node.label in dialect.code:
            changes.n_code += 1
            return None
        kept = [child for child in children if child is not None]
        if not kept:
            return None
        if len(kept) == 1 and isinstance(kept[0], Tree) and kept[0].label == "ORTHO":
            kept = list(kept[0].children)  # (N (ORTHO word) (META (LEMMA lemma)))
        if isinstance(kept[0], str):
            return _leaf(node.label, kept)
        return Tree(_cut(node.label, dialect.features), kept)

    def _leaf(label: str, kept: list[Node]) -> Tree:
        if dialect.pairs and len(kept) == 2 and isinstance(kept[1], str):
            changes.n_lemmas += 1
            del kept[1]
        if len(kept) == 1 and label != TRACE:
            word = str(kept[0])
            if dialect.has_bare_traces and is_trace(label, word):
                return Tree(_cut(label, dialect.features), [Tree(TRACE, [word])])
            if has_lemmas and "-" in word[1:-1]:
                changes.n_lemmas += 1
                word = without_lemma(word)
            kept = [_PLACEHOLDERS.get(word, word)]
        match = dialect.tags and cuts and dialect.tags.fullmatch(label)
        if match:
            changes.n_features += 1
            return Tree(match[1], kept)
        return Tree(_cut(label, dialect.features), kept)

    def _cut(label: str, features: re.Pattern[str] | None) -> str:
        if not cuts or features is None:
            return label
        plain = features.sub("", label) or label
        changes.n_features += plain != label
        return plain

    made: Tree | None = build(tree, make)
    if made is not None and dialect.has_bare_traces and _has_only_traces(made):
        made = None
    changes.n_empty += made is None
    return made


def _has_only_traces(tree: Tree) -> bool:
    return all(node.label == TRACE for node in tree.subtrees() if isinstance(node.children[0], str))


def is_trace(label: str, word: str) -> bool:
    """Whether a word is a trace in dialects that do not write -NONE-.

    Examples
    --------
    >>> [is_trace("NP-SBJ", "*con*"), is_trace("C", "0"), is_trace("NUM", "0"), is_trace("N", "x")]
    [True, True, False, False]
    """
    is_starred = bool(_STARRED.fullmatch(word)) and word not in _PLACEHOLDERS
    return is_starred or _is_zero(label, word)


def _is_surely_trace(word: str) -> bool:
    return bool(_SURELY.fullmatch(word)) and word not in _PLACEHOLDERS


def _is_zero(label: str, word: str) -> bool:
    return word == "0" and bool(_ZERO.fullmatch(without_functions(label)))


def without_lemma(word: str) -> str:
    """The word of ``word-lemma``. The last hyphen separates, or the middle one if halves agree.

    Examples
    --------
    >>> [without_lemma(x) for x in ("Í-í", "hafði-hafa", "to-day-to-day", "by-gone-bygone", "---")]
    ['Í', 'hafði', 'to-day', 'by-gone', '-']
    """
    middle = len(parts := word.split("-")) // 2
    if len(parts) % 2 == 0:
        one, other = "-".join(parts[:middle]), "-".join(parts[middle:])
        if one[:1].casefold() == other[:1].casefold():
            return one or word
    return word.rpartition("-")[0] or word


def with_functions(tree: Tree) -> Tree:
    """The tree with functions as parts of its labels, which :func:`normalize_tree` keeps.

    Examples
    --------
    >>> print(with_functions(Tree.parse("(S (NP-SBJ-1 (NNS cats)) (VP=2 (VBP sleep)))")))
    (S (NP.SBJ (NNS cats)) (VP (VBP sleep)))
    """
    return build(tree, lambda node, children: Tree(_joined(node.label), children))


def _joined(label: str) -> str:
    if label[:1] in ("-", "="):
        return label
    first, *parts = re.split("[-=]", label)
    return ".".join((first, *(part for part in parts if part and not part.isdigit())))


def functions_and_traces(trees: Sequence[Tree]) -> tuple[int, int]:
    """How many labels have functions or indices, and how many words are traces."""
    labels: Counter[str] = Counter()
    for tree in trees:
        labels.update(node.label for node in tree.subtrees())
    n_functions = sum(n for label, n in labels.items() if without_functions(label) != label)
    return n_functions, labels[TRACE]
