"""`eigentext rerank`: the best of a base model's candidates, by all their fragments."""

from eigentext.cli._options import command_group
from eigentext.cli.rerank.evaluate import evaluate
from eigentext.cli.rerank.learn import fit
from eigentext.cli.rerank.learn_trees import trees
from eigentext.cli.rerank.use import apply

app = command_group(
    "The best of the candidates of a parser or tagger, by what they contain.",
    fit,
    trees,
    apply,
    evaluate,
)

__all__ = ["app"]
