"""A report on topics: one HTML page that needs no other file, for any browser and any screen.

It shows the sizes of the topics, their names if they have any, their tree
(:mod:`eigentext.topics.hierarchy`), their top words and phrases, and their most typical documents.
A document in which a topic ties with another is shown for each topic that has one
(:mod:`eigentext.topics.typical`).
"""

import os
import unicodedata
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import eigentext
from eigentext.corpus.documents import is_matrix
from eigentext.errors import ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.moments.document_checks import is_of_matrix
from eigentext.storage.files import replacing
from eigentext.topics.hierarchy import hierarchy_section
from eigentext.topics.parameters import Rank
from eigentext.topics.tables import topic_names
from eigentext.topics.typical import (
    BorderlineDocument,
    TypicalDocument,
    borderline_documents,
    snippet,
    typical_documents,
)

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel

__all__ = ["TypicalDocument", "report", "summary_lines", "typical_documents"]

_PHRASES = 5  # the phrases of a topic that are named
_GIST = 5  # the words that stand for a topic
_NEAREST = 3  # the nearest topics that are named
_BORDERLINE = 1  # the borderline documents of a topic
_TIE = 0.25  # the least share of both topics in a document on their border
_METHODS = {
    "tensor": "tensor decomposition",
    "gradient": "tensor decomposition and direct minimization",
    "anchors": "anchor words",
    "two views": "tensor decomposition of both views",
}


def report(
    model: "TopicModel",
    documents: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    n_words: int = 12,
    rank: Rank | None = None,
    n_documents: int = 3,
    titles: Sequence[str] | None = None,
    perplexity: float | None = None,
) -> str:
    """Make a page about fitted topics: their sizes, their words, and their typical documents.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    documents : strings, token lists, files, TextCorpus or matrix of counts, optional
        The documents among which typical ones are chosen, and those on the border of two topics,
        in any form that ``model.transform`` takes. The page shows the beginning of a text, or the
        number of a row of a matrix. Phrases of the topics are found in texts
        (:mod:`eigentext.topics.phrases`).
    path : path, optional
        Where to write the page. The file is written completely or not at all.
    n_words, n_documents : int
        How many words and typical documents to show for each topic. With ``n_documents=0``, no
        documents are shown.
    rank : str, optional
        The ranking of the words, as in ``model.top_words``.
    titles : list of str, optional
        The names of all documents. By default, files have their names and lines their numbers.
    perplexity : float, optional
        The perplexity of held-out documents, which the page shows.

    Returns
    -------
    str
        The page: HTML without scripts.

    Examples
    --------
    >>> from eigentext import TopicModel
    >>> texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
    >>> page = report(TopicModel(2).fit(texts), texts)
    >>> page.count("<article"), page.count("<blockquote")
    (2, 4)
    """
    if n_words < 1 or n_documents < 0:
        raise ParameterError(
            f"n_words={n_words} and n_documents={n_documents}; show 1 word or more, and 0 documents"
            " or more"
        )
    check_is_fitted(model)
    documents = list(documents) if isinstance(documents, Iterator) else documents
    topics = _Topics(model, n_words, rank)
    phrases = _phrases(model, documents)
    typical: list[list[TypicalDocument]] = [[]] * topics.K
    between: list[list[BorderlineDocument]] = [[]] * topics.K
    if documents is not None and n_documents:
        typical = typical_documents(model, documents, n_documents, titles)
        between = borderline_documents(model, documents, _BORDERLINE, titles)
    heading = f"{topics.K:,} topics" if topics.K > 1 else "One topic"
    parts = [
        _introduction(model, heading, perplexity),
        _overview(topics),
        hierarchy_section(model),
        *(
            _topic(topics, k, phrases[k], _typical(typical[k]) + _between(topics, between[k]))
            for k in range(topics.K)
        ),
    ]
    page = _PAGE.format(
        version=eigentext.__version__, title=heading, style=_STYLE, body="\n".join(parts)
    )
    if path is not None:
        with replacing(Path(path)) as temporary:
            temporary.write_text(page, encoding="utf-8")
    return page


# The parts of the page.


class _Topics:
    """The facts about each topic that the page shows."""

    def __init__(self, model: "TopicModel", n_words: int, rank: Rank | None):
        phi = np.asarray(model.components_)
        self.K = model.n_topics_
        self.sizes = np.asarray(model.weights_)
        self.share_of = "documents" if model.alpha0_ == 0 else "text"
        top = model.top_words(n_words, rank=rank)
        self.forms = top.forms
        self.names = topic_names(model)
        self.words = [[*zip(words, shares)] for words, shares in zip(top, top.probabilities)]
        affinity = np.sqrt(phi) @ np.sqrt(phi).T
        np.fill_diagonal(affinity, -1)
        nearest = np.argsort(-affinity, axis=1, kind="stable")[:, : min(_NEAREST, self.K - 1)]
        self.nearest = nearest.tolist()

    def gist(self, k: int, n_words: int = _GIST) -> str:
        shown = ", ".join(_readable(word) for word, _ in self.words[k][:n_words])
        named = f'<i lang="" dir="auto">{_readable(self.names[k] or "")}</i> '
        return named * bool(self.names[k]) + f'<span lang="" dir="auto">{shown}</span>'

    def link(self, k: int) -> str:
        return f'<a href="#topic-{k}">{k} <small>{self.gist(k, 2)}</small></a>'


def _introduction(model: "TopicModel", heading: str, perplexity: float | None) -> str:
    about = "\n".join(f"<li>{escape(line)}</li>" for line in summary_lines(model, perplexity))
    return f'<header id="top">\n<h1>{heading}</h1>\n<ul class="about">\n{about}\n</ul>\n</header>'


def summary_lines(model: "TopicModel", perplexity: float | None = None) -> list[str]:
    """Return sentences about a fitted model: how it was learned, and its findings.

    `perplexity` is that of documents which the model was not learned from.
    """
    findings = [" ".join(filter(None, one[1:])) for one in model.findings()]
    return [*_description(model, perplexity), *findings]


def _description(model: "TopicModel", perplexity: float | None) -> Iterator[str]:
    found, method = model.diagnostics_, dict(model.parameters_).get("method", "two views")
    steps = found.get("perplexities", [])
    yield (
        f"Learned from {model.provenance_['n_documents']:,} documents, "
        f"{len(model.vocabulary_):,} different words, by {_METHODS[method]}"
        + f" and {len(steps)} steps of EM" * bool(steps)
        + "."
    )
    tried = found.get("alpha0_perplexities", {})
    chosen = f", the best of {', '.join(tried)} for held-out documents" * bool(tried)
    if model.alpha0_ == 0:
        yield f"Each document has one topic{chosen and f' (α₀ = 0{chosen})'}."
    else:
        yield f"Documents mix topics: α₀ = {model.alpha0_:g}{chosen}."
    if perplexity is not None:
        yield (
            f"The perplexity of held-out documents is {perplexity:,.0f}: half of a document "
            "predicts a word of the other half as well as a choice among so many words."
        )
    elif steps:
        yield f"EM changed the perplexity from {steps[0]:,.0f} to {steps[-1]:,.0f}."


def _overview(topics: _Topics) -> str:
    largest = max(topics.sizes.max(), 1e-12)
    rows = "\n".join(
        f'<li style="{_hue(k)};--w:{size / largest:.2%}"><a href="#topic-{k}">'
        f'<b>{k}</b><span class="bar"></span><span class="size">{_percent(size)}</span>'
        f'<span class="gist">{topics.gist(k)}</span></a></li>'
        for k, size in enumerate(topics.sizes.tolist())
    )
    return (
        '<nav aria-labelledby="overview">\n'
        f'<h2 id="overview">Sizes <small>share of the {topics.share_of}</small></h2>\n'
        f'<ol class="overview">\n{rows}\n</ol>\n</nav>'
    )


def _phrases(model: "TopicModel", documents: Any) -> list[list[str]]:
    """The phrases of each topic; none if the documents are counts."""
    if documents is None or is_matrix(documents) or is_of_matrix(model.provenance_["options"]):
        return [[]] * model.n_topics_
    return model.top_phrases(documents, _PHRASES)


def _topic(topics: _Topics, k: int, phrases: list[str], documents: str) -> str:
    words = topics.words[k]
    most = max([p for _, p in words] + [1e-300])
    listed = "\n".join(
        f'<li style="--w:{p / most:.2%}">{_word(word, topics.forms.get(word, [word]))} '
        f"<small>{_percent(p, 2)}</small></li>"
        for word, p in words
    )
    named = ", ".join(f'<span lang="" dir="auto">{_readable(phrase)}</span>' for phrase in phrases)
    said = f'<p class="phrases">{named}</p>\n' * bool(phrases)
    near = " · ".join(map(topics.link, topics.nearest[k]))
    documents = f"<section>\n{documents}</section>\n" * bool(documents)
    return (
        f'<article id="topic-{k}" style="{_hue(k)}" aria-labelledby="heading-{k}">\n'
        f'<h2 id="heading-{k}"><b>{k}</b> {topics.gist(k, 3)} '
        f"<small>{_percent(topics.sizes[k])} of the {topics.share_of}</small></h2>\n"
        f'{said}<div class="columns">\n<ol class="words" aria-label="Top words">\n{listed}\n'
        f"</ol>\n{documents}</div>\n"
        f'<footer>{f"Nearest: {near} · " * bool(near)}<a href="#top">All topics</a></footer>\n'
        "</article>"
    )


def _word(word: str, forms: Sequence[str]) -> str:
    title = f' title="{_readable(", ".join(forms))}"' * (len(forms) > 1)
    return f'<span lang="" dir="auto"{title}>{_readable(word)}</span>'


def _typical(documents: list[TypicalDocument]) -> str:
    shown = [(f"{_percent(one.share, 0)} of {_readable(one.name)}", one.text) for one in documents]
    return _documents("Most typical documents", shown)


def _between(topics: _Topics, documents: list[BorderlineDocument]) -> str:
    """A document that two topics share, with a link to the other topic."""
    shown = [
        (
            f"{_percent(one.share, 0)} of {_readable(one.name)}, and "
            f"{_percent(one.other_share, 0)} is topic {topics.link(one.other)}",
            one.text,
        )
        for one in documents
        if min(one.share, one.other_share) >= _TIE
    ]
    return _documents("On the border to another topic", shown)


def _documents(heading: str, about: list[tuple[str, str]]) -> str:
    """A list of documents: what is said of each, as HTML, and its text."""
    shown = "\n".join(
        f"<li><small>{said}</small>"
        + f'<blockquote lang="" dir="auto">{_quoted(text)}</blockquote>' * bool(text)
        + "</li>"
        for said, text in about
    )
    return f'<h3>{heading}</h3>\n<ul class="documents">\n{shown}\n</ul>\n' * bool(about)


def _hue(k: int) -> str:
    return f"--h:{k * 137.508 % 360:.0f}"  # the golden angle: neighbors differ most


def _percent(share: float, digits: int = 1) -> str:
    least = 10.0 ** -(2 + digits)
    return f"{share:.{digits}%}" if share >= least or share == 0 else f"&lt;{least:.{digits}%}"


def _quoted(text: str) -> str:
    return _readable(snippet(text))


def _readable(text: str) -> str:
    """The text, escaped for HTML, without control characters and halves of surrogate pairs."""
    kept = ("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    return escape("".join(kept))


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="eigentext {version}">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""
_STYLE = """\
:root { color-scheme: light dark; --ink: #1d2129; --faint: #5d6675; --page: #fbfaf8; --card: #fff;
  --line: #e4e1da; --light: 46%; --wash: 90%; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e5e0; --faint: #a0a6b1; --page: #14161a;
  --card: #1c1f25; --line: #2d323b; --light: 62%; --wash: 24%; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0 auto; padding: clamp(1rem, 4vw, 3rem); max-width: 66rem; color: var(--ink);
  background: var(--page); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0 0 .5rem; font-size: clamp(1.8rem, 6vw, 2.8rem); line-height: 1.1; }
h2 { margin: 0 0 .75rem; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 0 0 .5rem; font-size: .9rem; color: var(--faint); }
i { font-style: normal; font-weight: 600; }
i::after { content: ":"; }
.about li { margin-bottom: .3rem; }
small, .about, footer { color: var(--faint); font-size: .85rem; font-weight: normal; }
ol, ul { list-style: none; margin: 0; padding: 0; }
a { color: inherit; text-underline-offset: .2em; text-decoration-color: var(--line); }
a:hover { text-decoration-color: currentColor; }
a:focus-visible { outline: 2px solid hsl(var(--h, 210) 60% var(--light)); outline-offset: 2px; }
nav, article { margin-top: 1.5rem; padding: clamp(1rem, 3vw, 1.75rem); background: var(--card);
  border: 1px solid var(--line); border-radius: .6rem; }
article { border-left: .4rem solid hsl(var(--h) 60% var(--light)); }
.overview a { display: grid; grid-template-columns: 2.2rem minmax(3rem, 9rem) 3.6rem 1fr;
  gap: .5rem; align-items: center; padding: .2rem .3rem; border-radius: .3rem;
  text-decoration: none; }
.overview a:hover, article:target { background: hsl(var(--h) 60% var(--wash) / .35); }
.overview b, .size { text-align: right; font-variant-numeric: tabular-nums; }
.bar::before { content: ""; display: block; width: max(2px, var(--w)); height: .8rem;
  border-radius: .2rem; background: hsl(var(--h) 60% var(--light)); }
.phrases { margin: -.4rem 0 .8rem; }
.columns { display: grid; grid-template-columns: minmax(13rem, 1fr) 2fr; gap: 1.5rem 2.5rem; }
.words li { display: flex; justify-content: space-between; gap: 1rem; margin-bottom: 2px;
  padding: .1rem .5rem; border-radius: .2rem; background: linear-gradient(
  hsl(var(--h) 60% var(--wash)) 0 0) left / max(2px, var(--w)) 100% no-repeat; }
.words small { color: inherit; opacity: .85; }
.tree ul ul { margin-left: .3rem; padding-left: .9rem; border-left: 1px solid var(--line); }
.tree li > span { color: var(--faint); font-size: .9rem; }
.documents li { margin-bottom: .9rem; }
blockquote { margin: .15rem 0 0; padding-left: .8rem; border-left: 2px solid var(--line); }
footer { margin-top: 1rem; }
@media (max-width: 40rem) { .columns { grid-template-columns: 1fr; }
  .tree ul ul { margin-left: 0; padding-left: .45rem; }
  .overview a { grid-template-columns: 1.8rem 1fr 3.4rem; } .gist { grid-column: 2 / -1;
  margin-top: -.4rem; font-size: .9rem; } }
@media print { nav, article { break-inside: avoid; } }"""
