"""`eigentext topics evaluate`: how well topics fit documents that they were not learned from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import FilesArgument, RunOptions
from eigentext.cli._console import finite, print_json, printer
from eigentext.cli._files import inputs
from eigentext.cli._options import with_options
from eigentext.cli._text import no_words, utf8_or
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument, load_topics
from eigentext.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    from eigentext import TextCorpus, TopicModel
    from eigentext.evaluate import TopicScores

# What people read: the title of each score, and its digits.
_TITLES = {
    "perplexity": ("perplexity", 1),
    "npmi": ("NPMI", 3),
    "umass": ("UMass", 3),
    "diversity": ("distinct words", 2),
    "intrusion": ("intruders found", 3),
    "purity": ("purity", 3),
    "nmi": ("NMI", 3),
    "ari": ("adjusted Rand", 3),
}


@with_options()
def evaluate(
    model: ModelArgument,
    files: FilesArgument,
    documents: DocumentOptions,
    run: RunOptions,
    words: Annotated[
        int, typer.Option("--words", "-n", min=2, help="How many top words of a topic to score.")
    ] = 10,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Compare topics with labels: a file with a line for each document (empty if it "
            "has no label), or with --column the column of the table that has them.",
        ),
    ] = None,
    stability: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Also learn from these documents again, N times with each change: another seed, "
            "another order, a resample.",
        ),
    ] = 0,
) -> None:
    """Score topics on documents that they were not learned from.

    Perplexity: how well one half of a document predicts the other. Words that the model does not
    know are left out. NPMI and UMass: how often the top words of a topic occur in the same
    documents. Distinct words: the share of top words that belong to one topic only. Intruders: how
    often a word of another topic can be told from five top words. Purity, NMI and adjusted Rand
    index: how well the largest topic of a document agrees with its label. Stability: the share of
    top words that stay if the same is learned again.
    """
    from eigentext import engine
    from eigentext.evaluate import topics as scores_of
    from eigentext.moments import document_counts

    topics = load_topics(model)
    with inputs(files) as (paths,), work(run):
        corpus = documents.corpus(topics, model, paths)
        with engine.phase("count"):
            if labels is None:
                X = document_counts(corpus, topics.vocabulary_, topics.provenance_["options"])
                given = None
            else:
                X, given = _labeled(topics, corpus, labels)
        if X.shape[0] == 0:
            raise no_words(files, "documents")
        with engine.phase("score"):
            found = scores_of(topics, X, given, n_words=words)
        again = _stability(topics, corpus, stability, words) if stability else None
    facts = _facts(found) | {"stability": again and again.to_dict()}
    if run.json:
        print_json({"model": str(model), **facts, "perplexity": finite(facts["perplexity"])})
        return
    _print(facts, again.means if again else {}, quiet=run.quiet)


def _stability(topics: "TopicModel", corpus: "TextCorpus", n_fits: int, n_words: int) -> Any:
    """Learn from the documents again."""
    from eigentext import engine
    from eigentext.evaluate import stability

    with engine.phase("learn again"):
        return stability(topics, corpus, n_fits=n_fits, n_words=n_words)


def _labeled(topics: "TopicModel", corpus: "TextCorpus", given: str) -> tuple[Any, list[str]]:
    """Return the counts of documents, and the label of each: a line of a file, or a cell."""
    import scipy.sparse as sp

    from eigentext.corpus.documents import named_batches
    from eigentext.moments import document_counts

    if corpus.column is not None:
        corpus.id = given  # the names of the rows are then their labels
        lines = None
    else:
        lines = _lines(given, corpus.encoding)
    names: list[Any] = []
    counts = [sp.csr_array((0, len(topics.vocabulary_)), dtype=int)]
    for some, part in named_batches(corpus):
        names += some
        rows = document_counts(part, topics.vocabulary_, topics.provenance_["options"])
        counts.append(sp.csr_array(rows))
    X = sp.csr_array(sp.vstack(counts))
    if lines is None:
        return X, ["" if name is None else str(name) for name in names]
    if len(lines) == len(names):
        return X, lines
    # Blank lines are no documents: the documents are numbered by their lines.
    if names and all(isinstance(name, int) for name in names) and names[-1] == len(lines):
        return X, [lines[name - 1] for name in names]
    raise ParameterError(
        f"{given} has {len(lines):,} labels, but there are {len(names):,} documents; "
        "give a line for each document"
    )


def _lines(given: str, encoding: str) -> list[str]:
    path = Path(given)
    if not path.is_file():
        raise CorpusError(
            f"{given}: no such file (--labels is a file with a line for each document, or with "
            "--column the column of the table that has the labels)"
        )
    encoding = utf8_or(encoding, path)
    try:
        return path.read_text(encoding=encoding).splitlines()
    except UnicodeDecodeError as error:
        raise CorpusError(f"{given}: not in {encoding}; give its --encoding") from error


def _facts(found: "TopicScores") -> dict[str, Any]:
    """Return all scores as plain data. `distinct_words` is the older name of `diversity`."""
    facts = found.to_dict()
    return facts | {"distinct_words": facts["diversity"]}


def _print(facts: dict[str, Any], stability: dict[str, float], *, quiet: bool) -> None:
    """Print what people read."""
    always = ("perplexity", "npmi", "umass")
    for name, (title, digits) in _TITLES.items():
        value = facts[name]
        if value is not None or name in always:
            value = float("nan") if value is None else value
            printer.print(f"{title:<15}  {value:,.{digits}f}")
    for kind, mean in stability.items():
        printer.print(f"{f'same, {kind}':<17}{mean:.3f}")
    if quiet:
        return
    without = f", {facts['n_empty']:,} of them without any" if facts["n_empty"] else ""
    labeled = f"; {facts['n_labeled']:,} with one label" if "n_labeled" in facts else ""
    printer.print(
        f"{'scored':<17}{facts['n_tokens']:,} known words of "
        f"{facts['n_documents']:,} documents{without}{labeled}",
        style="dim",
    )
