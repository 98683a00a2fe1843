"""The coarse chart against plain CKY, and packed forests against all derivations."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.errors import ParameterError
from eigentext.grammars.chart.decoding import enumerate_derivations
from eigentext.grammars.chart.pruning import CoarseGrammar, FineGrammar, prune, refine
from eigentext.grammars.treebank.normal_form import Treebank, coarse


class Plain:
    """A random PCFG as lists: inner labels first, then preterminals."""

    def __init__(self, seed, n_inner=3, n_tags=3, density=0.3):
        rng = np.random.default_rng(seed)
        n = n_inner + n_tags
        left, right, parent = np.nonzero(rng.random((n, n, n_inner)) < density)
        if not (parent == n_inner - 1).any():  # else the last inner label were a preterminal
            left, right = np.append(left, n - 1), np.append(right, n - 1)
            parent = np.append(parent, n_inner - 1)
        order = np.lexsort((parent, right, left))
        self.rules = [np.asarray(x)[order] for x in (parent, left, right)]
        self.q = rng.random(len(order))
        self.pi = rng.random(n) * (rng.random(n) < 0.7)
        self.n_inner, self.n_labels = n_inner, n

    def coarse(self, prior=None):
        return CoarseGrammar.from_rules(*self.rules, self.q, self.pi, prior)

    def fine(self, coarse=None):
        return FineGrammar.from_rules(*self.rules, self.pi, coarse)

    def words(self, seed, length):
        """Offsets, labels and scores of the preterminals of some words."""
        rng = np.random.default_rng(seed)
        tags = [
            np.flatnonzero(rng.random(self.n_labels - self.n_inner) < 0.6) + self.n_inner
            for _ in range(length)
        ]
        tags = [t if len(t) else np.array([self.n_labels - 1]) for t in tags]
        offsets = np.cumsum([0, *map(len, tags)])
        return offsets, np.concatenate(tags), rng.random(offsets[-1])

    def inside(self, offsets, labels, scores):
        """alpha of every item (a, i, j), by the definition."""
        n, alpha = len(offsets) - 1, {}
        for i, (begin, end) in enumerate(pairwise(offsets)):
            alpha.update({(labels[t], i, i + 1): scores[t] for t in range(begin, end)})
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                for k in range(i + 1, i + width):
                    for a, b, c, q in zip(*self.rules, self.q):
                        x = q * alpha.get((b, i, k), 0) * alpha.get((c, k, i + width), 0)
                        if x > 0:
                            alpha[a, i, i + width] = alpha.get((a, i, i + width), 0) + x
        return alpha

    def marginals(self, alpha, roots):
        """mu of every item, given the outside values of the roots."""
        beta = dict(roots)
        for a, i, j in sorted(alpha, key=lambda item: item[1] - item[2]):  # the widest first
            for rule, b, c, q in zip(*self.rules, self.q):
                for k in range(i + 1, j) if rule == a and (a, i, j) in beta else ():
                    x, y = (b, i, k), (c, k, j)
                    if x in alpha and y in alpha:
                        beta[x] = beta.get(x, 0) + q * beta[a, i, j] * alpha[y]
                        beta[y] = beta.get(y, 0) + q * beta[a, i, j] * alpha[x]
        return {item: alpha[item] * beta[item] for item in beta if alpha[item] * beta[item] > 0}

    def forest(self, alive, coarse, tags, roots):
        """Items and edges (rule, i, k, j) of the packed forest: up, then down."""
        items, edges = set(tags), set()
        n = max(j for _, _, j in tags)
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                for k in range(i + 1, i + width):
                    for r, (a, b, c) in enumerate(zip(*self.rules)):
                        j, here = i + width, (coarse[a], i, i + width) in alive
                        if here and (b, i, k) in items and (c, k, j) in items:
                            items.add((a, i, j))
                            edges.add((r, i, k, j))
        parent, left, right = self.rules
        below = {item for item in items if item in roots}
        for r, i, k, j in sorted(edges, key=lambda e: e[1] - e[3]):
            if (parent[r], i, j) in below:
                below |= {(left[r], i, k), (right[r], k, j)}
        return below, {e for e in edges if (parent[e[0]], e[1], e[3]) in below}


def by_item(survivors, n):
    cells = [(i, j) for j in range(1, n + 1) for i in range(j - 1, -1, -1)]
    return {
        (a, *cell): mu
        for cell, begin, end in zip(cells, survivors.offsets, survivors.offsets[1:])
        for a, mu in zip(survivors.labels[begin:end], survivors.marginals[begin:end])
    }


def items_of(forest):
    return list(zip(forest.label.tolist(), forest.start.tolist(), forest.end.tolist()))


def edges_of(forest):
    items = items_of(forest)
    rules = np.repeat(forest.rule, np.diff(forest.edges))
    return [
        (r, items[x][1], items[x][2], items[y][2])
        for r, x, y in zip(rules.tolist(), forest.left.tolist(), forest.right.tolist())
    ]


seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 6), st.sampled_from([0.1, 0.3, 0.7]))
def test_marginals_are_those_of_plain_cky(seed, length, density):
    plain = Plain(seed, density=density)
    words = plain.words(seed, length)
    found = prune(plain.coarse(), *words, threshold=0)
    alpha = plain.inside(*words)
    roots = {(a, 0, length): pi for a, pi in enumerate(plain.pi) if (a, 0, length) in alpha}
    total = sum(pi * alpha[root] for root, pi in roots.items())
    if total == 0:
        assert found.log_probability == -np.inf
        assert found.pieces is not None
        return
    assert found.pieces is None
    assert found.log_probability == pytest.approx(np.log(total))
    expected = plain.marginals(alpha, {root: pi / total for root, pi in roots.items() if pi > 0})
    marginals = by_item(found, length)
    assert marginals == pytest.approx(expected, rel=1e-9)
    tags = [item for item in marginals if item[2] - item[1] == 1]
    for i in range(length):  # inside total = outside total at every word
        assert sum(marginals[item] for item in tags if item[1] == i) == pytest.approx(1)
    order = list(marginals)
    assert order == sorted(order, key=lambda item: (item[2], -item[1], item[0]))


def test_the_threshold_leaves_out_what_is_below_it():
    plain = Plain(7, 4, 4, 0.4)
    words = plain.words(7, 9)
    exact = by_item(prune(plain.coarse(), *words, threshold=0), 9)
    for threshold in (1e-4, 1e-2, 0.2):
        found = by_item(prune(plain.coarse(), *words, threshold=threshold), 9)
        assert found == {item: mu for item, mu in exact.items() if mu >= threshold}
        assert found == by_item(prune(plain.coarse(), *words, threshold=0).above(threshold), 9)
        assert len(found) <= len(exact)
    assert 0 < len(found) < len(exact) / 2


@given(seeds, st.integers(1, 6), st.sampled_from([0, 1e-2, 0.1]))
def test_the_forest_has_all_that_survives_and_nothing_else(seed, length, threshold):
    rng = np.random.default_rng(seed)
    plain = Plain(seed, density=0.4)
    found = prune(plain.coarse(), *plain.words(seed, length), threshold=threshold)
    # A finer grammar, with two labels for each coarse one and its own rules.
    fine = Plain(seed + 1, 6, 6, 0.2)
    to_coarse = np.r_[rng.permutation([0, 1, 2, 0, 1, 2]), rng.permutation([3, 4, 5, 3, 4, 5])]
    offsets, labels, _ = words = fine.words(seed, length)
    forest = refine(found, fine.fine(to_coarse), *words)

    alive = set(by_item(found, length))
    position = np.repeat(np.arange(length), np.diff(offsets))
    tags = [(a, i, i + 1) for a, i in zip(labels, position) if (to_coarse[a], i, i + 1) in alive]
    if found.pieces is None:
        roots = {(a, 0, length) for a in np.flatnonzero(fine.pi)}
    else:
        roots = {(a, i, j) for c, i, j in found.pieces for a in np.flatnonzero(to_coarse == c)}
    items, edges = fine.forest(alive, to_coarse, tags, roots) if tags else (set(), set())
    assert sorted(items_of(forest)) == sorted(items)
    assert sorted(edges_of(forest)) == sorted(edges)
    check_order(forest, fine.rules)
    assert {items_of(forest)[r] for r in forest.roots} == items & roots


def check_order(forest, rules):
    """Check the order and the numbers of a forest."""
    items = items_of(forest)
    groups = np.repeat(np.arange(len(items)), np.diff(forest.groups))
    assert forest.groups[-1] == len(forest.rule)
    assert forest.edges[-1] == len(forest.left) == len(forest.right)
    assert [items[x][0] for x in groups] == rules[0][forest.rule].tolist()
    assert (np.diff(forest.groups) > 0).tolist() == [j - i > 1 for _, i, j in items]
    assert (np.diff(forest.edges) > 0).all()
    parents = np.repeat(groups, np.diff(forest.edges))
    assert (forest.left < parents).all()
    assert (forest.right < parents).all()
    assert len({(x, r) for x, r in zip(groups, forest.rule)}) == len(forest.rule)
    kinds = [np.int32] * 3 + [np.int64, np.int32, np.int64] + [np.int32] * 3
    assert [x.dtype for x in forest] == kinds


@given(seeds, st.integers(1, 5))
def test_derivations_of_the_forest_sum_to_the_probability(seed, length):
    plain = Plain(seed, density=0.25)
    offsets, labels, scores = words = plain.words(seed, length)
    found = prune(plain.coarse(), *words, threshold=0)
    forest = refine(found, plain.fine(), *words)
    if found.pieces is not None:
        return
    total, items = 0.0, dict.fromkeys(range(len(forest.label)), 0.0)
    rules = np.repeat(forest.rule, np.diff(forest.edges))
    score = {(labels[t], i): scores[t] for i in range(length) for t in range(*offsets[i : i + 2])}
    for derivation in enumerate_derivations(forest):
        p = plain.pi[forest.label[derivation.item[-1]]]
        for item, edge in zip(derivation.item, derivation.edge):
            word = forest.label[item], forest.start[item]
            p *= score[word] if edge < 0 else plain.q[rules[edge]]
        total += p
        for item in derivation.item:
            items[item] += p
    assert np.log(total) == pytest.approx(found.log_probability)
    marginals = by_item(found, length)
    assert {item: p / total for item, p in zip(items_of(forest), items.values())} == pytest.approx(
        marginals
    )


@given(seeds, st.integers(2, 6))
def test_without_a_parse_the_fewest_and_best_pieces_cover_the_sentence(seed, length):
    plain = Plain(seed, density=0.05)
    plain.pi[:] = 0
    prior = np.random.default_rng(seed).random(plain.n_labels)
    prior[0] = 0
    words = plain.words(seed, length)
    found = prune(plain.coarse(prior), *words, threshold=0)
    alpha = plain.inside(*words)

    def score(i, j):
        return max((alpha.get((a, i, j), 0) * p for a, p in enumerate(prior)), default=0)

    covers = [
        (n, -np.prod([score(i, j) for i, j in pairwise((0, *cuts, length))]))
        for n in range(length)
        for cuts in combinations(range(1, length), n)
    ]
    n_cuts, least = min(cover for cover in covers if cover[1] < 0)
    labels, starts, ends = found.pieces.T
    assert [0, *ends] == [*starts, length]
    assert len(labels) == n_cuts + 1
    scores = [alpha[a, i, j] * prior[a] for a, i, j in found.pieces]
    assert np.prod(scores) == pytest.approx(-least)
    pieces = {(a, i, j): 1 / alpha[a, i, j] for a, i, j in found.pieces.tolist()}
    assert by_item(found, length) == pytest.approx(plain.marginals(alpha, pieces))
    forest = refine(found, plain.fine(), *words)
    roots = [items_of(forest)[root] for root in forest.roots]
    assert roots == [tuple(piece) for piece in found.pieces.tolist()]


def test_a_word_with_no_prior_is_still_a_piece():
    grammar = CoarseGrammar.from_rules([0], [1], [1], [1.0], [0.0, 0.0], [0.0, 0.0])
    found = prune(grammar, [0, 1, 2], [1, 1], [0.5, 0.5])
    assert found.pieces.tolist() == [[1, 0, 1], [1, 1, 2]]


def test_three_hundred_words_neither_vanish_nor_overflow():
    # S -> S S (1/4) | T T (3/4): all Catalan(n / 2 - 1) trees of a sentence are equally probable.
    grammar = CoarseGrammar.from_rules([0, 0], [0, 1], [0, 1], [0.25, 0.75], [1.0, 0.0])
    n, pairs = 300, 150
    scores = np.where(np.arange(n) < 150, 1e-12, 0.1)
    found = prune(grammar, np.arange(n + 1), np.ones(n), scores, threshold=0)
    trees = math.comb(2 * pairs - 2, pairs - 1) // pairs
    rules = pairs * math.log(0.75) + (pairs - 1) * math.log(0.25)
    assert found.log_probability == pytest.approx(math.log(trees) + rules + np.log(scores).sum())
    marginals = by_item(found, n)
    spans = {(0, i, j) for i in range(0, n, 2) for j in range(i + 2, n + 1, 2)}
    assert set(marginals) == spans | {(1, i, i + 1) for i in range(n)}
    # S over all words but the last two: its trees, of all.
    share = math.comb(2 * pairs - 4, pairs - 2) // (pairs - 1) / trees
    assert marginals[0, 0, n - 2] == pytest.approx(share)
    assert marginals[0, 0, n] == pytest.approx(1)


def test_long_random_sentences_agree_with_logarithms():
    n = 80
    plain = Plain(3, 2, 2, 0.4)
    offsets, labels, scores = plain.words(3, n)
    scores *= 1e-8
    found = prune(plain.coarse(), offsets, labels, scores, threshold=0)
    alpha = np.full((4, n + 1, n + 1), -np.inf)
    start = np.repeat(np.arange(n), np.diff(offsets))
    alpha[labels, start, start + 1] = np.log(scores)
    for j in range(2, n + 1):
        for i in range(j - 2, -1, -1):
            for a, b, c, q in zip(*plain.rules, plain.q):
                x = np.logaddexp.reduce(alpha[b, i, i + 1 : j] + alpha[c, i + 1 : j, j])
                alpha[a, i, j] = np.logaddexp(alpha[a, i, j], np.log(q) + x)
    with np.errstate(divide="ignore"):
        expected = np.logaddexp.reduce(np.log(plain.pi) + alpha[:, 0, n])
    assert expected < -1000
    assert found.log_probability == pytest.approx(expected)


def test_scales_of_scores_do_not_matter():
    plain = Plain(11, 4, 4, 0.4)
    offsets, labels, scores = plain.words(11, 12)
    scale = 2.0 ** np.random.default_rng(0).integers(-900, 900, 12)
    one = prune(plain.coarse(), offsets, labels, scores)
    other = prune(plain.coarse(), offsets, labels, scores * np.repeat(scale, np.diff(offsets)))
    assert np.array_equal(one.labels, other.labels)
    assert np.array_equal(one.marginals, other.marginals)
    assert other.log_probability == pytest.approx(one.log_probability + np.log(scale).sum())


def test_a_grammar_of_bare_tags():
    grammar = CoarseGrammar.from_rules([], [], [], [], [0.25, 0.75])
    fine = FineGrammar.from_rules([], [], [], [0.25, 0.75])
    words = [0, 2], [0, 1], [0.5, 0.5]
    found = prune(grammar, *words)
    assert found.log_probability == pytest.approx(np.log(0.5))
    assert found.marginals == pytest.approx([0.25, 0.75])
    assert refine(found, fine, *words).roots.tolist() == [0, 1]
    words = [0, 1, 2], [0, 1], [0.5, 0.5]
    found = prune(grammar, *words)
    assert found.pieces.tolist() == [[0, 0, 1], [1, 1, 2]]
    assert refine(found, fine, *words).roots.tolist() == [0, 1]


def test_penn_gold_items_survive(penn):
    trees = penn("train")[:1500]
    treebank = Treebank.from_trees(trees)
    rules = treebank.rules()
    counts = np.bincount(treebank.label, minlength=len(treebank.symbols))
    roots = treebank.label[treebank.offsets[1:] - 1]
    pi = np.bincount(roots, minlength=len(counts)) / len(roots)
    q = rules.counts / counts[rules.parent]
    grammar = CoarseGrammar.from_rules(*rules[:3], q, pi, counts)
    markovized = Treebank.from_trees(trees, horizontal=1)
    fine_rules, (to_coarse, symbols) = markovized.rules(), coarse(markovized.symbols)
    assert symbols == treebank.symbols
    fine_pi = np.bincount(markovized.label[markovized.offsets[1:] - 1], minlength=len(to_coarse))
    fine = FineGrammar.from_rules(*fine_rules[:3], fine_pi, to_coarse)
    shift = len(to_coarse) - len(pi)

    gold, wide, survived, parsed = treebank.encode(penn("dev")[:100]), 0, 0, 0
    for begin, end in pairwise(gold.offsets):
        label, left = gold.label[begin:end], gold.left[begin:end] - begin
        right = gold.right[begin:end] - begin
        start, stop = np.cumsum(left < 0) - 1, np.cumsum(left < 0)
        for node in np.flatnonzero(left >= 0):
            start[node], stop[node] = start[left[node]], stop[right[node]]
        if label.min() < 0 or (gold.rule[begin:end][left >= 0] < 0).any():
            continue  # no tree of this grammar
        tags, n = label[left < 0], (left < 0).sum()
        words = np.arange(n + 1), tags, np.ones(n)
        found = prune(grammar, *words)
        alive = by_item(found, n)
        wide += (left >= 0).sum()
        survived += sum(item in alive for item in zip(label, start, stop)) - n
        forest = refine(found, fine, np.arange(n + 1), tags + shift, np.ones(n))
        check_order(forest, fine_rules)
        parsed += len(forest.roots) > 0
    assert survived > 0.99 * wide > 1000
    assert parsed >= 50


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (([0], [], []), "an empty sentence has no chart"),
        (([0, 1, 1], [1], [0.5]), "word 2 has no preterminal"),
        (([0, 1, 2], [1, 1], [0.5, 0.0]), "word 2 has no preterminal"),
        (([0, 1, 3], [1, 1], [0.5, 0.5]), "offsets must run from 0 to the number of labels"),
        (([0, 1], [0], [0.5]), "labels of words must be preterminals, from 1 to 1"),
        (([0, 1], [2], [0.5]), "labels of words must be preterminals, from 1 to 1"),
        (([0, 1], [1], [np.nan]), "scores must be finite"),
        (([0, 1], [1], [-1.0]), "scores must be finite and 0 or more"),
    ],
)
def test_bad_words(words, message):
    grammar = CoarseGrammar.from_rules([0], [1], [1], [1.0], [1.0, 0.0])
    with pytest.raises(ParameterError, match=message):
        prune(grammar, *words)


def test_bad_grammars_and_parameters():
    with pytest.raises(ParameterError, match="the last labels must be preterminals"):
        CoarseGrammar.from_rules([1], [0], [0], [1.0], [1.0, 0.0])
    with pytest.raises(ParameterError, match="labels of rules must be from 0 to 1"):
        CoarseGrammar.from_rules([0], [1], [2], [1.0], [1.0, 0.0])
    with pytest.raises(ParameterError, match="must be sorted by their left"):
        FineGrammar.from_rules([0, 0], [1, 0], [1, 1], [1.0, 0.0])
    grammar = CoarseGrammar.from_rules([0, 0], [0, 1], [1, 1], [0.5, 0.5], [1.0, 0.0])
    fine = FineGrammar.from_rules([0, 0], [0, 1], [1, 1], [1.0, 0.0])
    words = np.arange(101), np.ones(100, int), np.ones(100)
    with pytest.raises(ParameterError, match="threshold must be from 0 to below 1, not 2"):
        prune(grammar, *words, threshold=2)
    with pytest.raises(ParameterError, match=r"a sentence of 100 words needs .* cut it into parts"):
        prune(grammar, *words, memory=1e4)
    found = prune(grammar, *words)
    with pytest.raises(ParameterError, match="of 100 words needs more than 1e-06 GB; raise"):
        refine(found, fine, *words, memory=1e3)
    with pytest.raises(ParameterError, match="survivors belong to a sentence of another length"):
        refine(found, fine, [0, 1], [1], [1.0])
