"""`eigentext topics evaluate`: how well topics fit documents that they were not learned from."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import FilesArgument, RunOptions
from eigentext.cli._console import finite, print_json, printer
from eigentext.cli._files import inputs
from eigentext.cli._options import with_options
from eigentext.cli._text import no_words
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument, load_topics

if TYPE_CHECKING:
    from eigentext import TopicModel


@with_options()
def evaluate(
    model: ModelArgument,
    files: FilesArgument,
    documents: DocumentOptions,
    run: RunOptions,
    words: Annotated[
        int, typer.Option("--words", "-n", min=2, help="How many top words of a topic to score.")
    ] = 10,
) -> None:
    """Score topics on documents that they were not learned from.

    Perplexity: how well one half of a document predicts the other. Words that the model does not
    know are left out. NPMI and UMass: how often the top words of a topic occur in the same
    documents. Distinct words: the share of top words that belong to one topic only.
    """
    from eigentext import engine
    from eigentext.moments import document_counts

    topics = load_topics(model)
    with inputs(files) as (paths,), work(run):
        corpus = documents.corpus(topics, model, paths)
        with engine.phase("count"):
            X = document_counts(corpus, topics.vocabulary_, topics.provenance_["options"])
        if X.shape[0] == 0:
            raise no_words(files, "documents")
        with engine.phase("score"):
            facts = _scores(topics, X, words)
    if run.json:
        print_json({"model": str(model), **facts, "perplexity": finite(facts["perplexity"])})
        return
    printer.print(f"perplexity      {facts['perplexity']:,.1f}")
    for title, name in (("NPMI", "npmi"), ("UMass", "umass")):
        value = float("nan") if facts[name] is None else facts[name]
        printer.print(f"{title:14}  {value:.3f}")
    printer.print(f"distinct words  {facts['distinct_words']:.2f}")
    if not run.quiet:
        without = f", {facts['n_empty']:,} of them without any" if facts["n_empty"] else ""
        printer.print(
            f"scored          {facts['n_tokens']:,} known words of "
            f"{facts['n_documents']:,} documents{without}",
            style="dim",
        )


def _scores(topics: "TopicModel", X: Any, n_words: int) -> dict[str, Any]:
    """Return all scores of the topics on counts of words in documents."""
    from eigentext.evaluate import coherence, distinct_words

    top, names = topics.top_words(n_words), topics.vocabulary_.words
    npmi = coherence(top, X, words=names).to_dict()
    umass = coherence(top, X, words=names, measure="umass").to_dict()
    return {
        "perplexity": topics.perplexity(X),
        "npmi": npmi["mean"],
        "umass": umass["mean"],
        "distinct_words": distinct_words(top),
        "n_documents": X.shape[0],
        "n_tokens": int(X.sum()),
        "n_empty": int((X.sum(axis=1) == 0).sum()),
        "by_topic": {"npmi": npmi["topics"], "umass": umass["topics"]},
    }
