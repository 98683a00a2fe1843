r"""Tensors of low rank for the rules of a spectral grammar, after [Cohen and Collins 2012].

Each tensor becomes a sum of at most r products of three vectors (``factored_grammar.py``) by
alternating least squares. Two of the three sets of vectors are kept, and the third is the solution
of a linear system; then the next. All rules of one shape are done together.

* The start is an SVD of the tensor as a matrix with a column for each state of the parent, and an
  SVD of each of its first left vectors as a matrix of both children. It needs no random numbers.
* A rule gets 1, 2, 4, … products, at most r, until its relative error is below .2%.
* The coordinates of a spectral grammar have different scales. Z divides by singular values, so that
  its last coordinates are large and matter little. So errors are measured after each coordinate is
  divided by its standard deviation: E[Z Y Y] then has correlations.

[Cohen and Collins 2012] S. Cohen and M. Collins, Tensor decomposition for fast parsing with
latent-variable PCFGs, NIPS 2012.
"""

from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.grammars.factored_grammar import FactoredGrammar, lengths
from eigentext.grammars.grammar import Grammar, starts

_SWEEPS = 24
_ENOUGH = 0.002  # a relative error that is small enough
_RIDGE = 1e-6  # of the mean of the diagonal: products that cancel each other stay small
_NUMBERS = 1 << 20  # of the tensors that are done together


class Factors(NamedTuple):
    """u, v and w of some rules of one shape: (rules, states, products)."""

    u: np.ndarray
    v: np.ndarray
    w: np.ndarray


class Approximated(NamedTuple):
    """A grammar of low rank.

    Attributes
    ----------
    grammar
        The grammar.
    error
        The average relative error of tensors, weighted by the counts of rules.
    share
        How many numbers there are, as a share of those of the tensors.
    """

    grammar: FactoredGrammar
    error: float
    share: float


def low_rank(
    grammar: Grammar, rank: int, below: np.ndarray | None = None, above: np.ndarray | None = None
) -> Approximated:
    """The grammar with tensors of at most this rank.

    Parameters
    ----------
    grammar
        A grammar with tensors.
    rank
        The largest number of products.
    below, above
        The standard deviation of each state, packed, as that of a child and of a parent; 1 if not
        given.
    """
    n = len(grammar.sizes)
    ones = np.ones(len(grammar.root))
    below, above = (ones if one is None else _usable(one) for one in (below, above))
    ranks, errors = np.zeros(n, np.int64), np.zeros(n)
    found: dict[int, np.ndarray] = {}
    with engine.phase("low rank", n, "rules") as advance, engine.one_blas_thread():
        for rules in _batches(grammar):
            shape = grammar.sizes[rules[0]]
            scales = [
                scale[grammar.state_offsets[label[rules]][:, None] + np.arange(m)]
                for scale, label, m in zip(
                    (below, below, above),
                    (grammar.rules.left, grammar.rules.right, grammar.rules.parent),
                    shape.tolist(),
                )
            ]
            tensors = grammar.tensors_of(rules).reshape(-1, *shape)
            b, c, a = scales
            tensors = tensors / (b[:, :, None, None] * c[:, None, :, None] * a[:, None, None, :])
            for some, factors, missed in decompose(tensors, rank):
                ranks[rules[some]], errors[rules[some]] = factors.u.shape[2], missed
                parts = [part * scale[some, :, None] for part, scale in zip(factors, scales)]
                numbers = np.concatenate(parts, axis=1).reshape(len(some), -1)
                found |= dict(zip(rules[some].tolist(), numbers))
            advance(len(rules))
    at = starts(lengths(grammar.sizes, ranks))
    numbers = np.empty(at[-1], np.float32)
    for r in range(n):
        part = found.pop(r) if r in found else grammar.tensor_of(r).ravel()
        numbers[at[r] : at[r + 1]] = part
    small = FactoredGrammar(
        grammar.rules, grammar.n_states, ranks, numbers, grammar.root, grammar.means
    )
    uses = grammar.rules.counts
    error = float(uses @ errors / max(uses.sum(), 1))
    return Approximated(small, error, float(at[-1] / max(grammar.tensor_offsets[-1], 1)))


def decompose(tensors: np.ndarray, rank: int):
    """Yield which of some tensors of one shape have found factors, the factors, and their errors.

    Tensors whose factors would have as many numbers as themselves are never yielded.
    """
    n, *shape = tensors.shape
    most = min(rank, (int(np.prod(shape)) - 1) // sum(shape))
    left = np.arange(n)
    sizes = np.sqrt((tensors**2).sum(axis=(1, 2, 3)))
    if most < 1:
        return
    start = first_factors(tensors, most)
    k = 1
    while len(left):
        k = min(k, most)
        part = Factors(*(one[left, :, :k] for one in start))
        factors = alternate(tensors[left], part)
        missed = relative_errors(tensors[left], factors, sizes[left])
        done = (missed <= _ENOUGH) | (k == most)
        if done.any():
            yield left[done], Factors(*(one[done] for one in factors)), missed[done]
        left, k = left[~done], 2 * k


def first_factors(tensors: np.ndarray, rank: int) -> Factors:
    """The `rank` largest products of two SVDs, one inside the other. Some may be zero."""
    n, mb, mc, ma = tensors.shape
    flat = tensors.reshape(n, mb * mc, ma)
    _, vectors = np.linalg.eigh(flat.transpose(0, 2, 1) @ flat)
    w = vectors[:, :, ::-1][:, :, : min(rank, ma)]  # the largest first
    pairs = (flat @ w).reshape(n, mb, mc, -1).transpose(0, 3, 1, 2)
    U, s, Vt = np.linalg.svd(pairs, full_matrices=False)
    n_pairs = s.shape[2]
    order = np.argsort(-s.reshape(n, -1), axis=1, kind="stable")[:, :rank]
    which, (i, j) = np.arange(n)[:, None], np.divmod(order, n_pairs)
    size = np.cbrt(s[which, i, j])[:, None]
    found = [
        size * part.transpose(0, 2, 1)
        for part in (U[which, i, :, j], Vt[which, i, j], w.transpose(0, 2, 1)[which, i])
    ]
    empty = rank - order.shape[1]  # there may be fewer products than asked for
    return Factors(*(np.pad(part, ((0, 0), (0, 0), (0, empty))) for part in found))


def alternate(tensors: np.ndarray, factors: Factors, sweeps: int = _SWEEPS) -> Factors:
    """Alternating least squares. Equivalent to solving for each set of vectors in turn.

    Each solution is ``lstsq`` of the unfolded tensor on the products of the other two sets, with a
    little regularization.
    """
    u, v, w = factors
    n, mb, mc, ma = tensors.shape
    by_a = tensors.reshape(n, mb * mc, ma).transpose(0, 2, 1)
    by_b = tensors.reshape(n, mb, mc * ma)
    by_c = np.ascontiguousarray(tensors.transpose(0, 2, 1, 3)).reshape(n, mc, mb * ma)
    for _ in range(sweeps):
        u = _solved(by_b, v, w)
        v = _solved(by_c, u, w)
        w = _solved(by_a, u, v)
    # Columns of equal size, so that 32 bits are enough for each.
    norms = [np.sqrt((one**2).sum(axis=1, keepdims=True)) for one in (u, v, w)]
    size = np.cbrt(norms[0] * norms[1] * norms[2])
    return Factors(*(size * one / np.where(x > 0, x, 1.0) for one, x in zip((u, v, w), norms)))


def _solved(unfolded: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The third set of vectors, from the other two."""
    n, _, k = x.shape
    products = (x[:, :, None] * y[:, None]).reshape(n, -1, k)
    gram = (x.transpose(0, 2, 1) @ x) * (y.transpose(0, 2, 1) @ y)
    ridge = _RIDGE * np.trace(gram, axis1=1, axis2=2) / k
    gram = gram + np.where(ridge > 0, ridge, 1.0)[:, None, None] * np.eye(k)
    return np.linalg.solve(gram, (unfolded @ products).transpose(0, 2, 1)).transpose(0, 2, 1)


def relative_errors(tensors: np.ndarray, factors: Factors, sizes: np.ndarray) -> np.ndarray:
    """The size of what is missed, as a share of the size of each tensor."""
    n, mb, mc, ma = tensors.shape
    u, v, w = factors
    pairs = (u[:, :, None] * v[:, None]).reshape(n, mb * mc, -1)
    missed = tensors.reshape(n, mb * mc, ma) - pairs @ w.transpose(0, 2, 1)
    found = np.sqrt((missed**2).sum(axis=(1, 2)))
    return np.divide(found, sizes, out=np.zeros(n), where=sizes > 0)


def _batches(grammar: Grammar):
    """The numbers of the rules of each shape, some at a time."""
    shapes, which = np.unique(grammar.sizes, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    for rules in np.split(order, np.cumsum(np.bincount(which.ravel(), minlength=len(shapes)))[:-1]):
        step = max(1, _NUMBERS // int(grammar.sizes[rules[0]].prod()))
        for first in range(0, len(rules), step):
            yield rules[first : first + step]


def _usable(scale: np.ndarray) -> np.ndarray:
    """Standard deviations by which one can divide."""
    return np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
