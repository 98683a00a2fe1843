"""`eigentext kneser-ney`, `bigram`, `class-bigram`, `hmm`, `automaton`: models of sequences."""

from eigentext.cli._options import command_group
from eigentext.cli.sequences import automaton, bigram, class_bigram, hmm, kneser_ney, tagging
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
class_bigram_app = command_group(
    "Language models of pairs of word classes.",
    class_bigram.fit,
    perplexity,
    class_bigram.export,
    **{"import": class_bigram.import_arpa, "next": next_words, "generate": generate},
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
automaton_app = command_group(
    "Weighted automata of text, from prefixes and suffixes.",
    automaton.fit,
    automaton.score,
    next=automaton.next_words,
    generate=generate,
)

__all__ = ["automaton_app", "bigram_app", "class_bigram_app", "hmm_app", "kneser_ney_app"]
