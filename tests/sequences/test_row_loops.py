"""Padded matrices, and EM with and without compiled loops."""

import os
import subprocess
import sys

import numpy as np
import pytest

from eigentext.sequences._row_loops import WIDTH, padded


def test_padding():
    M = np.arange(6.0).reshape(2, 3)
    wide = padded(M)
    assert wide.shape == (2, WIDTH)
    assert np.array_equal(wide[:, :3], M)
    assert not wide[:, 3:].any()
    assert padded(np.ones((3, 2 * WIDTH))).shape == (3, 2 * WIDTH)


def test_without_compilation():
    code = """
from eigentext import HMM
hmm = HMM.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]], [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
data = hmm.sample(30, 6)
fitted = HMM(2, method="em", n_init=1, n_iter=6).fit(data)
print(repr(float(fitted.score_samples(data).sum())))
"""
    sums = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        sums.append(float(done.stdout))
    assert sums[0] == pytest.approx(sums[1], rel=1e-9)
