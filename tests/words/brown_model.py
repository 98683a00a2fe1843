"""A random Brown model (Stratos et al. 2015, section 4): every word has one hidden state."""

import numpy as np


class BrownModel:
    """m states, n words; `states[w]` is H(w). Columns of O and T are distributions."""

    def __init__(self, m: int, n: int, seed: int):
        rng = np.random.default_rng(seed)
        self.states = np.concatenate([np.arange(m), rng.integers(0, m, n - m)])
        self.O = np.zeros((n, m))
        self.O[np.arange(n), self.states] = rng.uniform(0.5, 1.5, n)
        self.O /= self.O.sum(axis=0)
        self.T = rng.dirichlet(np.full(m, 0.3), size=m).T + 0.02
        self.T /= self.T.sum(axis=0)
        eigenvalues, vectors = np.linalg.eig(self.T)
        stationary = np.abs(np.real(vectors[:, np.argmax(np.real(eigenvalues))]))
        self.pi = stationary / stationary.sum()

    def cooccurrence(self, window: int) -> np.ndarray:
        """P(word, context) for a context word drawn from `window` places on each side."""
        total = np.zeros((len(self.states),) * 2)
        for d in range(1, window + 1):
            ahead = np.linalg.matrix_power(self.T, d)  # P(h at i + d | h at i)
            forward = self.O @ np.diag(self.pi) @ ahead.T @ self.O.T
            total += forward + forward.T
        return total / total.sum()

    def sample(self, n_tokens: int, seed: int) -> list[str]:
        """One long sequence of words, named by their numbers."""
        rng = np.random.default_rng(seed)
        cumulative = np.cumsum(self.T, axis=0)
        draws = rng.random(n_tokens)
        hidden = np.empty(n_tokens, int)
        h = rng.choice(len(self.pi), p=self.pi)
        for i in range(n_tokens):
            h = min(int(np.searchsorted(cumulative[:, h], draws[i])), len(self.pi) - 1)
            hidden[i] = h
        words = np.empty(n_tokens, int)
        for h in range(len(self.pi)):
            places = np.flatnonzero(hidden == h)
            words[places] = rng.choice(len(self.states), size=len(places), p=self.O[:, h])
        return [str(w) for w in words]
