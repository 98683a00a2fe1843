"""What ``pruning.py`` and ``forest.py`` do if the numbers of a sentence leave the range of doubles.

The sums are the same, with an exponent for each number (``_wide_loops``). They work for sentences
of any length, and are several times slower.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eigentext.errors import ParameterError
from eigentext.grammars.grammar import ranges, starts

if TYPE_CHECKING:
    from eigentext.grammars.chart.forest import ParseForest
    from eigentext.grammars.chart.pruning import CoarseGrammar
    from eigentext.grammars.grammar import Grammar


class Wide(NamedTuple):
    """Numbers x 2^(512 e)."""

    x: np.ndarray
    e: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> "Wide":
        """Finite doubles as wide numbers."""
        from eigentext.grammars.chart._wide_loops import widen

        wide = cls(values.copy(), np.zeros(values.shape, np.int32))
        widen(wide.x.reshape(-1), wide.e.reshape(-1))
        return wide

    @classmethod
    def zeros(cls, *shape: int) -> "Wide":
        """An array of zeros."""
        from eigentext.grammars.chart._wide_loops import ZERO

        return cls(np.zeros(shape), np.full(shape, ZERO, np.int32))


_BITS = 512 * np.log(2.0)


def prune_wide(
    grammar: "CoarseGrammar", leaves: np.ndarray, threshold: float, memory: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray | None]:
    """Prune with wide numbers.

    Return the cells, labels and marginals of the survivors, bottom-up; log p(sentence); the pieces.

    Parameters
    ----------
    grammar, threshold, memory
        As in :func:`~eigentext.grammars.chart.pruning.prune`.
    leaves
        The score of each preterminal at each word.
    """
    from eigentext.grammars.chart._wide_loops import cover_wide, inside_wide, multiply, outside_wide

    m, n = grammar.n_inner, len(leaves)
    size = m * n * (n + 1) // 2
    if 25 * size > memory:
        raise too_long(n, 25 * size)
    words, chart, before = Wide.of(leaves), Wide.zeros(size), Wide.zeros(n, len(grammar.ti.child))
    spread = np.zeros((n + 1, m, 2), np.int32)
    inside_wide(grammar, words, chart, spread, before)
    outer, outer_words = Wide.zeros(size), Wide.zeros(*leaves.shape)

    def above(a: int, i: int, j: int) -> tuple[Wide, Wide, int | tuple[int, int]]:
        if j - i == 1:
            return words, outer_words, (i, a - m)
        return chart, outer, m * j * (j - 1) // 2 + a * j + i

    log_probability, pieces, roots = -np.inf, None, []
    for a in range(m, len(grammar.pi)) if n == 1 else range(m):
        inner, outside, place = above(a, 0, n)
        if grammar.pi[a] > 0 and inner.x[place] > 0:
            log = np.log(grammar.pi[a]) + np.log(inner.x[place]) + _BITS * inner.e[place]
            roots.append((outside, place, np.log(grammar.pi[a]), log))
    if roots:
        log_probability = float(np.logaddexp.reduce([log for *_, log in roots]))
        shares = [(outside, place, log - log_probability) for outside, place, log, _ in roots]
    else:
        pieces, shares = cover_wide(grammar.prior, words, chart), []
        for piece in pieces.tolist():
            inner, outside, place = above(*piece)
            log = np.log(inner.x[place]) + _BITS * inner.e[place]
            shares.append((outside, place, -log))
    for outside, place, log in shares:
        outside.e[place] = np.round(log / _BITS)
        outside.x[place] = np.exp(log - _BITS * outside.e[place])
    outside_wide(grammar, words, chart, spread, before, outer, outer_words)
    multiply((chart.x, chart.e), (outer.x, outer.e))
    multiply(
        (words.x.reshape(-1), words.e.reshape(-1)),
        (outer_words.x.reshape(-1), outer_words.e.reshape(-1)),
    )
    return *_survivors(outer.x, outer_words.x, m, threshold), log_probability, pieces


class WideInside(NamedTuple):
    """The inside numbers of all states, the outside numbers of the roots, and log |p(sentence)|."""

    place: np.ndarray
    inside: Wide
    outside: Wide
    sign: float
    log_probability: float


def inside_wide_forest(
    forest: "ParseForest", grammar: "Grammar", words: np.ndarray
) -> WideInside | None:
    """The inside pass over a forest; None if nothing reaches a root."""
    from eigentext.grammars.chart._wide_loops import inside_forest_wide

    n_states = grammar.n_states[forest.label]
    place = starts(n_states)
    inside, outside = Wide.zeros(place[-1]), Wide.zeros(place[-1])
    leaves = np.flatnonzero(np.diff(forest.groups) == 0)
    where = ranges(place[leaves], n_states[leaves])
    inside.x[where], inside.e[where] = Wide.of(words)
    inside_forest_wide(*_arrays(forest, grammar), place, *inside)
    at = ranges(place[forest.roots], n_states[forest.roots])
    pi = grammar.root[grammar.states_of(forest.label[forest.roots])]
    x, e = Wide.of(pi * inside.x[at])
    e += np.where(x != 0.0, inside.e[at], 0)
    level = int(e.max(initial=-(2**28)))
    total = float(np.ldexp(x, 512 * np.maximum(e - level, -4)).sum())
    if total == 0.0:
        return None
    outside.x[at], outside.e[at] = Wide.of(pi / total)
    outside.e[at] -= np.where(outside.x[at] != 0.0, level, 0).astype(np.int32)
    return WideInside(
        place, inside, outside, float(np.sign(total)), float(np.log(abs(total)) + _BITS * level)
    )


def posteriors_wide(
    forest: "ParseForest", grammar: "Grammar", above: WideInside
) -> tuple[np.ndarray, np.ndarray]:
    """The posteriors of all states of items, packed, and those of edges: the outside pass."""
    from eigentext.grammars.chart._wide_loops import multiply, outside_forest_wide

    posterior = np.empty(len(forest.left))
    inside, outside = above.inside, above.outside
    outside_forest_wide(*_arrays(forest, grammar), above.place, *inside, *outside, posterior)
    multiply((inside.x, inside.e), (outside.x, outside.e))
    return outside.x, posterior


def _arrays(forest: "ParseForest", grammar: "Grammar") -> tuple[np.ndarray, ...]:
    """The forest, with the tensors of its own rules."""
    rules, rule = np.unique(forest.rule, return_inverse=True)
    sizes = grammar.sizes[rules]
    return (
        forest.label, forest.groups, rule.astype(np.int32), forest.edges, forest.left,
        forest.right, grammar.n_states, sizes, starts(sizes.prod(axis=1)),
        grammar.tensors_of(rules),
    )  # fmt: skip


def _survivors(
    marginals: np.ndarray, of_words: np.ndarray, m: int, threshold: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The items that reach the threshold, sorted by cell and then by label."""
    n = len(of_words)
    found = np.flatnonzero((marginals > 0) & (marginals >= threshold))
    ends = np.arange(1, n + 1)
    j = np.searchsorted(m * ends * (ends - 1) // 2, found, side="right")
    a, i = np.divmod(found - m * j * (j - 1) // 2, j)
    words, tags = np.nonzero((of_words > 0) & (of_words >= threshold))
    cells = np.append(j * (j - 1) // 2 + j - 1 - i, words * (words + 1) // 2)
    labels = np.append(a, tags + m).astype(np.int32)
    order = np.lexsort((labels, cells))
    values = np.append(marginals[found], of_words[words, tags])
    return cells[order], labels[order], values[order]


def too_long(n: int, size: float) -> ParameterError:
    """The error for a sentence whose charts need too much memory."""
    return ParameterError(
        f"a sentence of {n:,} words needs {1e-9 * size:,.1f} GB for its charts; "
        "cut it into parts, or allow more memory"
    )
