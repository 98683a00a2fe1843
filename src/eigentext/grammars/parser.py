"""What a parser does once its grammars are learned: parse, marginals, k best, probabilities."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from eigentext import engine
from eigentext.corpus.packing import pack, unpack
from eigentext.corpus.trees import Tree, normalize_tree
from eigentext.engine import Engine
from eigentext.engine.spread import in_batches
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted, learned_with
from eigentext.grammars.chart.cascade import Cascade, Reading
from eigentext.grammars.chart.forest import tree_forest
from eigentext.grammars.learning.learner import Learner, normalized
from eigentext.grammars.parameters import N_JOBS
from eigentext.grammars.treebank.normal_form import Symbol, Treebank, restore
from eigentext.parameters import Count, Number, Settings, is_whole, warn_of_unused
from eigentext.storage.models import Saved

if TYPE_CHECKING:
    from eigentext.grammars.chart.decoding import Scores

_BATCH = 200  # words of the sentences that go to a worker of a cluster together
_MIDDLE_THRESHOLD = 3e-3  # the middle grammar judges better than the coarse one
_MOST = 10**9  # of parameters
_NO_WORDS = "an empty sentence has no tree"


class Parse(NamedTuple):
    """A tree for a sentence.

    Attributes
    ----------
    tree
        Always one, but None for an empty sentence.
    log_probability
        log p(sentence), summed over its parses; -inf for pieces, and for an empty sentence.
    fallback
        None, or why the tree is not a parse by the grammar: it is one by the plain PCFG without
        memory and states, whose probability is given then, or pieces hung below a root.
    """

    tree: Tree | None
    log_probability: float
    fallback: str | None


class Span(NamedTuple):
    """A label over the words ``start`` to ``end - 1``, and how probably it is in the tree."""

    label: str
    start: int
    end: int
    probability: float


class ScoredTree(NamedTuple):
    """A tree and log p(tree, words)."""

    tree: Tree
    log_probability: float


class FallbackWarning(UserWarning):
    """A sentence has no parse by the grammar; its tree is plainer, made of pieces, or None."""


class Parser(Estimator, Saved):
    """The common part of :class:`~eigentext.PCFG` and :class:`~eigentext.LatentPCFG`."""

    _of_parsing: ClassVar[tuple[str, ...]] = ("prune", "decoding", "tau")
    _has_middle: ClassVar[bool]  # whether a grammar of few states prunes for the others
    binarize: str
    horizontal: int | None
    vertical: int
    rare: int
    beta: float
    gamma: float
    symbols_: list[Symbol]
    _cascade: Cascade
    _empty: Treebank  # no trees, but the symbols, words and rules to encode others in

    # -- sentences -> trees ----------------------------------------------------------------------

    def parse(self, tokens: Sequence[str] | str) -> Tree:
        """The tree of a sentence, given as words or as one string with blanks between them.

        There is always a tree; where the grammar has none, it is that of the plain PCFG without
        memory, or made of the largest pieces that this has, with a :class:`FallbackWarning`.
        """
        parsed = self._parse(self._words(tokens))
        self._warn([parsed])
        return parsed.tree  # type: ignore[return-value] - an empty sentence was refused

    def parse_many(
        self, sentences: Iterable[Any], *, n_jobs: int | None = None
    ) -> list[Tree | None]:
        """The trees of many sentences; see :meth:`parses` for a stream, with reasons of fallbacks.

        An empty sentence has None in its place, and counts as a fallback.
        """
        parses = list(self.parses(sentences, n_jobs=n_jobs))
        self._warn(parses)
        return [parsed.tree for parsed in parses]

    def parses(self, sentences: Iterable[Any], *, n_jobs: int | None = None) -> Iterator[Parse]:
        """Parses of sentences as they come, in order; on `n_jobs` threads of this process.

        By default on those of the engine in use, or on its cluster. An empty sentence has a parse
        in its place too, without a tree.
        """
        for parsed in self._many("parse", _parse, sentences, n_jobs=n_jobs):
            yield parsed if parsed.tree is None else parsed._replace(tree=unpack(parsed.tree))

    def k_best_many(
        self, sentences: Iterable[Any], k: int, *, n_jobs: int | None = None
    ) -> list[list[ScoredTree]]:
        """The k best trees of each sentence; see :meth:`k_best`, and `k_bests` for a stream.

        An empty sentence has none: an empty list.
        """
        return list(self.k_bests(sentences, k, n_jobs=n_jobs))

    def k_bests(
        self, sentences: Iterable[Any], k: int, *, n_jobs: int | None = None
    ) -> Iterator[list[ScoredTree]]:
        """The k best trees of sentences as they come, in order, where `parses` would run."""
        check_count("k", k, 1)
        for best in self._many("n-best", _k_best, sentences, k, n_jobs=n_jobs):
            yield [one._replace(tree=unpack(one.tree)) for one in best]

    def marginals(self, tokens: Sequence[str] | str) -> list[Span]:
        """mu(a, i, j): how probably each label spans each stretch of words, most probable first.

        Every label of a unary chain has its own; tags too, over single words. Labels that were
        pruned are not there.
        """
        words = self._words(tokens)
        reading = self._read(words)
        found: dict[tuple[str, int, int], float] = {}
        forest = reading.forest
        for a, i, j, mu in zip(
            forest.label.tolist(),
            forest.start.tolist(),
            forest.end.tolist(),
            self._signed(reading.items, reading.sign).tolist(),
        ):
            symbol = reading.symbols[a]
            for label in dict.fromkeys(symbol.chain) if symbol.siblings is None else ():
                found[label, i, j] = found.get((label, i, j), 0.0) + mu
        spans = [Span(*key, mu) for key, mu in found.items()]
        return sorted(spans, key=lambda span: (-span.probability, *span[1:3], span.label))

    def k_best(self, tokens: Sequence[str] | str, k: int) -> list[ScoredTree]:
        """The k best trees of a sentence, with log p(tree, words), best first.

        By probability, exactly, for a grammar without hidden states (over what pruning leaves: all
        there is by ``parsing_with(prune=0)``). With hidden states, where that is intractable, the k
        best by products of the posteriors of their rules, then ordered by their probability.
        """
        from eigentext.grammars.chart.decoding import k_best

        check_count("k", k, 1)
        words = self._words(tokens)
        reading = self._read(words)
        if reading.problem is not None:
            return [ScoredTree(self._fallback(reading, words), -np.inf)]
        scores = self._rule_scores(reading, words, "viterbi")
        found = k_best(reading.forest, *scores, k=int(k))
        trees = [_restored(reading, derivation, words) for _, derivation in found]
        scored = [ScoredTree(tree, self.log_probability(tree)) for tree in trees]
        return sorted(scored, key=lambda one: -one.log_probability)

    # -- trees -> probabilities --------------------------------------------------------------------

    def log_probability(self, tree: Any) -> float:
        """Log p(tree, words) by the contraction of its rules' tensors; -inf with an unknown rule.

        The tree is normalised first. Of an ensemble, that of the average probability.
        """
        check_is_fitted(self)
        encoded = self._empty.encode([normalize_tree(tree)])
        if encoded.label.min() < 0 or (encoded.rule[encoded.left >= 0] < 0).any():
            return -np.inf
        forest = tree_forest(encoded)
        logs = [level.log_probability(forest, encoded.tokens) for level in self._cascade.levels]
        return float(np.logaddexp.reduce(logs) - np.log(len(logs)))

    def score(self, trees: Iterable[Any], y: Any = None) -> float:
        """F1 of labelled brackets, from 0 to 1, of parses of the words of trees.

        By EVALB's rules (``et.evaluate.brackets``, which tells more); the trees are normalised
        first.
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

        `prune`, `decoding` and `tau`; those of a :class:`~eigentext.LatentPCFG` also `negative`.

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
    def _used(self) -> Any:
        """The parameters that the model was learned with; while it is learned, its own."""
        return vars(self).get("parameters_", self)

    def _keep(self, learner: Any, cascade: Cascade) -> None:
        from eigentext.grammars.chart.decoding import brackets

        treebank = learner.treebank
        self._cascade, self._empty = cascade, treebank.without_trees()
        self.symbols_ = treebank.symbols
        self._brackets = brackets(self.symbols_)
        grammar = cascade.levels[0].grammar
        self.n_states_ = grammar.n_states
        self.provenance_ = {
            "n_trees": len(treebank),
            "n_tokens": len(treebank.tokens),
            "n_words": len(treebank.words),
            "options": treebank.binarization._asdict(),
        }
        self.diagnostics_ = {
            "n_labels": len(treebank.symbols),
            "n_rules": len(grammar.rules.parent),
            "n_states": int(grammar.n_states.sum()),
            "most_states": int(grammar.n_states.max()),
            "n_parameters": len(grammar.tensor),
            "rules_seen_once": int((grammar.rules.counts == 1).sum()),
            "rare_tokens": learner.rare_tokens,
        }

    def _to_saved(self):
        from eigentext.grammars.saving import cascade_to_arrays

        check_is_fitted(self)
        arrays, about = cascade_to_arrays(self._cascade, self._empty)
        return arrays, {
            "parameters": dict(self.parameters_),
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
            "grammar": about,
        }

    @classmethod
    def _schema(cls, about):
        from eigentext.grammars.saving import schema

        return schema(about, has_middle=cls._has_middle)

    @classmethod
    def _from_saved(cls, arrays, about):
        from eigentext.grammars.chart.decoding import brackets
        from eigentext.grammars.saving import arrays_to_cascade

        self = learned_with(cls, about["parameters"])
        self._cascade, self._empty = arrays_to_cascade(arrays, about["grammar"])
        self.symbols_ = self._empty.symbols
        self._brackets = brackets(self.symbols_)
        self.n_states_ = self._cascade.levels[0].grammar.n_states
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        return self

    # -- steps -------------------------------------------------------------------------------------

    def _many(
        self, name: str, function: Callable[..., Any], sentences: Any, *known: Any, n_jobs: Any
    ) -> Iterator[Any]:
        """``function(words, self, *known)`` of sentences as they come, in order."""
        check_is_fitted(self)
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise CorpusError("give a list of sentences, not a single one: that is for `parse`")
        total = len(sentences) if isinstance(sentences, Sequence) else None
        with engine.phase(name, total, "sentences") as advance:
            words = (self._some_words(tokens, n) for n, tokens in enumerate(sentences, 1))
            for found in in_batches(
                workers(n_jobs), function, words, self, *known, weigh=len, size=_BATCH
            ):
                advance(1)
                yield found

    def _read(self, words: list[str]) -> Reading:
        return self._cascade.read(words, *self._thresholds())

    def _thresholds(self) -> tuple[float, float]:
        prune = self._used.prune
        return prune, _MIDDLE_THRESHOLD if prune else 0.0

    def _parse(self, words: list[str]) -> Parse:
        if not words:
            return Parse(None, -np.inf, _NO_WORDS)
        reading = self._read(words)
        return Parse(self._tree(reading, words), reading.log_probability, reading.problem)

    def _tree(self, reading: Reading, words: list[str]) -> Tree:
        """The tree to choose from a reading."""
        from eigentext.grammars.chart.decoding import best, minimum_bayes_risk

        forest = reading.forest
        if reading.problem is not None:
            return self._fallback(reading, words)
        used = self._used
        if used.decoding == "mbr":
            marginals = self._signed(reading.items, reading.sign)
            tau = min(used.tau, _MOST)  # a file may have any
            found = minimum_bayes_risk(forest, marginals, self._brackets, tau=tau)
        else:
            found = best(forest, *self._rule_scores(reading, words, used.decoding))
        return _restored(reading, found, words)

    def _rule_scores(self, reading: Reading, words: list[str], decoding: str) -> "Scores":
        """Logs of the probabilities of rules; with hidden states, or for "max-rule", posteriors'.

        The most probable tree without its states is intractable.
        """
        from eigentext.grammars.chart.decoding import max_rule_scores, viterbi_scores

        forest, level = reading.forest, self._cascade.levels[0]
        grammar = level.grammar
        if decoding == "viterbi" and len(self._cascade.levels) == 1 and grammar.n_states.max() == 1:
            with np.errstate(divide="ignore"):
                lexical = np.zeros(len(forest.label))
                lexical[np.diff(forest.groups) == 0] = np.log(level.leaf_scores(forest, words))
                roots = np.log(grammar.root[forest.label[forest.roots]])
                return viterbi_scores(forest, np.log(grammar.tensor), lexical, roots)
        edges, items = (self._signed(x, reading.sign) for x in (reading.edges, reading.items))
        return max_rule_scores(forest, np.maximum(edges, 0.0), np.maximum(items, 0.0))

    def _fallback(self, reading: Reading, words: list[str]) -> Tree:
        """The best tree by the coarse grammar; or of each piece that it has, below a usual root."""
        from eigentext.grammars.chart.decoding import best

        forest, scores, pieces = reading.forest, reading.items, []
        if (forest.end[forest.roots] - forest.start[forest.roots] == len(words)).all():
            return _restored(reading, best(forest, scores), words)
        for root in forest.roots.tolist():
            found = best(forest._replace(roots=np.array([root], np.int32)), scores)
            part = words[forest.start[root] : forest.end[root]]
            pieces.append(_restored(reading, found, part))
        return Tree(self._usual_root(), pieces)

    def _usual_root(self) -> str:
        symbols, pi = self._cascade.plain_symbols, self._cascade.coarse.grammar.root
        inner = [not symbol.preterminal for symbol in symbols]
        return symbols[int(np.where(inner, pi, -1.0).argmax())].chain[0]

    def _signed(self, marginals: np.ndarray, sign: float) -> np.ndarray:
        """Marginals as they are decoded, of a sentence whose probability has this sign."""
        return marginals

    def _words(self, tokens: Sequence[str] | str) -> list[str]:
        words = self._some_words(tokens)
        if not words:
            raise CorpusError(f"{_NO_WORDS}; leave it out")
        return words

    def _some_words(self, tokens: Sequence[str] | str, number: int | None = None) -> list[str]:
        check_is_fitted(self)
        where = "" if number is None else f"sentence {number}: "
        if not isinstance(tokens, Iterable):
            raise CorpusError(f"{where}{tokens!r} is not a sentence: give a list of words")
        words = tokens.split() if isinstance(tokens, str) else list(tokens)
        for word in words:
            if not isinstance(word, str) or not word:
                raise CorpusError(f"{where}{word!r} is not a word: give a list of strings")
        return words

    def _check_together(self) -> None:
        """Raise for numbers with which sums and products would end at infinity."""
        for name, kind in self._table.items():
            value = getattr(self, name)
            if isinstance(kind, (Count, Number)) and value is not None and _MOST < value < np.inf:
                label = self._table.label(name)
                raise ParameterError(f"{label} must be {_MOST:,} at most, not {value!r}")

    def _learner(self, trees: Iterable[Any]) -> Learner:
        return Learner(
            trees, rare=self.rare, beta=self.beta, gamma=self.gamma,
            binarize=self.binarize, horizontal=self.horizontal, vertical=self.vertical,
        )  # fmt: skip

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


def _restored(reading: Reading, found: Any, words: Sequence[str]) -> Tree:
    labels = reading.forest.label[found.item]
    return restore(reading.symbols, labels, found.left, found.right, words)


# Trees of other processes come packed; for those of this one it makes next to no difference.


def _parse(words: list[str], model: Parser) -> Any:
    parsed = model._parse(words)
    return parsed if parsed.tree is None else parsed._replace(tree=pack(parsed.tree))


def _k_best(words: list[str], model: Parser, k: int) -> list[Any]:
    if not words:
        return []
    return [one._replace(tree=pack(one.tree)) for one in model.k_best(words, k)]


def workers(n_jobs: int | None) -> Engine:
    """The engine in use; or, as in joblib, so many threads, -1 for one on each core."""
    if n_jobs is None:
        return engine.workers()
    if not N_JOBS.allows(n_jobs):
        raise ParameterError(f"n_jobs must be {N_JOBS.wording}, or None, not {n_jobs!r}")
    return engine.ThreadEngine() if n_jobs == -1 else engine.ThreadEngine(int(n_jobs))


def check_count(name: str, value: Any, least: int) -> None:
    """Raise unless the value is a whole number of at least so much."""
    if not is_whole(value) or value < least:
        raise ParameterError(f"{name} must be a whole number, {least} or more, not {value!r}")
