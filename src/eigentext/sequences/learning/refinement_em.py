r"""EM for refinement HMMs: the labels of tokens are known, their states are not.

The E step is the forward-backward algorithm along each sentence, with the m states of each token's
label. Its cost does not depend on the number of labels. The M step divides expected counts. With a
`smoothing` of :math:`\kappa > 0`, each state has :math:`\kappa` more tokens with the words of its
label, and as many with the labels that follow its label. This is a prior, and the value that rises
with every step is the logarithm of likelihood times prior.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.monitor import Monitor
from eigentext.sequences.learning.refinement import Stream
from eigentext.sequences.refined import Averages, edged

_TASK, _TASKS = 1 << 15, 8  # the least number of tokens of a task, and the most tasks
_SPREAD = 1.0  # how far a random start is from equal states


class Parameters(NamedTuple):
    """The emissions o(x|a, h) of pairs, (e, M), and the transitions t(b, h'|a, h), (g, M, M)."""

    o: np.ndarray
    t: np.ndarray


class Expected(NamedTuple):
    """The result of the E step."""

    log_likelihood: float
    shares: np.ndarray  # of pairs and states, (e, M)
    moves: np.ndarray  # of bigrams and pairs of states, (g, M, M)


class Training:
    """The data of EM, with what all steps share.

    Parameters
    ----------
    stream
        The tagged sentences.
    sizes
        The number of states of each label.
    smoothing
        Tokens that are added to each state.
    """

    def __init__(self, stream: Stream, sizes: np.ndarray, smoothing: float = 0.0):
        self.stream, self.sizes, self.M = stream, edged(sizes), int(sizes.max())
        n = stream.n_labels
        self.pair_counts = np.bincount(stream.pair, minlength=len(stream.pair_label)).astype(float)
        times = np.bincount(np.concatenate([stream.into, stream.after]))
        self.times = times.astype(float)
        label_counts = np.bincount(stream.pair_label, self.pair_counts, n)
        first, second = stream.bigrams.T
        from_counts = np.bincount(first, self.times, n + 1)
        states = np.arange(self.M)
        self.has = states < self.sizes[:, None]  # which states a label has
        of_pair = self.has[stream.pair_label]
        self.p_pair = self.pair_counts / label_counts[stream.pair_label]  # p(x|a)
        self.p_bigram = self.times / from_counts[first]  # p(b|a)
        self.prior_o = smoothing * self.p_pair[:, None] * of_pair
        both = self.has[first][:, :, None] & self.has[second][:, None, :]
        self.prior_t = smoothing * (self.p_bigram / self.sizes[second])[:, None, None] * both

    def expect(self, theta: Parameters) -> Expected:
        """Return the log-likelihood and the expected counts: the E step."""
        size = max(_TASK, -(-len(self.stream.label) // _TASKS))
        blocks = engine.even_blocks(self.stream.begins, size)
        found = engine.current().map(partial(self._expect_block, theta), blocks)
        total, shares, moves = 0.0, np.zeros_like(theta.o), np.zeros_like(theta.t)
        for log_likelihood, some_shares, some_moves in found:
            total += log_likelihood
            shares += some_shares
            moves += some_moves
        return Expected(total, shares, moves)

    def _expect_block(self, theta: Parameters, block: tuple[int, int]) -> Expected:
        from eigentext.sequences._refinement_loops import expect

        stream, shares, moves = self.stream, np.zeros_like(theta.o), np.zeros_like(theta.t)
        total = expect(
            *block, stream.begins, stream.label, stream.pair, stream.into, stream.after,
            self.sizes, theta.o, theta.t, shares, moves,
        )  # fmt: skip
        return Expected(total, shares, moves)

    def maximize(self, expected: Expected) -> Parameters:
        """Return the parameters that fit expected counts best: the M step."""
        shares, moves = expected.shares + self.prior_o, expected.moves + self.prior_t
        n, first = self.stream.n_labels, self.stream.bigrams[:, 0]
        emitted, left = np.zeros((n, self.M)), np.zeros((n + 1, self.M))
        np.add.at(emitted, self.stream.pair_label, shares)
        np.add.at(left, first, moves.sum(axis=2))
        return Parameters(
            shares / _positive(emitted)[self.stream.pair_label],
            moves / _positive(left)[first][:, :, None],
        )

    def log_prior(self, theta: Parameters) -> float:
        """Return the logarithm of the prior of the parameters, up to a constant."""
        parts = (self.prior_o, theta.o), (self.prior_t, theta.t)
        return sum(float((p[p > 0] * np.log(v[p > 0])).sum()) for p, v in parts)

    def random_start(self, seed: int) -> Parameters:
        """Return parameters where words and labels have states by chance."""
        rng = np.random.default_rng(seed)
        of_pair = self.has[self.stream.pair_label]
        first, second = self.has[self.stream.bigrams[:, 0]], self.has[self.stream.bigrams[:, 1]]
        shares = self.pair_counts[:, None] * of_pair * _chances(rng, of_pair.shape)
        both = first[:, :, None] & second[:, None, :]
        moves = self.times[:, None, None] * both * _chances(rng, both.shape)
        return self.maximize(Expected(0.0, shares, moves))

    def start_at(self, state: np.ndarray) -> Parameters:
        """Return the parameters that fit best if the states of all tokens are known."""
        stream, M = self.stream, self.M
        shares, moves = np.zeros((len(self.p_pair), M)), np.zeros((len(self.p_bigram), M, M))
        np.add.at(shares, (stream.pair, state), 1.0)
        before = np.concatenate([[0], state[:-1]])
        before[stream.begins[:-1]] = 0
        np.add.at(moves, (stream.into, before, state), 1.0)
        np.add.at(moves[:, :, 0], (stream.after, state[stream.begins[1:] - 1]), 1.0)
        # What was not seen must not stay at zero.
        shares += 0.1 * self.p_pair[:, None] * self.has[stream.pair_label]
        first, second = stream.bigrams.T
        both = self.has[first][:, :, None] & self.has[second][:, None, :]
        moves += 0.1 * (self.p_bigram / self.sizes[second])[:, None, None] * both
        return self.maximize(Expected(0.0, shares, moves))

    def averages(self, theta: Parameters) -> Averages:
        """Return the form that taggers use, from the parameters and one more E step."""
        expected, n = self.expect(theta), self.stream.n_labels
        totals = np.zeros((n, self.M))
        np.add.at(totals, self.stream.pair_label, expected.shares)
        p_state = totals / _positive(totals.sum(axis=1, keepdims=True))  # p(h|a)
        mean = np.vstack([p_state, np.eye(self.M)[:1]])
        shares = expected.shares / _positive(self.pair_counts)[:, None]
        shares /= _positive(p_state)[self.stream.pair_label]
        blocks = theta.t / self.p_bigram[:, None, None]
        return Averages(self.sizes, self.has.astype(float), mean, blocks, shares[:, :, None])


def run(
    training: Training, theta: Parameters, *, n_iter: int, tol: float
) -> tuple[Parameters, Monitor]:
    """Improve the parameters by at most `n_iter` steps of EM.

    The history of the monitor has log p(words, labels) per token before each step, with the
    logarithm of the prior.
    """
    stream, n = training.stream, len(training.stream.label)
    data = stream.label, stream.pair, stream.begins, training.prior_o
    monitor = Monitor("em", n_iter, problem=(*data, *theta), tol=tol, amount=1, unit="passes")
    if kept := monitor.resume():
        theta = Parameters(kept.arrays["o"], kept.arrays["t"])
    with monitor:
        while not monitor.is_done:
            expected = training.expect(theta)
            value = (expected.log_likelihood + training.log_prior(theta)) / n
            theta = training.maximize(expected)
            monitor.record(value)
            monitor.keep(partial(dict, o=theta.o, t=theta.t))
    return theta, monitor


def _positive(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 1.0)


def _chances(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return 1.0 + _SPREAD * rng.random(shape)
