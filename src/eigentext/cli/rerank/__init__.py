"""`eigentext rerank`: the best of a base model's candidates, by all fragments at once."""

import typer

from eigentext.cli.rerank.evaluate import evaluate
from eigentext.cli.rerank.learn import fit
from eigentext.cli.rerank.use import apply

app = typer.Typer(
    help="The best of a base model's candidates, by all their fragments.", no_args_is_help=True
)
for command in (fit, apply, evaluate):
    app.command()(command)

__all__ = ["app"]
