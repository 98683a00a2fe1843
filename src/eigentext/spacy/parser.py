"""`eigentext_parser`: trees and constituents by a saved grammar."""

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from eigentext.corpus.trees import Tree
from eigentext.spacy.component import Component, parts_of

_KEY = "eigentext_parser"  # of the trees in `doc.user_data`, as (start, end, brackets)


class ParserComponent(Component):
    """A parser in a pipeline of spaCy.

    ``doc._.parse_trees`` are the trees of the sentences, and ``doc._.parse_tree`` is the tree of
    all: that of the only sentence, or a tree with an empty label above all sentences. Spans have
    both, too, so ``sentence._.parse_tree`` is the tree of a sentence. Constituents are in
    ``doc.spans[spans_key]``, parents first. Trees are kept as strings, so that documents can be
    saved and sent to other processes.

    The model splits the text by its own rule (`policy_`), because it learned from such tokens. A
    constituent that begins or ends inside a token of spaCy takes the whole token. Sentences are
    those of the document, or its lines if it has no borders of sentences. Put a component that
    finds sentences before this one: the time grows with the cube of their length.

    Parameters
    ----------
    name : str
        The name in the pipeline.
    model : str
        The file of a saved :class:`~eigentext.LatentPCFG` or :class:`~eigentext.PCFG`.
    spans_key : str
        The name of the group of spans.
    set_tags : bool
        Whether the parts of speech of the trees become ``token.tag_``.
    """

    _kind, _needs = "a grammar (`grammar fit`)", "parses"

    def __init__(
        self,
        name: str = "eigentext_parser",
        *,
        model: str = "",
        spans_key: str = "eigentext_parser",
        set_tags: bool = False,
    ):
        super().__init__(name, model)
        self.spans_key, self.set_tags = spans_key, set_tags
        _declare_extensions()

    def _annotate(self, docs: list[Any]) -> None:
        parser = self.eigentext
        parts = [
            (doc, part.start, part.text, places)
            for doc in docs
            for part in parts_of(doc)
            if (places := parser.policy_.places(part.text))
        ]
        trees = [parsed.tree for parsed in parser.parses([text for _, _, text, _ in parts])]
        for doc in docs:
            doc.user_data[_KEY] = []
            doc.spans[self.spans_key] = []
        for (doc, start, _, places), tree in zip(parts, trees):
            self._add(doc, [(start + a, start + b) for _, a, b in places], tree)

    def _add(self, doc: Any, places: list[tuple[int, int]], tree: Tree) -> None:
        doc.user_data[_KEY].append((places[0][0], places[-1][1], str(tree)))
        for label, first, last, is_tag in _nodes(tree):
            start, end = places[first][0], places[last - 1][1]
            span = doc.char_span(start, end, label, alignment_mode="expand")
            if not is_tag:
                doc.spans[self.spans_key].append(span)
            elif self.set_tags:
                for token in span:
                    token.tag_ = label


def _nodes(tree: Tree) -> list[tuple[str, int, int, bool]]:
    """Each node as (label, first word, end, whether it is a part of speech), parents first."""
    found: list[Any] = []
    open_nodes: list[tuple[int, Tree]] = []
    stack: list[Any] = [tree]
    n_words = 0
    while stack:
        node = stack.pop()
        if node is None:  # the end of the node that was opened last
            place, closed = open_nodes.pop()
            label, first, *_ = found[place]
            found[place] = (label, first, n_words, closed.is_preterminal)
        elif isinstance(node, str):
            n_words += 1
        else:
            open_nodes.append((len(found), node))
            found.append((node.label, n_words))
            stack += [None, *reversed(node.children)]
    return [one for one in found if one[0]]


def _trees(part: Any) -> list[Tree]:
    """The trees of a document, or those inside a span."""
    is_span = isinstance(part, Span)
    doc = part.doc if is_span else part
    kept = doc.user_data.get(_KEY, [])
    if is_span:
        kept = [one for one in kept if part.start_char <= one[0] and one[1] <= part.end_char]
    return [Tree.parse(text) for _, _, text in kept]


def _tree(part: Any) -> Tree | None:
    """The tree of a document or span; None if there is none."""
    trees = _trees(part)
    if not trees:
        return None
    return trees[0] if len(trees) == 1 else Tree("", trees)


def _declare_extensions() -> None:
    for kind in (Doc, Span):
        for name, getter in (("parse_trees", _trees), ("parse_tree", _tree)):
            if not kind.has_extension(name):
                kind.set_extension(name, getter=getter)


_declare_extensions()  # also for documents that are read back without a parser


@Language.factory(
    "eigentext_parser",
    assigns=["doc._.parse_tree", "doc._.parse_trees", "doc.spans", "token.tag"],
    default_config={"model": "", "spans_key": "eigentext_parser", "set_tags": False},
)
def make_parser(
    nlp: Language, name: str, model: str, spans_key: str, set_tags: bool
) -> ParserComponent:
    """Make the component for a pipeline."""
    return ParserComponent(name, model=model, spans_key=spans_key, set_tags=set_tags)
