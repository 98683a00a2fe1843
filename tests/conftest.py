"""What all tests share: where the data is, and small random texts."""

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("eigentext", deadline=None, max_examples=60)
settings.load_profile("eigentext")

_BESIDE = Path(__file__).parents[2] / "shared" / "data"

# Tests that a shell runs in the background ignore Ctrl-C, and so would the commands they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The corpora beside the project (EIGENTEXT_DATA); tests that need them skip without."""
    folder = Path(os.environ.get("EIGENTEXT_DATA", _BESIDE))
    if not folder.is_dir():
        pytest.skip("no data: set EIGENTEXT_DATA to the folder of corpora")
    return folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """No test reads or fills the user's cache."""
    monkeypatch.setenv("EIGENTEXT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def as_nobody():
    """``with as_nobody():`` permissions hold, as they do not for root."""

    @contextmanager
    def being_nobody():
        is_root = os.geteuid() == 0
        if is_root:
            os.setresuid(65534, 65534, 0)
        try:
            yield
        finally:
            if is_root:
                os.setresuid(0, 0, 0)

    return being_nobody


@pytest.fixture
def without_privileges() -> str:
    """What a process does first so that closed folders are closed to it, even if it is root's."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root writes everywhere")
    # On exec, root gets the capabilities of its bounding set: leave out CAP_DAC_OVERRIDE there.
    return """
import ctypes, os, sys
if os.geteuid() == 0 and ctypes.CDLL(None).prctl(23, 1) == 1:  # PR_CAPBSET_READ
    assert ctypes.CDLL(None).prctl(24, 1) == 0  # PR_CAPBSET_DROP
    os.execv(sys.executable, sys.orig_argv)
"""


@pytest.fixture(scope="session")
def cluster():
    """The engine of two worker processes: ``with engine.use(cluster):`` runs what is inside."""
    from eigentext.engine.dask import connected

    with connected("local:2") as engine:
        yield engine


@pytest.fixture
def killed_at(tmp_path, monkeypatch):
    """``killed_at(n, (owner, "name"), fit)``: what `fit` gives when its n-th call of that kills it.

    It is called again, with the same checkpoint, in which every step was kept; in the end the
    function must have been called as often as without the accident, but for the last state's step.
    """
    from eigentext.storage import checkpointing, checkpoints

    def run(n, where, fit):
        monkeypatch.setattr(checkpoints, "EVERY", 0.0)
        function, calls, is_first = getattr(*where), [0, 0, 0], [0]

        def counted(*arguments, **settings):
            calls[is_first[0]] += 1
            if is_first[0] == 1 and calls[1] == n:
                raise KeyboardInterrupt
            return function(*arguments, **settings)

        monkeypatch.setattr(*where, counted)
        fit()
        assert calls[0] >= n, f"only {calls[0]} calls"
        is_first[0] = 1
        with pytest.raises(KeyboardInterrupt), checkpointing(tmp_path / "checkpoint"):
            fit()
        is_first[0] = 2
        with checkpointing(tmp_path / "checkpoint"):
            found = fit()
        monkeypatch.setattr(*where, function)
        assert calls[2] <= calls[0] - n + 3, calls
        return found

    return run


@pytest.fixture
def zipf_lines():
    """Lines of words w0, w1, … with falling frequencies: like text, but short."""

    def draw(n_lines: int, n_words: int = 50, seed: int = 0) -> list[str]:
        rng = np.random.default_rng(seed)
        weights = 1 / np.arange(1, n_words + 1)
        lengths = rng.integers(1, 12, n_lines)
        words = rng.choice(n_words, size=(n_lines, 12), p=weights / weights.sum())
        return [" ".join(f"w{w}" for w in row[:k]) for row, k in zip(words, lengths)]

    return draw
