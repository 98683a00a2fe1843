"""Hidden Markov models whose samples and moments the tests learn from."""

import zipfile

import numpy as np
import pytest

from eigentext import HMM, WeightedAutomaton


@pytest.fixture(scope="session")
def random_hmm():
    """``random_hmm(m, n, seed)``: random parameters, with states that last for a while."""

    def draw(m: int, n: int, seed: int = 0) -> HMM:
        rng = np.random.default_rng([m, n, seed])
        transition = 0.3 * np.eye(m) + 0.7 * rng.dirichlet(np.ones(m), m)
        return HMM.from_parameters(
            rng.dirichlet(np.ones(m)), transition, rng.dirichlet(np.ones(n), m)
        )

    return draw


@pytest.fixture(scope="session")
def clear_hmm():
    """``clear_hmm(m, n, seed)``: states that last long and have different symbols."""

    def draw(m: int, n: int, seed: int = 0) -> HMM:
        rng = np.random.default_rng([m, n, seed])
        transition = 0.8 * np.eye(m) + 0.2 * rng.dirichlet(np.ones(m), m)
        own = np.arange(n) % m == np.arange(m)[:, None]
        emission = np.array([rng.dirichlet(np.where(mine, 3.0, 0.2)) for mine in own])
        return HMM.from_parameters(rng.dirichlet(np.full(m, 3.0)), transition, emission)

    return draw


@pytest.fixture(scope="session")
def random_automaton():
    """``random_automaton(m, n, seed)``: symbols depend on the state before and the state after.

    No sequence is empty: the first state has no end.
    """

    def draw(m: int, n: int, seed: int = 0) -> WeightedAutomaton:
        rng = np.random.default_rng([m, n, seed])
        stop = np.append(rng.uniform(0.1, 0.4, m), 0.0)
        weights = rng.dirichlet(np.full(n * m, 0.3), m + 1) * (1 - stop[:, None])
        operators = np.zeros((n, m + 1, m + 1))
        operators[:, :m] = weights.reshape(m + 1, n, m).transpose(1, 2, 0)
        return WeightedAutomaton.from_operators(np.eye(m + 1)[m], operators, stop)

    return draw


@pytest.fixture(scope="session")
def penn_tags(data_folder):
    """The tags of 1,500 sentences of the Penn Treebank sample, and of others."""
    path = data_folder / "nltk_data/corpora/treebank.zip"
    if not path.exists():
        pytest.skip("needs the Penn Treebank sample")
    lines = []
    with zipfile.ZipFile(path) as archive:
        for number in range(1, 90):
            text = archive.read(f"treebank/tagged/wsj_{number:04d}.pos").decode()
            for part in text.split("\n\n"):
                tags = [item.rpartition("/")[2] for item in part.split() if "/" in item]
                if tags:
                    lines.append(tags)
    return lines[:1500], lines[1500:]
