"""Graphs of sentences whose nodes may be discontinuous, and the trees that are made of them.

German treebanks (NEGRA, TIGER, TüBa) let a node have words that are not next to each other. Trees
in brackets cannot express this, and neither can a context-free grammar. :func:`tree_of` makes a
tree by raising, the usual way (described by Boyd 2007):

1. Punctuation that hangs on the root is attached to the lowest node that has the words on both of
   its sides. At the ends of a sentence it goes into the only other child of the root, if there is
   only one.
2. From below, the children of a discontinuous node fall into blocks of neighbors. The block of the
   head stays (the longest block if no child is marked as head). The others are attached to the
   parent of the node: they are raised.
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass

from eigentext.corpus.trees import TRACE, Node, Tree, without_brackets
from eigentext.errors import CorpusError

ROOT = "ROOT"
_LARGEST = 5000  # words or nodes of a sentence
ROOT_LABELS = frozenset(("VROOT", "TOP", "ROOT", "--", ""))
NO_FUNCTION = frozenset(("--", "-", ""))
_HEADS = frozenset(("HD", "PH", "HEAD", "H"))
_BLANKS = re.compile(r"[ \t\n\r\f\v\0]+")
_LETTER = re.compile(r"[^\W_]")
_TRACE = re.compile(r"\*\w*\*(?:-\d+)?")
_Key = Hashable


@dataclass
class Word:
    """A word with its part of speech, the key of its parent (None: the root) and its function."""

    word: str
    tag: str
    parent: _Key
    function: str


@dataclass
class Phrase:
    """A node over words and nodes. Its first words are known once it was built."""

    label: str
    parent: _Key
    function: str


@dataclass
class Raised:
    """How many nodes were discontinuous, how many were attached higher, and moved punctuation."""

    n_discontinuous: int = 0
    n_raised: int = 0
    n_punctuation: int = 0


def tree_of(words: list[Word], phrases: dict[_Key, Phrase], place: str, counts: Raised) -> Tree:
    """The tree of a sentence, below a root.

    Parameters
    ----------
    words : list of Word
        In the order of the sentence.
    phrases : dict of Phrase
        By the keys that `parent` names.
    place : str
        The file and the line, for errors.
    counts : Raised
        What was done is added to it.
    """
    if not words:
        raise CorpusError(f"{place}: the sentence has no words; remove it")
    if max(len(words), len(phrases)) > _LARGEST:
        raise CorpusError(f"{place}: more than {_LARGEST} words or nodes; is it one sentence?")
    phrases = _without_roots(words, phrases)
    top_down = _order(words, phrases, place)
    counts.n_punctuation += _attach_punctuation(words, phrases)
    # Children by their first word, with the number of words below.
    children: dict[_Key, list[_Part]] = {key: [] for key in (None, *phrases)}
    for at, one in enumerate(words):
        children[one.parent].append(_Part(at, 1, one.function, _leaf(one, place)))
    for key in reversed(top_down):
        phrase = phrases[key]
        parts = sorted(children[key], key=lambda part: part.first)
        if not parts:
            raise CorpusError(f"{place}: node {key} has no words below it; remove it")
        kept, moved = _split(parts)
        if moved:
            counts.n_discontinuous += 1
            counts.n_raised += len(moved)
            children[phrase.parent] += moved
        tree = Tree(_with_function(phrase), [part.node for part in kept])
        n_words = sum(part.n_words for part in kept)
        children[phrase.parent].append(_Part(kept[0].first, n_words, phrase.function, tree))
    return Tree(ROOT, [p.node for p in sorted(children[None], key=lambda part: part.first)])


@dataclass(slots=True)
class _Part:
    first: int
    n_words: int
    function: str
    node: Node


def _without_roots(words: list[Word], phrases: dict[_Key, Phrase]) -> dict[_Key, Phrase]:
    """The phrases without nodes such as VROOT: every tree gets a root."""
    roots = {k for k, one in phrases.items() if one.parent is None and one.label in ROOT_LABELS}
    if not roots:
        return phrases
    for one in (*words, *phrases.values()):
        if one.parent in roots:
            one.parent = None
    return {key: one for key, one in phrases.items() if key not in roots}


def _order(words: list[Word], phrases: dict[_Key, Phrase], place: str) -> list[_Key]:
    """The keys of phrases, parents first; raises CorpusError if the parents make no tree."""
    below: dict[_Key, list[_Key]] = {key: [] for key in (None, *phrases)}
    for key, one in [*phrases.items(), *((None, word) for word in words)]:
        if one.parent not in below:
            raise CorpusError(f"{place}: there is no node {one.parent}, but it is named as parent")
        if isinstance(one, Phrase):
            below[one.parent].append(key)
    order: list[_Key] = []
    stack = below[None][::-1]
    while stack:
        key = stack.pop()
        order.append(key)
        stack.extend(reversed(below[key]))
    if len(order) != len(phrases):
        reached = set(order)
        lost = next(key for key in phrases if key not in reached)
        raise CorpusError(f"{place}: node {lost} is above itself; correct its parent")
    return order


def _attach_punctuation(words: list[Word], phrases: dict[_Key, Phrase]) -> int:
    """Move punctuation from the root into the sentence; return how much was moved."""
    marks = [one.parent is None and is_punctuation(one) for one in words]
    if not any(marks):
        return 0
    others = [key for key, phrase in phrases.items() if phrase.parent is None]
    n_loose = sum(one.parent is None and not mark for one, mark in zip(words, marks))
    only = others[0] if len(others) == 1 and not n_loose else None
    before: list[int | None] = []
    last: int | None = None
    for at, mark in enumerate(marks):
        before.append(last)
        last = last if mark else at
    after: int | None = None
    n_moved = 0
    for at in range(len(words) - 1, -1, -1):
        if not marks[at]:
            after = at
            continue
        left = before[at]
        if left is None or after is None:
            words[at].parent = only
        else:
            words[at].parent = _lowest_common(words[left].parent, words[after].parent, phrases)
        n_moved += words[at].parent is not None
    return n_moved


def is_punctuation(word: Word) -> bool:
    """Whether the tag begins with $, as in the STTS, or the word has no letter and no digit."""
    return word.tag.startswith("$") or not _LETTER.search(word.word)


def _lowest_common(one: _Key, other: _Key, phrases: dict[_Key, Phrase]) -> _Key:
    above: set[_Key] = set()
    while one is not None:
        above.add(one)
        one = phrases[one].parent
    while other is not None and other not in above:
        other = phrases[other].parent
    return other


def _split(parts: list[_Part]) -> tuple[list[_Part], list[_Part]]:
    """The block of neighbors that stays, and all other parts."""
    blocks: list[list[_Part]] = []
    end = -1
    for part in parts:
        if part.first != end or not blocks:
            blocks.append([])
        blocks[-1].append(part)
        end = part.first + part.n_words
    if len(blocks) == 1:
        return parts, []
    heads = [block for block in blocks if any(part.function in _HEADS for part in block)]
    kept = max(heads[:1] or blocks, key=lambda block: sum(part.n_words for part in block))
    return kept, [part for block in blocks if block is not kept for part in block]


def _leaf(word: Word, place: str) -> Tree:
    form, tag = clean(word.word), clean(word.tag)
    if not form:
        raise CorpusError(f"{place}: a word is empty; write it, or remove it")
    if _TRACE.fullmatch(form) and tag in NO_FUNCTION:
        return Tree(TRACE, [form])
    return Tree(tag or "--", [form])


def _with_function(phrase: Phrase) -> str:
    label = clean(phrase.label) or "--"
    if phrase.function in NO_FUNCTION or label[0] in "-=":
        return label
    return f"{label}-{clean(phrase.function)}"


def clean(name: str) -> str:
    """The word or label as brackets can express it: $( is $*LRB*, and blanks are underscores."""
    name = _BLANKS.sub("_", name)
    if name[:1] == "$":
        return name.replace("(", "*LRB*").replace(")", "*RRB*")
    return without_brackets(name)
