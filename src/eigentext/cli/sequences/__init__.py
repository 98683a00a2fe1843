"""`eigentext kneser-ney`, `eigentext bigram` and `eigentext hmm`: models of sequences."""

from eigentext.cli._options import command_group
from eigentext.cli.sequences import bigram, hmm, kneser_ney, tagging
from eigentext.cli.sequences.generating import generate, next_words
from eigentext.cli.sequences.perplexity import perplexity

kneser_ney_app = command_group(
    "Language models of n-grams, with Kneser-Ney smoothing.",
    kneser_ney.fit,
    perplexity,
    kneser_ney.export,
    **{"import": kneser_ney.import_arpa, "next": next_words, "generate": generate},
)
bigram_app = command_group(
    "Language models of pairs of words, with hidden classes of words.",
    bigram.fit,
    perplexity,
    next=next_words,
    generate=generate,
)
hmm_app = command_group(
    "Hidden Markov models of text.",
    hmm.fit,
    hmm.score,
    tagging.tag,
    tagging.evaluate,
    next=hmm.next_words,
    generate=generate,
)

__all__ = ["bigram_app", "hmm_app", "kneser_ney_app"]
