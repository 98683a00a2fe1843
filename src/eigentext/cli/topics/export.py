"""`eigentext topics export`: topics for other programs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from eigentext.cli._bundles import QuietFlag, RunOptions
from eigentext.cli._console import print_plain
from eigentext.cli._files import check_not_read, destination, inputs
from eigentext.cli._options import with_options
from eigentext.cli._tables import PLAIN, TableOptions, write_result
from eigentext.cli._text import no_words
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument, load_topics
from eigentext.errors import ParameterError


@with_options()
def export(
    model: ModelArgument,
    documents: DocumentOptions,
    table: TableOptions,
    files: Annotated[
        list[str] | None, typer.Argument(help="The documents; only for kinds that need some.")
    ] = None,
    kind: Annotated[
        Literal["words", "topics", "matrix", "tree", "typical", "borderline"],
        typer.Option(
            help="The rows of the table: the top words of topics, topics, all words with their "
            "probability in each topic, nodes of the tree, or typical or borderline documents."
        ),
    ] = "words",
    words: Annotated[
        int | None,
        typer.Option(
            "--words", "-n", min=1, help="How many words.", show_default="10; pyLDAvis 30"
        ),
    ] = None,
    n_documents: Annotated[
        int, typer.Option("--n-documents", min=1, help="How many documents of each topic.")
    ] = 3,
    pyldavis: Annotated[
        Path | None,
        typer.Option(
            "--pyldavis", metavar="FILE", help="Write JSON for pyLDAvis; - is standard output."
        ),
    ] = None,
    quiet: QuietFlag = False,
) -> None:
    """Write topics as a table (--format, -o), or as JSON for the page of pyLDAvis (--pyldavis)."""
    format = table.chosen()
    if pyldavis is not None and (format != PLAIN or str(table.output) != "-"):
        raise ParameterError("--pyldavis and a table (-o, --format) exclude each other; choose one")
    if pyldavis is None and format == PLAIN:
        raise ParameterError("say which table: --format csv, or -o FILE.csv; or --pyldavis FILE")
    needs = pyldavis is not None or kind in ("typical", "borderline")
    if needs != bool(files):
        what = "--pyldavis" if pyldavis is not None else f"--kind {kind}"
        raise ParameterError(
            f"{what} needs documents; name files" if needs else f"{what} uses no documents"
        )
    topics = load_topics(model)
    output = pyldavis or table.output
    check_not_read(output, [model])
    with inputs(files or []) as (paths,), work(RunOptions(), bars=False):
        corpus = documents.corpus(topics, model, paths) if paths else None
        check_not_read(output, corpus.files if corpus is not None else ())
        if pyldavis is not None:
            with destination(pyldavis) as path:
                topics.to_pyldavis(corpus, path, n_words=words or 30)
        elif kind in ("typical", "borderline"):
            choose = topics.typical_documents if kind == "typical" else topics.borderline_documents
            found = choose(corpus, n_documents)
            if not any(found):
                raise no_words(files or [], "documents with known words")
            write_result(found.to_arrow(), output, format)
        else:
            write_result(topics.to_arrow(kind, n_words=words or 10), output, format)
    if str(output) != "-" and not quiet:
        print_plain(f"{output}: {topics.n_topics_} topics")
