"""SQUAREM: jumps along the path of a fixed-point iteration. test_em.py has its laws for EM."""

import numpy as np
import pytest

from eigentext.monitor import Monitor
from eigentext.sequences.forms import HMMParameters
from eigentext.sequences.learning.squarem import Search, climb


def model(p):
    """A model with one number to learn."""
    return HMMParameters(np.array([p, 1 - p]), np.eye(2), np.eye(2))


def slow_step(goal, rate):
    """A step that goes a part of the way to the goal. The value is minus the squared distance."""

    def step(now):
        p = now.initial[0]
        return -((p - goal) ** 2), model(p + rate * (goal - p))

    return step


@pytest.mark.parametrize("rate", [0.5, 0.05, 0.005])
def test_it_ends_at_the_fixed_point_in_few_steps(rate):
    n_iter = 60
    monitor = Monitor("test", n_iter, amount=0, tol=None)
    found = climb(model(0.9), slow_step(0.3, rate), monitor, n_iter=n_iter, amount=1)
    assert found.n_passes == n_iter
    assert found.best.initial[0] == pytest.approx(0.3, abs=1e-3)
    plain = 0.3 + 0.6 * (1 - rate) ** n_iter
    assert abs(found.best.initial[0] - 0.3) <= abs(plain - 0.3) + 1e-12
    assert (np.diff(monitor.history) >= 0).all()


def test_a_jump_that_loses_is_undone():
    search = Search(model(0.5))
    search.jump(-1.0, model(0.6), model(0.65))
    assert search.origin is not None
    assert search.has_lost(-2.0)
    assert search.has_lost(float("nan"))
    assert not search.has_lost(-0.5)
    search.undo()
    assert search.theta.initial[0] == 0.65
    assert search.longest == 2.0
