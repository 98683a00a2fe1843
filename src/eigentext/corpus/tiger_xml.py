"""TIGER-XML: sentences as graphs of terminals, nonterminals and edges.

The elements are ``<s>``, ``<graph root=…>``, ``<t id= word= pos=>``, ``<nt id= cat=>`` and, in the
latter, ``<edge idref= label=>``. All others are passed over, secondary edges too. Expat reads the
file in one pass, and only one sentence is kept. A file with a document type (``<!DOCTYPE``) is
refused: nothing can be defined in it, so that no small file becomes large and no other file is
opened.
"""

from typing import Any
from xml.parsers import expat

from eigentext.corpus.bad_items import BadItems
from eigentext.corpus.graphs import Phrase, Raised, Word, tree_of
from eigentext.corpus.trees import Tree
from eigentext.errors import CorpusError

_DEEPEST = 100  # elements in elements; TIGER-XML has 6
_Attributes = dict[str, str]


def parse_tiger_xml(
    data: bytes, source: str, bad: BadItems, counts: Raised, *, is_utf8: bool = False
) -> list[Tree]:
    """The trees of a file; `is_utf8` says that this is its encoding, whatever the file says."""
    reader = _Reader(source, bad, counts, expat.ParserCreate("utf-8" if is_utf8 else None))
    try:
        reader.parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, CorpusError):
            raise
        line = getattr(error, "lineno", reader.parser.CurrentLineNumber)
        raise CorpusError(
            f"{source}, line {line}: not well-formed XML ({error}); correct it there, or make the "
            "file again"
        ) from None
    if not reader.n_sentences:
        raise CorpusError(f"{source}: has no sentences (<s>), so it is not TIGER-XML")
    return reader.trees


class _Reader:
    """What Expat calls, and the sentence that is being read."""

    def __init__(self, source: str, bad: BadItems, counts: Raised, parser: Any):
        self.trees: list[Tree] = []
        self.parser = parser
        self._source, self._bad, self._counts = source, bad, counts
        self._depth = self.n_sentences = 0
        self._begin_sentence({})
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise CorpusError(
            f"{self._here()}: the file has a document type (<!DOCTYPE), which could define "
            "anything; remove it"
        )

    def _here(self) -> str:
        return f"{self._source}, line {self.parser.CurrentLineNumber}"

    def _begin(self, name: str, attributes: _Attributes) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CorpusError(f"{self._here()}: more than {_DEEPEST} elements in each other")
        handle = _HANDLERS.get(name)
        if handle is not None:
            handle(self, attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "s":
            self.n_sentences += 1
            try:
                self.trees.append(self._tree())
            except CorpusError as error:
                self._bad.skip(error)
            self._begin_sentence({})

    def _begin_sentence(self, _: _Attributes) -> None:
        self._place = self._here()
        self._words: list[tuple[str, Word]] = []
        self._phrases: dict[str, Phrase] = {}
        self._edges: list[tuple[str, str, str]] = []
        self._last = ""

    def _terminal(self, of: _Attributes) -> None:
        self._words.append(
            (of.get("id", ""), Word(of.get("word", ""), of.get("pos", ""), None, ""))
        )

    def _nonterminal(self, of: _Attributes) -> None:
        self._last = of.get("id", "")
        self._phrases[self._last] = Phrase(of.get("cat", ""), None, "")

    def _edge(self, of: _Attributes) -> None:
        self._edges.append((self._last, of.get("idref", ""), of.get("label", "")))

    def _tree(self) -> Tree:
        """The tree of the sentence that has ended."""
        known: dict[Any, Word | Phrase] = {**self._phrases, **dict(self._words)}
        if len(known) != len(self._words) + len(self._phrases):
            raise CorpusError(f"{self._place}: two nodes have the same id; correct it")
        seen: set[str] = set()
        for parent, child, label in self._edges:
            if child not in known:
                raise CorpusError(f"{self._place}: an edge leads to {child!r}, which is not there")
            if child in seen:
                raise CorpusError(f"{self._place}: {child!r} has two parents; correct its edges")
            seen.add(child)
            known[child].parent, known[child].function = parent, label
        phrases: dict[Any, Phrase] = {**self._phrases}
        return tree_of([word for _, word in self._words], phrases, self._place, self._counts)


_HANDLERS = {
    "s": _Reader._begin_sentence,
    "t": _Reader._terminal,
    "nt": _Reader._nonterminal,
    "edge": _Reader._edge,
}
