"""Brown, the Penn sample and GUM with their tags, and with 12 universal tags.

The universal tags are those of Petrov, Das and McDonald (2012): NOUN, VERB, ADJ, ADV, PRON, DET,
ADP, NUM, CONJ, PRT, ``.`` and X. In both tag sets here, possessive pronouns are PRON, "there is" is
DET, and to and particles are PRT. Conjunctions such as "that" and "if" are ADP, because the Penn
Treebank gives them the tag of prepositions.
"""

from typing import NamedTuple

from eigentext import load_dataset, normalize_tree

_PENN = {
    "CONJ": "CC",
    "NUM": "CD",
    "DET": "DT EX PDT WDT",
    "ADP": "IN",
    "PRT": "RP TO POS",
    "PRON": "PRP PRP$ PP PP$ WP WP$",
    "ADV": "RB RBR RBS WRB",
    "NOUN": "NN NNS NNP NNPS NP NPS",
    "ADJ": "JJ JJR JJS",
    "X": "FW LS SYM UH AFX ADD XX GW",
    ".": "HYPH NFP -LRB- -RRB-",
}
_BROWN = {  # by how a tag begins, after its marks for titles and headlines are off
    "DET": "AT DT ABN ABL ABX WDT EX",
    "ADJ": "AP JJ OD",
    "CONJ": "CC",
    "ADP": "CS IN",
    "NUM": "CD",
    "NOUN": "NN NP NR PN",
    "PRON": "PP WP",
    "ADV": "RB RN QL WRB WQL *",
    "PRT": "RP TO",
    "VERB": "VB BE DO HV MD",
    "X": "FW UH NIL",
}
_OF_PENN = {tag: name for name, tags in _PENN.items() for tag in tags.split()}
_OF_BROWN = {tag: name for name, tags in _BROWN.items() for tag in tags.split()}
DATA = ("penn", "gum", "brown")


class Tagged(NamedTuple):
    """Sentences of words, with their own tags and universal ones."""

    words: list[list[str]]
    full: list[list[str]]
    universal: list[list[str]]


def penn_universal(tag: str) -> str:
    """The universal tag of a tag of the Penn Treebank, or of GUM."""
    if tag in _OF_PENN:
        return _OF_PENN[tag]
    if tag[:1] in ("V", "M"):
        return "VERB"
    return "X" if tag[:1].isalpha() else "."


def brown_base(tag: str) -> str:
    """A tag of Brown without the marks of titles, headlines and cited words."""
    tag = tag.upper()
    if tag.startswith("FW-"):
        return "FW"
    for mark in ("-TL", "-HL", "-NC"):
        tag = tag.replace(mark, "")
    return tag


def brown_universal(tag: str) -> str:
    """The universal tag of a tag of Brown. Contractions ("i'm") have that of their first part."""
    base = brown_base(tag)
    for length in (3, 2, 1):
        if base[:length] in _OF_BROWN:
            return _OF_BROWN[base[:length]]
    return "."


def tagged(name: str) -> Tagged:
    """All sentences of a corpus."""
    if name == "brown":
        given = [list(line) for line in load_dataset("brown", tagged=True)]
        base, universal = brown_base, brown_universal
    else:
        known = {"penn": "penn-sample", "gum": "gum"}[name]
        parts = ("train", "dev", "test")
        trees = [tree for part in parts for tree in load_dataset(known, split=part)]
        given = [tree.tags() for tree in map(normalize_tree, trees) if tree is not None]
        base, universal = str, penn_universal
    return Tagged(
        [[word for word, _ in line] for line in given],
        [[base(tag) for _, tag in line] for line in given],
        [[universal(tag) for _, tag in line] for line in given],
    )
