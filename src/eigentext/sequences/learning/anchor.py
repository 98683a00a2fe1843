r"""The anchor HMM: hidden states that are named by words (Stratos, Collins and Hsu 2016).

Every state h has *anchors*, words that no other state emits. Let c be the context of a token: the
words to its left and to its right. It does not depend on the word, given the state. So

.. math:: v_x = E[\phi(c) | x] = \sum_h p(h|x)\,w_h, \qquad w_h = E[\phi(c) | h],

and :math:`v_x = w_h` if x is an anchor of h: all words lie in the convex hull of m corners, which
are the anchors. The steps:

1. *Vectors.* :math:`\phi` projects contexts on the right singular vectors of the scaled matrix of
   words and contexts (CCA). For text, the square roots of counts choose the directions.
2. *Spelling.* The vector of a rare word is mixed with the one that its spelling predicts
   (:mod:`~eigentext.sequences.learning.spelling`).
3. *Corners.* See below.
4. *Emissions.* p(h|x) are the weights of :math:`v_x` on the corners, by least squares on the
   simplex. By Bayes' rule, :math:`o(x|h) \propto p(x)\,p(h|x)`.
5. *Transitions.* Bigrams have :math:`P_{12} = O J O^\top` with :math:`J_{hh'} = p(h, h')`. Exact
   moments give :math:`J = O^+ P_{12} O^{+\top}`. For text, EM on the bigrams improves it with O
   fixed: their likelihood is concave in J. The start for "groups" is :math:`P^\top P_{12} P` with
   the :math:`p(h|x)` in P.

There are two ways to find the corners:

``corners``
    The algorithm of the paper: of the most frequent words, each next anchor is the furthest from
    the affine span of those before it. This is exact on exact moments, and consistent.
``groups``
    In text, the furthest words are odd ones ("York" after "New"). So only the directions of vectors
    count, the frequent words are agglomerated (Ward 1963, weighted by tokens) until m groups are
    left, and the corners are the means of the groups, after some steps of k-means. The weights of
    words on the corners are squared, because means are inside the hull, so that the weights are too
    even. Exact moments are not noisy, so they use "corners".
"""

import warnings
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus.symbols import INTEGERS, is_stream
from eigentext.errors import CorpusError, ParameterError
from eigentext.factor import anchors as furthest
from eigentext.factor import simplex_weights, svd
from eigentext.factor.anchors import separations
from eigentext.factor.mixture import ConditionalMixture
from eigentext.matrices.budget import check_room
from eigentext.matrices.runs import CSR
from eigentext.moments import NgramMoments
from eigentext.sequences.forms import HMMParameters
from eigentext.sequences.learning.em import Sequences, begun_anywhere, refine
from eigentext.sequences.learning.spelling import spelling_features, with_spelling

Corners = Literal["groups", "corners"]
_SPELLING = 30.0  # the tokens that spelling is worth
_RIDGE = (
    100.0  # roots of counts that are added to each word and context, so that rare ones matter less
)
_DIRECTIONS = 30  # at least, and some more than states
_MORE = 15
_FREQUENT = 20_000  # words that take part in the steps of k-means
_LLOYD = {"many": 5, "few": 20}  # the steps of k-means before and after the agglomeration
_STEPS = {"corners": 50, "groups": 1}  # the steps of EM on bigrams
_BLUR = {"corners": 1e-3, "groups": 0.02}  # what each word gives to all states: EM keeps zeros
_NAMES = 5  # words that name a state
_PURE = 0.9  # relative to the purest word of a state, what a name needs
_OUTSIDE = 0.5  # of the variance: with more outside of the hull, there are no anchors
_ROUNDING = 1e-7
_REMEDY = "ask for fewer states, or raise min_count (--min-count) for fewer symbols"


class Settings(Protocol):
    """The parameters of :class:`eigentext.HMM` that this method uses."""

    n_states: int
    anchors: Corners
    n_candidates: int
    spelling: float | None
    n_iter: int | None
    tol: float
    smoothing: float
    random_state: int


class AnchorFit(NamedTuple):
    """The result of :func:`by_anchors`."""

    parameters: HMMParameters
    diagnostics: dict[str, Any]
    history: list[float]  # the log-likelihood per token during EM


class _Text(NamedTuple):
    """What is counted."""

    contexts: CSR  # words and the symbols to their left and right, (n, 2 V + 4)
    pairs: CSR  # the first and second symbols of bigrams, (n, n)
    start: np.ndarray  # the first symbols of sequences, (n,)
    counts: np.ndarray  # the tokens of each word, (n,)
    n_words: int  # n, or n - 1 if the last symbol stands for rare words
    sampled: bool  # whether these are counts and not probabilities


class _Points(NamedTuple):
    """The vectors of words."""

    v: np.ndarray  # (n, l)
    noise: np.ndarray  # the variance of each, because a word has so few tokens, (n,)
    singular_values: np.ndarray


class _Posteriors(NamedTuple):
    """p(h|x), and how it was found."""

    weights: np.ndarray  # (n, m)
    corners: np.ndarray  # (m, l)
    outside: float  # the share of the variance of words that is outside of the hull


def by_anchors(
    settings: Settings, moments: NgramMoments, data: Sequences | None = None
) -> AnchorFit:
    """Learn a hidden Markov model from its anchors, and improve it by EM if there are data."""
    text = _counted(moments)
    m, n = settings.n_states, len(text.counts)
    size = max(_DIRECTIONS, m + _MORE)
    check_room(8.0 * n * (4 * size + 4 * m), f"vectors of {n:,} words for {m:,} states", _REMEDY)
    _check_size(settings, text)
    strength = _strength(settings, moments, text)
    with engine.one_blas_thread():
        points = _points(text, size if text.sampled else m, settings.random_state)
        if strength:
            features = spelling_features(moments.vocabulary.words, n)
            v = with_spelling(points.v, text.counts, features, strength)
            share = text.counts / (text.counts + strength)
            points = points._replace(v=v, noise=share**2 * points.noise)
        is_grouped = text.sampled and settings.anchors == "groups"
        found = (_by_groups if is_grouped else _by_corners)(points, text, settings)
        found = _sorted(found, text)
        how = "groups" if is_grouped else "corners"
        parameters = _parameters(found.weights, text, how)
    diagnostics = {
        "anchors": _names(found.weights, moments.vocabulary.words, text.counts),
        "separations": separations(found.corners) if m > 1 else np.ones(1),
        "outside": found.outside,
        "ambiguity": float(text.counts @ (1 - found.weights.max(axis=1)) / text.counts.sum()),
        "singular_values": points.singular_values,
    }
    if m > 1:
        _warn_of(diagnostics, text)
    if data is None or not settings.n_iter:
        return AnchorFit(parameters, diagnostics, [])
    return _refined(settings, parameters, diagnostics, data, text, is_stream(moments.options))


# The steps, in their order.


def _counted(moments: NgramMoments) -> _Text:
    """Take what is needed from counts of bigrams, or from the exact moments of three symbols."""
    bigrams = moments.levels[0]
    edge = moments.edge
    n = edge if moments.unigrams[moments.rare] else moments.rare
    sampled = bool(np.issubdtype(bigrams.dtype, np.integer))
    pairs = sp.csr_array(bigrams[:n, :n]).astype(np.float64)
    start = bigrams[[edge]].toarray()[0, :n].astype(np.float64)
    if is_stream(moments.options):  # it starts anywhere
        start = np.asarray(pairs.sum(axis=1))
    if sampled:
        left, right = bigrams.T.tocsr()[:n], bigrams[:n]
    else:  # the middle symbols of three: they have the same states with both neighbors
        if moments.order < 3:
            raise CorpusError("exact moments need windows of three; count with order=3")
        left, right = _around_middle(bigrams, moments.levels[1], edge)
        left, right = left[:n], right[:n]
    contexts = sp.csr_array(sp.hstack([left, right])).astype(np.float64)
    counts = np.asarray(right.sum(axis=1)).astype(np.float64)
    return _Text(contexts, pairs, start, counts, len(moments.vocabulary), sampled)


def _around_middle(bigrams: CSR, trigrams: CSR, edge: int) -> tuple[CSR, CSR]:
    firsts = np.repeat(np.arange(edge + 1), np.diff(bigrams.indptr))
    shape = (edge + 1, edge + 1)
    left = sp.csr_array((np.asarray(trigrams.sum(axis=1)), (bigrams.indices, firsts)), shape)
    seconds = np.repeat(bigrams.indices, np.diff(trigrams.indptr))
    right = sp.csr_array((trigrams.data, (seconds, trigrams.indices)), shape)
    return left, right


def _check_size(settings: Settings, text: _Text) -> None:
    m, n = settings.n_states, int((text.counts[: text.n_words] > 0).sum())
    if m > n:
        raise ParameterError(
            f"{m} states asked for, but the text has only {n} different words, and every state "
            f"needs an anchor; ask for {n} states or fewer (n_states, --states)"
        )
    if text.sampled and m > settings.n_candidates:
        raise ParameterError(
            f"{m} states asked for, but only {settings.n_candidates} words may be anchors; "
            "raise n_candidates (--candidates)"
        )


def _strength(settings: Settings, moments: NgramMoments, text: _Text) -> float:
    are_integers = moments.options.get("tokenizer") == INTEGERS
    if settings.spelling and are_integers:
        raise ParameterError(
            f"spelling is {settings.spelling:g}, but the symbols are integers, which have no "
            "spelling; leave spelling out or set it to 0, or give words"
        )
    if not text.sampled or are_integers:
        return 0.0
    return _SPELLING if settings.spelling is None else float(settings.spelling)


def _points(text: _Text, size: int, random_state: int) -> _Points:
    """v_x: the mean of the projected contexts of each word."""
    C = text.contexts
    X, ridge = C, 0.0
    if text.sampled:
        X, ridge = C.copy(), _RIDGE
        X.data = np.sqrt(X.data)
    rows, columns = (np.asarray(X.sum(axis=axis)) for axis in (1, 0))
    left, right = (
        np.divide(1.0, np.sqrt(side + ridge), out=np.zeros(len(side)), where=side > 0)
        for side in (rows, columns)
    )
    scaled = sp.csr_array(sp.diags_array(left) @ X @ sp.diags_array(right))
    _, s, Vt = svd(scaled, min(size, len(rows), len(columns)), random_state=random_state)
    R = np.sqrt(rows.sum()) * right[:, None] * Vt.T
    if text.sampled:
        R = R * s
    counts = np.maximum(text.counts, 1e-300)
    v, noise = np.zeros((len(counts), R.shape[1])), np.zeros(len(counts))
    half = C.shape[1] // 2
    for side in (slice(half), slice(half, None)):  # left and right
        part = np.asarray(C[:, side] @ R[side]) / counts[:, None]
        v += part
        if text.sampled:
            square = C[:, side] @ (R[side] ** 2).sum(axis=1) / counts
            noise += np.maximum(square - (part**2).sum(axis=1), 0) / counts
    return _Points(v, noise, s)


def _by_corners(points: _Points, text: _Text, settings: Settings) -> _Posteriors:
    m = settings.n_states
    seen = np.flatnonzero(text.counts[: text.n_words] > 0)
    if text.sampled:
        seen = seen[np.argsort(-text.counts[seen], kind="stable")[: settings.n_candidates]]
    found = furthest(points.v, m, candidates=seen, fewer=True)
    if len(found) < m:
        raise _too_few(m, len(found))
    corners = points.v[found]
    weights = simplex_weights(points.v, corners)
    outside = _outside(points.v, points.noise, weights @ corners, text.counts)
    return _Posteriors(weights, corners, outside)


def _by_groups(points: _Points, text: _Text, settings: Settings) -> _Posteriors:
    m, counts = settings.n_states, text.counts
    X = _directions(points.v)
    order = np.argsort(-counts[: text.n_words], kind="stable")
    some = order[: max(_FREQUENT, settings.n_candidates)]
    many = X[order[: settings.n_candidates]]
    many = _k_means(X[some], counts[some], many, _LLOYD["many"])
    nearest = (X[some] @ many.T).argmax(axis=1)
    size = np.bincount(nearest, counts[some], len(many))
    few = _directions(_merged(many[size > 0], size[size > 0], m))
    corners = _k_means(X[some], counts[some], few, _LLOYD["few"]) if len(few) == m else few
    if len(corners) < m:
        raise _too_few(m, len(corners))
    weights = simplex_weights(X, corners)
    noise = points.noise / np.maximum((points.v**2).sum(axis=1), 1e-300)
    outside = _outside(X, noise, weights @ corners, counts)
    weights **= 2
    weights /= weights.sum(axis=1, keepdims=True)
    if not (mass := counts @ weights).all():
        raise _too_few(m, int((mass > 0).sum()))
    return _Posteriors(weights, corners, outside)


def _k_means(X: np.ndarray, counts: np.ndarray, corners: np.ndarray, steps: int) -> np.ndarray:
    """Some steps of k-means for directions. A corner without words stays where it is."""
    for _ in range(steps):
        nearest = (X @ corners.T).argmax(axis=1)
        sums = sp.csr_array((counts, (nearest, np.arange(len(X)))), (len(corners), len(X))) @ X
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        new = np.where(lengths > 0, sums / np.maximum(lengths, 1e-300), corners)
        if np.array_equal(new, corners):
            break
        corners = new
    return corners


def _merged(means: np.ndarray, size: np.ndarray, m: int) -> np.ndarray:
    """Merge the two closest groups (Ward), weighted by their size, until m are left."""
    means, size = means.copy(), size.astype(np.float64)
    alive = np.ones(len(means), bool)

    def costs(i: int) -> np.ndarray:
        both = size[i] * size / (size[i] + size)
        found = both * ((means - means[i]) ** 2).sum(axis=1)
        found[~alive] = np.inf
        found[i] = np.inf
        return found

    D = np.array([costs(i) for i in range(len(means))])
    for _ in range(len(means) - m):
        i, j = divmod(int(D.argmin()), len(D))
        means[i] = (size[i] * means[i] + size[j] * means[j]) / (size[i] + size[j])
        size[i] += size[j]
        alive[j] = False
        D[j] = D[:, j] = np.inf
        D[i] = D[:, i] = costs(i)
    return means[alive]


def _directions(points: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(lengths > 0, lengths, 1.0)


def _outside(v: np.ndarray, noise: np.ndarray, inside: np.ndarray, counts: np.ndarray) -> float:
    """The share of the variance of words, weighted by tokens, that the hull does not have.

    What can be noise does not count.
    """
    center = counts @ v / counts.sum()
    rest = counts @ (((v - inside) ** 2).sum(axis=1) - noise)
    whole = counts @ ((v - center) ** 2).sum(axis=1)
    return float(max(rest, 0.0) / whole) if whole > 0 else 0.0


def _sorted(found: _Posteriors, text: _Text) -> _Posteriors:
    """The states in the order of their tokens, the most frequent first."""
    order = np.argsort(-(text.counts @ found.weights), kind="stable")
    weights = np.ascontiguousarray(found.weights[:, order])
    weights[text.counts == 0] = text.counts @ weights / text.counts.sum()
    return _Posteriors(weights, found.corners[order], found.outside)


def _parameters(P: np.ndarray, text: _Text, how: Corners) -> HMMParameters:
    """Emissions by Bayes' rule, and the transitions that the bigrams show."""
    counts, m = text.counts, P.shape[1]
    if text.sampled:
        P = (1 - _BLUR[how]) * P + _BLUR[how] / m
    J = counts[:, None] * P
    O = np.ascontiguousarray(J / J.sum(axis=0))  # noqa: E741 - the letter of the paper
    if how == "groups":
        J = P.T @ (text.pairs @ P) + 1e-3
        initial = P.T @ text.start + 1e-3
    else:
        inverse = np.linalg.pinv(O)
        J = inverse @ (text.pairs @ inverse.T)
        start = text.start[None] / text.start.sum()
        initial = simplex_weights(start, np.ascontiguousarray(O.T))[0]
        if not text.sampled:
            return HMMParameters(initial, _rows(J), O)
        J = np.maximum(J, 0.1 * J.sum() / m**2)  # EM keeps zeros
        initial = initial + 0.1 / m
    mixture = ConditionalMixture(text.pairs)
    for _ in range(_STEPS[how] if text.pairs.nnz else 0):
        J, initial = _step(J, initial, O, mixture, text.start)
    return HMMParameters(initial / initial.sum(), _rows(J + 1e-6 * J.sum() / m**2), O)


def _step(
    J: np.ndarray,
    initial: np.ndarray,
    O: np.ndarray,  # noqa: E741
    mixture: ConditionalMixture,
    start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """A step of EM for the joint probabilities of two states, and for the first state."""
    ratios, _, _ = mixture.ratios(O @ (J / J.sum()), O)
    X = mixture.counts.copy()
    X.data = ratios
    q = O @ (initial / initial.sum())
    return J * (O.T @ (X @ O)), initial * (O.T @ (start / np.maximum(q, 1e-300)))


def _rows(J: np.ndarray) -> np.ndarray:
    J = np.maximum(J, 0)
    sums = J.sum(axis=1, keepdims=True)
    return np.where(sums > 0, J / np.where(sums > 0, sums, 1.0), 1 / len(J))


def _names(P: np.ndarray, words: list[str], counts: np.ndarray) -> list[list[str]]:
    """The words that name each state: of its purest words, the most frequent."""
    P, counts = P[: len(words)], counts[: len(words)]
    best = P.argmax(axis=1)
    names = []
    for h in range(P.shape[1]):
        own = np.flatnonzero((best == h) & (counts > 0))
        if len(own):
            frequent = own[np.argsort(-counts[own] * P[own, h], kind="stable")[: 10 * _NAMES]]
            pure = frequent[P[frequent, h] >= _PURE * P[frequent, h].max()]
            own = pure[np.argsort(-counts[pure], kind="stable")[:_NAMES]]
        names.append([words[x] for x in own])
    return names


def _warn_of(diagnostics: dict[str, Any], text: _Text) -> None:
    outside = diagnostics["outside"]
    if outside > (_OUTSIDE if text.sampled else _ROUNDING):
        warnings.warn(
            f"{outside:.2g} of the variance of the words lies outside of the hull of the anchors, "
            "so some states seem to have no word of their own; ask for more states, give more "
            "text, let EM correct the states (n_iter=20), or use method='spectral+em'",
            stacklevel=6,
        )


def _too_few(m: int, k: int) -> ParameterError:
    return ParameterError(
        f"{m} states asked for, but the words of this text have only {k} different kinds of "
        f"contexts; ask for {k} states or fewer (n_states, --states), or give more text"
    )


def _refined(
    settings: Settings,
    start: HMMParameters,
    diagnostics: dict[str, Any],
    data: Sequences,
    text: _Text,
    stream: bool,
) -> AnchorFit:
    """EM over the sequences, from the parameters that the anchors give."""
    usual = text.counts / text.counts.sum()
    prior = settings.smoothing * usual if settings.smoothing else None
    with engine.phase("EM", None, "tokens") as advance:
        run = refine(
            start,
            data,
            n_iter=settings.n_iter or 0,
            tol=settings.tol,
            prior=prior,
            advance=advance,
        )
    parameters = begun_anywhere(run.parameters, data) if stream else run.parameters
    diagnostics |= {
        "passes": float(run.n_passes),
        "converged": run.converged,
        "log_likelihood": run.history[-1],
    }
    return AnchorFit(parameters, diagnostics, run.history)
