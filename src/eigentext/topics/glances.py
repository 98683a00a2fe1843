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
            ("model.plot()", "a figure"),
            ("model.explore()", "the explorer, in this cell or in a browser"),
            ("model.save('my-topics')", "a file; et.load reads it"),
        ],
    )


GLANCES = {"TopicModel": topic_model}
