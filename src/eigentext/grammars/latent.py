"""Latent-variable PCFGs: labels with hidden states, learned from trees that do not show them.

Each node of label a has a state h of m_a. A tree with its states has the probability

    pi(a_1, h_1)  prod t(a -> b c, h2, h3 | a, h1)  prod q(a -> x | a, h),

and a tree without them the sum over all states, computed upwards with one tensor for each rule:
b^1 = T(b^2, b^3). States say what a label leaves out: a subject and an object, a verb that takes a
clause and one that does not. How they are learned is `method`:

* "spectral": no states are found, but averages over the treebank of projected features, which give
  the same sums over states up to sampling error [1]_ [2]_ (``spectral.py``); in seconds;
* "pivot": probabilities from features that occur in one state only [3]_ (``pivot.py``);
* "em": from the PCFG with m states alike but for noise [4]_, steps of expectation-maximisation, the
  last ones with smoothing;
* "pivot+em" and "spectral+em": a few steps of EM from what the pivots, or clusters of the projected
  nodes (``_clusters.py``), give;
* "split-merge": m is 1, 2, 4, …; after each splitting and fitting the half of the splits that the
  likelihood misses least are undone, so labels end with as many states as they can use [5]_.

Trees are decoded by minimum Bayes risk (``decoding.py``) from marginals mu(a, i, j) in which states
are summed out. Several grammars, learned from different random starts, may vote: each finds other
distinctions, and the average of their marginals is better than any of them [6]_.

.. [1] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Spectral learning of
   latent-variable PCFGs, ACL 2012.
.. [2] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Experiments with spectral learning
   of latent-variable PCFGs, NAACL 2013.
.. [3] S. Cohen and M. Collins, A provably correct learning algorithm for latent-variable PCFGs,
   ACL 2014.
.. [4] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent annotations, ACL 2005.
.. [5] S. Petrov, L. Barrett, R. Thibaux and D. Klein, Learning accurate, compact, and
   interpretable tree annotation, ACL 2006.
.. [6] S. Petrov, Products of random latent variable grammars, NAACL 2010.
"""

import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from eigentext import engine
from eigentext.estimators import check_is_fitted, learning
from eigentext.grammars import parameters as tables
from eigentext.grammars.chart.cascade import Cascade, Level
from eigentext.grammars.chart.decoding import brackets
from eigentext.grammars.learning.clusters import cluster_start
from eigentext.grammars.learning.em import em, random_start
from eigentext.grammars.learning.learner import Learner
from eigentext.grammars.learning.pivot import pivot
from eigentext.grammars.learning.spectral import Evidence, Projections, spectral
from eigentext.grammars.learning.split_merge import merge, split
from eigentext.grammars.learning.training import Parameters, Smoothing
from eigentext.grammars.learning.validation import Score, Watch, held_out_f1, held_out_likelihood
from eigentext.grammars.parser import Parser, workers
from eigentext.grammars.treebank.features import FeatureSet, Forgotten
from eigentext.parameters import UnusedParameterWarning

_Score = Score | None

STEPS = {"em": (20, 20), "split-merge": (20, 0), "spectral+em": (0, 4), "pivot+em": (0, 2)}
_NOISE = 0.01  # enough to break the symmetry between states
_MIDDLE_STATES, _MIDDLE_STEPS = 2, 25  # of the grammar that prunes for the others
_EVERY = 5  # steps between looks at the validation trees, at most
_STAGES = ("em", "smoothed", "split", "merge")  # of EM, as they are named in history_
_LOOK_AT = 50  # sentences on which negative marginals are counted
_ROUNDING = 1e-9  # a marginal not further below zero is none
_TOO_MANY = 0.25  # sentences of negative probability


class LatentPCFG(Parser):
    """A grammar whose labels have hidden states; parses well from a few thousand trees.

    Parameters
    ----------
    n_states : int
        The most states that a label may have.
    method : "spectral" | "spectral+em" | "pivot" | "pivot+em" | "em" | "split-merge"
        How they are learned; see the module.
    n_grammars : int
        How many to learn, from different random starts, and let vote.
    n_iter, n_smooth : int or None
        Steps of EM, and further ones with smoothing: the last steps of EM fit the trees too well;
        smoothed ones go on without doing so. None for what is good for the method: 20 and 20 for
        "em"; 0 and 4 for "spectral+em", 0 and 2 for "pivot+em". For "split-merge" `n_iter` is for
        each cycle, 20, half of them before and half after merging, all smoothed.
    smoothing : float
        How far rules and words of a state move towards those of simpler models; 1 is good for
        thousands of trees, 0 is none.
    merge : float
        The share of splits that are undone.
    features : "full" | "simple" | function
        What "spectral" and "pivot" look at (``features.py``). A function from
        :class:`~eigentext.grammars.treebank.features.Nodes` gives two dictionaries, of inside and
        of outside templates: for each a value for every node, negative for none.
    kappa : float
        Features are scaled by sqrt(1 / (count + kappa)); infinite is not at all.
    tolerance : float
        "spectral" leaves out directions whose singular value is a smaller share of the largest.
    noise : float
        Of the features' scales, by which the grammars of "spectral" and "pivot" differ from the
        first where there are several.
    negative : "abs" | "clip" | "none"
        What becomes of negative marginals, which sampling error leads to: absolute values, zeros,
        or nothing.
    nodes_per_state : int
        A label has at most one state for so many of its nodes in the treebank; for "split-merge"
        only in the small grammar that prunes.
    early_stopping : "likelihood" | "f1"
        What is measured on the validation trees that `fit` may be given.
    binarize, horizontal, vertical, rare, beta, gamma, prune, decoding, tau
        As in :class:`~eigentext.PCFG`; labels remember nothing here by default, as states do, and
        "viterbi", which is intractable with hidden states, is "max-rule".
    random_state : int or None
        Seed of the random starts; None for a fresh draw.
    n_jobs : int or None
        Threads of this process for fitting; None for the engine in use, which is one thread for
        each core, or a cluster. The result is the same.

    Attributes
    ----------
    symbols_ : list of Symbol
    n_states_ : array
        How many states each symbol has, in the first grammar.
    history_ : list of dict
        For each grammar, the log-likelihood of the trees before each step of EM, by phase; for
        "spectral", singular values kept and dropped; for "pivot", of each label the separation of
        the pivot nearest to the others; and, with validation trees, their scores.
    diagnostics_ : dict
        For "spectral" also the share of `negative_marginals`, and of `negative_sentences` whose own
        probability is below zero, among some sentences of the treebank.
    provenance_ : dict

    Examples
    --------
    >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ likes) (NP (NNP Bob))))",
    ...          "(S (NP (NNP Bob)) (VP (VBZ sleeps)))"]
    >>> model = LatentPCFG(2, nodes_per_state=1).fit(trees)
    >>> print(model.parse("Bob likes Ann"))
    (S (NP (NNP Bob)) (VP (VBZ likes) (NP (NNP Ann))))
    """

    _format = "eigentext.latent-pcfg.v2"
    _table = tables.LatentPCFG
    _has_middle = True
    _of_parsing = (*Parser._of_parsing, "negative")

    def __init__(
        self,
        n_states: int = 16,
        *,
        method: str = "spectral",
        n_grammars: int = 1,
        n_iter: int | None = None,
        n_smooth: int | None = None,
        smoothing: float = 1.0,
        merge: float = 0.5,
        features: str | FeatureSet = "full",
        kappa: float = 5.0,
        tolerance: float = 0.01,
        noise: float = 0.2,
        negative: str = "abs",
        nodes_per_state: int = 10,
        early_stopping: str = "likelihood",
        binarize: str = "left",
        horizontal: int | None = 0,
        vertical: int = 1,
        rare: int = 5,
        beta: float = 1.0,
        gamma: float = 3.0,
        prune: float = 5e-5,
        decoding: str = "mbr",
        tau: float = 0.45,
        random_state: int = 0,
        n_jobs: int | None = None,
    ):
        self.n_states = n_states
        self.method = method
        self.n_grammars = n_grammars
        self.n_iter = n_iter
        self.n_smooth = n_smooth
        self.smoothing = smoothing
        self.merge = merge
        self.features = features
        self.kappa = kappa
        self.tolerance = tolerance
        self.noise = noise
        self.negative = negative
        self.nodes_per_state = nodes_per_state
        self.early_stopping = early_stopping
        self.binarize = binarize
        self.horizontal = horizontal
        self.vertical = vertical
        self.rare = rare
        self.beta = beta
        self.gamma = gamma
        self.prune = prune
        self.decoding = decoding
        self.tau = tau
        self.random_state = random_state
        self.n_jobs = n_jobs

    @learning
    def fit(self, trees: Iterable[Any], y: Any = None, *, validation: Any = None) -> Self:
        """Learn from trees; they are normalised first (``et.normalize_tree``).

        With `validation`, other trees, what does best on them is kept: EM stops smoothing,
        "split-merge" splitting, when they gain no more; "spectral" may take fewer states.
        """
        self._warn_of_unused(validation)
        with engine.use(workers(self.n_jobs)):
            learner = self._learner(trees)
            evidence = self._evidence(learner)
            middle = self._middle(learner)
            score = None if validation is None else self._score(learner, middle, validation)
            levels, history = [], []
            for k in range(self.n_grammars):
                level, steps = self._grammar(learner, evidence, k, score)
                levels.append(level)
                history.append(steps)
            symbols = learner.treebank.symbols
            self._keep(learner, Cascade(symbols, learner.coarse(), middle, levels))
            self._tell(learner, history)
        return self

    def plot(self, *, ax: Any = None) -> Any:
        """Draw how it was learned, with matplotlib; returns the Axes.

        Of a spectral model the singular values kept for the most frequent labels, as shares of the
        largest; of others the treebank's log-likelihood at all steps of EM, for each grammar.
        """
        from eigentext import plots

        check_is_fitted(self)
        if "singular_values" in self.history_[0]:
            labels = self.history_[0]["singular_values"]
            series = {label: values["kept"] for label, values in labels.items()}
            share = "share of the largest singular value"
            return plots.curves(series, xlabel="component", ylabel=share, ax=ax)
        steps = [
            [value for name in told if name.startswith(_STAGES) for value in told[name]]
            for told in self.history_
        ]
        series = {f"grammar {k}": values for k, values in enumerate(steps, start=1)}
        likelihood = "log-likelihood of the treebank"
        return plots.curves(series, xlabel="step of EM", ylabel=likelihood, ax=ax)

    def _evidence(self, learner: Learner) -> Evidence | None:
        if self.method in ("em", "split-merge"):
            return None
        with engine.phase("features"):
            return Evidence(learner, self.features)

    def _grammar(self, learner: Learner, evidence: Evidence | None, k: int, score: _Score):
        """The k-th grammar, and what happened on the way."""
        rng = np.random.default_rng([self.random_state, k])
        if evidence is None:
            learn = self._em if self.method == "em" else self._split_merge
            return learn(learner, rng, score)
        projections = self._projections(evidence, k)
        if self.method == "spectral":
            return self._spectral(learner, projections, score)
        if self.method == "spectral+em":
            return self._steps(learner, self._clusters(learner, projections, rng), score)
        start, told = self._pivots(learner, evidence, projections)
        level, history = self._steps(learner, start, score)
        return level, told | history

    def _projections(self, evidence: Evidence, k: int) -> Projections:
        # Clusters differ by where they begin; nothing else would.
        noise = self.noise if k and self.method != "spectral+em" else 0.0
        seed = self.random_state + k if noise else 0
        return evidence.projections(self.n_states, kappa=self.kappa, noise=noise, random_state=seed)

    def _spectral(self, learner: Learner, projections: Projections, score: _Score):
        """The averages, with all states, or, as the validation trees say, a half or a quarter."""
        best, scores = None, []
        for most in (self.n_states, self.n_states // 2, self.n_states // 4):
            n_states = projections.n_states(max(most, 1), self.tolerance, self.nodes_per_state)
            level = spectral(learner, projections, n_states, smoothing=self.smoothing)
            told = projections.spectra(learner.treebank.symbols, n_states)
            if score is None:
                return level, told
            scores.append(score(level))
            if best is None or scores[-1] > max(scores[:-1]):
                best = level, told | {"validation": scores}
        return best

    def _clusters(
        self, learner: Learner, projections: Projections, rng: np.random.Generator
    ) -> Parameters:
        counts = np.bincount(learner.treebank.label, minlength=len(learner.treebank.symbols))
        n_states = np.clip(counts // self.nodes_per_state, 1, self.n_states)
        return cluster_start(learner, projections, n_states, smoothing=self._smoothing(), rng=rng)

    def _pivots(
        self, learner: Learner, evidence: Evidence, projections: Projections
    ) -> tuple[Parameters, dict[str, Any]]:
        n_states = projections.n_states(self.n_states, self.tolerance, self.nodes_per_state)
        return pivot(
            learner, evidence.features, projections, n_states,
            smoothing=self._smoothing(), return_diagnostics=True,
        )  # fmt: skip

    def _em(self, learner: Learner, rng: np.random.Generator, score: _Score):
        """EM from Matsuzaki's start."""
        start = random_start(
            learner.trees, learner.pcfg, self.n_states, self.nodes_per_state, _NOISE, rng
        )
        return self._steps(learner, start, score)

    def _steps(self, learner: Learner, start: Parameters, score: _Score):
        """Steps of EM as they are, then smoothed ones."""
        trees, history = learner.trees, {}
        n_iter, n_smooth = self._n_steps()
        watch = _watch(learner, score, max(1, min(_EVERY, n_smooth // 4)))
        parameters, history["em"] = em(trees, start, n_iter)
        parameters, history["smoothed"] = em(
            trees, parameters, n_smooth,
            smoothing=self._smoothing(), name="smoothed em", watch=watch,
        )  # fmt: skip
        return _chosen(learner, parameters, history, watch)

    def _n_steps(self) -> tuple[int, int]:
        """How many plain and how many smoothed."""
        if self.method not in STEPS:
            return 0, 0
        n_iter, n_smooth = STEPS[self.method]
        n_iter = n_iter if self.n_iter is None else self.n_iter
        return n_iter, n_smooth if self.n_smooth is None else self.n_smooth

    def _split_merge(self, learner: Learner, rng: np.random.Generator, score: _Score):
        """Cycles of splitting, fitting, merging and fitting until there are enough states."""
        trees, parameters = learner.trees, learner.pcfg
        nodes = np.bincount(trees.label)
        watch = _watch(learner, score, patience=1)
        n_iter, _ = self._n_steps()
        history: dict[str, list[float]] = {}
        for cycle in range(1, int(np.ceil(np.log2(self.n_states))) + 1):
            old = parameters.grammar.n_states
            room = 2 * old <= np.minimum(self.n_states, nodes)
            parameters = split(trees, parameters, np.where(room, 2 * old, old), _NOISE, rng)
            for step in ("split", "merge"):
                if step == "merge":
                    parameters = merge(trees, parameters, room, self.merge)
                parameters, history[f"{step} {cycle}"] = em(
                    trees, parameters, n_iter // 2,
                    smoothing=self._smoothing(), name=f"{step} {cycle}",
                )  # fmt: skip
            if watch is not None and watch(parameters):
                break
        return _chosen(learner, parameters, history, watch)

    def _middle(self, learner: Learner) -> Level:
        """A grammar of two states that prunes for the others."""
        rng = np.random.default_rng(self.random_state)
        start = random_start(
            learner.trees, learner.pcfg, _MIDDLE_STATES, self.nodes_per_state, _NOISE, rng
        )
        smoothing = Smoothing()
        found, _ = em(learner.trees, start, _MIDDLE_STEPS, smoothing=smoothing, name="pruning em")
        return learner.level(found)

    def _score(self, learner: Learner, middle: Level, validation: Iterable[Any]) -> _Score:
        # What a spectral grammar calls probabilities are not comparable.
        if self.early_stopping == "likelihood" and self.method != "spectral":
            return held_out_likelihood(learner, validation)
        self.symbols_ = learner.treebank.symbols
        self._brackets = brackets(self.symbols_)
        self._cascade = Cascade(self.symbols_, learner.coarse(), middle, [middle])  # for fallbacks
        return held_out_f1(learner, validation, middle, self._thresholds(), self._tree)

    def _tell(self, learner: Learner, history: list[dict[str, Any]]) -> None:
        """Complete the diagnostics."""
        if self.method == "spectral":
            self.diagnostics_ |= self._negative_shares(learner)
        self.history_ = self.diagnostics_["history"] = history

    def _negative_shares(self, learner: Learner) -> dict[str, float]:
        """How often marginals and whole sentences come out below zero."""
        bounds = np.cumsum(np.diff(learner.treebank.offsets) // 2 + 1)
        sentences = np.split(np.array(learner.treebank.tokens, object), bounds[:-1])[:_LOOK_AT]
        readings = [self._read(list(tokens)) for tokens in sentences]
        signs = np.concatenate([reading.items < -_ROUNDING for reading in readings])
        sentences = float(np.mean([reading.sign < 0 for reading in readings]))
        if sentences > _TOO_MANY:
            warnings.warn(
                f"{sentences:.0%} of sentences have a probability below zero: too few trees for so "
                "many states; take fewer (n_states) or raise smoothing",
                stacklevel=5,
            )
        return {"negative_marginals": float(signs.mean()), "negative_sentences": sentences}

    def _signed(self, marginals: np.ndarray, sign: float) -> np.ndarray:
        match self._used.negative:
            case "abs":
                return np.abs(marginals)
            case "clip":
                return np.maximum(marginals, 0.0)
            case _:
                return sign * marginals

    def _to_saved(self) -> tuple[Any, dict[str, Any]]:
        arrays, about = super()._to_saved()
        features = about["parameters"]["features"]
        if not isinstance(features, str):  # a file holds no code: its name will do
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

    def _smoothing(self) -> Smoothing | None:
        return Smoothing().times(self.smoothing) if self.smoothing else None

    def _warn_of_unused(self, validation: Any) -> None:
        """Of what has no effect for another reason than `method`, of which the table tells."""

        def is_set(name: str) -> bool:
            kind = self._table[name]
            return getattr(self, name) != kind.default and self.method in kind.only["method"]

        unused = []
        if self.n_grammars == 1 and is_set("noise"):
            unused.append("noise makes grammars differ: let several of them vote (n_grammars)")
        if validation is None and is_set("early_stopping"):
            unused.append("early_stopping needs trees to measure on: give fit some (validation)")
        if validation is not None and self.method == "pivot":
            unused.append("validation trees have no effect with method='pivot': leave them out")
        for message in unused:
            warnings.warn(message, UnusedParameterWarning, stacklevel=4)


def _watch(learner: Learner, score: _Score, every: int = 1, patience: int = 2) -> Watch | None:
    """Of what the levels of parameters score on the validation trees."""
    if score is None:
        return None

    def of(parameters: Parameters) -> float:
        return score(learner.level(parameters))

    return Watch(of, every, patience, score.problem)


def _chosen(
    learner: Learner, parameters: Parameters, history: dict[str, list[float]], watch: Watch | None
) -> tuple[Level, dict[str, list[float]]]:
    """What did best on the validation trees, if there were any."""
    if watch is not None and watch.best is not None:
        history["validation"] = watch.scores
        parameters = watch.best
    return learner.level(parameters), history
