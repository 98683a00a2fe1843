"""`eigentext topics`: what documents are about."""

import typer

from eigentext.cli.topics.evaluate import evaluate
from eigentext.cli.topics.learn import fit
from eigentext.cli.topics.show import show
from eigentext.cli.topics.transform import transform

app = typer.Typer(help="Topics of documents.", no_args_is_help=True)
for command in (fit, show, transform, evaluate):
    app.command()(command)

__all__ = ["app"]
