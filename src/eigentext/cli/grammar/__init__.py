"""`eigentext grammar`: parsers learned from treebanks."""

import typer

from eigentext.cli.grammar.evaluate import evaluate, score
from eigentext.cli.grammar.learn import fit
from eigentext.cli.grammar.use import nbest, parse

app = typer.Typer(help="Parsers learned from treebanks.", no_args_is_help=True)
for command in (fit, parse, evaluate, nbest, score):
    app.command()(command)

__all__ = ["app"]
