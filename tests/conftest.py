"""What all tests share: where the data is, and small random texts."""

import os
import signal
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
def zipf_lines():
    """Lines of words w0, w1, … with falling frequencies: like text, but short."""

    def draw(n_lines: int, n_words: int = 50, seed: int = 0) -> list[str]:
        rng = np.random.default_rng(seed)
        weights = 1 / np.arange(1, n_words + 1)
        lengths = rng.integers(1, 12, n_lines)
        words = rng.choice(n_words, size=(n_lines, 12), p=weights / weights.sum())
        return [" ".join(f"w{w}" for w in row[:k]) for row, k in zip(words, lengths)]

    return draw
