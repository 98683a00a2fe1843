r"""The vectors of known words, improved by their spelling.

The contexts of a rare word are few, so its unit vector :math:`\hat v_w` is mostly noise. With n
occurrences, let a part :math:`a_w` of it be the signal :math:`v_w`, about which the spelling
:math:`x_w` says something:

.. math:: \hat v_w = a_w v_w + \sqrt{1 - a_w^2}\,\varepsilon, \qquad
          v_w \sim N(\mu + x_w^\top W, \tau^2), \qquad a_w = \sqrt{\frac{n}{n + \kappa}} .

Signal and noise are equal at :math:`n = \kappa`. The posterior mean of :math:`v_w` has the
direction of

.. math:: \hat v_w + g_w (\mu + x_w^\top W), \qquad
          g_w = \frac{1 - a_w^2}{a_w \tau^2} = \frac{\kappa}{\tau^2 \sqrt{n (n + \kappa)}} .

This vanishes for frequent words. There, as in fastText (Bojanowski et al. 2017), a word is also the
sum of its n-grams: then inflected forms of all words differ in the same way, and analogies such as
*run, runs, walk, walks* are solved. Both together, with the weight :math:`\gamma`:

.. math:: v(w) \propto \hat v_w + b\,(\gamma + g_w)\,x_w^\top W .

The mean :math:`\mu` is left out: all words share it, and it says nothing about any of them.

**Empirical Bayes.** Half of the words predict the other half, so that the noise of a word is not in
its prediction :math:`m_w = x_w^\top W`. Then :math:`\hat v_w^\top m_w` is :math:`b\,a_w \|m_w\|^2`
on average, where the slope b is 1 if the predictions are as long as they should be. :math:`\kappa`
and b are the minimum of :math:`\sum_w \|\hat v_w - \mu - b\,a_w m_w\|^2`, and :math:`\tau^2` is
what they leave of the squared length of a vector, which is 1. If spelling predicts nothing (b is
less than three standard errors), b is 0 and no vector changes. All of this needs inner products
only, so the vectors are first projected to a few random dimensions.

W is the ridge regression of :class:`~eigentext.words.subwords.CharacterRidge`, with these
strengths.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.matrices import budget
from eigentext.matrices.disk import Growing
from eigentext.matrices.products import row_blocks
from eigentext.words.subwords import CharacterRidge

_PROJECTED = 32  # dimensions in which kappa is estimated
_FEWEST = 8  # words; with fewer, nothing is estimated
_STANDARD_ERRORS = 3  # by which the slope must differ from 0, or else it is 0
_LEAST = 1e-3  # the least strength
_LEAST_LEFT = 0.1  # of a vector is not explained by spelling
_KAPPAS = np.concatenate([[0.0], np.geomspace(0.01, 1e6, 321)])


# Chosen by the ranks of similarities: docs/results/rare-words.md.
_SETTINGS: dict[str, Any] = {"ngram_range": (3, 5), "penalty": 1.0}


class Prior(NamedTuple):
    r"""The numbers of the empirical Bayes estimate.

    `half_count` is :math:`\kappa`: a word that occurs so often is half signal and half noise.
    `slope` is b: how far predictions for words that were not fitted are right, from 0 to about 1.
    `left` is :math:`\tau^2`, the part of a vector that spelling does not explain.
    """

    half_count: float
    slope: float
    left: float = 1.0


def learned(
    words: list[str],
    vectors: np.ndarray,
    counts: np.ndarray,
    *,
    weight: float = 0.5,
    half_count: float | None = None,
    random_state: int = 0,
) -> tuple[np.ndarray, CharacterRidge, Prior | None]:
    r"""The mixed vectors, the regression on spelling, and the prior.

    Parameters
    ----------
    words, vectors, counts
        The words, unit rows (or zeros), and how often each word occurs.
    weight : float
        :math:`\gamma`, the weight of spelling for frequent words.
    half_count : float, optional
        :math:`\kappa`; estimated if it is not given. If it and `weight` are 0, the vectors are the
        given ones, and the prior is None.
    random_state : int
        The seed of the random projection.
    """
    if weight == 0 and half_count == 0:
        return vectors, _ridge().fit(words, vectors), None
    prior = estimated(words, vectors, counts, half_count, random_state=random_state)
    a = strengths(counts, prior.half_count)
    spelling = _ridge().fit(words, vectors, strengths=a)
    return mixed(words, vectors, weights(a, prior, weight), spelling), spelling, prior


def strengths(counts: np.ndarray, half_count: float) -> np.ndarray:
    r"""The share :math:`a_w` of the signal in the vector of a word that occurs n times."""
    counts = np.asarray(counts, np.float64)
    total = counts + half_count
    a = np.sqrt(np.divide(counts, total, out=np.ones(len(counts)), where=total > 0))
    return np.maximum(a, _LEAST)


def weights(a: np.ndarray, prior: Prior, weight: float) -> np.ndarray:
    r"""The factor :math:`b\,(\gamma + g_w)` of the prediction, given the strengths."""
    return prior.slope * (weight + (1 - a**2) / (a * prior.left))


def estimated(
    words: list[str],
    vectors: np.ndarray,
    counts: np.ndarray,
    half_count: float | None = None,
    *,
    random_state: int = 0,
) -> Prior:
    """Empirical Bayes: the prior that fits words best which the regression has not seen.

    With a `half_count`, only the slope is estimated.
    """
    kappas = _KAPPAS if half_count is None else np.array([half_count])
    has_vector = np.array([bool(row.any()) for row in vectors], bool)
    if has_vector.sum() < _FEWEST:
        return Prior(float(kappas[0]), 0.0)
    words = [word for word, kept in zip(words, has_vector) if kept]
    V, counts = _projected(vectors[has_vector], random_state), counts[has_vector]
    along, lengths = np.zeros(len(V)), np.zeros(len(V))
    for first in (0, 1):  # words are sorted by their counts, so both halves have rare ones
        half, other = slice(first, None, 2), slice(1 - first, None, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a rough solution is good enough here
            ridge = _ridge().fit(words[other], V[other])
        m = ridge.deviations(words[half]).astype(np.float64)
        along[half] = np.einsum("ij,ij->i", V[half] - ridge.mean_, m)
        lengths[half] = np.einsum("ij,ij->i", m, m)
    return _best_prior(along, lengths, counts, kappas)


def _best_prior(
    along: np.ndarray, lengths: np.ndarray, counts: np.ndarray, kappas: np.ndarray
) -> Prior:
    r"""The least squares fit of :math:`b\,a_w m_w`, given the products with and of all m."""
    best, most = Prior(float(kappas[0]), 0.0), 0.0
    for kappa in kappas.tolist():
        a = strengths(counts, kappa)
        up, down = float(a @ along), float(a**2 @ lengths)
        by_chance = _STANDARD_ERRORS * float(np.linalg.norm(a * along))
        if up > by_chance and down > 0 and up**2 / down > most:
            explained = (up / down) ** 2 * float(a**2 @ lengths) / float(a @ a)
            most = up**2 / down
            best = Prior(kappa, up / down, max(1 - explained, _LEAST_LEFT))
    return best


def mixed(
    words: list[str], vectors: np.ndarray, g: np.ndarray, spelling: CharacterRidge
) -> np.ndarray:
    r"""Unit rows :math:`\hat v_w + g_w\,x_w^\top W`.

    A zero vector becomes the prediction from spelling alone. If all of g is 0, nothing changes.
    """
    if not g.any():
        return vectors
    found = Growing(np.float32, budget.current().left / 2, (vectors.shape[1],))
    with engine.phase("mix", len(words), "words") as advance:
        for rows in row_blocks(len(words)):
            D = spelling.deviations(words[rows])
            V = np.asarray(vectors[rows])
            alone = ~V.any(axis=1)
            part = V + g[rows, None].astype(np.float32) * D
            part[alone] = D[alone] + spelling.mean_
            norms = np.linalg.norm(part, axis=1, keepdims=True)
            found.append((part / np.where(norms > 0, norms, 1)).astype(np.float32, copy=False))
            advance(len(part))
    return found.finish()


def _ridge() -> CharacterRidge:
    return CharacterRidge(**_SETTINGS)


def _projected(V: np.ndarray, random_state: int) -> np.ndarray:
    """The vectors in a few random dimensions; inner products stay the same on average."""
    if V.shape[1] <= _PROJECTED:
        return np.asarray(V)
    draws = np.random.default_rng(random_state).standard_normal((V.shape[1], _PROJECTED))
    return V @ (draws / np.sqrt(_PROJECTED)).astype(np.float32)
