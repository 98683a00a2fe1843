"""Charts and forests with an exponent for each number: equal to doubles, and beyond their range."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eigentext.errors import ParameterError
from eigentext.grammars.chart import forest as forests
from eigentext.grammars.chart.forest import ParseForest, inside_outside, log_probability
from eigentext.grammars.chart.pruning import CoarseGrammar, _prune, prune
from eigentext.grammars.chart.wide import Wide, inside_wide_forest, posteriors_wide, prune_wide
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.treebank.normal_form import Rules

seeds = st.integers(0, 10**6)


def random_rules(seed, m, n_tags, density):
    """Parents, left and right children; each inner label has a rule."""
    rng = np.random.default_rng(seed)
    left, right, parent = np.nonzero(rng.random((m + n_tags, m + n_tags, m)) < density)
    last = np.arange(m)
    return (
        np.append(parent, last),
        np.append(left, np.full(m, m)),
        np.append(right, np.full(m, m + n_tags - 1)),
    )


def random_chart(seed, m=3, n_tags=3, density=0.3):
    rng = np.random.default_rng(seed)
    rules = random_rules(seed, m, n_tags, density)
    pi = rng.random(m + n_tags) * (rng.random(m + n_tags) < 0.7)
    return CoarseGrammar.from_rules(*rules, rng.random(len(rules[0])), pi), rules


def random_leaves(seed, n, n_tags=3):
    rng = np.random.default_rng(seed)
    leaves = rng.random((n, n_tags)) * (rng.random((n, n_tags)) < 0.6)
    leaves[:, -1] += 1e-3
    return leaves


def log_inside(grammar, leaves):
    """Inside values in logarithms, by width: ``[a, i, w]`` is label a over w words from i."""
    n, m, n_labels = len(leaves), grammar.n_inner, len(grammar.pi)
    rules = [(a, b + m, c + m, q) for a, b, c, q in zip(*grammar.tt)]
    for by_group, first in ((grammar.ii, 0), (grammar.it, m)):
        for g, (a, b) in enumerate(zip(by_group.parent, by_group.child)):
            at = slice(*by_group.offsets[g : g + 2])
            rules += [(a, b, c + first, q) for c, q in zip(by_group.sibling[at], by_group.q[at])]
    for g, (a, c) in enumerate(zip(grammar.ti.parent, grammar.ti.child)):
        at = slice(*grammar.ti.offsets[g : g + 2])
        rules += [(a, b + m, c, q) for b, q in zip(grammar.ti.sibling[at], grammar.ti.q[at])]
    starting = np.full((n_labels, n + 1, n + 1), -np.inf)
    ending = np.full((n_labels, n + 1, n + 1), -np.inf)  # [a, j, w], the same by the end
    with np.errstate(divide="ignore"):
        starting[m:, :n, 1] = ending[m:, 1:, 1] = np.log(leaves.T)
    for w in range(2, n + 1):
        i = np.arange(n - w + 1)
        for a, b, c, q in rules:
            parts = starting[b, : len(i), 1:w] + ending[c, w:, w - 1 : 0 : -1]
            top = parts.max(axis=1)
            with np.errstate(divide="ignore"):
                top[top == -np.inf] = 0.0
                total = np.log(np.exp(parts - top[:, None]).sum(axis=1)) + top + np.log(q)
            starting[a, i, w] = np.logaddexp(starting[a, i, w], total)
        ending[:, i + w, w] = starting[:, i, w]
    return starting


def same(one, other):
    cells, labels, marginals, log_p, pieces = one
    assert np.array_equal(cells, other[0])
    assert np.array_equal(labels, other[1])
    assert np.allclose(marginals, other[2], rtol=1e-9, atol=0)
    assert log_p == pytest.approx(other[3], rel=1e-12)
    assert (pieces is None) == (other[4] is None)
    assert pieces is None or np.array_equal(pieces, other[4])


@given(seeds, st.integers(1, 8), st.sampled_from([0.02, 0.1, 0.4]), st.sampled_from([0, 1e-2]))
@example(244, 7, 0.02, 0)
def test_the_chart_is_that_of_doubles(seed, n, density, threshold):
    grammar, _ = random_chart(seed, density=density)
    leaves = random_leaves(seed, n)
    one = _prune(grammar, leaves.copy(), threshold)
    other = prune_wide(grammar, leaves, threshold, 1e9)
    if one[4] is None or other[4] is None or np.array_equal(one[4], other[4]):
        same(one, other)
        return
    inside = log_inside(grammar, leaves)  # two covers are equally good, and rounding decides
    first, second = (
        [np.log(grammar.prior[a]) + inside[a, i, j - i] for a, i, j in pieces.tolist()]
        for pieces in (one[4], other[4])
    )
    assert len(first) == len(second)
    assert sum(first) == pytest.approx(sum(second), rel=1e-9)


@pytest.mark.parametrize("n", [60, 125, 250, 400])
def test_random_grammars_agree_with_logarithms(n):
    rng = np.random.default_rng(n)
    rules = {(0, 0, 2), (0, 3, 0), (0, 2, 3), (0, 3, 2), (0, 2, 2), (1, 2, 3)}  # there is a parse
    rules |= {tuple(rule) for rule in np.argwhere(rng.random((2, 4, 4)) < 0.1).tolist()}
    pi = np.array([0.3, 0.7, 0.0, 0.0])
    grammar = CoarseGrammar.from_rules(*np.array(sorted(rules)).T, rng.random(len(rules)), pi)
    leaves = random_leaves(n, n, 2) * 1e-9
    leaves[:, 0] += 1e-12
    inside = log_inside(grammar, leaves)
    expected = np.logaddexp.reduce(np.log(pi[:2]) + inside[:2, 0, n])
    assert -60 * n < expected < -10 * n
    words = np.arange(0, 2 * n + 1, 2), np.tile([2, 3], n), leaves.reshape(-1)
    assert prune(grammar, *words).log_probability == pytest.approx(expected, rel=1e-10)
    found = prune_wide(grammar, leaves, 5e-5, 1e9)
    assert found[3] == pytest.approx(expected, rel=1e-10)
    same(_prune(grammar, leaves, 5e-5) or found, found)


def two_chains():
    """A and B grow by x, A with 0.1 and B with 0.9; only A may be followed by y, only B by z."""
    S, A, B, X, Y, Z = range(6)
    q = {(S, A, Y): 0.5, (S, B, Z): 0.5, (A, A, X): 0.1, (B, B, X): 0.9, (A, X, X): 0.9,
         (B, X, X): 0.1}  # fmt: skip
    return CoarseGrammar.from_rules(*np.array(list(q)).T, list(q.values()), np.eye(6)[S])


@pytest.mark.parametrize("n", [60, 125, 250, 400, 800])
def test_a_label_far_below_another_of_its_span_is_not_lost(n):
    """B is the better reading of the words so far, after 400 words by 2 ** 1260. Then y follows."""
    words = np.arange(n + 1), np.append(np.full(n - 1, 3), 4), np.ones(n)
    found = prune(two_chains(), *words)
    assert found.log_probability == pytest.approx(np.log(0.5 * 0.9) + (n - 3) * np.log(0.1))
    assert found.pieces is None
    assert found.labels.tolist().count(1) == n - 2  # A over each prefix but one word and all
    assert 2 not in found.labels  # and B nowhere
    assert np.allclose(found.marginals, 1)


def test_chains_without_an_end_are_covered_by_pieces():
    n = 500
    words = np.arange(n + 1), np.append(np.full(n - 1, 3), [3]), np.ones(n)
    found = prune(two_chains(), *words)
    assert found.log_probability == -np.inf
    assert found.pieces.tolist() == [[2, 0, n]]
    assert np.allclose(found.marginals, 1)


def test_scores_as_small_as_doubles_go():
    grammar, n = two_chains(), 60
    leaves = np.zeros((n, 3))
    leaves[:-1, 0], leaves[-1, 1:] = 5e-324, [2.0, 1e300]
    total = np.logaddexp(np.log(2.0 * 0.9) + (n - 3) * np.log(0.1),
                         np.log(1e300 * 0.1) + (n - 3) * np.log(0.9))  # fmt: skip
    expected = total + np.log(0.5) + (n - 1) * np.log(5e-324)
    assert prune_wide(grammar, leaves, 0, 1e9)[3] == pytest.approx(expected, rel=1e-12)
    words = np.append(np.arange(n), n + 1), np.append(np.full(n - 1, 3), [4, 5]), leaves[leaves > 0]
    assert prune(grammar, *words).log_probability == pytest.approx(expected, rel=1e-12)


def test_rules_as_small_as_doubles_go():
    q, n = 1e-300, 50
    grammar = CoarseGrammar.from_rules([0, 0], [0, 1], [1, 1], [q, q], [1.0, 0.0])
    found = prune(grammar, np.arange(n + 1), np.ones(n, int), np.ones(n))
    assert found.log_probability == pytest.approx((n - 1) * np.log(q))
    assert np.allclose(found.marginals, 1)


def test_memory():
    leaves = np.ones((100, 3))
    with pytest.raises(ParameterError, match=r"of 100 words needs .* GB for its charts; cut it"):
        prune_wide(two_chains(), leaves, 0, 24 * 3 * 5050)
    assert prune_wide(two_chains(), leaves, 0, 25 * 3 * 5050)


def test_numbers_as_they_are():
    values = np.array([0.0, 1.0, -3.0, 1e-200, -1e200, 5e-324, 1.7e308])
    x, e = Wide.of(values)
    nonzero = x != 0
    assert np.array_equal(nonzero, values != 0)
    assert ((np.abs(x) >= 2.0**-256) & (np.abs(x) < 2.0**256))[nonzero].all()
    assert np.array_equal(np.ldexp(x, np.where(nonzero, 512 * e, 0)), values)


# -- forests ---------------------------------------------------------------------------------------

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [1, 1, 1, 1, 1]]))


@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_forest_is_that_of_doubles(whole_forest, seed, signs):
    rng = np.random.default_rng(seed)
    forest = whole_forest(RULES, [[0, 2], [2], [0], [0, 2], [2], [0, 1]])
    grammar = Grammar(RULES, np.array([4, 1, 3]), np.empty(0), np.empty(0))

    def draw(n):
        return rng.gamma(1.0, size=n) * (rng.choice([-1, 1], n, p=[0.2, 0.8]) if signs else 1)

    grammar.tensor, grammar.root = draw(grammar.tensor_offsets[-1]), draw(8)
    words = draw(grammar.n_states[forest.label[np.diff(forest.groups) == 0]].sum())
    expected = inside_outside(forest, grammar, words)
    above = inside_wide_forest(forest, grammar, words)
    states, edges = posteriors_wide(forest, grammar, above)
    items = np.add.reduceat(states, above.place[:-1])
    assert (above.sign, above.log_probability) == pytest.approx((expected.sign, expected[0]))
    assert np.allclose(items, expected.items, rtol=1e-8, atol=1e-10)
    assert np.allclose(edges, expected.edges, rtol=1e-8, atol=1e-10)


def spine(n):
    """The tree of A -> A T (rule 0) over A -> T T (rule 1): items t0, t1, A, t2, A, ..."""
    label = np.array([1, 1, *([0, 1] * (n - 2)), 0], np.int32)
    wide = np.flatnonzero(label == 0)
    left = np.append(0, wide[:-1])
    end = np.cumsum(label)
    return ParseForest(
        label, np.where(label == 0, 0, end - 1).astype(np.int32), end.astype(np.int32),
        np.append(0, np.cumsum(label == 0)), np.append(1, np.zeros(n - 2, int)).astype(np.int32),
        np.arange(n), left.astype(np.int32), (wide - 1).astype(np.int32),
        wide[-1:].astype(np.int32),
    )  # fmt: skip


@pytest.mark.parametrize("n", [60, 125, 250, 400, 1000])
def test_a_state_far_below_another_of_its_item_is_not_lost(n):
    """One state is likely in the first half of a sentence, the other in the second half."""
    rules = Rules(*np.array([[0, 0], [0, 1], [1, 1], [1, 1]]))
    grammar = Grammar(rules, np.array([2, 2]), np.empty(0), np.array([0.5, 0.5, 0, 0]))
    grammar.tensor = np.empty(grammar.tensor_offsets[-1])
    grammar.tensor_of(0)[:] = np.einsum("ac,ab->bca", [[0.999, 0.001], [0.001, 0.999]], np.eye(2))
    grammar.tensor_of(1)[:] = 0.25
    forest, first = spine(n), np.arange(n) < n // 2
    words = np.stack((first, ~first), axis=1).astype(float).reshape(-1)
    steps = np.where(first[2:, None], np.log([0.999, 0.001]), np.log([0.001, 0.999])).sum(axis=0)
    expected = np.logaddexp.reduce(steps) + np.log(0.5 * 0.25)
    assert log_probability(forest, grammar, words) == pytest.approx(expected, rel=1e-12)
    found = inside_outside(forest, grammar, words)
    assert found.log_probability == pytest.approx(expected, rel=1e-12)
    assert np.allclose(found.items, 1)
    assert np.allclose(found.edges, 1)


def test_signs_that_cancel_leave_finite_marginals():
    """P = P' - 3/4 Q' and Q = Q' / 4 give 4 ** -n. Each P' is four times its P."""
    n = 1000
    rules = Rules(*np.array([[0, 0], [0, 1], [1, 1], [1, 1]]))
    grammar = Grammar(rules, np.array([2, 1]), np.empty(0), np.array([1.0, 0, 0]))
    grammar.tensor = np.empty(grammar.tensor_offsets[-1])
    grammar.tensor_of(0)[:] = [[[1.0, 0.0]], [[-0.75, 0.25]]]
    grammar.tensor_of(1)[:] = 1.0
    forest = spine(n)
    above = inside_wide_forest(forest, grammar, np.ones(n))
    assert above.log_probability == pytest.approx((2 - n) * np.log(4.0))
    states, edges = posteriors_wide(forest, grammar, above)
    items = np.add.reduceat(states, above.place[:-1])
    assert np.allclose(items[-40:], 1)  # below, more cancels than a double has digits
    assert np.isfinite(items).all()
    assert np.isfinite(edges).all()
    with np.errstate(over="ignore", invalid="ignore"):  # of doubles, if not compiled
        found = inside_outside(forest, grammar, np.ones(n))
    assert np.isfinite(found.items).all()
    assert np.isfinite(found.edges).all()


def test_ordinary_forests_need_no_exponents(whole_forest, monkeypatch):
    """The same for a forest to which the grammar gives no probability."""
    monkeypatch.setattr(forests, "inside_wide_forest", None)
    forest = whole_forest(RULES, [[0, 2], [2], [0], [0, 2]])
    grammar = Grammar(RULES, np.array([1, 1, 1]), np.full(5, 0.1), np.ones(3))
    words = np.ones((np.diff(forest.groups) == 0).sum())
    assert inside_outside(forest, grammar, words) is not None
    grammar.tensor[:] = 0.0
    assert inside_outside(forest, grammar, words) is None
    assert log_probability(forest, grammar, words) == -np.inf
