r"""A tagger whose tags have hidden states: the refinement HMM [Stratos et al. 2013].

Each tag :math:`a_i` has a hidden state :math:`h_i`, its *refinement*. With
:math:`(a_0, h_0) = (a_{n+1}, h_{n+1})` the border of a sentence,

.. math:: p(a_1 h_1 x_1 \dots a_n h_n x_n) = \prod_{i=1}^{n} o(x_i \mid a_i, h_i)
          \prod_{i=1}^{n+1} t(a_i, h_i \mid a_{i-1}, h_{i-1}).

The tags are known in training, the states are not. This is the latent-variable PCFG of
:class:`~eigentext.LatentPCFG` on trees that branch to the right only, so no chart is needed.
:mod:`eigentext.sequences.refined` has the form of the model,
:mod:`eigentext.sequences.learning.refinement` the spectral method, and
:mod:`eigentext.sequences.learning.refinement_em` EM.

Words and transitions are smoothed as in :class:`~eigentext.HMMTagger`. With one state for each tag,
the model is that tagger with ``order=1``.

[Stratos et al. 2013] K. Stratos, A. Rush, S. Cohen and M. Collins, Spectral learning of refinement
HMMs, CoNLL 2013.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from eigentext.errors import CorpusError, LittleDataWarning, ParameterError
from eigentext.estimators import (
    Estimator,
    Finding,
    check_is_fitted,
    learned_with,
    learning,
    users_level,
)
from eigentext.matrices.budget import check_room
from eigentext.matrices.runs import CSR
from eigentext.sequences import _refinement_file, parameters
from eigentext.sequences.emissions import Classes, Emissions
from eigentext.sequences.learning import refinement, refinement_em
from eigentext.sequences.learning.refinement_choices import (
    feature_codes,
    spectra,
    wanted_states,
)
from eigentext.sequences.refined import Averages, RefinedEmissions, Transitions
from eigentext.sequences.refined_inference import Inference
from eigentext.sequences.tagged import Label, TaggedText, checked_words, columns, read_tagged
from eigentext.sequences.transitions import deleted_interpolation
from eigentext.storage import Saved

Tagging = list[tuple[str, str]]
_BLOCK = 64  # the sentences of one task
_PER_STATE = 10  # a tag has at most one state for this many tokens
_TOLERANCE = 0.02  # smaller singular values, as shares of the largest, are left out
_FEW_TOKENS = 1000  # with fewer tokens, most words of other text are unknown
_MUCH = 0.05  # a warning is due if tags with this share of tokens have too few states


class RefinementHMM(Saved, Estimator, NltkTagging):
    """A hidden Markov model of tagged sentences whose tags have hidden states.

    Parameters
    ----------
    n_states : int or mapping of tags to int
        The largest number m of states of a tag. In a mapping, "*" stands for all other tags, which
        have one state without it. A tag has at most one state for 10 of its tokens.
    method : "spectral+em", "em" or "spectral"
        "spectral" learns operators from moments, without steps. "em" begins with states by chance,
        and "spectral+em" with clusters of the spectral projections.
    decoding : "marginals", "pairs" or "viterbi"
        "marginals" chooses the most probable tag of each token, and "pairs" the tags whose pairs of
        neighbors have the largest sum of probabilities. "viterbi" chooses the most probable tags
        and states together; it needs EM. All keep to the scheme.
    classes, joint, rare, scheme
        As in :class:`~eigentext.HMMTagger`.
    smoothing : float
        Tokens with the words and transitions of its tag that are added to each state.
    n_iter : int
        The largest number of EM steps.
    tol : float
        EM stops when a step raises the log-likelihood per token by less than this.
    random_state : int, Generator or None
        For the start of EM.

    Attributes
    ----------
    tags_ : list of str
    states_ : dict of str to int
        The number of states of each tag. If states are joint with classes, the largest number.
    policy_ : TokenPolicy
        How raw text becomes tokens like those of the training sentences.
    weights_ : array
        The weights of unigrams and bigrams of tags in their mixture.
    history_ : list of float
        The log-likelihood of the training sentences per token, before each EM step. It includes
        the prior of `smoothing`. It is empty for the spectral method.
    diagnostics_ : dict
        The numbers of sentences, tokens, words, tags and states, and the singular values of the
        most frequent tags.
    provenance_ : dict
        What it was learned from.

    Examples
    --------
    >>> import eigentext as et
    >>> tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]] * 20
    >>> tagger = et.RefinementHMM(n_states=2).fit(tagged)
    >>> tagger.tag(["dogs", "sleep"])
    [('dogs', 'N'), ('sleep', 'V')]
    >>> tagger.marginals(["dogs", "sleep"]).round(2)
    array([[1., 0.],
           [0., 1.]])
    """

    _format = "eigentext.refinement-hmm.v1"
    _table = parameters.RefinementHMM

    def __init__(
        self,
        n_states: int | Mapping[str, int] = 8,
        *,
        method: Literal["spectral+em", "em", "spectral"] = "spectral+em",
        decoding: Literal["marginals", "pairs", "viterbi"] = "marginals",
        classes: Classes = "shape",
        joint: bool | None = None,
        rare: int = 30,
        scheme: Literal["bio"] | None = None,
        smoothing: float = 10.0,
        n_iter: int = 30,
        tol: float = 1e-5,
        random_state: int | np.random.Generator | None = 0,
    ):
        self.n_states = n_states
        self.method: Literal["spectral+em", "em", "spectral"] = method
        self.decoding: Literal["marginals", "pairs", "viterbi"] = decoding
        self.classes: Classes = classes
        self.joint = joint
        self.rare = rare
        self.scheme: Literal["bio"] | None = scheme
        self.smoothing = smoothing
        self.n_iter = n_iter
        self.tol = tol
        self.random_state = random_state

    def _check_together(self) -> None:
        if self.method == "spectral" and self.decoding == "viterbi":
            raise ParameterError(
                "decoding='viterbi' needs the probabilities of states, which method='spectral' "
                "does not have; use decoding='marginals' or method='spectral+em'"
            )

    @learning
    def fit(self, tagged: Iterable[Sequence[tuple[str, str]]], y: None = None) -> Self:
        """Learn from sentences, which are lists of (word, tag) pairs."""
        text = read_tagged(tagged, self.scheme, self.classes, self.joint)
        counts, (grams, times) = text.counts(), text.grams(1)
        tokens = np.bincount(text.labels, minlength=len(text.names))
        wanted = wanted_states(self.n_states, [tag for tag, _ in text.names])
        n_states = np.clip(wanted, 1, np.maximum(tokens // _PER_STATE, 1))
        check_room(
            40.0 * int(n_states.max()) ** 2 * (len(counts.data) + len(grams)),
            f"{int(n_states.max()):,} states of {len(text.names):,} tags",
            "give fewer states (n_states)",
        )
        self.diagnostics_ = {"n_sentences": len(text.lengths), "n_tokens": len(text.words)}
        self.provenance_ = text.provenance
        self.history_: list[float] = []
        averages = self._learned(text, n_states)
        self._warn_of_few(text, wanted, averages.sizes[:-1])
        self._set(text.vocabulary, text.names, counts, grams, times, averages)
        self.policy_ = self._learned_policy()
        return self

    def tag(self, sentence: Sequence[str] | str) -> Tagging:
        """Return the best tagging of a sentence, given as a list of words or as raw text.

        `decoding` says what is best. Raw text is split like the training sentences (`policy_`). An
        empty sentence has an empty tagging.
        """
        check_is_fitted(self)
        check = RawCheck(self.policy_)
        words = self._words(sentence, check)
        check.warn(stacklevel=2)
        return self._tag(words)

    def tag_many(self, sentences: Iterable[Any]) -> list[Tagging]:
        """Return the best tagging of each sentence, by threads or Dask workers."""
        check_is_fitted(self)
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise CorpusError("give a list of sentences, not a single one: that is for `tag`")
        check = RawCheck(self.policy_)
        sentences = without_columns(sentences)
        all_words = [self._words(sentence, check, n) for n, sentence in enumerate(sentences, 1)]
        check.warn(stacklevel=2)
        blocks = [all_words[i : i + _BLOCK] for i in range(0, len(all_words), _BLOCK)]
        workers = engine.workers() if len(blocks) > 1 else engine.current()
        found: list[Tagging] = []
        with engine.phase("tag", len(all_words), "sentences") as advance:
            for block in workers.map(_tag_block, blocks, self):
                advance(len(block))
                found += block
        return found

    def marginals(self, sentence: Sequence[str] | str) -> np.ndarray:
        """Return the probability of each tag (column) for each token (row), given all words.

        The columns are those of `tags_`.
        """
        check_is_fitted(self)
        words = self._words(sentence, RawCheck(self.policy_))
        rows = np.zeros((len(words), len(self.tags_)))
        if words:
            found = self._inference.infer(words)
            token = np.repeat(np.arange(len(words)), np.diff(found.local.border))
            np.add.at(rows, (token, self._tag_of[found.local.active]), found.marginals)
            rows /= rows.sum(axis=1, keepdims=True)  # for rounding
        return rows

    def log_probability(self, sentence: Sequence[tuple[str, str]] | Sequence[str] | str) -> float:
        """Return log p(words, tags) of a tagged sentence, or log p(words) of one without tags.

        It is -inf if the sentence is impossible, or if a tag is unknown. Operators of the spectral
        method may give a probability below zero. Then it is NaN.
        """
        check_is_fitted(self)
        if isinstance(sentence, str):
            return self._inference.log_probability(self.policy_.split(sentence))
        tokens = list(sentence)
        if not tokens or isinstance(tokens[0], str):
            return self._inference.log_probability(checked_words(tokens, None))
        words, tags = columns(tokens)
        return self._inference.log_probability(words, self._numbers_of(tags))

    def transform(self, sentences: Iterable[Any]) -> list[np.ndarray]:
        """Return what is known of the hidden state of each token: an array for each sentence.

        A sentence is a list of (word, tag) pairs, or of words, which are tagged first. Row i has
        p(h | words, tags) for the states h of the tag of token i, and zeros for states that the tag
        does not have. With method="spectral" it has the vector of the operators instead, which the
        past and the word of the token give.
        """
        check_is_fitted(self)
        if isinstance(sentences, str):
            raise CorpusError("give a list of sentences, each a list of words or of pairs")
        found = []
        for n, sentence in enumerate(sentences, 1):
            tokens = list(sentence)
            is_tagged = bool(tokens) and not isinstance(tokens[0], str)
            tagging = tokens if is_tagged else self._tag(checked_words(tokens, n))
            found.append(self._states_of(*columns(tagging, n), n))
        return found

    def refinements(self, tag: str, k: int = 10) -> list[list[tuple[str, float]]]:
        """Return the k most probable words of each state of a tag, with o(word | tag, state)."""
        check_is_fitted(self)
        self._refuse_operators("refinements")
        if tag not in self._tag_numbers:
            raise CorpusError(f"no tag {tag!r:.80}; the tags are {', '.join(self.tags_)}")
        words, counts, *_ = self._counts
        x = np.repeat(np.arange(len(words)), np.diff(counts.indptr))
        here = np.flatnonzero(self._tag_of[counts.indices] == self._tag_numbers[tag])
        label = counts.indices[here]
        known = self._averages.shares[here, :, 0] * self._averages.mean[label]
        expected = known * counts.data[here, None]
        rows = []
        for h in range(self.states_[tag]):
            share = np.bincount(x[here], expected[:, h])
            share /= max(share.sum(), 1e-300)
            best = np.argsort(-share, kind="stable")[:k]
            rows.append([(words[i], float(share[i])) for i in best.tolist() if share[i] > 0])
        return rows

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

    # Learning.

    def _learned(self, text: TaggedText, n_states: np.ndarray) -> Averages:
        seed = int(self.random_state)  # type: ignore[arg-type] - see `Seed.take`
        stream = refinement.Stream.of(
            text.labels,
            text.words,
            feature_codes(text, self.classes)[text.words],
            text.lengths,
            len(text.names),
        )
        state = None
        if self.method != "em":
            found = refinement.project(stream, n_states, tolerance=_TOLERANCE)
            self.diagnostics_ |= spectra(text, found)
            if self.method == "spectral":
                return refinement.averages(stream, found, self.smoothing)
            state, n_states = refinement.clusters(stream, found, seed), found.sizes
            del found
        training = refinement_em.Training(stream, n_states, self.smoothing)
        start = training.random_start(seed) if state is None else training.start_at(state)
        theta, monitor = refinement_em.run(training, start, n_iter=self.n_iter, tol=self.tol)
        self.history_ = monitor.history
        self.diagnostics_ |= {
            "passes": len(monitor.history),
            "has_converged": monitor.has_converged,
        }
        return training.averages(theta)

    def _warn_of_few(self, text: TaggedText, wanted: np.ndarray, sizes: np.ndarray) -> None:
        few = sizes < wanted
        share = float(few[text.labels].mean())
        self.diagnostics_ |= {"n_reduced": int(few.sum()), "share_reduced": share}
        if share >= _MUCH or (few.any() and isinstance(self.n_states, Mapping)):
            some = sorted({text.names[a][0] for a in np.flatnonzero(few).tolist()})
            warnings.warn(
                f"{len(some)} tags have fewer states than n_states, for example {some[0]}: their "
                "tokens do not show more; give more tagged sentences, or ask for fewer states",
                LittleDataWarning,
                stacklevel=users_level(),
            )

    def _set(
        self,
        words: list[str],
        labels: list[Label],
        counts: CSR,
        grams: np.ndarray,
        times: np.ndarray,
        averages: Averages,
    ) -> None:
        """Compute the model from the counts and the averages."""
        self._labels, self._averages = labels, averages
        self._counts = words, counts, grams, times
        self.tags_ = sorted({tag for tag, _ in labels})
        self._tag_numbers = {tag: t for t, tag in enumerate(self.tags_)}
        self._tag_of = np.array([self._tag_numbers[tag] for tag, _ in labels])
        most = np.zeros(len(self.tags_), np.int64)
        np.maximum.at(most, self._tag_of, averages.sizes[:-1])
        self.states_ = dict(zip(self.tags_, most.tolist()))
        plain = Emissions(words, counts, self.classes, self.rare)
        self.weights_ = deleted_interpolation(grams, times)
        may_follow = self._may_follow(labels)
        self._inference = Inference(
            averages,
            Transitions.of(grams, times, self.weights_, ~may_follow),
            RefinedEmissions(plain, averages.shares, self.smoothing),
            self._tag_of,
            may_follow,
        )
        self.diagnostics_ = self.diagnostics_ | {
            "n_words": len(words),
            "n_rare_words": int(plain.is_rare.sum()),
            "n_tags": len(self.tags_),
            "n_labels": len(labels),
            "n_states": int(averages.sizes[:-1].sum()),
            "weights": self.weights_.tolist(),
        }

    def _may_follow(self, labels: list[Label]) -> np.ndarray:
        """Whether a label follows another. The last row is the start, the last column the end."""
        m = len(labels)
        table = np.ones((m + 1, m + 1), bool)
        table[m, :m], table[:m, :m], table[:m, m] = allowed([a for a, _ in labels], self.scheme)
        return table

    def _learned_policy(self) -> TokenPolicy:
        if self.classes == "factor":
            return TokenPolicy.blanks()
        words, counts, *_ = self._counts
        return TokenPolicy.of(dict(zip(words, np.asarray(counts.sum(axis=1)).tolist())))

    # Inference.

    def _words(self, sentence: Any, check: RawCheck, number: int | None = None) -> list[str]:
        if isinstance(sentence, str):
            return self.policy_.split(sentence)
        return check.see(checked_words(sentence, number))

    def _tag(self, words: list[str]) -> Tagging:
        if not words:
            return []
        labels = self._inference.best(words, self.parameters_.decoding)
        return [(word, self.tags_[t]) for word, t in zip(words, self._tag_of[labels].tolist())]

    def _numbers_of(self, tags: Sequence[str]) -> list[int]:
        return [self._tag_numbers.get(tag, -1) for tag in tags]

    def _states_of(self, words: list[str], tags: list[str], number: int) -> np.ndarray:
        if not words:
            return np.zeros((0, self._averages.one.shape[1]))
        for i, tag in enumerate(tags, 1):
            if tag not in self._tag_numbers:
                raise CorpusError(
                    f"sentence {number}, token {i}: no tag {tag!r:.80}; the tags of the model are "
                    f"{', '.join(self.tags_)}"
                )
        found = self._inference.states(words, self._numbers_of(tags))
        if found is None:
            raise CorpusError(f"sentence {number}: the model never allows these tags together")
        return found

    def _refuse_operators(self, what: str) -> None:
        if not self._averages.is_diagonal:
            raise ParameterError(
                f"{what} needs the probabilities of states, which method='spectral' does not have; "
                "use method='spectral+em'"
            )

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        rare, words = found["n_rare_words"], max(found["n_words"], 1)
        yield Finding(
            "note",
            f"{rare / words:.0%} of {words:,} words are rare and share their tags with words of "
            "the same class.",
        )
        if found.get("n_reduced"):
            yield Finding(
                "note",
                f"{found['n_reduced']} tags, with {found['share_reduced']:.1%} of the tokens, have "
                "fewer states than n_states.",
                "Give more tagged sentences, or ask for fewer states.",
            )
        if found.get("has_converged") is False and found["passes"]:
            yield Finding(
                "note",
                f"EM stopped after {found['passes']} steps, before it converged.",
                "Raise n_iter, if a tagger with more steps does better on other sentences.",
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

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        if callable(self.parameters_.classes):
            raise ParameterError(
                "a model with a function for classes cannot be saved; write the class behind a bar "
                "in each token, as in 'dog|NN', and use classes='factor'"
            )
        return _refinement_file.arrays_of(*self._counts, self._averages), {
            "parameters": dict(self.parameters_),
            "labels": self._labels,
            "diagnostics": self.diagnostics_,
            "history": self.history_,
            "provenance": self.provenance_,
            KEY: self.policy_.to_saved(),
        }

    @classmethod
    def _schema(cls, about):
        check_policy(about)
        return _refinement_file.schema(about, {"provenance": TAGGED})

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        labels = [(tag, kind) for tag, kind in about["labels"]]
        found = _refinement_file.read(arrays, labels, self.method == "spectral")
        words, counts, grams, times, averages = found
        self.diagnostics_, self.provenance_ = about["diagnostics"], origin_in(about)
        self.history_ = list(about["history"])
        self._set(words, labels, counts, grams, times, averages)
        self.policy_ = TokenPolicy.of_file(about, self._learned_policy)
        return self


def _tag_block(sentences: list[list[str]], tagger: RefinementHMM) -> list[Tagging]:
    return [tagger._tag(words) for words in sentences]
