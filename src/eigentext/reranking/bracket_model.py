r"""A log-linear model of single brackets, and an averaged perceptron of whole trees.

The base model gives a bracket b the probability :math:`\mu(b)`. The log-linear model corrects it by
the features :math:`\phi(b)`:

.. math:: p(b) = \sigma\!\left(\log \frac{\mu(b)}{1 - \mu(b)} + w \cdot \phi(b)\right)

L-BFGS finds the w with the least

.. math:: \sum_b \log(1 + e^{s_b}) - y_b s_b + \frac{\lambda}{2} \|w\|^2,

where :math:`y_b` says whether the gold tree has b, and :math:`s_b` is the argument of
:math:`\sigma`. The problem is convex. Brackets of all candidates are examples, so that a few
thousand sentences give a hundred thousand of them. With w = 0 the model is the base model.

The perceptron [Collins 2002] learns W for whole trees, :math:`\Phi(c) = \sum_{b \in c} \phi(b)`,
beside the score of the base model with a fixed weight. In training, candidates get a head start in
proportion to what they lack of the best one by F1.

[Collins 2002] M. Collins, Discriminative training methods for hidden Markov models, EMNLP 2002.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize


def logistic_loss(
    w: np.ndarray, X: Any, XT: Any, y: np.ndarray, offset: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    """The loss above, and its gradient.

    Parameters
    ----------
    w : array, shape (n_features,)
        The weights.
    X, XT : sparse arrays
        Features, shape (n_brackets, n_features), and their transpose, for speed.
    y, offset : array, shape (n_brackets,)
        Whether brackets are right, and the log-odds of the base model.
    penalty : float
        Lambda.
    """
    s = offset + X @ w
    loss = np.logaddexp(0.0, s).sum() - y @ s + 0.5 * penalty * (w @ w)
    return float(loss), XT @ (sigmoid(s) - y) + penalty * w


def fit_logistic(
    X: Any, y: np.ndarray, offset: np.ndarray, penalty: float, n_iter: int
) -> tuple[np.ndarray, int]:
    """The w with the least loss, and the number of steps."""
    XT = X.T.tocsr()
    found = minimize(
        logistic_loss,
        np.zeros(X.shape[1]),
        args=(X, XT, y, offset, penalty),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": n_iter},
    )
    return found.x, int(found.nit)


def sigmoid(s: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-s))."""
    return 0.5 * (1.0 + np.tanh(0.5 * s))


def fit_perceptron(
    trees: Any,
    base: np.ndarray,
    values: Sequence[np.ndarray],
    borders: np.ndarray,
    *,
    margin: float,
    n_epochs: int,
) -> tuple[np.ndarray, list[int]]:
    """The mean of W over all steps, and the number of mistakes in each pass.

    Parameters
    ----------
    trees : sparse array, shape (n_candidates, n_features)
        The features of candidates.
    base : array, shape (n_candidates,)
        The score of the base model, times its weight.
    values : list of arrays
        F1 of the candidates of each list. Of equally good candidates, the one with the best score
        is right.
    borders : array, shape (n_lists + 1,)
        Where lists begin and end.
    margin : float
        The head start of a candidate with F1 = 0 over one with F1 = 1.
    n_epochs : int
        Passes over the lists.
    """
    W, late, step = np.zeros(trees.shape[1]), np.zeros(trees.shape[1]), 0
    blocks = [trees[a:b] for a, b in pairwise(borders.tolist())]
    mistakes = []
    for _ in range(n_epochs):
        wrong = 0
        for block, value, (a, b) in zip(blocks, values, pairwise(borders.tolist())):
            if b - a > 1 and np.ptp(value) > 0:
                score = base[a:b] + block @ W
                right = np.flatnonzero(value == value.max())
                y = right[np.argmax(score[right])]
                z = int(np.argmax(score + margin * (value.max() - value)))
                if value[z] < value[y]:
                    wrong += 1
                    change = sp.csr_array(block[[int(y)]] - block[[z]])
                    W[change.indices] += change.data
                    late[change.indices] += step * change.data
            step += 1
        mistakes.append(wrong)
    return W - late / max(step, 1), mistakes
