"""`eigentext words`: word vectors from counts of words that occur together."""

from eigentext.cli._options import command_group
from eigentext.cli.words.cluster import cluster
from eigentext.cli.words.evaluate import evaluate
from eigentext.cli.words.learn import add, fit, phrases, tokens
from eigentext.cli.words.merge import merge
from eigentext.cli.words.use import analogy, export, hubs, neighbors

app = command_group(
    "Word vectors, from words that occur together.",
    *(fit, add, merge, neighbors, hubs, analogy, evaluate, cluster, phrases, tokens, export),
)

__all__ = ["app"]
