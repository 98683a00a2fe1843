r"""Probabilities of labels over spans, from scores that are not probabilities.

A grammar gives each edge :math:`e = (a \to b\,c, i, k, j)` of a packed forest the score
:math:`\mu(e)`: outside times rule times inside, divided by p(sentence). If all parameters are
probabilities, so is :math:`\mu(e)`. The parameters of a spectral grammar have signs, and its scores
may be far below 0 or above 1. Their sizes still tell which edge of an item is likely. So they are
made a distribution over the trees of the forest. It chooses a root and then an edge of each item,
from the top down:

.. math:: q(e) = \frac{|\mu(e)|}{\sum_{e' \in v} |\mu(e')|} \quad (e \in v), \qquad
          p(\text{tree}) \propto q(\text{root})^{1/T} \prod_{e \in \text{tree}} q(e)^{1/T}.

The posterior of an item is the sum over the trees that have it. So it is in [0, 1], two spans that
cross never add up to more than 1, and every tree has the same number of binary nodes. With T = 1
the product sums to one by itself, and the posterior of a child is the sum over its parents,
:math:`p(b) = \sum_{e \ni b} p(v) q(e)`. If all parameters are probabilities, this gives back
:math:`\mu`, the posterior of the grammar.

Such posteriors are too sure, because rules were counted on few trees. The temperature T corrects
that: above 1 it makes the distribution flatter. :func:`best_temperature` finds the T with the least
Brier score on trees that were not learned from. On the Penn sample and GUM this left smaller
calibration errors than the T of the largest likelihood for 9 of 10 parsers, by 0.1 points or so.
:func:`usual_temperature` is a rule of thumb for parsers that have no such trees.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from eigentext.grammars.chart.forest import ParseForest

LEAST_TEMPERATURE, MOST_TEMPERATURE = 0.1, 10.0
_FEW = 100  # fewer trees are examples by hand, and the posteriors stay as they are
_SLOPE, _POWER = 2.0, -0.25
_PRECISION = 0.005  # of the logarithm of the temperature


def item_posteriors(
    forest: ParseForest, edges: np.ndarray, roots: np.ndarray, temperature: float = 1.0
) -> np.ndarray:
    """The posterior of each item by the distribution of this module.

    Parameters
    ----------
    forest
        The forest of one sentence.
    edges, roots
        The scores of all edges, and of the roots in ``forest.roots``: zero or more.
    temperature
        T. 1 leaves the distribution as it is.

    Examples
    --------
    Two trees over three words: the items 0, 1, 2 are words, 3 and 4 their pairs, 5 is the root.

    >>> import numpy as np
    >>> from eigentext.grammars.chart.forest import ParseForest
    >>> from eigentext.grammars.chart.posteriors import item_posteriors
    >>> forest = ParseForest(
    ...     label=np.array([1, 1, 1, 0, 0, 0]),
    ...     start=np.array([0, 1, 2, 0, 1, 0]),
    ...     end=np.array([1, 2, 3, 2, 3, 3]),
    ...     groups=np.array([0, 0, 0, 0, 1, 2, 4]),
    ...     rule=np.array([2, 2, 0, 1]),
    ...     edges=np.array([0, 1, 2, 3, 4]),
    ...     left=np.array([0, 1, 3, 0]),
    ...     right=np.array([1, 2, 2, 4]),
    ...     roots=np.array([5]),
    ... )
    >>> item_posteriors(forest, np.array([2.0, 7.0, 4.0, 1.0]), np.array([3.0])).round(9).tolist()
    [1.0, 1.0, 1.0, 0.8, 0.2, 1.0]
    """
    from eigentext.grammars.chart._posterior_loops import log_weights, push_down

    bounds, shares = forest.edges[forest.groups], np.empty(len(forest.left))
    beta = 1.0 / temperature
    sums = log_weights(bounds, forest.left, forest.right, edges, beta, shares)
    total = roots.sum()
    given = roots / total if total > 0 else np.full(len(roots), 1 / max(len(roots), 1))
    with np.errstate(divide="ignore"):
        logs = beta * np.log(given) + sums[forest.roots]
    weights = np.exp(logs - logs.max(initial=-np.inf)) if len(logs) else logs
    found = np.zeros(len(forest.label))
    np.add.at(found, forest.roots, weights / weights.sum())
    push_down(bounds, forest.left, forest.right, shares, found)
    return np.minimum(found, 1.0)  # above 1 only by rounding


def usual_temperature(n_trees: int) -> float:
    """The temperature of a parser that was learned from so many trees, if nobody measured it.

    The rule 1 + 2 n^(-1/4) is among the best temperatures of all methods on held-out trees: 1.4 to
    2.1 for 200 trees of the Penn sample, 1.3 to 1.6 for 800, and 1.05 to 1.4 for all 3,501 and for
    the 10,224 of GUM (``benchmarks/calibration.py``). Fewer than 100 trees have the temperature 1:
    such grammars are written by hand, and their posteriors are meant as they are.
    """
    return 1.0 + _SLOPE * n_trees**_POWER if n_trees >= _FEW else 1.0


def best_temperature(pairs: Callable[[float], tuple[np.ndarray, np.ndarray]]) -> float:
    """The temperature with the least Brier score: the sum of (p - 1)^2 or p^2, if right or wrong.

    Parameters
    ----------
    pairs
        The probabilities of all answers at a temperature, and which of them are right.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        p, right = pairs(float(np.exp(log_temperature)))
        return float(((p - right) ** 2).sum())

    bounds = np.log([LEAST_TEMPERATURE, MOST_TEMPERATURE])
    best: Any = minimize_scalar(
        loss, bounds=bounds, method="bounded", options={"xatol": _PRECISION}
    )
    return float(np.exp(best.x))
