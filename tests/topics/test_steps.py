"""The steps from moments to topics."""

import numpy as np

from eigentext.topics.steps import on_simplex


def test_on_simplex():
    rows = np.random.default_rng(0).normal(0.05, 0.2, (30, 12))
    nearest, moved = on_simplex(rows)
    assert np.allclose(nearest.sum(axis=1), 1)
    assert (nearest >= 0).all()
    assert np.allclose(moved, np.abs(nearest - rows).sum(axis=1))
    points = np.random.default_rng(1).dirichlet(np.ones(12), 2000)
    for row, best in zip(rows, nearest):  # no other distribution is nearer
        assert np.linalg.norm(row - best) <= np.linalg.norm(row - points, axis=1).min()
        assert ((points - best) @ (row - best) < 1e-12).all()
