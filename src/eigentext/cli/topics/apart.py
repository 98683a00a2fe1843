"""`eigentext topics apart`: documents that are copies, share a signature, or own a direction."""

from eigentext.cli._bundles import FilesArgument, RunOptions
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import inputs
from eigentext.cli._options import with_options
from eigentext.cli._work import work
from eigentext.cli.topics._shared import DocumentOptions, ModelArgument, load_topics


@with_options()
def apart(
    model: ModelArgument, files: FilesArgument, documents: DocumentOptions, run: RunOptions
) -> None:
    """Name documents that are not like the others.

    Copies, documents with the same signature, and documents that own a direction of the
    moments, such as encoded files. `topics fit --set-apart` leaves them out.
    """
    from eigentext import engine

    topics = load_topics(model)
    with inputs(files) as (paths,), work(run):
        corpus = documents.corpus(topics, model, paths)
        with engine.phase("search"):
            found = topics.apart(corpus)
    if run.json:
        print_json({"model": str(model), "groups": [group.to_dict() for group in found]})
        return
    for line in str(found).splitlines():
        print_plain(line)
