r"""Topics to look at: one page of HTML with all in it, for any browser, on any screen.

A topic's *most typical documents* are those of the largest proportion :math:`\theta_{ik}`. Among
equal ones (to a hundredth: where a document has one topic, most proportions are 1) these are the
documents whose words tell most for the topic: the largest mean, over their words, of
:math:`\log \phi_{kw} / p(w)`. Copies are shown once.
"""

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import eigentext
from eigentext.corpus.documents import as_documents, in_batches, is_matrix
from eigentext.corpus.text import TextCorpus
from eigentext.errors import ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.moments import document_counts
from eigentext.storage.files import replacing

_ROWS = 10_000  # of a matrix, read at a time
_FEW_WORDS = 10  # a document of fewer known words is not typical of anything, if others are longer
_LEAST_SHARE = 0.1  # of a topic in its typical documents
_SNIPPET = 220  # characters of a document
_GIST = 5  # words that stand for a topic
_NEAREST = 3
_NEARLY = 0.8  # the ratio of the first eigenvalue dropped to the last kept that says little
_METHODS = {
    "tensor": "tensor decomposition",
    "gradient": "tensor decomposition and direct minimisation",
    "anchors": "anchor words",
}


def report(
    model: Any,
    documents: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    n_words: int = 12,
    n_documents: int = 3,
    titles: Sequence[str] | None = None,
    perplexity: float | None = None,
) -> str:
    """A page about fitted topics: their sizes, their words, and documents that are typical of them.

    Parameters
    ----------
    model : TopicModel
        A fitted one.
    documents : strings, token lists, files, TextCorpus or matrix of counts, optional
        What to take typical documents from, in any form that ``model.transform`` takes. Of text,
        the beginning is shown; of a row of a matrix, its number.
    path : path, optional
        Where to write the page, at once or not at all.
    n_words, n_documents : int
        How many of each to show for a topic.
    titles : list of str, optional
        What to call the documents, one for each; else files by their names, lines by their numbers.
    perplexity : float, optional
        On held-out text, to be told with the rest.

    Returns
    -------
    str
        The page: HTML without scripts, that needs no other file.

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
    topics = _Topics(model, n_words)
    typical = [[]] * topics.K
    if documents is not None and n_documents:
        typical = _typical(model, documents, n_documents, titles)
    heading = f"{topics.K:,} topics" if topics.K > 1 else "One topic"
    parts = [
        _introduction(model, heading, perplexity),
        _overview(topics),
        *(_topic(topics, k, typical[k]) for k in range(topics.K)),
    ]
    page = _PAGE.format(
        version=eigentext.__version__, title=heading, style=_STYLE, body="\n".join(parts)
    )
    if path is not None:
        with replacing(Path(path)) as temporary:
            temporary.write_text(page, encoding="utf-8")
    return page


# What is on the page.


class _Topics:
    """What is said of each topic."""

    def __init__(self, model: Any, n_words: int):
        phi = np.asarray(model.components_)
        self.K = model.n_topics_
        self.sizes = np.asarray(model.weights_)
        self.share_of = "documents" if model.alpha0_ == 0 else "text"
        top = np.argsort(-phi, axis=1, kind="stable")[:, :n_words]
        self.words = [
            [(_readable(model.vocabulary_.words[w]), float(p[w])) for w in row]
            for p, row in zip(phi, top.tolist())
        ]
        affinity = np.sqrt(phi) @ np.sqrt(phi).T
        np.fill_diagonal(affinity, -1)
        nearest = np.argsort(-affinity, axis=1, kind="stable")[:, : min(_NEAREST, self.K - 1)]
        self.nearest = nearest.tolist()

    def gist(self, k: int, n_words: int = _GIST) -> str:
        return f'<span lang="" dir="auto">{", ".join(w for w, _ in self.words[k][:n_words])}</span>'


class _Document(NamedTuple):
    """One that is typical of a topic."""

    share: float
    score: float
    name: str
    text: str


def _introduction(model: Any, heading: str, perplexity: float | None) -> str:
    about = "\n".join(f"<li>{escape(line)}</li>" for line in _told(model, perplexity))
    return f'<header id="top">\n<h1>{heading}</h1>\n<ul class="about">\n{about}\n</ul>\n</header>'


def _told(model: Any, perplexity: float | None) -> Iterator[str]:
    """How the topics were learned, and what to think of them, line by line."""
    found, read = model.diagnostics_, model.provenance_
    steps = found.get("perplexities", [])
    yield (
        f"Learned from {read['n_documents']:,} documents, {len(model.vocabulary_):,} different "
        f"words, by {_METHODS[model.parameters_.method]}"
        + f" and {len(steps)} steps of EM" * bool(steps)
        + "."
    )
    tried = found.get("alpha0_perplexities", {})
    chosen = f", the best of {', '.join(tried)} for documents held out" * bool(tried)
    if model.alpha0_ == 0:
        yield f"Each document has one topic{chosen and f' (α₀ = 0{chosen})'}."
    else:
        yield f"Documents mix topics: α₀ = {model.alpha0_:g}{chosen}."
    if perplexity is not None:
        yield (
            f"Perplexity {perplexity:,.0f} on documents held out: half of a document tells the "
            f"other half as well as if it had to choose among so many words."
        )
    elif steps:
        yield f"EM brought these documents' perplexity from {steps[0]:,.0f} to {steps[-1]:,.0f}."
    if model.n_topics_ < (asked := model.parameters_.n_topics):
        yield f"{asked} topics were asked for; more than these the documents do not show."
    if left_out := found["n_empty"]:
        yield f"{left_out:,} documents have no word that was kept."
    if found.get("n_reduced"):
        yield (
            f"{found['n_reduced']:,} documents that weighed too much were made lighter, so that "
            "none has a topic to itself."
        )
    if found.get("dropped") and found["dropped"][0] > _NEARLY * found["eigenvalues"][-1]:
        yield (
            "Fewer topics, or more, may do as well: the next direction in the pairs of words is "
            "nearly as strong as the last that was used."
        )


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


def _topic(topics: _Topics, k: int, typical: list[_Document]) -> str:
    words = topics.words[k]
    most = max(words[0][1], 1e-300)
    listed = "\n".join(
        f'<li style="--w:{p / most:.2%}"><span lang="" dir="auto">{word}</span> '
        f"<small>{_percent(p, 2)}</small></li>"
        for word, p in words
    )
    near = ", ".join(
        f'<a href="#topic-{j}">{j} <small>{topics.gist(j, 2)}</small></a>'
        for j in topics.nearest[k]
    )
    return (
        f'<article id="topic-{k}" style="{_hue(k)}" aria-labelledby="heading-{k}">\n'
        f'<h2 id="heading-{k}"><b>{k}</b> {topics.gist(k, 3)} '
        f"<small>{_percent(topics.sizes[k])} of the {topics.share_of}</small></h2>\n"
        f'<div class="columns">\n<ol class="words" aria-label="Most probable words">\n{listed}\n'
        f"</ol>\n{_documents(typical)}</div>\n"
        f'<footer>{f"Nearest: {near} · " * bool(near)}<a href="#top">All topics</a></footer>\n'
        "</article>"
    )


def _documents(typical: list[_Document]) -> str:
    if not typical:
        return ""
    shown = "\n".join(
        f"<li><small>{_percent(one.share, 0)} of {_readable(one.name)}</small>"
        + f'<blockquote lang="" dir="auto">{_snippet(one.text)}</blockquote>' * bool(one.text)
        + "</li>"
        for one in typical
    )
    heading = "<h3>Most typical documents</h3>"
    return f'<section>\n{heading}\n<ul class="documents">\n{shown}\n</ul>\n</section>\n'


def _hue(k: int) -> str:
    return f"--h:{k * 137.508 % 360:.0f}"  # the golden angle: neighbours differ most


def _percent(share: float, digits: int = 1) -> str:
    least = 10.0 ** -(2 + digits)
    return f"{share:.{digits}%}" if share >= least or share == 0 else f"&lt;{least:.{digits}%}"


def _snippet(text: str) -> str:
    """The beginning of a text, in one line, cut at a blank if there is one."""
    text = " ".join(text[: 20 * _SNIPPET].split())
    if len(text) > _SNIPPET:
        text = (text[:_SNIPPET].rpartition(" ")[0] or text[:_SNIPPET]) + " …"
    return _readable(text)


def _readable(text: str) -> str:
    """Safe in HTML: escaped, without control characters and halves of surrogate pairs."""
    kept = ("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    return escape("".join(kept))


# Typical documents.


def _typical(
    model: Any, documents: Any, n_documents: int, titles: Sequence[str] | None
) -> list[list[_Document]]:
    """The most typical documents of each topic, read a batch at a time."""
    phi = np.maximum(model.components_, 1e-12)
    tells = np.ascontiguousarray(np.log(phi / (model.weights_ @ phi)).T)
    best: list[list[_Document]] = [[] for _ in phi]
    n_read = 0
    for X, named in _batches(model, documents):
        if titles is not None:
            titled = titles[n_read : n_read + len(named)]
            named = [(title, text) for title, (_, text) in zip(titled, named)]
        n_read += X.shape[0]
        n = X.sum(axis=1)
        rows = np.flatnonzero(n >= _enough(n))[: len(named)]
        if not len(rows):
            continue
        shares = model.transform(X[rows])
        scores = X[rows] @ tells / n[rows, None]
        for k, before in enumerate(best):
            order = np.lexsort((-scores[:, k], -np.round(shares[:, k], 2)))
            found = (
                _Document(float(shares[i, k]), float(scores[i, k]), *named[rows[i]])
                for i in order.tolist()
            )
            best[k] = _first(before, found, n_documents)
    if titles is not None and len(titles) != n_read:
        raise ParameterError(f"{len(titles)} titles for {n_read} documents; give one for each")
    return best


def _first(
    before: list[_Document], found: Iterable[_Document], n_documents: int
) -> list[_Document]:
    """The best of two sorted series, without copies."""
    kept: dict[str, _Document] = {}
    for one in merge(before, found, key=lambda one: (-round(one.share, 2), -one.score)):
        if len(kept) == n_documents or one.share < _LEAST_SHARE:
            break
        kept.setdefault(_snippet(one.text) or one.name, one)
    return list(kept.values())


def _enough(n: np.ndarray) -> float:
    """How many known words make a document worth showing: a few, where documents have so many."""
    return min(_FEW_WORDS, np.median(n[n > 0])) if n.any() else 1


def _batches(model: Any, documents: Any) -> Iterator[tuple[Any, list[tuple[str, str]]]]:
    """The counts of some documents, and the name and the text of each; and so on."""
    vocabulary, options = model.vocabulary_, model.provenance_["options"]
    corpus = documents if is_matrix(documents) else as_documents(documents, options)
    if not isinstance(corpus, TextCorpus):
        X = document_counts(corpus, vocabulary, options)
        for start in range(0, X.shape[0], _ROWS):
            part = X[start : start + _ROWS]
            yield part, [(f"document {start + row}", "") for row in range(part.shape[0])]
        return
    for places, part in in_batches(corpus):
        texts = part.texts or [" ".join(tokens) for tokens in part.token_lists]
        names = [_name(*place, len(corpus.files)) for place in places]
        yield document_counts(part, vocabulary, options), list(zip(names, texts))


def _name(file: str, number: int, n_files: int) -> str:
    if not file:
        return f"document {number}"
    if not number:
        return file
    return f"line {number}" if n_files == 1 else f"{file}, line {number}"


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
.columns { display: grid; grid-template-columns: minmax(13rem, 1fr) 2fr; gap: 1.5rem 2.5rem; }
.words li { display: flex; justify-content: space-between; gap: 1rem; margin-bottom: 2px;
  padding: .1rem .5rem; border-radius: .2rem; background: linear-gradient(
  hsl(var(--h) 60% var(--wash)) 0 0) left / max(2px, var(--w)) 100% no-repeat; }
.documents li { margin-bottom: .9rem; }
blockquote { margin: .15rem 0 0; padding-left: .8rem; border-left: 2px solid var(--line); }
footer { margin-top: 1rem; }
@media (max-width: 40rem) { .columns { grid-template-columns: 1fr; }
  .overview a { grid-template-columns: 1.8rem 1fr 3.4rem; } .gist { grid-column: 2 / -1;
  margin-top: -.4rem; font-size: .9rem; } }
@media print { nav, article { break-inside: avoid; } }"""
