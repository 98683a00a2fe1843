"""Scores on validation trees, by which the best of several grammars is chosen.

EM asks them when to stop (``em.py``), split-merge after each cycle, and the spectral method for
each number of states.
"""

from collections.abc import Iterable

import numpy as np

from eigentext.grammars.chart.cascade import Cascade, Level, thresholds
from eigentext.grammars.chart.decoding import Decoder
from eigentext.grammars.chart.forest import tree_forest
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.protocol import LevelScore, Task
from eigentext.grammars.treebank.reading import TreeLike, normalized
from eigentext.parameters import Settings
from eigentext.storage.checkpoints import fingerprint


def held_out_score(task: Task, middle: Level, trees: Iterable[TreeLike]) -> LevelScore:
    """The score that the parameter `early_stopping` names.

    Spectral grammars are always scored by F1, because what they give trees is not a probability.
    """
    settings = task.settings
    if settings.early_stopping == "likelihood" and settings.method != "spectral":
        return held_out_likelihood(task.counted, trees)
    return held_out_f1(task.counted, trees, middle, settings)


def held_out_likelihood(counted: CountedTrees, trees: Iterable[TreeLike]) -> LevelScore:
    """The mean log p(tree, words) of the validation trees that are possible by the PCFG.

    If the states of a grammar give a tree next to no probability, the tree counts with a millionth
    of its probability by the PCFG. Otherwise a single tree would decide. If such trees were left
    out, a grammar would gain by its zeros.
    """
    plain = counted.level(counted.pcfg)
    parts, least = [], []
    gold = normalized(trees)
    for tree in gold:
        encoded = counted.treebank.encode([tree])
        if encoded.is_known:
            part = tree_forest(encoded), encoded.tokens
            log_probability = plain.log_probability(*part)
            if log_probability > -np.inf:
                parts.append(part)
                least.append(log_probability + np.log(1e-6))

    def score(level: Level) -> float:
        logs = [level.log_probability(*part) for part in parts]
        return float(np.maximum(logs, least).mean()) if parts else -np.inf

    return LevelScore(score, fingerprint("likelihood", *gold))


def held_out_f1(
    counted: CountedTrees, trees: Iterable[TreeLike], middle: Level, settings: Settings
) -> LevelScore:
    """The F1 of the brackets of the validation sentences, whose charts are pruned only once."""
    from eigentext.evaluate import brackets

    gold = normalized(trees)
    limits = thresholds(settings.prune)
    cascade = Cascade(counted.treebank.symbols, counted.coarse(), middle, [middle])
    decoder = Decoder.of(cascade, settings)
    charts = [cascade.pruned(tree.leaves(), *limits) for tree in gold]

    def score(level: Level) -> float:
        found = [decoder.tree(cascade.vote(chart, [level]), list(chart.tokens)) for chart in charts]
        return brackets(gold, found).f1

    return LevelScore(score, fingerprint("f1", limits, *gold))
