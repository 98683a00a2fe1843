r"""The words of one document by topic.

The word w of a document with the proportions :math:`\theta` comes from the topic k with the
probability

.. math:: p(z = k \,|\, w, \theta) \propto \theta_k\, \phi_{kw}.

If each document has one topic (``alpha0 = 0``), every word has that of its document, and the
probabilities are :math:`\theta` itself. Stop words and words that the model does not know have no
topic.
"""

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigentext.corpus.tokenizers import NAMED, UNIT_END, check_unicode, lowered, tokenize
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.topics.inference import lifted

if TYPE_CHECKING:
    import pyarrow as pa

    from eigentext.topics.model import TopicModel

_GIST = 4  # words that name a topic
_LEGEND = 0.02  # the least share of a topic in the legend
_WRAPPED = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.6"
_HUE = 137.508  # degrees from one topic to the next, as in the report
_COLORS = (31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96)  # of terminals


class HighlightedToken(NamedTuple):
    """A token of a document."""

    text: str  # as it is written
    start: int  # its place in the document, in characters
    stop: int
    topic: int | None  # the most probable topic; None if the model does not know the word
    probability: float | None  # of that topic


class Highlight:
    """A document whose words are marked by topic; see :func:`highlight`.

    Notebooks show it in colors.

    Attributes
    ----------
    text : str
    tokens : list of HighlightedToken
        All tokens in their order, with their original spelling and their places.
    shares : array, shape (K,)
        The topic proportions of the document.
    probabilities : array, shape (number of tokens, K)
        The probability of each topic for each token; zeros for an unknown word.
    """

    def __init__(
        self,
        text: str,
        tokens: list[HighlightedToken],
        shares: np.ndarray,
        probabilities: np.ndarray,
        gists: list[str],
    ):
        self.text, self.tokens, self.shares = text, tokens, shares
        self.probabilities = probabilities
        self._gists = gists

    def to_text(self, *, color: bool = False) -> str:
        """Return the text with the topic behind each known word: ``shuttle[10]``.

        With `color`, words are in the colors of a terminal instead, and a line names the topics.
        """
        parts, place = [], 0
        for token in self.tokens:
            if token.topic is None:
                continue
            parts.append(self.text[place : token.start])
            word = self.text[token.start : token.stop]
            parts.append(_colored(word, token.topic) if color else f"{word}[{token.topic}]")
            place = token.stop
        marked = "".join([*parts, self.text[place:]])
        if not color:
            return marked
        names = (_colored(f"{k} {self._gists[k]}", k) for k in self._shown())
        return f"{marked}\n{'; '.join(names)}"

    def to_html(self) -> str:
        """Return HTML with a color for each topic; the surer a word's topic, the stronger."""
        parts, place = [], 0
        for token in self.tokens:
            if token.topic is None or token.probability is None:
                continue
            parts.append(escape(self.text[place : token.start]))
            about = f"topic {token.topic} ({token.probability:.0%}): {self._gists[token.topic]}"
            style = f"background:{_shade(token.topic, token.probability)};border-radius:3px"
            word = escape(self.text[token.start : token.stop])
            parts.append(f'<span style="{style}" title="{escape(about)}">{word}</span>')
            place = token.stop
        parts.append(escape(self.text[place:]))
        legend = "".join(
            f'<span style="background:{_shade(k, 1)};border-radius:3px;padding:0 4px;'
            f'margin:0 8px 4px 0;display:inline-block"><b>{k}</b> {self.shares[k]:.0%} '
            f"{escape(self._gists[k])}</span> "
            for k in self._shown()
        )
        return (
            f'<div><div style="margin-bottom:6px;font-size:small">{legend}</div>\n'
            f'<div lang="" dir="auto" style="{_WRAPPED}">{"".join(parts)}</div></div>'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the text, the shares and the tokens as plain data."""
        tokens = [token._asdict() for token in self.tokens]
        return {"text": self.text, "shares": self.shares.tolist(), "tokens": tokens}

    def to_arrow(self) -> "pa.Table":
        """Return a table with a row for each token: token, start, stop, topic, probability."""
        import pyarrow as pa

        columns = [*zip(*self.tokens)] or [()] * 5
        types = (pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.float64())
        names = ("token", *HighlightedToken._fields[1:])
        return pa.table({name: pa.array(c, t) for name, c, t in zip(names, columns, types)})

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        known = sum(token.topic is not None for token in self.tokens)
        return f"Highlight({len(self.tokens)} tokens, {known} of them known)"

    def _repr_html_(self) -> str:
        return self.to_html()

    def _shown(self) -> list[int]:
        """The topics of the legend, the largest first."""
        used = {token.topic for token in self.tokens if token.topic is not None}
        order: list[int] = np.argsort(-self.shares, kind="stable").tolist()
        return [k for k in order if k in used and self.shares[k] >= _LEGEND]


def highlight(model: "TopicModel", text: str) -> Highlight:
    """Return the words of a document by topic; see the module.

    Parameters
    ----------
    model : TopicModel
        A fitted model, learned from text.
    text : str
        The document. It is split as the documents of the model were.

    Examples
    --------
    >>> from eigentext import TopicModel
    >>> texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
    >>> model = TopicModel(2).fit(texts)
    >>> print(highlight(model, "Cheese for the TEAM, and ham!"))
    Cheese[0] for the TEAM[1], and ham[0]!
    """
    check_is_fitted(model)
    if not isinstance(text, str):
        raise ParameterError(
            f"the document must be a string, not {type(text).__name__}; give one text"
        )
    check_unicode([text], "the document")
    if UNIT_END in text:
        raise CorpusError("the document has a NUL character; take it out")
    places = token_places(text, model.provenance_["options"])
    # The model counts the document as `transform` does, so that the shares are the same.
    shares = np.asarray(model.transform([_document(text, places, model)]))[0]
    words = [word for word, _, _ in places]
    ids = model.vocabulary_.ids_of(words) if words else np.zeros(0, np.int64)
    known = ids >= 0
    chances = np.zeros((len(words), len(shares)))
    if model.alpha0_ == 0:
        chances[known] = shares
    else:
        chances[known] = shares * lifted(model.components_)[:, ids[known]].T
        chances[known] /= chances[known].sum(axis=1, keepdims=True)
    tokens = [
        HighlightedToken(text[start:stop], start, stop, None, None)
        if not there
        else HighlightedToken(text[start:stop], start, stop, int(row.argmax()), float(row.max()))
        for (_, start, stop), there, row in zip(places, known, chances)
    ]
    gists = [" ".join(top) for top in model.top_words(_GIST)]
    return Highlight(text, tokens, shares, chances, gists)


def token_places(text: str, options: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Return the tokens of a text, split as `options` say or else at blanks, and their places.

    Examples
    --------
    >>> token_places("Ham, eggs", {"tokenizer": "words", "lowercase": True})
    [('ham', 0, 3), ('eggs', 5, 9)]
    """
    name, lowercase = options.get("tokenizer"), bool(options.get("lowercase"))
    written = lowered(text) if lowercase else text  # of the same length
    if name == "matrix":
        raise CorpusError(
            "the model was learned from the columns of a matrix, so it cannot read text; "
            "learn one from text"
        )
    if name in NAMED:
        found = tokenize(text.encode(), name, lowercase=lowercase, lines_are_units=False)
        tokens = [token for token in found.to_pylist() if token != UNIT_END]
    else:
        tokens = written.split()
    places, end = [], 0
    for token in tokens:
        start = written.index(token, end)
        end = start + len(token)
        places.append((token, start, end))
    return places


def _document(text: str, places: list[tuple[str, int, int]], model: "TopicModel") -> Any:
    """The document in a form that `transform` takes: text, or tokens for a model of tokens."""
    if model.provenance_["options"].get("tokenizer") in NAMED:
        return text
    return [token for token, _, _ in places]


def _colored(text: str, topic: int) -> str:
    return f"\033[{_COLORS[topic % len(_COLORS)]}m{text}\033[0m"


def _shade(topic: int, probability: float) -> str:
    return f"hsl({topic * _HUE % 360:.0f} 70% 50% / {0.1 + 0.35 * probability:.2f})"
