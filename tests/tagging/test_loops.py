"""Compiled loops of tag sequences: Viterbi by hand, and everything against slow twins."""

import itertools

import numpy as np
import pytest

from eigentext.tagging import _loops


def dense_vectors(data, places, widths, first, last, t):
    """(rows of D, x) of every dense template at t."""
    for source, offset, row in places.tolist():
        if first <= t + offset < last and (start := int(data.starts[t + offset, source])) >= 0:
            width = int(widths[source])
            yield range(row, row + width), data.values[start : start + width].tolist()


def slow_scores(problem, W, D):
    """The formula in the docstring of local_scores."""
    data, rows = problem.data, []
    for first, last in itertools.pairwise(data.borders.tolist()):
        for t in range(first, last):
            row = sum((W[f] for f in data.features[t] if f >= 0), np.zeros(W.shape[1]))
            for places, x in dense_vectors(
                data, problem.places, problem.widths, first, last, t
            ):  # fmt: skip
                row = row + np.array(x) @ D[list(places)]
            rows.append(row)
    return np.array(rows)


def all_taggings(scores, T, end):
    """Every possible tagging of a sentence and its score."""
    n, m = scores.shape
    for tags in itertools.product(range(m), repeat=n):
        score, before = end[tags[-1]], m
        for t, y in enumerate(tags):
            score = score + T[before, y] + scores[t, y]
            before = y
        if score > -np.inf:
            yield tags, float(score)


def best_of(taggings):
    """The best tagging. Of equal scores, the first tags win, beginning with the last token."""
    return min(taggings, key=lambda one: (-one[1], one[0][::-1]))


def known(problem):
    return (*problem.data, problem.places, problem.widths)


def test_viterbi_by_hand():
    # Tags A and B; A follows the start at -1, B at 0; the same tag again gets 2, another 0.
    T = np.array([[2, 0], [0, 2], [-1, 0]], np.float32)
    scores = np.array([[0, 1], [3, 0], [0, 1]], np.float32)
    tags, best, back = np.empty(3, np.int32), np.empty((2, 2), np.float32), np.zeros((3, 2), int)
    # A A A: -1 + 0 + 2 + 3 + 2 + 0 = 6; B B B: 1 + 2 + 2 + 1 = 6; A A B: -1 + 5 + 0 + 1 = 5;
    # B A A: 1 + 3 + 2 = 6; B A B: 5. Of the three best, AAA has the first tags from the end on.
    end = np.zeros(2, np.float32)
    assert _loops.viterbi(scores, 3, T, end, best, back, tags) == 6
    assert tags.tolist() == [0, 0, 0]
    end[0] = -np.inf  # it must not end in A
    assert _loops.viterbi(scores, 3, T, end, best, back, tags) == 6
    assert tags.tolist() == [1, 1, 1]
    T[2, 1] = -np.inf  # it must not begin with B
    assert _loops.viterbi(scores, 3, T, end, best, back, tags) == 5
    assert tags.tolist() == [0, 0, 1]
    assert _loops.viterbi(scores, 1, T, np.zeros(2, np.float32), best, back, tags) == -1
    assert tags[0] == 0


@pytest.mark.parametrize("seed", range(8))
def test_local_scores(random_problem, seed):
    problem = random_problem(seed)
    W, D, _, _ = problem.weights
    expected = slow_scores(problem, W, D)
    out = np.full(expected.shape, np.nan, np.float32)
    _loops.all_scores(*known(problem), W, D, out)
    np.testing.assert_array_equal(out, expected)
    first, last = problem.data.borders[2:4]  # one sentence, written to the start of the array
    room = np.full((last - first + 2, W.shape[1]), 77, np.float32)
    _loops.local_scores(first, last, *known(problem)[1:], W, D, first, room)
    np.testing.assert_array_equal(room[: last - first], expected[first:last])
    assert (room[last - first :] == 77).all()


def test_scores_without_features_or_without_vectors(random_problem):
    problem = random_problem(3)
    W, D, _, _ = problem.weights
    n = len(problem.data.features)
    problem.data = problem.data._replace(features=np.empty((n, 0), np.int32))
    out = np.empty((n, 3), np.float32)
    _loops.all_scores(*known(problem), W, D, out)
    np.testing.assert_array_equal(out, slow_scores(problem, W, D))
    problem.places, problem.widths = np.empty((0, 3), np.int64), np.empty(0, np.int64)
    nothing = np.empty((n, 0), np.int64)
    problem.data = problem.data._replace(values=np.empty(0, np.float32), starts=nothing)
    _loops.all_scores(*known(problem), W, D[:0], out)
    assert not out.any()


@pytest.mark.parametrize("seed", range(12))
def test_best_tags_are_the_best_of_all(random_problem, seed):
    problem = random_problem(seed)
    borders, T, end = problem.data.borders, problem.weights.T, problem.weights.end
    scores = (problem.rng.integers(-3, 4, (int(borders[-1]), 3)) / 2).astype(np.float32)
    tags = np.full(len(scores), -1, np.int32)
    _loops.best_tags(scores, borders, T, end, tags)
    for first, last in itertools.pairwise(borders.tolist()):
        best, score = best_of(all_taggings(scores[first:last], T, end))
        assert tuple(tags[first:last].tolist()) == best
        room = np.empty((2, 3), np.float32), np.zeros((4, 3), np.int32), np.empty(4, np.int32)
        assert _loops.viterbi(scores[first:last], last - first, T, end, *room) == score


def test_best_tags_of_empty_sentences():
    tags, T, end = np.full(1, -1, np.int32), np.zeros((3, 2), np.float32), np.zeros(2, np.float32)
    scores = np.array([[0, 1]], np.float32)
    _loops.best_tags(scores, np.array([0, 0, 1, 1]), T, end, tags)
    assert tags.tolist() == [1]


@pytest.mark.parametrize("seed", range(12))
def test_posteriors_are_sums_over_all_taggings(random_problem, seed):
    problem = random_problem(seed)
    borders, T, end = problem.data.borders, problem.weights.T, problem.weights.end
    T, end = T.astype(np.float64), end.astype(np.float64)
    scores = problem.rng.normal(size=(int(borders[-1]), 3))
    out, totals = np.full(scores.shape, np.nan), np.empty(len(borders) - 1)
    _loops.posteriors(scores, borders, T, end, out, totals)
    for s, (first, last) in enumerate(itertools.pairwise(borders.tolist())):
        taggings = list(all_taggings(scores[first:last], T, end))
        total = np.logaddexp.reduce([score for _, score in taggings])
        assert totals[s] == pytest.approx(total, abs=1e-12)
        expected = np.zeros((last - first, 3))
        for tags, score in taggings:
            expected[np.arange(last - first), tags] += np.exp(score - total)
        np.testing.assert_allclose(out[first:last], expected, atol=1e-13)


def test_posteriors_of_long_sentences_neither_over_nor_underflow():
    n = 3000
    scores = np.zeros((n, 2))
    scores[:, 0] = np.where(np.arange(n) % 2, 900.0, -900.0)
    out, totals = np.empty((n, 2)), np.empty(1)
    _loops.posteriors(scores, np.array([0, n]), np.zeros((3, 2)), np.zeros(2), out, totals)
    np.testing.assert_allclose(out.sum(axis=1), 1)
    np.testing.assert_allclose(out[:, 0], np.arange(n) % 2)
    assert totals[0] == pytest.approx(900 * n / 2)


class SlowPerceptron:
    """The perceptron of Collins with a dictionary of weights, which keeps all weights."""

    def __init__(self, problem, margin):
        W, D, T, end = problem.weights
        self.problem, self.margin, self.end = problem, margin, end
        self.weights = {("T", a, y): float(T[a, y]) for a, y in np.ndindex(T.shape)}
        self.weights |= {("W", f, y): float(W[f, y]) for f, y in np.ndindex(W.shape)}
        self.weights |= {("D", r, y): float(D[r, y]) for r, y in np.ndindex(D.shape)}
        self.history = []

    def phi(self, first, last, tags):
        found, before, data = {}, len(self.end), self.problem.data
        for t, y in zip(range(first, last), tags):
            parts = [(("T", before, y), 1.0)]
            parts += [(("W", int(f), y), 1.0) for f in data.features[t] if f >= 0]
            vectors = dense_vectors(data, self.problem.places, self.problem.widths, first, last, t)
            parts += [(("D", row, y), x) for rows, xs in vectors for row, x in zip(rows, xs)]
            for name, value in parts:
                found[name] = found.get(name, 0.0) + value
            before = y
        return found

    def epoch(self, order, gold):
        n_wrong = n_wrong_tags = 0
        for s in order:
            first, last = self.problem.data.borders[s : s + 2].tolist()
            right = tuple(gold[first:last].tolist())
            taggings = []
            for tags in itertools.product(range(len(self.end)), repeat=last - first):
                score = float(self.end[tags[-1]])
                score += sum(self.weights[k] * x for k, x in self.phi(first, last, tags).items())
                score += self.margin * sum(a != b for a, b in zip(tags, right))
                taggings.append((tags, score))
            best, _ = best_of(taggings)
            wrong = sum(a != b for a, b in zip(best, right))
            n_wrong, n_wrong_tags = n_wrong + (wrong > 0), n_wrong_tags + wrong
            if wrong:
                for sign, tags in ((1, right), (-1, best)):
                    for name, value in self.phi(first, last, tags).items():
                        self.weights[name] += sign * value
            self.history.append(dict(self.weights))
        return n_wrong, n_wrong_tags


def possible_tags(problem):
    """Random right tags without forbidden transitions."""
    gold = []
    for length in problem.data.lengths.tolist():
        taggings = list(all_taggings(np.zeros((length, 3)), problem.weights.T, problem.weights.end))
        gold += taggings[problem.rng.integers(len(taggings))][0]
    return np.array(gold, np.int32)


@pytest.mark.parametrize("margin", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_a_pass_of_the_perceptron(random_problem, seed, margin):
    problem = random_problem(seed)
    gold, slow = possible_tags(problem), SlowPerceptron(problem, margin)
    W, D, T = (part.copy() for part in problem.weights[:3])
    end, sums = problem.weights.end, [np.zeros(part.shape) for part in (W, D, T)]
    n = len(problem.data.borders) - 1
    for epoch in range(2):
        order = problem.rng.permutation(n)
        found = _loops.perceptron_epoch(
            order, *known(problem), gold, np.float32(margin), W, D, T, end, *sums, n * epoch
        )
        assert tuple(found) == slow.epoch(order, gold)
    steps = len(slow.history)
    for name, part, total in zip("WDT", (W, D, T), sums):
        mean = part - total / steps
        for row, y in np.ndindex(part.shape):
            assert part[row, y] == slow.weights[name, row, y]
            expected = np.mean([weights[name, row, y] for weights in slow.history])
            assert mean[row, y] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(np.isinf(T), np.isinf(problem.weights.T))
