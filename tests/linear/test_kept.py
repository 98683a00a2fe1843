"""Kept scores of an up-to-date block equal scores computed from scratch."""

import numpy as np
import pytest

from eigentext import PolynomialKernel
from eigentext.kernels import LinearKernel
from eigentext.linear import _kept
from eigentext.linear._kept import KeptScores


@pytest.mark.parametrize("kernel", [LinearKernel(), PolynomialKernel(2).normalized()])
def test_kept_scores_are_the_scores(kernel, monkeypatch):
    monkeypatch.setattr(_kept, "_LEAST", 6)
    rng = np.random.default_rng(0)
    structures = rng.integers(0, 2, (40, 3)).tolist()  # often equal
    borders = np.cumsum([0, 5, 1, 9, 3, 2, 10, 4, 6])
    start = rng.normal(size=40)
    kept = KeptScores(kernel, kernel.encode(structures), borders, start.copy())
    examples = [i for block in kept.blocks for i in range(block.start, block.stop)]
    assert examples == list(range(8))
    assert len(kept.blocks) == 5
    K, alpha = kernel.gram(structures), np.zeros(40)
    for _ in range(30):
        block = kept.blocks[rng.integers(len(kept.blocks))]
        kept.catch_up(block)
        y, z = rng.integers(block.span.start, block.span.stop, 2)
        alpha[y] += 1
        alpha[z] -= 1
        kept.update(block, y, z)
        expected = (start + alpha @ K)[block.span]
        np.testing.assert_allclose(kept.values[block.span], expected, atol=1e-9)


def test_what_cancels_is_not_computed():
    kernel = LinearKernel()
    structures = [[1.0], [2.0], [3.0], [2.0]]
    kept = KeptScores(kernel, kernel.encode(structures), np.array([0, 4]), np.zeros(4))
    assert kept.first.tolist() == [0, 1, 2, 1]
    kept.raised, kept.lowered = [1, 2], [2, 1]
    kept.encoded = None  # it must not be used
    kept.catch_up(kept.blocks[0])
    assert kept.blocks[0].n_updates == 2
    assert kept.values.tolist() == [0, 0, 0, 0]


def test_blocks_are_few():
    kernel = LinearKernel()
    encoded = kernel.encode(np.ones((20_000, 1)))
    kept = KeptScores(kernel, encoded, np.arange(0, 20_001, 4), np.zeros(20_000))
    assert len(kept.blocks) == 16
    assert sum(len(block.encoded) for block in kept.blocks) == 20_000
