"""`eigentext tagger`: tags of tokens, learned from tagged sentences and from plain text."""

import typer

from eigentext.cli.tagger.evaluate import evaluate
from eigentext.cli.tagger.learn import fit
from eigentext.cli.tagger.use import nbest, tag

app = typer.Typer(
    help="Tags of tokens: parts of speech, chunks, names; plain text helps.", no_args_is_help=True
)
for command in (fit, tag, evaluate, nbest):
    app.command()(command)

__all__ = ["app"]
