"""Blocks that stay where they are worked on, and items in batches: the same answers anywhere."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigentext import engine
from eigentext.engine.spread import Spread, _batches, in_batches

HERE = os.getpid()


def numbers(seed):
    return np.random.default_rng(seed).random(1000)


def scaled(block, factor):
    return factor * block


def total(block, power):
    return np.sum(block**power)


def plus(block_and_more, factor):
    block, more = block_and_more
    return factor * block[0] + more


def add(a, b):
    return a + b


def process(block):
    return os.getpid()


def where(item, what):
    return os.getpid(), item, what


def test_blocks_on_threads():
    spread = Spread(numbers, range(5))
    expected = [total(numbers(seed), 2) for seed in range(5)]
    for n_threads in (1, 3):
        with engine.use(engine.ThreadEngine(n_threads)):
            assert list(spread.map(total, 2)) == expected
            a, b, c, d, e = expected
            assert spread.reduce(total, add, 2) == ((a + b) + (c + d)) + e
            assert list(spread.map(plus, 2.0, each=range(5))) == [
                2 * numbers(seed)[0] + seed for seed in range(5)
            ]
    assert len(spread) == 5


def test_a_cluster_keeps_blocks_and_gives_the_same_bits(cluster):
    spread = Spread(numbers, range(11))
    twice = Spread(scaled, spread, 3.0)
    here = [
        list(twice.map(total, 2)),
        spread.reduce(total, add, 3),
        list(spread.map(plus, 2.0, each=range(11))),
    ]
    with engine.use(cluster):
        assert list(twice.map(total, 2)) == here[0]
        assert spread.reduce(total, add, 3) == here[1]
        assert list(spread.map(plus, 2.0, each=range(11))) == here[2]
        assert HERE not in set(spread.map(process))
        assert len(list(twice.made())) == 11
        assert spread._kept(cluster) is spread._kept(cluster)


def test_what_is_not_worth_the_way_stays_here(cluster):
    with engine.use(cluster):
        assert list(Spread(numbers, range(1)).map(process)) == [HERE]
        assert list(Spread(numbers, range(3), worth=False).map(process)) == [HERE] * 3


def test_arrays_may_be_written_to_on_workers(cluster):
    """Else kernels would be compiled anew for them."""
    with engine.use(cluster):
        spread = Spread(scaled, [numbers(0), numbers(1)], 1.0)
        assert all(spread.map(is_writable, np.ones(10000), {"a": np.ones(3)}))


def is_writable(block, large, small):
    return block.flags.writeable and large.flags.writeable and small["a"].flags.writeable


def test_few_blocks_may_use_all_threads():
    def n_threads(block):
        return len(set(engine.current().map(thread, range(50))))

    with engine.use(engine.ThreadEngine(3)):
        assert min(Spread(numbers, range(2), threaded=True).map(n_threads)) > 1
        assert list(Spread(numbers, range(4), threaded=True).map(n_threads)) == [1] * 4


def thread(_):
    import threading
    import time

    time.sleep(0.002)
    return threading.get_ident()


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_batches(cluster, size):
    items = [f"{n}" * (1 + n % 4) for n in range(30)]
    here = list(in_batches(engine.current(), where, iter(items), "x", weigh=len, size=size))
    there = list(in_batches(cluster, where, iter(items), "x", weigh=len, size=size))
    assert [found[1:] for found in here] == [found[1:] for found in there]
    assert {found[0] for found in here} == {HERE}
    assert (HERE in {found[0] for found in there}) == (size == 1000)  # one batch stays here
    assert list(in_batches(cluster, where, [], "x", weigh=len, size=size)) == []


def test_a_batch_is_full_when_it_weighs_enough():
    assert list(_batches([1, 5, 2, 2, 9], int, 4)) == [[1, 5], [2, 2], [9]]
    assert list(_batches([1, 1], int, 4)) == [[1, 1]]
    assert_array_equal(list(_batches([], int, 4)), [])
