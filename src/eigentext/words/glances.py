"""What a notebook shows of word vectors, vectors of tokens, clusters and phrases."""

from itertools import islice
from typing import Any

from eigentext import notebook
from eigentext.notebook import Glance

_WORDS, _NEAR, _CLUSTERS = 6, 5, 8
_MOST = 40_000_000  # numbers that a search for neighbors may read


def eigenwords(model: Any) -> Glance:
    """Sizes, the spectrum, and the neighbors of a few words."""
    n_words, dim = model.vectors_.shape
    found = model.diagnostics_
    words = _some_words(model.vocabulary_.words) if n_words * dim <= _MOST else []
    near = [
        (word, notebook.words(other for other, _ in model.most_similar(word, _NEAR)))
        for word in words
    ]
    example = repr(words[0] if words else model.vocabulary_.words[0])
    second = repr(words[-1] if words else model.vocabulary_.words[-1])
    return Glance(
        "word vectors",
        facts=[("words", n_words), ("dimensions", dim), *_source(model)],
        picture=notebook.spectrum(model.singular_values_, found.get("dropped_singular_values", ())),
        parts=[notebook.table(("word", "nearest words"), near)] if near else [],
        calls=[
            (f"model.most_similar({example})", "the nearest words"),
            (f"model.similarity({example}, {second})", "the cosine of two words"),
            ("WordClusters(100).fit(model)", "clusters with bit strings"),
            ("model.export('vectors.txt')", "a file for gensim, spaCy and others"),
            *_MORE,
        ],
    )


def eigentokens(model: Any) -> Glance:
    """Sizes and the spectrum."""
    n_words, dim = model.vectors_.shape
    dropped = model.diagnostics_.get("dropped_singular_values", ())
    return Glance(
        "vectors of tokens, by their context",
        facts=[("words", n_words), ("dimensions", dim), *_source(model)],
        picture=notebook.spectrum(model.singular_values_, dropped),
        calls=[
            ("model.transform([['the', 'old', 'man']])", "one vector for each token"),
            ("Tagger(eigentokens=model)", "a tagger that uses them"),
            *_MORE[1:],
        ],
    )


def word_clusters(model: Any) -> Glance:
    """The largest clusters."""
    found = model.diagnostics_
    sizes = found["sizes"]
    largest = sorted(range(len(sizes)), key=lambda number: -sizes[number])[:_CLUSTERS]
    rows, example = [], "'word'"
    for number in largest:
        words = [word for word, _ in model.most_frequent(number, 8)]
        if words:
            rows.append((model[words[0]], sizes[number], notebook.words(words)))
            example = repr(words[0]) if len(rows) == 1 else example
    facts = [("words", found["n_words"]), ("clusters", len(sizes))]
    if "explained" in found:
        facts.append(("variance explained", f"{found['explained']:.0%}"))
    return Glance(
        "classes of words in a binary tree",
        facts=facts,
        parts=[
            notebook.table(("bits", "words", "the most frequent"), rows, title="Largest clusters")
        ],
        calls=[
            (f"model[{example}]", "the bit string of a word"),
            ("model.words('01')", "all words below a node"),
            ("Tagger(clusters=model)", "a tagger that uses them"),
            *_MORE[1:],
        ],
    )


def character_ridge(model: Any) -> Glance:
    """Sizes."""
    found = model.diagnostics_
    return Glance(
        "vectors of unseen words, from their spelling",
        facts=[("words", found["n_words"]), ("dimensions", len(model.mean_))],
        calls=[("model.predict(['unseenword'])", "vectors")],
    )


def text_vectors(model: Any) -> Glance:
    """What the vectors are made of."""
    return Glance(
        "a vector for each text, the mean of those of its words",
        calls=[
            ("model.transform(texts)", "one row for each text"),
            ("make_pipeline(model, LogisticRegression())", "a classifier of texts"),
        ],
    )


def phrases(model: Any) -> Glance:
    """The most frequent phrases."""
    most = sorted(model.counts_, key=lambda name: -model.counts_[name])[:_CLUSTERS]
    rows = [(name, model.counts_[name], f"{model.phrases_[name]:.2f}") for name in most]
    return Glance(
        "phrases: words that often occur together",
        facts=[("phrases", len(model.phrases_)), ("tokens read", model.provenance_["n_tokens"])],
        parts=[notebook.table(("phrase", "count", "score"), rows)] if rows else [],
        calls=[
            ("model.transform([['new', 'york']])", "sentences with their phrases joined"),
            ("Eigenwords().fit(model.join('text.txt'))", "a model of joined text"),
            ("model.save('my-phrases')", "a file; et.load reads it"),
        ],
    )


_MORE = (
    ("model.plot()", "a figure"),
    ("model.explore()", "the explorer, in this cell or in a browser"),
    ("model.save('my-words')", "a file; et.load reads it"),
)
GLANCES = {
    "Eigenwords": eigenwords,
    "Eigentokens": eigentokens,
    "WordClusters": word_clusters,
    "CharacterRidge": character_ridge,
    "TextVectors": text_vectors,
    "Phrases": phrases,
}


def _source(model: Any) -> list[tuple[str, Any]]:
    read = getattr(model, "provenance_", {})
    if "imported" in read:
        return [("from", read["imported"])]
    facts: list[tuple[str, Any]] = [("tokens read", read["n_tokens"])] if "n_tokens" in read else []
    return [*facts, ("window", f"{model.parameters_.window} words on each side")]


def _some_words(words: list[str]) -> list[str]:
    """Longer words of medium frequency, which people may find interesting."""
    longer = [word for word in words[:4000] if 3 < len(word) < 25 and word.isalpha()] or words
    step = max(1, min(len(longer), 1000) // _WORDS)
    return list(islice(longer, step // 2, None, step))[:_WORDS]
