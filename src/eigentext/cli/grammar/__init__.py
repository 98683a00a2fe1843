"""`eigentext grammar`: parsers learned from treebanks."""

from eigentext.cli._options import command_group
from eigentext.cli.grammar.evaluate import evaluate, score
from eigentext.cli.grammar.learn import fit
from eigentext.cli.grammar.use import nbest, parse

app = command_group("Parsers learned from treebanks.", fit, parse, evaluate, nbest, score)

__all__ = ["app"]
