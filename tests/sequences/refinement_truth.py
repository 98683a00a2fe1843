"""A refinement HMM with known parameters: its probabilities, its moments, and samples of it."""

from itertools import product

import numpy as np

from eigentext.sequences.learning.refinement import Features, Stream

# Features that look one token ahead and back, so that windows of four tokens hold all of them.
NEAR = Features(
    past=((("a", -1),), (("x", -1),), (("a", -1), ("x", -1))),
    word=((("x", 0),),),
    future=((("a", 1),), (("x", 1),)),
)


class Truth:
    """S labels with m states each, n words; a state is a pair of a label and one of its states."""

    def __init__(self, m=2, S=2, n=3, seed=0):
        rng = np.random.default_rng(seed)
        self.m, self.S, self.n = m, S, n
        self.start = rng.dirichlet(np.full(S * m, 0.5))
        moves = rng.dirichlet(np.full(S * m + 1, 0.5), S * m)
        moves[:, -1] = 0.1 + 0.3 * rng.random(S * m)
        moves[:, :-1] *= (1 - moves[:, -1:]) / moves[:, :-1].sum(axis=1, keepdims=True)
        self.moves, self.end = moves[:, :-1], moves[:, -1]
        self.o = rng.dirichlet(np.full(n, 0.5), S * m)

    def states(self, a):
        return slice(a * self.m, (a + 1) * self.m)

    def probability(self, tokens):
        """p(labels, words) of a list of (label, word)."""
        alpha = None
        for i, (a, x) in enumerate(tokens):
            its = self.states(a)
            if i == 0:
                alpha = self.start[its]
            else:
                alpha = alpha @ self.moves[self.states(tokens[i - 1][0]), its]
            alpha = alpha * self.o[its, x]
        return float(alpha @ self.end[self.states(tokens[-1][0])])

    def strings(self, length):
        return product(product(range(self.S), range(self.n)), repeat=length)

    def stream(self):
        """All windows around a token, with the expected number of times that a sentence has them.

        Only the token in the middle counts.
        """
        visits = np.linalg.solve((np.eye(self.S * self.m) - self.moves).T, self.start)
        tokens = list(product(range(self.S), range(self.n)))
        windows, weights, middles = [], [], []

        def add(window, middle, weight):
            windows.append(window)
            weights.append(weight)
            middles.append(middle)

        for before in [None, *tokens]:
            for middle in tokens:
                here = self.states(middle[0])
                if before is None:
                    alpha = self.start[here]
                else:
                    its = self.states(before[0])
                    alpha = (visits[its] * self.o[its, before[1]]) @ self.moves[its, here]
                alpha = alpha * self.o[here, middle[1]]
                first = [] if before is None else [before]
                add([*first, middle], len(first), alpha @ self.end[here])
                for after in tokens:
                    its = self.states(after[0])
                    next_ = (alpha @ self.moves[here, its]) * self.o[its, after[1]]
                    add([*first, middle, after], len(first), next_ @ self.end[its])
                    for last in tokens:
                        at = self.states(last[0])
                        p = (next_ @ self.moves[its, at]) @ self.o[at, last[1]]
                        add([*first, middle, after, last], len(first), p)
        return self._stream_of(windows, middles, weights)

    def _stream_of(self, windows, middles, weights):
        a, x = np.array([token for window in windows for token in window]).T
        lengths = np.array([len(window) for window in windows])
        stream = Stream.of(a, x, x, lengths, self.S)
        of_tokens = np.zeros(len(a))
        of_tokens[stream.begins[:-1] + np.array(middles)] = weights
        return stream._replace(weights=of_tokens)

    def sample(self, n_sentences, seed=0):
        """Sentences as lists of (label, word)."""
        rng = np.random.default_rng(seed)
        moves = np.cumsum(np.column_stack([self.moves, self.end]), axis=1)
        start, words = np.cumsum(self.start), np.cumsum(self.o, axis=1)
        found = []
        for _ in range(n_sentences):
            state, sentence = int(np.searchsorted(start, rng.random())), []
            while state < self.S * self.m:
                word = min(int(np.searchsorted(words[state], rng.random())), self.n - 1)
                sentence.append((state // self.m, word))
                state = int(np.searchsorted(moves[state], rng.random()))
            found.append(sentence)
        return found

    def stream_of(self, sentences):
        a, x = np.array([token for sentence in sentences for token in sentence]).T
        return Stream.of(a, x, x, np.array([len(one) for one in sentences]), self.S)


def matrices(stream, averages):
    """The matrices D[a, x] and T[a, b] of a stream, as dictionaries. The label S is the border."""
    S, w = stream.n_labels, stream.weights
    counts = stream.counts()
    pair_weight = np.bincount(stream.pair, w, len(stream.pair_label))
    pair_word = np.zeros(len(stream.pair_label), int)
    pair_word[stream.pair] = stream.code
    D = {}
    for e, (a, x) in enumerate(zip(stream.pair_label, pair_word)):
        m = averages.sizes[a]
        share = averages.shares[e, :m]
        share = np.diag(share[:, 0]) if averages.is_diagonal else share[:, :m]
        D[a, x] = pair_weight[e] / counts[a] * share
    inner = np.flatnonzero(~stream.is_last)
    first, last = stream.begins[:-1], stream.begins[1:] - 1
    n_g = len(stream.bigrams)
    times = np.bincount(stream.into[inner + 1], w[inner], n_g)
    times += np.bincount(stream.into[first], w[first], n_g)
    times += np.bincount(stream.after, w[last], n_g)
    of_first = np.append(counts, w[first].sum())
    T = {}
    for g, (a, b) in enumerate(stream.bigrams):
        block = averages.blocks[g, : averages.sizes[a], : averages.sizes[b]]
        T[a, b] = times[g] / of_first[a] * block
    return D, T, S


def product_of(tokens, D, T, S):
    """p(labels, words) by matrices."""
    labels = [S, *(a for a, _ in tokens), S]
    value = np.ones((1, 1))
    for i, (a, x) in enumerate(tokens):
        if (labels[i], a) not in T or (a, x) not in D:
            return 0.0
        value = value @ T[labels[i], a] @ D[a, x]
    return float((value @ T[labels[-2], S]).item()) if (labels[-2], S) in T else 0.0
