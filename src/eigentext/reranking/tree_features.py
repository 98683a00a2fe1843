"""Sparse features of trees, in families. Each family is a small function of a piece.

The families follow [Charniak and Johnson 2005] and [Hall, Durrett and Klein 2014]:

=============  =====================================================================================
rules          a production; with its parent; with parent and grandparent
ngrams         two and three neighbors among the children of a label, with the ends
heads          the head word of a label, alone and with its parent; each child beside the head child
biheads        the head words and tags of a label and of each of its other children
edges          the first and last word of a label, the words around it, its length
heavy          the length of a label, its distance to the end of the sentence, punctuation beside it
right          whether a label is on the right edge of the sentence (right branching)
words          a word with its part of speech and the labels above it
splits         the words on both sides of the border between two children
parallel       how alike the parts of a coordination are
clusters       bit strings of head words in place of words, if clusters are given
vectors        coordinates of head words and neighbors, if vectors are given (``head_vectors.py``)
=============  =====================================================================================

A feature is a string, and its value is its count in the tree.

[Charniak and Johnson 2005] E. Charniak and M. Johnson, Coarse-to-fine n-best parsing and MaxEnt
discriminative reranking, ACL 2005.

[Hall, Durrett and Klein 2014] D. Hall, G. Durrett and D. Klein, Less grammar, more features, ACL
2014.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from eigentext.corpus.trees import Tree
from eigentext.reranking.pieces import Piece

PUNCTUATION = frozenset((",", ":", "``", "''", ".", "-LRB-", "-RRB-"))
_LENGTHS = (0, 1, 2, 3, 4, 5, 6, 6, 8, 8, 8, *([11] * 5), *([16] * 5))  # buckets by length
_PREFIXES = (4, 8)  # bits of clusters


class Sentence(NamedTuple):
    """The words of a sentence, with a sentinel before and two after, and what is known of them.

    Attributes
    ----------
    words
        In small letters.
    spellings
        The words as they are.
    tags
        Parts of speech of the first candidate: those of all candidates would give more pieces.
    shapes
        "Xx-d" for "Mid-1990".
    bits
        Bit strings of clusters, or empty strings.
    last
        The place of the last word that is no punctuation.
    """

    words: tuple[str, ...]
    spellings: tuple[str, ...]
    tags: tuple[str, ...]
    shapes: tuple[str, ...]
    bits: tuple[str, ...]
    last: int

    @classmethod
    def of(cls, tree: Tree, clusters: Mapping[str, str] | None = None) -> "Sentence":
        """The sentence of a tree."""
        tagged = tree.tags()
        words, tags = [word for word, _ in tagged], [tag for _, tag in tagged]
        spoken = [n for n, tag in enumerate(tags) if tag not in PUNCTUATION]
        known = clusters or {}
        bits = [known.get(word) or known.get(word.lower(), "") for word in words]
        end = ("</s>", "<s>")  # place -1 is the one before the first word
        return cls(
            (*(word.lower() for word in words), *end),
            (*words, *end),
            (*tags, *end),
            (*map(shape, words), *end),
            (*bits, "", ""),
            spoken[-1] if spoken else len(words) - 1,
        )


def shape(word: str) -> str:
    """The kinds of the characters of a word; runs are shortened to one, after the first.

    Examples
    --------
    >>> shape("Mid-1990"), shape("of"), shape("IBM")
    ('Xx-d', 'x', 'XX')
    """
    found = ""
    for char in word:
        kind = "X" if char.isupper() else "x" if char.islower() else "d" if char.isdigit() else char
        if not found.endswith(kind) or (kind == "X" and found == "X"):
            found += kind
    return found


def bucket(length: int) -> int:
    """The least length that counts as this one: 1 … 6, 8, 11, 16, 21."""
    return _LENGTHS[length] if length < len(_LENGTHS) else 21


def rules(p: Piece, s: Sentence) -> Iterator[str]:
    """A production; with its parent; with parent and grandparent."""
    rule = f"{p.label}>{' '.join(p.labels)}"
    yield f"r {rule}"
    yield f"rp {p.parent} {rule}"
    yield f"rg {p.grandparent} {p.parent} {rule}"


def ngrams(p: Piece, s: Sentence) -> Iterator[str]:
    """Two and three neighbors among the children of a label, with the ends."""
    x, row = p.label, ("[", *p.labels, "]")
    for one, two in pairwise(row):
        yield f"n2 {x} {one} {two}"
    for one, two, three in zip(row, row[1:], row[2:]):
        yield f"n3 {x} {one} {two} {three}"


def heads(p: Piece, s: Sentence) -> Iterator[str]:
    """The head word of a label, alone and with its parent; each child beside the head child."""
    x, h = p.label, p.heads[p.head]
    yield f"h {x} {s.words[h]}"
    yield f"hp {p.parent} {x} {s.words[h]}"
    yield f"ht {p.parent} {x} {s.tags[h]}"
    yield f"hr {x}>{' '.join(p.labels)} {s.words[h]}"
    for place, label in enumerate(p.labels):
        if place != p.head:
            side = "<" if place < p.head else ">"
            yield f"hc {x} {p.labels[p.head]} {side} {label}"
            yield f"hcw {x} {s.words[h]} {side} {label}"


def biheads(p: Piece, s: Sentence) -> Iterator[str]:
    """The head words and tags of a label and of each of its other children."""
    h = p.heads[p.head]
    for place, (label, c) in enumerate(zip(p.labels, p.heads)):
        if place != p.head:
            near = f"{p.label} {label} {'<' if place < p.head else '>'}"
            far = bucket(abs(h - c))
            yield f"b {near} {s.words[h]} {s.words[c]}"
            yield f"bc {near} {s.tags[h]} {s.words[c]}"
            yield f"bh {near} {s.words[h]} {s.tags[c]}"
            yield f"bt {near} {s.tags[h]} {s.tags[c]}"
            yield f"bd {near} {s.tags[h]} {s.tags[c]} {far}"


def edges(p: Piece, s: Sentence) -> Iterator[str]:
    """The first and last word of a label, the words around it, its length."""
    x, i, j, w, t = p.label, p.start, p.end, s.words, s.tags
    n = bucket(j - i)
    yield f"e1 {x} {w[i]}"
    yield f"e2 {x} {w[j - 1]}"
    yield f"e0 {x} {w[i - 1]}"
    yield f"e3 {x} {w[j]}"
    yield f"el {x} {n}"
    yield f"e1n {x} {n} {w[i]}"
    yield f"e2n {x} {n} {w[j - 1]}"
    yield f"e0n {x} {n} {w[i - 1]}"
    yield f"e3n {x} {n} {w[j]}"
    yield f"e01 {x} {t[i - 1]} {t[i]}"
    yield f"e23 {x} {t[j - 1]} {t[j]}"
    yield f"e03 {x} {t[i - 1]} {t[j]}"
    yield f"e12 {x} {t[i]} {t[j - 1]}"
    yield f"e03w {x} {w[i - 1]} {w[j]}"
    yield f"e01w {x} {w[i - 1]} {w[i]}"
    yield f"e23w {x} {w[j - 1]} {w[j]}"
    yield f"e0123 {x} {t[i - 1]} {t[i]} {t[j - 1]} {t[j]}"
    yield f"es {x} {s.shapes[i]} {s.shapes[j - 1]} {n}"
    if j - i <= 6:
        yield f"et {x} {' '.join(t[i:j])}"


def heavy(p: Piece, s: Sentence) -> Iterator[str]:
    """The length of a label, its distance to the end of the sentence, punctuation beside it."""
    x, j, n = p.label, p.end, bucket(p.end - p.start)
    left = bucket(len(s.words) - 2 - j)
    after = s.words[j] if s.tags[j] in PUNCTUATION else ""
    last = s.words[j - 1] if s.tags[j - 1] in PUNCTUATION else ""
    yield f"w {x} {n} {left}"
    yield f"wp {x} {n} {left} {last} {after}"
    yield f"wpp {p.parent} {x} {n} {last} {after}"


def right(p: Piece, s: Sentence) -> Iterator[str]:
    """Whether a label is on the right edge of the sentence (right branching)."""
    is_right = p.start <= s.last < p.end
    yield f"R {is_right:d}"
    yield f"R {p.label} {is_right:d}"


def words(p: Piece, s: Sentence) -> Iterator[str]:
    """A word with its part of speech and the labels above it."""
    start = p.start
    for label, end, head in zip(p.labels, p.ends, p.heads):
        word = s.words[head]
        if end - start == 1:
            yield f"v {word} {label} {p.label}"
            yield f"vp {word} {label} {p.label} {p.parent}"
            yield f"vs {s.shapes[head]} {word[-3:]} {label} {p.label}"
        else:
            yield f"vm {word} {label} {p.label}"  # the largest phrase that the word heads
        start = end


def splits(p: Piece, s: Sentence) -> Iterator[str]:
    """The words on both sides of the border between two children."""
    x = p.label
    for one, two, k in zip(p.labels, p.labels[1:], p.ends):
        yield f"s {x} {one} {two} {s.words[k - 1]}"
        yield f"s2 {x} {one} {two} {s.words[k]}"
        yield f"st {x} {s.tags[k - 1]} {s.tags[k]}"


def parallel(p: Piece, s: Sentence) -> Iterator[str]:
    """How alike the parts of a coordination are."""
    if not p.insides:
        return
    x, starts = p.label, (p.start, *p.ends)
    parts = [n for n, label in enumerate(p.labels) if label not in PUNCTUATION and label != "CC"]
    for a, b in pairwise(parts):
        same = p.labels[a] == p.labels[b]
        alike = same and p.insides[a] == p.insides[b]
        longer = (p.ends[b] - starts[b]) - (p.ends[a] - starts[a])
        size = "=" if abs(longer) < 2 else ">" if longer > 0 else "<"
        tags = s.tags[p.heads[a]] == s.tags[p.heads[b]]
        yield f"p {x} {same:d}{alike:d} {size}"
        yield f"pl {p.labels[a]} {p.labels[b]} {tags:d}"
        yield f"pt {x} {s.tags[starts[a]] == s.tags[starts[b]]:d}{tags:d}"


def clusters(p: Piece, s: Sentence) -> Iterator[str]:
    """Bit strings of head words in place of words."""
    h = p.heads[p.head]
    head = s.bits[h]
    for n in _PREFIXES:
        yield f"ch{n} {p.parent} {p.label} {head[:n]}"
        yield f"ce{n} {p.label} {s.bits[p.start][:n]} {s.bits[p.end - 1][:n]}"
        yield f"co{n} {p.label} {s.bits[p.start - 1][:n]} {s.bits[p.end][:n]}"
    for place, (label, c) in enumerate(zip(p.labels, p.heads)):
        if place != p.head:
            near = f"{p.label} {label} {'<' if place < p.head else '>'}"
            for n in _PREFIXES:
                yield f"cb{n} {near} {head[:n]} {s.bits[c][:n]}"
            yield f"cw {near} {s.words[h]} {s.bits[c]}"
            yield f"cv {near} {head} {s.words[c]}"


Family = Callable[[Piece, Sentence], Iterator[str]]
FAMILIES: dict[str, Family] = {
    one.__name__: one
    for one in (
        rules,
        ngrams,
        heads,
        biheads,
        edges,
        heavy,
        right,
        words,
        splits,
        parallel,
        clusters,
    )
}


def features(piece: Piece, sentence: Sentence, families: Sequence[Family]) -> list[str]:
    """The features of a piece, as often as it has them."""
    return [name for family in families for name in family(piece, sentence)]
