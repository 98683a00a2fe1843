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
context, its b(h). See `_trie` and `_kneser_ney_loops`. Evaluation is that of a back-off model, so a
model can be written as an ARPA file and read from one.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.scarcity import once_findings
from eigentext.corpus.symbols import UNKNOWN, are_events, is_stream, sequence_ids, symbol_ids
from eigentext.corpus.tokenizers import NAMED
from eigentext.errors import EigentextError, MomentsError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.matrices import budget
from eigentext.moments import NgramMoments
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.parameters import Choice, Flag, Table, argument
from eigentext.sequences import _kneser_ney_file as files
from eigentext.sequences import parameters
from eigentext.sequences._given import Text, Word, Words
from eigentext.sequences._language_model import (
    LanguageModel,
    provenance_of,
    rare_word_findings,
)
from eigentext.sequences._quantized import BITS, quantized
from eigentext.sequences._quick import sentence_ids, sentences_ids
from eigentext.sequences._smoothing import (
    FIXED,
    adjusted,
    check_any,
    discounts_of,
    release,
    tables_from,
    tables_of,
)
from eigentext.sequences._trie import Tables
from eigentext.storage import Saved, write_saved

_OFF = 1e-3  # a larger error of the sum of probabilities deserves a warning


class KneserNey(LanguageModel, Saved, Estimator):
    """A language model of n-grams with interpolated modified Kneser-Ney smoothing.

    Parameters
    ----------
    order : int
        The length n of n-grams: each token is predicted from the n - 1 tokens before it.
    min_count : int
        Words that occur less often share one symbol, the rare word. With 1, no word is rare, and
        the rare word has the probability of a word that never occurred.
    prune : sequence of int
        For each order, how often an n-gram may occur and still be left out of the model: ``(0, 0,
        1)`` leaves out trigrams, and longer n-grams, that occur once. The numbers never fall, the
        first is 0, and the last also holds for longer n-grams. What a pruned n-gram had goes to the
        back-off weight of its context, as in KenLM.

    Attributes
    ----------
    vocabulary_ : Vocabulary
    moments_ : NgramMoments
        The counts that the model was learned from, restricted to the vocabulary. A model that was
        read from an ARPA file, or from a file of a pruned or a mapped model, has no counts and no
        discounts.
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

    def __init__(self, order: int = 3, *, min_count: int = 1, prune: Sequence[int] = ()):
        self.order = order
        self.min_count = min_count
        self.prune = prune

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
        may take; what does not fit is in files of the temporary folder) and `cache` (a folder for
        encoded text) do not change the result.
        """
        with budget.within(memory):
            return self._learn(self.collect(tokens, cache=cache))

    def collect(
        self,
        tokens: Text,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> NgramMoments:
        """Return the statistics of a text that `fit` needs."""
        self._table.checked(self.get_params(deep=False))
        self._check_together()
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
            found = adjusted(moments)
            borders = found.trie.borders
            orders = [found.counts[begin:end] for begin, end in pairwise(borders)]
            check_any(orders[0])
            chosen = [discounts_of(counts) for counts in orders]
            self.discounts_ = np.array([discounts for discounts, *_ in chosen])
        self._adjusted, self._budget = found, budget.current().memory
        self.moments_, self.vocabulary_ = moments, moments.vocabulary
        self.provenance_ = provenance_of(moments)
        self.diagnostics_ = {
            "n_words": len(moments.vocabulary),
            "rare_tokens": moments.rare_count,
            "ngrams": [int(np.count_nonzero(counts)) for counts in orders],
            "counts_of_counts": [t.tolist() for *_, t in chosen],
            "discounts": self.discounts_.tolist(),
            "discount_rules": [rule for _, rule, _ in chosen],
        }
        if any(self.prune):
            # The end of a unit is a symbol, and n-grams of streams that have it count nothing.
            counted, trie = self.diagnostics_["ngrams"], self._tables.trie
            kept = np.diff(trie.borders).tolist()
            self.diagnostics_["ngrams"] = [min(pair) for pair in zip(counted, kept)]
            self.diagnostics_["pruned"] = (np.diff(borders) - kept).tolist()
        release(found)
        return self

    def _check_together(self) -> None:
        if len(self.prune) > self.order:
            raise ParameterError(
                f"prune has {len(self.prune)} numbers, but order={self.order}; give one for each "
                "order or fewer"
            )

    # Using.

    def log_probabilities(self, tokens: Text, *, rare: bool = False) -> np.ndarray:
        """Return the natural logarithm of the probability of each event, in order.

        The events are the tokens and the end of each unit. A model of a stream has no ends. A token
        outside the vocabulary has nan or, with `rare`, the log-probability of the rare word. The
        tokens after it see it as the rare word.
        """
        check_is_fitted(self)
        options, vocabulary, edges = self._options, self.vocabulary_, not self._is_stream
        ids = sentence_ids(tokens, vocabulary, options)
        if ids is not None:  # one list of words: all of it are events, and perhaps its end
            scores = self._tables.scores(ids, starts=edges, edges=edges, rare=rare)
            return scores if edges else scores[:-1]
        ids = sentences_ids(tokens, vocabulary, options)
        if ids is None:
            ids = sequence_ids(tokens, vocabulary, options)
        scores = self._tables.scores(ids, starts=edges, edges=edges, rare=rare)
        return scores[are_events(ids, options)]

    def probability(self, word: Word, given: Word | Words = (), *, start: bool = False) -> float:
        """Return p(word | given) for a word or a list of words before it, the nearest last.

        With `start`, these are the first words of their unit. Otherwise, nothing is known about
        what came before them.
        """
        place = self._symbols([word])[0]
        if place < 0:
            return self.vocabulary_[str(word)]  # raises an error that suggests similar words
        ids = np.append(self._context(given, start), np.int32(place))
        edges = not self._is_stream
        return float(np.exp(self._tables.scores(ids, starts=start, edges=edges, rare=True)[-1]))

    def distribution(self, given: Word | Words = (), *, start: bool = False) -> np.ndarray:
        """Return p(· | given) of all words, of the rare word, and of the end of a unit.

        The sum is 1. In a model of a stream, the end has probability 0.
        """
        context, n = self._context(given, start), len(self.vocabulary_)
        symbols = np.where(context < 0, n, context).tolist()
        return self._tables.distribution([n + 1, *symbols] if start else symbols)

    # Files of others.

    def to_arpa(self, path: str | os.PathLike[str]) -> None:
        """Write an ARPA file, which KenLM, SRILM and others read.

        The ending of the name (.gz, .bz2, .xz, .zst) decides the packing. Back-off gives the same
        probabilities as this model, to eight digits after the point of their logarithms. The rare
        word is ``<unk>``. A model of a stream gives ``<s>`` and ``</s>`` the probability 0. The
        file does not say how text was read, and numbers become words.
        """
        from eigentext.sequences.arpa import write_arpa

        check_is_fitted(self)
        self._tables.check()
        with engine.phase("write"):
            write_arpa(path, self.vocabulary_.words, self._tables, stream=self._is_stream)

    @classmethod
    def from_arpa(
        cls,
        path: str | os.PathLike[str],
        *,
        tokenizer: str = "whitespace",
        lowercase: bool = False,
        encoding: str = "utf-8",
    ) -> Self:
        """Read a language model of n-grams from an ARPA file, whoever made it.

        Parameters
        ----------
        path
            The file, plain or packed (.gz, .bz2, .xz, .zst).
        tokenizer, lowercase
            How text is read for this model (see :class:`TextCorpus`), which the file does not say.
        encoding : str
            The encoding of the file.

        Returns
        -------
        KneserNey
            A model that scores, predicts and saves as others do. It has no counts (``moments_``)
            and no ``discounts_``. A file in which ``</s>`` has no probability gives a model of a
            stream. Without ``<unk>``, unknown words have the probability 0.
        """
        from eigentext.sequences.arpa import read_arpa

        table = Table("", tokenizer=Choice("whitespace", of=NAMED), lowercase=Flag(False))
        options = dict(table.checked({"tokenizer": tokenizer, "lowercase": lowercase}))
        found = read_arpa(path, encoding=encoding)
        options["unit"] = "stream" if found.stream else "line"
        self = learned_with(cls, {"order": found.tables.trie.order})
        self._tables = found.tables
        self.vocabulary_ = Vocabulary(found.words, np.zeros(len(found.words), np.int64))
        self.provenance_ = {"n_tokens": 0, "options": options, "sources": [found.fingerprint]}
        self.diagnostics_ = {"n_words": len(found.words), "ngrams": found.ngrams, "total": 0.0}
        self.diagnostics_["total"] = float(self.distribution().sum())
        return self

    def _findings(self) -> Iterator[Finding]:
        if "discount_rules" not in self.diagnostics_:
            yield Finding("note", "The model was read from an ARPA file, which has no counts.")
            total = self.diagnostics_["total"]
            if abs(total - 1) > _OFF:
                yield Finding(
                    "warning",
                    f"The probabilities of single words add up to {total:.4g}, not to 1.",
                    "Perplexities of this model cannot be compared with those of others.",
                )
            return
        if not self._fixed_orders():
            yield Finding("note", "The discounts of all orders are estimated from the text.")
        if pruned := self.diagnostics_.get("pruned"):
            listed = ", ".join(f"{n:,} {k}-grams" for k, n in enumerate(pruned, 1) if n)
            yield Finding("note", f"Pruning left out {listed or 'nothing'}.")
        yield from rare_word_findings(self.diagnostics_, self.provenance_)

    def _size_findings(self) -> Iterator[Finding]:
        if "discount_rules" not in self.diagnostics_:
            return
        if orders := self._fixed_orders():
            listed = ", ".join(f"{order}-grams" for order in orders)
            yield Finding(
                "warning",
                f"Too little text to estimate the discounts of {listed}, so {FIXED} are used.",
                "Give more text, or lower the order.",
            )
        if "moments_" in vars(self):
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

    @property
    def _options(self) -> dict[str, Any]:
        """How text is read. A model of counts takes the word of its counts for it."""
        counts = vars(self).get("moments_")
        return self.provenance_["options"] if counts is None else counts.options

    @property
    def _is_stream(self) -> bool:
        return is_stream(self._options)

    def _symbols(self, words: Words) -> np.ndarray:
        check_is_fitted(self)
        return symbol_ids(words, self.vocabulary_, self._options)

    def _context(self, given: Word | Words, start: bool) -> np.ndarray:
        ids = self._symbols([given] if isinstance(given, (str, int, np.integer)) else given)
        if start and self._is_stream:
            raise ParameterError("this model was learned from a stream, which has no starts")
        return np.where(ids < 0, np.int32(UNKNOWN), ids)

    def _next(self, context: list[Word]) -> np.ndarray:
        check_is_fitted(self)
        n = self._tables.trie.order - 1
        start = len(context) < n and not self._is_stream
        return self.distribution(context[max(0, len(context) - n) :], start=start)

    def __getattr__(self, name: str) -> Any:
        if name == "_tables" and "moments_" in vars(self):
            # A file holds counts and discounts. The probabilities are computed when needed.
            self._tables = self._made()
            return self._tables
        why = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name in ("moments_", "discounts_") and "_tables" in vars(self):
            arpa = "discount_rules" not in self.diagnostics_
            source = "an ARPA file" if arpa else "a file of a pruned or mapped model"
            why += f": the model was read from {source}, which has no counts"
        raise AttributeError(why)

    def _made(self) -> Tables:
        found = vars(self).pop("_adjusted", None)
        prune = vars(self).get("parameters_", self).prune
        moments, discounts = self.moments_, self.discounts_
        with budget.within(vars(self).get("_budget")), engine.phase("interpolate"):
            if found is None:
                return tables_of(moments, discounts, prune)
            return tables_from(moments, found, discounts, prune)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))  # the probabilities are shared: they never change
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if "moments_" in state:
            for name in ("_tables", "_adjusted", "_budget"):
                state.pop(name, None)
        return state

    # Files.

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        mapped: bool | None = None,
        quantize: int | None = None,
    ) -> None:
        """Write to one file. A reader sees the old file or the complete new one.

        Parameters
        ----------
        path
            The file.
        mapped : bool, optional
            Whether to write the probabilities in the form in which they are used. Such a file is
            ten times as large as the counts, and ``et.load`` opens it in milliseconds: nothing is
            read before it is needed. Without it, a file has the counts (those of others can be
            added to them) or, if the model has none or is pruned, probabilities that are checked
            when they are loaded. A model that came from such a file is written as one by default.
        quantize : int, optional
            Write each probability and back-off weight in so many bits, 2 to 16, in a mapped file.
            Those of single words stay as they are.
        """
        check_is_fitted(self)
        bits = argument("quantize", BITS, quantize)
        mapped = argument("mapped", Flag(None), mapped)
        if bits is not None and mapped is False:
            raise ParameterError("quantize needs a mapped file; leave out mapped=False")
        if mapped is None:
            mapped = bits is not None or files.is_mapped(self._tables_if_made())
        if not mapped:
            write_saved(path, self._format, *files.to_saved(self, mapped=False))
            return
        tables = self._tables
        if bits is not None:
            if tables.books is not None:
                raise EigentextError(
                    "the model is quantized already; quantize the model that it was made from"
                )
            tables = quantized(tables, bits)
        write_saved(path, self._format, *files.mapped_of(self, tables))

    def _tables_if_made(self) -> Tables | None:
        return vars(self).get("_tables")

    def _to_saved(self):
        check_is_fitted(self)
        return files.to_saved(self)

    @classmethod
    def _schema(cls, about):
        return files.schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        files.restore(self, arrays, about)
        return self
