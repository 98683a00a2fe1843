"""What a parser does after learning: parses, marginals, k best trees, probabilities."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from eigentext import engine
from eigentext.corpus.items import without_columns
from eigentext.corpus.nltk_adapters import NltkParsing
from eigentext.corpus.packing import Packed, pack, unpack
from eigentext.corpus.policy import TokenPolicy
from eigentext.corpus.raw_text import RawCheck
from eigentext.corpus.trees import Tree, normalize_tree
from eigentext.engine import Engine
from eigentext.engine.spread import in_batches
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with
from eigentext.grammars._findings import label_findings, parser_findings, text_findings
from eigentext.grammars.answers import (
    Analysis,
    FallbackWarning,
    Parse,
    ScoredSpan,
    ScoredTree,
    Span,
)
from eigentext.grammars.candidates import Proposing
from eigentext.grammars.chart.cascade import Cascade, Reading, thresholds
from eigentext.grammars.chart.decoding import Brackets, Decoder, k_best, restored
from eigentext.grammars.chart.decoding import brackets as brackets_of
from eigentext.grammars.chart.posteriors import usual_temperature
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.parameters import N_JOBS
from eigentext.grammars.spans import calibrated, check_temperature, probable_spans, scored_spans
from eigentext.grammars.states import Sentence, StateVectors
from eigentext.grammars.treebank.normal_form import Symbol, Treebank
from eigentext.grammars.treebank.plain_text import kept_sources, named_sources
from eigentext.grammars.treebank.reading import TreeLike, normalized, treebank_fingerprint
from eigentext.parameters import Count, Number, Settings, is_whole, warn_of_unused
from eigentext.storage.models import Saved

_Made = TypeVar("_Made")
_BATCH = 200  # words of the sentences that go to a Dask worker together
_MOST = 10**9  # the largest value of a parameter
_DERIVATIONS = 4  # of the back-off that are looked at for each tree
_NO_WORDS = "an empty sentence has no tree"


class Parser(Estimator, Saved, NltkParsing, Proposing, StateVectors):
    """The common part of :class:`~eigentext.PCFG` and :class:`~eigentext.LatentPCFG`."""

    _of_parsing: ClassVar[tuple[str, ...]] = ("prune", "decoding", "tau", "mbr")
    _has_middle: ClassVar[bool]  # whether a grammar of few states prunes for the others
    symbols_: list[Symbol]
    n_states_: np.ndarray
    temperature_: float
    diagnostics_: dict[str, Any]
    provenance_: dict[str, Any]
    policy_: TokenPolicy  # how raw text becomes the tokens of the treebank
    _cascade: Cascade
    _brackets: dict[str, Brackets]  # by the parameter mbr
    _empty: Treebank  # no trees: only the symbols, words and rules, to encode other trees with

    # -- sentences -> trees ----------------------------------------------------------------------

    def parse(self, tokens: Sentence) -> Tree:
        """The tree of a sentence, given as raw text (a string) or as a list of tokens.

        Raw text is split as the trees of the treebank are (``policy_``). Tokens stay as they are.
        There is always a tree. If the grammar has none, a :class:`FallbackWarning` says so. The
        tree is then that of the plain PCFG without memory, or it is made of the largest pieces that
        this PCFG has.
        """
        words = self._words(tokens)
        parsed = self._parse(words, self._read(words))
        self._warn([parsed])
        return parsed.tree  # type: ignore[return-value] - an empty sentence was refused

    def parse_many(
        self, sentences: Iterable[Sentence], *, n_jobs: int | None = None
    ) -> list[Tree | None]:
        """The trees of many sentences. :meth:`parses` gives a stream, with reasons of fallbacks.

        The tree of an empty sentence is None, and counts as a fallback.
        """
        parses = list(self.parses(sentences, n_jobs=n_jobs))
        self._warn(parses)
        return [parsed.tree for parsed in parses]

    def parses(
        self, sentences: Iterable[Sentence], *, n_jobs: int | None = None
    ) -> Iterator[Parse]:
        """The parses of a stream of sentences, in order, on `n_jobs` threads of this process.

        By default it runs on the threads or Dask workers of the engine in use. An empty sentence
        has a parse too, without a tree.
        """
        for parsed in self._many("parse", _parse, sentences, n_jobs=n_jobs):
            yield parsed if parsed.tree is None else parsed._replace(tree=unpack(parsed.tree))

    def k_best_many(
        self, sentences: Iterable[Sentence], k: int, *, n_jobs: int | None = None
    ) -> list[list[ScoredTree]]:
        """The k best trees of each sentence; see :meth:`k_best`, and :meth:`k_bests` for a stream.

        An empty sentence has an empty list.
        """
        return list(self.k_bests(sentences, k, n_jobs=n_jobs))

    def k_bests(
        self, sentences: Iterable[Sentence], k: int, *, n_jobs: int | None = None
    ) -> Iterator[list[ScoredTree]]:
        """The k best trees of a stream of sentences, in order; `n_jobs` as in :meth:`parses`."""
        check_count("k", k, 1)
        for best in self._many("n-best", _k_best, sentences, k, n_jobs=n_jobs):
            yield [ScoredTree(unpack(tree), score) for tree, score in best]

    def marginals(self, tokens: Sentence, *, temperature: float | None = None) -> list[Span]:
        """The probability of each label over each span, most probable first.

        Every label of a unary chain has its own span, and so have tags over single words. Labels
        that were pruned are missing. The probabilities are those of one distribution over the
        trees that pruning left (``chart/posteriors.py``). So they are in [0, 1], and spans that
        cross never add up to more than 1. They are calibrated by `temperature`, by default
        `temperature_`. With 1, a grammar of probabilities gives its own posteriors mu(a, i, j).
        """
        used = None if temperature is None else check_temperature(temperature)
        return self._spans(self._read(self._words(tokens)), used)

    def scores(self, tokens: Sentence) -> list[ScoredSpan]:
        """mu(a, i, j), as the grammar gives it: outside times inside, over the size of p(sentence).

        For a grammar of probabilities, these are posteriors. The parameters of a spectral grammar
        have signs, and its scores may be below 0 and above 1. Parses are chosen by them.
        """
        return scored_spans(self._read(self._words(tokens)))

    def calibrate(self, trees: Iterable[TreeLike]) -> Self:
        """Choose the temperature of :meth:`marginals` that suits these trees best.

        Give trees that the parser has not learned from. Some 200 are enough. Calibration changes
        probabilities, and never a parse.
        """
        check_is_fitted(self)
        self._calibrate(normalized(trees))
        return self

    @property
    def gives_probabilities(self) -> bool:
        """Whether all parameters are probabilities. Those of a spectral grammar have signs.

        If not, ``log_probability`` of trees and sentences is the logarithm of the size of a score.
        """
        return "method" not in self._table or self._used.method != "spectral"

    def k_best(self, tokens: Sentence, k: int) -> list[ScoredTree]:
        """The k best trees of a sentence, with log p(tree, words), best first.

        A spectral grammar gives scores in place of probabilities (:meth:`log_probability`).

        For a grammar without hidden states these are exactly the most probable trees that pruning
        leaves (``parsing_with(prune=0)`` leaves all). With hidden states, that is intractable:
        these are the k best by the product of the posteriors of their rules, sorted by probability.
        """
        check_count("k", k, 1)
        words = self._words(tokens)
        return self._best(words, self._read(words), k)

    def analyze(self, tokens: Sentence, k: int = 1) -> Analysis:
        """The parse, the marginals and the k best trees of a sentence, from one chart."""
        check_count("k", k, 1)
        words = self._words(tokens)
        reading = self._read(words)
        parse, spans = self._parse(words, reading), self._spans(reading)
        return Analysis(parse, spans, self._best(words, reading, k))

    # -- trees -> probabilities --------------------------------------------------------------------

    def log_probability(self, tree: TreeLike) -> float:
        """Log p(tree, words) by contraction of the tensors of its rules.

        The tree is normalized first. For an ensemble, this is the log of the average probability.
        If the grammar gives the tree no probability, but all of its productions were seen, it has
        that of the back-off (``chart/backoff.py``). Other trees have -inf.
        A spectral grammar has scores with signs in place of probabilities. Then this is the log of
        the absolute value of the score (see :attr:`gives_probabilities`). It ranks the trees of a
        sentence, but the scores of all sentences do not add up to one.
        """
        check_is_fitted(self)
        return self._cascade.log_probability(self._empty, normalize_tree(tree))

    def score(self, trees: Iterable[TreeLike], y: Any = None) -> float:
        """F1 of labeled brackets, from 0 to 1, of the parses of the words of trees.

        It follows the rules of EVALB (``et.evaluate.brackets``, which tells more). The trees are
        normalized first.
        """
        from eigentext.evaluate import brackets

        check_is_fitted(self)
        gold = normalized(trees)
        found = self.parses([tree.leaves() for tree in gold])
        result = brackets(gold, [parsed.tree for parsed in found])
        if not result.gold:
            raise CorpusError("the trees have no brackets to measure: give longer ones")
        return float(result.f1)

    def parsing_with(self, **settings: Any) -> Self:
        """The same grammar with other settings of parsing: a copy that shares what was learned.

        The settings are `prune`, `decoding`, `tau` and `mbr`, and `negative` for a
        :class:`~eigentext.LatentPCFG`.

        Examples
        --------
        >>> from eigentext import PCFG
        >>> model = PCFG().fit(["(S (NP (NNP Ann)) (VP (VBZ sleeps)))"])
        >>> model.parsing_with(decoding="viterbi", prune=0)
        PCFG(prune=0, decoding='viterbi')
        """
        check_is_fitted(self)
        for name in settings:
            if name not in self._of_parsing:
                raise ParameterError(
                    f"{name!r} is no setting of parsing; those are {', '.join(self._of_parsing)}"
                )
        used = self._table.taken({**self.parameters_, **settings})
        deciding = {name: used[name] for name in ("method", "decoding") if name in used}
        given = {name: used[name] for name in settings}
        warn_of_unused(self._table, {**self._table.defaults, **deciding, **given}, stacklevel=2)
        twin = copy(self)
        twin.parameters_ = Settings(used)
        return twin.set_params(**given)

    # -- what is learned ---------------------------------------------------------------------------

    @property
    def _used(self) -> Settings:
        """The parameters that the model was learned with; while it learns, its own."""
        used = vars(self).get("parameters_")
        return (
            Settings({name: getattr(self, name) for name in self._table}) if used is None else used
        )

    @property
    def _decoder(self) -> Decoder:
        used = self._used
        if used.mbr not in self._brackets:
            self._brackets[used.mbr] = brackets_of(self.symbols_, used.mbr)
        return Decoder.of(self._cascade, used, self._brackets[used.mbr])

    def _keep(self, counted: CountedTrees, cascade: Cascade) -> None:
        """Take over what was learned."""
        treebank = counted.treebank
        self._cascade, self._empty = cascade, treebank.without_trees()
        self.symbols_ = treebank.symbols
        self.policy_ = counted.lexicon.policy()
        self._brackets = {}
        grammar = cascade.levels[0].grammar
        self.n_states_ = grammar.n_states
        self.provenance_ = {
            "n_trees": len(treebank),
            "n_tokens": len(treebank.tokens),
            "n_words": len(treebank.words),
            "options": treebank.binarization._asdict(),
            "sources": [treebank_fingerprint(treebank)],
        }
        if counted.lexicon.text is not None:
            self.provenance_["coverage"] = counted.lexicon.text.coverage
        self.temperature_ = usual_temperature(len(treebank))
        self.diagnostics_ = {
            "n_labels": len(treebank.symbols),
            "n_rules": len(grammar.rules.parent),
            "n_states": int(grammar.n_states.sum()),
            "most_states": int(grammar.n_states.max()),
            "n_parameters": int(grammar.tensor_offsets[-1]),
            "rules_seen_once": int((grammar.rules.counts == 1).sum()),
            "rare_tokens": counted.rare_tokens,
        }

    def _findings(self) -> Iterator[Finding]:
        yield from parser_findings(self.diagnostics_, self.provenance_["n_trees"])
        yield from text_findings(self.provenance_.get("coverage", {}))

    def _size_findings(self) -> Iterator[Finding]:
        return label_findings(self.symbols_, self.provenance_["n_trees"])

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        from eigentext.grammars.saving import cascade_to_arrays

        check_is_fitted(self)
        arrays, about = cascade_to_arrays(self._cascade, self._empty)
        return arrays, {
            "parameters": named_sources(dict(self.parameters_)),
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
            "temperature": self.temperature_,
            "grammar": about,
            "tokens": self.policy_.to_saved(),
        }

    @classmethod
    def _schema(cls, about: dict[str, Any]) -> Any:
        from eigentext.grammars.saving import schema

        return schema(about, has_middle=cls._has_middle)

    @classmethod
    def _from_saved(cls, arrays: Any, about: dict[str, Any]) -> Self:
        from eigentext.grammars.saving import arrays_to_cascade

        self = learned_with(cls, kept_sources(about["parameters"]))
        self._cascade, self._empty = arrays_to_cascade(arrays, about["grammar"])
        self.symbols_ = self._empty.symbols
        lexicon = self._cascade.coarse.words.lexicon
        self.policy_ = TokenPolicy.of_file(about, lexicon.policy)
        self._brackets = {}
        self.n_states_ = self._cascade.levels[0].grammar.n_states
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        usual = usual_temperature(self.provenance_["n_trees"])
        self.temperature_ = float(about.get("temperature", usual))  # older files have none
        return self

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy. Vectors and clusters are shared, and stay fitted."""
        return type(self)(**self.get_params(deep=False))

    # -- steps -------------------------------------------------------------------------------------

    def _many(
        self,
        name: str,
        function: Callable[..., _Made],
        sentences: Iterable[Sentence],
        *known: Any,
        n_jobs: int | None,
    ) -> Iterator[_Made]:
        """``function(words, self, *known)`` of a stream of sentences, in order."""
        check_is_fitted(self)
        sentences = without_columns(sentences)
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise CorpusError("give a list of sentences, not a single one: that is for `parse`")
        total = len(sentences) if isinstance(sentences, Sequence) else None
        with engine.phase(name, total, "sentences") as advance:
            check = RawCheck(self.policy_)
            words = (self._some_words(one, check, n) for n, one in enumerate(sentences, 1))
            for found in in_batches(
                workers(n_jobs), function, words, self, *known, weigh=len, size=_BATCH
            ):
                advance(1)
                yield found
        check.warn()

    def _read(self, words: list[str]) -> Reading:
        return self._cascade.read(words, *thresholds(self._used.prune))

    def _parse(self, words: list[str], reading: Reading) -> Parse:
        tree = self._decoder.tree(reading, words)
        return Parse(tree, reading.log_probability, reading.problem)

    def _spans(self, reading: Reading, temperature: float | None = None) -> list[Span]:
        return probable_spans(reading, self._decoder, temperature or self.temperature_)

    def _calibrate(self, gold: list[Tree]) -> None:
        readings = []
        with engine.phase("calibrate", len(gold), "trees") as advance:
            for tree in gold:
                readings.append(self._read(tree.leaves()))
                advance(1)
        self.temperature_ = calibrated(readings, gold, self._decoder)

    def _best(self, words: list[str], reading: Reading, k: int) -> list[ScoredTree]:
        decoder = self._decoder
        if reading.problem is not None:
            return [ScoredTree(decoder.fallback(reading, words), -np.inf)]
        # In the back-off, several derivations may have the same tree.
        wanted = int(k) if reading.levels is None else _DERIVATIONS * int(k)
        found = k_best(reading.forest, *decoder.scores(reading, words, "viterbi"), k=wanted)
        trees = [restored(reading, derivation, words) for _, derivation in found]
        trees = list(dict.fromkeys(trees))[: int(k)]
        scored = [ScoredTree(tree, self.log_probability(tree)) for tree in trees]
        return sorted(scored, key=lambda one: -one.log_probability)

    def _words(self, tokens: Sentence) -> list[str]:
        check_is_fitted(self)
        check = RawCheck(self.policy_)
        words = self._some_words(tokens, check)
        if not words:
            raise CorpusError(f"{_NO_WORDS}; leave it out")
        check.warn(stacklevel=3)
        return words

    def _some_words(
        self, tokens: Sentence, check: RawCheck, number: int | None = None
    ) -> list[str]:
        where = "" if number is None else f"sentence {number}: "
        if not isinstance(tokens, Iterable):
            raise CorpusError(f"{where}{tokens!r} is not a sentence: give a list of words")
        if isinstance(tokens, str):
            return self.policy_.split(tokens)
        words = list(tokens)
        for word in words:
            if not isinstance(word, str) or not word:
                raise CorpusError(f"{where}{word!r} is not a word: give a list of strings")
        return check.see(words)

    def _check_together(self) -> None:
        """Raise ParameterError if a number is so large that sums and products would overflow."""
        for name, kind in self._table.items():
            value = getattr(self, name)
            if isinstance(kind, (Count, Number)) and value is not None and _MOST < value < np.inf:
                label = self._table.label(name)
                raise ParameterError(f"{label} must be {_MOST:,} at most, not {value!r}")

    def _warn(self, parses: list[Parse]) -> None:
        failed = [n for n, parsed in enumerate(parses, 1) if parsed.fallback is not None]
        if failed:
            some = ", ".join(map(str, failed[:5])) + (", …" if len(failed) > 5 else "")
            empty = sum(parsed.tree is None for parsed in parses)
            warnings.warn(
                f"{len(failed)} of {len(parses)} sentences ({some}) had no parse by the grammar; "
                "their trees are plainer ones, or made of pieces"
                f"{', or None for an empty sentence' if empty else ''} (`parses` says which and "
                "why)",
                FallbackWarning,
                stacklevel=3,
            )


# Trees travel packed to and from other processes. In this process it makes almost no difference.


def _parse(words: list[str], model: Parser) -> Any:
    if not words:
        return Parse(None, -np.inf, _NO_WORDS)
    parsed = model._parse(words, model._read(words))
    return parsed if parsed.tree is None else parsed._replace(tree=pack(parsed.tree))


def _k_best(words: list[str], model: Parser, k: int) -> list[tuple[Packed, float]]:
    if not words:
        return []
    found = model._best(words, model._read(words), k)
    return [(pack(one.tree), one.log_probability) for one in found]


def workers(n_jobs: int | None) -> Engine:
    """The engine in use; or, as in joblib, this many threads, with -1 for one on each core."""
    if n_jobs is None:
        return engine.workers()
    if not N_JOBS.allows(n_jobs):
        raise ParameterError(f"n_jobs must be {N_JOBS.wording}, or None, not {n_jobs!r}")
    return engine.ThreadEngine() if n_jobs == -1 else engine.ThreadEngine(int(n_jobs))


def check_count(name: str, value: Any, least: int) -> None:
    """Raise ParameterError unless the value is a whole number, `least` or more."""
    if not is_whole(value) or value < least:
        raise ParameterError(f"{name} must be a whole number, {least} or more, not {value!r}")
