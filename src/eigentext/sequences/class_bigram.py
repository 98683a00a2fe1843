r"""The class bigram of Brown, Della Pietra, deSouza, Lai and Mercer (1992).

Each word w has one class C(w), and

.. math:: p(w_2 \mid w_1) = p(C(w_2) \mid C(w_1))\; p(w_2 \mid C(w_2)) .

The classes are given (clusters of words, however they were made), or are learned by exchange steps
that raise the likelihood of the text (:mod:`eigentext.sequences.learning.classes`).

**Smoothing.** p(c_2 | c_1) is a bigram model of classes with modified Kneser-Ney smoothing, so that
every class may follow every other one. p(w | c) is the share of w in the tokens of c, which is
positive for all words of the text. Both sum to 1 exactly. The rare word and the end of a unit are
classes of their own.

**As a hidden Markov model.** Each class is a state, :math:`p(c_2 \mid c_1)` are the transitions and
:math:`p(w \mid c)` the emissions. No word has two states, so the hidden states are not hidden:
see :meth:`ClassBigram.to_hmm`.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.scarcity import once_findings
from eigentext.corpus.symbols import are_events, is_stream, sequence_ids, symbol_ids
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.evaluate.classes import NOTHING_COVERED, class_of_words, labels_of
from eigentext.matrices.budget import check_room
from eigentext.matrices.runs import CSR
from eigentext.moments import NgramMoments
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.parameters import Count, argument
from eigentext.sequences import _class_file, parameters
from eigentext.sequences._class_parts import (
    emissions,
    findings_of,
    hmm_parameters,
    information,
    transitions_of,
)
from eigentext.sequences._given import Text, Word
from eigentext.sequences._language_model import LanguageModel, provenance_of
from eigentext.sequences.kneser_ney import KneserNey
from eigentext.sequences.learning.bigram import pairs_of
from eigentext.sequences.learning.classes import (
    FIXED,
    Init,
    class_pairs,
    exchanged,
    in_order,
    log_likelihood,
    starting_classes,
)
from eigentext.storage import Saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eigentext.sequences.hmm import HMM

Smoothing = Literal["kneser-ney", "none"]


class ClassBigram(LanguageModel, Saved, Estimator):
    r"""A language model of pairs of words through their classes; see the module.

    Parameters
    ----------
    clusters : WordClusters, dictionary or path, optional
        The classes: fitted clusters, a dictionary from words to classes, or a `paths` file of
        ``wcluster`` or of :meth:`WordClusters.to_tsv`. The words that they lack share one class.
        By default, classes are learned from the text.
    n_classes : int
        The number of classes to learn. Given clusters keep their own number.
    init : "cca", "frequency" or "brown"
        Where learning starts: from clusters of CCA vectors, from the most frequent words as mkcls
        does, or from the greedy merges of Brown et al.
    exchange : bool, optional
        Whether words move between classes while this raises the likelihood. By default, they do
        unless `clusters` are given.
    n_iter : int
        The largest number of sweeps over all words.
    tol : float
        Sweeps stop when one gains less log-likelihood per token than this.
    min_count : int
        Words that occur less often share one symbol, the rare word.
    smoothing : "kneser-ney" or "none"
        How p(c_2|c_1) is smoothed. With "none", pairs of classes that never occurred are
        impossible. The moments of a distribution are never smoothed.

    Attributes
    ----------
    classes_ : int32 array, shape (n_words,)
        The class of each word. Classes are numbered by their most frequent words.
    emission_ : float64 array, shape (n_words,)
        p(w | C(w)).
    transitions_ : KneserNey
        The bigram model of classes. Its words are their names.
    average_mutual_information_ : float
        Brown's objective: the mutual information of adjacent classes of the text, in nats.
        :func:`eigentext.evaluate.average_mutual_information` gives the same for any clusters.
    history_ : list of float
        The log-likelihood per event of the text, without smoothing, before the first sweep and
        after each one.
    n_iter_ : int
        The number of sweeps.
    vocabulary_ : Vocabulary
    diagnostics_ : dict
        The numbers of words, classes, sweeps and pairs, and the mutual information.
    provenance_ : dict
        What the model was learned from: the number of tokens, fingerprints of the text, and how it
        was read.

    Examples
    --------
    >>> from eigentext import ClassBigram
    >>> text = "the cat sat the dog ran a cat ran a dog sat".split() * 20
    >>> model = ClassBigram(n_classes=3).fit(text)
    >>> model.words(model.class_of("cat"))
    ['cat', 'dog']
    >>> round(model.probability("dog", given="the"), 1)
    0.5
    >>> round(float(model.distribution("the").sum()), 6)
    1.0
    """

    _format = "eigentext.class-bigram.v1"
    _table = parameters.ClassBigram

    def __init__(
        self,
        clusters: Any = None,
        n_classes: int = 1000,
        *,
        init: Init = "cca",
        exchange: bool | None = None,
        n_iter: int = 20,
        tol: float = 1e-4,
        min_count: int = 1,
        smoothing: Smoothing = "kneser-ney",
    ):
        self.clusters = clusters
        self.n_classes = n_classes
        self.init: Init = init
        self.exchange = exchange
        self.n_iter = n_iter
        self.tol = tol
        self.min_count = min_count
        self.smoothing: Smoothing = smoothing

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
            tokens, order=2, min_count=self.min_count, memory=memory, cache=cache
        )

    @learning
    def fit_moments(self, moments: NgramMoments) -> Self:
        """Learn from statistics of order 2 or higher."""
        check_ngrams(moments)
        return self._learn(moments)

    def _learn(self, moments: NgramMoments) -> Self:
        if moments.order < 2:
            raise MomentsError("moments of order 1 have no pairs; count with order=2 or more")
        if moments.whole:
            moments = moments.restrict(min_count=self.min_count)
        if not len(moments.vocabulary):
            raise CorpusError(
                f"no word occurs {self.min_count} times or more; lower min_count (--min-count)"
            )
        C = pairs_of(moments)
        counts = np.asarray(moments.unigrams[:-FIXED])
        labels, found = self._given_classes(moments) if self.clusters is not None else (None, {})
        if labels is None:
            labels = starting_classes(C, counts, self)
        labels, more = self._improved(C, labels, counts)
        self.classes_ = labels[:-FIXED]
        self.vocabulary_, self.provenance_ = moments.vocabulary, provenance_of(moments)
        K = int(self.classes_.max()) + 1
        self.emission_ = emissions(self.classes_, counts, K)
        self.transitions_ = transitions_of(moments, C, labels, smooth=self.smoothing != "none")
        self.n_iter_ = len(self.history_) - 1
        self.diagnostics_ = {
            "n_words": len(moments.vocabulary),
            "rare_tokens": int(moments.rare_count),
            "n_classes": K,
            "pairs": int(C.nnz),
            "class_pairs": int(class_pairs(C, labels, K + FIXED).nnz),
            "sizes": np.bincount(self.classes_).tolist(),
            "average_mutual_information": information(C, labels),
            "log_likelihood": self.history_[-1],
            "n_iter": self.n_iter_,
            **found,
            **more,
        }
        return self

    def _given_classes(self, moments: NgramMoments) -> tuple[np.ndarray, dict[str, Any]]:
        """The numbers of given classes. Words without one share a class, the last."""
        given = class_of_words(self.clusters)
        labels = labels_of(moments.vocabulary.words, given)
        covered = labels >= 0
        if not covered.any():
            raise ParameterError(NOTHING_COVERED)
        counts = moments.unigrams[:-FIXED]
        found = {
            "empty_classes": len(set(given.values())) - int(labels.max()) - 1,
            "covered": float(counts[covered].sum() / max(moments.n_tokens, 1)),
        }
        return np.where(covered, labels, labels.max() + 1), found

    def _improved(
        self, C: CSR, labels: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The classes of all symbols after the sweeps, in the order of their frequent words."""
        K = int(labels.max()) + 1
        exchange = self.clusters is None if self.exchange is None else self.exchange
        found: dict[str, Any] = {}
        self.history_ = []
        if exchange and self.n_iter and 1 < K < len(labels):
            learned = exchanged(C, labels, counts, self)
            labels, self.history_ = learned.labels[:-FIXED], list(learned.history)
            found["converged"] = learned.has_converged
        every = np.append(in_order(labels, counts), [K, K + 1]).astype(np.int32)
        if not self.history_:
            self.history_ = [log_likelihood(C, class_pairs(C, every, K + FIXED))]
        return every, found

    # Using.

    def log_probabilities(self, tokens: Text, *, rare: bool = False) -> np.ndarray:
        """Return the natural logarithm of the probability of each event, in order.

        The events are the tokens and the end of each unit. A model of a stream has no ends. A token
        outside the vocabulary has nan or, with `rare`, the log-probability of the rare word. The
        next token sees it as the rare word.
        """
        check_is_fitted(self)
        options = self.provenance_["options"]
        ids, edges = sequence_ids(tokens, self.vocabulary_, options), not is_stream(options)
        known = ids >= 0
        classes = ids.copy()
        classes[known] = self.classes_[ids[known]]
        tables = self.transitions_._tables
        scores = tables.scores(classes, starts=edges, edges=edges, rare=rare)
        with np.errstate(divide="ignore"):
            scores[known] += np.log(self.emission_[ids[known]])
        return scores[are_events(ids, options)]

    def probability(self, word: Word, given: Word | None = None) -> float:
        """Return p(word | given) for the word before it, or p(word) if none is given."""
        place = self._place(word)
        if place < 0:
            return self.vocabulary_[str(word)]  # raises an error that suggests similar words
        return float(self._classes_after(given)[self.classes_[place]] * self.emission_[place])

    def distribution(self, given: Word | None = None, *, start: bool = False) -> np.ndarray:
        """Return p(· | given) of all words, of the rare word, and of the end of a unit.

        With `start`, it is that of the first word of a unit. The sum is 1. In a model of a stream,
        the end has probability 0.
        """
        if not start:
            return self._words_of(self._classes_after(given))
        check_is_fitted(self)
        if given is not None or is_stream(self.provenance_["options"]):
            raise ParameterError("no word comes before a start, and a stream has no starts")
        return self._words_of(self.transitions_._tables.distribution([self._n_classes + 1]))

    def class_of(self, word: Word) -> int:
        """Return the class of a word."""
        place = self._place(word)
        return int(self.classes_[place]) if place >= 0 else self.vocabulary_[str(word)]

    def words(self, number: int, topn: int | None = None) -> list[str]:
        """Return the words of a class, the most probable first."""
        check_is_fitted(self)
        number = argument("number", Count(0, least=0, most=self._n_classes - 1), number)
        places = np.flatnonzero(self.classes_ == number)
        best = places[np.argsort(-self.emission_[places], kind="stable")]
        best = best[: argument("topn", Count(None), topn)]
        return [self.vocabulary_.words[place] for place in best.tolist()]

    @property
    def average_mutual_information_(self) -> float:
        """Brown's objective: the mutual information of adjacent classes of the text, in nats."""
        found = vars(self).get("diagnostics_", {})
        if "average_mutual_information" not in found:
            raise AttributeError("the model is not fitted, or was read from files without counts")
        return found["average_mutual_information"]

    def transition_matrix(self) -> np.ndarray:
        """Return p(c_2 | c_1), a row for each c_1: the classes, the rare word, the edge of a unit.

        As c_1, the edge is the start of a unit, and as c_2 its end.
        """
        check_is_fitted(self)
        tables, n = self.transitions_._tables, self._n_classes + FIXED
        check_room(8.0 * n * n, f"the transitions of {n:,} classes", "ask for fewer classes")
        return np.array([tables.distribution([c]) for c in range(n)])

    def to_hmm(self) -> "HMM":
        """Return the same model as a hidden Markov model with a state for each class.

        The state after the classes is the rare word, unless it is impossible. A model of units has
        one more state for the end of a unit, whose only symbol is ``"<end>"``. A sequence with
        ``"<end>"`` after it has the probability of a unit of this model.
        """
        from eigentext.sequences.hmm import HMM

        check_is_fitted(self)
        K, n = self._n_classes, len(self.vocabulary_)
        check_room(
            16.0 * (K + FIXED) * (n + FIXED),
            f"the emissions of {K:,} states and {n:,} words",
            "raise min_count (--min-count)",
        )
        stream = is_stream(self.provenance_["options"])
        found, symbols = hmm_parameters(self.transitions_, self.classes_, self.emission_, stream)
        names = list(map(str, self._names()))
        return HMM.from_parameters(
            found.initial,
            found.transition,
            found.emission.T,
            symbols=[names[x] for x in symbols.tolist()],
        )

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the log-likelihood per event of the text after each sweep; return the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        series = {"log-likelihood": self.history_}
        return plots.curves(series, ylabel="log-likelihood per event", ax=ax)

    # Files of others.

    def to_arpa(
        self, path: str | os.PathLike[str], classes: str | os.PathLike[str] | None = None
    ) -> None:
        """Write what class-based tools such as SRILM read: two files.

        The first is an ARPA file of bigrams of class names. The second (`classes`, by default the
        same name with ``.classes`` after it) has a line for each word: the class, p(w | c) and the
        word. With SRILM, ``ngram -lm FILE -classes FILE.classes -simple-classes`` reads both.
        """
        from eigentext.sequences.class_files import write_classes

        check_is_fitted(self)
        self.transitions_.to_arpa(path)
        names = self.transitions_.vocabulary_.words
        rows = zip(self.classes_.tolist(), self.emission_.tolist(), self.vocabulary_.words)
        write_classes(classes or f"{os.fspath(path)}.classes", names, rows)

    @classmethod
    def from_arpa(
        cls,
        path: str | os.PathLike[str],
        classes: str | os.PathLike[str] | None = None,
        *,
        tokenizer: str = "whitespace",
        lowercase: bool = False,
        encoding: str = "utf-8",
    ) -> Self:
        """Read a bigram model of classes from an ARPA file and a file of classes.

        Parameters
        ----------
        path
            The ARPA file, of order 2. Words in it that are no class stand for themselves.
        classes
            The file of classes: the class, perhaps a probability, and one word on each line. The
            default is the name of the ARPA file with ``.classes`` after it.
        tokenizer, lowercase
            How text is read for this model (see :class:`TextCorpus`), which the files do not say.
        encoding : str
            The encoding of the files.
        """
        from eigentext.sequences.class_files import read_classes

        transitions = KneserNey.from_arpa(
            path, tokenizer=tokenizer, lowercase=lowercase, encoding=encoding
        )
        if transitions.parameters_.order != 2:
            raise CorpusError(
                f"{path}: has n-grams of order {transitions.parameters_.order}, and a class bigram "
                "has order 2; write the model with order 2"
            )
        names = transitions.vocabulary_.words
        found = read_classes(classes or f"{os.fspath(path)}.classes", names, encoding=encoding)
        self = learned_with(cls, {"n_classes": len(names)})
        self.transitions_, self.provenance_ = transitions, transitions.provenance_
        self.vocabulary_ = Vocabulary(found.words, np.zeros(len(found.words), np.int64))
        self.classes_, self.emission_ = found.classes, found.probabilities
        self.history_, self.n_iter_ = [], 0
        self.diagnostics_ = {"n_words": len(found.words), "n_classes": len(names)}
        return self

    def _findings(self) -> Iterator[Finding]:
        yield from findings_of(self.diagnostics_, self.provenance_)

    def _size_findings(self) -> Iterator[Finding]:
        if self.parameters_.clusters is None and self._n_classes == len(self.vocabulary_) > 1:
            yield Finding(
                "warning",
                f"Each of the {self._n_classes:,} words is a class of its own, so the model is a "
                "bigram of words.",
                "Ask for fewer classes (n_classes, --classes), or give more text.",
            )
        yield from once_findings(self.vocabulary_.counts, self.provenance_["n_tokens"])

    # Private steps.

    @property
    def _n_classes(self) -> int:
        return len(self.transitions_.vocabulary_)

    def _next(self, context: list[Word]) -> np.ndarray:
        check_is_fitted(self)
        if context:
            return self.distribution(context[-1])
        return self.distribution(start=not is_stream(self.provenance_["options"]))

    def _classes_after(self, given: Word | None) -> np.ndarray:
        """p(c | given) of all classes, the rare word and the end."""
        check_is_fitted(self)
        if given is None:
            return self.transitions_._tables.distribution([])
        place = self._place(given)
        before = int(self.classes_[place]) if place >= 0 else self._n_classes
        return self.transitions_._tables.distribution([before])

    def _words_of(self, p: np.ndarray) -> np.ndarray:
        return np.append(p[self.classes_] * self.emission_, p[-FIXED:])

    def _place(self, word: Word) -> int:
        check_is_fitted(self)
        return int(symbol_ids([word], self.vocabulary_, self.provenance_["options"])[0])

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        content = self.vocabulary_, self.classes_, self.emission_, self.transitions_
        arrays, about = _class_file.packed(self.parameters_, _class_file.Content(*content))
        return arrays, about | {
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
            "history": self.history_,
            "n_iter": self.n_iter_,
        }

    @classmethod
    def _schema(cls, about):
        return _class_file.schema()

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, _class_file.parameters_of(arrays, about))
        content = _class_file.unpacked(arrays, about)
        self.vocabulary_, self.classes_, self.emission_, self.transitions_ = content
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        self.history_, self.n_iter_ = about["history"], about["n_iter"]
        return self
