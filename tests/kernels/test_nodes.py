"""What kernels of trees and sequences share: blocks, threads, and sets encoded separately."""

import numpy as np
import pytest

import structures
from eigentext import SequenceKernel, TreeKernel, engine
from eigentext.errors import EigentextError
from eigentext.kernels import _nodes, _store

KERNELS = [TreeKernel(0.4), SequenceKernel(0.4, match="capitalization")]


def drawn_structures(kernel, n, seed=0):
    rng = np.random.default_rng(seed)
    draw = structures.random_tree if isinstance(kernel, TreeKernel) else structures.random_tagging
    return [draw(rng) for _ in range(n)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_blocks_change_nothing(kernel, monkeypatch):
    drawn = drawn_structures(kernel, 30)
    alpha = np.random.default_rng(1).normal(size=30)
    whole = kernel.gram(drawn), kernel.diagonal(drawn), kernel.scores(drawn, alpha, drawn)
    for module, name in ((_nodes, "BLOCK"), (_store, "BLOCK"), (_nodes, "_TASK")):
        monkeypatch.setattr(module, name, 7)
    cut = kernel.gram(drawn), kernel.diagonal(drawn), kernel.scores(drawn, alpha, drawn)
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    apart = kernel.gram(drawn, list(drawn))
    np.testing.assert_allclose(apart, whole[0], rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_threads_change_no_bit(kernel):
    drawn = drawn_structures(kernel, 200)
    grams = []
    for n_threads in (1, 3):
        with engine.use(engine.ThreadEngine(n_threads)):
            grams.append(kernel.gram(drawn))
    assert np.array_equal(*grams)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_subsets_are_what_they_are_of(kernel):
    drawn = drawn_structures(kernel, 20)
    encoded = kernel.encode(drawn)
    some = [3, 3, 17, 0]
    assert len(encoded[some]) == 4
    assert len(encoded[5:9]) == 4
    expected = kernel.gram([drawn[i] for i in some], drawn)
    np.testing.assert_allclose(kernel.gram(encoded[some], encoded), expected, rtol=1e-12)
    assert encoded[some].identity[0] == encoded[some].identity[1]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_no_structures(kernel):
    one = drawn_structures(kernel, 1)
    assert kernel.gram([]).shape == (0, 0)
    assert kernel.gram(one, []).shape == (1, 0)
    assert kernel.diagonal([]).shape == (0,)
    assert kernel.scores([], [], one).tolist() == [0.0]
    assert kernel.scores(one, [1.0], []).shape == (0,)


def test_as_many_weights_as_structures():
    with pytest.raises(EigentextError, match="2 structures need as many weights"):
        TreeKernel().scores(["(A a)", "(A b)"], [1.0], ["(A a)"])
