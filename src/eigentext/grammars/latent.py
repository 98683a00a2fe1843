"""Latent-variable PCFGs: labels with hidden states, learned from trees that do not show them.

Each node of label a has one of m_a states h. A tree with its states has the probability

    pi(a_1, h_1)  prod t(a -> b c, h2, h3 | a, h1)  prod q(a -> x | a, h).

A tree without states has the sum of this over all states, computed upwards with one tensor for each
rule: b^1 = T(b^2, b^3). States tell what a label leaves out: a subject from an object, a verb that
takes a clause from one that does not. The parameter `method` says how they are learned. Each method
has a file in ``learning/``:

* "spectral": no states are found. Averages of projected features over the treebank give the same
  sums over states, up to sampling error [Cohen et al. 2012, Cohen et al. 2013]. It takes seconds.
* "pivot": probabilities from features that occur in one state only [Cohen and Collins 2014].
* "em": expectation-maximization from the PCFG with m states that are equal except for noise
  [Matsuzaki et al. 2005]. The last steps are smoothed.
* "pivot+em" and "spectral+em": a few steps of EM from the result of the pivots, or from clusters of
  the projected nodes [Narayan and Cohen 2015].
* "split-merge": m is 1, 2, 4, …. After each split and fit, the half of the splits that the
  likelihood misses least is undone. So labels end with as many states as they can use [Petrov et
  al. 2006].

Trees are decoded by minimum Bayes risk (``chart/decoding.py``) from marginals mu(a, i, j), in which
states are summed out. Several grammars, learned from different random starts, may vote. Each finds
other distinctions, and the average of their marginals is better than any of them [Petrov 2010].

References
----------
[Cohen et al. 2012] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Spectral learning of
latent-variable PCFGs, ACL 2012.

[Cohen et al. 2013] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Experiments with
spectral learning of latent-variable PCFGs, NAACL 2013.

[Cohen and Collins 2014] S. Cohen and M. Collins, A provably correct learning algorithm for
latent-variable PCFGs, ACL 2014.

[Matsuzaki et al. 2005] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent
annotations, ACL 2005.

[Narayan and Cohen 2015] S. Narayan and S. Cohen, Diversity in spectral learning for natural
language parsing, EMNLP 2015.

[Petrov et al. 2006] S. Petrov, L. Barrett, R. Thibaux and D. Klein, Learning accurate, compact, and
interpretable tree annotation, ACL 2006.

[Petrov 2010] S. Petrov, Products of random latent variable grammars, NAACL 2010.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from eigentext import engine
from eigentext.estimators import Finding, check_is_fitted, learned_with, learning
from eigentext.grammars import parameters as tables
from eigentext.grammars._findings import rank_findings, reduced_findings
from eigentext.grammars.chart.cascade import Cascade, Level
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import pruning_level
from eigentext.grammars.learning.protocol import Learned, Task, method
from eigentext.grammars.learning.room import check_memory
from eigentext.grammars.parser import Parser, workers
from eigentext.grammars.treebank.features import FeatureSet, Forgotten
from eigentext.grammars.treebank.normal_form import Symbol
from eigentext.grammars.treebank.reading import TreeLike, normalized
from eigentext.matrices import budget
from eigentext.parameters import Settings, UnusedParameterWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STAGES = ("em", "smoothed", "split", "merge")  # of EM, as history_ names them
_ENOUGH, _MOST_CALIBRATED = 20, 300  # validation trees to calibrate probabilities on
_LOOK_AT = 50  # sentences on which negative marginals are counted
_ROUNDING = 1e-9  # a marginal above minus this is not negative
_TOO_MANY = 0.25  # a larger share of sentences with a negative probability is a problem
_STILL_RISING = 1e-4  # of the log-likelihood, in the last step


class LatentPCFG(Parser):
    """A grammar whose labels have hidden states; it parses well from a few thousand trees.

    Parameters
    ----------
    n_states : int, or a mapping of labels to int
        The largest number of states of a label. A mapping names labels as :attr:`symbols_` prints
        them (``{"NP": 24, "@NP": 8, "*": 16}``); "*" stands for all labels that it does not name,
        which otherwise have 16.
    method : "spectral" | "spectral+em" | "pivot" | "pivot+em" | "em" | "split-merge"
        How the states are learned; see the module.
    n_grammars : int
        How many grammars to learn, from different random starts. They vote.
    n_iter, n_smooth : int or None
        The number of steps of EM, and of further steps with smoothing. The last plain steps fit the
        trees too closely, and smoothed steps avoid that. None means: 20 and 20 for "em", 0 and 4
        for "spectral+em", 0 and 2 for "pivot+em". For "split-merge", `n_iter` is the number of
        steps in each cycle, 20 by default; half come before merging and half after, and all are
        smoothed.
    allocation : "uniform" | "spectrum" | "held-out"
        How many states a label has (``learning/allocation.py``). "uniform": all that `n_states`
        and `nodes_per_state` allow. "spectrum": as many as its singular values and its count
        support. "held-out": what does best on the validation trees of `fit`, or on a tenth of the
        trees if there are none. "split-merge" has a way of its own.
    smoothing : float, or a mapping
        How far the rules and words of a state move towards those of simpler models. 1 is good for
        thousands of trees; 0 means no smoothing. A mapping sets single constants, and the others
        keep their values: ``{"factor": 1}`` is the number, which multiplies all others; "one",
        "two", "three" and "word" are those of "spectral" (``learning/spectral.py``), "states",
        "words", "dependent" and "independent" those of EM and pivots (``learning/training.py``).
    merge : float
        The share of splits that are undone.
    features : "full" | "simple" | function
        The features that "spectral" and "pivot" use (``treebank/features.py``). A function of
        :class:`~eigentext.grammars.treebank.features.TreebankNodes` returns two dictionaries, of
        inside and of outside templates. Each template has a value for every node; a negative value
        means no feature.
    kappa : float
        Features are scaled by sqrt(1 / (count + kappa)). With infinity they are not scaled.
    whitening : "diagonal" | "exact"
        "diagonal" scales features one by one, as if they were independent of each other. "exact"
        multiplies them by (E[phi phi^T] + kappa / n)^(-1/2) for a label of n nodes, which makes the
        SVD a canonical correlation analysis. It takes longer.
    tolerance : float
        "spectral" leaves out directions whose singular value is below this share of the largest.
    noise : float
        With several grammars, the noise on the scales of features by which the grammars of
        "spectral" and "pivot" differ. The first grammar has no noise.
    negative : "abs" | "clip" | "none"
        What becomes of negative marginals, which sampling error causes: their absolute values,
        zeros, or no change.
    rank : int or None
        For "spectral": the tensor of each rule becomes a sum of at most so many products of three
        vectors (``learning/low_rank.py``). Files are smaller and parsing is faster, at some loss.
        None means full tensors.
    pivots : float, or a mapping
        The number of steps of EM for each rule of "pivot"; or a mapping of some of "steps", "tol"
        (they end when they are so close to the maximum) and "least" (how many nodes of a label must
        have a feature that is a pivot).
    nodes_per_state : int
        A label has at most one state for each `nodes_per_state` of its nodes in the treebank. For
        "split-merge" this holds only for the small grammar that prunes.
    early_stopping : "likelihood" | "f1"
        What is measured on the validation trees of `fit`.
    binarize, horizontal, vertical, rare, beta, gamma, vectors, clusters, prune, decoding, tau, mbr
        As in :class:`~eigentext.PCFG`. Labels remember nothing by default, because states do that.
        The decoding "viterbi" is intractable with hidden states and means "max-rule" here.
    random_state : int or None
        The seed of the random starts; None for a fresh one.
    n_jobs : int or None
        The number of threads of this process for fitting. None means the engine in use: one thread
        for each core, or Dask workers. The result is the same.

    Attributes
    ----------
    symbols_ : list of Symbol
        The labels of the binarized trees.
    n_states_ : array
        How many states each symbol has, in the first grammar.
    history_ : list of dict
        One for each grammar. By phase, the log-likelihood of the trees before each step of EM. For
        "spectral", the singular values kept and dropped, and what `rank` leaves out. For "pivot",
        how far the pivots of each label are apart. With validation trees, their scores.
    diagnostics_ : dict
        As in :class:`~eigentext.PCFG`. For "spectral" also `negative_marginals` and
        `negative_sentences`: the shares of marginals and of sentences below zero, among the first
        sentences of the treebank.
    temperature_ : float
        The temperature of the probabilities of `marginals`: that of `calibrate`, or a usual one.
    provenance_ : dict
        The size of the treebank, and how it was binarized.

    Examples
    --------
    >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ likes) (NP (NNP Bob))))",
    ...          "(S (NP (NNP Bob)) (VP (VBZ sleeps)))"]
    >>> model = LatentPCFG(2, nodes_per_state=1).fit(trees)
    >>> print(model.parse("Bob likes Ann"))
    (S (NP (NNP Bob)) (VP (VBZ likes) (NP (NNP Ann))))
    """

    _format = "eigentext.latent-pcfg.v3"
    _table = tables.LatentPCFG
    _has_middle = True
    _of_parsing = (*Parser._of_parsing, "negative")
    history_: list[dict[str, Any]]

    def __init__(
        self,
        n_states: int | Mapping[str, int] = 16,
        *,
        method: str = "spectral",
        n_grammars: int = 1,
        n_iter: int | None = None,
        n_smooth: int | None = None,
        allocation: str = "uniform",
        smoothing: float | Mapping[str, float] = 1.0,
        merge: float = 0.5,
        features: str | FeatureSet = "full",
        kappa: float = 5.0,
        whitening: str = "diagonal",
        tolerance: float = 0.01,
        noise: float = 0.2,
        negative: str = "abs",
        rank: int | None = None,
        pivots: float | Mapping[str, float] = 5,
        nodes_per_state: int = 10,
        early_stopping: str = "likelihood",
        binarize: str = "left",
        horizontal: int | None = 0,
        vertical: int = 1,
        rare: int = 5,
        beta: float = 1.0,
        gamma: float = 3.0,
        vectors: Any = None,
        clusters: Any = None,
        prune: float = 5e-5,
        decoding: str = "mbr",
        tau: float = 0.45,
        mbr: str = "bracket",
        random_state: int = 0,
        n_jobs: int | None = None,
    ):
        self.n_states = n_states
        self.method = method
        self.n_grammars = n_grammars
        self.n_iter = n_iter
        self.n_smooth = n_smooth
        self.allocation = allocation
        self.smoothing = smoothing
        self.merge = merge
        self.features = features
        self.kappa = kappa
        self.whitening = whitening
        self.tolerance = tolerance
        self.noise = noise
        self.negative = negative
        self.rank = rank
        self.pivots = pivots
        self.nodes_per_state = nodes_per_state
        self.early_stopping = early_stopping
        self.binarize = binarize
        self.horizontal = horizontal
        self.vertical = vertical
        self.rare = rare
        self.beta = beta
        self.gamma = gamma
        self.vectors = vectors
        self.clusters = clusters
        self.prune = prune
        self.decoding = decoding
        self.tau = tau
        self.mbr = mbr
        self.random_state = random_state
        self.n_jobs = n_jobs

    @learning
    def fit(
        self,
        trees: Iterable[TreeLike],
        y: Any = None,
        *,
        validation: Iterable[TreeLike] | None = None,
        memory: int | None = None,
    ) -> Self:
        """Learn from trees. They are normalized first (``et.normalize_tree``).

        With other trees as `validation`, the result is what does best on them. EM then stops
        smoothing, and "split-merge" stops splitting, when their score does not rise any more.
        "spectral" may take fewer states. The probabilities of :meth:`marginals` are calibrated on
        them, if there are 20 or more.

        `memory` is the number of bytes that the process may take. If the fit needs more, by an
        estimate that is right within 10% or so, it stops before it begins, with an error that says
        what would fit.
        """
        self._warn_of_unused(validation)
        others = None if validation is None else normalized(validation)
        with engine.use(workers(self.n_jobs)), budget.within(memory):
            read = normalized(trees) if self.allocation == "held-out" else trees
            counted = CountedTrees.by(self._used, read)
            check_memory(counted, self._used)
            _warn_of_labels(self.n_states, counted.treebank.symbols)
            task = Task.of(counted, self._used)
            middle = _rounded(pruning_level(task))
            if self.allocation != "uniform":
                from eigentext.grammars.learning.allocation import allocated

                task = allocated(task, others, lambda: normalized(read), middle)
            if others is not None:
                from eigentext.grammars.learning.validation import held_out_score

                task = replace(task, score=held_out_score(task, middle, others))
            learn = method(self.method)
            learned = [learn(task, k) for k in range(self.n_grammars)]
            levels = [_rounded(one.level) for one in learned]
            symbols = counted.treebank.symbols
            cascade = Cascade(symbols, counted.coarse(), middle, levels, counted.chains())
            self._keep(counted, cascade)
            self._tell(counted, learned)
            if others is not None and len(others) >= _ENOUGH:
                self._calibrate(others[:: -(-len(others) // _MOST_CALIBRATED)])
        return self

    @classmethod
    def from_learned(
        cls,
        settings: Settings,
        counted: CountedTrees,
        cascade: Cascade,
        learned: list[Learned],
    ) -> Self:
        """A fitted parser, put together from grammars that a method learned.

        Parameters
        ----------
        settings
            The parameters that the grammars were learned with.
        counted
            The trees that they were learned from.
        cascade
            The grammars with those that prune for them.
        learned
            What the method gave, one for each grammar.
        """
        self = learned_with(cls, dict(settings))
        for level in (cascade.middle, *cascade.levels):
            if level is not None:
                _rounded(level)
        self._keep(counted, cascade)
        self._tell(counted, learned)
        return self

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw how it was learned, with matplotlib; return the Axes.

        For a spectral model, draw the singular values kept for the most frequent labels, as shares
        of the largest. For other models, draw the log-likelihood of the treebank over all steps of
        EM, for each grammar.
        """
        from eigentext import plots

        check_is_fitted(self)
        if "singular_values" in self.history_[0]:
            labels = self.history_[0]["singular_values"]
            series = {label: values["kept"] for label, values in labels.items()}
            share = "share of the largest singular value"
            return plots.curves(series, xlabel="component", ylabel=share, ax=ax)
        steps = [
            [value for name in history if name.startswith(_STAGES) for value in history[name]]
            for history in self.history_
        ]
        series = {f"grammar {k}": values for k, values in enumerate(steps, start=1)}
        likelihood = "log-likelihood of the treebank"
        return plots.curves(series, xlabel="step of EM", ylabel=likelihood, ax=ax)

    def _tell(self, counted: CountedTrees, learned: list[Learned]) -> None:
        """Complete the diagnostics."""
        if self.method == "spectral":
            self.diagnostics_ |= self._negative_shares(counted)
        self.history_ = self.diagnostics_["history"] = [one.history for one in learned]

    def _negative_shares(self, counted: CountedTrees) -> dict[str, float]:
        """How often the marginals, and the probabilities of whole sentences, are negative."""
        readings = [self._read(words) for words in counted.sentences(_LOOK_AT)]
        signs = np.concatenate([reading.items < -_ROUNDING for reading in readings])
        sentences = float(np.mean([reading.sign < 0 for reading in readings]))
        if sentences > _TOO_MANY:
            warnings.warn(
                f"{sentences:.0%} of sentences have a probability below zero: too few trees for so "
                "many states; take fewer (n_states) or raise smoothing",
                stacklevel=5,
            )
        return {"negative_marginals": float(signs.mean()), "negative_sentences": sentences}

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        if "negative_sentences" in found:
            share = found["negative_sentences"]
            spans = f"{found['negative_marginals']:.1%} of the labels over spans"
            if share:
                yield Finding(
                    "problem" if share > _TOO_MANY else "note",
                    f"{share:.0%} of the sentences looked at, and {spans}, have a probability "
                    "below zero, which sampling error causes.",
                    "Take fewer states (n_states), raise smoothing, or learn from more trees.",
                )
            else:
                yield Finding(
                    "note",
                    f"No sentence looked at has a probability below zero; {spans} have one.",
                )
        yield from rank_findings(self.history_[0])
        yield from self._findings_of_steps()
        yield from super()._findings()

    def _size_findings(self) -> Iterator[Finding]:
        yield from super()._size_findings()
        if self.parameters_.allocation == "uniform":  # others may give fewer states
            asked = tables.largest(self.parameters_.n_states)
            yield from reduced_findings(asked, int(self.n_states_.max()))

    def _findings_of_steps(self) -> Iterator[Finding]:
        """Whether EM was still rising, and whether the validation trees ended it."""
        first = self.history_[0]
        steps = next((first[name] for name in ("smoothed", "em") if first.get(name)), [])
        scores = first.get("validation", [])
        if scores and int(np.argmax(scores)) == len(scores) - 1 and len(scores) > 1:
            if self.parameters_.method != "spectral":
                yield Finding(
                    "note",
                    "The score on the validation trees was still rising at the last step.",
                    "Take more steps (n_smooth, or n_states for split-merge).",
                )
        elif (
            not scores and len(steps) > 1 and steps[-1] - steps[-2] > _STILL_RISING * abs(steps[-2])
        ):
            yield Finding(
                "note",
                "The log-likelihood of the trees was still rising at the last step of EM.",
                "Take more steps (n_iter, n_smooth), if validation trees agree.",
            )

    def _to_saved(self) -> tuple[Any, dict[str, Any]]:
        arrays, about = super()._to_saved()
        features = about["parameters"]["features"]
        if not isinstance(features, str):  # a file holds no code: keep its name
            name = getattr(features, "__qualname__", type(features).__qualname__)
            about["parameters"]["features"] = name
        return arrays, about

    @classmethod
    def _from_saved(cls, arrays: Any, about: dict[str, Any]) -> Self:
        given = dict(about["parameters"])
        features = given.get("features")
        if isinstance(features, str) and features not in tables.FEATURE_SETS:
            given["features"] = Forgotten(features)
        self = super()._from_saved(arrays, about | {"parameters": given})
        self.history_ = self.diagnostics_["history"]
        return self

    def _warn_of_unused(self, validation: Iterable[TreeLike] | None) -> None:
        """Warn of parameters without effect. The table does so for those that go with a method."""

        def is_set(name: str) -> bool:
            kind = self._table[name]
            return getattr(self, name) != kind.default and self.method in kind.only["method"]

        unused = []
        if self.n_grammars == 1 and is_set("noise"):
            unused.append("noise makes grammars differ: let several of them vote (n_grammars)")
        if validation is None and is_set("early_stopping"):
            unused.append("early_stopping needs trees to measure on: give fit some (validation)")
        for message in unused:
            warnings.warn(message, UnusedParameterWarning, stacklevel=4)


def _rounded(level: Level) -> Level:
    """With tensors of 32 bits, so that a file is small and gives the same parses."""
    from eigentext.grammars.rule_saving import round_tensor

    round_tensor(level.grammar)
    return level


def _warn_of_labels(n_states: int | Mapping[str, int], symbols: list[Symbol]) -> None:
    """Warn of labels with a number of states that no tree has."""
    if not isinstance(n_states, Mapping):
        return
    known = {tables.OTHERS, *map(str, symbols)}
    if strange := [label for label in n_states if label not in known]:
        some = ", ".join(map(repr, strange[:5]))
        warnings.warn(
            f"n_states (--states) has labels that no tree has: {some}; labels are those of the "
            "binarized trees, as symbols_ prints them: 'NP', '@NP', 'S+VP'",
            UnusedParameterWarning,
            stacklevel=4,
        )
