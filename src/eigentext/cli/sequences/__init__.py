"""`eigentext kneser-ney`, `eigentext bigram` and `eigentext hmm`: models of sequences."""

import typer

from eigentext.cli.sequences import bigram, hmm, kneser_ney
from eigentext.cli.sequences.perplexity import perplexity

kneser_ney_app = typer.Typer(help="N-grams with Kneser-Ney smoothing.", no_args_is_help=True)
bigram_app = typer.Typer(help="Bigrams through hidden states.", no_args_is_help=True)
for app, fit in ((kneser_ney_app, kneser_ney.fit), (bigram_app, bigram.fit)):
    app.command()(fit)
    app.command()(perplexity)

hmm_app = typer.Typer(help="Hidden Markov models.", no_args_is_help=True)
hmm_app.command()(hmm.fit)
hmm_app.command()(hmm.score)
hmm_app.command("next")(hmm.next_words)

__all__ = ["bigram_app", "hmm_app", "kneser_ney_app"]
