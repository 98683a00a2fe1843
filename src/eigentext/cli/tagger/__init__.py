"""`eigentext tagger`: tags of tokens, learned from tagged sentences and from plain text."""

from eigentext.cli._options import command_group
from eigentext.cli.tagger.evaluate import evaluate
from eigentext.cli.tagger.learn import fit
from eigentext.cli.tagger.refine import refine
from eigentext.cli.tagger.use import nbest, tag

app = command_group(
    "Tags of words: parts of speech, chunks, names.", fit, refine, tag, evaluate, nbest
)

__all__ = ["app"]
