"""`eigentext topics evaluate`: how well topics fit documents that they were not learned from."""

import math
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    ErrorsOption,
    FilesArgument,
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    inputs,
    print_json,
    printer,
    work,
)
from eigentext.cli.topics._shared import ModelArgument, UnitOption, documents_for, load_topics
from eigentext.errors import CorpusError


def evaluate(
    model: ModelArgument,
    files: FilesArgument,
    words: Annotated[
        int, typer.Option("--words", "-n", min=2, help="Top words that should be coherent.")
    ] = 10,
    unit: UnitOption = None,
    errors: ErrorsOption = "strict",
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Score topics on documents that they were not learned from.

    Perplexity: how well one half of a document tells the other; words unknown to the model are left
    out. NPMI and UMass: how often the top words of a topic share documents. Distinct words: the
    share of top words that no two topics have.
    """
    from eigentext import engine
    from eigentext.evaluate import coherence, distinct_words
    from eigentext.moments import document_counts

    topics = load_topics(model)
    with inputs(files) as paths, work(quiet=quiet or json, threads=threads):
        corpus = documents_for(topics, paths, unit, errors, model)
        with engine.phase("count"):
            X = document_counts(corpus, topics.vocabulary_, topics.provenance_["options"])
        if X.shape[0] == 0:
            raise CorpusError(f"{', '.join(files)}: no documents in it; is the file empty?")
        with engine.phase("score"):
            perplexity = topics.perplexity(X)
            top, names = topics.top_words(words), topics.vocabulary_.words
            npmi = coherence(top, X, words=names)
            umass = coherence(top, X, words=names, measure="umass")
    told: dict[str, Any] = {
        "model": str(model),
        "perplexity": perplexity if math.isfinite(perplexity) else None,
        "npmi": npmi.to_dict()["mean"],
        "umass": umass.to_dict()["mean"],
        "distinct_words": distinct_words(top),
        "n_documents": X.shape[0],
        "n_tokens": int(X.sum()),
        "n_empty": int((X.sum(axis=1) == 0).sum()),
    }
    if json:
        by_topic = {"npmi": npmi.to_dict()["topics"], "umass": umass.to_dict()["topics"]}
        print_json({**told, "by_topic": by_topic})
        return
    printer.print(f"perplexity      {perplexity:,.1f}")
    printer.print(f"NPMI            {npmi.mean:.3f}")
    printer.print(f"UMass           {umass.mean:.3f}")
    printer.print(f"distinct words  {told['distinct_words']:.2f}")
    if not quiet:
        without = f", {told['n_empty']:,} of them without any" if told["n_empty"] else ""
        printer.print(
            f"scored          {told['n_tokens']:,} known words of "
            f"{told['n_documents']:,} documents{without}",
            style="dim",
        )
