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

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.grammars._cascade import Cascade, Level
from eigentext.grammars._em import em, random_start
from eigentext.grammars._fitting import Learner
from eigentext.grammars._parser import Parser
from eigentext.grammars._split_merge import merge, split
from eigentext.grammars._training import Parameters, Smoothing

METHODS = ("em", "split-merge")
_NOISE = 0.01
_MIDDLE = {"n_states": 2, "n_steps": 25}  # the grammar that prunes for the others


class LatentPCFG(Parser):
    _format = "eigentext.latent-pcfg.v1"

    def __init__(
        self,
        n_states: int = 16,
        *,
        method: str = "em",
        n_grammars: int = 1,
        n_iter: int = 20,
        n_smooth: int = 20,
        nodes_per_state: int = 10,
        merge: float = 0.5,
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
    ):
        self.n_states = n_states
        self.method = method
        self.n_grammars = n_grammars
        self.n_iter = n_iter
        self.n_smooth = n_smooth
        self.nodes_per_state = nodes_per_state
        self.merge = merge
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

    def fit(self, trees: Iterable[Any], y: Any = None) -> Self:
        learner = Learner(
            trees, rare=self.rare, beta=self.beta, gamma=self.gamma,
            binarize=self.binarize, horizontal=self.horizontal, vertical=self.vertical,
        )  # fmt: skip
        middle = self._middle(learner)
        levels, self.history_ = [], []
        for k in range(self.n_grammars):
            rng = np.random.default_rng([self.random_state, k])
            parameters, history = self._learn(learner, rng)
            levels.append(learner.level(parameters))
            self.history_.append(history)
        self._keep(learner, Cascade(*learner.coarse(), middle, levels))
        return self

    def _middle(self, learner: Learner) -> Level | None:
        rng = np.random.default_rng(self.random_state)
        start = random_start(learner.trees, learner.pcfg, _MIDDLE["n_states"], self.nodes_per_state, _NOISE, rng)
        parameters, _ = em(learner.trees, start, _MIDDLE["n_steps"], smoothing=Smoothing(), name="prune")
        return learner.level(parameters)

    def _learn(self, learner: Learner, rng) -> tuple[Parameters, dict]:
        trees = learner.trees
        if self.method == "em":
            start = random_start(trees, learner.pcfg, self.n_states, self.nodes_per_state, _NOISE, rng)
            parameters, first = em(trees, start, self.n_iter)
            parameters, second = em(trees, parameters, self.n_smooth, smoothing=Smoothing(), name="smooth")
            return parameters, {"em": first, "smooth": second}
        raise ParameterError(self.method)
