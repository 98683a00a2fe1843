"""`eigentext topics`: what documents are about."""

from eigentext.cli._options import command_group
from eigentext.cli.topics.add import add
from eigentext.cli.topics.apart import apart
from eigentext.cli.topics.compare import compare
from eigentext.cli.topics.evaluate import evaluate
from eigentext.cli.topics.export import export
from eigentext.cli.topics.highlight import highlight
from eigentext.cli.topics.learn import fit
from eigentext.cli.topics.merge import merge
from eigentext.cli.topics.shares import shares
from eigentext.cli.topics.show import show
from eigentext.cli.topics.transform import transform
from eigentext.cli.topics.tree import tree

app = command_group(
    "Topics of documents, and the words of each.",
    fit,
    show,
    transform,
    evaluate,
    shares,
    highlight,
    tree,
    export,
    apart,
    add,
    merge,
    compare,
)

__all__ = ["app"]
