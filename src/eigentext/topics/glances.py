"""What a notebook shows of topics."""

from typing import Any

from eigentext import notebook
from eigentext.notebook import Glance

_TOPICS, _WORDS = 12, 10


def topic_model(model: Any) -> Glance:
    """The largest topics: shares and words."""
    read, found = model.provenance_, model.diagnostics_
    most = float(max(model.weights_))
    rows = [
        (number, notebook.share(float(part), most=most), notebook.words(words))
        for number, (part, words) in enumerate(
            zip(model.weights_[:_TOPICS], model.top_words(_WORDS)[:_TOPICS])
        )
    ]
    more = model.n_topics_ - len(rows)
    facts = [
        ("documents", read["n_documents"]),
        ("tokens", read["n_tokens"]),
        ("words", len(model.vocabulary_)),
        ("method", model.parameters_.method),
        ("alpha0", float(model.alpha0_)),
    ]
    return Glance(
        f"{model.n_topics_} topics of documents",
        facts=facts,
        picture=notebook.curve(found.get("perplexities", ()), title="perplexity of EM")
        or notebook.spectrum(found.get("eigenvalues", ()), title="eigenvalues"),
        parts=[
            notebook.table(
                ("topic", "share", "top words"),
                rows,
                last=f"and {more} smaller topics" if more > 0 else "",
            )
        ],
        calls=[
            ("model.top_words(10)", "the words of each topic"),
            ("model.transform(texts)", "the shares of topics in other documents"),
            ("model.highlight(text)", "the words of a document by topic"),
            ("model.shares_by(texts, dates)", "topics over time, or by group"),
            ("model.hierarchy()", "which topics are near"),
            ("model.report(texts, 'topics.html')", "a page with typical documents"),
            ("model.explore()", "the explorer, in this cell or in a browser"),
            ("model.save('my-topics')", "a file; et.load reads it"),
        ],
    )


def two_view_topics(model: Any) -> Glance:
    """The largest topics: shares, words, and words of the second view if it has words."""
    read, found = model.provenance_, model.diagnostics_
    has_words = model.second_kind_ == "words"
    second = model.top_words(_WORDS // 2, view="second") if has_words else [[]] * model.n_topics_
    most = float(max(model.weights_))
    rows = [
        (number, notebook.share(float(part), most=most), notebook.words(words))
        + ((notebook.words(others),) if has_words else ())
        for number, (part, words, others) in enumerate(
            zip(model.weights_[:_TOPICS], model.top_words(_WORDS)[:_TOPICS], second)
        )
    ]
    more = model.n_topics_ - len(rows)
    size = len(model.second_vocabulary_) if has_words else len(model.covariance_)
    return Glance(
        f"{model.n_topics_} topics of documents with two views",
        facts=[
            ("documents", read["n_documents"]),
            ("words", len(model.vocabulary_)),
            ("words of the second view" if has_words else "numbers of the second view", size),
        ],
        picture=notebook.curve(found.get("changes", ()), title="change of posteriors by EM")
        or notebook.spectrum(found.get("eigenvalues", ()), title="eigenvalues"),
        parts=[
            notebook.table(
                ("topic", "share", "top words", "second view")[: 4 if has_words else 3],
                rows,
                last=f"and {more} smaller topics" if more > 0 else "",
            )
        ],
        calls=[
            ("model.top_words(10)", "the words of each topic"),
            ("model.transform(texts, second)", "the topics of other documents, by both views"),
            ("model.transform(texts)", "the topics by words alone"),
            ("model.highlight(text)", "the words of a document by topic"),
            ("model.report(texts, 'topics.html')", "a page with typical documents"),
            ("model.save('my-topics')", "a file; et.load reads it"),
        ],
    )


GLANCES = {"TopicModel": topic_model, "TwoViewTopics": two_view_topics}
