"""`eigentext words`: word vectors by the spectral template."""

import typer

from eigentext.cli.words.cluster import cluster
from eigentext.cli.words.evaluate import evaluate
from eigentext.cli.words.learn import add, fit
from eigentext.cli.words.merge import merge
from eigentext.cli.words.tokens import tokens
from eigentext.cli.words.use import analogy, export, neighbors

app = typer.Typer(help="Word vectors by the spectral template.", no_args_is_help=True)
for command in (fit, add, merge, neighbors, analogy, evaluate, cluster, tokens, export):
    app.command()(command)

__all__ = ["app"]
