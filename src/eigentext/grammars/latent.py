"""Latent-variable PCFGs: labels with hidden states, learned from trees that do not show them.

Each node of label a has a state h of m_a. A tree with its states has the probability [1]_

    pi(a_1, h_1)  prod t(a -> b c, h2, h3 | a, h1)  prod q(a -> x | a, h),

and a tree without them the sum over all states, computed upwards with one tensor for each rule:
b^1 = T(b^2, b^3). States say what a label leaves out: a subject and an object, a verb that takes a
clause and one that does not. How they are learned is `method`:

* "em": from the PCFG with m states alike but for noise [1]_, steps of expectation-maximisation, the
  last ones with smoothing;
* "split-merge": m is 1, 2, 4, …; after each splitting and fitting the half of the splits that the
  likelihood misses least are undone, so labels end with as many states as they can use [2]_.

Trees are decoded by minimum Bayes risk (``decoding.py``) from marginals mu(a, i, j) in which states
are summed out. Several grammars, learned from different random starts, may vote: each finds other
distinctions, and the average of their marginals is better than any of them [3]_.

.. [1] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent annotations, ACL 2005.
.. [2] S. Petrov, L. Barrett, R. Thibaux and D. Klein, Learning accurate, compact, and
   interpretable tree annotation, ACL 2006.
.. [3] S. Petrov, Products of random latent variable grammars, NAACL 2010.
"""

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from eigentext import engine
from eigentext.grammars._cascade import Cascade, Level
from eigentext.grammars._em import em, random_start
from eigentext.grammars._fitting import Learner
from eigentext.grammars._parser import Parser, check_choice, check_count, check_number, threads
from eigentext.grammars._split_merge import merge, split
from eigentext.grammars._training import Parameters, Smoothing
from eigentext.grammars._validation import MEASURES, Watch, held_out_f1, held_out_likelihood
from eigentext.grammars.decoding import brackets

_Score = Callable[[Parameters], float] | None

METHODS = ("em", "split-merge")
_NOISE = 0.01  # enough to break the symmetry between states
_MIDDLE_STATES, _MIDDLE_STEPS = 2, 25  # of the grammar that prunes for the others
_EVERY = 5  # steps between looks at the validation trees


class LatentPCFG(Parser):
    """A grammar whose labels have hidden states; parses well from a few thousand trees.

    Parameters
    ----------
    n_states : int
        The most states that a label may have.
    method : "split-merge" | "em"
        How they are learned: by splitting and merging, or all at once from a random start.
    n_grammars : int
        How many to learn, from different random starts, and let vote.
    n_iter : int
        Steps of EM: for "em", before smoothing begins; for "split-merge", in each cycle, half of
        them before and half after merging.
    n_smooth : int
        Further steps with smoothing, for "em". The last steps of EM fit the trees too well;
        smoothed ones go on without doing so.
    smoothing : float
        How far rules and words of a state move towards those of simpler models in such steps; 1 is
        good for thousands of trees, 0 is none.
    merge : float
        The share of splits that are undone.
    nodes_per_state : int
        For "em", a label has at most one state for so many of its nodes in the treebank.
    early_stopping : "likelihood" | "f1"
        What is measured on the validation trees that `fit` may be given.
    binarize, horizontal, vertical, rare, beta, gamma, prune, decoding, tau
        As in :class:`~eigentext.PCFG`; labels remember nothing here by default, as states do, and
        "viterbi", which is intractable with hidden states, is "max-rule".
    random_state : int
        Seed of the random starts.
    n_jobs : int or None
        Threads for fitting; None for all cores. The result is the same.

    Attributes
    ----------
    symbols_ : list of Symbol
    n_states_ : array
        How many states each symbol has, in the first grammar.
    history_ : list of dict
        For each grammar, the log-likelihood of the trees before each step, by phase; and, with
        validation trees, their scores.
    diagnostics_ : dict
    provenance_ : dict

    Examples
    --------
    >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ likes) (NP (NNP Bob))))",
    ...          "(S (NP (NNP Bob)) (VP (VBZ sleeps)))"]
    >>> model = LatentPCFG(2, nodes_per_state=1).fit(trees)
    >>> print(model.parse("Bob likes Ann"))
    (S (NP (NNP Bob)) (VP (VBZ likes) (NP (NNP Ann))))
    """

    _format = "eigentext.latent-pcfg.v1"

    def __init__(
        self,
        n_states: int = 16,
        *,
        method: str = "split-merge",
        n_grammars: int = 1,
        n_iter: int = 20,
        n_smooth: int = 20,
        smoothing: float = 1.0,
        merge: float = 0.5,
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

    def fit(self, trees: Iterable[Any], y: Any = None, *, validation: Any = None) -> Self:
        """Learn from trees; they are normalised first (``et.normalize_tree``).

        With `validation`, other trees, what does best on them is kept: "em" stops smoothing, and
        "split-merge" splitting, when they gain no more.
        """
        self._check_parameters()
        with engine.use(threads(self.n_jobs)):
            learner = self._learner(trees)
            middle = self._middle(learner)
            score = None if validation is None else self._score(learner, middle, validation)
            levels, history = [], []
            for k in range(self.n_grammars):
                rng = np.random.default_rng([self.random_state, k])
                learn = self._em if self.method == "em" else self._split_merge
                parameters, steps = learn(learner, rng, score)
                levels.append(learner.level(parameters))
                history.append(steps)
            symbols = learner.treebank.symbols
            self._keep(learner, Cascade(symbols, learner.coarse(), middle, levels))
        self.history_ = self.diagnostics_["history"] = history
        return self

    def _em(self, learner: Learner, rng: np.random.Generator, score: _Score):
        """Matsuzaki's start, then steps as they are, then smoothed ones."""
        trees, history = learner.trees, {}
        parameters = random_start(
            trees, learner.pcfg, self.n_states, self.nodes_per_state, _NOISE, rng
        )
        watch = None if score is None else Watch(score, max(1, min(_EVERY, self.n_smooth)))
        parameters, history["em"] = em(trees, parameters, self.n_iter)
        parameters, history["smoothed"] = em(
            trees, parameters, self.n_smooth,
            smoothing=self._smoothing(), name="smoothed em", stop=watch,
        )  # fmt: skip
        return _chosen(parameters, history, watch)

    def _split_merge(self, learner: Learner, rng: np.random.Generator, score: _Score):
        """Cycles of splitting, fitting, merging and fitting until there are enough states."""
        trees, parameters = learner.trees, learner.pcfg
        nodes = np.bincount(trees.label)
        watch = None if score is None else Watch(score, patience=1)
        history: dict[str, list[float]] = {}
        for cycle in range(1, int(np.ceil(np.log2(self.n_states))) + 1):
            old = parameters.grammar.n_states
            room = 2 * old <= np.minimum(self.n_states, nodes)
            parameters = split(trees, parameters, np.where(room, 2 * old, old), _NOISE, rng)
            for step in ("split", "merge"):
                if step == "merge":
                    parameters = merge(trees, parameters, room, self.merge)
                parameters, history[f"{step} {cycle}"] = em(
                    trees, parameters, self.n_iter // 2,
                    smoothing=self._smoothing(), name=f"{step} {cycle}",
                )  # fmt: skip
            if watch is not None and watch(parameters):
                break
        return _chosen(parameters, history, watch)

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
        if self.early_stopping == "likelihood":
            return held_out_likelihood(learner, validation)
        self.symbols_ = learner.treebank.symbols
        self._brackets = brackets(self.symbols_)
        self._cascade = Cascade(self.symbols_, learner.coarse(), middle, [middle])  # for fallbacks
        return held_out_f1(learner, validation, middle, self._thresholds(), self._tree)

    @classmethod
    def _from_saved(cls, arrays: Any, about: dict[str, Any]) -> Self:
        self = super()._from_saved(arrays, about)
        self.history_ = self.diagnostics_["history"]
        return self

    def _smoothing(self) -> Smoothing | None:
        return Smoothing().times(self.smoothing) if self.smoothing else None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("method", self.method, METHODS)
        check_choice("early_stopping", self.early_stopping, MEASURES)
        for name in ("n_states", "n_grammars", "nodes_per_state"):
            check_count(name, getattr(self, name), 1)
        for name in ("n_iter", "n_smooth", "random_state"):
            check_count(name, getattr(self, name), 0)
        check_number("merge", self.merge, below=1)
        check_number("smoothing", self.smoothing)


def _chosen(parameters: Parameters, history: dict[str, list[float]], watch: Watch | None):
    """What did best on the validation trees, if there were any."""
    if watch is None or watch.best is None:
        return parameters, history
    history["validation"] = watch.scores
    return watch.best, history
