r"""A tagger that is a hidden Markov model with known states, learned by counting.

With :math:`t_{-1} = t_0` the start of a sentence and :math:`t_{n+1}` its end,

.. math:: p(w_1 \dots w_n, t_1 \dots t_n)
          = \prod_{i=1}^{n} p(w_i \mid t_i) \prod_{i=1}^{n+1} p(t_i \mid t_{i-2}, t_{i-1}).

This is the design of TnT (Brants 2000, "TnT: a statistical part-of-speech tagger", ANLP).
Transitions are estimated by deleted interpolation (:mod:`eigentext.sequences.transitions`). The
tags of rare and unknown words come from words of the same class and ending
(:mod:`eigentext.sequences.emissions`). The k best taggings are found exactly, without a beam
(:mod:`eigentext.trellis`), so the tagger can produce candidates for a reranker (Collins and Duffy
2002). :class:`~eigentext.RefinementHMM` gives each tag hidden states.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import getitem
from typing import Any, Literal, Self

import numpy as np

from eigentext import engine
from eigentext.corpus.items import without_columns
from eigentext.corpus.nltk_adapters import NltkTagging
from eigentext.corpus.origins import TAGGED, origin_in
from eigentext.corpus.policy import KEY, TokenPolicy, check_policy
from eigentext.corpus.raw_text import RawCheck
from eigentext.corpus.scarcity import once_findings
from eigentext.corpus.schemes import allowed
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.matrices.budget import check_room
from eigentext.matrices.runs import CSR
from eigentext.sequences import _saved, parameters
from eigentext.sequences.emissions import Classes, Emissions
from eigentext.sequences.tagged import checked_words, columns, read_tagged
from eigentext.sequences.transitions import deleted_interpolation, transition_scores
from eigentext.storage import Saved
from eigentext.storage.facts import facts
from eigentext.storage.schema import Array, Schema, Strings, csr, damage
from eigentext.trellis import ScoredTagging, check_k, first_order_paths, second_order_paths

Tagging = list[tuple[str, str]]
_BLOCK = 64  # the sentences of one task
_BREADTHS = (0, 1, 2)  # see `Emissions.scores`
_FEW_TOKENS = 1000  # with fewer tokens, most words of other text are unknown


class HMMTagger(Saved, Estimator, NltkTagging):
    """A hidden Markov model of tagged sentences, learned by counting.

    Parameters
    ----------
    order : 1 or 2
        The number of states that the next state depends on.
    classes : "shape", "factor", None, or callable
        The class of a word, by which rare words share their tags. "shape" is for words: capitals,
        digits, dashes and endings. "factor" is for tokens such as "dog|NN", whose class follows the
        last bar. A callable returns the class of a word as a string; a model with a callable cannot
        be saved.
    joint : bool, optional
        Whether a state is a tag together with the class of its word, or the tag alone. If the class
        of every word is known, as with parts of speech, joint states make a better model (Molina
        and Pla 2002, "Shallow parsing using specialized HMMs"). The default is True for "factor"
        and False otherwise.
    rare : int
        Words that occur at most this often are rare. Other words get only tags that they had.
    scheme : None or "bio"
        With "bio", I-X is possible only after B-X or I-X.

    Attributes
    ----------
    tags_ : list of str
    policy_ : TokenPolicy
        How raw text becomes tokens like those of the training sentences. Factors stay as they are.
    weights_ : array
        The weights of unigrams, bigrams and, for order 2, trigrams of states in their mixture.
    diagnostics_ : dict
        The numbers of sentences, tokens, words, rare words, tags and states.
    provenance_ : dict
        What it was learned from: the numbers of sentences, tokens and words, and a fingerprint of
        the tagged sentences (`sources`).

    Examples
    --------
    >>> from eigentext import HMMTagger
    >>> tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]]
    >>> tagger = HMMTagger().fit(tagged)
    >>> tagger.tag(["birds", "sing"])
    [('birds', 'N'), ('sing', 'V')]
    >>> [[tag for _, tag in best.tagging] for best in tagger.k_best("birds sing", 2)]
    [['N', 'V'], ['N', 'N']]
    """

    _format = "eigentext.hmm-tagger.v1"
    _table = parameters.HMMTagger

    def __init__(
        self,
        order: int = 2,
        *,
        classes: Classes = "shape",
        joint: bool | None = None,
        rare: int = 30,
        scheme: Literal["bio"] | None = None,
    ):
        self.order = order
        self.classes: Classes = classes
        self.joint = joint
        self.rare = rare
        self.scheme = scheme

    @learning
    def fit(self, tagged: Iterable[Sequence[tuple[str, str]]], y: None = None) -> Self:
        """Learn from sentences, which are lists of (word, tag) pairs."""
        text = read_tagged(tagged, self.scheme, self.classes, self.joint)
        self.diagnostics_ = {"n_sentences": len(text.lengths), "n_tokens": len(text.words)}
        self.provenance_ = text.provenance
        self._set(text.vocabulary, text.names, text.counts(), *text.grams(self.order))
        self.policy_ = self._learned_policy()
        return self

    def tag(self, sentence: Sequence[str] | str) -> Tagging:
        """Return the most probable tagging of a sentence, given as a list of words or as raw text.

        Raw text is a string. It is split like the training sentences (`policy_`). An empty sentence
        has an empty tagging.
        """
        return self.k_best(sentence, 1)[0].tagging

    def tag_many(self, sentences: Iterable[Any]) -> list[Tagging]:
        """Return the most probable tagging of each sentence, by threads or Dask workers."""
        return [best[0].tagging for best in self.k_best_many(sentences, 1)]

    def k_best(self, sentence: Sequence[str] | str, k: int) -> list[ScoredTagging]:
        """Return the k most probable taggings of a sentence, exactly, best first.

        There are fewer if fewer are possible. An empty sentence has one empty tagging with the
        log-probability 0. With ``scheme="bio"``, the tags that the words had in training may not
        fit together. Then frequent words are smoothed too, and if that is not enough, every word
        may have every tag.
        """
        check_k(k)
        check_is_fitted(self)
        check = RawCheck(self.policy_)
        words = self._words(sentence, check)
        check.warn(stacklevel=2)
        return self._k_best(words, k)

    def k_best_many(self, sentences: Iterable[Any], k: int) -> list[list[ScoredTagging]]:
        """Return the k most probable taggings of each sentence, by threads or Dask workers."""
        check_k(k)
        check_is_fitted(self)
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise CorpusError("give a list of sentences, not a single one: that is for `k_best`")
        check = RawCheck(self.policy_)
        sentences = without_columns(sentences)
        all_words = [self._words(sentence, check, n) for n, sentence in enumerate(sentences, 1)]
        check.warn(stacklevel=2)
        blocks = [all_words[i : i + _BLOCK] for i in range(0, len(all_words), _BLOCK)]
        # Sending the tagger to Dask workers is not worthwhile for one block.
        workers = engine.workers() if len(blocks) > 1 else engine.current()
        found: list[list[ScoredTagging]] = []
        with engine.phase("tag", len(all_words), "sentences") as advance:
            for block in workers.map(_k_best_block, blocks, self, k):
                advance(len(block))
                found += block
        return found

    def log_probability(self, tagged: Sequence[tuple[str, str]]) -> float:
        """Return log p(words, tags) of a tagged sentence, or -inf if it is impossible."""
        check_is_fitted(self)
        words, tags = columns(tagged)
        if not words:
            return 0.0
        end = len(self._states)
        u, v, total = end, end, 0.0
        for (active, scores), tag in zip(self._local(words), tags):
            here = np.flatnonzero(self._tag[active] == self._tag_numbers.get(tag, -1))
            if len(here) == 0:
                return -np.inf
            w = int(active[here[0]])
            total += float(self._rows[self._pair[u, v], w] + scores[here[0]])
            u, v = v, w
        return total + float(self._rows[self._pair[u, v], end])

    def score(self, tagged: Iterable[Sequence[tuple[str, str]]], y: None = None) -> float:
        """Return the accuracy: the share of tokens that get the tags of the tagged sentences."""
        check_is_fitted(self)
        both = [columns(sentence, n) for n, sentence in enumerate(tagged, 1)]
        found = self.tag_many(words for words, _ in both)
        right = [
            tag == gold
            for (_, tags), sentence in zip(both, found)
            for gold, (_, tag) in zip(tags, sentence)
        ]
        if not right:
            raise CorpusError("no tagged sentences to score; give lists of (word, tag) pairs")
        return float(np.mean(right))

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        rare, words = found["n_rare_words"], max(found["n_words"], 1)
        yield Finding(
            "note",
            f"{rare / words:.0%} of {words:,} words are rare and share their tags with words of "
            "the same class.",
        )

    def _size_findings(self) -> Iterator[Finding]:
        remedy = "Give more tagged sentences."
        if (n_tokens := self.diagnostics_.get("n_tokens", 0)) < _FEW_TOKENS:
            yield Finding(
                "warning",
                f"The tagger has learned from {n_tokens:,} tokens only, so most words of other "
                "text are unknown to it.",
                remedy,
            )
        else:
            of_words = np.asarray(self._counts[1].sum(axis=1)).ravel()
            yield from once_findings(of_words, n_tokens, remedy)

    # Private steps.

    def _set(
        self,
        words: list[str],
        states: list[tuple[str, str]],
        counts: CSR,
        grams: np.ndarray,
        times: np.ndarray,
    ) -> Self:
        """Compute the model from the counts."""
        m = len(states) + 1
        check_room(
            24.0 * m * (m + (len(grams) if grams.shape[1] == 3 else 0)),
            f"a table of what follows {m - 1:,} states",
            "give fewer tags, joint=False, or order=1",
        )
        self._states, self._counts = states, (words, counts, grams, times)
        self.tags_ = sorted({tag for tag, _ in states})
        self._tag_numbers = {tag: t for t, tag in enumerate(self.tags_)}
        self._tag = np.array([self._tag_numbers[tag] for tag, _ in states])
        self._emissions = Emissions(words, counts, self.classes, self.rare)
        self.weights_ = deleted_interpolation(grams, times)
        self._pair, self._rows = transition_scores(
            grams, times, self.weights_, self._forbidden(states)
        )
        self.diagnostics_ = self.diagnostics_ | {
            "n_words": len(words),
            "n_rare_words": int(self._emissions.is_rare.sum()),
            "n_tags": len(self.tags_),
            "n_states": len(states),
            "weights": self.weights_.tolist(),
        }
        return self

    def _learned_policy(self) -> TokenPolicy:
        if self.classes == "factor":
            return TokenPolicy.blanks()
        words, counts, *_ = self._counts
        return TokenPolicy.of(dict(zip(words, np.asarray(counts.sum(axis=1)).tolist())))

    def _words(self, sentence: Any, check: RawCheck, number: int | None = None) -> list[str]:
        if isinstance(sentence, str):
            return self.policy_.split(sentence)
        return check.see(checked_words(sentence, number))

    def _forbidden(self, states: list[tuple[str, str]]) -> np.ndarray:
        """A table that says whether state w never follows state v.

        The last row is the start of a sentence, and the last column its end.
        """
        m = len(states)
        forbidden = np.zeros((m + 1, m + 1), bool)
        start, transition, end = allowed([tag for tag, _ in states], self.scheme)
        forbidden[m, :m], forbidden[:m, :m], forbidden[:m, m] = ~start, ~transition, ~end
        return forbidden

    def _local(
        self, words: Sequence[str], breadth: int = 0
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each word, the states that it may have, and their scores."""
        return (self._emissions.scores(word, i == 0, breadth) for i, word in enumerate(words))

    def _k_best(self, words: list[str], k: int) -> list[ScoredTagging]:
        if not words:
            return [ScoredTagging([], 0.0)]
        for breadth in _BREADTHS:
            paths, scores = self._paths(words, breadth, k)
            if len(scores):
                break
        else:  # every word may have every tag now, so the tags never follow each other
            raise CorpusError(
                f"no tagging of {len(words)} words is possible: the tags of this model never fit "
                "together; fit it again, with other tags or scheme=None"
            )
        if breadth == _BREADTHS[-1]:  # states that differ only in their classes are one tagging
            kept = np.sort(np.unique(self._tag[paths], axis=0, return_index=True)[1])
            paths, scores = paths[kept], scores[kept]
        chosen = self._tag[paths].tolist()
        pairs = [  # each pair is made once, because most taggings share it
            {t: (word, self.tags_[t]) for t in set(column)}
            for word, column in zip(words, zip(*chosen))
        ]
        return [
            ScoredTagging(list(map(getitem, pairs, path)), score)
            for path, score in zip(chosen, scores.tolist())
        ]

    def _paths(self, words: list[str], breadth: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        end, is_second = len(self._states), self._counts[2].shape[1] == 3
        edge = [(np.array([end], np.int32), np.zeros(1))] * 2 if is_second else []
        parts = [*edge, *self._local(words, breadth), *edge]
        active, scores = (np.concatenate(column) for column in zip(*parts))
        border = np.cumsum([0, *(len(part) for part, _ in parts)])
        if is_second:
            return second_order_paths(self._pair, self._rows, active, border, scores, k)
        rows, last = self._rows[: end + 1], border[-2]
        scores[last:] += rows[active[last:], end]
        return first_order_paths(rows[end, :end], rows[:end, :end], active, border, scores, k)

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        if callable(self.parameters_.classes):
            raise ParameterError(
                "a model with a function for classes cannot be saved; write the class behind a bar "
                "in each token, as in 'dog|NN', and use classes='factor'"
            )
        words, counts, grams, times = self._counts
        arrays = {
            "words": words,
            "counts.indptr": counts.indptr,
            "counts.indices": counts.indices,
            "counts.data": counts.data,
            "grams": grams,
            "gram_counts": times,
        }
        return arrays, {
            "parameters": dict(self.parameters_),
            "states": self._states,
            "diagnostics": self.diagnostics_,
            "provenance": self.provenance_,
            KEY: self.policy_.to_saved(),
        }

    @classmethod
    def _schema(cls, about):
        check_policy(about)
        states = about.get("states")
        return Schema(
            {
                "words": Strings("words", unique=True, filled=True),
                **csr("counts", "words", "states", "int64", least=1, below=_saved.LARGEST),
                "grams": Array("int64", ("grams", "width"), least=0, below="states+1"),
                "gram_counts": Array("int64", ("grams",), least=1, below=_saved.LARGEST),
            },
            {
                "states": _saved.items("a list of tags with a class each", _is_state),
                "diagnostics": facts("what was learned"),
                **({"provenance": TAGGED} if "provenance" in about else {}),  # not in older files
            },
            {"states": len(states) if isinstance(states, list) else 0},
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        from scipy.sparse import csr_array

        self = learned_with(cls, about["parameters"])
        words, states = list(arrays["words"]), [(tag, kind) for tag, kind in about["states"]]
        grams, times = (np.asarray(arrays[name]) for name in ("grams", "gram_counts"))
        parts = [np.asarray(arrays[f"counts.{name}"]) for name in ("data", "indices", "indptr")]
        _check_counts(parts, states, grams, times)
        counts = csr_array(tuple(parts), (len(words), len(states)))
        self.diagnostics_, self.provenance_ = about["diagnostics"], origin_in(about)
        self._set(words, states, counts, grams, times)
        self.policy_ = TokenPolicy.of_file(about, self._learned_policy)
        return self


def _is_state(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and all(isinstance(name, str) for name in value)
        and value[0] != ""
    )


def _check_counts(
    parts: list[np.ndarray], states: list[tuple[str, str]], grams: np.ndarray, times: np.ndarray
) -> None:
    """Check what a schema cannot say: all words and states occur, and sentences end."""
    data, indices, indptr = parts
    m = len(states)
    if len(set(states)) < m or (np.bincount(indices, minlength=m) == 0).any():
        raise damage("states", "has a state twice, or a state without words")
    if not m or (np.diff(indptr) < 1).any():
        raise damage("counts.indptr", "has a word without states")
    if grams.shape[1] not in (2, 3):
        raise damage("grams", f"has windows of {grams.shape[1]} states, not of 2 or 3")
    if not (np.bincount(grams[:, -1], minlength=m + 1) > 0).all():
        raise damage("grams", "has a state, or the end, that follows nothing")
    _saved.check_total("counts.data", data)
    _saved.check_total("gram_counts", times)


def _k_best_block(
    sentences: list[list[str]], tagger: HMMTagger, k: int
) -> list[list[ScoredTagging]]:
    return [tagger._k_best(words, k) for words in sentences]
