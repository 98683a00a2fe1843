"""Parsers and taggers behind the interfaces of NLTK, ``ParserI`` and ``TaggerI``.

NLTK is imported when an adapter is made. So its base classes are known only then, and the classes
of the adapters are made at that time.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from eigentext.corpus.trees import Tree
from eigentext.errors import EigentextError, ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.parameters import Count, argument

if TYPE_CHECKING:
    from nltk.parse.api import ParserI
    from nltk.tag.api import TaggerI

_K = Count(1)


class _Parser(Protocol):
    def parse(self, tokens: list[str], /) -> Tree: ...
    def k_best(self, tokens: list[str], k: int, /) -> Sequence[Any]: ...
    def parse_many(self, sentences: Iterable[list[str]], /) -> list[Tree | None]: ...


class NltkParsing:
    """Mixin for parsers: :meth:`to_nltk`."""

    def to_nltk(self, k: int = 1) -> "ParserI":
        """The parser as a ``ParserI`` of NLTK, if NLTK is installed.

        Its `parse` takes a list of tokens and yields the k best trees, as ``nltk.Tree``.
        """
        check_is_fitted(self)
        return nltk_parser(self, k)  # type: ignore[arg-type] - a parser has the methods


class NltkTagging:
    """Mixin for taggers: :meth:`to_nltk`."""

    def to_nltk(self) -> "TaggerI":
        """The tagger as a ``TaggerI`` of NLTK, if NLTK is installed.

        Its `tag` takes a list of tokens and returns pairs (token, tag).
        """
        check_is_fitted(self)
        model: Any = self
        return nltk_tagger(model.tag_many if hasattr(model, "tag_many") else model.tag)


TagMany = Callable[[list[Any]], list[Any]]


def nltk_parser(model: _Parser, k: int = 1) -> Any:
    """A parser as a ``nltk.parse.api.ParserI``, whose `parse` yields the k best trees."""
    return _parser_class()(model, argument("k", _K, k))


def nltk_tagger(tag_many: TagMany) -> Any:
    """A function that tags sentences as a ``nltk.tag.api.TaggerI``."""
    return _tagger_class()(tag_many)


@cache
def _parser_class() -> type:
    try:
        from nltk.parse.api import ParserI
    except ImportError as error:
        raise _no_nltk() from error

    class EigentextParser(ParserI):
        """A parser of eigentext for NLTK."""

        def __init__(self, model: _Parser, k: int):
            self._model, self._k = model, k

        def __repr__(self) -> str:
            return f"<EigentextParser of {self._model!r}>"

        def __reduce__(self) -> Any:
            return nltk_parser, (self._model, self._k)

        def parse(self, sent: Iterable[str], *args: Any, **kwargs: Any) -> Iterator[Any]:
            """Yield the trees of a sentence, the best first; none for an empty sentence."""
            tokens = _tokens(sent)
            if not tokens:
                return
            if self._k == 1:
                yield self._model.parse(tokens).to_nltk()
                return
            for found in self._model.k_best(tokens, self._k):
                yield found.tree.to_nltk()

        def parse_sents(
            self, sents: Iterable[Iterable[str]], *args: Any, **kwargs: Any
        ) -> Generator[Iterator[Any], None, None]:
            """Yield an iterator of trees for each sentence."""
            sentences = [_tokens(sent) for sent in sents]
            if self._k > 1:
                yield from map(self.parse, sentences)
                return
            filled = iter(self._model.parse_many([sent for sent in sentences if sent]))
            for sent in sentences:
                tree = next(filled) if sent else None
                yield iter([] if tree is None else [tree.to_nltk()])

    return EigentextParser


@cache
def _tagger_class() -> type:
    try:
        from nltk.tag.api import TaggerI
    except ImportError as error:
        raise _no_nltk() from error

    class EigentextTagger(TaggerI):
        """A tagger of eigentext for NLTK."""

        def __init__(self, tag_many: TagMany):
            self._tag_many = tag_many

        def __repr__(self) -> str:
            model = getattr(self._tag_many, "__self__", self._tag_many)
            return f"<EigentextTagger of {model!r}>"

        def __reduce__(self) -> Any:
            return nltk_tagger, (self._tag_many,)

        def tag(self, tokens: Iterable[Any]) -> list[tuple[Any, str]]:
            """Return each token with its tag."""
            return self.tag_sents([tokens])[0]

        def tag_sents(self, sentences: Iterable[Iterable[Any]]) -> list[list[tuple[Any, str]]]:
            """Return each token of each sentence with its tag."""
            given = [_tokens(sentence) for sentence in sentences]
            found = self._tag_many(given)
            return [
                [(token, answer[-1]) for token, answer in zip(tokens, tagged, strict=True)]
                for tokens, tagged in zip(given, found, strict=True)
            ]

    return EigentextTagger


def _tokens(sentence: Iterable[Any]) -> list[Any]:
    if isinstance(sentence, str):
        raise ParameterError(
            f"{sentence!r:.40} is a string; NLTK's interfaces take lists of tokens: "
            f"give {sentence.split()!r:.60}"
        )
    return list(sentence)


def _no_nltk() -> EigentextError:
    return EigentextError("to_nltk needs NLTK; run pip install nltk")
