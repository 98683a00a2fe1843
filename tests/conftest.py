"""Fixtures of all tests: the data folder, a cache for the tests, workers, small random texts."""

import importlib.util
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

# `make wheel` leaves compiled loops beside the sources. Tests compile their own.
os.environ["EIGENTEXT_SHIPPED_LOOPS"] = "off"

# A process that a shell starts in the background ignores Ctrl-C, and so do the processes that it
# starts. Some tests interrupt a command, so the usual handler is set again.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of corpora, which EIGENTEXT_DATA names. Without it, tests that need it skip."""
    folder = os.environ.get("EIGENTEXT_DATA")
    if not folder:
        pytest.skip("no data: set EIGENTEXT_DATA to the folder of corpora")
    if not Path(folder).is_dir():
        pytest.fail(f"EIGENTEXT_DATA is {folder}, which is not a folder")
    return Path(folder)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """Tests have their own cache and leave the user's cache alone."""
    monkeypatch.setenv("EIGENTEXT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def as_nobody():
    """Inside ``with as_nobody():`` file permissions apply, which root would bypass."""

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
    """Code for the start of a script, after which file permissions apply even if root runs it."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root writes everywhere")
    # When root calls exec, it gets the capabilities of its bounding set. The script removes
    # CAP_DAC_OVERRIDE (number 1) from that set and starts itself again.
    return """
import ctypes, os, sys
if os.geteuid() == 0 and ctypes.CDLL(None).prctl(23, 1) == 1:  # PR_CAPBSET_READ
    assert ctypes.CDLL(None).prctl(24, 1) == 0  # PR_CAPBSET_DROP
    os.execv(sys.executable, sys.orig_argv)
"""


@pytest.fixture(scope="session")
def cluster():
    """An engine with two Dask workers. Code inside ``with engine.use(cluster):`` runs on it."""
    from eigentext.engine.dask import connected

    with connected("local:2") as engine:
        yield engine


@pytest.fixture
def killed_at(tmp_path, monkeypatch):
    """``killed_at(n, (owner, "name"), fit)`` interrupts `fit`, resumes it and returns its result.

    The n-th call of ``owner.name`` raises KeyboardInterrupt. Then `fit` runs again with the same
    checkpoint, which holds every step. Both runs together may call the function only a few times
    more often than a run without the interruption: the step after the last saved state is repeated.
    """
    from eigentext.storage import checkpointing, checkpoints

    def run(n, where, fit):
        monkeypatch.setattr(checkpoints, "EVERY", 0.0)
        function = getattr(*where)
        calls = {"whole": 0, "interrupted": 0, "resumed": 0}
        run_now = "whole"

        def counted(*arguments, **settings):
            calls[run_now] += 1
            if run_now == "interrupted" and calls[run_now] == n:
                raise KeyboardInterrupt
            return function(*arguments, **settings)

        monkeypatch.setattr(*where, counted)
        fit()
        assert calls["whole"] >= n, calls
        run_now = "interrupted"
        with pytest.raises(KeyboardInterrupt), checkpointing(tmp_path / "checkpoint"):
            fit()
        run_now = "resumed"
        with checkpointing(tmp_path / "checkpoint"):
            result = fit()
        monkeypatch.setattr(*where, function)
        assert calls["resumed"] <= calls["whole"] - n + 3, calls
        return result

    return run


@pytest.fixture
def zipf_lines():
    """A function that draws short lines of words w0, w1, …, whose frequencies fall as in text."""

    def draw(n_lines: int, n_words: int = 50, seed: int = 0) -> list[str]:
        rng = np.random.default_rng(seed)
        weights = 1 / np.arange(1, n_words + 1)
        lengths = rng.integers(1, 12, n_lines)
        words = rng.choice(n_words, size=(n_lines, 12), p=weights / weights.sum())
        return [" ".join(f"w{w}" for w in row[:k]) for row, k in zip(words, lengths)]

    return draw


@pytest.fixture(scope="session")
def generated():
    """benchmarks/_texts.py: made-up lines of a log, and reviews of movies, with their themes."""
    path = Path(__file__).parents[1] / "benchmarks" / "_texts.py"
    spec = importlib.util.spec_from_file_location("generated_texts", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
