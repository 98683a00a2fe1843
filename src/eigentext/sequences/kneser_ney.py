r"""Kneser-Ney smoothing: the n-gram model with which other language models are compared.

This is interpolated modified Kneser-Ney (Kneser and Ney 1995; Chen and Goodman 1998, section
4.1.6), as in KenLM (Heafield, Pouzyrevsky, Clark and Koehn 2013):

.. math:: p(w \mid h) = \frac{a(hw) - D(a(hw))}{\sum_x a(hx)} + b(h)\, p(w \mid h'),
   \qquad b(h) = \frac{\sum_x D(a(hx))}{\sum_x a(hx)},

where h' is h without its first word. The adjusted count a(hw) of the longest n-grams is how often
they occur. For shorter n-grams it is the number of different words before them, because p(w | h')
matters only where h w is rare. N-grams at the start of a unit have nothing before them and keep
their counts. The recursion ends with a uniform distribution over the words, the rare word and the
end of a unit.

Let :math:`t_k` be the number of n-grams with the adjusted count k. Then, for each order,
:math:`Y = t_1/(t_1 + 2 t_2)` and :math:`D(k) = k - (k + 1)\, Y\, t_{k+1}/t_k` for k = 1, 2 and 3.
D(3) serves all larger counts. If the text has too few n-grams for that, D = Y for all counts, as
Kneser and Ney have it (``"single"``). If Y is undefined too, D is 0.5, 1 and 1.5 (``"fixed"``).

All n-grams are nodes of one trie. A node keeps its interpolated probability p(w | h) and, as a
context, its b(h). See `_kneser_ney_loops`.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from eigentext import engine
from eigentext.corpus.scarcity import once_findings
from eigentext.corpus.symbols import UNKNOWN, are_events, is_stream, sequence_ids, symbol_ids
from eigentext.errors import MomentsError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.moments import NgramMoments
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.parameters import Count
from eigentext.sequences import _saved, parameters
from eigentext.sequences._given import Text, Word, Words
from eigentext.sequences._language_model import (
    LanguageModel,
    provenance_of,
    rare_word_findings,
)
from eigentext.storage import Saved
from eigentext.storage.facts import PROVENANCE, TEXTS, facts
from eigentext.storage.schema import Array, Schema, damage

_BLOCK = 1 << 18  # the tokens to score, or the n-grams to smooth, of one task
_FIXED = (0.5, 1.0, 1.5)
_DIAGNOSTICS = facts(
    "what was learned",
    needs=("ngrams", "discount_rules"),
    ngrams=_saved.FIGURES,
    discount_rules=TEXTS,
    counts_of_counts=_saved.items("a list of lists of numbers", _saved.are_figures),
    rare_tokens=Count(0, least=0),
)


class KneserNey(LanguageModel, Saved, Estimator):
    """A language model of n-grams with interpolated modified Kneser-Ney smoothing.

    Parameters
    ----------
    order : int
        The length n of n-grams: each token is predicted from the n - 1 tokens before it.
    min_count : int
        Words that occur less often share one symbol, the rare word. With 1, no word is rare, and
        the rare word has the probability of a word that never occurred.

    Attributes
    ----------
    vocabulary_ : Vocabulary
    moments_ : NgramMoments
        The counts that the model was learned from, restricted to the vocabulary.
    discounts_ : array, shape (order, 3)
        D(1), D(2) and D(3+) of unigrams, bigrams, …
    diagnostics_ : dict
        The numbers of n-grams, how many have adjusted counts of 1 to 4, the discounts and the rule
        that gave them.
    provenance_ : dict
        What the model was learned from: the number of tokens, fingerprints of the text, and how it
        was read.

    Examples
    --------
    >>> from eigentext import KneserNey
    >>> text = "a rose is a rose is a rose said she and he said a rose by any name is a rose"
    >>> model = KneserNey(order=2).fit(text.split())
    >>> round(model.probability("rose", given="a"), 2)
    0.84
    >>> round(float(model.distribution("a").sum()), 6)
    1.0
    """

    _format = "eigentext.kneser-ney.v1"
    _table = parameters.KneserNey

    def __init__(self, order: int = 3, *, min_count: int = 1):
        self.order = order
        self.min_count = min_count

    # Learning.

    @learning
    def fit(
        self,
        tokens: Text,
        y: None = None,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from text, a stream of words or integers, or sequences of them.

        This is the same as `collect` and then `fit_moments`. `memory` (the bytes that the process
        may take) and `cache` (a folder for encoded text) do not change the result.
        """
        return self._learn(self.collect(tokens, memory=memory, cache=cache))

    def collect(
        self,
        tokens: Text,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """Return the statistics of a text that `fit` needs."""
        self._table.checked(self.get_params(deep=False))
        return NgramMoments.from_corpus(
            tokens, order=self.order, min_count=self.min_count, memory=memory, cache=cache
        )

    @learning
    def fit_moments(self, moments: NgramMoments) -> Self:
        """Learn from statistics of this order or a higher one."""
        check_ngrams(moments)
        return self._learn(moments)

    def _learn(self, moments: NgramMoments) -> Self:
        if moments.order < self.order:
            raise MomentsError(
                f"order={self.order}, but the moments have windows of {moments.order} at most; "
                "count with a higher order"
            )
        if moments.order > self.order:
            moments = replace(moments, levels=moments.levels[: self.order - 1])
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count)
        with engine.phase("smooth"):
            trie = _Trie.of(moments)
            counts = _adjusted_counts(moments, trie)
            chosen = [_discounts(order_counts) for order_counts in counts]
            self.discounts_ = np.array([discounts for discounts, *_ in chosen])
            self._tables = _smoothed(trie, counts, self.discounts_, is_stream(moments.options))
        self.moments_, self.vocabulary_ = moments, moments.vocabulary
        self.provenance_ = provenance_of(moments)
        self.diagnostics_ = {
            "n_words": len(moments.vocabulary),
            "rare_tokens": moments.rare_count,
            "ngrams": [int(np.count_nonzero(order_counts)) for order_counts in counts],
            "counts_of_counts": [t.tolist() for *_, t in chosen],
            "discounts": self.discounts_.tolist(),
            "discount_rules": [rule for _, rule, _ in chosen],
        }
        return self

    # Using.

    def log_probabilities(self, tokens: Text) -> np.ndarray:
        """Return the natural logarithm of the probability of each event, in order.

        The events are the tokens and the end of each unit. A model of a stream has no ends. A token
        outside the vocabulary has nan, and the tokens after it see it as the rare word.
        """
        ids = self._ids(tokens)
        scores = self._scores(ids, starts=not is_stream(self.moments_.options))
        return scores[are_events(ids, self.moments_.options)]

    def probability(self, word: Word, given: Word | Words = (), *, start: bool = False) -> float:
        """Return p(word | given) for a word or a list of words before it, the nearest last.

        With `start`, these are the first words of their unit. Otherwise, nothing is known about
        what came before them.
        """
        place = self._symbols([word])[0]
        if place < 0:
            return self.vocabulary_[str(word)]  # raises an error that suggests similar words
        ids = np.append(self._context(given, start), np.int32(place))
        return float(np.exp(self._scores(ids, starts=start)[-1]))

    def distribution(self, given: Word | Words = (), *, start: bool = False) -> np.ndarray:
        """Return p(· | given) of all words, of the rare word, and of the end of a unit.

        The sum is 1. In a model of a stream, the end has probability 0.
        """
        context = self._context(given, start)
        n, trie, tables = len(self.vocabulary_) + 2, self._tables.trie, self._tables
        answer = tables.probabilities[:n].copy()
        symbols = np.where(context < 0, n - 2, context).tolist()
        if start:
            symbols.insert(0, n - 1)
        for k in range(1, min(self.moments_.order, len(symbols) + 1)):
            node = trie.find(symbols[-k:])
            if node >= 0:
                children = slice(trie.first[node], trie.first[node + 1])
                answer *= tables.backoffs[node]
                answer[trie.words[children]] = tables.probabilities[children]
        return answer

    def _findings(self) -> Iterator[Finding]:
        if not self._fixed_orders():
            yield Finding("note", "The discounts of all orders are estimated from the text.")
        yield from rare_word_findings(self.diagnostics_, self.provenance_)

    def _size_findings(self) -> Iterator[Finding]:
        if orders := self._fixed_orders():
            listed = ", ".join(f"{order}-grams" for order in orders)
            yield Finding(
                "warning",
                f"Too little text to estimate the discounts of {listed}, so {_FIXED} are used.",
                "Give more text, or lower the order.",
            )
        yield from once_findings(self.vocabulary_.counts, self.provenance_["n_tokens"])

    # Private steps.

    def _fixed_orders(self) -> list[int]:
        """The orders whose discounts the text is too short to estimate.

        If no n-gram was counted once, all were counted often, and discounts hardly matter.
        """
        found = self.diagnostics_
        counts = found.get("counts_of_counts", [[1]] * len(found["discount_rules"]))
        rules = zip(found["discount_rules"], counts)
        return [k for k, (rule, t) in enumerate(rules, 1) if rule == "fixed" and any(t[:1])]

    def _ids(self, tokens: Text) -> np.ndarray:
        check_is_fitted(self)
        return sequence_ids(tokens, self.vocabulary_, self.moments_.options)

    def _symbols(self, words: Words) -> np.ndarray:
        check_is_fitted(self)
        return symbol_ids(words, self.vocabulary_, self.moments_.options)

    def _context(self, given: Word | Words, start: bool) -> np.ndarray:
        ids = self._symbols([given] if isinstance(given, (str, int, np.integer)) else given)
        if start and is_stream(self.moments_.options):
            raise ParameterError("this model was learned from a stream, which has no starts")
        return np.where(ids < 0, np.int32(UNKNOWN), ids)

    def _scores(self, ids: np.ndarray, *, starts: bool) -> np.ndarray:
        """The log-probability of each id as an event. An id that is no event has any value."""
        from eigentext.sequences import _kneser_ney_loops as loops

        trie, probabilities, backoffs = self._tables
        scores = np.empty(len(ids))
        edges = not is_stream(self.moments_.options)

        def score_block(begin: int) -> None:
            loops.score(
                ids, trie.first, trie.words, probabilities, backoffs, self.moments_.order,
                len(self.vocabulary_), starts, edges, begin, min(begin + _BLOCK, len(ids)), scores,
            )  # fmt: skip

        list(engine.current().map(score_block, range(0, len(ids), _BLOCK)))
        return scores

    def __getattr__(self, name: str) -> Any:
        # A file holds counts and discounts. The probabilities are computed when they are needed.
        if name != "_tables" or "moments_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        trie, stream = _Trie.of(self.moments_), is_stream(self.moments_.options)
        counts = _adjusted_counts(self.moments_, trie)
        self._tables = _smoothed(trie, counts, self.discounts_, stream)
        return self._tables

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))  # the probabilities are shared: they never change
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tables"}

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        parts, moments = self.moments_._to_saved()
        arrays = {f"moments.{name}": part for name, part in parts.items()}
        about = {
            "parameters": dict(self.parameters_),
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
            "moments": moments,
        }
        return {**arrays, "discounts": self.discounts_}, about

    @classmethod
    def _schema(cls, about):
        return Schema(
            {"discounts": Array("float64", ("order", 3), least=0)},
            {
                "provenance": PROVENANCE,
                "diagnostics": _DIAGNOSTICS,
                "moments": facts("the document of the counts"),
            },
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        start = "moments."
        parts = {n.removeprefix(start): arrays[n] for n in list(arrays) if n.startswith(start)}
        NgramMoments._schema(about["moments"]).check(parts, about["moments"])
        self.moments_ = NgramMoments._from_saved(parts, about["moments"])
        self.vocabulary_ = self.moments_.vocabulary
        self.discounts_ = np.asarray(arrays["discounts"])
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        if self.moments_.order != len(self.discounts_):
            raise damage("discounts", f"are not of {self.moments_.order} orders")
        if (self.discounts_ > [1, 2, 3]).any():
            raise damage("discounts", "take away more than was counted")
        return self


class _Trie(NamedTuple):
    """All n-grams as nodes, in breadth-first order; see `_kneser_ney_loops`."""

    first: np.ndarray
    words: np.ndarray
    borders: list[int]  # the first node of each depth, and the number of all nodes
    suffix: np.ndarray  # the node without its first symbol, or -1 for a single symbol

    @classmethod
    def of(cls, moments: NgramMoments) -> "_Trie":
        n = len(moments.vocabulary) + 2
        borders = np.cumsum([0, n, *(level.nnz for level in moments.levels)]).tolist()
        words = [np.arange(n, dtype=np.int32), *(level.indices for level in moments.levels)]
        first = [
            level.indptr[:-1].astype(np.int64) + border
            for level, border in zip(moments.levels, borders[1:])
        ]
        trie = cls(
            np.concatenate([*first, borders[-1:]]),
            np.concatenate(words),
            borders,
            np.full(borders[-1], -1, np.int64),
        )
        trie._link()
        return trie

    def find(self, symbols: list[int]) -> int:
        """Return the node of an n-gram, or -1 if there is none."""
        node = symbols[0]
        for symbol in symbols[1:]:
            begin, end = self.first[node], self.first[node + 1]
            node = begin + int(np.searchsorted(self.words[begin:end], symbol))
            if node == end or self.words[node] != symbol:
                return -1
        return int(node)

    def _link(self) -> None:
        from eigentext.sequences import _kneser_ney_loops as loops

        bigrams = slice(*self.borders[1:3])
        self.suffix[bigrams] = self.words[bigrams]  # the node of a symbol s is s

        def link(block: tuple[int, int]) -> bool:
            return loops.link_suffixes(self.first, self.words, self.suffix, *block)

        for begin, end in zip(self.borders[1:-2], self.borders[2:-1]):
            if not all(list(engine.current().map(link, self.blocks(begin, end)))):
                raise MomentsError(
                    "a window is counted, and the same without its first symbol is not: these are "
                    "the counts of no text; count it again"
                )

    def blocks(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Divide parents into ranges with about equal numbers of children."""
        work = self.first[begin : end + 1] - self.first[begin]
        return [(begin + a, begin + b) for a, b in engine.even_blocks(work, _BLOCK)]


class _Tables(NamedTuple):
    trie: _Trie
    probabilities: np.ndarray  # p(w | h) of each node hw
    backoffs: np.ndarray  # b(h) of each node h that is a context


def _adjusted_counts(moments: NgramMoments, trie: _Trie) -> list[np.ndarray]:
    """The adjusted counts a(·) of each order. In a stream, the end of a unit has 0."""
    raw = [moments.unigrams, *(level.data for level in moments.levels)]
    suffix, borders = trie.suffix, trie.borders
    counts = []
    from_edge = moments.edge  # the first node that begins with the edge, which is the last symbol
    for k, occurrences in enumerate(raw):
        if k == len(raw) - 1:
            adjusted = occurrences.astype(np.int64)
        else:
            begin, end = borders[k + 1 : k + 3]
            adjusted = np.bincount(suffix[begin:end] - borders[k], minlength=len(occurrences))
        if 0 < k < len(raw) - 1:
            adjusted[from_edge - borders[k] :] = occurrences[from_edge - borders[k] :]
        if is_stream(moments.options):
            adjusted[trie.words[borders[k] : borders[k + 1]] == moments.edge] = 0
        counts.append(adjusted)
        from_edge = trie.first[from_edge] if k < len(raw) - 1 else -1
    return counts


def _discounts(counts: np.ndarray) -> tuple[tuple[float, ...], str, np.ndarray]:
    """The discounts D(1), D(2) and D(3+), the rule that gave them, and t_1 to t_4."""
    t = np.bincount(np.minimum(counts, 5), minlength=6)[1:5]
    if t[0] and t[1]:
        Y = t[0] / (t[0] + 2 * t[1])
        if t.all():
            D = tuple(float(k - (k + 1) * Y * t[k] / t[k - 1]) for k in (1, 2, 3))
            if all(0 < d < k for k, d in enumerate(D, 1)):
                return D, "modified", t
        return (float(Y),) * 3, "single", t
    return _FIXED, "fixed", t


def _smoothed(
    trie: _Trie, counts: list[np.ndarray], discounts: np.ndarray, stream: bool
) -> _Tables:
    """The interpolated probabilities and the back-off weights, order by order."""
    from eigentext.sequences import _kneser_ney_loops as loops

    D = np.column_stack([np.zeros(len(discounts)), discounts])
    probabilities, backoffs = np.zeros(len(trie.words)), np.empty(len(trie.first) - 1)
    probabilities[: trie.borders[1]] = _unigrams(counts[0], D[0], stream)
    flat = np.concatenate(counts)

    def interpolate(task: tuple[np.ndarray, tuple[int, int]]) -> None:
        loops.interpolate(trie.first, flat, trie.suffix, task[0], probabilities, backoffs, *task[1])

    for k, (begin, end) in enumerate(zip(trie.borders[:-2], trie.borders[1:-1]), start=1):
        tasks = [(D[k], block) for block in trie.blocks(begin, end)]
        list(engine.current().map(interpolate, tasks))
    return _Tables(trie, probabilities, backoffs)


def _unigrams(counts: np.ndarray, D: np.ndarray, stream: bool) -> np.ndarray:
    """p(w): discounted counts, mixed with a uniform distribution over words, rare word and end."""
    events = np.ones(len(counts))
    events[-1] = not stream
    if not counts.any():
        raise MomentsError("no symbol is counted after another: give more text")
    removed = D[np.minimum(counts, 3)]
    return (counts - removed) / counts.sum() + removed.sum() / counts.sum() * events / events.sum()
