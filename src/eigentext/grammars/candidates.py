"""Trees to choose from: the answers of a grammar to several questions.

The parse of a grammar has the most expected brackets. The most probable tree often differs from it,
and both differ from what a little more courage or caution would give. The candidates of a sentence
are the union of

* the parse,
* the k best trees by expected brackets,
* the trees with the most expected brackets under other costs tau of a bracket,
* the k best trees by probability (by the product of the posteriors of rules, with hidden states).

All come from one chart. :class:`~eigentext.TreeReranker` chooses among them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from eigentext.corpus.packing import pack, unpack
from eigentext.corpus.trees import Tree, walk
from eigentext.errors import ParameterError
from eigentext.grammars.answers import Forest, ForestItem, WeighedTree
from eigentext.grammars.chart.cascade import Reading
from eigentext.grammars.chart.decoding import (
    Brackets,
    Decoder,
    Derivation,
    Scores,
    best,
    bracket_scores,
    brackets,
    k_best,
    restored,
)
from eigentext.grammars.spans import LabeledSpans
from eigentext.parameters import is_whole

TAUS = (0.2, 0.35, 0.55, 0.7)  # costs of a bracket, besides that of the parser


class Proposing:
    """The part of a parser that proposes trees to choose from."""

    def candidates(self, tokens: Sequence[str] | str, k: int = 25) -> list[WeighedTree]:
        """Trees to choose from, with what the grammar expects of them; the parse comes first.

        They are the `k` best trees by expected brackets, the `k` best by probability, and those
        with the most expected brackets under other costs of a bracket, each once. A
        :class:`~eigentext.TreeReranker` learns to choose among them.

        Examples
        --------
        >>> from eigentext import PCFG
        >>> model = PCFG().fit(["(S (NP (NNP Ann)) (VP (VBZ sleeps)))"])
        >>> (one,) = model.candidates(["Ann", "sleeps"])
        >>> one.marginals  # of S, NP and VP
        (1.0, 1.0, 1.0)
        """
        _check(k)
        this: Any = self
        words = this._words(tokens)
        return weighed_trees(this._read(words), this._decoder, words, int(k))

    def candidates_many(
        self, sentences: Iterable[Sequence[str] | str], k: int = 25, *, n_jobs: int | None = None
    ) -> Iterator[list[WeighedTree]]:
        """The candidates of a stream of sentences, in order; `n_jobs` as in :meth:`parses`.

        An empty sentence has an empty list.
        """
        _check(k)
        this: Any = self
        for found in this._many("candidates", _packed, sentences, int(k), n_jobs=n_jobs):
            yield [WeighedTree(unpack(tree), *rest) for tree, *rest in found]

    def forest(self, tokens: Sequence[str] | str) -> Forest:
        """All trees that the parser considers for a sentence, packed, with what it expects of them.

        Examples
        --------
        >>> from eigentext import PCFG
        >>> model = PCFG().fit(["(S (NP (NNP Ann)) (VP (VBZ sleeps)))"])
        >>> for item in model.forest(["Ann", "sleeps"]).items:
        ...     print(item.labels, item.start, item.end, item.edges)
        ('NP', 'NNP') 0 1 ()
        ('VP', 'VBZ') 1 2 ()
        ('S',) 0 2 ((0, 1),)
        """
        this: Any = self
        words = this._words(tokens)
        return packed_forest(this._read(words), this._decoder, words)


def _check(k: Any) -> None:
    if not is_whole(k) or k < 1:
        raise ParameterError(f"k must be a whole number, 1 or more, not {k!r}")


def _packed(words: list[str], model: Any, k: int) -> list[tuple[Any, ...]]:
    if not words:
        return []
    found = weighed_trees(model._read(words), model._decoder, words, k)
    return [(pack(tree), *rest) for tree, *rest in found]


def weighed_trees(
    reading: Reading, decoder: Decoder, words: Sequence[str], k: int
) -> list[WeighedTree]:
    """The candidates for a sentence, the parse first. There are 2 k + 4 at most, and often fewer.

    Parameters
    ----------
    reading
        The reading of the sentence.
    decoder
        That of the parser. Its `tau` is the cost of a bracket.
    words
        The words of the sentence.
    k
        How many trees to take by expected brackets, and how many by probability.
    """
    marginal = _marginals(reading)
    parse = decoder.tree(reading, words)
    if reading.problem is not None:
        return [WeighedTree(parse, -np.inf, 0.0, bracket_marginals(parse, marginal))]
    mu, table = _expected(reading, decoder)
    worth = bracket_scores(reading.forest, mu, table, tau=decoder.tau)
    logs = decoder.scores(reading, words, "viterbi")
    derivations = [one for _, one in k_best(reading.forest, worth, k=k)]
    for tau in TAUS:
        other = best(reading.forest, bracket_scores(reading.forest, mu, table, tau=tau))
        derivations += [] if other is None else [other]
    derivations += [one for _, one in k_best(reading.forest, *logs, k=k)]
    found: dict[Tree, Derivation | None] = {parse: None}
    for derivation in derivations:
        tree = restored(reading, derivation, words)
        if found.get(tree) is None:  # the parse gets its derivation, too
            found[tree] = derivation
    return [
        WeighedTree(
            tree,
            -np.inf if one is None else _sum(reading, one, logs),
            0.0 if one is None else float(worth[one.item].sum()),
            bracket_marginals(tree, marginal),
        )
        for tree, one in found.items()
    ]


def packed_forest(reading: Reading, decoder: Decoder, words: Sequence[str]) -> Forest:
    """The forest of a reading as plain data; `decoder` is that of the parser."""
    parse, marginals = decoder.tree(reading, words), _marginals(reading)
    if reading.problem is not None:
        return Forest(list(words), parse, [], [], marginals)
    forest = reading.forest
    mu, table = _expected(reading, decoder)
    worth = bracket_scores(forest, mu, table, tau=decoder.tau)
    pairs = list(zip(forest.left.tolist(), forest.right.tolist()))
    bounds = forest.edges[forest.groups].tolist()
    items = [
        ForestItem(_labels(reading, a), i, j, value, tuple(pairs[first:last]))
        for a, i, j, value, (first, last) in zip(
            *(x.tolist() for x in (forest.label, forest.start, forest.end, worth)),
            pairwise(bounds),
        )
    ]
    return Forest(list(words), parse, items, forest.roots.tolist(), marginals)


def _labels(reading: Reading, label: int) -> tuple[str, ...]:
    symbol = reading.symbols[label]
    return symbol.chain if symbol.siblings is None else ()


def _marginals(reading: Reading) -> dict[tuple[str, int, int], float]:
    spans = LabeledSpans.of(reading)
    return dict(zip(spans.keys, spans.sums(reading.sign * reading.items).tolist()))


def _expected(reading: Reading, decoder: Decoder) -> tuple[np.ndarray, Brackets]:
    """The marginals of items as they are decoded, and the brackets of symbols."""
    table = decoder.table if reading.levels is None else brackets(reading.symbols)
    return decoder.signed(reading.items, reading.sign), table


def bracket_marginals(tree: Tree, marginal: dict[tuple[str, int, int], float]) -> tuple[float, ...]:
    """The values of the brackets of a tree, parents first; 0 for those that are missing."""
    nodes = walk(tree)
    lengths: list[int] = []  # of what comes later, the first last
    place = sum(isinstance(node, str) for node in nodes)
    values: list[float] = []
    for node in reversed(nodes):
        if isinstance(node, str):
            place -= 1
            lengths.append(1)
            continue
        n = len(node.children)
        length = sum(lengths[-n:])
        lengths[-n:] = [length]
        if not node.is_preterminal:
            values.append(marginal.get((node.label, place, place + length), 0.0))
    return tuple(reversed(values))


def _sum(reading: Reading, derivation: Derivation, scores: Scores) -> float:
    inner = derivation.edge[derivation.edge >= 0]
    total = scores.items[derivation.item].sum() + scores.edges[inner].sum()
    if scores.roots is not None:
        total += scores.roots[reading.forest.roots == derivation.item[-1]].sum()
    return float(total)
